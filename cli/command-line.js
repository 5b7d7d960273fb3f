// A command line with commands: its options, its usage, and its end. Other programs of this project use it too.
//
// Exit status: what the command says, or 2 if the command line is wrong or a file cannot be read or written, with one
// line on standard error.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";

import { plainText } from "#sandbox";

import { Failure, forLog, inWords, own, quoted, similar, visible } from "./words.js";

/** An option with a value, of this form in the usage. @param {string} form @param {string} help */
export const text = (form, help) => ({ type: /** @type {const} */ ("string"), form: ` ${form}`, help });
/** An option with a value that may be given several times. @param {string} form @param {string} help */
export const texts = (form, help) => ({ ...text(form, help), multiple: /** @type {const} */ (true) });
/** @param {string} help */
export const flag = (help) => ({ type: /** @type {const} */ ("boolean"), form: "", help });

/** The options of every command line. */
const COMMON = { help: { ...flag(""), short: "h" }, version: flag("") };

/** @typedef {Record<string, ReturnType<typeof text> | ReturnType<typeof texts> | ReturnType<typeof flag>>} Table */

/**
 * The values of options, by their table.
 * @template {Table} T
 * @typedef {{ [K in keyof T]?: T[K] extends { multiple: true } ? string[] : T[K] extends { type: "string" } ? string :
 *   boolean }} OptionsOf
 */

/**
 * `problems`: lines for standard error that do not change the exit status; `hasCommands`: the output has commands of GitHub's
 * runner, and no other text in it can be one.
 * @typedef {{ output: string, status?: number, problems?: string[], hasCommands?: boolean }} Result
 */

/**
 * @template O
 * @typedef {object} Command
 * @property {string} [form] the words after the command in the usage
 * @property {string} does
 * @property {string} [other] another form, and its effect
 * @property {string} [takes] the words, if they differ from the words of the form; words in brackets may be absent
 * @property {string} options the names of its options
 * @property {(words: string[], options: O) => Result | Promise<Result>} run
 */

/**
 * @template O
 * @typedef {object} Program
 * @property {Table} options all options, with their help; the usage names the commands that take an option
 * @property {Record<string, Command<O>>} commands
 * @property {string} statuses the paragraph about the exit status
 */

/**
 * Runs the command line of this process, and sets its exit status.
 * @template O
 * @param {string} name
 * @param {Program<O>} program
 */
export async function runProgram(name, program) {
  process.stdout.on("error", outputFails);
  // The error cannot be reported.
  process.stderr.on("error", () => {});
  try {
    const { output, status = 0, problems = [], hasCommands } = await resultOf(name, program, process.argv.slice(2));
    process.exitCode = status;
    for (const problem of problems) process.stderr.write(`${shown(problem.replace(/\s+/g, " "))}\n`);
    if (output !== "") process.stdout.write(shown(output.endsWith("\n") ? output : `${output}\n`, hasCommands));
  } catch (error) {
    fail(inWords(error));
  }
}

/**
 * @template O
 * @param {string} program
 * @param {Program<O>} tables
 * @param {string[]} parameters
 * @returns {Result | Promise<Result>}
 */
function resultOf(program, { options, commands, statuses }, parameters) {
  const { values, positionals, tokens } = parse(parameters, options);
  if (values.version) return { output: packageVersion() };
  const isHelp = values.help === true || positionals[0] === "help";
  const [name, ...words] = positionals[0] === "help" ? positionals.slice(1) : positionals;
  const usage = new Usage(program, options, commands);
  if (name === undefined && isHelp) return { output: usage.whole(statuses) };
  if (name === undefined) throw new Failure(usage.overview());
  const command = own(commands, name);
  if (!command) {
    const meant = similar(name, Object.keys(commands));
    const hint = meant === undefined ? `, only ${Object.keys(commands).join(", ")}.` : `: did you mean ${meant}?`;
    throw new Failure(`There is no command ${quoted(name)}${hint}`);
  }
  if (isHelp) return { output: usage.of(name, command) };
  const known = command.options.split(" ");
  const unfit = Object.keys(values).find((option) => !known.includes(option));
  if (unfit !== undefined) throw new Failure(`${program} ${name} takes no --${unfit}.`);
  for (const [option, value] of Object.entries(values))
    if ([value].flat().includes("")) throw new Failure(`--${option} needs a value.`);
  const bounds = tokens.flatMap((token) =>
    token.kind === "option" && token.value !== undefined ? [String(token.name)] : [],
  );
  // Of two bounds, only the last one would hold.
  const isRepeated = (/** @type {string} */ option) => "multiple" in (own(options, option) ?? {});
  const twice = bounds.find((option, index) => bounds.indexOf(option) < index && !isRepeated(option));
  if (twice !== undefined) throw new Failure(`--${twice} is given twice.`);
  checkWords(`${program} ${name}`, takenBy(command), words);
  if (!hasFolder()) throw new Failure("The current folder is not there any more.");
  return command.run(words, /** @type {O} */ (values));
}

/**
 * Throws if there are too many words or too few. A command that takes any number of words counts them itself.
 * @param {string} command
 * @param {string[]} takes
 * @param {string[]} words
 */
function checkWords(command, takes, words) {
  if (takes.some((word) => word.includes("..."))) return;
  const surplus = words[takes.length];
  if (surplus !== undefined) throw new Failure(`${quoted(surplus)} is one word too many. Put a text in quotes.`);
  // An empty word is none.
  const isMissing = (/** @type {string} */ take, /** @type {number} */ index) =>
    words[index] === "" || (words[index] === undefined && !take.startsWith("["));
  const missing = takes.find(isMissing)?.replace(/[[\]]/g, "");
  if (missing) throw new Failure(`${command} needs ${missing === "ARGUMENT" ? "an" : "a"} ${missing}.`);
}

/** @param {Pick<Command<unknown>, "form" | "takes">} command */
const takenBy = ({ form = "", takes = form }) => takes.split(" ").filter(Boolean);

/** The texts that explain a program. */
class Usage {
  /** @param {string} program @param {Table} options @param {Record<string, Command<any>>} commands */
  constructor(program, options, commands) {
    this.program = program;
    this.options = options;
    this.commands = commands;
  }

  /** A line for each command. */
  overview() {
    const { program } = this;
    const lines = Object.entries(this.commands).map(([name, { does }]) =>
      entry(name, does.split(/[;:.] |, (?:and|to) /)[0]),
    );
    const help = `${program} COMMAND --help shows a command, ${program} --help all of it.`;
    return [`Usage: ${program} COMMAND [options]\n`, ...lines, `\n${help}`].join("\n");
  }

  /** @param {string} statuses */
  whole(statuses) {
    const { program } = this;
    return [
      `Usage: ${program} COMMAND [options]; for one command: ${program} COMMAND --help\n`,
      ...Object.entries(this.commands).map(formsOf),
      "\nOptions:",
      ...this.#optionLines(Object.keys(this.options)),
      `  -h, --help, --version\n\n${statuses}`,
    ].join("\n");
  }

  /** The part of the usage that is about one command. @param {string} name @param {Command<any>} command */
  of(name, command) {
    const words = [`Usage: ${this.program}`, name, ...takenBy(command), "[options]\n"].join(" ");
    return [words, formsOf([name, command]), "", ...this.#optionLines(command.options.split(" "))].join("\n");
  }

  /** The lines about options, in the order of the table. @param {string[]} names */
  #optionLines(names) {
    const shown = Object.entries(this.options).filter(([name]) => names.includes(name));
    return shown.map(([name, { form, help }]) => {
      const takers = Object.keys(this.commands).filter((other) =>
        this.commands[other].options.split(" ").includes(name),
      );
      const of = takers.join(", ").replace(/, ([^,]*)$/, " and $1");
      return entry(`--${name}${form}`, name === "dir" || help.startsWith("of ") ? help : `of ${of}: ${help}`);
    });
  }
}

/** @param {[name: string, command: Command<any>]} command */
const formsOf = ([name, { form, does, other }]) =>
  [[form ? `${name} ${form}` : name, does], ...(other ? [other.split(": ")] : [])]
    .map(([about, text]) => entry(about, text))
    .join("\n");

/** An entry of the usage: its subject, and beside it a text in lines. @param {string} about @param {string} text */
function entry(about, text) {
  const lines = text.match(/\S.{0,80}(?= |$)/g) ?? [];
  const head = `  ${about}`;
  const first = head.length < 21 ? [head.padEnd(21) + lines.shift()] : [head];
  return [...first, ...lines.map((line) => " ".repeat(21) + line)].join("\n");
}

/** Returns true if the working directory of this process exists. */
function hasFolder() {
  try {
    return process.cwd() !== "";
  } catch {
    return false;
  }
}

/**
 * @typedef {object} Parsed
 * @property {Record<string, string | boolean | (string | boolean)[] | undefined>} values
 * @property {string[]} positionals
 * @property {{ kind: string, name?: string, value?: string }[]} tokens
 */

/** @param {string[]} args @param {Table} table @returns {Parsed} */
function parse(args, table) {
  const options = { ...table, ...COMMON };
  try {
    return parseArgs({ args, options, allowPositionals: true, tokens: true });
  } catch (error) {
    const words = /** @type {Error} */ (error).message.split(/\. |\n/)[0];
    const isOption = /** @type {NodeJS.ErrnoException} */ (error).code === "ERR_PARSE_ARGS_UNKNOWN_OPTION";
    const given = args.flatMap((arg) => /^--([^=]+)/.exec(arg)?.[1] ?? []);
    const unknown = given.find((option) => !own(options, option));
    const meant = isOption && unknown !== undefined ? similar(unknown, Object.keys(options)) : undefined;
    throw new Failure(meant === undefined ? words : `${words}: did you mean --${meant}?`);
  }
}

function packageVersion() {
  return JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version;
}

/**
 * The text as it leaves this process: without control characters and commands of GitHub's runner, and with invisible
 * characters written out.
 * @param {string} text
 * @param {boolean} [hasCommands] true if its commands are meant
 */
export function shown(text, hasCommands) {
  const isJson = /^\s*[{[]/.test(text);
  const plain = visible(plainText(text), isJson);
  return hasCommands ? plain : forLog(plain, isJson);
}

/** @param {string} words */
function fail(words) {
  process.exitCode = 2;
  process.stderr.write(`${shown(words)}\n`);
}

/** A closed pipe is not an error. @param {any} error */
function outputFails(error) {
  if (error.code !== "EPIPE") fail(`The output cannot be written: ${inWords(error)}`);
}

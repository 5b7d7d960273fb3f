// Asks the user of a terminal the questions of pi.
import { createInterface } from "node:readline/promises";

import { plainText } from "#sandbox";

import { shortened } from "../words.js";

/** @typedef {import("./pi.js").PiRecord} PiRecord */

/**
 * Asks a question of pi, and returns the fields of the answer.
 * @param {PiRecord} request
 * @param {AbortSignal} signal ends the question without an answer
 * @returns {Promise<object>}
 */
export async function ask(request, signal) {
  const { method, title = "", message = "", placeholder = "" } = request;
  const options = Array.isArray(request.options) ? request.options.map(String) : [];
  const text = [title, message]
    .map((part) => plainText(String(part)).trim())
    .filter(Boolean)
    .join("\n");
  const hint = typeof placeholder === "string" && placeholder !== "" ? ` (${plainText(placeholder)})` : "";
  switch (method) {
    case "confirm": {
      const answer = await line(`${text}\nyes or no? `, signal);
      return answer === undefined ? { cancelled: true } : { confirmed: /^y(es)?$/i.test(answer.trim()) };
    }
    case "select": {
      const listed = options.map((option, index) => `  ${index + 1}  ${plainText(option)}`).join("\n");
      for (;;) {
        const question = `${text}\n${listed}\n1 to ${options.length}, or nothing for no answer: `;
        const answer = (await line(question, signal))?.trim();
        if (!answer) return { cancelled: true };
        const chosen = /^\d+$/.test(answer)
          ? options[Number(answer) - 1]
          : options.find((option) => option.toLowerCase() === answer.toLowerCase());
        if (chosen !== undefined) return { value: chosen };
        process.stderr.write(`${plainText(shortened(answer))} is none of them.\n`);
      }
    }
    default: {
      const answer = await line(`${text}${hint}\n> `, signal);
      return answer === undefined || answer === "" ? { cancelled: true } : { value: answer };
    }
  }
}

/** Asks a question that is answered by yes or no. @param {string} question */
export async function saysYes(question) {
  return /^y(es)?$/i.test((await line(question, new AbortController().signal))?.trim() ?? "");
}

/**
 * Reads a line of the terminal; `undefined` if there is none.
 * @param {string} question
 * @param {AbortSignal} signal
 */
export async function line(question, signal) {
  allowClosedTerminal();
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  // Ctrl+C ends the whole command.
  reader.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
  const closed = new Promise((resolve) => reader.once("close", () => resolve(undefined)));
  try {
    return /** @type {string | undefined} */ (await Promise.race([reader.question(question, { signal }), closed]));
  } catch {
    return undefined;
  } finally {
    reader.close();
  }
}

/**
 * readline restores the mode of the terminal at its end. A closed terminal refuses that, by an error in an event that
 * nobody can catch.
 */
function allowClosedTerminal() {
  const { stdin } = process;
  if (!stdin.isTTY || Object.hasOwn(stdin, "setRawMode")) return;
  stdin.setRawMode = (mode) => {
    try {
      return Object.getPrototypeOf(stdin).setRawMode.call(stdin, mode);
    } catch {
      return stdin;
    }
  };
}

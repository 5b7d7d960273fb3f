// Measures the bytes sent to the model: the same scripted session with the reference and with this package, and with
// shared and fresh contexts, in the same pi.
//
// The figures and the limits are bytes of the request bodies. Every request also contains pi's own system prompt and
// tools; "besides pi's own" is without the bytes that a pi without packages sends.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { OURS, REFERENCE } from "../../tests/conformance/packages.mjs";
import { PI_VERSIONS, REPO } from "../../tests/pi/harness/pi.mjs";
import { startRpc } from "../../tests/pi/harness/rpc.mjs";
import { makeSandbox } from "../../tests/pi/harness/sandbox.mjs";
import { messageText, startModel } from "../../tests/pi/harness/scripted-model.mjs";
import { step, workflow } from "../../tests/pi/harness/workflows.mjs";

/** The default length of the instructions of a phase, in bytes. */
const LENGTH = 6000;

/** A typical answer of an agent at the end of a run. */
const REST = {
  text: "I read the module and its tests, and changed the two functions that the task is about. The tests of the area pass. Next I would look at the callers; tell me if you want that now.",
};

/** The files that a phase reads. */
const FILES = ["one.txt", "two.txt"];

/**
 * @typedef {object} Session
 * @property {string} name
 * @property {number} atMost the maximum ratio of our bytes to the reference's
 * @property {number} [copies] the maximum number of copies of the instructions in our last request
 * @property {number} phases
 * @property {import("../../tests/pi/harness/scripted-model.mjs").Step[]} answers the answers of the model
 * @property {(rpc: import("../../tests/pi/harness/rpc.mjs").Rpc) => Promise<void>} play
 *
 * @typedef {object} Sent
 * @property {number[]} sizes the bytes of each request
 * @property {number} copies the number of copies of the instructions in the last request
 */

/** @type {Session[]} */
const SESSIONS = [
  {
    name: "20 prompts in one phase",
    atMost: 1 / 4,
    copies: 1,
    phases: 2,
    answers: Array.from({ length: 20 }, () => REST),
    async play(rpc) {
      await rpc.promptAndSettle("/workflow bench Let the export take a file name");
      for (let prompt = 2; prompt <= 20; prompt += 1) await rpc.promptAndSettle("Go on with the next part, please.");
    },
  },
  {
    name: "6 phases, with an early stop in each",
    atMost: 1 / 2,
    phases: 6,
    answers: [...Array.from({ length: 6 }, () => [REST, step("next")]).flat(), { text: "All done." }],
    async play(rpc) {
      await rpc.promptAndSettle("/workflow bench Let the export take a file name");
      // Each countdown starts a run, which ends with the stop in the next phase or at DONE.
      for (let run = 1; run <= 6; run += 1) await rpc.waitForSettled({ timeoutMs: 30_000 });
    },
  },
];

/** @param {string} [length] the length of the instructions in bytes */
export default async function context(length) {
  const [version] = PI_VERSIONS;
  const bytes = length === undefined ? LENGTH : Number(length);
  if (!(Number.isSafeInteger(bytes) && bytes > 0)) throw new Error(`not a number of bytes: ${length}`);
  const own = await piOwn(version);
  console.log(`Bytes sent to the model, in pi ${version}; the instructions of a phase have ${number(bytes)} bytes.`);
  let kept = true;
  for (const session of SESSIONS) {
    const instructions = Array.from({ length: session.phases }, (_, index) => prose(index + 1, bytes));
    const [reference, ours] = await Promise.all(
      [REFERENCE, OURS].map((extension) => measure(session, version, extension, instructions)),
    );
    kept = report(session, reference, ours, own) && kept;
  }
  return (await compareFresh(version)) && kept;
}

/**
 * Plays six phases that each read 60 KB, once with a shared context and once with a fresh one.
 * @param {string} version
 */
async function compareFresh(version) {
  const read = { calls: FILES.map((path) => ({ name: "read", arguments: { path } })) };
  const next = { calls: [{ name: "workflow_step", arguments: { action: "next", summary: REST.text } }] };
  const answers = [...Array.from({ length: 6 }, () => [read, next]).flat(), { text: "All done." }];
  const phases = Array.from({ length: 6 }, (_, index) => ({ id: `phase-${index + 1}` }));
  const files = Object.fromEntries(FILES.map((name, index) => [name, prose(index, 30_000)]));
  const [shared, fresh] = await Promise.all(
    ["shared", "fresh"].map((context) =>
      inPi(
        version,
        [OURS],
        answers,
        workflow("bench", phases, { context }),
        (rpc) => rpc.promptAndSettle("/workflow bench Read"),
        files,
      ),
    ),
  );
  console.log(`\n6 phases that each read 60 KB\n${row("", ["shared", "fresh", "fresh of it"])}`);
  const totals = [sum(shared.sizes), sum(fresh.sizes)];
  const largest = [Math.max(...shared.sizes), Math.max(...fresh.sizes)];
  console.log(row("  in total", figures(totals)));
  console.log(row("  the largest request", figures(largest)));
  const kept = totals[1] <= totals[0] / 2 && largest[1] <= largest[0] / 3;
  console.log(`  ${kept ? "ok" : "TOO HIGH"}: in total at most 0.5, the largest request at most 0.33`);
  return kept;
}

/**
 * @param {Session} session
 * @param {Sent} reference
 * @param {Sent} ours
 * @param {number} own the bytes that pi itself sends with each request
 */
function report({ name, atMost, copies = Infinity }, reference, ours, own) {
  const total = [reference, ours].map(({ sizes }) => sum(sizes));
  const besides = [reference, ours].map(({ sizes }) => sum(sizes) - own * sizes.length);
  console.log(`\n${name}\n${row("", ["reference", "ours", "ours of it"])}`);
  reference.sizes.forEach((size, index) =>
    console.log(row(`  request ${index + 1}`, figures([size, ours.sizes[index]]))),
  );
  console.log(row("  in total", figures(total)));
  console.log(row("  besides pi's own", figures(besides)));
  console.log(row("  copies in the last request", [reference.copies, ours.copies].map(number)));
  const kept = total[1] <= atMost * total[0] && ours.copies <= copies;
  console.log(`  ${kept ? "ok" : "TOO HIGH"}: in total at most ${atMost} of the reference's`);
  return kept;
}

/**
 * Plays a session with one package.
 *
 * @param {Session} session
 * @param {string} version
 * @param {string} extension
 * @param {string[]} instructions
 * @returns {Promise<Sent>}
 */
async function measure({ answers, play }, version, extension, instructions) {
  const phases = instructions.map((text, index) => ({ id: `phase-${index + 1}`, instructions: text }));
  const { requests, sizes } = await inPi(version, [extension], answers, workflow("bench", phases), play);
  if (requests.length !== answers.length) throw new Error(`${requests.length} requests, not ${answers.length}`);
  const last = requests[requests.length - 1].messages.map(messageText).join("\n");
  return { sizes, copies: sum(instructions.map((text) => last.split(text).length - 1)) };
}

/** Returns the bytes of a request of pi without packages, except its prompt. @param {string} version */
async function piOwn(version) {
  const { sizes } = await inPi(version, [], [REST], {}, (rpc) => rpc.promptAndSettle("x"));
  return sizes[0] - JSON.stringify({ role: "user", content: "x" }).length;
}

/**
 * @param {string} version
 * @param {string[]} extension
 * @param {import("../../tests/pi/harness/scripted-model.mjs").Step[]} answers
 * @param {Record<string, string>} globalFiles
 * @param {Session["play"]} play
 * @param {Record<string, string>} [files] of the project
 */
async function inPi(version, extension, answers, globalFiles, play, files) {
  const model = await startModel(answers);
  // The whole session must fit into the context, so that pi does not compact it.
  const sandbox = makeSandbox({ model, globalFiles, files, modelConfig: { contextWindow: 1_000_000 } });
  try {
    const rpc = await startRpc({ version, sandbox, extension });
    await play(rpc);
    return { requests: [...model.requests], sizes: [...model.sizes] };
  } finally {
    await sandbox.dispose();
    await model.close();
  }
}

/**
 * Returns instructions of this length, composed of those of the example workflows.
 *
 * @param {number} phase
 * @param {number} bytes
 */
function prose(phase, bytes) {
  const folder = join(REPO, "workflows-examples");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => /\/[\w-]+\.md$/.test(name));
  const texts = files.sort().map((name) => readFileSync(join(folder, name), "utf8").split("---\n").slice(2).join(""));
  const all = texts
    .join("\n")
    .replace(/\{(\w+)\}/g, "the $1")
    .replace(/[^\x20-\x7e\n]/g, "-");
  return (
    `Phase ${phase}.\n\n${all.slice(phase * 100).repeat(Math.ceil(bytes / all.length) + 1)}`.slice(0, bytes - 1) + "."
  );
}

/** @param {number[]} pair */
function figures([reference, ours]) {
  return [number(reference), number(ours), (ours / reference).toFixed(2)];
}

/** @param {string} label @param {string[]} cells */
function row(label, cells) {
  return label.padEnd(30) + cells.map((cell) => cell.padStart(12)).join("");
}

/** @param {number} value */
function number(value) {
  return value.toLocaleString("en-US");
}

/** @param {number[]} values */
function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}

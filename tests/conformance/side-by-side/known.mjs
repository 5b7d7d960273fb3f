// Differences that have the same form wherever they occur. Each function checks that the two sides differ exactly so,
// removes the difference from both records, and returns the number of places. Number 38 comes before all others: after
// it, ours has its context prompts in the same places as the reference.

import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";

/**
 * @typedef {{ reference: import("./play.mjs").PlayRecord, ours: import("./play.mjs").PlayRecord }} Both
 * @typedef {import("./record.mjs").Entry} Entry
 */

/** @type {Record<number, (both: Both) => number>} */
export const KNOWN = {
  1: templates,
  3: announcedOnce,
  5: stoppedCountdown,
  6: pendingStored,
  7: pauses,
  9: diagnostics,
  14: role,
  17: forThePerson,
  18: steps,
  22: status,
  25: progress,
  26: askedFirst,
  53: askedForReplacement,
  35: complaints,
  38: oncePerPhase,
  39: rules,
  40: summaries,
  54: held,
  55: waits,
  59: usage,
  61: ways,
  65: unreadable,
};

/** The tool of ours has the parameters `outcome` and `outputs`. @param {Both} both */
function ways({ ours }) {
  const properties = ours.tool.definition?.parameters.properties;
  assert.deepEqual([properties?.outcome?.type, properties?.outputs?.type], ["string", "object"]);
  delete properties?.outcome;
  delete properties?.outputs;
  return 1;
}

/** The reference shows the model `{description}`, ours the task. @param {Both} both */
function templates({ reference, ours }) {
  const tasks = new Set(states(ours).map(({ data }) => data.taskDescription));
  assert.equal(tasks.size, 1, "1 can tell what {description} stands for only where there is one task");
  const [task] = tasks;
  assert.equal(
    mapStrings(ours, (text) => text.replaceAll("{description}", "")),
    0,
    "ours has {description}",
  );
  return mapStrings(reference, (text) => text.replaceAll("{description}", task));
}

/** The last state of a run is announced in ours, and not in the reference. @param {Both} both */
function announcedOnce({ reference, ours }) {
  let places = 0;
  const theirs = states(reference);
  for (const [index, { data }] of states(ours).entries()) {
    const other = theirs[index]?.data;
    if (!other || data.completionNotified === other.completionNotified) continue;
    assert.equal(data.active, false);
    other.completionNotified = true;
    places += 1;
  }
  return places;
}

/**
 * Ours removes the countdown when it is stopped; the reference leaves it on the screen.
 * @param {Both} both
 */
function stoppedCountdown({ reference, ours }) {
  const begins = (/** @type {string} */ line) => /^widget workflow-countdown .* in 3s/.test(line);
  assert.equal(reference.screen.filter(begins).length, ours.screen.filter(begins).length, "not as many countdowns");
  const ends = (/** @type {string} */ line) => line === "widget workflow-countdown: (none)";
  return take(ours.screen, ends).length - take(reference.screen, ends).length;
}

/**
 * After an abort and after an error of the model ours pauses the run: it stores the pause, and shows it in the status
 * and in a notice. A message of the user ends the pause. The reference begins a countdown, except after an abort.
 * @param {Both} both
 */
function pauses({ reference, ours }) {
  let resumed = 0;
  const paused = ours.sessions.flatMap((entries) => {
    const begun = entries.flatMap((entry, index) => (entry.data?.progress?.paused ? [index] : []));
    for (const index of begun.toReversed()) {
      const isSame = (/** @type {Entry} */ entry) =>
        isDeepStrictEqual(withoutProgress(entry), withoutProgress(entries[index]));
      assert.ok(entries.slice(0, index).some(isSame), "a pause changes nothing but the progress");
      const ended = entries.findIndex((entry, at) => at > index && entry.customType === "workflow:state");
      if (ended > index && isSame(entries[ended])) resumed += entries.splice(ended, 1).length;
    }
    return begun.toReversed().flatMap((index) => entries.splice(index, 1));
  });
  const failures = paused.filter(({ data }) => data.progress.paused.reason.kind === "modelError");
  const begins = reference.screen.findIndex((line) => / in 3s/.test(line));
  for (const _failure of failures) assert.match(reference.screen.splice(begins, 1)[0] ?? "", / in 3s/);

  // A restart shows the pause again, without a notice.
  const isRestart = (/** @type {number} */ index) => ours.screen[index - 1] === "(pi starts again)";
  ours.screen.forEach((line, index) => {
    if (isRestart(index)) ours.screen[index] = line.replace(/⏸ (.*) \(paused: .*\)$/, "$1");
  });
  const notices = take(ours.screen, (line) => line.startsWith("notify warning: ⏸ ")).length;
  const signs = ours.screen.flatMap((line, index) => (line.startsWith("status workflow: ⏸ ") ? [index] : []));
  const shown = signs.map((index) => (/⏸ (.*) \(paused: .*\)$/.exec(ours.screen[index]) ?? [])[1]);
  const surplus = signs.flatMap((index, number) => {
    const next = ours.screen.findIndex((line, at) => at > index && line.startsWith("status workflow: "));
    return next > index && ours.screen[next] === `status workflow: ${shown[number]}` ? [index, next] : [index];
  });
  for (const index of surplus.toReversed()) ours.screen.splice(index, 1);
  assert.deepEqual([notices, surplus.length - signs.length], [paused.length, resumed]);
  return paused.length;
}

/**
 * Ours shows in the status that a run waits for the user; the reference shows a working run, or no new status. When the
 * wait ends the status is as before.
 * @param {Both} both
 */
function waits({ reference, ours }) {
  const isStatus = (/** @type {string} */ line) => line.startsWith("status workflow: ");
  const theirs = reference.screen.filter(isStatus);
  let places = 0;
  let number = 0;
  for (let index = 0; index < ours.screen.length; index += 1) {
    if (!isStatus(ours.screen[index])) continue;
    const waiting = /^(status workflow: )⏸ (.*) \(waits for you\)$/.exec(ours.screen[index]);
    if (!waiting) {
      number += 1;
      continue;
    }
    places += 1;
    const plain = waiting[1] + waiting[2];
    const next = ours.screen.findIndex((line, at) => at > index && isStatus(line));
    if (next > 0 && ours.screen[next] === plain) ours.screen.splice(next, 1);
    if (theirs[number] === plain) {
      ours.screen[index] = plain;
      number += 1;
    } else {
      ours.screen.splice(index, 1);
      index -= 1;
    }
  }
  return places;
}

/** @param {Entry} entry */
function withoutProgress({ data, ...entry }) {
  return { ...entry, data: { ...data, progress: undefined } };
}

/** Ours stores `progress` too. @param {Both} both */
function progress({ reference, ours }) {
  for (const { data } of states(reference)) assert.equal(data?.progress, undefined);
  const stored = states(ours).filter(({ data }) => data?.progress);
  for (const { data } of stored) delete data.progress;
  return stored.length;
}

/** With a UI, ours asks the user before the tool cancels. @param {Both} both */
function askedFirst({ ours }) {
  return take(ours.screen, (line) => line.startsWith("confirm Cancel the workflow?: ")).length;
}

/** With a UI, ours asks before a project's workflow runs in place of a global one. @param {Both} both */
function askedForReplacement({ ours }) {
  return take(ours.screen, (line) => line.startsWith("{") && /"method":"select".* replaces yours\./.test(line)).length;
}

/** The result of a first `cancel`, with the name of the workflow in ours and the task in the reference. */
const CONFIRM = /(?<=\*\*Confirm cancellation\*\* of workflow )"[^]*?"(?=\?\nCall workflow_step)/g;

/** The reference stores a pending cancellation, and names the task in the place of the workflow. @param {Both} both */
function pendingStored({ reference, ours }) {
  for (const { data } of states(ours)) assert.ok(!("_cancelPending" in data));
  const stored = states(reference).filter(({ data }) => data._cancelPending === true);
  for (const { data } of stored) delete data._cancelPending;
  const asked = (/** @type {Both["ours"]} */ record) => mapStrings(record, (text) => text.replaceAll(CONFIRM, '"…"'));
  return stored.length + Math.max(asked(reference), asked(ours));
}

/**
 * The reference prints diagnostics repeatedly; ours shows one line with the error or the number of errors, and all
 * diagnostics on request. Both concern the same workflows.
 * @param {Both} both
 */
function diagnostics({ reference, ours }) {
  const printed = take(reference.printed, (text) => text.startsWith("[pi-workflows] "));
  const notices = take(ours.screen, (line) => NOTICE.test(line));
  const checked = take(ours.checked, () => true);
  const duplicates = checked.filter((text) => text.includes(": duplicate command name "));
  assert.equal(
    notices.length > 0,
    checked.length > duplicates.length,
    "a notice without errors, or errors without one",
  );
  for (const notice of notices) {
    const { file, message } = NOTICE.exec(notice)?.groups ?? {};
    const ofFile = checked.filter((text) => file && text.includes(`${file}: `));
    const isTrue =
      !file || ofFile.some((text) => text.endsWith(`${file}: ${message}`)) || message === `${ofFile.length} errors`;
    assert.ok(isTrue, `nothing is checked that is so: ${notice}`);
  }
  const printedOf = printed.flatMap((text) => {
    const cycle = /Cycle detected: (.*?)\. /.exec(text)?.[1].split(" → ");
    const named = / workflows "[^"]*" and "([^"]*)"/.exec(text) ?? /orkflow(?: definition)? "([^"]*)"/.exec(text);
    return cycle ?? [(named ?? /workflows\/([^/\s:]*)/.exec(text))?.[1]];
  });
  const shownOf = checked.map((text) => (/^\S*?workflows\/([^/\s:]*)/.exec(text) ?? [])[1]);
  assert.deepEqual([...new Set(shownOf)].sort(), [...new Set(printedOf)].sort(), "diagnostics of different workflows");
  return printed.length;
}

/** One error with its place, the errors of one file, or the workflows with errors. */
const NOTICE = new RegExp(
  "^notify warning: (?:(?<file>\\S+\\.(?:yaml|md))(?::\\d+:\\d+)?: (?<message>[^\n]+)" +
    "|1 workflow has errors|\\d+ workflows have errors): /workflow :check$",
);

/** The default role if no tool for delegation is registered. @param {Both} both */
function role({ reference, ours }) {
  const inContext = (/** @type {RegExp} */ paragraph) => (/** @type {string} */ text) =>
    text.replace(paragraph, "$1(role)");
  const orchestrator = /(\[Workflow path: [^\n]*\n\n)You are the ORCHESTRATOR [^\n]*/g;
  const worker = /(\[Workflow path: [^\n]*\n\n)You are working through this workflow, [^\n]*/g;
  assert.equal(mapStrings(ours, inContext(orchestrator)), 0);
  const places = mapStrings(reference, inContext(orchestrator));
  assert.equal(mapStrings(ours, inContext(worker)), places);
  return places;
}

/**
 * Information for the user is a message in the reference, which is sent to the model with every later request. In ours
 * it is an entry with the same text, next to the same state entry.
 * @param {Both} both
 */
function forThePerson({ reference, ours }) {
  const types = ["workflow:complete", "workflow:countdown"];
  const messages = takeEntries(
    reference,
    (entry) => entry.type === "custom_message" && types.includes(entry.customType),
  );
  const entries = takeEntries(ours, (entry) => entry.type === "custom" && types.includes(entry.customType));
  assert.deepEqual(
    entries.map(({ customType, data }) => [customType, data.content]),
    messages.map(({ customType, content }) => [customType, content]),
  );
  for (const { display } of messages) assert.equal(display, true);
  const sent = messages.map(({ content }) => `user: ${content}`);
  for (const { messages } of reference.requests) take(messages, (message) => sent.includes(message));
  return messages.length;
}

/** The line of what a run took, in the message at its end. */
export const USAGE = /\n\n\*\*Usage:\*\* [^\n]*/g;

/** The line of the usage in the message at the end. @param {Both} both */
function usage({ reference, ours }) {
  assert.equal(
    mapStrings(reference, (text) => text.replace(USAGE, "")),
    0,
  );
  return mapStrings(ours, (text) => text.replace(USAGE, ""));
}

/** The list of all steps in the context prompt, and the position in the result of `next`. @param {Both} both */
function steps({ reference, ours }) {
  const list = /\n\*\*All steps:\*\*\n((?:[▸ ] \d+\. [^\n]*\n|  … \d+ (?:earlier|later) steps\n)+)(?=\n)/g;
  const position = /\n\*\*Previous:\*\* [^\n]*\n\*\*Current:\*\* ([^\n]*) \(\d+\/\d+\)\n\*\*Next:\*\* [^\n]*\n(?=\n)/g;
  for (const block of [list, position])
    assert.equal(
      mapStrings(reference, (text) => text.replace(block, "")),
      0,
    );
  return mapStrings(ours, (text) =>
    text
      .replace(list, (_block, steps) => {
        const current = steps.split("\n").filter((/** @type {string} */ line) => line.startsWith("▸"));
        const phase = /^\*\*Current Phase:\*\* (.*)$/m.exec(text)?.[1];
        assert.equal(current.length, 1);
        assert.ok(current[0].endsWith(`${phase} (current)`), `${current[0]} is not ${phase}`);
        return "";
      })
      .replace(position, (_block, current) => {
        const phase = / → (.*)$/m.exec(text)?.[1] ?? "";
        assert.ok(current.endsWith(phase), `${current} is not ${phase}`);
        return "";
      }),
  );
}

/**
 * Ours sends a context prompt once, at the start of an agent run or in the result of `next` or `loop`, and then
 * reminders. This function replaces a reminder with the prompt, if the model has it in its context, or with its
 * instructions where the reference sends only those.
 * @param {Both} both
 */
function oncePerPhase({ ours }) {
  let places = 0;
  /** @param {{ prompt?: string }} view @param {string} text */
  const repeat = (view, text) => {
    // pi's request for a summary contains a whole conversation.
    const isWhole = /^user: (<conversation>|# Conversation)\n/.test(text);
    const parts = isWhole ? text.split(/(\n\n(?=\[[A-Z][a-z ]+\]: |# Instructions\n)|\n<\/conversation>)/) : [text];
    const repeated = parts.map((part) => asInReference(view, part));
    places += repeated.filter(({ changed }) => changed).length;
    return repeated.map(({ text }) => text).join("");
  };
  for (const entries of ours.sessions) {
    const view = {};
    for (const entry of entries) {
      const field = typeof entry.content === "string" ? "content" : "text";
      if (typeof entry[field] !== "string") continue;
      // The entry after which another branch of the session tree begins.
      if (entry.after?.text) entry.after.text = repeat({}, entry.after.text);
      const before = entry[field];
      entry[field] = repeat(view, before);
      if (!REMINDER.test(before)) continue;
      assert.deepEqual([entry.customType, entry.display], ["workflow:reminder", false]);
      entry.customType = "workflow:context";
    }
  }
  let view = {};
  for (const { continues, messages } of ours.requests) {
    if (!continues) view = {};
    messages.forEach((message, index) => (messages[index] = repeat(view, message)));
  }
  return places;
}

const PROMPT = /\[Workflow path: [^\n]*\]\n\n[^]*\n\*\*Task:\*\* [^]*\n\*\*What to do in this phase:\*\*\n[^]*$/;
const REMINDER =
  /\[Workflow path: [^\n]*\]\nStep \d+\/\d+\. The instructions of this phase stand above and still hold\. [^]*$/;

const AGAIN = /⚠️ (The .*) is still active in (.*)\. Complete the phase, and call workflow_step\./;
const NOT_DONE = `⚠️ $1 is still active. Current phase: $2.

You must NOT stop yet. The workflow requires you to complete the current phase and call workflow_step to advance.

Current phase instructions:
(as given for this phase)

Continue working on the current phase and call workflow_step when done.`;

/**
 * Converts a text of ours to the text of the reference, depending on the prompt in the model's context; stores a new
 * prompt.
 * @param {{ prompt?: string }} view
 * @param {string} text
 */
function asInReference(view, text) {
  const given = PROMPT.exec(text)?.[0];
  if (given) {
    view.prompt = given;
    const moved = /^(?:tool: |\[Tool result\]: )?(?:✓|🔄) .* (?:→|back to:) (.*)\n/.exec(text);
    if (!moved) return { text, changed: false };
    const [, emoji, name] = /\n\*\*Current Phase:\*\* (\S+) (.*)\n/.exec(given) ?? [];
    assert.equal(moved[1], `${emoji} ${name}`, "the prompt is that of another phase");
    const alone = `**What to do in ${name}:**\n${instructionsOf(given)}`;
    return { text: text.slice(0, -given.length) + alone, changed: true };
  }
  const again = AGAIN.exec(text)?.[0];
  if (again) return asInReference(view, text.replace(again, again.replace(AGAIN, NOT_DONE)));
  const reminder = REMINDER.exec(text)?.[0];
  if (!reminder && !text.includes("(as given for this phase)")) return { text, changed: false };
  assert.ok(view.prompt, `the model has no prompt in view: ${text}`);
  if (!reminder) {
    return { text: text.replaceAll("(as given for this phase)", instructionsOf(view.prompt)), changed: true };
  }
  assert.equal(reminder.split("\n")[0], view.prompt.split("\n")[0], "the prompt in view is that of another phase");
  assert.ok(Buffer.byteLength(reminder) <= 300, reminder);
  return { text: text.slice(0, -reminder.length) + view.prompt, changed: true };
}

/** @param {string} prompt */
function instructionsOf(prompt) {
  const found =
    /\n\*\*What to do in this phase:\*\*\n([^]*)\n\n\*\*Available subagent profiles for this phase:\*\*/.exec(prompt);
  return found?.[1] ?? assert.fail(`no instructions in ${prompt}`);
}

/** The allowed tools, the line about the summary, and the number of the pass. @param {Both} both */
function rules({ reference, ours }) {
  const list = "[^\\n;]+";
  const rule = `(?:all|all except ${list}; a call of one of those is refused|none; every call is refused|only ${list}; a call of any other is refused)`;
  const tools = `\\n\\*\\*Tools in this phase:\\*\\* ${rule}\\. workflow_step always works\\.`;
  const begin = "(?:what later phases must know, give|this phase cannot be left without a summary: give)";
  const handOver = `\\n\\*\\*Hand-over:\\*\\* ${begin} workflow_step a \`summary\` of at most 4,000 characters\\.`;
  const pass = /(\n\*\*Progress:\*\* .*)\n\*\*Pass:\*\* ([2-9]|\d\d+)\n/;
  const ofPrompt = new RegExp(`(\\n\\*\\*All profiles:\\*\\* .*)${tools}${handOver}(?=\\n\\n|$)`);
  const ofRefusal = new RegExp(
    `(When finished, call workflow_step to advance to the next phase\\.)\\nTools in this phase: ${rule}\\. workflow_step always works\\.$`,
  );
  const added = /Tools in this phase:|\*\*(Hand-over|Pass):\*\*|\*\*All profiles:\*\* \(none\)/;
  assert.equal(
    mapStrings(reference, (text) => text.replace(added, "")),
    0,
  );
  const places = mapStrings(ours, (text) =>
    text
      .replace(ofPrompt, "$1")
      .replace("\n**All profiles:** (none)", "\n**All profiles:** ")
      .replace(pass, "$1\n")
      .replace(ofRefusal, "$1"),
  );
  assert.equal(
    mapStrings(ours, (text) => text.replace(added, "")),
    0,
    "there is more of it",
  );
  return places;
}

/**
 * If the rules in the files have changed since the start of the run, ours shows it in the status, in a notice and after
 * each answer, sends no context prompt and does not continue. The reference shows no status if it cannot find the
 * phase.
 * @param {Both} both
 */
function held({ reference, ours }) {
  const why =
    "(?:its rules are no longer those with which it was started|the files of the workflow “[^”]*” cannot be read|its files no longer have the phase that it is in)";
  const sign = /^status workflow: ⏸ (.*) \(paused: its (?:rules have changed|files cannot be read|phase is gone)\)$/;
  ours.screen.forEach((line, index) => {
    const shown = sign.exec(line)?.[1];
    if (shown) ours.screen[index] = `status workflow: ${shown.includes(" > ") ? shown : "(none)"}`;
  });
  const notices = take(ours.screen, (line) =>
    new RegExp(`^notify warning: ⏸ .* is paused: ${why}\\.\n.*/workflow :cancel ends the run\\.$`).test(line),
  );
  assert.ok(notices.length > 0, "nobody is told");
  const continues = (/** @type {import("./play.mjs").PlayRecord} */ { screen }) => / in 3s/.test(screen.at(-1) ?? "");
  if (continues(reference) && !continues(ours)) reference.screen.pop();
  const behind = new RegExp(
    `\n\nThe workflow is paused: ${why}\\. All tool calls are refused [^\n]* wait for the user\\.$`,
  );
  mapStrings(ours, (text) => text.replace(behind, ""));
  const isPrompt = (/** @type {string} */ message) => message.startsWith("user: [Workflow path: ");
  const prompts = reference.requests.flatMap(({ messages }, index) => {
    const more = messages.length > (ours.requests[index]?.messages.length ?? 0);
    return more ? take(messages, isPrompt).map((message) => message.slice("user: ".length)) : [];
  });
  const missing = takeEntries(
    reference,
    ({ customType, content }) => customType === "workflow:context" && prompts.includes(content),
  );
  assert.equal(missing.length, prompts.length);
  return notices.length;
}

/**
 * A run that cannot be read is none in the reference. Ours holds it until the user ends it, and stores its end.
 * @param {Both} both
 */
function unreadable({ reference, ours }) {
  const why = "its stored state cannot be read in full: an entry is malformed";
  const text =
    /^(.*tool: )?The workflow configuration for this session is no longer available\.[^]* stored state cannot be read in full[^]*$/;
  const places = mapStrings(ours, (shown) =>
    shown.replace(text, "$1No active workflow. Use /workflow {name} {description} to start one."),
  );
  for (const { details } of ours.sessions.flat()) if (details) delete details.stale;
  takeEntries(ours, ({ data }) => [data?.workflow, data?.workflowKey].includes("?"));
  assert.ok(
    take(ours.screen, (line) => line.startsWith(`notify warning: ⏸ The stored run is paused: ${why}.`)).length > 0,
    "nobody is told",
  );
  take(ours.screen, (line) => line.startsWith("status workflow: ⏸ The stored run (paused: its state cannot be read)"));
  for (const { screen } of [reference, ours])
    take(screen, (line) =>
      [
        "status workflow: (none)",
        "notify info: No active workflow to cancel.",
        "notify info: Workflow cancelled.",
      ].includes(line),
    );
  return places;
}

/** The summaries in the prompts, the status and the message at the end. @param {Both} both */
function summaries({ reference, ours }) {
  const calls = ours.sessions.flat().flatMap(({ calls = [] }) => calls);
  const given = calls.flatMap((/** @type {any} */ { workflow_step }) => workflow_step?.summary?.trim() || []);
  assert.ok(given.length > 0, "nothing was handed over");
  /** @param {RegExp} item @param {string} list */
  const check = (item, list) => {
    const texts = [...list.matchAll(item)].map(([, text]) => text);
    assert.deepEqual(texts, given.slice(0, texts.length), `not as handed over: ${list}`);
    assert.ok(texts.length > 0);
    return "";
  };
  const results = /\*\*Results so far:\*\*\n\n([^]*?)\n\n(?=\*\*(?:What to do in this phase|Available profiles):\*\*)/;
  const atTheEnd = /\n\n\*\*Results:\*\*\n([^]*)$/;
  for (const block of [results, atTheEnd])
    assert.equal(
      mapStrings(reference, (text) => text.replace(block, "")),
      0,
    );
  return mapStrings(ours, (text) =>
    text
      .replace(results, (_block, list) => check(/^### [^\n]*\n([^]*?)(?=\n\n### |$)/g, list))
      .replace(atTheEnd, (_block, list) => check(/^- [^\n]*?: (.*)$/gm, list)),
  );
}

/**
 * After each start, `next` and `loop` the reference clears the status; ours shows the new phase.
 * @param {Both} both
 */
function status({ reference, ours }) {
  const isStatus = (/** @type {string} */ line) => line.startsWith("status workflow: ");
  const theirs = reference.screen.filter(isStatus);
  const own = ours.screen.filter(isStatus);
  assert.equal(theirs.length, own.length, "the status is not set equally often");
  const differing = own.flatMap((line, index) => (line === theirs[index] ? [] : [index]));
  for (const index of differing) {
    assert.equal(theirs[index], "status workflow: (none)");
    assert.match(own[index], /^status workflow: .* \[\d+\/\d+\]$/);
  }
  for (const { screen } of [reference, ours]) {
    let number = 0;
    take(screen, (line) => isStatus(line) && differing.includes(number++));
  }
  return differing.length;
}

/**
 * The reference prints a warning about a stored state that it cannot use.
 * @param {Both} both
 */
function complaints({ reference }) {
  return take(reference.printed, (text) =>
    /^\[pi-workflows\] (Path segment references missing|Invalid persisted state)/.test(text),
  ).length;
}

/**
 * Returns the state entries of all sessions.
 * @param {import("./play.mjs").PlayRecord} record
 */
export function states({ sessions }) {
  return sessions.flat().filter((entry) => entry.type === "custom" && entry.customType === "workflow:state");
}

/**
 * Removes entries from all sessions and returns them.
 * @param {import("./play.mjs").PlayRecord} record
 * @param {(entry: Entry) => boolean} predicate
 * @returns {Entry[]}
 */
function takeEntries({ sessions }, predicate) {
  return sessions.flatMap((entries) => take(entries, predicate));
}

/**
 * Removes items from a list and returns them.
 * @template T
 * @param {T[]} list
 * @param {(item: T) => boolean} predicate
 * @returns {T[]}
 */
function take(list, predicate) {
  /** @type {T[]} */
  const taken = [];
  const kept = list.filter((item) => !predicate(item) || (taken.push(item), false));
  list.splice(0, list.length, ...kept);
  return taken;
}

/**
 * Changes every string in a value; returns the number of changed strings.
 * @param {any} value
 * @param {(text: string) => string} change
 * @returns {number}
 */
export function mapStrings(value, change) {
  let changed = 0;
  for (const [key, inner] of Object.entries(value)) {
    if (typeof inner === "string") {
      value[key] = change(inner);
      if (value[key] !== inner) changed += 1;
    } else if (inner !== null && typeof inner === "object") {
      changed += mapStrings(inner, change);
    }
  }
  return changed;
}

// The agent of the demo: a scripted model that works through the examples. In each phase it first calls a tool that the
// phase may refuse, and then makes one of the exact calls that its prompt or the refusal of a call shows.

/**
 * @param {{ paceMs: number }} options the delay before each answer
 * @returns {import("../../tests/pi/harness/scripted-model.mjs").StepFunction}
 */
export function demoAgent({ paceMs }) {
  return ({ messages }) => ({ delayMs: paceMs, ...answer(messages) });
}

/** The outcomes that this agent prefers to the first one that a prompt shows. */
const PREFERRED = ["clean", "done"];

const WRITE = { name: "write", arguments: { path: "greeting.txt", content: "Hello, workflow.\n" } };

/** @param {import("../../tests/pi/harness/scripted-model.mjs").ChatMessage[]} messages */
function answer(messages) {
  const after = messages.slice(messages.findLastIndex(({ content }) => callsIn(content).length > 0));
  const [call] = callsIn(after[0].content).sort((one, other) => preference(other) - preference(one));
  const last = messages[messages.length - 1];
  // A result without a call leaves nothing to do: the end of the run or of a branch, or a pause.
  const steps = after.flatMap(({ tool_calls = [] }) => tool_calls).filter((made) => made.function.name === call?.name);
  const isOver = after.some(({ tool_call_id }) => steps.some(({ id }) => id === tool_call_id));
  if (isOver && last.role === "tool")
    return { text: "The greeting is in `greeting.txt`. There is nothing left to do." };
  if (isOver || !call) return { text: "This model plays by rote. Start a workflow: /workflow quick Add a greeting" };
  const said = textOf(last.content);
  if (after.length === 1 && !said.startsWith("⚠️")) return { text: "I will write it down right away.", calls: [WRITE] };
  if (/blocked during|\[workflow\]/.test(said)) {
    const look = { name: "read", arguments: { path: "README.md" } };
    return { text: "Not in this phase. I look around first.", calls: [look] };
  }
  return { text: "That is all for this phase.", calls: [call] };
}

/**
 * The exact calls that a message shows, with a text in the place of each placeholder.
 *
 * @param {import("../../tests/pi/harness/scripted-model.mjs").ChatMessage["content"]} content
 */
function callsIn(content) {
  const shown = [...textOf(content).matchAll(/^ *(workflow_step) (\{.*\})$/gm)];
  const filled = (/** @type {string} */ _key, /** @type {unknown} */ value) => {
    if (Array.isArray(value))
      return typeof value[0] === "object" ? value : ["Write the greeting", "Read the greeting once more"];
    return typeof value === "string" ? value.replace(/^<.*>$/, "Done as the phase asks.") : value;
  };
  return shown.map(([, name, call]) => ({ name, arguments: JSON.parse(call, filled) }));
}

/** @param {{ arguments: { outcome?: string } }} call */
const preference = ({ arguments: { outcome = "" } }) => Number(PREFERRED.includes(outcome));

/** @param {import("../../tests/pi/harness/scripted-model.mjs").ChatMessage["content"]} content */
function textOf(content) {
  if (typeof content === "string") return content;
  return (content ?? []).map(({ text }) => text ?? "").join("\n");
}

// The agent of the demo: a scripted model that works through any workflow. It first calls a tool that the phase may
// refuse.

/**
 * @param {{ paceMs: number }} options the delay before each answer
 * @returns {import("../../tests/pi/harness/scripted-model.mjs").StepFunction}
 */
export function demoAgent({ paceMs }) {
  return ({ messages }) => ({ delayMs: paceMs, ...answer(messages) });
}

/** @param {import("../../tests/pi/harness/scripted-model.mjs").ChatMessage[]} messages */
function answer(messages) {
  const last = messages.at(-1);
  const said = textOf(last?.content);
  if (last?.role !== "tool") {
    return /workflow/i.test(
      messages
        .map(({ content }) => textOf(content))
        .slice(1)
        .join("\n"),
    )
      ? write("I will write it down right away.")
      : { text: "This model plays by rote. Start a workflow: /workflow quick Add a greeting" };
  }
  if (said.includes("→ DONE")) return { text: "The greeting is in `greeting.txt`. All phases are done." };
  if (/blocked during|\[workflow\]/.test(said)) {
    return {
      text: "Not in this phase. I look around first.",
      calls: [{ name: "read", arguments: { path: "README.md" } }],
    };
  }
  if (said.startsWith("✓") || said.startsWith("🔄")) return write("On to the next phase.");
  return {
    text: "That is all for this phase.",
    calls: [
      {
        name: "workflow_step",
        arguments: { action: "next", outcome: outcomeOf(messages), summary: "Done as the phase asks." },
      },
    ],
  };
}

/**
 * The first outcome of the phase that leads to the next one, or its first; `undefined` without outcomes.
 *
 * @param {import("../../tests/pi/harness/scripted-model.mjs").ChatMessage[]} messages
 */
function outcomeOf(messages) {
  const isPrompt = (/** @type {string} */ text) => text.includes("**What to do in this phase:**");
  const prompt = messages.map(({ content }) => textOf(content)).findLast(isPrompt);
  const [, list = ""] = /\n\*\*Outcomes:\*\* .*\n((?:- .*\n)*)/.exec(prompt ?? "") ?? [];
  const outcomes = [...list.matchAll(/^- `(.+?)`: (.*)$/gm)];
  return (outcomes.find(([, , target]) => target === "the next phase") ?? outcomes[0])?.[1];
}

/** @param {string} text */
function write(text) {
  return { text, calls: [{ name: "write", arguments: { path: "greeting.txt", content: "Hello, workflow.\n" } }] };
}

/** @param {import("../../tests/pi/harness/scripted-model.mjs").ChatMessage["content"]} content */
function textOf(content) {
  if (typeof content === "string") return content;
  return (content ?? []).map(({ text }) => text ?? "").join("\n");
}

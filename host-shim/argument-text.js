// The arguments of the model's calls as the model has written them. Some versions of pi make a call even if its
// arguments break off, with the part before that place: so a call could take effect with half a text.

export class ArgumentText {
  /** The texts of the answer that is being given, by the position of their calls. @type {Map<number, string>} */
  #texts = new Map();
  /** The ids of this answer's calls whose arguments are incomplete. @type {Set<string>} */
  #incomplete = new Set();

  #isWatching = false;

  /** @param {import("@earendil-works/pi-coding-agent").ExtensionAPI} pi */
  watch(pi) {
    if (this.#isWatching) return;
    this.#isWatching = true;
    pi.on("turn_start", () => this.#incomplete.clear());
    pi.on("message_update", ({ assistantMessageEvent: part }) => {
      if (part.type === "toolcall_start") this.#texts.delete(part.contentIndex);
      else if (part.type === "toolcall_delta")
        this.#texts.set(part.contentIndex, `${this.#texts.get(part.contentIndex) ?? ""}${part.delta}`);
      else if (part.type === "toolcall_end") {
        const text = this.#texts.get(part.contentIndex);
        if (text && !isComplete(text)) this.#incomplete.add(part.toolCall.id);
        this.#texts.delete(part.contentIndex);
      }
    });
  }

  /** Returns true if the arguments of a call are incomplete. @param {string} id */
  isIncomplete(id) {
    return this.#incomplete.has(id);
  }
}

/**
 * Returns true for JSON, also where it has control characters in texts, or backslashes that escape nothing: pi reads
 * such JSON too.
 *
 * @param {string} text
 */
function isComplete(text) {
  const escapes = /\\(?:["\\/bfnrt]|u[0-9a-f]{4})?/gi;
  try {
    JSON.parse(text.replace(/[\0-\x1f]/g, " ").replace(escapes, (found) => (found === "\\" ? "\\\\" : found)));
    return true;
  } catch {
    return false;
  }
}

// The failure of the request to the model with which the agent ended last.

/** @typedef {import("../target/types/interfaces/pi-extension-context.js").ModelFailure} Failure */

/** The maximum length of a message, in UTF-16 code units. */
const MAX_MESSAGE = 8192;
/** The maximum number of headers, and the maximum length of a value. */
const MAX_HEADERS = 64;
const MAX_VALUE = 256;

/**
 * Remembers failures. pi hands on the response of some providers only, and of a request that failed of fewer; the response
 * is that of the last request.
 */
export class ModelFailures {
  /** @type {Pick<Failure, "status" | "headers"> | undefined} */
  #response;
  /** @type {Failure | undefined} */
  #last;

  /** @param {import("@earendil-works/pi-coding-agent").ExtensionAPI} pi */
  watch(pi) {
    pi.on("turn_start", () => {
      this.#response = undefined;
    });
    pi.on("after_provider_response", ({ status, headers }) => {
      this.#response = { status: statusOf(status), headers: headersOf(headers) };
    });
    pi.on("agent_end", ({ messages }) => {
      this.#last = this.#failureIn(messages);
    });
  }

  /** @param {unknown} messages @returns {Failure | undefined} */
  #failureIn(messages) {
    const all = /** @type {any[]} */ (Array.isArray(messages) ? messages : []);
    const answer = all.findLast((message) => message?.role === "assistant");
    if (answer?.stopReason !== "error") return undefined;
    const message = String(answer.errorMessage ?? "")
      .slice(0, MAX_MESSAGE)
      .toWellFormed();
    return { message, status: this.#response?.status, headers: this.#response?.headers ?? [] };
  }

  /** The failure; `undefined` if the last request did not fail. */
  get last() {
    return this.#last;
  }
}

/** @param {unknown} status */
const statusOf = (status) =>
  Number.isInteger(status) && Number(status) >= 0 && Number(status) < 65_536 ? Number(status) : undefined;

/** @param {unknown} headers @returns {[string, string][]} */
function headersOf(headers) {
  if (typeof headers !== "object" || headers === null) return [];
  const text = (/** @type {unknown} */ value) => String(value).slice(0, MAX_VALUE).toWellFormed();
  return Object.entries(headers)
    .slice(0, MAX_HEADERS)
    .map(([name, value]) => [text(name).toLowerCase(), text(value)]);
}

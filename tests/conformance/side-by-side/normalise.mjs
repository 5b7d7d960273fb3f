// Replaces what differs between two plays of one scenario: times, ids, paths of temporary folders. Leaves out fields
// that are undefined, so that a record equals its JSON.

/**
 * @param {import("../../pi/harness/sandbox.mjs").Sandbox} sandbox
 * @returns {<T>(record: T) => T}
 */
export function normaliser(sandbox) {
  /** @type {Map<string, string>} */
  const tasks = new Map();
  /** @param {string} id */
  const taskName = (id) => {
    if (!tasks.has(id)) tasks.set(id, `wf-TASK-${tasks.size + 1}`);
    return /** @type {string} */ (tasks.get(id));
  };
  /** @param {string} text */
  const normaliseText = (text) =>
    text
      .replaceAll(sandbox.root, "<sandbox>")
      .replace(/\bwf-\d{13}-[0-9a-z]{1,6}\b/g, taskName)
      .replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\b/g, "<time>")
      .replace(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, "<uuid>");
  /**
   * @param {any} value
   * @returns {any}
   */
  const normalise = (value) => {
    if (typeof value === "string") return normaliseText(value);
    if (Array.isArray(value)) return value.map(normalise);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, inner]) => inner !== undefined)
        .map(([key, inner]) =>
          key === "startedAt" && Number.isInteger(inner) && String(inner).length === 13
            ? [key, "<time>"]
            : [key, normalise(inner)],
        ),
    );
  };
  return normalise;
}

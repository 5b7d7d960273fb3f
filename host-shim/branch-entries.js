// The entries of the branch of a session.

/** @typedef {import("@earendil-works/pi-coding-agent").ExtensionContext["sessionManager"]} Session */

/** The entries of the branch, newest first. @param {Session} session */
export function* fromLeaf(session) {
  let entry = session.getLeafEntry();
  while (entry) {
    yield entry;
    entry = entry.parentId ? session.getEntry(entry.parentId) : undefined;
  }
}

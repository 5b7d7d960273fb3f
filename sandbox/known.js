// The memory of this process: results of its looks at the file system and of the system. Looks are made in two threads (look.js),
// and each learns what the other one has seen.

export const known = {
  /**
   * The places to which each path has led: the removal of a link gives no access to its former target, in any session of
   * this process.
   * @type {Map<string, Set<string>>}
   */
  places: new Map(),
  /**
   * The work trees that were around a folder when a session began in it: a later change of a file that names a folder of
   * git gives no access to that folder.
   * @type {Map<string, { tree: string, folder: string }[]>}
   */
  trees: new Map(),
  /** True for a sandbox that has started, by whether it has a network. @type {Map<boolean, boolean>} */
  starts: new Map(),
  /** For each path of bubblewrap, true if it can set the permissions of a file (since 0.5). @type {Map<string, boolean>} */
  copying: new Map(),
};

/** Adds what the other thread knows. @param {typeof known} other */
export function learn({ places, trees, starts, copying }) {
  for (const [path, all] of places) known.places.set(path, new Set([...(known.places.get(path) ?? []), ...all]));
  for (const [folder, all] of trees) known.trees.set(folder, all);
  for (const [network, starting] of starts) known.starts.set(network, starting);
  for (const [program, can] of copying) known.copying.set(program, can);
}

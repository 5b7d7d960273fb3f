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
   * The folders of git of each work tree around a folder in which a session began, or around a hidden path: a later change of
   * a file that names a folder of git gives no access to that folder.
   * @type {Map<string, Set<string>>}
   */
  trees: new Map(),
  /** True for a sandbox that has started, by whether it has a network. @type {Map<boolean, boolean>} */
  starts: new Map(),
  /** For each path of bubblewrap, true if it can set the permissions of a file (since 0.5). @type {Map<string, boolean>} */
  copying: new Map(),
  /** The folders in which sessions have begun. @type {Set<string>} */
  projects: new Set(),
  /** The user's own programs that were looked for, by name or path. @type {Set<string>} */
  programs: new Set(),
};

/** Adds what the other thread knows. @param {typeof known} other */
export function learn({ places, trees, starts, copying, projects, programs }) {
  for (const project of projects) known.projects.add(project);
  for (const program of programs) known.programs.add(program);
  for (const [own, other] of /** @type {const} */ ([
    [known.places, places],
    [known.trees, trees],
  ]))
    for (const [path, all] of other) own.set(path, new Set([...(own.get(path) ?? []), ...all]));
  for (const [network, starting] of starts) known.starts.set(network, starting);
  for (const [program, can] of copying) known.copying.set(program, can);
}

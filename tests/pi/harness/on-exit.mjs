/** @type {Set<() => void>} */
const hooks = new Set();

/**
 * Runs `hook` (synchronous) when this process ends, unless the returned function is called before. Hooks run in the
 * reverse order of their registration, so that a process ends before its folder is removed.
 *
 * @param {() => void} hook
 * @returns {() => void}
 */
export function onExit(hook) {
  install();
  hooks.add(hook);
  return () => hooks.delete(hook);
}

let installed = false;

function install() {
  if (installed) return;
  installed = true;
  process.on("exit", () => {
    for (const hook of [...hooks].reverse()) hook();
  });
  // A signal ends Node without "exit"; the test runner sends SIGTERM to a file that takes too long.
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
    process.once(signal, () => process.exit(1));
  }
}

/** @type {Set<() => void>} */
const hooks = new Set();

/**
 * Runs `hook` (synchronous) when this process ends, unless the returned function is called before. The last one
 * registered runs first, so that a process ends before the folder it lives in is removed.
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

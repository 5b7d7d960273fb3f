// Notices that this process did not run for a time, or that the clock was changed. The steady clock of some systems goes on
// while they sleep, and that of others stands still.

/** The time between two looks at the clocks, in milliseconds. */
const TICK = 5000;

/** The longest time that is no skip, in milliseconds. */
const LONGEST = 30_000;

/** Receive the length of each skip. @type {Set<(skipped: number) => void>} */
const listeners = new Set();

/** @type {NodeJS.Timeout | undefined} */
let timer;
let last = { wall: 0, steady: 0 };

/**
 * Calls a function at each skip, with the milliseconds by which the wall clock went on without this process, until the
 * returned function is called.
 * @param {(skipped: number) => void} listener
 */
export function watchClock(listener) {
  if (listeners.size === 0) {
    last = { wall: Date.now(), steady: performance.now() };
    timer = setInterval(look, TICK).unref();
  }
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) clearInterval(timer);
  };
}

/** Looks at the clocks; without a listener it does nothing. */
export function look() {
  if (listeners.size === 0) return;
  const now = { wall: Date.now(), steady: performance.now() };
  const [passed, ran] = [now.wall - last.wall, now.steady - last.steady];
  last = now;
  if (ran <= LONGEST && Math.abs(passed - ran) <= LONGEST) return;
  for (const listener of [...listeners]) listener(Math.max(0, Math.round(passed - Math.min(ran, TICK))));
}

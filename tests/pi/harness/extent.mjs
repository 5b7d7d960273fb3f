// The extent of the tests. `npm test` runs them on the newest pi without the long ones; `npm run test:all` sets
// TESTS=all and runs everything.

import { PI_VERSIONS } from "./pi.mjs";

/** True if all tests run. */
export const ALL = process.env.TESTS === "all";

/**
 * The versions of pi that a test file runs on, newest first. What `npm test` too runs on every version uses PI_VERSIONS.
 */
export const VERSIONS = ALL ? PI_VERSIONS : PI_VERSIONS.slice(0, 1);

/** Options of a test that takes long. */
export const LONG = { skip: ALL ? false : "runs in `npm run test:all`" };

/**
 * The variants of a test that run, such as modes, sizes and users: all of them, and in `npm test` the first.
 *
 * @template T
 * @param {readonly T[]} all
 * @param {number} [quick] the number of those in `npm test`
 */
export const variants = (all, quick = 1) => (ALL ? all : all.slice(0, quick));

/**
 * The cases of a test that run: all of them, and in `npm test` every fifth.
 *
 * @template T
 * @param {readonly T[]} all
 */
export const some = (all) => all.filter((_, index) => ALL || index % 5 === 0);

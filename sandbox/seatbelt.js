// Command lines that run confined on macOS, by `sandbox-exec`. A process that outlives its command line stays confined.
import { quoted } from "./shell-quote.js";

/** @typedef {import("./command-line.js").Sandbox} Sandbox */

/** Devices that every program may write. */
const DEVICES = ["/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/dtracehelper", "/dev/tty"];

/** The socket of the service that resolves the names of hosts. */
const NAME_SERVICE = "/private/var/run/mDNSResponder";

/** Returns the profile. Of several rules that match, the last one holds. @param {Sandbox} sandbox */
export function profile({ writable, readOnly, network, temporary, hidden, fixed, unreadable, kept }) {
  const rules = ["(version 1)", "(allow default)"];
  // Programs that are started by a service of the system run outside of the sandbox.
  rules.push("(deny appleevent-send)", "(deny lsopen)", "(deny job-creation)");
  rules.push("(deny network-outbound (remote unix-socket))");
  rules.push(network ? `(allow network-outbound (literal ${literal(NAME_SERVICE)}))` : "(deny network*)");
  if (!writable.includes("/")) {
    rules.push("(deny file-write*)");
    rules.push(...DEVICES.map((path) => `(allow file-write* (literal ${literal(path)}))`));
    rules.push(...[temporary, ...writable].map((path) => `(allow file-write* (subpath ${literal(path)}))`));
  }
  rules.push(...readOnly.map((path) => `(deny file-write* (subpath ${literal(path)}))`));
  // Rules name paths: a folder above a hidden or kept one must keep its name.
  rules.push(
    ...foldersAbove([...unreadable, ...kept]).map((path) => `(deny file-write-unlink (literal ${literal(path)}))`),
  );
  rules.push(...[...hidden, ...unreadable].map((path) => `(deny file-read* file-write* (subpath ${literal(path)}))`));
  rules.push(...fixed.map((path) => `(deny file-write* (literal ${literal(path)}))`));
  return rules.join("\n");
}

/** Returns the folders that contain these paths. @param {string[]} paths absolute */
function foldersAbove(paths) {
  const above = paths.flatMap((path) => path.split("/").map((_, end, parts) => parts.slice(0, end).join("/")));
  return [...new Set(above)].filter((path) => path !== "");
}

/** @param {string} text */
const literal = (text) => `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;

/**
 * Returns a command line that runs a command line in the sandbox, by the shell that reads the result.
 * @param {string} line without NUL
 * @param {Sandbox} sandbox
 */
export function seatbeltLine(line, sandbox) {
  const { temporary } = sandbox;
  return `TMPDIR=${quoted(temporary)} /usr/bin/sandbox-exec -p ${quoted(profile(sandbox))} "\${BASH:-/bin/sh}" -c -- ${quoted(line)} "$0"`;
}

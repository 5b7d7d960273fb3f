// Installs the missing dependencies of an npm script, and prints their names.
//
//   node scripts/setup.mjs build      packages of package-lock.json, Rust's WebAssembly target
//   node scripts/setup.mjs demo       … and pi as published, under target/pi/
//   node scripts/setup.mjs test       … and tmux, bubblewrap, iproute2, Python, Perl (the default)
//   node scripts/setup.mjs test:all   … and Chromium, pi with its dependencies, and bun where npm can install it
//
// It is the first thing to run in a fresh clone, so it uses Node's own modules only and works from Node 18 on.

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = resolve(fileURLToPath(import.meta.url), "../..");
const WASM_TARGET = "wasm32-unknown-unknown";
const VERSIONS = join(ROOT, "scripts/pi-versions.json");
const NODE_BINARY = join(ROOT, "node_modules/.bin/node");

/**
 * Programs that the tests run, each with arguments that only print, its package of Debian, and its use.
 *
 * @type {Record<string, { test: string[], package: string, use: string }>}
 */
const PROGRAMS = {
  tmux: { test: ["-V"], package: "tmux", use: "the tests drive pi's terminal interface in it" },
  // The sandbox of commands is for Linux only.
  ...(process.platform === "linux" && {
    bwrap: { test: ["--version"], package: "bubblewrap", use: "it confines commands" },
    ss: { test: ["--version"], package: "iproute2", use: "the sandbox asks the kernel for sockets by it" },
    python3: { test: ["--version"], package: "python3", use: "the tests try to leave the sandbox with it" },
    perl: { test: ["--version"], package: "perl", use: "the tests try to leave the sandbox with it" },
  }),
};

/**
 * Programs of `npm run test:all`, besides.
 *
 * @type {typeof PROGRAMS}
 */
const MORE_PROGRAMS = {
  ...(process.platform === "linux" && {
    chromium: { test: ["--version"], package: "chromium", use: "the tests look at the HTML report in it" },
  }),
};

/**
 * The setup steps of each argument, in order.
 *
 * @type {Record<string, (() => void)[]>}
 */
const STEPS = {
  build: [npmPackages, nodeBinary, wasmTarget],
  demo: [npmPackages, nodeBinary, wasmTarget, piTarballs],
  test: [npmPackages, nodeBinary, wasmTarget, piTarballs, () => programs(PROGRAMS)],
  "test:all": [
    ...[npmPackages, nodeBinary, wasmTarget, piTarballs, embeddedPi, bun],
    () => programs({ ...PROGRAMS, ...MORE_PROGRAMS }),
  ],
};

/** An error that the user can fix, as the message says. */
class SetupError extends Error {}

function npmPackages() {
  if (lockIsInstalled()) return;
  say("npm ci");
  npm(["ci", "--no-audit", "--no-fund", "--loglevel=error"]);
}

/**
 * Compares npm's record of node_modules with package-lock.json. Compares the content, because a checkout changes the
 * file's time without changing the content. Optional packages may be absent: npm omits those of other platforms.
 */
function lockIsInstalled() {
  const hidden = join(ROOT, "node_modules/.package-lock.json");
  if (!existsSync(hidden)) return false;
  const installed = readJson(hidden).packages;
  const { "": _root, ...locked } = readJson(join(ROOT, "package-lock.json")).packages;
  const upToDate = Object.entries(locked).every(([path, { version, integrity, optional, devOptional }]) => {
    const there = installed[path];
    return there ? there.version === version && there.integrity === integrity : Boolean(optional || devOptional);
  });
  return upToDate && Object.keys(installed).every((path) => path in locked);
}

/** Checks that the install script of the package `node` has fetched its binary: npm may be configured not to run it. */
function nodeBinary() {
  if (existsSync(NODE_BINARY)) return;
  throw new SetupError(
    [
      "node_modules/.bin/node is missing: the package `node` gets its binary in an install script, and npm did not run it.",
      "Look at `npm config get ignore-scripts` and `npm config get allow-scripts`, then run:",
      "  npm rebuild node --ignore-scripts=false --foreground-scripts",
    ].join("\n"),
  );
}

function wasmTarget() {
  // rustc works with and without rustup, and respects a rust-toolchain file.
  const libdir = run("rustc", ["--print", "target-libdir", "--target", WASM_TARGET]);
  if (libdir.missing) throw new SetupError("rustc is not on PATH. Install Rust with rustup, then run this again.");
  if (libdir.ok && existsSync(libdir.stdout.trim())) return;
  say(`rustup target add ${WASM_TARGET}`);
  const added = run("rustup", ["target", "add", WASM_TARGET]);
  if (added.missing) {
    throw new SetupError(`This Rust has no ${WASM_TARGET}, and rustup is not on PATH to add it.`);
  }
  if (!added.ok) throw new SetupError(`rustup target add ${WASM_TARGET} failed:\n${added.stderr}`);
}

function piTarballs() {
  const { package: name, tarballs } = readJson(VERSIONS);
  for (const [version, integrity] of Object.entries(tarballs)) {
    const home = join(ROOT, "target/pi", version);
    if (!existsSync(home)) fetchTarball(`${name}@${version}`, integrity, home);
  }
}

/**
 * @param {string} spec
 * @param {string} integrity
 * @param {string} home
 */
function fetchTarball(spec, integrity, home) {
  say(`npm pack ${spec}`);
  inFull(home, (scratch) => {
    npm(["pack", spec, "--pack-destination", scratch]);
    const tarball = join(scratch, readdirSync(scratch)[0]);
    compare(spec, integrity, `sha512-${createHash("sha512").update(readFileSync(tarball)).digest("base64")}`);
    const untarred = run("tar", ["-xzf", tarball, "-C", scratch]);
    if (!untarred.ok) throw new SetupError(`tar could not unpack ${spec}: ${untarred.stderr || "no tar on PATH"}`);
    rmSync(tarball);
  });
}

function embeddedPi() {
  const { package: name, tarballs } = readJson(VERSIONS);
  for (const [version, integrity] of Object.entries(tarballs))
    install(`${name}@${version}`, join(ROOT, "target/pi", `${version}-sdk`), integrity);
}

function bun() {
  try {
    install(`bun@${readJson(VERSIONS).bun}`, join(ROOT, "target/bun"));
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    say(`without bun, the tests of the compiled pi are passed over: ${error.message}`);
  }
}

/**
 * Installs a package with its dependencies in a folder of its own.
 *
 * @param {string} spec
 * @param {string} home
 * @param {string} [integrity] of the package itself
 */
function install(spec, home, integrity) {
  if (existsSync(home)) return;
  say(`npm install ${spec}`);
  inFull(home, (scratch) => {
    writeFileSync(join(scratch, "package.json"), '{ "private": true }');
    npm(["install", "--no-audit", "--no-fund", "--loglevel=error", spec], scratch);
    const { packages } = readJson(join(scratch, "node_modules/.package-lock.json"));
    const actual = packages[`node_modules/${spec.slice(0, spec.lastIndexOf("@"))}`].integrity;
    if (integrity) compare(spec, integrity, actual);
  });
}

/**
 * Fills a folder beside `home` and renames it at the end, so that an interrupted run leaves no incomplete one.
 *
 * @param {string} home
 * @param {(scratch: string) => void} fill
 */
function inFull(home, fill) {
  mkdirSync(resolve(home, ".."), { recursive: true });
  const scratch = mkdtempSync(`${home}-`);
  try {
    fill(scratch);
    // Tests run pi as another user too.
    chmodSync(scratch, 0o755);
    renameSync(scratch, home);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/**
 * @param {string} spec
 * @param {string} pinned
 * @param {string} actual
 */
function compare(spec, pinned, actual) {
  if (actual === pinned) return;
  const both = `  pinned ${pinned}\n  got    ${actual}`;
  throw new SetupError(`${spec} is not the tarball that scripts/pi-versions.json pins:\n${both}`);
}

/** @param {typeof PROGRAMS} wanted */
function programs(wanted) {
  const missing = Object.keys(wanted).filter((name) => run(name, wanted[name].test).missing);
  if (missing.length === 0) return;
  const packages = missing.map((name) => wanted[name].package);
  const names = missing.map((name) => `${name} (${wanted[name].use})`).join(", ");
  const byHand = `Install with your system's package manager: ${packages.join(", ")}.`;
  if (run("apt-get", ["--version"]).missing) throw new SetupError(`Not on PATH: ${names}. ${byHand}`);
  const asRoot = rootPrefix();
  if (!asRoot) throw new SetupError(`Not on PATH: ${names}, and apt-get needs root. ${byHand}`);
  say(`apt-get install ${packages.join(" ")}`);
  const install = () => apt(asRoot, ["install", "--yes", "--no-install-recommends", ...packages]);
  let installed = install();
  // A new container has no package lists yet.
  if (!installed.ok && apt(asRoot, ["update"]).ok) installed = install();
  if (!installed.ok)
    throw new SetupError(`apt-get could not install ${packages.join(", ")}. ${byHand}\n${installed.stderr}`);
}

/**
 * Returns the prefix that runs a command as root; `undefined` if that is impossible. Without a terminal it asks for no
 * password.
 */
function rootPrefix() {
  if (process.getuid?.() === 0) return [];
  if (run("sudo", ["--version"]).missing) return undefined;
  return process.stdin.isTTY ? ["sudo"] : ["sudo", "--non-interactive"];
}

/**
 * @param {string[]} asRoot
 * @param {string[]} args
 */
function apt(asRoot, args) {
  const [command, ...rest] = [...asRoot, "apt-get", ...args];
  return run(command, rest, { env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } });
}

/**
 * @param {string[]} args
 * @param {string} [cwd]
 */
function npm(args, cwd = ROOT) {
  // Under `npm run`, PATH begins with node_modules/.bin, and `npm ci` deletes the `node` in that folder while it runs.
  const path = (process.env.PATH ?? "")
    .split(delimiter)
    .filter((folder) => !folder.startsWith(join(ROOT, "node_modules")));
  const env = { ...process.env, PATH: path.join(delimiter) };
  const done = run("npm", args, { cwd, env, shell: process.platform === "win32" });
  if (done.missing) throw new SetupError("npm is not on PATH. Install Node with npm, then run this again.");
  // npm prints the reason first, and then all options of the command.
  const reason = done.stderr.split(/^npm error Usage:$/m)[0];
  if (!done.ok) throw new SetupError(`npm ${args[0]} failed:\n${done.stdout}${reason}`);
}

/**
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, shell?: boolean }} [options]
 */
function run(command, args, options = {}) {
  const done = spawnSync(command, args, {
    cwd: ROOT,
    encoding: "utf8",
    stdio: ["inherit", "pipe", "pipe"],
    maxBuffer: 64 * 1024 * 1024,
    ...options,
  });
  const missing = done.error !== undefined && "code" in done.error && done.error.code === "ENOENT";
  return { ok: done.status === 0, missing, stdout: done.stdout ?? "", stderr: done.stderr ?? "" };
}

/** @param {string} path */
function readJson(path) {
  return JSON.parse(readFileSync(path, "utf8"));
}

/** @param {string} text */
function say(text) {
  console.log(`setup: ${text}`);
}

const what = process.argv[2] ?? "test";
if (!Object.hasOwn(STEPS, what)) {
  console.error(`usage: node scripts/setup.mjs ${Object.keys(STEPS).join("|")}`);
  process.exit(2);
}
try {
  for (const step of STEPS[what]) step();
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  console.error(`setup: ${error.message}`);
  process.exit(1);
}

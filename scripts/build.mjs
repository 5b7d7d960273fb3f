// Builds the guest, converts it to a component and generates the glue that the shim loads.
//
//   target/component/pi_workflows.wasm   the component
//   host-shim/component/                 its core modules, the glue, its registrations, and the shim in one file
//   target/types/                        the types of wit/, against which `tsc` checks the shim and the command line
//
//   node scripts/build.mjs           as published
//   node scripts/build.mjs --quick   a faster build of a larger and slower component, for development
//
// If the core module has not changed, the component is not built again. `buildComponent` also builds the tests' own
// guests.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

// Pinned: later versions wrap every synchronous call in task bookkeeping. For this component their glue is six times as
// large and takes three times as long to load.
import { componentNew, opt, transpile, types } from "@bytecodealliance/jco";
// Bundles the shim. The most common bundler; pi's own package depends on it as well.
import * as esbuild from "esbuild";

import { eventName } from "../host-shim/events.js";
import { Guest } from "../host-shim/guest.js";
import { instantiator } from "../host-shim/manifest.js";
import { scriptFor } from "./usage.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const TARGET = "wasm32-unknown-unknown";

/** The flags of wasm-opt that give the smallest of the components tried. */
const SMALLEST = ["--flatten", "--rereloop", "-Oz", "-Oz"];

/** The features that rustc enables for this target. The optimizer must be told. */
const FEATURES = [
  "bulk-memory",
  "multivalue",
  "mutable-globals",
  "nontrapping-float-to-int",
  "reference-types",
  "sign-ext",
].map((feature) => `--enable-${feature}`);

/**
 * @param {object} guest
 * @param {string} guest.name the artifact's name
 * @param {string[]} guest.cargo cargo's arguments that select the artifact
 * @param {string} guest.artifact the path of the core module in cargo's folder of the target
 * @param {string} guest.component the path of the component
 * @param {string} guest.glue the folder for the core modules and the glue
 * @param {string} [guest.profile]
 * @param {boolean} [guest.optimized] optimizes for size
 * @param {(message: string) => void} [guest.tell] receives a message before each step that takes long. cargo shows its
 *   progress in a terminal
 * @param {boolean} [guest.packed] stores the registrations and the bundled shim beside the glue, so that pi starts
 *   faster. The component must only register in `init`
 */
export async function buildComponent({
  name,
  cargo,
  artifact,
  component,
  glue,
  profile = "release",
  optimized = false,
  packed = false,
  tell,
}) {
  const built = resolve(root, process.env.CARGO_TARGET_DIR ?? "target", TARGET, profile, artifact);
  if (!existsSync(built)) tell?.("cargo builds the component; the first time this takes minutes");
  const quiet = tell && process.stderr.isTTY ? [] : ["--quiet"];
  execFileSync("cargo", ["fetch", ...quiet, "--locked", "--target", TARGET], { cwd: root, stdio: "inherit" });
  execFileSync("cargo", ["build", ...quiet, "--locked", "--profile", profile, "--target", TARGET, ...cargo], {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, CARGO_ENCODED_RUSTFLAGS: withoutFolders() },
  });
  const core = readFileSync(built);
  const inputs = [
    core,
    readFileSync(fileURLToPath(import.meta.url)),
    readFileSync(join(root, "package-lock.json")),
    String(optimized),
  ];
  const digest = inputs.reduce((hash, input) => hash.update(input), createHash("sha256")).digest("hex");
  const stamp = `${component}.inputs`;
  const made = existsSync(glue) && existsSync(component) && existsSync(stamp) && readFileSync(stamp, "utf8") === digest;
  if (!made) {
    rmSync(stamp, { force: true });
    if (optimized) tell?.("optimizing the component for size; this takes up to a minute");
    await makeComponent(core, { name, component, glue, optimized });
    writeFileSync(stamp, digest);
  }
  if (packed) {
    replace(join(glue, "registrations.json"), JSON.stringify(registrations(join(glue, `${name}.js`), name)));
    replace(join(glue, "shim.cjs"), await bundledShim());
  }
  return { bytes: statSync(component).size, made };
}

/**
 * Converts a core module to a component and generates its glue.
 *
 * @param {Uint8Array} core
 * @param {{ name: string, component: string, glue: string, optimized: boolean }} options
 */
async function makeComponent(core, { name, component, glue, optimized }) {
  let bytes = await componentNew(core, []);
  if (optimized)
    bytes = (await opt(bytes, { quiet: true, optArgs: [...SMALLEST, "--strip-debug", ...FEATURES] })).component;
  mkdirSync(dirname(component), { recursive: true });
  writeFileSync(component, bytes);
  const { files } = await transpile(bytes, {
    name,
    // The shim passes the imports and receives the exports synchronously.
    instantiation: "sync",
    nodejsCompat: false,
    minify: true,
    base64Cutoff: /** @type {any} */ (0),
  });
  // The folder is replaced by renaming, so that a pi that starts meanwhile loads the old or the new one.
  const fresh = `${glue}.new`;
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { recursive: true });
  for (const [file, content] of Object.entries(files)) {
    if (/\.(js|wasm)$/.test(file)) writeFileSync(join(fresh, file), content);
  }
  rmSync(glue, { recursive: true, force: true });
  renameSync(fresh, glue);
}

/**
 * @param {string} file
 * @param {string | Uint8Array} content
 */
function replace(file, content) {
  writeFileSync(`${file}.new`, content);
  renameSync(`${file}.new`, file);
}

/** Returns the shim in one file, which Node loads in a fraction of the time of the single files. */
async function bundledShim() {
  const { outputFiles } = await esbuild.build({
    entryPoints: [join(root, "host-shim/load.js")],
    write: false,
    bundle: true,
    platform: "node",
    format: "cjs",
    minifyWhitespace: true,
    // The thread of looks is loaded from the folder of the sandbox.
    define: { "import.meta.url": "sandboxUrl" },
    banner: {
      js: '"use strict";const sandboxUrl=require("node:url").pathToFileURL(`${__dirname}/../../sandbox/index.js`).href;',
    },
    // Modules are strict. Do not read a tsconfig.json.
    tsconfigRaw: { compilerOptions: { alwaysStrict: true } },
    logLevel: "warning",
  });
  return outputFiles[0].contents;
}

/**
 * Returns the registrations of a component: its calls of `pi:extension/api` in `init`.
 *
 * @param {string} glue the generated module
 * @param {string} name
 */
export function registrations(glue, name) {
  /** @type {import("../host-shim/extension.js").Registration[]} */
  const calls = [];
  const url = pathToFileURL(glue);
  const recorded =
    (/** @type {string} */ call) =>
    (/** @type {unknown[]} */ ...parameters) =>
      void calls.push([call, ...parameters]);
  const api = new Proxy({}, { get: (_, call) => recorded(String(call)) });
  const imports = /** @type {import("../host-shim/interface.js").Imports} */ (
    new Proxy({}, { get: (_, from) => (from === "pi:extension/api" ? api : absent(String(from))) })
  );
  const instantiate = instantiator(url, { name, glue: url.href });
  new Guest(
    () => instantiate(imports),
    () => {},
  ).start();
  for (const [call, kind] of calls) if (call === "on") eventName(String(kind));
  return calls;
}

/** @param {string} from */
function absent(from) {
  const refuse = (/** @type {unknown} */ name) => () => {
    throw new Error(`The component calls ${from} ${String(name)} in init.`);
  };
  return new Proxy({}, { get: (_, name) => refuse(name) });
}

/**
 * Generates the types of `wit/` for the shim and for the command line.
 * @param {string} folder
 */
async function generateTypes(folder) {
  // jco finds the interface that another one uses in `deps`.
  const tools = join(folder, "wit");
  mkdirSync(join(tools, "deps/extension"), { recursive: true });
  copyFileSync(join(root, "wit/tools/tools.wit"), join(tools, "tools.wit"));
  copyFileSync(join(root, "wit/extension.wit"), join(tools, "deps/extension/extension.wit"));
  const made = [
    await types(tools, { worldName: "component", instantiation: "sync" }),
    await types(join(root, "wit/extension.wit"), { worldName: "extension", instantiation: "sync" }),
  ];
  for (const [file, content] of made.flatMap((files) => Object.entries(files))) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), content);
  }
}

/**
 * rustc's arguments that replace the folders of this machine. A component contains the names of the source files in
 * which it can panic, and builds in different folders must be equal.
 */
function withoutFolders() {
  const sources = join(process.env.CARGO_HOME ?? join(homedir(), ".cargo"), "registry/src");
  const rustc = (/** @type {string[]} */ ...parameters) =>
    execFileSync("rustc", parameters, { cwd: root, encoding: "utf8" });
  // The path that rustc uses if the sources of the standard library are not installed.
  const library = `/rustc/${/^commit-hash: (.*)$/m.exec(rustc("-vV"))?.[1]}`;
  const folders = [
    [root, "."],
    [join(rustc("--print", "sysroot").trim(), "lib/rustlib/src/rust"), library],
    ...readdirSync(sources).map((registry) => [join(sources, registry), "crates"]),
  ];
  return folders.map(([from, to]) => `--remap-path-prefix=${from}=${to}`).join("\x1f");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  scriptFor("build", process.argv.slice(2));
  const quick = process.argv.includes("--quick");
  const say = (/** @type {string} */ message) => console.log(`build: ${message}`);
  await generateTypes(join(root, "target/types"));
  const { bytes, made } = await buildComponent({
    name: "pi_workflows",
    cargo: ["--lib"],
    artifact: "pi_workflows.wasm",
    component: join(root, "target/component/pi_workflows.wasm"),
    glue: join(root, "host-shim/component"),
    profile: quick ? "quick" : "release",
    optimized: !quick,
    packed: true,
    tell: say,
  });
  say(
    `${made ? "built; the component has the same bytes as before" : "built the component"} (${Math.round(bytes / 1000)} KB), bundled the shim`,
  );
}

// Creates a commit with the files of the published package, including the built component. `pi install
// git:HOST/PATH@release` clones it, without Rust and without a build.
//
//   npm run release              on the branch `release`
//   npm run release -- BRANCH    on another branch
//
// It changes neither the index nor the working tree, and pushes nothing.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { scriptFor } from "./usage.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/** An error that the user can fix, as the message says. */
class ReleaseError extends Error {}

/**
 * @param {string[]} parameters
 * @param {NodeJS.ProcessEnv} [env]
 */
const git = (parameters, env = {}) =>
  execFileSync("git", parameters, {
    cwd: root,
    encoding: "utf8",
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  }).trim();

/** Returns the commit that a branch points to; `undefined` if the branch does not exist. @param {string} ref */
function tip(ref) {
  try {
    return git(["rev-parse", "--verify", "--quiet", `${ref}^{commit}`]);
  } catch {
    return undefined;
  }
}

/**
 * Returns the manifest without the fields for the build, so that npm installs nothing when pi runs it in the clone.
 * @param {string} file
 */
function slimManifest(file) {
  const {
    scripts: _scripts,
    devDependencies: _development,
    workspaces: _packages,
    ...manifest
  } = JSON.parse(readFileSync(file, "utf8"));
  const optional = Object.keys(manifest.peerDependencies).map((name) => [name, { optional: true }]);
  writeFileSync(
    file,
    `${JSON.stringify({ ...manifest, peerDependenciesMeta: Object.fromEntries(optional) }, null, 2)}\n`,
  );
  return manifest;
}

/** @param {string} branch */
function release(branch) {
  const ref = `refs/heads/${branch}`;
  try {
    git(["check-ref-format", ref]);
  } catch {
    throw new ReleaseError(`"${branch}" is not a valid name of a branch.`);
  }
  if (git(["branch", "--show-current"]) === branch)
    throw new ReleaseError(`"${branch}" is checked out; a release needs another branch.`);
  if (!existsSync(join(root, "host-shim/component/shim.cjs")))
    throw new ReleaseError("The component is not built: npm run build");
  if (git(["status", "--porcelain"]) !== "")
    throw new ReleaseError("There are uncommitted changes; commit them first.");
  const scratch = mkdtempSync(join(tmpdir(), "pi-workflows-release-"));
  try {
    const pack = ["pack", "--ignore-scripts", "--json", "--pack-destination", scratch, "--loglevel=error"];
    const [{ filename }] = JSON.parse(execFileSync("npm", pack, { cwd: root, encoding: "utf8" }));
    execFileSync("tar", ["-xzf", join(scratch, filename), "-C", scratch]);
    const folder = join(scratch, "package");
    const { version } = slimManifest(join(folder, "package.json"));
    const index = { GIT_INDEX_FILE: join(scratch, "index") };
    // All files byte for byte, independent of the user's ignore and conversion settings.
    git(
      [
        "-c",
        "core.autocrlf=false",
        "-c",
        "core.safecrlf=false",
        `--work-tree=${folder}`,
        "add",
        "--all",
        "--force",
        folder,
      ],
      index,
    );
    const tree = git(["write-tree"], index);
    const parent = tip(ref);
    if (parent && git(["rev-parse", `${parent}^{tree}`]) === tree)
      return console.log(`${branch} already has these files.`);
    const message = `Version ${version}, built from ${git(["rev-parse", "--short", "HEAD"])}`;
    const commit = git(["commit-tree", tree, "-m", message, ...(parent ? ["-p", parent] : [])]);
    git(["update-ref", "-m", "release", ref, commit, parent ?? ""]);
    console.log(`${branch}: ${message}\nTo publish it: git push origin ${branch}`);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

const words = process.argv.slice(2);
scriptFor("release", words);
const [branch = "release"] = words;
try {
  release(branch);
} catch (/** @type {any} */ error) {
  if (!(error instanceof ReleaseError) && !error.stderr) throw error;
  console.error(`release: ${error.stderr?.trim() || error.message}`);
  process.exit(1);
}

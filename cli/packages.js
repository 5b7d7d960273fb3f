// The installed pi packages, as far as pi can be loaded; and a package in a folder.
import { realpathSync } from "node:fs";
import { delimiter, dirname, join, relative, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import { fieldOf, installedPackages, packageIn, projectSettings, readManifest, readText } from "#loader";

/** @typedef {import("#loader").Installed} Installed */

/** The grants of packages in the manifest of this package. */
export const GRANTS = /** @type {import("#loader").PackageGrant[]} */ (
  readManifest(new URL("../package.json", import.meta.url)).files.filter(
    ({ base }) => base === "packages" || base === "own",
  )
);

const NOT_LOADED =
  "Installed pi packages are not looked at: pi cannot be loaded. It is found by the command `pi`, or beside this package.";

/**
 * Returns the packages that pi's settings list here. pi is loaded only if there are any.
 * @param {string} agentDir pi's own folder
 * @returns {Promise<{ packages: Installed[], problem?: string }>}
 */
export async function listedPackages(agentDir) {
  const settings = [() => readText(join(agentDir, "settings.json")), () => projectSettings(process.cwd(), ".pi")];
  if (!settings.some(hasPackages)) return { packages: [] };
  const pi = await loadPi();
  if (!pi?.DefaultPackageManager) return { packages: [], problem: NOT_LOADED };
  const bases = {
    agentDir: () => agentDir,
    cwd: () => process.cwd(),
    configDirName: ".pi",
    isProjectTrusted: () => true,
  };
  return { packages: installedPackages(pi, bases)() };
}

/** The folder of this package. */
export const packageFolder = () => fileURLToPath(new URL("..", import.meta.url)).replace(/[/\\]$/, "");

/**
 * Returns the copy of this package that pi loads here by its settings, from whatever folder.
 * @param {string} agentDir pi's own folder
 */
export async function loadedByPi(agentDir) {
  const { name } = JSON.parse(readText(join(packageFolder(), "package.json")));
  const { packages } = await listedPackages(agentDir);
  return packages.find((installed) => installed.name === name);
}

/** Returns true if a settings file lists packages. @param {() => string} read returns the text of the file */
function hasPackages(read) {
  try {
    const { packages } = JSON.parse(read());
    return Array.isArray(packages) && packages.length > 0;
  } catch {
    return false;
  }
}

/**
 * Loads the pi that the command `pi` starts, or the pi that is installed beside this package.
 * @returns {Promise<import("#loader").PackageSource | undefined>}
 */
async function loadPi() {
  const commands = (process.env.PATH ?? "")
    .split(delimiter)
    .filter(Boolean)
    .map((folder) => join(folder, "pi"));
  const bundles = commands.flatMap((command) => {
    try {
      return [pathToFileURL(join(dirname(realpathSync(command)), "index.js")).href];
    } catch {
      return [];
    }
  });
  for (const module of [...bundles, "@earendil-works/pi-coding-agent"]) {
    try {
      const pi = await import(module);
      if (pi.DefaultPackageManager) return pi;
    } catch {
      // The next module is tried.
    }
  }
  return undefined;
}

/**
 * Returns the package with workflows that a folder is or lies in; `undefined` if there is no such package. `only` is
 * the path of the folder in the package, unless the folder is the package's own. The folder `.pi` of a project is not
 * part of a package.
 * @param {string} folder absolute
 * @returns {{ packages: Installed[], only?: string } | undefined}
 */
export function packageAround(folder) {
  const real = realpathSync(folder);
  for (let above = real; ; above = dirname(above)) {
    const found = packageIn(above, "user", () => true);
    const has = (/** @type {typeof GRANTS[number]} */ { base, field }) =>
      base === "packages" && fieldOf(found?.manifest, field) !== undefined;
    if (found && GRANTS.some(has)) {
      const parts = relative(above, real).split(sep);
      return parts.includes(".pi") ? undefined : { packages: [found], only: parts.join("/") || undefined };
    }
    if (found || dirname(above) === above) return undefined;
  }
}

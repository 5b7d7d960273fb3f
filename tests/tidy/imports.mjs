// The imports of each file: of Rust by its paths, of JavaScript by its `import`s.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

import { REPO } from "../pi/harness/pi.mjs";

/** @typedef {Map<string, Set<string>>} Imports the imported files of each file; paths below the repository */

/** @param {string} folder @param {RegExp} ends @returns {string[]} the files below a folder of the repository */
export const filesBelow = (folder, ends) =>
  readdirSync(join(REPO, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && ends.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(REPO.length + 1))
    .filter((file) => !file.includes("node_modules/"))
    .sort();

/** @param {string} file */
export const read = (file) => readFileSync(join(REPO, file), "utf8");

const MANIFEST = JSON.parse(read("package.json"));

/**
 * The files of the names of package.json: in `imports` for the package itself, in `exports` for those that use it.
 * @type {Record<string, string>}
 */
export const NAMES = {
  ...MANIFEST.imports,
  ...Object.fromEntries(
    Object.entries(MANIFEST.exports).map(([name, file]) => [`${MANIFEST.name}${name.slice(1)}`, file]),
  ),
};

/** The imports of JavaScript in folders. @param {string[]} folders @returns {Imports} */
export function javaScript(folders) {
  const files = folders
    .flatMap((folder) => filesBelow(folder, /\.(?:[cm]?js|ts)$/))
    .filter((file) => !/\/tests\//.test(file));
  return new Map(
    files.map((file) => {
      const named = read(file).matchAll(
        /^(?:import|export)\b[^;]*?\bfrom "([.#@][^"]+)"|^import "([.#@][^"]+)"|\bimport\("([.#][^"]+)"\);/gm,
      );
      const paths = [...named].map(([, from, bare, late]) => {
        const name = from ?? bare ?? late;
        return normalize(NAMES[name] ?? join(dirname(file), name));
      });
      return [file, new Set(paths.filter((path) => files.includes(path)))];
    }),
  );
}

/**
 * The modules of the repository that files of a folder name, types too, each as [file, name].
 * @param {string} folder
 */
export const namedBy = (folder) =>
  filesBelow(folder, /\.(?:[cm]?js|ts)$/)
    .filter((file) => !/\/(?:component|evals-examples|tests)\//.test(file))
    .flatMap((file) =>
      [
        ...read(file).matchAll(/\b(?:from |import\(|import |new URL\()"([.#][^"]*\.js|#[^"]*|@pi-workflows\/[^"]*)"/g),
      ].map(([, name]) => [file, name]),
    );

/** A Rust file without its tests and comments. @param {string} file */
export function code(file) {
  return read(file)
    .split(/^#\[cfg\(test\)\]\n(?:pub(?:\(\w+\))? )?mod tests \{/m)[0]
    .replace(/^\s*\/\/.*$/gm, "")
    .replace(/^\s*#\[cfg\(test\)\]\n[^\n]*;$/gm, "");
}

/** The Rust files that are no tests. */
export function rustFiles() {
  const all = filesBelow("src", /\.rs$/);
  const tests = all.flatMap((file) =>
    [...read(file).matchAll(/^#\[cfg\((?:test|any\(test.*?\))\)\]\n(?:pub(?:\(\w+\))? )?mod (\w+);/gm)].map(
      ([, name]) => join(folderOf(file), name),
    ),
  );
  return all.filter((file) => !tests.some((test) => file === `${test}.rs` || file.startsWith(`${test}/`)));
}

/** The folder of the modules below a file. @param {string} file */
const folderOf = (file) => (/\/(mod|lib)\.rs$/.test(file) ? dirname(file) : file.replace(/\.rs$/, ""));

/** The imports of the Rust sources, each at the file that defines what is named. @returns {Imports} */
export function rust() {
  const files = rustFiles();
  /** The file of a module. @param {string[]} path @returns {string | undefined} */
  const fileOf = (path) => {
    const base = ["src", ...path].join("/");
    const found =
      path.length === 0 ? "src/lib.rs" : [`${base}.rs`, `${base}/mod.rs`].find((file) => files.includes(file));
    return found;
  };
  const texts = new Map(files.map((file) => [file, code(file)]));
  const uses = new Map(files.map((file) => [file, usesOf(texts.get(file) ?? "")]));
  /** @param {string} file */
  const modulePath = (file) => folderOf(file).split("/").slice(1);
  /** @param {string} file @param {string[]} path the parts as written @returns {string[] | undefined} from the crate's root */
  const absolute = (file, path) => {
    let at = modulePath(file);
    let [first, ...rest] = path;
    if (first === "crate") return rest;
    if (first !== "super" && first !== "self") {
      return fileOf([...at, first]) ? [...at, ...path] : undefined;
    }
    for (; first === "super"; [first, ...rest] = rest) at = at.slice(0, -1);
    return first === "self" ? [...at, ...rest] : [...at, first, ...rest].filter((part) => part !== undefined);
  };
  /** Tells if a file has an item of a name; items of macros are indented. @param {string | undefined} file @param {string} name */
  const defines = (file, name) =>
    new RegExp(
      `^(?: {4})?(?:pub(?:\\([^)]*\\))? )?(?:struct|enum|trait|type|const|static|macro_rules!|union) ${name}\\b` +
        `|^(?:pub(?:\\([^)]*\\))? )?(?:const )?fn ${name}\\b`,
      "m",
    ).test(texts.get(file ?? "") ?? "");
  /**
   * The file that defines a name, through the `pub use` of modules.
   * @param {string[]} path @param {number} [depth] @returns {string | undefined}
   */
  const definer = (path, depth = 0) => {
    const own = fileOf(path);
    if (own) return own;
    const module = fileOf(path.slice(0, -1));
    if (path.length === 0) return undefined;
    if (!module) return definer(path.slice(0, -1), depth);
    const name = /** @type {string} */ (path.at(-1));
    if (defines(module, name) || depth > 6) return module;
    for (const { parts, alias, isPublic } of uses.get(module) ?? []) {
      if (!isPublic) continue;
      const target = absolute(module, parts);
      if (!target) continue;
      if (alias === name) return definer(target, depth + 1);
      if (alias === "*") {
        const inner = definer([...target, name], depth + 1);
        if (inner && (inner !== fileOf(target) || defines(inner, name))) return inner;
      }
    }
    return module;
  };
  return new Map(
    files.map((file) => {
      const inline = [...(texts.get(file) ?? "").matchAll(/\b(?:crate|super|self)(?:::\w+)+(?!\w|::)/g)].map(
        ([path]) => ({
          parts: path.split("::"),
        }),
      );
      const targets = [...(uses.get(file) ?? []).filter(({ isPublic }) => !isPublic), ...inline].flatMap(
        ({ parts }) => {
          const path = absolute(file, parts);
          const found = path && definer(path);
          return found && found !== file ? [found] : [];
        },
      );
      return [file, new Set(targets)];
    }),
  );
}

/**
 * The paths that the `use`s of a text import.
 * @param {string} text
 * @returns {{ parts: string[], alias: string, isPublic: boolean }[]}
 */
function usesOf(text) {
  return [...text.matchAll(/^\s*(pub(?:\([^)]*\))? )?use ([^;]+);/gm)].flatMap(([, isPublic, tree]) =>
    leaves(tree.replace(/\s+/g, " ")).map((leaf) => {
      const [path, renamed] = leaf.split(" as ");
      const parts = path.split("::").map((part) => part.trim());
      const last = /** @type {string} */ (parts.at(-1));
      if (["self", "*"].includes(last) && parts.length > 1) parts.pop();
      return {
        parts,
        alias: renamed?.trim() ?? (last === "self" ? /** @type {string} */ (parts.at(-1)) : last),
        isPublic: isPublic !== undefined,
      };
    }),
  );
}

/** The paths of a tree of `use`. @param {string} tree @returns {string[]} */
function leaves(tree) {
  const open = tree.indexOf("{");
  if (open < 0) return [tree.trim()];
  const prefix = tree.slice(0, open).trim();
  const inner = tree.slice(open + 1, tree.lastIndexOf("}"));
  let [depth, start] = [0, 0];
  const parts = [];
  for (let at = 0; at <= inner.length; at += 1) {
    if (inner[at] === "{") depth += 1;
    if (inner[at] === "}") depth -= 1;
    if ((inner[at] === "," && depth === 0) || at === inner.length) {
      parts.push(inner.slice(start, at).trim());
      start = at + 1;
    }
  }
  return parts.filter((part) => part !== "").flatMap((part) => leaves(part).map((leaf) => `${prefix}${leaf}`));
}

/** The files that import each other in circles, a set for each. @param {Imports} imports @returns {string[][]} */
export function circles(imports) {
  /** @type {Map<string, number>} */ const index = new Map();
  /** @type {Map<string, number>} */ const low = new Map();
  /** @type {string[]} */ const stack = [];
  /** @type {string[][]} */ const found = [];
  /** @param {string} file */
  const visit = (file) => {
    index.set(file, index.size);
    low.set(file, index.size - 1);
    stack.push(file);
    for (const other of imports.get(file) ?? []) {
      if (!index.has(other)) {
        visit(other);
        low.set(file, Math.min(low.get(file) ?? 0, low.get(other) ?? 0));
      } else if (stack.includes(other)) low.set(file, Math.min(low.get(file) ?? 0, index.get(other) ?? 0));
    }
    if (low.get(file) !== index.get(file)) return;
    const circle = stack.splice(stack.indexOf(file));
    if (circle.length > 1) found.push(circle);
  };
  for (const file of imports.keys()) if (!index.has(file)) visit(file);
  return found;
}

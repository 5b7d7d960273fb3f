// The modules of the loader: the sandbox is a part of its own with one interface, and knows nothing of the loader;
// load.js draws them all.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const REPO = fileURLToPath(new URL("../..", import.meta.url));
const SANDBOX = "host-shim/sandbox";

/**
 * Returns the modules of the repository that the modules of a folder import, each as [importer, imported].
 * @param {string} folder
 */
function imports(folder) {
  const files = readdirSync(join(REPO, folder), { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".js"),
  );
  return files.flatMap((file) => {
    const path = join(REPO, folder, file);
    const named = [...readFileSync(path, "utf8").matchAll(/(?:from |import\()"(\.[^"]+)"/g)];
    return named.map(([, imported]) => [relative(REPO, path), relative(REPO, resolve(dirname(path), imported))]);
  });
}

const isInside = (/** @type {string} */ path) => path.startsWith(`${SANDBOX}/`);

test("only the sandbox's interface is imported from outside of its folder", () => {
  const inward = [...imports("host-shim"), ...imports("cli")].filter(([from, to]) => !isInside(from) && isInside(to));
  assert.notEqual(inward.length, 0);
  assert.deepEqual(
    inward.filter(([, to]) => to !== `${SANDBOX}/index.js`),
    [],
  );
});

test("the sandbox imports nothing of the loader", () => {
  const outward = imports(SANDBOX).filter(([, to]) => !isInside(to));
  assert.deepEqual(
    outward.filter(([, to]) => to !== "host-shim/plain-text.js"),
    [],
  );
});

test("the head of load.js draws every module of the loader", () => {
  const head = readFileSync(join(REPO, "host-shim/load.js"), "utf8").split("import ")[0];
  const modules = readdirSync(join(REPO, "host-shim")).filter((file) => /\.c?js$/.test(file));
  assert.deepEqual(
    modules.filter((file) => !head.includes(file)),
    [],
  );
});

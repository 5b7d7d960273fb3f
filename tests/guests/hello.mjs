// Builds the guest of hello.rs as a package that pi loads.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildComponent } from "../../scripts/build.mjs";
import { REPO } from "../pi/harness/pi.mjs";

/** The equivalent of host-shim/index.ts. */
const INDEX = `import { createRequire } from "node:module";
import * as codingAgent from "@earendil-works/pi-coding-agent";
import * as tui from "@earendil-works/pi-tui";

const { load } = createRequire(import.meta.url)(${JSON.stringify(join(REPO, "host-shim/load.js"))});

export default load(new URL("package.json", import.meta.url), { codingAgent, tui });
`;

/**
 * Builds the package below target/test-guests/ and returns its folder, which is what pi's `-e` takes.
 *
 * @param {string} folder the name of its folder; each test file uses its own, because test files run concurrently
 * @param {{ max: number }} [children] the manifest's grant of child agents; none by default
 */
export async function buildHello(folder, children) {
  const home = join(REPO, "target/test-guests", folder);
  await buildComponent({
    name: "hello_guest",
    cargo: ["--example", "hello_guest"],
    artifact: "examples/hello_guest.wasm",
    component: join(home, "hello_guest.wasm"),
    glue: join(home, "component"),
  });
  const manifest = {
    name: "hello-guest",
    type: "module",
    pi: { extensions: ["./index.ts"] },
    component: {
      glue: "./component/hello_guest.js",
      files: [{ name: "tree", base: "cwd", path: ".", listed: false }],
      exec: true,
      store: { name: "hello-guest" },
      children,
    },
  };
  writeFileSync(join(home, "package.json"), JSON.stringify(manifest, null, 2));
  writeFileSync(join(home, "index.ts"), INDEX);
  return home;
}

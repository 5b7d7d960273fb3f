// Builds this package's component with its fault switch (src/component/fault.rs), as a separate package.

import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildComponent } from "../../scripts/build.mjs";
import { REPO } from "../pi/harness/pi.mjs";

/** Builds the package below target/test-guests/ and returns its folder, which is what pi's `-e` takes. */
export async function buildFaulty() {
  const home = join(REPO, "target/test-guests/faulty");
  await buildComponent({
    name: "pi_workflows",
    cargo: ["--lib", "--features", "fault-switch"],
    profile: "quick",
    artifact: "pi_workflows.wasm",
    component: join(home, "pi_workflows.wasm"),
    glue: join(home, "host-shim/component"),
  });
  // With the switch, init also reads the store; the registrations are the same.
  const registrations = "host-shim/component/registrations.json";
  copyFileSync(join(REPO, registrations), join(home, registrations));
  const { name, type, pi, component } = JSON.parse(readFileSync(join(REPO, "package.json"), "utf8"));
  const { extensions } = pi;
  writeFileSync(join(home, "package.json"), JSON.stringify({ name, type, pi: { extensions }, component }, null, 2));
  const index = readFileSync(join(REPO, "host-shim/index.ts"), "utf8");
  writeFileSync(join(home, "host-shim/index.ts"), index.replace("./load.js", join(REPO, "host-shim/load.js")));
  return home;
}

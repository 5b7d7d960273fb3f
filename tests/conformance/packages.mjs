// The two packages that are compared, as paths for pi's `-e`.

import { join } from "node:path";
import { REPO } from "../pi/harness/pi.mjs";

/** This repository. */
export const OURS = REPO;

/** The reference, `@harms-haus/pi-workflows` 1.0.0. */
export const REFERENCE = join(REPO, "node_modules/@harms-haus/pi-workflows");

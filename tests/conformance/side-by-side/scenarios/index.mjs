// All scenarios, by group.

import active from "./active.mjs";
import cancel from "./cancel.mjs";
import linear from "./linear.mjs";
import loading from "./loading.mjs";
import loops from "./loops.mjs";
import modes from "./modes.mjs";
import names from "./names.mjs";
import nested from "./nested.mjs";
import restarts from "./restarts.mjs";
import sessions from "./sessions.mjs";
import stored from "./stored.mjs";
import templates from "./templates.mjs";
import tools from "./tools.mjs";

/**
 * Hand-written scenarios, whose play by the reference is recorded.
 *
 * @type {Record<string, import("../play.mjs").Scenario[]>}
 */
export const HAND_WRITTEN = {
  linear,
  nested,
  loops,
  cancel,
  restarts,
  sessions,
  active,
  tools,
  templates,
  names,
  loading,
  stored,
  modes,
};

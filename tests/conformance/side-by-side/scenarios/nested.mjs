// Nested workflows.

import { run } from "../actions.mjs";
import { hidden, say, step, stop, workflow } from "../workflows.mjs";

const nexts = (/** @type {number} */ count) => Array.from({ length: count }, () => step("next"));

const RELEASE = {
  ...workflow("release", ["build", "@review", "deploy"]),
  ...hidden("review", ["static", "peer"]),
};

const DEEP = {
  ...workflow("one", ["a", "@two", "z"]),
  ...hidden("two", ["b", "@three", "y"]),
  ...hidden("three", ["c", "@four", "x"]),
  ...hidden("four", ["d", "e"]),
};

const ONLY_NESTED = {
  ...workflow("outer", ["@middle"]),
  ...hidden("middle", ["@inner"]),
  ...hidden("inner", ["a", "b"]),
};

/** @type {import("../play.mjs").Scenario[]} */
export default [
  {
    name: "one in the middle",
    global: RELEASE,
    model: [...nexts(4), say("Done.")],
    actions: [run("/workflow release Ship it")],
    differs: [38, 3, 14, 59, 17, 18, 22, 25, 39],
  },
  {
    name: "status at every step, four deep",
    global: DEEP,
    model: [step("status"), ...Array.from({ length: 8 }, () => step("next", "status")), say("Done.")],
    actions: [run("/workflow one Dig")],
    differs: [38, 3, 14, 59, 17, 18, 22, 25, 39],
  },
  {
    name: "the context prompt at every step, four deep",
    global: DEEP,
    model: [stop, ...Array.from({ length: 7 }, () => [step("next"), stop]).flat()],
    actions: [run("/workflow one Dig"), ...["b", "c", "d", "e", "x", "y", "z"].map((id) => run(`Now to ${id}`))],
    differs: [
      38,
      { number: 2, reference: "Step 3 (1/3 in current scope)", ours: "Step 3 (1/2 in current scope)" },
      { number: 2, reference: "Step 4 (2/3 in current scope)", ours: "Step 4 (2/2 in current scope)" },
      5,
      14,
      18,
      22,
      25,
      39,
    ],
  },
  {
    name: "at the beginning",
    global: { ...workflow("outer", ["@inner", "z"]), ...hidden("inner", ["a", { id: "b", availableProfiles: ["x"] }]) },
    model: [step("status"), ...nexts(3), say("Done.")],
    actions: [run("/workflow outer Begin inside")],
    differs: [38, 3, 14, 59, 17, 18, 22, 25, 39],
  },
  {
    name: "at the end",
    global: { ...workflow("outer", ["a", "@inner"]), ...hidden("inner", ["y", "z"]) },
    model: [...nexts(3), say("Done.")],
    actions: [run("/workflow outer End inside")],
    differs: [38, 3, 14, 59, 17, 18, 22, 25, 39],
  },
  {
    name: "only one, three deep",
    global: ONLY_NESTED,
    model: [step("status"), step("next"), step("status"), step("next"), say("Done.")],
    actions: [run("/workflow outer Nothing else")],
    differs: [
      38,
      { number: 2, reference: "(1/1 in current scope)", ours: "(1/2 in current scope)" },
      3,
      14,
      59,
      17,
      18,
      22,
      25,
      39,
    ],
  },
  {
    name: "the same one twice in a row",
    global: { ...workflow("outer", ["@inner", "@inner"]), ...hidden("inner", ["a", "b"]) },
    model: [...nexts(4), say("Done.")],
    actions: [run("/workflow outer Twice")],
    differs: [38, 3, 14, 59, 17, 18, 22, 25, 39],
  },
  {
    name: "one that can be started by itself too",
    global: { ...workflow("outer", ["a", "@inner"]), ...workflow("inner", ["b"]) },
    model: [...nexts(2), say("Done."), ...nexts(1), say("Done again.")],
    actions: [run("/workflow outer First"), run("/workflow inner Second")],
    differs: [38, 3, 14, 59, 17, 18, 22, 25, 39],
  },
  {
    name: "the same phase id in two scopes",
    global: { ...workflow("outer", ["check", "@inner"]), ...hidden("inner", ["check"]) },
    model: [stop, step("next"), stop, step("next"), say("Done.")],
    actions: [run("/workflow outer Check"), run("Go on"), run("Go on")],
    differs: [
      38,
      { number: 2, reference: "(1/2 in current scope)", ours: "(1/1 in current scope)" },
      3,
      5,
      14,
      59,
      17,
      18,
      22,
      25,
      39,
    ],
  },
  {
    name: "names of the steps before and after",
    global: {
      ...workflow("outer", ["a", "b", "@inner", "c"]),
      ...hidden("inner", ["w", { id: "x", text: "Between {previousPhaseName} and {nextPhaseName}." }, "y"]),
    },
    model: [step("next"), step("next"), step("next"), stop, stop],
    actions: [run("/workflow outer Look around"), run("Where?")],
    differs: [
      38,
      {
        number: 1,
        at: "requests[3].messages[1]",
        reference: /Between \{previousPhaseName\} and \{nextPhaseName\}\.$/,
        ours: /Between W and Y\.$/,
      },
      {
        number: 1,
        at: "results[2].text",
        reference: /Between \{previousPhaseName\} and \{nextPhaseName\}\.$/,
        ours: /Between W and Y\.$/,
      },
      { number: 2, reference: "Between A and Y.", ours: "Between W and Y." },
      { number: 2, reference: "(2/4 in current scope)", ours: "(2/3 in current scope)" },
      5,
      14,
      18,
      22,
      25,
      39,
    ],
  },
  {
    name: "names of the steps around a nested workflow",
    global: {
      ...workflow("outer", [
        "a",
        { id: "b", text: "Before {nextPhaseName}." },
        "@inner",
        { id: "c", text: "After {previousPhaseName}." },
      ]),
      ...hidden("inner", ["x"]),
    },
    model: [step("next"), stop, step("next"), step("next"), stop, stop],
    actions: [run("/workflow outer Look around"), run("Where?"), run("And now?")],
    differs: [
      38,
      { number: 1, reference: "Before {nextPhaseName}.", ours: "Before Inner." },
      { number: 1, reference: "After {previousPhaseName}.", ours: "After Inner." },
      5,
      14,
      18,
      22,
      25,
      39,
    ],
  },
];

// Answers of comparisons, for tests and the picture of the documentation.
import { answerOf } from "../answer.js";

/** The trials of each task that are solved, of 4. @type {Record<string, Record<string, number>>} */
const SOLVED = {
  bugfix: { "csv-quotes": 4, "leap-year": 4, "lost-update": 3, "overlapping-ranges": 4, "rounded-shares": 2 },
  "bugfix-v2": { "csv-quotes": 4, "leap-year": 4, "lost-update": 4, "overlapping-ranges": 4, "rounded-shares": 4 },
  none: { "csv-quotes": 2, "leap-year": 4, "lost-update": 0, "overlapping-ranges": 3, "rounded-shares": 0 },
};
const COSTS = /** @type {Record<string, number>} */ ({ bugfix: 0.31, "bugfix-v2": 0.44, none: 0.12 });

/** A comparison of three variants on five tasks. @param {(text: string) => string} [named] changes names and texts */
export function comparison(named = (text) => text) {
  let at = 0;
  const trials = Object.entries(SOLVED).flatMap(([variant, tasks]) =>
    Object.entries(tasks).flatMap(([task, solved]) =>
      [1, 2, 3, 4].map((number) => {
        at += 1;
        const cost = COSTS[variant] * (0.6 + ((at * 7) % 11) / 8);
        /** @type {import("../results.js").Ending} */
        const ending = number > solved && at % 5 === 0 ? "budget" : "done";
        return {
          variant: named(variant),
          definition: `${variant.length}f3a91c0d`,
          task: named(task),
          taskDigest: "1",
          model: "",
          number,
          ending,
          text: named(
            ending === "budget"
              ? "paused in Patch: the budget of “the command line” is used up: 40 of 40 turns"
              : "done",
          ),
          solved: number <= solved,
          hidden: /** @type {const} */ ("from everything"),
          startedAt: at,
          ms: cost * 900_000,
          turns: Math.round(cost * 60),
          tokens: Math.round(cost * 400_000),
          cost,
          unpriced: 0,
          folder: `/results/${task}-${variant}-${number}`,
        };
      }),
    ),
  );
  const answer = answerOf(trials, "/results");
  for (const { cells } of answer.tasks)
    for (const cell of cells)
      for (const trial of cell?.shown ?? [])
        Object.assign(trial, { session: `trial ${trial.number}/session.jsonl`, report: "a#b?/report.html" });
  return answer;
}

#!/usr/bin/env node
// `pi-workflows-compare`: measures one workflow against another, and against the agent without one.
import { flag, runProgram, text, texts } from "@pi-workflows/pi-workflows/cli";

import { compare, read } from "./compare.js";
import { writeTasks } from "./new-tasks.js";

/** All options, with their help. */
const OPTIONS = {
  tasks: text("DIR", "the folder of tasks"),
  results: text("DIR", "the folder of results; default: the folder of tasks with -results"),
  repeat: text("N", "the trials of each task and variant; default: 1"),
  jobs: text("N", "the trials at the same time; default: 1"),
  shard: text("I/N", "one of N parts, for a machine of its own"),
  "max-cost": text("DOLLARS", "no trial is started when the trials have cost that much"),
  yes: flag("starts without a question"),
  model: text("MODEL", "the model, as pi's own option"),
  "take-over": flag("takes the results over from a process of another host or container that works no more"),
  approve: flag("the workflows of this project may run, with their commands"),
  "allow-commands": flag("the commands of a package's workflow run without a question"),
  pi: text("PATH", "the program or the JavaScript file of pi; default: the command pi"),
  format: text("FORMAT", "text, md, json or html"),
};

/** @typedef {import("@pi-workflows/pi-workflows/cli").OptionsOf<typeof OPTIONS>} Options */

/** @type {Record<string, import("@pi-workflows/pi-workflows/cli").Command<Options>>} */
const COMMANDS = {
  run: {
    form: "NAME ...",
    does: "runs workflows, and the agent without one (none), on the tasks of --tasks, and tells which solves more, at which cost; goes on where it was",
    takes: "[NAME...]",
    options: "tasks results repeat jobs shard model max-cost yes take-over approve allow-commands pi format",
    run: compare,
  },
  read: {
    form: "DIR ...",
    does: "the answer of folders of results, without a trial",
    options: "format",
    run: read,
  },
  new: {
    form: "DIR",
    does: "writes a folder of two tasks",
    options: "",
    run: ([folder]) => {
      const next = `Change these, and compare workflows with "pi-workflows-compare run NAME none --tasks ${folder} --repeat 5".`;
      return { output: [...writeTasks(folder), "", next].join("\n") };
    },
  },
};

const STATUSES = `Exit status: 0 if all trials have ended, 1 after three errors in a row, 2 if the command could not be carried out,
6 if --max-cost is reached, 130 if it was interrupted.`;

await runProgram("pi-workflows-compare", { options: OPTIONS, commands: COMMANDS, statuses: STATUSES });

// The deliberate differences from the reference, `@harms-haus/pi-workflows` 1.0.0. The table in docs/differences.md is
// generated from them.

/** @typedef {{ number: number, reference: string, ours: string, why: string }} Difference */

/** @type {Difference[]} */
export const DIFFERENCES = [
  {
    number: 1,
    reference: "`next`, `loop`, `status` and the reminder show instructions with raw `{description}`.",
    ours: "Templates are resolved wherever instructions reach a model or a user.",
    why: "The documentation promises it.",
  },
  {
    number: 2,
    reference:
      "In a nested workflow, `{previousPhaseName}` and the progress use the outer workflow with the inner index.",
    ours: "Both refer to the innermost scope.",
    why: "The numbers were wrong.",
  },
  {
    number: 3,
    reference: "Stores the end of a run as not yet announced; a resumed session announces it again.",
    ours: "Stores it as announced, for a cancelled run too.",
    why: "An end is announced once.",
  },
  {
    number: 4,
    reference: "`/cancel-workflow` leaves a countdown running, which then wakes the agent.",
    ours: "It stops the countdown.",
    why: "A cancelled run must not wake the agent.",
  },
  {
    number: 5,
    reference: "Says “type anything to interrupt”, but typing does not interrupt the countdown.",
    ours: "The countdown is stopped by a key, a message, Escape, a command that does more than show something, or another session.",
    why: "The text promises it.",
  },
  {
    number: 6,
    reference: "A first `cancel` stays pending for ever and is stored with the next transition.",
    ours: "It is valid for the same agent run, any other action drops it, and it is never stored. The result of the first names the workflow, not the task.",
    why: 'The documentation promises it; the result says "workflow".',
  },
  {
    number: 7,
    reference:
      "Continues without limit, even after an error of the model; the countdown begins at `agent_end`, before pi's own retries.",
    ours: "The countdown begins when the agent is at rest (`agent_settled`). Continuation is limited (`autoContinue`). The run pauses at a limit, after an error of the model and after Escape; the user's next message or `/workflow :resume` ends the pause.",
    why: "An unattended loop must end.",
  },
  {
    number: 8,
    reference:
      "In print and JSON mode pi ends before `/workflow` has made a request; without a UI the run depends on a timer that pi does not wait for.",
    ours: "pi ends when the run reaches DONE or pauses; the agent is continued at once (`agent_before_settle`), without a countdown, and notices go to standard error.",
    why: "Workflows are useful in scripts.",
  },
  {
    number: 9,
    reference: "Prints the first error of each workflow file over the terminal.",
    ours: "Shows one notice: the error, the file with several errors, or the number of workflows with errors. `/workflow :check` shows every diagnostic, with file, line and column.",
    why: "An author needs to find the place.",
  },
  {
    number: 10,
    reference: "Reads a project's workflows always.",
    ours: "Reads them only where pi trusts the project.",
    why: "A workflow steers the agent.",
  },
  {
    number: 11,
    reference:
      "A negative or fractional index in a stored state breaks every later call; a pipe or a huge file hangs the start.",
    ours: "A run with such a state is held (difference 65); such a file is reported as a diagnostic.",
    why: "Nothing in a file or a session may stop pi.",
  },
  {
    number: 12,
    reference: "A folder `__proto__` is not loaded like other folders.",
    ours: "`__proto__` is a key like any other.",
    why: "Names are data.",
  },
  {
    number: 13,
    reference: "Completions offer only the global workflows.",
    ours: "They offer the project's workflows too, with descriptions. For a complete name there are none, so that Enter runs it.",
    why: "The user should see every workflow that can be started.",
  },
  {
    number: 14,
    reference: "The default role tells every agent to delegate with `delegate_to_subagents`.",
    ours: "It does so only where that tool is registered; elsewhere it tells the agent to do the phase's work itself.",
    why: "An agent cannot use a tool that is not there.",
  },
  {
    number: 15,
    reference: "The completion message is shown as plain text, with its asterisks.",
    ours: "It is drawn as Markdown.",
    why: "The text is Markdown.",
  },
  {
    number: 16,
    reference: "Finds workflows only directly in the workflows folder.",
    ours: "Looks into folders without a `workflow.yaml` too (`_shared/code-review/workflow.yaml`); the key is the folder's name.",
    why: "The documentation shows it.",
  },
  {
    number: 17,
    reference: "Completion, cancellation and countdown are messages that the model gets too.",
    ours: "They are session entries, which are shown and never sent to the model; in a terminal the entry of `/cancel-workflow` replaces its notice.",
    why: "They are for the user.",
  },
  {
    number: 18,
    reference: "The context prompt and the result of `next` name only the current phase.",
    ours: "The context prompt lists all steps, numbered across nested workflows; of more than 20 it names the first, those around the current one and the last, and counts the others. The result of `next` names the previous, the current and the next phase.",
    why: "The agent should know its position, and a long list repeated in every phase costs tokens.",
  },
  {
    number: 19,
    reference: "A reference must match a folder's name in case; a backslash in a phase path is not a separator.",
    ours: "A reference in another case is resolved if only one folder matches; a backslash is a separator.",
    why: "The same files should work on every file system.",
  },
  {
    number: 20,
    reference:
      "A `loop` in a scope that begins with a nested workflow stops before it; the following `next` repeats its first phase.",
    ours: "The loop enters the nested workflow.",
    why: "No phase should be repeated.",
  },
  {
    number: 21,
    reference: "Ignores a `loopable`, `show` or `tools` of a wrong type.",
    ours: "That is an error, and the workflow is not loaded.",
    why: "The documentation says so, and a tool list that is ignored protects nothing.",
  },
  {
    number: 22,
    reference: "Clears the status line at each transition until the end of the turn.",
    ours: "Shows the new phase at once.",
    why: "It should not flicker.",
  },
  {
    number: 23,
    reference:
      "For an unknown name, lists hidden workflows too; a workflow without a command name is listed as an empty string.",
    ours: "Lists the workflows that can be started, and suggests the nearest name.",
    why: "The list should contain only what the user can start.",
  },
  {
    number: 24,
    reference: "`/workflow` while the agent is working fails to prompt it.",
    ours: "The prompt is delivered when the agent has finished.",
    why: "The command should work at any time.",
  },
  {
    number: 25,
    reference: "Stores nine fields of a run.",
    ours: "Stores a tenth field, `progress` (seal, visits, pause, continuations, loops), which the reference ignores.",
    why: "`/workflow :status`, limits and pauses should survive restarts.",
  },
  {
    number: 26,
    reference: "The agent's second `cancel` cancels the run.",
    ours: "With a UI the user is asked first, and the agent is told if the answer is no.",
    why: "The user decides about the run.",
  },
  {
    number: 27,
    reference: "`loop` has no limit.",
    ours: "After `maxLoops` (20) restarts of a scope `loop` is refused, and the user is told.",
    why: "An unattended loop must end.",
  },
  {
    number: 28,
    reference: "`/workflow :x` is an unknown workflow.",
    ours: "A name that begins with a colon is a control command: `:status`, `:pause`, `:resume`, `:answer`, `:next`, `:back`, `:skip`, `:stop`, `:retry`, `:cancel`, `:check`, `:graph`, `:report`, `:panel`.",
    why: "The user controls the run.",
  },
  {
    number: 29,
    reference: "After `/cancel-workflow` a working agent goes on with the workflow.",
    ours: "The agent is told that the user cancelled.",
    why: "The agent should stop the work.",
  },
  {
    number: 30,
    reference:
      "Tool calls in one answer run in parallel: a call after a `next` is checked against the phase before it.",
    ours: "They run in order: the call is checked against the phase that `next` led to.",
    why: "The rules of a phase apply from its beginning.",
  },
  {
    number: 31,
    reference:
      "A blank field, a phase id that occurs twice or both tool lists in a project's workflow also remove the global workflow of the same key; other errors do not.",
    ours: "No error in a project's workflow removes the global workflow.",
    why: "One rule for all errors.",
  },
  {
    number: 32,
    reference: "A negative `sessionNameMaxLength` removes that many characters from the end of the task.",
    ours: "It has no effect, and `/workflow :check` says so.",
    why: "A length cannot be negative.",
  },
  {
    number: 33,
    reference:
      "A workflow that refers to a missing workflow through another one is loaded, and its run cannot go on at that point.",
    ours: "It is not loaded.",
    why: "The documentation promises it.",
  },
  {
    number: 34,
    reference: "Ignores a workflow folder that is a symbolic link.",
    ours: "Follows the link within the workflows folder; the linked workflow has its own key. Folders without a `workflow.yaml` are searched once.",
    why: "Users share workflows by links.",
  },
  {
    number: 35,
    reference:
      "When a run's files are gone or its stored state is broken, prints an error over the terminal at every event; `loop` fails with a JavaScript error.",
    ours: "Prints nothing; the result of `loop` says that the workflow is no longer available.",
    why: "Only pi draws on the terminal.",
  },
  {
    number: 36,
    reference: "Shows `undefined` for a task id or a description that a stored state lacks.",
    ours: "Shows an empty string.",
    why: "Old sessions should be readable.",
  },
  {
    number: 37,
    reference: "Keeps unknown fields of a stored state.",
    ours: "Drops them.",
    why: "Values that are not updated become wrong.",
  },
  {
    number: 38,
    reference:
      "Gives the model the complete context prompt with every agent run, and all copies stay in the conversation; `next`, `loop` and the reminder after an early stop give only the instructions.",
    ours: "Gives it once per phase: with the first agent run in the phase, or in the result of `next` or `loop`; and again when the model may have lost it. Other agent runs get a reminder of at most 300 bytes. With `contextInjection: everyRun` every agent run gets it, and the model sees only the newest. The default reminder after an early stop is one line from the second in a phase on.",
    why: "Repeated copies cost tokens and add nothing.",
  },
  {
    number: 39,
    reference: "Does not tell the agent which tools a phase allows, neither before nor after a refusal.",
    ours: "The context prompt and the default refusal list the tools; the context prompt also explains summaries and gives the number of the pass.",
    why: "An agent that knows the rule does not waste calls.",
  },
  {
    number: 40,
    reference: "Ignores the `summary` of `next` and `loop`.",
    ours: "Stores it with the phase. Later phases, `status`, `:status` and the completion message show it, templates can contain it, and `summary: required` requires it.",
    why: "A phase needs the results of the phases before.",
  },
  {
    number: 41,
    reference: "Cuts a session's name at `sessionNameMaxLength` UTF-16 code units, possibly within a character.",
    ours: "Cuts before that character.",
    why: "Half a character cannot be displayed.",
  },
  {
    number: 42,
    reference: "Shows control characters of names and tasks as they are.",
    ours: "Removes them from everything that is shown; stored data keeps them.",
    why: "Text from files must not control the terminal.",
  },
  {
    number: 43,
    reference:
      "If the user starts or moves a run while the model is answering, a `workflow_step` call in that answer moves the run.",
    ours: "Such a call has no effect, and the agent is told.",
    why: "The call was meant for the state before.",
  },
  {
    number: 44,
    reference:
      "Refuses YAML that breaks a rule of layout: a list in brackets that is not indented, a comment without a space before it, `---` in a quoted text.",
    ours: "Reads it where the meaning is clear.",
    why: "The YAML libraries differ, and nobody is helped by a refusal.",
  },
  {
    number: 45,
    reference:
      "Reads YAML with control characters, half a surrogate pair or an emoji in two escapes (`\\ud83d\\ude80`), tabs on an empty line or before a comment, values that do not fit their tag (`!!int x`), keys that are empty, no scalars or tagged, a key of several lines in braces, odd anchors and directives.",
    ours: "That is an error.",
    why: "The YAML libraries differ, and the error says where and what to write.",
  },
  {
    number: 46,
    reference: "A number may begin with zeros (`010` is 10); `0b11`, `-0x1f` and `1e400` are not all numbers.",
    ours: "`010` is a text; `0b11` and `-0x1f` are numbers.",
    why: "The YAML libraries differ. Quotes make a text of each.",
  },
  {
    number: 47,
    reference:
      "U+0085, U+2028 and U+2029 are ordinary characters, a byte order mark within a value too; a lone carriage return does not always end a line.",
    ours: "The three end a line, as a lone carriage return does; the mark in front of a value is dropped.",
    why: "The YAML libraries differ.",
  },
  {
    number: 48,
    reference: "A tag of one's own (`!x 12`) makes a text.",
    ours: "That is an error, as is every tag that is not of YAML's core schema.",
    why: "`run: ! npm test` would be read as `npm test`, the opposite.",
  },
  {
    number: 49,
    reference: "A mapping among `availableProfiles` is the name `[object Object]`.",
    ours: "The list has no effect, and `/workflow :check` says so.",
    why: "It names nobody.",
  },
  {
    number: 50,
    reference: "`/workflow` alone lists the workflows; a name without a task shows the usage.",
    ours: "In a terminal it asks for the workflow and the task; elsewhere it does the same as the reference.",
    why: "Workflows should be easy to start.",
  },
  {
    number: 51,
    reference: "Accepts a task of any length, and shows tasks and names in full everywhere.",
    ours: "A task of more than 10,000 characters is refused. The status line, notices, questions, completions and the session's name show names as one line of at most 100 characters and tasks as one of at most 200.",
    why: "Every state entry contains the task, and a long text hides the text after it.",
  },
  {
    number: 52,
    reference:
      "Ignores an unknown key under `tools` (`blocklist`), a tool's name in another case (`Edit`) or with arguments (`bash(ls)`), a rule in another spelling or place (`Tools`, `allowed-tools`, `blacklist` beside `tools`, `tools` in `workflow.yaml`), and a workflow whose file has another name (`workflow.yml`).",
    ours: "Each is an error.",
    why: "A rule that is ignored protects nothing.",
  },
  {
    number: 53,
    reference: "Starts a project's workflow that replaces a global one without asking.",
    ours: "Asks before the first start in that folder; without a UI it writes a line to standard error.",
    why: "The user may expect the global workflow.",
  },
  {
    number: 54,
    reference: "A run whose files changed goes on with the new rules; if the files are gone, every tool is allowed.",
    ours: "A run keeps the rules that it was started with. If the files no longer give them, the run pauses with the reason and tool calls are refused, `cancel` too, until `/workflow :resume`, `/workflow :cancel` or the restored files end the pause.",
    why: "An agent that can write files could remove its own restrictions.",
  },
  {
    number: 55,
    reference:
      "The status line of a run that waits for the user (after a restart, a move in the tree, an interrupted countdown) looks as if the agent were working.",
    ours: "It shows `⏸`, that the run waits for you, or the reason of its pause in a few words; `/workflow :status` says how to go on.",
    why: "The user should see that the run waits.",
  },
  {
    number: 56,
    reference: "The question about starting another workflow has yes as the first answer.",
    ours: "In a terminal no comes first, also in the question about the agent's `cancel`. Each question names the workflow, and its lines are cut at the width of a narrow terminal.",
    why: "A key that was typed for the editor should do no harm.",
  },
  {
    number: 57,
    reference:
      "A tool that a whitelist names stays inactive if it was inactive before, as `grep`, `find` and `ls` are in pi.",
    ours: "The phase activates it; the next phase, or the end of the run, gives back the tools of before.",
    why: "The agent should have what the phase allows.",
  },
  {
    number: 58,
    reference: "`model` and `thinking` in a phase file have no effect.",
    ours: "The phase runs with the first of its models that the user has a key for, and at its thinking level; then the user's own are set again. If there is none, a notice says so.",
    why: "A plan needs another model than a rename.",
  },
  {
    number: 59,
    reference: "The message at the end has the task and the number of phases.",
    ours: "The default has a line with the turns, tokens, cost and time of the run too; in a `completionMessage`, `{usage}` is it.",
    why: "The user should see what a run took.",
  },
  {
    number: 60,
    reference: "Ignores `inputs` in `workflow.yaml`, and `with` beside `subworkflow`.",
    ours: "`/workflow NAME INPUT=VALUE … TASK` gives the run values; what is missing is asked for. The context prompt shows them, templates and conditions use them. A workflow without `inputs` takes all of the text as its task.",
    why: "A task often needs values that a template names.",
  },
  {
    number: 61,
    reference:
      "Ignores `outcomes` and `outputs` in a phase file, and `onMaxLoops` in `workflow.yaml`: `next` leads to the next phase.",
    ours: "`next` needs one of the outcomes and leads where the outcome does; without one it is refused. A way back counts as a loop. `outputs` are values that `next` must give, with their types.",
    why: "A review leads to a fix or to the end.",
  },
  {
    number: 62,
    reference:
      "Does not load a workflow with an entry `phase: FILE`, `phases:`, `run:` or `ask:`, and ignores `when`, `id`, `label` and `outcomes` beside `subworkflow`. A run of such a workflow is one whose files are gone (difference 35).",
    ours: "`phase: FILE` is the phase in the file, `phases:` a group, which `each` repeats, `run:` a step, `ask:` a question. An entry with `when` is passed over unless its conditions hold.",
    why: "A small task needs fewer phases.",
  },
  {
    number: 63,
    reference:
      "Of a global and a project's workflow with one command name in folders of different names, `/workflow NAME` starts the global one.",
    ours: "It starts the project's, after the question of difference 53.",
    why: "The project's workflows come before the user's.",
  },
  {
    number: 64,
    reference:
      "A rule without a value (`tools:`, `tools: {}`, `whitelist:`, `loopable:`, `show:`) is as good as no rule.",
    ours: "It is an error.",
    why: "A rule without a value protects nothing.",
  },
  {
    number: 65,
    reference: "A stored state that cannot be used is no run: every tool is allowed.",
    ours: "The run is held: tool calls are refused until the user resumes it, where it can go on with what is left of it, or cancels. A state that has ended stays ended.",
    why: "Who can break an entry could remove the rules of a run.",
  },
  {
    number: 66,
    reference: "Without a user interface the agent cancels the run by a second `cancel`.",
    ours: "Without a user interface the second `cancel` pauses the run, and ends the agent's run.",
    why: "Only the user may end the rules of a run.",
  },
  {
    number: 67,
    reference: "Phases can have the ids `next`, `loop`, `done` and `stop`.",
    ours: "These ids are errors: outcomes lead to targets of these names.",
    why: "A name should have one meaning.",
  },
];

//! Slips of authors: each report names the fix.

use super::*;

/// Checks a workflow with one phase; `expected` is the report without its last line.
#[track_caller]
fn slip(flow: &str, phase: &str, expected: &str) {
    let place = place(&[("global/w/workflow.yaml", flow), ("global/w/a.md", phase)]);
    let (library, diagnostics) = Library::check(&place).unwrap();
    let report = check_report(&library, &diagnostics);
    let report = report.rsplit_once("\n\n").map_or("", |(diagnostics, _)| diagnostics);
    assert_eq!(report, expected, "\n{report}\n");
}

#[test]
fn lists_of_tools_and_rules_under_other_names() {
    for (line, rule) in [
        ("allowed_tools: [read]", "tools.whitelist"),
        ("allowed-tools: read, bash", "tools.whitelist"),
        ("allowedTools: [read]", "tools.whitelist"),
        ("tool_allowlist: [read]", "tools.whitelist"),
        ("allow: [read]", "tools.whitelist"),
        ("denied_tools: [bash]", "tools.blacklist"),
        ("disallowed-tools: [bash]", "tools.blacklist"),
        ("disallowedTools: [bash]", "tools.blacklist"),
        ("blocked_tools: [bash]", "tools.blacklist"),
        ("deny: [bash]", "tools.blacklist"),
        ("gate_attempts: 2", "gateAttempts"),
        ("OnGateFail: loop", "onGateFail"),
        ("Outcomes: {a: next}", "outcomes"),
        ("max-cost: 2", "budget"),
    ] {
        let key = line.split(':').next().unwrap_or_default();
        let marks = "^".repeat(key.len());
        let phase = PHASE.replace("emoji", &format!("{line}\nemoji"));
        slip(
            FLOW,
            &phase,
            &format!(
                "~/workflows/w/a.md:4:1: error: unknown field `{key}`\n  4 | {line}\n    | {marks}\n  help: did you mean `{rule}`?"
            ),
        );
    }
    for (line, help) in [
        ("loopable: false", "`loopable` belongs in `workflow.yaml`"),
        ("max_loops: 3", "`maxLoops` belongs in `workflow.yaml`"),
        ("when: {input.x: y}", "`when` belongs in an entry of `phases` in `workflow.yaml`"),
    ] {
        let key = line.split(':').next().unwrap_or_default();
        let marks = "^".repeat(key.len());
        let phase = PHASE.replace("emoji", &format!("{line}\nemoji"));
        slip(
            FLOW,
            &phase,
            &format!(
                "~/workflows/w/a.md:4:1: error: unknown field `{key}`\n  4 | {line}\n    | {marks}\n  help: {help}"
            ),
        );
    }
}

#[test]
fn a_field_below_an_entry_in_another_column() {
    slip(
        r#"name: Flow
commandName: flow
initialMessage: Go
inputs: {big: {type: choice, options: [large, small, tiny]}}
phases:
  - phase: a.md
   when: {input.big: large}
"#,
        PHASE,
        r#"~/workflows/w/workflow.yaml:7:4: error: not valid YAML: did not find expected '-' indicator
  7 |    when: {input.big: large}
    |    ^^^^^^^^^^^^^^^^^^^^^^^^
  help: indent `when` by 4 spaces, as `phase` above it"#,
    );
    slip(
        r#"name: Flow
commandName: flow
initialMessage: Go
inputs: {big: {type: choice, options: [large, small, tiny]}}
phases:
  - phase: a.md
      when: {input.big: large}
"#,
        PHASE,
        r#"~/workflows/w/workflow.yaml:7:11: error: not valid YAML: mapping values are not allowed in this context
  7 |       when: {input.big: large}
    |           ^^^^^^^^^^^^^^^^^^^^
  help: indent `when` by 4 spaces, as `phase` above it"#,
    );
    slip(
        r#"name: Flow
commandName: flow
initialMessage: Go
inputs: {big: {type: choice, options: [large, small, tiny]}}
phases:
  - phase: a.md
  when: {input.big: large}
"#,
        PHASE,
        r#"~/workflows/w/workflow.yaml:7:3: error: not valid YAML: did not find expected '-' indicator
  7 |   when: {input.big: large}
    |   ^^^^^^^^^^^^^^^^^^^^^^^^
  help: indent `when` by 4 spaces, as `phase` above it"#,
    );
    slip(
        r#"name: Flow
commandName: flow
initialMessage: Go
phases:
  - a.md
"#,
        r#"---
id: a
name: A
emoji: '*'
gate:
  - run: npm test
   label: Tests
---
Do it.
"#,
        r#"~/workflows/w/a.md:7:4: error: not valid YAML: did not find expected '-' indicator
  7 |    label: Tests
    |    ^^^^^^^^^^^^
  help: indent `label` by 4 spaces, as `run` above it"#,
    );
}

#[test]
fn items_without_a_space() {
    slip(
        r#"name: Flow
commandName: flow
initialMessage: Go
phases:
  -a.md
"#,
        PHASE,
        r#"~/workflows/w/workflow.yaml:5:3: error: `phases`: expected a list, found a string
  5 |   -a.md
    |   ^^^^^
  help: write a space behind each `-`"#,
    );
    slip(
        r#"name: Flow
commandName: flow
initialMessage: Go
phases:
  - a.md
  -build.md
"#,
        PHASE,
        r#"~/workflows/w/workflow.yaml:6:12: error: not valid YAML: could not find expected ':'
  6 |   -build.md
    |            ^
  help: write a space behind each `-`"#,
    );
    slip(
        r#"name: Flow
commandName: flow
initialMessage: Go
phases:
  - a.md
"#,
        r#"---
id: a
name: A
emoji: '*'
tools:
  whitelist:
    -read
    -bash
---
Do it.
"#,
        r#"~/workflows/w/a.md:7:5: error: `tools.whitelist`: expected a list of tool names, found a string
  7 |     -read
    |     ^^^^^
  help: write a space behind each `-`"#,
    );
}

#[test]
fn a_text_in_the_place_of_a_list() {
    slip(
        r#"name: Flow
commandName: flow
initialMessage: Go
phases: a.md
"#,
        PHASE,
        r#"~/workflows/w/workflow.yaml:4:9: error: `phases`: expected a list, found a string
  4 | phases: a.md
    |         ^^^^
  help: did you mean `phases: [a.md]`?"#,
    );
    slip(
        r#"name: Flow
commandName: flow
initialMessage: Go
phases:
  - a.md
"#,
        r#"---
id: a
name: A
emoji: '*'
write: docs/, src/
---
Do it.
"#,
        r#"~/workflows/w/a.md:5:8: error: `write`: expected a list of paths, found a string
  5 | write: docs/, src/
    |        ^^^^^^^^^^^
  help: did you mean `write: [docs/, src/]`?"#,
    );
    slip(
        r#"name: Flow
commandName: flow
initialMessage: Go
phases:
  - a.md
"#,
        r#"---
id: a
name: A
emoji: '*'
tools: { whitelist: 'read, bash' }
---
Do it.
"#,
        r#"~/workflows/w/a.md:5:21: error: `tools.whitelist`: expected a list of tool names, found a string
  5 | tools: { whitelist: 'read, bash' }
    |                     ^^^^^
  help: did you mean `whitelist: [read, bash]`?"#,
    );
    slip(
        r#"name: Flow
commandName: flow
initialMessage: Go
phases:
  - a.md
"#,
        r#"---
id: a
name: A
emoji: '*'
tools: [read, bash]
---
Do it.
"#,
        r#"~/workflows/w/a.md:5:8: error: `tools`: expected a mapping, found a list
  5 | tools: [read, bash]
    |        ^^^^^^^^^^^^
  help: write `tools: { whitelist: [read, bash] }` to allow these tools only, or `blacklist` to refuse them"#,
    );
    slip(
        r#"name: Flow
commandName: flow
initialMessage: Go
phases:
  - a.md
"#,
        r#"---
id: a
name: A
emoji: '*'
tools: read
---
Do it.
"#,
        r#"~/workflows/w/a.md:5:8: error: `tools`: expected a mapping, found a string
  5 | tools: read
    |        ^^^^
  help: write `tools: { whitelist: [read] }` to allow these tools only, or `blacklist` to refuse them"#,
    );
}

#[test]
fn a_path_that_looks_like_a_folder() {
    slip(
        r#"name: Flow
commandName: flow
initialMessage: Go
phases:
  - a.md
"#,
        r#"---
id: a
name: A
emoji: '*'
write: [docs, src/generated, docs/, CHANGELOG.md, LICENSE, Makefile, 'src/*', a]
sandbox: 'off'
---
Do it.
"#,
        r#"~/workflows/w/a.md:5:9: warning: `write`: `docs` names a file, unless there is a folder of this name
  5 | write: [docs, src/generated, docs/, CHANGELOG.md, LICENSE, Makefile, 'src/*', a]
    |         ^^^^
  help: did you mean `docs/`?

~/workflows/w/a.md:5:15: warning: `write`: `src/generated` names a file, unless there is a folder of this name
  5 | write: [docs, src/generated, docs/, CHANGELOG.md, LICENSE, Makefile, 'src/*', a]
    |               ^^^^^^^^^^^^^
  help: did you mean `src/generated/`?"#,
    );
}

#[test]
fn values_in_quotes() {
    slip(
        r#"name: Flow
commandName: flow
initialMessage: Go
phases:
  - a.md
"#,
        r#"---
id: a
name: A
emoji: '*'
network: 'false'
---
Do it.
"#,
        r#"~/workflows/w/a.md:5:10: error: `network`: expected `true` or `false`, found the string `false`
  5 | network: 'false'
    |          ^^^^^^^
  help: remove the quotes"#,
    );
    slip(
        r#"name: Flow
commandName: flow
initialMessage: Go
phases:
  - a.md
loopable: 'false'
"#,
        PHASE,
        r#"~/workflows/w/workflow.yaml:6:11: error: `loopable`: expected `true` or `false`, found the string `false`
  6 | loopable: 'false'
    |           ^^^^^^^
  help: remove the quotes"#,
    );
    slip(
        r#"name: Flow
commandName: flow
initialMessage: Go
phases:
  - a.md
maxLoops: '3'
"#,
        PHASE,
        r#"~/workflows/w/workflow.yaml:6:11: error: `maxLoops`: expected a whole number from 0 to 1000000, found the string `3`
  6 | maxLoops: '3'
    |           ^^^
  help: remove the quotes"#,
    );
    slip(
        r#"name: Flow
commandName: flow
initialMessage: Go
phases:
  - a.md
"#,
        r#"---
id: a
name: A
emoji: '*'
budget: {turns: '10'}
---
Do it.
"#,
        r#"~/workflows/w/a.md:5:17: error: `budget.turns`: expected a whole number from 1 to 1000000, found the string `10`
  5 | budget: {turns: '10'}
    |                 ^^^^
  help: remove the quotes"#,
    );
}

#[test]
fn amounts_with_a_unit() {
    slip(
        r#"name: Flow
commandName: flow
initialMessage: Go
phases:
  - a.md
"#,
        r#"---
id: a
name: A
emoji: '*'
budget: {cost: $2}
---
Do it.
"#,
        r#"~/workflows/w/a.md:5:16: error: `budget.cost`: expected a number of US dollars from 0.000001 to 1000000, found `$2`
  5 | budget: {cost: $2}
    |                ^^
  help: did you mean `2`?"#,
    );
    slip(
        r#"name: Flow
commandName: flow
initialMessage: Go
phases:
  - a.md
"#,
        r#"---
id: a
name: A
emoji: '*'
budget: {outputTokens: 50k}
---
Do it.
"#,
        r#"~/workflows/w/a.md:5:24: error: `budget.outputTokens`: expected a whole number from 1 to 1000000000, found `50k`
  5 | budget: {outputTokens: 50k}
    |                        ^^^
  help: did you mean `50000`?"#,
    );
    slip(
        r#"name: Flow
commandName: flow
initialMessage: Go
phases:
  - a.md
"#,
        r#"---
id: a
name: A
emoji: '*'
budget: {turns: many}
---
Do it.
"#,
        r#"~/workflows/w/a.md:5:17: error: `budget.turns`: expected a whole number from 1 to 1000000, found `many`
  5 | budget: {turns: many}
    |                 ^^^^"#,
    );
}

#[test]
fn conditions_cannot_be_negated() {
    slip(
        r#"name: Flow
commandName: flow
initialMessage: Go
inputs: {big: {type: choice, options: [large, small, tiny]}}
phases:
  - phase: a.md
    when: {input.big: '!large'}
"#,
        PHASE,
        r#"~/workflows/w/workflow.yaml:7:23: error: `when.input.big`: expected `large`, `small` or `tiny`, found `!large`
  7 |     when: {input.big: '!large'}
    |                       ^^^^^^^^
  help: did you mean `[small, tiny]`?"#,
    );
    slip(
        r#"name: Flow
commandName: flow
initialMessage: Go
inputs: {dry: {type: flag}}
phases:
  - phase: a.md
    when: {input.dry: '!true'}
"#,
        PHASE,
        r#"~/workflows/w/workflow.yaml:7:23: error: `when.input.dry`: expected `true` or `false`, found `!true`
  7 |     when: {input.dry: '!true'}
    |                       ^^^^^^^
  help: did you mean `false`?"#,
    );
}

#[test]
fn tools_with_arguments_and_wildcards() {
    slip(
        r#"name: Flow
commandName: flow
initialMessage: Go
phases:
  - a.md
"#,
        r#"---
id: a
name: A
emoji: '*'
tools: {whitelist: ['bash(ls)']}
---
Do it.
"#,
        r#"~/workflows/w/a.md:5:21: error: `bash(ls)` is not the name of a tool
  5 | tools: {whitelist: ['bash(ls)']}
    |                     ^^^^^^^^^^
  help: a list has whole tools, such as `bash`; `write` and `network` limit what commands can do"#,
    );
    slip(
        r#"name: Flow
commandName: flow
initialMessage: Go
phases:
  - a.md
"#,
        r#"---
id: a
name: A
emoji: '*'
tools: {blacklist: [bash, 'mcp__*']}
---
Do it.
"#,
        r#"~/workflows/w/a.md:5:27: error: `mcp__*` is not the name of a tool
  5 | tools: {blacklist: [bash, 'mcp__*']}
    |                           ^^^^^^^^
  help: write the name of each tool; there are no wildcards"#,
    );
}

#[test]
fn variables_with_blanks() {
    slip(
        r#"name: Flow
commandName: flow
initialMessage: Do { description }
phases:
  - a.md
"#,
        r#"---
id: a
name: A
emoji: '*'
---
Do { description } and { this }.
"#,
        r#"~/workflows/w/workflow.yaml:3:20: warning: unknown variable `{ description }` in `initialMessage`; it is not replaced
  3 | initialMessage: Do { description }
    |                    ^^^^^^^^^^^^^^^
  help: did you mean `{description}`?

~/workflows/w/a.md:6:4: warning: unknown variable `{ description }`; it is not replaced
  6 | Do { description } and { this }.
    |    ^^^^^^^^^^^^^^^
  help: did you mean `{description}`?"#,
    );
}

#[test]
fn values_in_braces() {
    slip(
        r#"name: Flow
commandName: flow
initialMessage: {description}
phases:
  - a.md
"#,
        PHASE,
        r#"~/workflows/w/workflow.yaml:3:17: error: `initialMessage`: expected a string, found a mapping
  3 | initialMessage: {description}
    |                 ^^^^^^^^^^^^^
  help: put a value that begins with `{` in quotes"#,
    );
    slip(
        r#"name: Flow
commandName: flow
initialMessage: Go
phases:
  - a.md
"#,
        r#"---
id: a
name: A
emoji: '*'
gate:
  - approve: {description}
---
Do it.
"#,
        r#"~/workflows/w/a.md:6:14: error: `gate.approve`: expected a string, found a mapping
  6 |   - approve: {description}
    |              ^^^^^^^^^^^^^
  help: put a value that begins with `{` in quotes"#,
    );
}

#[test]
fn globs_with_open_brackets() {
    slip(
        r#"name: Flow
commandName: flow
initialMessage: Go
phases:
  - a.md
"#,
        r#"---
id: a
name: A
emoji: '*'
write: ['src/[a']
---
Do it.
"#,
        r#"~/workflows/w/a.md:5:9: error: `write`: not a valid glob: `src/[a`
  5 | write: ['src/[a']
    |         ^^^^^^^^^
  help: close each `[` and `{`; a name with such a character has `[[]` or `[{]` instead"#,
    );
    slip(
        r#"name: Flow
commandName: flow
initialMessage: Go
phases:
  - a.md
"#,
        r#"---
id: a
name: A
emoji: '*'
gate: [{file: 'a{b'}]
---
Do it.
"#,
        r#"~/workflows/w/a.md:5:15: error: `gate.file`: not a valid glob: `a{b`
  5 | gate: [{file: 'a{b'}]
    |               ^^^^^^
  help: close each `[` and `{`; a name with such a character has `[[]` or `[{]` instead"#,
    );
}

#[test]
fn variables_where_none_are_replaced() {
    let gate = "gate:\n  - run: npm test -- {input.scope}\n  - approve: Publish {description}?\n    label: \"{summary.plan}\"\n  - file: docs/{outcome.x}.md\nwrite: ['docs/{taskId}/', 'a/{input.x}']\n";
    let phase = PHASE.replace("---\nDo", &format!("{gate}---\nDo"));
    slip(
        FLOW,
        &phase,
        r#"~/workflows/w/a.md:6:22: error: `gate.run`: `{input.scope}` is not replaced here
  6 |   - run: npm test -- {input.scope}
    |                      ^^^^^^^^^^^^^
  help: variables are replaced in the text of a phase and in the templates of `workflow.yaml`

~/workflows/w/a.md:7:22: warning: `gate.approve`: `{description}` is not replaced here
  7 |   - approve: Publish {description}?
    |                      ^^^^^^^^^^^^^
  help: variables are replaced in the text of a phase and in the templates of `workflow.yaml`

~/workflows/w/a.md:8:13: error: `gate.label`: `{summary.plan}` is not replaced here
  8 |     label: "{summary.plan}"
    |             ^^^^^^^^^^^^^^
  help: variables are replaced in the text of a phase and in the templates of `workflow.yaml`

~/workflows/w/a.md:9:16: error: `gate.file`: `{outcome.x}` is not replaced here
  9 |   - file: docs/{outcome.x}.md
    |                ^^^^^^^^^^^
  help: variables are replaced in the text of a phase and in the templates of `workflow.yaml`

~/workflows/w/a.md:10:15: warning: `write`: `{taskId}` is not replaced here
  10 | write: ['docs/{taskId}/', 'a/{input.x}']
     |               ^^^^^^^^
  help: variables are replaced in the text of a phase and in the templates of `workflow.yaml`

~/workflows/w/a.md:10:30: error: `write`: `{input.x}` is not replaced here
  10 | write: ['docs/{taskId}/', 'a/{input.x}']
     |                              ^^^^^^^^^
  help: variables are replaced in the text of a phase and in the templates of `workflow.yaml`"#,
    );
    for gate in [
        "gate: [{run: \"jq '{description}' package.json\"}]\n",
        "gate: [{run: 'echo ${taskId}'}]\n",
    ] {
        let phase = PHASE.replace("---\nDo", &format!("{gate}---\nDo"));
        slip(FLOW, &phase, "");
    }
}

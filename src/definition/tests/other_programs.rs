//! Front matters in the form of other programs, and slips: no key is dropped without a word.

use super::*;
use crate::definition::fixtures::Files;
use crate::definition::schema::is_metadata;

/// Fields of the front matter of other programs, a program to a row.
const PROGRAMS: [&[&str]; 20] = [
    // Agents, commands and skills of Claude Code.
    &[
        "tools: Read, Grep, Glob",
        "model: sonnet",
        "color: blue",
        "permissionMode: plan",
        "disallowedTools: Write, Edit",
        "skills: [pdf]",
        "maxTurns: 10",
        "memory: project",
        "isolation: worktree",
        "hooks: { PreToolUse: [] }",
    ],
    &[
        "allowed-tools: Bash(git add:*), Read",
        "argument-hint: '[file]'",
        "disable-model-invocation: true",
        "model: opus",
        "user-invocable: false",
        "context: fork",
        "agent: Explore",
        "shell: bash",
        "effort: high",
        "paths: ['src/**']",
    ],
    &["license: MIT", "compatibility: needs git", "metadata: { author: x }", "allowed-tools: Read", "version: 1.2"],
    // Agents and commands of opencode.
    &[
        "mode: subagent",
        "temperature: 0.1",
        "tools: { write: false }",
        "permission: { edit: deny }",
        "steps: 5",
        "disable: false",
        "hidden: true",
        "prompt: '{file:./x.txt}'",
        "top_p: 0.9",
        "reasoningEffort: high",
    ],
    &["subtask: true", "agent: build", "model: anthropic/x", "template: Do it.", "return: [x]"],
    // Rules of Cursor, Windsurf, Cline, Continue and Kiro.
    &["globs: ['**/*.ts']", "alwaysApply: false", "applyTo: src/**", "readonly: true", "is_background: true"],
    &["trigger: glob", "globs: '*.py'", "paths: [src/]", "activation: manual"],
    &["regex: ^a", "invokable: true", "schema: v1", "inclusion: always", "fileMatchPattern: '*.rs'", "always: true"],
    // Prompts, agents and instructions of Copilot.
    &[
        "applyTo: '**'",
        "mode: agent",
        "tools: ['codebase', 'search']",
        "agent: ask",
        "excludeAgent: code-review",
        "handoffs: [{ label: Plan, agent: plan }]",
        "mcp-servers: { x: {} }",
        "target: vscode",
        "infer: false",
        "argument-hint: text",
    ],
    // Recipes of Goose.
    &[
        "extensions: [developer]",
        "settings: { goose_model: x }",
        "parameters: [{ key: a }]",
        "retry: { max_retries: 3 }",
        "response: { json_schema: {} }",
        "activities: [x]",
        "instructions: Do.",
        "sub_recipes: [{ name: x }]",
        "prompt: Go",
    ],
    // Codex, Gemini and Qwen.
    &[
        "sandbox_mode: read-only",
        "approval_policy: on-request",
        "model_reasoning_effort: high",
        "sandbox-mode: strict",
        "web_search: false",
        "writable_roots: [src]",
        "network_access: false",
        "nickname_candidates: [x]",
    ],
    &[
        "kind: local",
        "max_turns: 10",
        "timeout_mins: 5",
        "coreTools: [ls]",
        "excludeTools: [rm]",
        "trust: false",
        "includeTools: [x]",
        "approvalMode: plan",
        "denyWrite: [/]",
        "allow-network: false",
    ],
    // Workflows of GitHub, agentic and not.
    &[
        "on: push",
        "permissions: { contents: read }",
        "jobs: {}",
        "concurrency: x",
        "env: { A: b }",
        "defaults: {}",
        "run-name: x",
        "timeout-minutes: 10",
    ],
    &[
        "engine: claude",
        "safe-outputs: {}",
        "network: { allowed: [x] }",
        "roles: all",
        "strict: true",
        "toolsets: [x]",
        "tools: { github: {} }",
        "steps: []",
        "runs-on: ubuntu-latest",
        "imports: [x.md]",
    ],
    // BMAD, Spec Kit, Task Master and CrewAI.
    &[
        "workflowType: plan",
        "nextStep: './b.md'",
        "stepsCompleted: [1]",
        "main_config: x",
        "web_bundle: true",
        "thisStepFile: a.md",
        "outputFile: out.md",
        "validation: x",
        "instructions: x.md",
        "template: false",
    ],
    &[
        "scripts: { sh: x.sh }",
        "handoffs: []",
        "agent_scripts: {}",
        "dependencies: [1]",
        "testStrategy: x",
        "subtasks: []",
    ],
    &[
        "goal: Do.",
        "backstory: x",
        "allow_delegation: false",
        "max_iter: 5",
        "human_input: true",
        "expected_output: x",
        "guardrail: x",
        "output_file: x.md",
        "async_execution: true",
        "max_rpm: 3",
    ],
    // Agents of Roo, Zed, Amp, Factory and Junie.
    &[
        "slug: x",
        "roleDefinition: x",
        "groups: [read, edit]",
        "customInstructions: x",
        "whenToUse: x",
        "source: project",
    ],
    &[
        "requires_approval: true",
        "protected_paths: [.env]",
        "blocked_commands: [rm]",
        "isolatedContext: true",
        "denied-tools: [x]",
        "reasoning: high",
        "autonomy: low",
        "no_edit: true",
        "forbid: [x]",
        "max_cost: 5",
    ],
    // Pages of Jekyll, Hugo and Docusaurus.
    &[
        "layout: post",
        "title: X",
        "date: 2026-01-02",
        "tags: [a]",
        "draft: true",
        "permalink: /x",
        "weight: 3",
        "sidebar_position: 2",
        "slug: x",
        "keywords: [a]",
    ],
];

/// Fields of this program with a value that a phase takes.
const OWN: [&str; 3] = ["model: sonnet", "model: opus", "model: anthropic/x"];

/// Returns the lines of a file that are told, with these lines in its front matter or `workflow.yaml`.
fn told(lines: &[&str], of_phase: bool) -> Vec<usize> {
    let fields = lines.join("\n");
    let phase = if of_phase { format!("---\n{fields}\n---\nDo it.\n") } else { "Do it.".to_owned() };
    let flow = if of_phase { "phases: [a.md]".to_owned() } else { format!("\n{fields}\nphases: [a.md]\n") };
    let mut files = Files::default();
    files.global.insert("w/workflow.yaml".into(), flow);
    files.global.insert("w/a.md".into(), phase);
    let (library, diagnostics) = Library::load(&files).unwrap();
    let mut told: Vec<usize> = diagnostics.iter().filter_map(|diagnostic| Some(diagnostic.place?.line - 1)).collect();
    assert_eq!(library.get("w").is_none(), !told.is_empty(), "{fields}: {diagnostics:?}");
    assert!(diagnostics.iter().all(|one| one.help().is_some() || !one.message().starts_with("unknown")), "{fields}");
    told.dedup();
    told
}

#[test]
fn each_field_of_other_programs_is_told() {
    let mut count = 0;
    for fields in PROGRAMS {
        for start in 0..10 {
            let chosen = |step: usize| fields[(start + step * 3) % fields.len()];
            let mut lines = vec!["name: x", "description: Does it."];
            (0..1 + start % 3).map(chosen).for_each(|line| {
                if !lines.contains(&line) {
                    lines.push(line)
                }
            });
            let key = |line: &str| line.split(':').next().unwrap().to_owned();
            let mut keys: Vec<String> = lines.iter().map(|line| key(line)).collect();
            keys.sort();
            keys.dedup();
            if keys.len() < lines.len() {
                lines.truncate(3);
            }
            for of_phase in [true, false] {
                // `description` and `whenToUse` are fields of `workflow.yaml` only.
                let is_own = |line: &str| {
                    let own = if of_phase { "name" } else { "description" };
                    line.starts_with("name")
                        || line.starts_with(own)
                        || OWN.contains(&line)
                        || !of_phase && line.starts_with("whenToUse")
                        || is_metadata(&key(line))
                };
                let lost = lines.iter().enumerate().filter(|(_, line)| !is_own(line));
                let lost: Vec<usize> = lost.map(|(at, _)| at + 1).collect();
                assert_eq!(told(&lines, of_phase), lost, "{lines:?}");
            }
            count += 1;
        }
    }
    assert_eq!(count, 200);
}

/// Slips in the names of all fields are told, in both files.
#[test]
fn each_drawn_slip_is_told() {
    let mut count = 0;
    for (fields, of_phase) in [(Phase::FIELDS, true), (Workflow::FIELDS, false)] {
        for (number, field) in fields.iter().enumerate() {
            let name: Vec<char> = field.name.chars().collect();
            let at = number % name.len();
            let with = |edit: &dyn Fn(&mut Vec<char>)| {
                let mut name = name.clone();
                edit(&mut name);
                name.into_iter().collect::<String>()
            };
            for slip in [
                with(&|name| _ = name.remove(at)),
                with(&|name| name.insert(at, name[at])),
                with(&|name| name[at] = 'q'),
                with(&|name| name.insert(at, '\u{200b}')),
                with(&|name| name[at] = name[at].to_ascii_uppercase()),
                with(&|name| name.insert(at + 1, '_')),
                format!("{}s", field.name),
                format!("max-{}", field.name),
                format!("{}\u{a0}", field.name),
            ] {
                let is_field = fields.iter().any(|field| field.name == slip) || slip == "phases";
                if is_field || is_metadata(&slip) || slip.is_empty() {
                    continue;
                }
                let lines = ["name: x".to_owned(), format!("{slip}: 1")];
                assert_eq!(told(&[&lines[1]], of_phase), [1], "{slip:?}");
                count += 1;
            }
        }
    }
    assert!(count >= 300, "{count}");
}

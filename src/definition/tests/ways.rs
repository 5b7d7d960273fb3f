//! `inputs`, `outcomes`, `when` and `with` as they are written, and what a check proves about them.

use super::*;

const HEAD: &str = "name: W\ncommandName: w\ninitialMessage: Go\n";

/// The files of a workflow `w`, with these phases by id and the lines of their front matter, and of a nested workflow
/// `n`.
pub(super) fn files(workflow: &str, phases: &[(&str, &str)]) -> Files {
    let mut files = Files::default();
    files.global.insert("w/workflow.yaml".into(), format!("{HEAD}{workflow}\n"));
    for (id, lines) in phases {
        let text = format!("---\nid: {id}\nname: {id}\nemoji: '*'\n{lines}\n---\nDo it.\n");
        files.global.insert(format!("w/{id}.md"), text);
    }
    let nested = "name: N\nshow: workflows\ninputs: {half: {type: choice, options: [api, web]}, note: {type: text, default: x}}\nphases: [n.md]\n";
    files.global.insert("n/workflow.yaml".into(), nested.into());
    let phase = "---\nid: n\nname: N\nemoji: '*'\noutcomes: {good: next, bad: done}\n---\nDo it.\n";
    files.global.insert("n/n.md".into(), phase.into());
    files
}

/// Returns the errors and warnings of a check, without file names.
fn checked(workflow: &str, phases: &[(&str, &str)]) -> Vec<String> {
    let (_, diagnostics) = Library::check(&files(workflow, phases)).unwrap();
    let without_file = |diagnostic: &Diagnostic| diagnostic.to_string().replacen("~/workflows/", "", 1);
    diagnostics.iter().map(without_file).collect()
}

#[track_caller]
fn refuses(workflow: &str, phases: &[(&str, &str)], expected: &[&str]) {
    assert_eq!(checked(workflow, phases), expected, "{workflow} {phases:?}");
    let (library, _) = load_files(&files(workflow, phases));
    assert!(library.get("w").is_none(), "it is left out");
}

const A: (&str, &str) = ("a", "");

#[test]
fn wrong_inputs_are_refused() {
    for (inputs, expected) in [
        ("[]", "w/workflow.yaml:4:9: `inputs`: expected a mapping of names to inputs, found a list"),
        ("{}", "w/workflow.yaml:4:9: `inputs` must have 1 to 20 entries"),
        (
            "{a b: {type: text}}",
            "w/workflow.yaml:4:10: `inputs`: expected at most 60 letters, digits, `_` and `-` as a name, found `a b`",
        ),
        ("{a: text}", "w/workflow.yaml:4:10: `inputs.a`: expected a mapping like `{ type: text }`, found a string"),
        (
            "{a: {}}",
            "w/workflow.yaml:4:13: `inputs.a.type`: expected `text`, `number`, `choice`, `flag`, `list` or `command`, found nothing",
        ),
        (
            "{a: {type: nmber}}",
            "w/workflow.yaml:4:20: `inputs.a.type`: expected `text`, `number`, `choice`, `flag`, `list` or `command`, found `nmber`",
        ),
        ("{a: {type: text, defalt: x}}", "w/workflow.yaml:4:26: unknown field `defalt` in `inputs`"),
        (
            "{a: {type: text, options: [x]}}",
            "w/workflow.yaml:4:35: `inputs.a.options`: expected none without `type: choice`, found a list",
        ),
        (
            "{a: {type: choice}}",
            "w/workflow.yaml:4:13: `inputs.a.options`: expected a list of texts with `type: choice`, found nothing",
        ),
        (
            "{a: {type: choice, options: []}}",
            "w/workflow.yaml:4:37: `inputs.a.options`: expected a list of 1 to 50 texts, found a list",
        ),
        (
            "{a: {type: choice, options: [x, y], default: z}}",
            "w/workflow.yaml:4:54: `inputs.a.default`: expected `x` or `y`, found `z`",
        ),
        (
            "{a: {type: number, default: one}}",
            "w/workflow.yaml:4:37: `inputs.a.default`: expected a number, found `one`",
        ),
        (
            "{a: {type: flag, default: 1}}",
            "w/workflow.yaml:4:35: `inputs.a.default`: expected `true` or `false`, found `1`",
        ),
    ] {
        refuses(&format!("inputs: {inputs}\nphases: [a.md]"), &[A], &[expected]);
    }
}

#[test]
fn wrong_outcomes_are_refused() {
    for (lines, expected) in [
        (
            "outcomes: next",
            "w/a.md:5:11: `outcomes`: expected a mapping like `{ clean: next, issues: implement }`, found a string",
        ),
        ("outcomes: {}", "w/a.md:5:11: `outcomes` must have 1 to 20 entries"),
        (
            "outcomes: {a.b: next}",
            "w/a.md:5:12: `outcomes`: expected at most 60 letters, digits, `_` and `-` as a name, found `a.b`",
        ),
        (
            "outcomes: {x: }",
            "w/a.md:5:15: `outcomes.x`: expected `next`, `loop`, `done`, `stop` or the id of an entry, found an empty value",
        ),
        (
            "outcomes: {x: nxt}",
            "w/a.md:5:15: `outcomes.x`: expected `next`, `loop`, `done`, `stop` or the id of an entry of the workflow \"w\", found `nxt`",
        ),
        ("outcomes: {x: loop}", "w/a.md:5:15: `outcomes.x: loop` is not allowed in a workflow with `loopable: false`"),
        (
            "outcomes: {x: next}\ngate: [{file: f, outcome: y}]",
            "w/a.md:6:27: `gate.outcome`: expected an outcome of the phase: `x`, found `y`",
        ),
        ("gate: [{file: f, outcome: y}]", "w/a.md:5:27: `gate.outcome`: expected an outcome of the phase, found `y`"),
    ] {
        refuses("loopable: false\nphases: [a.md]", &[("a", lines)], &[expected]);
    }
}

#[test]
fn wrong_conditions_are_refused() {
    let when = |condition: &str| {
        format!(
            "inputs: {{s: {{type: choice, options: [api, web]}}}}\nphases: [a.md, {{phase: b.md, when: {condition}}}, c.md]"
        )
    };
    let phases = [("a", "outcomes: {x: next, y: next}"), ("b", ""), ("c", "outcomes: {z: next}")];
    for (condition, expected) in [
        ("x", "5:36: `when`: expected a mapping like `{ outcome.triage: large }`, found a string"),
        ("{}", "5:36: `when` must have 1 to 20 entries"),
        (
            "{scope: x}",
            "5:37: `when`: expected `input.NAME`, `output.ID.NAME`, `outcome.ID` or `item.FIELD`, found `scope`",
        ),
        (
            "{outcome.a: }",
            "5:48: `when.outcome.a`: expected a value, or a list of 1 to 50 values, found an empty value",
        ),
        ("{outcome.a: []}", "5:48: `when.outcome.a`: expected a value, or a list of 1 to 50 values, found a list"),
        ("{outcome.a: z}", "5:48: `when.outcome.a`: expected an outcome of `a`: `x` or `y`, found `z`"),
        (
            "{outcome.q: z}",
            "5:37: `when`: expected the outcome of an earlier phase or nested workflow, found `outcome.q`",
        ),
        (
            "{outcome.b: z}",
            "5:37: `when`: expected the outcome of an earlier phase or nested workflow, found `outcome.b`, which does not come earlier",
        ),
        (
            "{outcome.c: z}",
            "5:37: `when`: expected the outcome of an earlier phase or nested workflow, found `outcome.c`, which does not come earlier",
        ),
        (
            "{input.t: api}",
            "5:37: `when`: expected an input of the workflow: `s`, found `input.t`, which the workflow does not have",
        ),
        ("{input.s: [api, wep]}", "5:46: `when.input.s`: expected `api` or `web`, found `wep`"),
    ] {
        refuses(&when(condition), &phases, &[&format!("w/workflow.yaml:{expected}")]);
    }
    refuses(
        "phases: [a.md, {phase: b.md, whn: {outcome.a: x}}, c.md]",
        &phases,
        &["w/workflow.yaml:4:30: unknown field `whn` in `phases`"],
    );
    let plain = [("a", ""), ("b", "")];
    refuses(
        "phases: [a.md, {phase: b.md, when: {outcome.a: x}}]",
        &plain,
        &[
            "w/workflow.yaml:4:37: `when`: expected the outcome of an earlier phase or nested workflow, found `outcome.a`, which has no outcomes",
        ],
    );
}

#[test]
fn wrong_values_of_nested_workflows_are_refused() {
    let with = |with: &str| {
        format!(
            "inputs: {{s: {{type: choice, options: [api, web]}}, t: {{type: text}}}}\nphases: [a.md, {{subworkflow: n{with}}}]"
        )
    };
    for (values, expected) in [
        ("", "5:16: the nested workflow \"n\" needs a value of `half`: `api` or `web`"),
        (", with: x", "5:39: `with`: expected a mapping of names to values, found a string"),
        (", with: {half: []}", "5:46: `with.half`: expected `api` or `web`, found a list"),
        (", with: {half: apj}", "5:46: `with.half`: expected `api` or `web`, found `apj`"),
        (
            ", with: {half: '{input.t}'}",
            "5:46: `with.half`: expected `api` or `web`, found `input.t`, which is a text of 1 to 1000 characters",
        ),
        (
            ", with: {half: '{input.u}'}",
            "5:46: `with.half`: expected `api` or `web`, found `input.u`, which the workflow does not have",
        ),
        (
            ", with: {half: api, hlf: x}",
            "5:51: `with`: expected an input of the workflow \"n\": `half` or `note`, found `hlf`",
        ),
    ] {
        refuses(&with(values), &[A], &[&format!("w/workflow.yaml:{expected}")]);
    }
    assert_eq!(checked(&with(", with: {half: '{input.s}', note: '{input.t}'}"), &[A]), [""; 0]);
    let by_nested = "phases: [{subworkflow: n, with: {half: api}}, {phase: a.md, when: {outcome.n: VALUE}}, b.md]";
    let b = ("b", "");
    assert_eq!(checked(&by_nested.replace("VALUE", "[good, bad]"), &[A, b]), [""; 0]);
    refuses(
        &by_nested.replace("VALUE", "so"),
        &[A, b],
        &["w/workflow.yaml:4:79: `when.outcome.n`: expected an outcome of `n`: `bad` or `good`, found `so`"],
    );
}

#[test]
fn a_check_finds_outcomes_without_an_end() {
    let warns = |workflow: &str, b: &str, expected: &[&str]| {
        let found = checked(workflow, &[A, ("b", b)]);
        let expected = expected.iter().map(|outcome| {
            let (column, outcome) = outcome.split_once(' ').unwrap();
            format!("w/b.md:5:{column}: no way leads from the outcome `{outcome}` to the end of the workflow \"w\"")
        });
        assert_eq!(found, expected.collect::<Vec<_>>(), "{workflow} {b}");
    };
    let plain = "phases: [a.md, b.md]";
    warns(plain, "outcomes: {x: a, y: done}", &[]);
    warns(plain, "outcomes: {x: a, y: stop}", &[]);
    warns(plain, "outcomes: {x: a, y: loop}", &["15 x", "21 y"]);
    warns(plain, "outcomes: {x: {to: a, max: 2, then: next}, y: loop}", &[]);
    // An entry with conditions may be passed over.
    let when = "inputs: {s: {type: choice, options: [p, q]}}\nphases: [a.md, {phase: b.md, when: {input.s: p}}]";
    warns(when, "outcomes: {x: loop}", &[]);
}

#[test]
fn variables_of_inputs_and_outcomes_must_exist() {
    let workflow = "inputs: {scope: {type: text}}\nroleInstruction: '{input.scope} {input.scpe} {outcome.a} {outcome.aa}'\nphases: [a.md, b.md]";
    let mut files = files(workflow, &[("a", "outcomes: {x: next}"), ("b", "")]);
    let b = files.global.get_mut("w/b.md").unwrap();
    *b = b.replace("Do it.", "Do {input.half}, {input.scope} and {outcome.n}.");
    let found = Library::check(&files).unwrap().1;
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            "~/workflows/w/workflow.yaml:5:33: unknown variable `{input.scpe}`: the workflow has no such input; it is not replaced",
            "~/workflows/w/workflow.yaml:5:58: unknown variable `{outcome.aa}`: the workflow has no such phase with outcomes; it is not replaced",
            "~/workflows/w/b.md:7:4: unknown variable `{input.half}`: the workflow has no such input; it is not replaced",
        ]
    );
}

#[test]
fn a_workflow_with_conditions_has_a_bounded_number_of_entries() {
    let mut files = Files::default();
    for level in 0..14 {
        let next = format!("{{subworkflow: w{}}}", level + 1);
        let workflow = format!("name: W\nshow: workflows\nphases: [{next}, {next}]\n");
        files.global.insert(format!("w{level}/workflow.yaml"), workflow);
    }
    files.global.insert("w14/workflow.yaml".into(), "name: W\nshow: workflows\nphases: [a.md]\n".into());
    files.global.insert("w14/a.md".into(), PHASE.into());
    assert_eq!(Library::load(&files).unwrap().1, []);
    files.global.insert("w14/a.md".into(), PHASE.replacen("emoji", "outcomes: {x: next}\nemoji", 1));
    let (library, diagnostics) = Library::load(&files).unwrap();
    assert_eq!(keys(&library), ["w10", "w11", "w12", "w13", "w14", "w4", "w5", "w6", "w7", "w8", "w9"]);
    let messages: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
    assert!(
        messages[0].ends_with(
            "a workflow with conditions or outcomes must have fewer than 5000 entries, with those of nested workflows"
        ),
        "{messages:?}"
    );
}

#[test]
fn an_outcome_that_leads_back_is_an_end_where_it_leads_on_then() {
    let mut files = files("phases: [{subworkflow: n, with: {half: api}}, {phase: a.md, when: {outcome.n: bad}}]", &[A]);
    let phase = "---\nid: n\nname: N\nemoji: '*'\noutcomes: {good: next, bad: n}\n---\nDo it.\n";
    files.global.insert("n/n.md".into(), phase.into());
    let (library, _) = load_files(&files);
    assert!(library.get("w").is_none(), "`bad` leads back, or pauses");
    files.global.insert("n/n.md".into(), phase.replace("bad: n", "bad: {to: n, max: 2, then: next}"));
    let (_, diagnostics) = Library::check(&files).unwrap();
    assert_eq!(diagnostics, []);
}

/// The test takes minutes if the ways are followed without a bound.
#[test]
fn the_work_of_a_check_is_bounded() {
    let numbers = 0..600_usize;
    let entry = |number: usize| match number {
        0 => "p0.md".to_owned(),
        _ => format!("{{phase: p{number}.md, when: {{outcome.p{}: a}}}}", number - 1),
    };
    let entries: Vec<String> = numbers.clone().map(entry).collect();
    let outcomes = |number: usize| {
        let (half, other) = (number / 2, number * 7 % 600);
        format!("outcomes: {{a: next, b: loop, c: done, d: p{half}, e: p{other}}}")
    };
    let phases: Vec<(String, String)> = numbers.map(|number| (format!("p{number}"), outcomes(number))).collect();
    let phases: Vec<(&str, &str)> = phases.iter().map(|(id, lines)| (id.as_str(), lines.as_str())).collect();
    assert_eq!(checked(&format!("phases: [{}]", entries.join(", ")), &phases), [""; 0]);
}

#[test]
fn options_and_values_are_without_blanks_around_them() {
    let workflow =
        "inputs: {t: {type: choice, options: [' a ', b]}}\nphases: [{phase: a.md, when: {input.t: [' a ']}}, b.md]";
    assert_eq!(checked(workflow, &[A, ("b", "")]), [""; 0]);
    let long = "x".repeat(61);
    let refused = checked("phases: [a.md]", &[("a", &format!("outcomes: {{{long}: next}}"))]);
    assert!(refused[0].contains("expected at most 60 letters, digits"), "{refused:?}");
}

#[test]
fn entries_have_ids_names_and_targets_of_their_own() {
    let workflow = "phases: [a.md, {phase: a.md, id: again, name: 'Once more', outcomes: {x: a}}, {subworkflow: n, id: last, name: 'N, at last', with: {half: api}, outcomes: {y: again}}]";
    let mut files = files(workflow, &[("a", "outcomes: {x: next, z: next}")]);
    let phase = "---\nid: n\nname: N\nemoji: '*'\noutcomes: {x: next, y: next}\n---\nDo it.\n";
    files.global.insert("n/n.md".into(), phase.into());
    let (library, diagnostics) = Library::check(&files).unwrap();
    assert_eq!(diagnostics, []);
    let workflow = library.get("w").unwrap();
    let names: Vec<(&str, &str)> =
        workflow.phases.iter().map(|entry| (entry.id(), library.entry_name(entry))).collect();
    assert_eq!(names, [("a", "a"), ("again", "Once more"), ("last", "N, at last")]);
    let targets = |index: usize| -> Vec<&str> {
        workflow.phases[index].outcomes().iter().map(|outcome| outcome.target.word()).collect()
    };
    assert_eq!((targets(0), targets(1), targets(2)), (vec!["next", "next"], vec!["a", "next"], vec!["again"]));
    assert_eq!(workflow.position("last"), Some(2));
    assert_eq!(workflow.position("n"), None, "its id stands in place of its key");
}

//! Rules in a text, where nothing reads them, are errors; other texts load.

use super::*;

const FIELDS: &str = "---\nid: a\nname: A\nemoji: '*'\n---";

/// Returns the errors of a workflow whose phase file has this text.
fn errors(text: &str) -> Vec<String> {
    errors_of(&[("w/workflow.yaml", FLOW), ("w/a.md", text)])
}

fn errors_of(files: &[(&str, &str)]) -> Vec<String> {
    let (library, errors) = load(files);
    assert_eq!(library.get("w").is_none(), !errors.is_empty(), "{errors:?}");
    errors
}

/// Rules of a phase, each with its key.
const RULES: [(&str, &str); 10] = [
    ("write: []", "write"),
    ("id: b\nname: x\nwrite: [docs/]", "write"),
    ("tools: { whitelist: [read] }", "tools"),
    ("hide:\n  - .env", "hide"),
    ("hide:\n- .env", "hide"),
    ("network: false", "network"),
    ("gate:\n  - run: npm test\n    timeout: 5m", "gate"),
    ("budget: { turns: 3 }", "budget"),
    ("\"write\": []", "write"),
    ("{ \"name\": \"x\", \"write\": [] }", "write"),
];

const FENCES: [&str; 10] =
    ["---", "\u{200b}---", "———", "***", "+++", "–––", "----", "___", "\u{200b}\u{feff}---", "-- -"];

#[test]
fn a_rule_below_the_front_matter_is_an_error() {
    for (rules, key) in RULES {
        let told = format!("`{key}` is not read: it is part of the text of the phase");
        let is_told = |text: &str| {
            let errors = errors(text);
            assert!(errors.len() == 1 && errors[0].ends_with(&told), "{text:?}: {errors:?}");
        };
        is_told(&format!("{FIELDS}\n{rules}\n\nDo it.\n"));
        is_told(&format!("{FIELDS}\r\n{}\r\nDo it.\r\n", rules.replace('\n', "\r\n")));
        for fence in FENCES {
            for blank in ["", "\n", "\n \n\n"] {
                is_told(&format!("{FIELDS}\n{blank}{fence}\n{rules}\n{fence}\nDo it.\n"));
                is_told(&format!("{FIELDS}\n{blank}{fence}\n\n{rules}\n\n---\nDo it.\n"));
                let name = if rules.starts_with('{') { "" } else { "name: x\n\n" };
                is_told(&format!("{FIELDS}\n{blank}{fence}\n# Mine\n{name}{rules}\n---\nDo it.\n"));
            }
        }
    }
}

#[test]
fn a_rule_in_a_text_without_front_matter_is_an_error() {
    for (rules, key) in RULES {
        let told = format!("`{key}` is not read: it is part of the text of the phase");
        for fence in FENCES.into_iter().filter(|fence| *fence != "---" && *fence != "----").chain(["\n---", "# A\n---"])
        {
            for text in [format!("{fence}\n{rules}\n"), format!("<!-- mine -->\n\n{fence}\n{rules}\nDo it.\n")] {
                let errors = errors(&text);
                assert!(errors.len() == 1 && errors[0].contains("is not read"), "{text:?}: {errors:?}");
            }
        }
        for text in [
            format!("{rules}\n\nDo it.\n"),
            format!("```yaml\n{rules}\n```\n\n"),
            format!("```yaml\n{rules}\n\nDo it.\n"),
            format!("```\n---\n{rules}\n---\nDo it.\n```"),
        ] {
            assert!(errors(&text)[0].ends_with(&told), "{text:?}");
        }
        for text in [format!("---\n{rules}\n---\nDo it."), format!("{rules}\n\nDo it.")] {
            let lines: String = text.lines().map(|line| format!("      {line}\n")).collect();
            let flow = format!("phases:\n  - prompt: |\n{lines}");
            assert!(errors_of(&[("w/workflow.yaml", &flow)])[0].ends_with(&told), "{flow}");
        }
    }
    for text in
        ["write = []", "+++\nwrite = []\n+++", "<!-- mine -->\n---\nid: look\n---", "--\nid: a\n--", "id: a\n---"]
    {
        assert_eq!(errors(&format!("{text}\nDo it.")).len(), 1, "{text}");
    }
}

/// Texts that teach front matter, or begin like it.
const TEXTS: [&str; 38] = [
    "Model: say which one you are.",
    "output: a list of files.",
    "read: the whole file before you change it.",
    "write: the docs",
    "write: docs/plan.md",
    "tools: Read, Grep",
    "gate: npm test",
    "network: is slow today",
    "model: describe the data model in words",
    "hide: nothing from the user",
    "budget: 5 minutes",
    "context: the repository of a shop",
    "summary: what you have found",
    "results: a table",
    "name: my-skill\ndescription: Does it.",
    "---\nname: my-skill\ndescription: Does it.\n---",
    "***\nname: x\n***",
    "---\n\nwrite: []",
    "---\nwrite: []",
    "Write a skill that begins with:\n---\nname: x\nwrite: []\n---",
    "Write a skill:\n\n---\nname: x\nmodel: opus\n---\n",
    "```yaml\n---\nwrite: []\n---\n```",
    "```\nwrite: []\n```",
    "~~~yaml\nwrite: []\n~~~",
    "    write: []",
    "> write: []",
    "- write: []",
    "# Rules\nwrite: []",
    "`write: []` allows nothing.",
    "{ \"name\": \"x\" }",
    "{ \"write\": [] is how a phase begins.",
    "{description}",
    "Follow these settings:\nnetwork: false",
    "tests: run them\nnpm test",
    "---\n# How to write a phase\n\nBegin its file like this:\n\n```yaml\nwrite: []\n```\n---\nThen the text.",
    "---\n```yaml\nwrite: []\n```\n---",
    "---\nname: the phase\nIts model comes next.\nmodel: opus\n---\nThen the text.",
    "---\n\n- a list\n\nmodel: opus\n---",
];

#[test]
fn a_text_about_front_matter_loads() {
    for text in TEXTS {
        assert_eq!(errors(&format!("{FIELDS}\n\n{text}\n")), [""; 0], "{text:?}");
        let is_rule_there = ["    write: []"].contains(&text);
        if !is_rule_there {
            assert_eq!(errors(&format!("{FIELDS}\n{text}\n")), [""; 0], "{text:?}");
        }
    }
    // Without front matter.
    let fenced = ["```yaml\nwrite: []\n```\nWrite such a file.", "```\n---\nwrite: []\n---\n```\n\nSo it begins."];
    for text in TEXTS.into_iter().filter(|text| !text.starts_with(['-', '`', ' ', '*'])).chain(fenced) {
        assert_eq!(errors(text), [""; 0], "{text:?}");
        let lines: String = text.lines().map(|line| format!("      {line}\n")).collect();
        let flow = format!("phases:\n  - prompt: |\n{lines}");
        assert_eq!(errors_of(&[("w/workflow.yaml", &flow)]), [""; 0], "{text:?}");
    }
}

/// The seal leaves out the fields that are no rules, but for `id` and `phases`.
#[test]
fn each_field_that_the_seal_covers_is_a_rule() {
    let others: Vec<&str> =
        Phase::FIELDS.iter().chain(Workflow::FIELDS).filter(|field| !field.is_rule()).map(|field| field.name).collect();
    assert_eq!(
        others,
        [
            "id",
            "name",
            "emoji",
            "availableProfiles",
            "name",
            "initialMessage",
            "phases",
            "description",
            "whenToUse",
            "defaultTask",
            "sessionNamePrefix",
            "sessionNameMaxLength",
            "roleInstruction",
            "advanceReminder",
            "blockReasonTemplate",
            "completionMessage",
            "notDoneReminder",
        ]
    );
}

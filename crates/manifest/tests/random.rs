//! Text that nobody wrote on purpose, and manifests made from the schema.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test")]

use edgeplane_manifest::{
    AutomationManifest, ConnectorManifest, Manifest, Problem, ScheduleBody, ScheduleManifest, SourceFile,
    WorkflowManifest, parse, parse_set, schema,
};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

const FULL: &str = include_str!("../../../examples/manifests/full.yaml");

fn check_problems(text: &str, result: &Result<Vec<Manifest>, Vec<Problem>>) {
    let Err(problems) = result else { return };
    assert!(!problems.is_empty());
    let lines = text.split(['\n', '\r']).count() + 1;
    for problem in problems {
        let line = usize::try_from(problem.line).unwrap();
        assert!((1..=lines).contains(&line), "{problem} of {lines}");
        assert!(!problem.to_string().chars().any(char::is_control), "{problem:?}");
    }
}

/// Pieces that YAML and manifests are made of.
fn piece() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "\n",
        "  ",
        "- ",
        ": ",
        "a",
        "spec",
        "apiVersion",
        "edgeplane.dev/v1alpha1",
        "kind: Agent\n",
        "metadata:",
        "{name: x}",
        "[",
        "]",
        "{",
        "}",
        "&a ",
        "*a",
        "\"",
        "'",
        "|\n",
        ">\n",
        "---\n",
        "...\n",
        "#",
        "!!str ",
        "<<",
        "? ",
        "%YAML 1.2\n",
        "\t",
        "~",
        "null",
        "1.5",
        "0x",
        "driver",
        "command",
        "\u{0}",
        "é",
        "\u{feff}",
        "\r",
    ])
}

#[derive(Debug, Clone)]
enum Mutation {
    Remove(usize, usize),
    Insert(usize, &'static str),
    Double(usize, usize),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    prop_oneof![
        (any::<usize>(), 1..40usize).prop_map(|(at, length)| Mutation::Remove(at, length)),
        (any::<usize>(), piece()).prop_map(|(at, text)| Mutation::Insert(at, text)),
        (any::<usize>(), 1..200usize).prop_map(|(at, length)| Mutation::Double(at, length)),
    ]
}

fn mutate(text: &str, mutations: &[Mutation]) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for mutation in mutations {
        let (Mutation::Remove(at, _) | Mutation::Insert(at, _) | Mutation::Double(at, _)) = mutation;
        let at = at % (chars.len() + 1);
        match mutation {
            Mutation::Remove(_, length) => drop(chars.drain(at..(at + length).min(chars.len()))),
            Mutation::Insert(_, text) => drop(chars.splice(at..at, text.chars()).collect::<Vec<_>>()),
            Mutation::Double(_, length) => {
                let copy = chars[at..(at + length).min(chars.len())].to_vec();
                drop(chars.splice(at..at, copy).collect::<Vec<_>>());
            }
        }
    }
    chars.into_iter().collect()
}

/// Makes a value that a schema describes, with `choices` to decide what is open.
struct Maker<'s> {
    root: &'s Value,
    choices: Vec<u8>,
    next: usize,
}

impl Maker<'_> {
    fn choose(&mut self, of: usize) -> usize {
        let choice = self.choices.get(self.next).copied().unwrap_or(0);
        self.next += 1;
        usize::from(choice) % of.max(1)
    }

    fn value(&mut self, schema: &Value) -> Value {
        if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
            let definition = &self.root["$defs"][name.trim_start_matches("#/$defs/")];
            let (min, max) = (schema.get("x-edgeplane-min"), schema.get("x-edgeplane-max"));
            if let (Some(min), Some(max)) = (min, max) {
                return if self.choose(2) == 0 { min.clone() } else { max.clone() };
            }
            return self.value(&definition.clone());
        }
        if let Some(constant) = schema.get("const") {
            return constant.clone();
        }
        if let Some(branches) = schema.get("oneOf").or_else(|| schema.get("anyOf")).and_then(Value::as_array)
        {
            let open: Vec<&Value> = branches.iter().filter(|branch| branch["type"] != "null").collect();
            let mut branch = open[self.choose(open.len())].clone();
            for key in ["x-edgeplane-min", "x-edgeplane-max"] {
                if let Some(bound) = schema.get(key) {
                    branch[key] = bound.clone();
                }
            }
            return self.value(&branch);
        }
        if let Some(pattern) = schema.get("pattern").and_then(Value::as_str) {
            return self.word(schema["description"].as_str().unwrap_or_default(), pattern);
        }
        let kind = match &schema["type"] {
            Value::Array(kinds) => kinds[0].as_str().unwrap_or_default(),
            kind => kind.as_str().unwrap_or_default(),
        };
        match kind {
            "boolean" => (self.choose(2) == 1).into(),
            "integer" => {
                let bound = if self.choose(2) == 0 { "minimum" } else { "maximum" };
                schema[bound].clone()
            }
            "string" => ["x", "two words", "é\n\t", "007", "~"][self.choose(5)].into(),
            "array" => {
                let min = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
                let unique = schema.get("uniqueItems").is_some();
                let count =
                    usize::try_from(min).unwrap() + if unique { self.choose(2) } else { self.choose(3) };
                (0..count).map(|_| self.value(&schema["items"].clone())).collect()
            }
            _ => self.object(schema),
        }
    }

    fn object(&mut self, schema: &Value) -> Value {
        let mut made = Map::new();
        if let Some(free) = schema.get("patternProperties").and_then(Value::as_object) {
            for (_, inner) in free.iter().take(self.choose(2)) {
                made.insert("KEY".to_owned(), self.value(&inner.clone()));
            }
            return made.into();
        }
        if schema.get("properties").is_none() {
            return json!({});
        }
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for (key, inner) in schema["properties"].as_object().unwrap() {
            if required.contains(&key.as_str()) || self.choose(4) == 1 {
                made.insert(key.clone(), self.value(&inner.clone()));
            }
        }
        made.into()
    }

    fn word(&mut self, description: &str, pattern: &str) -> Value {
        let examples: &[&str] = match description {
            text if text.contains("cron expression") => &["0 9 * * mon-fri", "*/10 * * * * *"],
            text if text.contains("time zone") => &["UTC", "Europe/Berlin"],
            text if text.contains("local time") => &["2026-12-01T09:00:00", "2026-12-01T09:00:00Z"],
            text if text.contains("moment with its offset") => &["2026-12-01T09:00:00+01:00"],
            text if text.contains("span of time") => &["1s", "90s", "1h"],
            text if text.contains("a size") => &["64MiB", "1G"],
            text if text.contains("share of processors") => &["1.5", "20m"],
            text if text.contains("`*` for any of them") => &["*", "read_*", "issues/list"],
            text if text.contains("variable name") => &["KEY", "OTHER"],
            text if text.contains("path") => &["/x/y", "./z", "z"],
            text if text.contains("sha256") => {
                return format!("sha256:{}", "0a".repeat(32)).into();
            }
            text if text.contains("media type") => &["text/plain"],
            text if text.contains("signal") => &["SIGINT", "15"],
            text if text.contains("to type") => &["\r", "\u{1b}x"],
            text if text.contains("user") => &["agents", "1000"],
            text if text.contains("label")
                || text.contains("lower-case")
                || text.contains("characters A-Z") =>
            {
                &["a", "b-1"]
            }
            other => panic!("no example for {other:?} {pattern}"),
        };
        examples[self.choose(examples.len())].into()
    }
}

/// Reads an agent and holds it to coming back equal from each of its forms.
fn read_agent(made: &Value) -> Result<(), Vec<Problem>> {
    let manifest = Manifest::from_json(made)?;
    assert_eq!(parse("text", &manifest.canonical_text()), Ok(vec![manifest.clone()]));
    assert_eq!(Manifest::from_json(&manifest.canonical_json()), Ok(manifest));
    Ok(())
}

/// The same for a schedule.
fn read_schedule(made: &Value) -> Result<(), Vec<Problem>> {
    let manifest = ScheduleManifest::from_json(made)?;
    let text = manifest.canonical_text();
    let set = parse_set(&[SourceFile { name: "text", text: &text }])?;
    assert_eq!(set.schedules[0].manifest, manifest);
    assert_eq!(ScheduleManifest::from_json(&manifest.canonical_json()).as_ref(), Ok(&manifest));
    assert!(manifest.spec.body.timing.due().is_some());
    let body: ScheduleBody = serde_json::from_value(manifest.spec.body.canonical_json()).unwrap();
    assert_eq!(body, manifest.spec.body);
    Ok(())
}

/// The same for a connector.
fn read_connector(made: &Value) -> Result<(), Vec<Problem>> {
    let manifest = ConnectorManifest::from_json(made)?;
    let text = manifest.canonical_text();
    let set = parse_set(&[SourceFile { name: "text", text: &text }])?;
    assert_eq!(set.connectors[0].manifest, manifest);
    assert_eq!(ConnectorManifest::from_json(&manifest.canonical_json()).as_ref(), Ok(&manifest));
    Ok(())
}

/// The same for an automation.
fn read_automation(made: &Value) -> Result<(), Vec<Problem>> {
    let manifest = AutomationManifest::from_json(made)?;
    let text = manifest.canonical_text();
    let set = parse_set(&[SourceFile { name: "text", text: &text }])?;
    assert_eq!(set.automations[0].manifest, manifest);
    assert_eq!(AutomationManifest::from_json(&manifest.canonical_json()).as_ref(), Ok(&manifest));
    Ok(())
}

/// The same for a workflow.
fn read_workflow(made: &Value) -> Result<(), Vec<Problem>> {
    let manifest = WorkflowManifest::from_json(made)?;
    let text = manifest.canonical_text();
    let set = parse_set(&[SourceFile { name: "text", text: &text }])?;
    assert_eq!(set.workflows[0].manifest, manifest);
    assert_eq!(WorkflowManifest::from_json(&manifest.canonical_json()).as_ref(), Ok(&manifest));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_or_refused(text in ".{0,200}") {
        check_problems(&text, &parse("any", &text));
    }

    #[test]
    fn any_heap_of_pieces_is_read_or_refused(pieces in prop::collection::vec(piece(), 0..60)) {
        let text = pieces.concat();
        check_problems(&text, &parse("any", &text));
    }

    #[test]
    fn a_mutated_manifest_is_read_or_refused(mutations in prop::collection::vec(mutation(), 1..4)) {
        let text = mutate(FULL, &mutations);
        let result = parse("mutated", &text);
        check_problems(&text, &result);
        for manifest in result.unwrap_or_default() {
            prop_assert_eq!(Manifest::from_json(&manifest.canonical_json()), Ok(manifest));
        }
    }

    #[test]
    fn what_the_schema_describes_is_read_and_comes_back_equal(choices in prop::collection::vec(any::<u8>(), 0..400)) {
        let root = schema().to_value();
        let made = Maker { root: &root, choices, next: 0 }.value(&root);
        let read = match made["kind"].as_str() {
            Some("Schedule") => read_schedule(&made),
            Some("Connector") => read_connector(&made),
            Some("Automation") => read_automation(&made),
            Some("Workflow") => read_workflow(&made),
            _ => read_agent(&made),
        };
        match read {
            Ok(()) => {}
            // What is left to refuse are relations between fields, which no schema describes.
            Err(problems) => for problem in problems {
                let related = [
                    "second time", "spec.secrets", "no variable hands over", "each variable from one place", "would not get",
                    "longest wait", "at least one of exec", "native driver", "one segment", "the agent itself", "a program",
                    "as an entry of its own", "one of cron, every, at", "one of command, url", "goes on with its own session", "for each server of tools", "beside `command`", "beside `url`", "beside `every`", "shorter than `every`",
                    "of an agent that remembers", "beside `http`", "an address with `http://`", "{prompt}", "{session}", "beside it", "a JSON pointer",
                                        "the name of an event", "one of `agent` and `forLabels`",
                    "one of `tokenUrl` and `issuer`", "one of `agent` and `labels`", "a step of this workflow", "no circle of steps", "whose `type` is `object`", "${input.KEY}", "that `input` describes", "that `dependsOn` names", "each step's name once", "or `permission_request`", "or `post_tool_failure`", "an address", "a reference to it",
                ];
                let message = problem.to_string();
                prop_assert!(related.iter().any(|part| message.contains(part)), "{}", message);
            },
        }
    }
}

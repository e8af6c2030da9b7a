//! Right manifests: defaults, canonical form, schema, examples, paths.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::path::{Path, PathBuf};

use edgeplane_manifest::{
    BACKOFF_MAX, Driver, Due, DurationMs, EXEC_TIMEOUT, EnvName, ExecOutput, FilePath, Manifest, OneShot,
    PromptBy, RestartPolicy, RunState, ScheduleManifest, SecretForm, SourceFile, StateKind, TERMINAL_COLS,
    TerminalSize, parse, parse_set, schema, terminal_interrupt, terminal_submit,
};
use serde_json::Value;

const SHELL: &str = include_str!("../../../examples/manifests/shell.yaml");
const PAIR: &str = include_str!("../../../examples/manifests/pair.yaml");
const FULL: &str = include_str!("../../../examples/manifests/full.yaml");
const SCHEMA_FILE: &str = include_str!("../../../spec/manifest.schema.json");

fn read(text: &str) -> Vec<Manifest> {
    parse("example.yaml", text).unwrap_or_else(|problems| {
        panic!("{}", problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    })
}

fn one(text: &str) -> Manifest {
    read(text).remove(0)
}

fn spec(lines: &str) -> Manifest {
    one(&format!(
        "apiVersion: edgeplane.dev/v1alpha1\nkind: Agent\nmetadata: {{name: a}}\nspec:\n  driver: {{type: native}}\n  \
         command: [run]\n{lines}"
    ))
}

fn path(text: &str) -> FilePath {
    text.parse().unwrap()
}

#[test]
fn smallest_manifest_gets_every_default() {
    let shell = one(SHELL);
    assert_eq!(shell.metadata.name.as_str(), "shell");
    assert_eq!(shell.spec.restart.policy, RestartPolicy::Always);
    assert_eq!(shell.spec.restart.backoff.max, BACKOFF_MAX);
    assert_eq!(shell.spec.terminal, TerminalSize { cols: TERMINAL_COLS, rows: 24 });
    assert_eq!((shell.spec.run, shell.spec.state), (RunState::Running, StateKind::Stateful));
    assert!(shell.spec.no_new_privs && shell.spec.env.is_empty() && shell.spec.health.is_none());
    let Driver::Terminal { comment: None, submit, interrupt, accepts, hooks: true, .. } = &shell.spec.driver
    else {
        panic!("{:?}", shell.spec.driver)
    };
    assert_eq!(*submit, terminal_submit());
    assert_eq!(submit.as_str(), "\r");
    assert_eq!(*interrupt, terminal_interrupt());
    assert_eq!((interrupt.as_str(), accepts.as_str()), ("\u{3}", "delegated"));
}

#[test]
fn examples_are_right_and_the_full_one_has_every_key() {
    assert_eq!(read(PAIR).len(), 2);
    assert_eq!(read(FULL).len(), 1);
    let mut keys = Vec::new();
    collect_keys(&schema().to_value(), &mut keys);
    assert!(keys.len() > 80, "{keys:?}");
    for key in keys {
        let shown = FULL.contains(&format!("{key}:"));
        assert!(shown, "the full example lacks `{key}`");
    }
}

/// Every manifest below a folder.
fn manifests(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(manifests(&path));
        } else if path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml") {
            found.push(path);
        }
    }
    found
}

#[test]
fn every_example_is_right_and_says_what_it_is() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let found = manifests(&folder);
    for name in ["briefing.yaml", "notes.yaml", "shell.yaml", "manifests/full.yaml"] {
        assert!(found.contains(&folder.join(name)), "{name} is not among {found:?}");
    }
    for path in found {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.display().to_string();
        let set = parse_set(&[SourceFile { name: &name, text: &text }]).unwrap_or_else(|problems| {
            panic!("{}", problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
        });
        let declares = !set.agents.is_empty() || !set.workflows.is_empty() || !set.automations.is_empty();
        assert!(declares, "{name} declares nothing");
        assert!(text.starts_with('#'), "{name} does not begin with what it is for");
    }
}

fn collect_keys(schema: &Value, keys: &mut Vec<String>) {
    match schema {
        Value::Object(entries) => {
            for (name, inner) in entries {
                if let (true, Value::Object(properties)) = (name == "properties", inner) {
                    keys.extend(properties.keys().cloned());
                }
                collect_keys(inner, keys);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_keys(item, keys)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn full_example_shows_the_defaults_where_it_says_so() {
    let (full, plain) = (one(FULL).canonical_json(), spec("").canonical_json());
    let kept = [
        "driver",
        "terminal",
        "substrate",
        "run",
        "state",
        "restart",
        "stop",
        "noNewPrivs",
        "delivery",
        "inbox",
        "recording",
        "memory",
        "risk",
    ];
    for key in kept {
        assert_eq!(full["spec"][key], plain["spec"][key], "{key}");
    }
}

/// Proves SCH-016.
#[test]
fn a_schedule_says_the_same_inside_its_agent_and_apart() {
    let lines = "cron: 0 9 * * *, content: hello, timeZone: Europe/Berlin, deadline: 60m";
    let inline = spec(&format!("  schedules: [{{name: morning, {lines}}}]\n")).spec.schedules.remove(0);
    let text = format!(
        "apiVersion: edgeplane.dev/v1alpha1\nkind: Schedule\nmetadata: {{name: morning}}\nspec: {{agent: a, {lines}}}\n"
    );
    let mut set = parse_set(&[SourceFile { name: "s.yaml", text: &text }]).unwrap();
    assert!(set.agents.is_empty());
    let apart = set.schedules.remove(0);
    assert_eq!((apart.file.as_str(), apart.line), ("s.yaml", 1));
    assert_eq!(apart.manifest.spec.agent.as_str(), "a");
    assert_eq!((&apart.manifest.metadata.name, &apart.manifest.spec.body), (&inline.name, &inline.body));
    assert_eq!(apart.manifest.spec.body.digest(), inline.body.digest());
    assert!(matches!(inline.body.timing.due(), Some(Due::Cron(cron)) if cron.as_str() == "0 9 * * *"));
    assert_eq!(
        inline.body.canonical_json(),
        serde_json::json!({
            "cron": "0 9 * * *", "timeZone": "Europe/Berlin", "content": "hello", "catchUp": "last", "catchUpMax": 10,
            "jitter": "0s", "overlap": "skip", "deadline": "1h", "paused": false, "priority": "normal",
        })
    );
    // Each is read as what it is and not as the other.
    let json = apart.manifest.canonical_json();
    assert_eq!(ScheduleManifest::from_json(&json), Ok(apart.manifest));
    let problems = Manifest::from_json(&json).unwrap_err();
    assert_eq!(problems[0].to_string(), "manifest: kind: found `Schedule`, expected `Agent`");
    let problems = ScheduleManifest::from_json(&one(SHELL).canonical_json()).unwrap_err();
    assert_eq!(problems[0].to_string(), "manifest: kind: found `Agent`, expected `Schedule`");
}

#[test]
fn scalars_are_read_as_their_field_wants_them() {
    let manifest = one(
        "apiVersion: edgeplane.dev/v1alpha1\nkind: Agent\nmetadata: {name: on, version: 1.10, labels: {a: no}}\nspec:\n  \
         driver: {type: native}\n  command: [run, 007, 1e3, true, ~x]\n  env: {PORT: 8080, DEBUG: yes}\n  limits: {cpu: 1.5, \
         memory: 67108864}\n  stop: {signal: 2}\n  user: 1000\n  cwd:\n",
    );
    let json = manifest.canonical_json();
    assert_eq!(manifest.metadata.version.as_deref(), Some("1.10"));
    assert_eq!(json["spec"]["command"], serde_json::json!(["run", "007", "1e3", "true", "~x"]));
    assert_eq!(json["spec"]["env"], serde_json::json!({ "PORT": "8080", "DEBUG": "yes" }));
    assert_eq!(json["spec"]["limits"]["cpu"], "1500m");
    assert_eq!(json["spec"]["limits"]["memory"], "64MiB");
    assert_eq!(json["spec"]["stop"]["signal"], "SIGINT");
    assert_eq!(json["spec"]["user"], "1000");
}

#[test]
fn secrets_come_as_files_unless_the_manifest_asks() {
    let manifest = spec("  secrets: [{name: t, from: {env: T}}]\n  env: {TOKEN_FILE: {secret: t}}\n");
    assert_eq!(manifest.spec.secrets[0].form, SecretForm::File);
    assert!(manifest.spec.secrets[0].required);
}

/// Proves DRV-030.
#[test]
fn programs_that_end_with_each_turn_are_called_as_the_preset_or_the_manifest_says() {
    let shot = |more: &str| {
        let text = spec("").canonical_text().replace(r#""driver":{"stdio":"pipes","type":"native"}"#, more);
        OneShot::of(&one(&text).spec.driver).unwrap()
    };
    let plain = shot(r#""driver":{"type":"exec"}"#);
    assert_eq!(
        (plain.first, plain.resume, plain.prompt),
        (vec!["{prompt}".to_owned()], None, PromptBy::Argument)
    );
    assert_eq!((plain.output, plain.timeout), (ExecOutput::Text, EXEC_TIMEOUT));
    for preset in ["claude-code", "codex", "gemini"] {
        let known = shot(&format!(r#""driver":{{"type":"exec","preset":"{preset}","timeout":"5m"}}"#));
        assert_eq!((known.prompt, known.output), (PromptBy::Stdin, ExecOutput::StreamJson), "{preset}");
        assert!(known.resume.unwrap().contains(&"{session}".to_owned()), "{preset}");
        assert!(known.session.is_some() && known.lost.is_some(), "{preset}");
        assert_eq!(known.timeout, DurationMs::from_secs(300));
    }
    let own = shot(r#""driver":{"type":"exec","preset":"claude-code","first":["-p"],"lost":"gone"}"#);
    assert_eq!((own.first, own.lost.as_deref()), (vec!["-p".to_owned()], Some("gone")));
    assert_eq!(own.answer.as_deref(), Some("/result"));
}

#[test]
fn anchors_and_leading_comments_are_read() {
    let text = "\u{feff}# first\n%YAML 1.2\n---\napiVersion: edgeplane.dev/v1alpha1\nkind: Agent\nmetadata: {name: a}\nspec:\n  \
                driver: {type: native}\n  command: &c [run, \"it\"]\n  hooks: {preStart: {command: *c}}\n...\n# last\n";
    let manifest = one(text);
    assert_eq!(manifest.spec.hooks.pre_start.map(|hook| hook.command), Some(manifest.spec.command));
}

#[test]
fn canonical_form_depends_on_meaning_only() {
    let (left, right) = (
        spec("  stop: {grace: 10000ms}\n  dependsOn: [y, x]\n  env: {B: 1, A: 2}\n"),
        spec("  env: {A: '2', B: '1'}\n  dependsOn: [x, y]\n"),
    );
    assert_eq!(left, right);
    assert_eq!(left.canonical_text(), right.canonical_text());
    assert_eq!(left.digest(), right.digest());
    assert_ne!(left.digest(), spec("").digest());
    assert!(left.digest().as_str().starts_with("sha256:"));
}

#[test]
fn canonical_form_reads_back_equal_and_has_no_fractions() {
    for manifest in [one(SHELL), one(FULL), one(PAIR)] {
        let json = manifest.canonical_json();
        assert_eq!(Manifest::from_json(&json).as_ref(), Ok(&manifest));
        assert_eq!(parse("json.yaml", &manifest.canonical_text()).map(|mut all| all.remove(0)), Ok(manifest));
        assert!(!has_fraction(&json));
    }
}

fn has_fraction(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_f64(),
        Value::Array(items) => items.iter().any(has_fraction),
        Value::Object(entries) => entries.values().any(has_fraction),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}

#[test]
fn json_is_held_to_the_same_rules() {
    let mut json = one(SHELL).canonical_json();
    json["spec"]["restart"]["policy"] = "sometimes".into();
    let problems = Manifest::from_json(&json).unwrap_err();
    assert_eq!(
        problems[0].to_string(),
        "manifest: spec.restart.policy: found `sometimes`, expected one of always, on_failure, never"
    );
}

#[test]
fn schema_file_is_what_the_types_say() {
    let file: Value = serde_json::from_str(SCHEMA_FILE).unwrap();
    assert!(
        file == schema().to_value(),
        "run: cargo run -p edgeplane-manifest --example print_schema > spec/manifest.schema.json"
    );
}

#[test]
fn paths_are_meant_from_the_manifests_folder() {
    let manifest =
        spec("  cwd: ./work\n  secrets: [{name: t, from: {file: token}}]\n  env: {T: {secret: t}}\n");
    assert_eq!(manifest.relative_paths(), ["./work", "token"]);
    let resolved = manifest.resolved_from(&path("/srv/agents/")).unwrap();
    assert_eq!(resolved.spec.cwd, Some(path("/srv/agents/work")));
    assert_eq!(resolved.spec.command, ["run"], "a bare name is looked up in PATH");
    assert!(resolved.relative_paths().is_empty());
    assert_eq!(resolved.resolved_from(&path("/other")).as_ref(), Ok(&resolved));
}

#[test]
fn what_lies_inside_an_artifact_waits_until_it_is_unpacked() {
    let resolved = one(FULL).resolved_from(&path("/srv/agents")).unwrap();
    let json = resolved.canonical_json();
    assert_eq!(json["spec"]["deployment"]["artifact"]["path"], "/srv/agents/reviewer-1.4.0.tar");
    assert_eq!(json["spec"]["secrets"][0]["from"]["file"], "/srv/agents/token");
    assert_eq!(json["spec"]["command"][0], "./bin/reviewer");
    assert_eq!(resolved.relative_paths().len(), 8);
    let unpacked = resolved.resolved_in_artifact(&path("/var/unpacked")).unwrap();
    assert_eq!(unpacked.spec.command[0], "/var/unpacked/bin/reviewer");
    assert!(unpacked.relative_paths().is_empty());
}

#[test]
fn variables_of_the_daemon_need_a_name_in_the_manifest() {
    let name: EnvName = "OPENAI_BASE_URL".parse().unwrap();
    assert!(!edgeplane_manifest::is_env_passed(name.as_str()));
    assert!(spec("  inheritEnv: [OPENAI_BASE_URL]\n").spec.inherit_env.contains(&name));
    assert!(edgeplane_manifest::is_env_passed("LC_ALL") && edgeplane_manifest::is_env_passed("PATH"));
}

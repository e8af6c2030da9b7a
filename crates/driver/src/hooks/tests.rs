//! Hooks of programs: how they are set, and what their reports mean.

use serde_json::{Value, json};

use super::*;

fn words(all: &[&str]) -> Vec<String> {
    all.iter().map(|word| (*word).to_owned()).collect()
}

fn set(kind: HookKind, argv: &[&str], own: Option<&str>) -> Result<Setup, LeftAlone> {
    set_up(kind, ("/opt/it's/edgeplane", "/run/h.json"), &words(argv), own)
}

/// Proves TERM-020.
#[test]
fn each_program_is_told_by_its_own_flags() {
    let claude = set(HookKind::ClaudeCode, &["claude", "--model", "x"], None).unwrap();
    assert_eq!(claude.words, ["--settings", "/run/h.json"]);
    let file: Value = serde_json::from_str(claude.file.as_deref().unwrap()).unwrap();
    let command = file.pointer("/hooks/Stop/0/hooks/0/command").and_then(Value::as_str).unwrap();
    assert_eq!(command, r"'/opt/it'\''s/edgeplane' hook claude-code");
    let codex = set(HookKind::Codex, &["codex"], Some("model = \"x\"")).unwrap();
    assert_eq!((codex.file, codex.words[0].as_str()), (None, "-c"));
    let set_by_it: toml::Table = codex.words[1].parse().unwrap();
    assert_eq!(set_by_it["notify"][2].as_str(), Some("codex"));
    let argv = words(&["claude", "-p", "--", "say"]);
    assert_eq!(with_words(&argv, claude.words), ["claude", "-p", "--settings", "/run/h.json", "--", "say"]);
}

/// Proves TERM-021.
#[test]
fn what_its_user_has_set_is_left_alone() {
    let left = |kind, argv: &[&str], own| set(kind, argv, own).is_err();
    assert!(left(HookKind::ClaudeCode, &["claude", "--settings", "mine.json"], None));
    assert!(left(HookKind::ClaudeCode, &["claude", "--settings={}"], None));
    assert!(!left(HookKind::ClaudeCode, &["claude", "--setting-sources", "user"], None));
    for own in [
        &["codex", "-c", "notify=[\"x\"]"][..],
        &["codex", "-cnotify = []"],
        &["codex", "--config=notify=[]"],
    ] {
        assert!(left(HookKind::Codex, own, None), "{own:?}");
    }
    assert!(!left(HookKind::Codex, &["codex", "-c", "tui.notifications=true"], None));
    assert!(left(HookKind::Codex, &["codex"], Some("notify = ['x']\n[tui]\n")));
    assert!(!left(HookKind::Codex, &["codex"], Some("[tui]\nnotify = true\n")));
}

/// Proves TERM-022.
#[test]
fn a_session_goes_on_by_the_programs_own_words() {
    let resumed = |kind, argv: &[&str]| resume_words(kind, "s-1", &words(argv));
    assert_eq!(resumed(HookKind::ClaudeCode, &["claude"]), Some(words(&["--resume", "s-1"])));
    assert_eq!(resumed(HookKind::Codex, &["codex", "-m", "x"]), Some(words(&["resume", "s-1"])));
    assert_eq!(resumed(HookKind::ClaudeCode, &["claude", "-c"]), None);
    assert_eq!(resumed(HookKind::ClaudeCode, &["claude", "--resume=x"]), None);
    assert_eq!(resumed(HookKind::Codex, &["codex", "resume", "--last"]), None);
    assert_eq!(resume_words(HookKind::ClaudeCode, "--dangerous", &[]), None);
}

/// Proves TERM-014.
#[test]
fn reports_are_read_and_what_is_unknown_means_nothing() {
    let claude = |report: Value| read(HookKind::ClaudeCode, &report);
    let asked = json!({ "hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "a\r\nb " });
    let told = claude(asked).unwrap();
    let [Told::Prompt(prompt)] = told.as_slice() else { panic!("no prompt: {told:?}") };
    assert!(is_same(prompt, "a\nb") && !is_same(prompt, "a\nb c") && !is_same("", ""));
    let timer = json!({ "hook_event_name": "UserPromptSubmit", "prompt": "x", "source": "loop_wakeup" });
    assert_eq!(claude(timer), Ok(Vec::new()));
    assert_eq!(claude(json!({ "hook_event_name": "Invented" })), Ok(Vec::new()));
    assert_eq!(claude(json!([1])), Err(HookError::NoObject));
    assert_eq!(claude(json!({})), Err(HookError::Missing("hook_event_name")));
    assert_eq!(claude(json!({ "hook_event_name": "UserPromptSubmit" })), Err(HookError::Missing("prompt")));
    let leave = json!({ "hook_event_name": "PermissionRequest", "tool_name": "Bash", "tool_input": { "command": "ls" } });
    assert_eq!(claude(leave), Ok(vec![Told::Asks("leave to use Bash: ls".to_owned())]));
    let turn = json!({ "type": "agent-turn-complete", "thread-id": "t", "input-messages": ["before", "hi"],
        "last-assistant-message": "yes" });
    let told = read(HookKind::Codex, &turn).unwrap();
    let session = Told::Session { name: "t".to_owned(), way: Way::Untold };
    let ended = Told::TurnEnded { outcome: "agent-turn-complete", output: "yes".to_owned() };
    assert_eq!(told, [session, Told::Prompt("hi".to_owned()), ended]);
}

/// Proves TERM-018.
#[test]
fn long_uses_of_tools_are_shortened() {
    let long = "ü".repeat(1 << 20);
    let use_of = |input: Value| {
        let report = json!({ "hook_event_name": "PostToolUse", "tool_name": "Write", "tool_use_id": "c",
            "tool_input": input, "tool_response": { "content": long } });
        let mut told = read(HookKind::ClaudeCode, &report).unwrap();
        let Some(Told::Tool { value, status: "completed", .. }) = told.pop() else { panic!("no tool") };
        value
    };
    let value = use_of(json!({ "file_path": "/a" }));
    assert_eq!(value["title"], "Write: /a");
    assert!(
        value.to_string().len() < 40 << 10 && value["rawOutput"]["content"].as_str().unwrap().len() > 1000
    );
    let many = use_of(json!({ "all": vec![long.clone(); 20] }));
    assert!(many.get("rawInput").is_none() && many["title"] == "Write");
}

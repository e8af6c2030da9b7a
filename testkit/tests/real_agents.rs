//! Real agent programs against the scripted model server, without anything of EdgePlane between: what the rig can do,
//! and what each program really does. The facts are in docs/agents.md.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on ends at once")]

mod real_agents {
    pub(crate) mod peer;
    pub(crate) mod terminal;
}

use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
};

use edgeplane_testkit::{
    agents::{CodexMode, Launch, Programs},
    model::{Hold, ModelServer, Reply, Rule, Script},
};
use real_agents::{
    peer::{Peer, text_of},
    terminal::Terminal,
};
use serde_json::{Value, json};

/// A prompt that no program may change: a header as EdgePlane writes it, several lines, more than ASCII.
const HELLO: &str = "[PEER MESSAGE from edgeplane-signal-excalibur on signal]\nsay hello, please: zwölf ✓\n  and \"quote\" it";

/// How a program is to be dealt with.
struct Program {
    name: &'static str,
    launch: fn(&Programs, &Path, u16) -> Launch,
    authenticate: Option<&'static str>,
    /// What keeps a session from being loaded in the minute in which it began.
    before_load: fn(&Path),
    /// The reason to stop for when a permission is refused.
    refused: &'static str,
}

const CODEX: Program = Program {
    name: "codex-acp",
    launch: |programs, home, port| programs.codex_acp_in(CodexMode::ReadOnly, home, port),
    authenticate: None,
    before_load: |_| {},
    refused: "cancelled",
};

const GEMINI: Program = Program {
    name: "gemini --acp",
    launch: Programs::gemini_acp,
    authenticate: Some(Programs::GEMINI_AUTH_METHOD),
    before_load: move_to_another_minute,
    refused: "end_turn",
};

const CLAUDE: Program = Program {
    name: "claude-agent-acp",
    launch: Programs::claude_acp,
    authenticate: None,
    before_load: |_| {},
    refused: "end_turn",
};

/// Gemini names the file of a session by the minute in which it is opened, and writes over that of the same minute.
fn move_to_another_minute(home: &Path) {
    let mut moved = 0;
    for project in fs::read_dir(home.join(".gemini/tmp")).unwrap() {
        let Ok(chats) = fs::read_dir(project.unwrap().path().join("chats")) else { continue };
        for chat in chats {
            let path = chat.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            let (_, id) = name.rsplit_once('-').unwrap();
            fs::rename(&path, path.with_file_name(format!("session-2026-01-01T00-00-{id}"))).unwrap();
            moved += 1;
        }
    }
    assert_ne!(moved, 0, "gemini has kept a session");
}

/// Folders of one test: what the program may write, and where it works.
struct Folders {
    _dir: tempfile::TempDir,
    home: PathBuf,
    work: PathBuf,
}

fn folders() -> Folders {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let (home, work) = (root.join("home"), root.join("work"));
    fs::create_dir(&home).unwrap();
    fs::create_dir(&work).unwrap();
    Folders { _dir: dir, home, work }
}

/// Starts a program and makes it ready for sessions.
fn open(program: &Program, programs: &Programs, folders: &Folders, port: u16) -> Peer {
    let launch = (program.launch)(programs, &folders.home, port);
    let mut peer = Peer::start(&launch, &folders.home, &folders.work);
    let files = json!({ "readTextFile": false, "writeTextFile": false });
    let capabilities = json!({ "fs": files, "terminal": false });
    let params = json!({ "protocolVersion": 1, "clientCapabilities": capabilities });
    let initialized = peer.call("initialize", &params);
    assert_eq!(initialized["protocolVersion"], 1, "{initialized}");
    assert_eq!(initialized["agentCapabilities"]["loadSession"], true, "{initialized}");
    if let Some(method) = program.authenticate {
        peer.call("authenticate", &json!({ "methodId": method }));
    }
    peer
}

fn prompt(session: &Value, text: &str) -> Value {
    json!({ "sessionId": session, "prompt": [{ "type": "text", "text": text }] })
}

/// Says something and gives the reason why the turn stopped, with all that was said in it.
#[track_caller]
fn turn(peer: &mut Peer, session: &Value, text: &str) -> (String, Vec<Value>) {
    peer.take_updates();
    let result = peer.call("session/prompt", &prompt(session, text));
    (result["stopReason"].as_str().unwrap().to_owned(), peer.take_updates())
}

/// A whole conversation: text, a tool with leave and without, cancellation, and the same session in a new process.
fn converses(program: &Program) {
    let Some(programs) = Programs::find_or_skip(program.name) else { return };
    let hold = Hold::new();
    let server = ModelServer::start(
        Script::new()
            .rule(Rule::on("say hello").reply(Reply::new().text("Hel").text("lo there.")))
            .rule(Rule::on("make it").reply(Reply::new().shell_with_leave("touch made")).says("Made."))
            .rule(Rule::on("try it").reply(Reply::new().shell_with_leave("touch refused")).says("Not made."))
            .rule(Rule::on("be slow").reply(Reply::new().text("One").hold(&hold).text("two"))),
    );
    let folders = folders();
    let mut peer = open(program, &programs, &folders, server.port());
    let place = json!({ "cwd": folders.work, "mcpServers": [] });
    let session = peer.call("session/new", &place)["sessionId"].clone();

    let (reason, updates) = turn(&mut peer, &session, HELLO);
    assert_eq!(reason, "end_turn");
    let said = text_of(&updates, "agent_message_chunk");
    assert!(said.ends_with("Hello there."), "{said}");
    assert_eq!(server.received_prompts(), [HELLO]);

    asks_for_leave(program, &mut peer, &session, &folders);

    peer.take_updates();
    let slow = peer.begin("session/prompt", &prompt(&session, "be slow"));
    hold.wait_until_reached();
    peer.notify("session/cancel", &json!({ "sessionId": session }));
    let cancelled = peer.finish(slow).unwrap();
    assert_eq!(cancelled["stopReason"], "cancelled");
    hold.wait_until_abandoned();

    assert!(peer.end().success());
    (program.before_load)(&folders.home);
    loads(program, &programs, &folders, &server, &session);
    assert_eq!(server.received_prompts(), [HELLO, "make it", "try it", "be slow", HELLO]);
    assert_eq!(server.problems(), Vec::<String>::new());
    assert_eq!(server.strays(), Vec::<String>::new());
}

/// A tool runs when it is allowed, and does not when it is refused.
fn asks_for_leave(program: &Program, peer: &mut Peer, session: &Value, folders: &Folders) {
    let (reason, updates) = turn(peer, session, "make it");
    assert_eq!(reason, "end_turn");
    assert!(folders.work.join("made").exists());
    let asked = peer.take_permissions();
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert!(asked[0]["toolCall"].to_string().contains("touch made"), "{asked:?}");
    let said = text_of(&updates, "agent_message_chunk");
    assert!(said.ends_with("Made."), "{said}");

    peer.answer = "reject_once";
    let (reason, _) = turn(peer, session, "try it");
    assert_eq!(reason, program.refused);
    assert_eq!(peer.take_permissions().len(), 1);
    assert!(!folders.work.join("refused").exists());
}

/// A new process knows what was said in the old one, and goes on.
fn loads(program: &Program, programs: &Programs, folders: &Folders, server: &ModelServer, session: &Value) {
    let mut peer = open(program, programs, folders, server.port());
    let place = json!({ "sessionId": session, "cwd": folders.work, "mcpServers": [] });
    peer.call("session/load", &place);
    // Gemini answers first and replays then.
    peer.hear_until("replay", |updates| {
        let asked = text_of(updates, "user_message_chunk");
        let said = text_of(updates, "agent_message_chunk");
        asked.contains(HELLO)
            && asked.contains("make it")
            && said.contains("Hello there.")
            && said.contains("Made.")
    });
    let (reason, updates) = turn(&mut peer, session, HELLO);
    assert_eq!(reason, "end_turn");
    assert!(text_of(&updates, "agent_message_chunk").ends_with("Hello there."), "{updates:?}");
    let body = server.requests().pop().unwrap().body.to_string();
    assert!(body.contains("make it"), "the model is told what was said before");
}

#[test]
fn codex_acp_converses() {
    converses(&CODEX);
}

#[test]
fn gemini_acp_converses() {
    converses(&GEMINI);
}

#[test]
fn claude_acp_converses() {
    converses(&CLAUDE);
}

/// A program that answers one prompt says the scripted text, and the model gets exactly what was asked.
#[track_caller]
fn answers_once(name: &str, launch: fn(&Programs, &Path, u16, &str) -> Launch) {
    let Some(programs) = Programs::find_or_skip(name) else { return };
    let server = ModelServer::start(Script::new().rule(Rule::on("say hello").says("Hello there.")));
    let folders = folders();
    let launch = launch(&programs, &folders.home, server.port(), HELLO);
    let output = launch.command().current_dir(&folders.work).stdin(Stdio::null()).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {}\n{errors}", output.status);
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "Hello there.", "{errors}");
    assert_eq!(server.received_prompts(), [HELLO]);
}

#[test]
fn codex_exec_answers_once() {
    answers_once("codex exec", Programs::codex_exec);
}

#[test]
fn gemini_prompt_answers_once() {
    answers_once("gemini -p", Programs::gemini_prompt);
}

#[test]
fn claude_prompt_answers_once() {
    answers_once("claude -p", Programs::claude_prompt);
}

/// A program on a terminal shows the scripted text, and the model gets exactly what was typed.
#[track_caller]
fn answers_on_a_terminal(name: &str, ready: &str, launch: fn(&Programs, &Folders, u16) -> Launch) {
    let Some(programs) = Programs::find_or_skip(name) else { return };
    let server = ModelServer::start(Script::new().rule(Rule::on("say hello").says("Hello there.")));
    let folders = folders();
    let launch = launch(&programs, &folders, server.port());
    let mut terminal = Terminal::start(&launch, &folders.work);
    terminal.wait_for(ready);
    terminal.enter("say hello, please");
    terminal.wait_for("Hello there.");
    assert_eq!(server.received_prompts(), ["say hello, please"]);
}

#[test]
fn codex_answers_on_a_terminal() {
    answers_on_a_terminal("codex", "Ask Codex to do anything", |programs, folders, port| {
        programs.codex(&folders.home, &folders.work, port)
    });
}

#[test]
fn gemini_answers_on_a_terminal() {
    answers_on_a_terminal("gemini", "Type your message", |programs, folders, port| {
        programs.gemini(&folders.home, port)
    });
}

#[test]
fn claude_answers_on_a_terminal() {
    answers_on_a_terminal("claude", "❯", |programs, folders, port| {
        programs.claude(&folders.home, &folders.work, port)
    });
}

/// A program that nobody has configured says so, at the latest when it is prompted, and is not blamed for it.
#[track_caller]
fn wants_to_be_authenticated(program: &Program, credentials: &[&str]) {
    let Some(programs) = Programs::find_or_skip(program.name) else { return };
    let folders = folders();
    let mut launch = (program.launch)(&programs, &folders.home, 9);
    launch.env.retain(|(name, _)| !credentials.contains(&name.as_str()));
    for settings in [".codex", ".gemini"] {
        let _none = fs::remove_dir_all(folders.home.join(settings));
    }
    let mut peer = Peer::start(&launch, &folders.home, &folders.work);
    peer.call("initialize", &json!({ "protocolVersion": 1, "clientCapabilities": {} }));
    let place = json!({ "cwd": folders.work, "mcpServers": [] });
    let error = match peer.try_call("session/new", &place) {
        Ok(session) => {
            peer.try_call("session/prompt", &prompt(&session["sessionId"], "say hello")).unwrap_err()
        }
        Err(error) => error,
    };
    assert_eq!(error["code"], -32000, "{error}");
}

#[test]
fn codex_acp_wants_to_be_authenticated() {
    wants_to_be_authenticated(&CODEX, &[]);
}

#[test]
fn gemini_acp_wants_to_be_authenticated() {
    wants_to_be_authenticated(&GEMINI, &["GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"]);
}

#[test]
fn claude_acp_wants_to_be_authenticated() {
    wants_to_be_authenticated(&CLAUDE, &["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"]);
}

//! A node with somebody to be deceived, and those who try.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    fs,
    io::{Read as _, Seek as _, SeekFrom},
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use edgeplane_os::proc;
use edgeplane_testkit::{
    Connection, Node, native, terminal,
    wait::{eventually, eventually_some},
};
use edgeplane_types::{ErrorName, Rung, Scope, TokenKind};
use edgeplane_wire::{
    api::{
        Empty,
        core::InitializeParams,
        security::{CreateParams, CreateResult},
        stream::{EventView, ReplayParams},
    },
    catalogue::{CoreInitialize, TokenCreate, TokenEpoch},
    rpc::{Incoming, RpcError},
};
use serde_json::{Value, json};

/// What the node answers to an attempt.
pub(crate) type Answer = Result<Value, RpcError>;

const INSIDE: &str = include_str!("inside.py");

/// What the node types before its own lines.
pub(crate) const COMMENT: &str = "# ";

/// The node, and who is on it: `reader` is a native program that is to be deceived, `typed` and `lines` are terminals,
/// `mallory` is the attacker, `ghost` has an epoch that is over. A stranger stands under a shim that is nobody's.
pub(crate) struct Stage {
    pub(crate) node: Node,
    stranger: Child,
    own: RefCell<Connection>,
    strange: RefCell<Connection>,
    heard: RefCell<Heard>,
    typed_before: Cell<usize>,
    known_before: Cell<u64>,
    number: Cell<u64>,
    /// The token of an epoch of `ghost` that is over.
    pub(crate) dead_token: String,
}

/// The lines that `reader` was handed, by the message.
#[derive(Default)]
struct Heard {
    read_to: u64,
    lines: HashMap<String, Value>,
}

impl Drop for Stage {
    fn drop(&mut self) {
        drop(self.stranger.stdin.take());
        drop(self.stranger.wait());
    }
}

impl Stage {
    pub(crate) fn set() -> Self {
        let node = Node::start();
        let home = node.scratch();
        fs::write(home.join("inside.py"), INSIDE).unwrap();
        fs::write(home.join("run"), "\"$@\"\ntrue\n").unwrap();
        let once = "restart: { policy: never }\n";
        let keep = format!("exec cat >> {}", home.join("reader.log").display());
        node.run("reader", &native("reader", &["/bin/sh", "-c", &keep], "subscriptions: [news]\n"));
        let raw = format!(
            "stty raw -echo; touch {}; exec cat >> {}",
            home.join("typed.ready").display(),
            home.join("typed.keys").display()
        );
        let driver = format!("type: terminal, comment: '{COMMENT}', accepts: untrusted");
        let text = terminal("typed", &["/bin/sh", "-c", &raw], once);
        node.run("typed", &text.replace("type: terminal", &driver));
        node.run("lines", &terminal("lines", &["/bin/cat"], once));
        node.run("ghost", &terminal("ghost", &["/bin/cat"], once));
        let dead_token = epoch_token(&node, "ghost");
        node.stop("ghost");
        let program = home.join("inside.py");
        let argv = ["python3", &*program.to_string_lossy(), "serve", &*home.to_string_lossy(), "mallory"];
        node.run("mallory", &native("mallory", &argv, once));
        let stranger = stranger(&home);
        for file in ["typed.ready", "mallory.sock", "stranger.sock"] {
            eventually("those on the stage are ready", || home.join(file).exists());
        }
        let own = through(&home.join("mallory.sock"), &json!({}));
        let strange = through(&home.join("stranger.sock"), &json!({ "to": node.socket() }));
        let stage = Self {
            node,
            stranger,
            own: RefCell::new(own),
            strange: RefCell::new(strange),
            heard: RefCell::default(),
            typed_before: Cell::new(0),
            known_before: Cell::new(0),
            number: Cell::new(0),
            dead_token,
        };
        stage.mark();
        stage
    }

    pub(crate) fn main(&self) -> String {
        self.node.socket().to_string_lossy().into_owned()
    }

    /// What the kernel makes of the operator.
    pub(crate) fn uid(&self) -> String {
        format!("uid-{}", proc::uid(std::process::id()).unwrap())
    }

    /// A number that was not used before.
    pub(crate) fn number(&self) -> u64 {
        self.number.replace(self.number.get() + 1)
    }

    /// A conversation that a process in the attacker holds.
    pub(crate) fn inside(&self, way: &Value) -> Connection {
        through(&self.node.scratch().join("mallory.sock"), way)
    }

    /// The socket of an agent's epoch.
    pub(crate) fn socket_of(&self, agent: &str) -> String {
        self.node.get(agent).status.identities.network.socket.unwrap()
    }

    /// Where a process is written down that is to be in an agent's group, if there are groups.
    pub(crate) fn group_of(&self, agent: &str) -> Option<String> {
        let group = self.node.get(agent).status.identities.process.cgroup?;
        let procs = format!("{group}/work/cgroup.procs");
        Path::new(&procs).is_file().then_some(procs)
    }

    /// Says something as the attacker, over the socket of its own epoch.
    pub(crate) fn say(&self, more: Value) -> Answer {
        signal(&mut self.own.borrow_mut(), more)
    }

    /// Asks for any method as the attacker, over the socket of its own epoch.
    pub(crate) fn ask(&self, method: &str, params: Value) -> Answer {
        self.own.borrow_mut().try_raw(method, params)
    }

    /// Says something as the one of whom nothing is proven.
    pub(crate) fn say_strange(&self, more: Value) -> Answer {
        signal(&mut self.strange.borrow_mut(), more)
    }

    /// A conversation of the one of whom nothing is proven.
    pub(crate) fn strange(&self) -> Connection {
        through(&self.node.scratch().join("stranger.sock"), &json!({ "to": self.main() }))
    }

    /// Runs the command line in the attacker; what the node said is its JSON.
    pub(crate) fn cli_inside(&self, args: &[&str], env: &Value) -> Answer {
        let cli = self.node.binaries().cli.to_string_lossy().into_owned();
        let argv: Vec<&str> = [cli.as_str()].into_iter().chain(args.iter().copied()).collect();
        let mut connection = connect(&self.node.scratch().join("mallory.sock"));
        write_line(&mut connection, &json!({ "run": argv, "env": env }));
        let done = read_line(connection);
        assert_eq!(done["code"], 0, "{done}");
        Ok(serde_json::from_str(done["out"].as_str().unwrap()).unwrap())
    }

    /// Writes bytes as a line of the attacker's on its own socket; gives the first answer.
    pub(crate) fn line(&self, line: &[u8]) -> Answer {
        let mut connection = self.inside(&json!({}));
        // Who is refused before the end of its line still learns why.
        drop(connection.send(line).and_then(|()| connection.send(b"\n")));
        match connection.read()? {
            Incoming::Response { outcome, .. } => outcome.map(|raw| serde_json::from_str(raw.get()).unwrap()),
            other => panic!("no answer: {other:?}"),
        }
    }

    /// Has the attacker's program print lines, and waits until the node has handled them all.
    pub(crate) fn print(&self, lines: &[Value]) {
        let id = format!("after-{}", self.number());
        let last = json!({ "jsonrpc": "2.0", "id": id, "method": "core/health", "params": {} });
        let all: Vec<String> = lines.iter().chain([&last]).map(Value::to_string).collect();
        let mut connection = connect(&self.node.scratch().join("mallory.sock"));
        write_line(&mut connection, &json!({ "say": format!("{}\n", all.join("\n")) }));
        read_line(connection);
        self.answered(&id);
    }

    /// Asks for a method over the attacker's own lines.
    pub(crate) fn drive(&self, method: &str, params: &Value) -> Answer {
        let id = format!("drive-{}", self.number());
        self.print(&[json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })]);
        let line = self.answered(&id);
        match line.get("error") {
            Some(error) => Err(serde_json::from_value(error.clone()).unwrap()),
            None => Ok(line["result"].clone()),
        }
    }

    fn answered(&self, id: &str) -> Value {
        eventually_some("the attacker's program is answered", || {
            let text = fs::read_to_string(self.node.scratch().join("mallory.log")).unwrap_or_default();
            let mut lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
            lines.find(|line| line["id"] == id)
        })
    }

    /// Gives the attacker a message to be busy with, from the operator or a stranger; gives its id.
    pub(crate) fn busy_with(&self, is_operators: bool, more: Value) -> String {
        let more = with(json!({ "agent": "mallory", "wait": "injected" }), more);
        let sent = if is_operators { signal(&mut self.node.connect(), more) } else { self.say_strange(more) };
        sent.unwrap()["message_id"].as_str().unwrap().to_owned()
    }

    /// Ends the turn of a message of the attacker.
    pub(crate) fn done_with(&self, message_id: &str) {
        let params = json!({ "message_id": message_id, "output": "done" });
        self.print(&[json!({ "jsonrpc": "2.0", "method": "agent/turn.complete", "params": params })]);
    }

    /// Lets the operator's words be the last that the attacker was busy with, so that it can weigh what an agent can.
    pub(crate) fn unburden(&self) {
        let id = self.busy_with(true, json!({}));
        self.done_with(&id);
    }

    /// A message of the operator for `reader`.
    pub(crate) fn operators(&self, text: &str) -> String {
        self.node.signal("reader", text, Some(Rung::Injected)).message_id.to_string()
    }

    pub(crate) fn token(&self, principal: &str, kind: TokenKind, scopes: &[Scope]) -> CreateResult {
        let params = CreateParams {
            principal: principal.parse().unwrap(),
            kind,
            scopes: scopes.to_vec(),
            roles: Vec::new(),
            expires_in_ms: None,
            remote: false,
        };
        self.node.connect().call::<TokenCreate>(&params)
    }

    pub(crate) fn epoch_token(&self, agent: &str) -> String {
        epoch_token(&self.node, agent)
    }

    /// The events since the last mark.
    pub(crate) fn since(&self) -> Vec<EventView> {
        self.events_after(self.known_before.get())
    }

    /// What has happened until now is another attempt's.
    pub(crate) fn mark(&self) {
        let newest = self.since().last().map(|view| view.pos);
        self.known_before.set(newest.unwrap_or(self.known_before.get()));
    }

    fn events_after(&self, after: u64) -> Vec<EventView> {
        self.node.events_by(ReplayParams { after: Some(after), ..ReplayParams::default() })
    }

    /// The line by which the native program was handed a message.
    pub(crate) fn handed(&self, message_id: &str) -> Value {
        eventually_some("the message was read", || {
            let mut heard = self.heard.borrow_mut();
            heard.read_on(&self.node.scratch().join("reader.log"));
            heard.lines.get(message_id).cloned()
        })
    }

    /// Every text that the native program was handed.
    pub(crate) fn all_handed(&self) -> Vec<String> {
        let heard = self.heard.borrow();
        heard.lines.values().map(|line| line["params"]["text"].as_str().unwrap().to_owned()).collect()
    }

    /// What was typed since the last time, without the operator's word that ends it.
    pub(crate) fn typed(&self) -> String {
        let end = format!("end {}", self.number());
        self.node.signal("typed", &end, Some(Rung::Injected));
        let end = format!("{COMMENT}[OPERATOR MESSAGE from {} on signal]\r{end}\r", self.uid());
        let path = self.node.scratch().join("typed.keys");
        let from = self.typed_before.get();
        let keys = eventually_some("it was typed", || {
            let keys = fs::read(&path).unwrap_or_default();
            keys.get(from..).filter(|keys| keys.ends_with(end.as_bytes())).map(<[u8]>::to_vec)
        });
        self.typed_before.set(from + keys.len());
        let text = String::from_utf8(keys).unwrap();
        let text = text.strip_suffix(&end).unwrap();
        text.strip_suffix('\r').unwrap_or(text).replace('\r', "\n")
    }
}

impl Heard {
    fn read_on(&mut self, path: &Path) {
        let Ok(mut file) = fs::File::open(path) else { return };
        file.seek(SeekFrom::Start(self.read_to)).unwrap();
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).unwrap();
        let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n') else { return };
        self.read_to += u64::try_from(end + 1).unwrap();
        for line in bytes[..end].split(|byte| *byte == b'\n') {
            let line: Value = serde_json::from_slice(line).unwrap();
            if line["method"] == "agent/message.deliver" {
                let id = line["params"]["message_id"].as_str().unwrap().to_owned();
                assert!(self.lines.insert(id, line).is_none(), "a message was handed over twice");
            }
        }
    }
}

/// Somebody of whom nothing is proven: what calls itself a shim stands above it, and is none of this node's.
fn stranger(home: &Path) -> Child {
    Command::new("/bin/sh")
        .arg0("edgeplane-shim")
        .args(["run", "python3", "inside.py", "serve"])
        .args([home.as_os_str(), "stranger".as_ref()])
        .current_dir(home)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

fn connect(path: &Path) -> std::os::unix::net::UnixStream {
    std::os::unix::net::UnixStream::connect(path).unwrap()
}

fn write_line(connection: &mut std::os::unix::net::UnixStream, line: &Value) {
    std::io::Write::write_all(connection, format!("{line}\n").as_bytes()).unwrap();
}

fn read_line(connection: std::os::unix::net::UnixStream) -> Value {
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(connection), &mut line).unwrap();
    serde_json::from_str(&line).unwrap()
}

fn through(path: &Path, way: &Value) -> Connection {
    let mut connection = Connection::open(path).unwrap();
    connection.send(format!("{way}\n").as_bytes()).unwrap();
    connection
}

fn epoch_token(node: &Node, agent: &str) -> String {
    let path = PathBuf::from(node.get(agent).status.identities.network.socket.unwrap());
    Connection::open(&path).unwrap().call::<TokenEpoch>(&Empty {}).token
}

/// Fields, and others in their place.
pub(crate) fn with(mut params: Value, more: Value) -> Value {
    let Value::Object(more) = more else { panic!("fields: {more}") };
    params.as_object_mut().unwrap().extend(more);
    params
}

pub(crate) fn text(words: &str) -> Value {
    json!([{ "type": "text", "text": words }])
}

/// Sends a message to `reader`, or as `more` says.
pub(crate) fn signal(connection: &mut Connection, more: Value) -> Answer {
    let params = with(json!({ "agent": "reader", "parts": text("hello") }), more);
    connection.try_raw("runtime/agent.signal", params)
}

/// Shows a token and says something.
pub(crate) fn signal_by(mut connection: Connection, token: &str, more: Value) -> Answer {
    show(&mut connection, token)?;
    signal(&mut connection, more)
}

pub(crate) fn show(connection: &mut Connection, token: &str) -> Result<(), RpcError> {
    let params = InitializeParams { token: Some(token.to_owned()), ..InitializeParams::default() };
    connection.try_call::<CoreInitialize>(&params).map(drop)
}

/// An attempt that this machine does not allow.
pub(crate) fn not_here(why: &str) -> Answer {
    Err(RpcError::new(ErrorName::Unsupported, format!("SKIPPED: {why}")))
}

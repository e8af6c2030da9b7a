//! Replacing a neighbour changes neither the log, nor the catalogue, nor a read model.
//!
//! One script is played with every neighbour as it is by default, and then with each replaced by its double, and with
//! all of them. What differs between two runs of the very same is not compared: ids, times, processes, keys.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on ends at once")]

#[path = "neighbours/seen.rs"]
mod seen;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use edgeplane_connector::{Call, Connector, Limits, Listening, MemoryServers, OfferKind, Program, Target};
use edgeplane_neighbour::{
    artifact::MemoryArtifacts,
    context::{Document, MemoryContexts},
    evidence::MemoryEvidence,
    model::{MemoryModels, Model},
    peer::MemoryPeers,
    surface::MemoryInterface,
};
use edgeplane_node::{Config, GivenHost, Host, Neighbours, Node, Observer};
use edgeplane_os::{dirs::StateDirs, proc};
use edgeplane_policy::CountingEngine;
use edgeplane_testkit::{Binaries, Connection, mcp, task_worker};
use edgeplane_types::NodeName;
use seen::Seen;
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

/// The nine.
const NEIGHBOURS: [&str; 9] =
    ["interface", "models", "servers", "peers", "policy", "artifacts", "contexts", "evidence", "host"];

/// The text that every store of contexts has.
const TEXT: &str = "# Retries\n\nA retry waits, and the wait doubles.\n";

/// A host that counts how often it is asked.
#[derive(Debug)]
struct CountingHost(GivenHost, AtomicU64);

impl Host for CountingHost {
    fn name(&self) -> Option<NodeName> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.name()
    }

    fn environment(&self) -> HashMap<String, String> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.environment()
    }

    fn observer(&self) -> Option<Arc<dyn Observer>> {
        self.0.observer()
    }
}

fn given(name: &str) -> GivenHost {
    let named = |name: &str| std::env::var(name).ok().map(|value| (name.to_owned(), value));
    let environment = ["PATH", "HOME"].into_iter().filter_map(named).collect();
    GivenHost { name: Some(name.parse().unwrap()), environment, observer: None }
}

/// A double for each.
struct Doubles {
    interface: Arc<MemoryInterface>,
    models: Arc<MemoryModels>,
    servers: Arc<MemoryServers>,
    peers: Arc<MemoryPeers>,
    policy: Arc<CountingEngine>,
    artifacts: Arc<MemoryArtifacts>,
    contexts: Arc<MemoryContexts>,
    evidence: Arc<MemoryEvidence>,
    host: Arc<CountingHost>,
}

impl Doubles {
    /// What they say is what the defaults say, as far as it is recorded.
    fn new(stage: &Stage, text: &str) -> Self {
        let document =
            Document { title: "Retries".into(), media_type: "text/markdown".into(), text: text.to_owned() };
        let servers = MemoryServers::default();
        stage.teach(&servers);
        Self {
            interface: Arc::default(),
            models: Arc::new(MemoryModels::new(vec![Model { id: "other".to_owned(), title: None }])),
            servers: Arc::new(servers),
            peers: Arc::new(MemoryPeers::new(BTreeSet::from(["known@elsewhere".to_owned()]))),
            policy: Arc::default(),
            artifacts: Arc::default(),
            contexts: Arc::new(MemoryContexts::new(BTreeMap::from([("retries.md".to_owned(), document)]))),
            evidence: Arc::default(),
            host: Arc::new(CountingHost(given("here"), AtomicU64::new(0))),
        }
    }

    fn put(&self, which: &str, neighbours: &mut Neighbours) {
        match which {
            "interface" => neighbours.interface = Arc::clone(&self.interface) as _,
            "models" => neighbours.models = Arc::clone(&self.models) as _,
            "servers" => neighbours.servers = Arc::clone(&self.servers) as _,
            "peers" => neighbours.peers = Arc::clone(&self.peers) as _,
            "policy" => neighbours.policy = Arc::clone(&self.policy) as _,
            "artifacts" => neighbours.artifacts = Arc::clone(&self.artifacts) as _,
            "contexts" => neighbours.contexts = Arc::clone(&self.contexts) as _,
            "evidence" => neighbours.evidence = Arc::clone(&self.evidence) as _,
            other => {
                assert_eq!(other, "host");
                neighbours.host = Arc::clone(&self.host) as _;
            }
        }
    }

    /// How often one was asked for something.
    fn calls(&self, which: &str) -> u64 {
        let count = |len: usize| u64::try_from(len).unwrap();
        match which {
            "interface" => count(self.interface.told().len()),
            "models" => self.models.calls(),
            "servers" => self.servers.calls(),
            "peers" => self.peers.calls(),
            "policy" => self.policy.calls(),
            "artifacts" => self.artifacts.calls(),
            "contexts" => self.contexts.calls(),
            "evidence" => count(self.evidence.packs().len()),
            _ => self.host.1.load(Ordering::Relaxed),
        }
    }
}

/// Where all runs happen, one after the other, so that paths are the same.
struct Stage {
    dir: tempfile::TempDir,
    runtime: Runtime,
}

impl Stage {
    fn new() -> Self {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(2).enable_all().build().unwrap();
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("server.py"), mcp::SERVER).unwrap();
        Self { dir, runtime }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn server(&self) -> Vec<String> {
        let program = self.path("server.py").display().to_string();
        ["python3", "-u", &program, "plain"].map(str::to_owned).to_vec()
    }

    /// Has a double offer and say what the real server does.
    fn teach(&self, servers: &MemoryServers) {
        let program = Program {
            command: self.server(),
            environment: given("here").environment.into_iter().collect(),
            folder: self.dir.path().to_owned(),
            search_path: std::env::var_os("PATH").unwrap(),
            mark: "neighbours".to_owned(),
        };
        let connector =
            Connector::new(Arc::new(move || Ok(Target::Program(program.clone()))), Limits::standard());
        let (inventory, said) = self.runtime.block_on(async {
            let inventory = connector.inventory().await.unwrap();
            let digest = inventory.find(OfferKind::Tool, "echo").unwrap().digest.clone();
            let call = Call {
                kind: OfferKind::Tool,
                native_id: "echo".to_owned(),
                input: json!({ "text": "hello" }).as_object().unwrap().clone(),
                timeout: Duration::from_secs(30),
            };
            let said =
                connector.call(call, &digest, &CancellationToken::new(), Listening::default()).await.unwrap();
            connector.stop().await;
            (inventory, said)
        });
        servers.put("tools", inventory, said);
    }

    /// Plays the script on a node of its own.
    fn play(&self, change: impl FnOnce(&mut Neighbours)) -> Seen {
        let run = self.path("run");
        drop(fs::remove_dir_all(&run));
        let uid = proc::own_uid();
        let dirs = StateDirs::resolve(uid, |name| {
            let folder = if name == edgeplane_os::dirs::STATE_DIR { "state" } else { "run" };
            let ours = [edgeplane_os::dirs::STATE_DIR, edgeplane_os::dirs::RUNTIME_DIR];
            ours.contains(&name).then(|| run.join(folder).into_os_string())
        })
        .unwrap();
        dirs.create(uid).unwrap();
        let texts = dirs.state.join("contexts");
        fs::create_dir_all(&texts).unwrap();
        fs::write(texts.join("retries.md"), TEXT).unwrap();
        let mut neighbours = Neighbours::standard(&dirs.state, Arc::new(given("here")));
        change(&mut neighbours);
        let (socket, binaries) = (dirs.socket.clone(), Binaries::built());
        let config = Config {
            dirs,
            shim: binaries.shim,
            cli: binaries.cli,
            cgroups: false,
            issuers: edgeplane_oidc::Issuers::default(),
            neighbours,
        };
        let node = self.runtime.block_on(Node::start(config)).unwrap();
        let seen = Script { socket: &socket, stage: self }.play();
        self.runtime.block_on(node.stop("the script is over"));
        seen
    }
}

/// What is asked of every node.
struct Script<'a> {
    socket: &'a Path,
    stage: &'a Stage,
}

impl Script<'_> {
    fn try_call(&self, method: &str, params: Value) -> Result<Value, String> {
        let answer = Connection::open(self.socket).unwrap().try_raw(method, params);
        answer.map_err(|error| error.name().as_str().to_owned())
    }

    fn call(&self, method: &str, params: Value) -> Value {
        let shown = format!("{method} {params}");
        self.try_call(method, params).unwrap_or_else(|error| panic!("{shown}: {error}"))
    }

    fn declare(&self) {
        let worker = task_worker("worker", &self.stage.path("run/log"), &[], "");
        let command = json!(self.stage.server());
        let tools = format!(
            "apiVersion: edgeplane.dev/v1alpha1\nkind: Connector\nmetadata: {{name: tools}}\nspec:\n  transport:\n    stdio:\n      command: {command}\n  policy: {{default: allow, effects: {{echo: read}}}}\n"
        );
        let document = |file: &str, text: &str| json!({ "file": file, "text": text, "folder": "/" });
        let documents = [document("worker.yaml", &worker), document("tools.yaml", &tools)];
        self.call("runtime/agent.apply", json!({ "documents": documents }));
        self.wait("running");
    }

    fn wait(&self, phase: &str) {
        let wait = json!({ "agent": "worker", "phases": [phase], "timeout_ms": 30_000 });
        self.call("runtime/agent.wait", wait);
    }

    /// A turn, and the output that it came to.
    fn turn(&self) -> (Value, String) {
        let words = json!([{ "type": "text", "text": "do it" }]);
        let turn = self.call("conversation/turn.start", json!({ "agent": "worker", "input": words }));
        let turn = turn["turn_id"].clone();
        let is_over =
            || self.call("conversation/turn.get", json!({ "turn_id": turn }))["state"] == "completed";
        edgeplane_testkit::wait::eventually("the turn is over", is_over);
        let output = turn.as_str().unwrap().replace("trn_", "out_");
        (turn, output)
    }

    fn play(&self) -> Seen {
        self.declare();
        let (turn, output) = self.turn();
        let made = json!({ "name": "result", "agent": "worker", "output_id": output });
        self.call("workspace/artifact.publish", made);
        for content in ["one\n", "two\n"] {
            self.call("workspace/artifact.publish", json!({ "name": "plan.md", "content": content }));
        }
        let read = self.call("workspace/artifact.read", json!({ "artifact": "plan.md", "version": 1 }));
        assert_eq!(read["content"], "one\n");
        self.call("conversation/context.search", json!({ "query": "retry" }));
        let chosen = json!({ "agent": "worker", "turn_id": turn, "query": "retry", "references": ["none"] });
        self.call("conversation/context.resolve", chosen);
        let called = json!({ "capability": "tools/echo", "input": { "text": "hello" } });
        let called = self.call("capability/invoke", called);
        let ended = json!({ "invocation_id": called["invocation_id"], "timeout_ms": 30_000 });
        assert_eq!(self.call("capability/invocation.await", ended)["status"], "succeeded");
        self.call("inference/model.list", json!({}));
        let elsewhere =
            json!({ "output_id": output, "destination": { "to": "agent", "agent": "x@elsewhere" } });
        assert_eq!(self.try_call("conversation/delivery.create", elsewhere), Err("not_found".to_owned()));
        let question = json!({ "agent": "worker", "kind": "approval", "prompt": "May I?" });
        let action = self.call("conversation/action.open", question)["action"].clone();
        let answer = json!({
            "action_id": action["id"], "digest": action["digest"], "verdict": { "verdict": "approve" },
        });
        self.call("conversation/action.respond", answer);
        // The agent is told of it, and answers.
        let ended =
            || self.call("stream/replay", json!({ "types": ["message.turn_ended"] }))["items"].clone();
        edgeplane_testkit::wait::eventually("both turns are over", || ended().as_array().unwrap().len() == 2);
        self.call("evidence/pack.export", json!({ "scope": { "agent": "worker" }, "write": true }));
        // A pack of the node names it, so that it is held for as long as that pack is there.
        self.call("workspace/checkpoint.create", json!({ "agent": "worker" }));
        self.call("evidence/pack.export", json!({ "scope": { "node": true }, "write": true }));
        self.call("runtime/agent.stop", json!({ "agent": "worker" }));
        self.wait("stopped");
        self.look()
    }

    /// The log, the catalogue, and every projection and list of what was done.
    fn look(&self) -> Seen {
        assert_eq!(self.call("evidence/audit.verify", json!({}))["ok"], true);
        let mut seen = Seen::new(self.stage.dir.path());
        seen.catalogue = self.call("core/describe", json!({}));
        let log = self.call("stream/replay", json!({ "limit": 10_000 }));
        for item in log["items"].as_array().unwrap() {
            seen.event(&item["event"]);
        }
        let session = self.call("runtime/agent.get", json!({ "agent": "worker" }));
        let session = session["status"]["identities"]["session"]["sessionId"].clone();
        for (kind, id, names) in [
            ("node", Value::Null, &["artifacts", "agent.status", "actions.pending", "governance"][..]),
            (
                "agent",
                json!("worker"),
                &[
                    "artifacts",
                    "run.timeline",
                    "deliveries",
                    "evidence",
                    "queue",
                    "usage.cost",
                    "environment",
                ],
            ),
            ("session", session, &["session.snapshot", "agentruntime.events"]),
        ] {
            for name in names {
                let mut target = json!({ "kind": kind });
                if !id.is_null() {
                    target["id"] = id.clone();
                }
                let got = self.call("stream/projection.get", json!({ "projection": name, "target": target }));
                seen.state(&format!("{kind} {name}"), &got["state"]);
            }
        }
        for list in [
            "runtime/agent.list",
            "resource/list",
            "workspace/artifact.list",
            "runtime/task.list",
            "runtime/run.list",
        ] {
            seen.state(list, &self.call(list, json!({})));
        }
        // How it stands with a server is no fact.
        seen.state("capability/list", &self.call("capability/list", json!({}))["items"]);
        seen
    }
}

/// Proves NBR-001.
#[test]
fn no_neighbour_shows_in_log_catalogue_or_read_model() {
    let stage = Stage::new();
    let (first, second) = (stage.play(|_same| ()), stage.play(|_same| ()));
    let noise = first.differs(&second);
    // What is not compared is little, and the kinds of facts are not among it.
    let few = first.len() / 20;
    assert!(
        noise.len() < few,
        "{} of {} differ between two runs of the same: {noise:?}",
        noise.len(),
        first.len()
    );
    let each = NEIGHBOURS.iter().map(|which| vec![*which]);
    for replaced in each.chain([NEIGHBOURS.to_vec()]) {
        let doubles = Doubles::new(&stage, TEXT);
        let seen = stage.play(|neighbours| {
            replaced.iter().for_each(|which| doubles.put(which, neighbours));
        });
        assert_eq!(seen.catalogue, first.catalogue, "{replaced:?}");
        let differs: Vec<_> = first.differs(&seen).difference(&noise).cloned().collect();
        assert!(differs.is_empty(), "{replaced:?} replaced: {differs:#?}");
        for which in NEIGHBOURS {
            let calls = doubles.calls(which);
            assert_eq!(calls > 0, replaced.contains(&which), "{which} of {replaced:?}: {calls} calls");
        }
        // Proves EVD-010: nobody would see a pack go that is elsewhere, so nothing is held for one.
        let on_the_node = fs::read_dir(stage.path("run/state/evidence")).map_or(0, Iterator::count);
        let expected = if replaced.contains(&"evidence") { 0 } else { 3 };
        assert_eq!(on_the_node, expected, "two packs and a hold, {replaced:?} replaced");
    }
}

/// The same comparison, with neighbours that say something else than the others: each shows, and where it should.
///
/// Proves NBR-001.
#[test]
fn a_neighbour_that_says_something_else_is_noticed() {
    let stage = Stage::new();
    let (first, second) = (stage.play(|_same| ()), stage.play(|_same| ()));
    let noise = first.differs(&second);
    let shows = |seen: &Seen, what: &str| {
        let differs: Vec<_> = first.differs(seen).difference(&noise).cloned().collect();
        assert!(differs.iter().any(|path| path.contains(what)), "{what}: {differs:#?}");
    };
    let doubles = Doubles::new(&stage, "# Retries\n\nNever retry.\n");
    shows(&stage.play(|neighbours| doubles.put("contexts", neighbours)), "context.resolved");
    let host = Arc::new(given("there"));
    shows(&stage.play(|neighbours| neighbours.host = host), "node.started");
}

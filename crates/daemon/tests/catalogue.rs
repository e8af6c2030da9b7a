//! Each method of the catalogue does what its row says: it succeeds, it fails by each name that the row has, under a key
//! it acts once, and a caller without the scope is refused by the rule's name.
//!
//! One file for each profile says how each method comes to each of these on a live node, over HTTP: a path for each
//! method, with a token. What HTTP cannot carry goes over a WebSocket, and what no token is enough for over the node's
//! socket; that it is refused over HTTP is shown besides. See [`ways`].
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on ends at once")]

#[path = "catalogue/artifacts.rs"]
mod artifacts;
#[path = "catalogue/automations.rs"]
mod automations;
#[path = "catalogue/barriers.rs"]
mod barriers;
#[path = "catalogue/benchmarks.rs"]
mod benchmarks;
#[path = "catalogue/bindings.rs"]
mod bindings;
#[path = "catalogue/blobs.rs"]
mod blobs;
#[path = "catalogue/capabilities.rs"]
mod capabilities;
#[path = "catalogue/contexts.rs"]
mod contexts;
#[path = "catalogue/conversation.rs"]
mod conversation;
#[path = "catalogue/core.rs"]
mod core;
#[path = "catalogue/elsewhere.rs"]
mod elsewhere;
#[path = "catalogue/evidence.rs"]
mod evidence;
#[path = "catalogue/files.rs"]
mod files;
#[path = "catalogue/full_disk.rs"]
mod full_disk;
#[path = "catalogue/jobs.rs"]
mod jobs;
#[path = "catalogue/locks.rs"]
mod locks;
#[path = "catalogue/machine.rs"]
mod machine;
#[path = "catalogue/memory.rs"]
mod memory;
#[path = "catalogue/resources.rs"]
mod resources;
#[path = "catalogue/runtime.rs"]
mod runtime;
#[path = "catalogue/security.rs"]
mod security;
#[path = "catalogue/stream.rs"]
mod stream;
#[path = "catalogue/subagents.rs"]
mod subagents;
#[path = "catalogue/terminals.rs"]
mod terminals;
#[path = "catalogue/threads.rs"]
mod threads;
#[path = "catalogue/turns.rs"]
mod turns;
#[path = "catalogue/ways.rs"]
mod ways;
#[path = "catalogue/words.rs"]
mod words;
#[path = "catalogue/work.rs"]
mod work;
#[path = "catalogue/workspaces.rs"]
mod workspaces;

use std::{
    cell::{Cell, OnceCell, RefCell},
    collections::{BTreeMap, BTreeSet},
};

use edgeplane_testkit::{Node, NodeOptions, binding::Access, signals, terminal, wait::eventually};
use edgeplane_types::{ErrorName, Phase, Scope, error::Effect};
use edgeplane_wire::{
    catalogue::{self, METHODS, MethodEffect, Need, opening::is_opening},
    rpc::RpcError,
};
use serde_json::{Value, json};
use ways::{Talk, Who};

/// A failure of an operator's call.
macro_rules! fails {
    ($name:ident, $method:expr, |$world:ident| $params:expr) => {
        $crate::failure(edgeplane_types::ErrorName::$name, |$world: &$crate::World| {
            let params = $params;
            $world.ask($method, params)
        })
    };
}

pub(crate) use fails;

/// A node on which cases are shown. Each case makes what it needs under names of its own.
pub(crate) struct World {
    pub(crate) node: Node,
    access: Access,
    next: Cell<u32>,
    tokens: RefCell<BTreeMap<Vec<Scope>, String>>,
    /// What several cases share because it takes long to make.
    shared: RefCell<BTreeMap<&'static str, Value>>,
    pub(crate) full: OnceCell<Box<Self>>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(NodeOptions::default())
    }

    /// On a node that is set up as told.
    pub(crate) fn with(options: NodeOptions) -> Self {
        let node = Node::start_with(NodeOptions { env: Node::over_http(), ..options });
        let token = node.remote_token("catalogue", Scope::ALL, &["role"]);
        let access = node.access(&token.token);
        Self {
            node,
            access,
            next: Cell::new(0),
            tokens: RefCell::default(),
            shared: RefCell::default(),
            full: OnceCell::new(),
        }
    }

    pub(crate) fn talk(&self, who: Who<'_>) -> Talk {
        ways::talk(&self.node, &self.access, who)
    }

    /// Asks as an operator.
    pub(crate) fn ask(&self, method: &str, params: Value) -> Result<Value, RpcError> {
        self.talk(Who::Operator)(method, params)
    }

    /// Asks as an operator what must succeed.
    pub(crate) fn made(&self, method: &str, params: Value) -> Value {
        let shown = params.to_string();
        self.ask(method, params).unwrap_or_else(|error| panic!("{method} {shown}: {error}"))
    }

    pub(crate) fn name(&self) -> String {
        self.next.set(self.next.get() + 1);
        format!("a{}", self.next.get())
    }

    /// An id of the test's own choice, another one each time.
    pub(crate) fn id(&self, prefix: &str) -> String {
        self.next.set(self.next.get() + 1);
        format!("{prefix}_01890000-0000-7000-8000-{:012}", self.next.get())
    }

    /// An agent that runs.
    pub(crate) fn cat(&self) -> String {
        let name = self.name();
        self.node.run(&name, &terminal(&name, &["/bin/cat"], ""));
        name
    }

    /// An agent that does not run.
    pub(crate) fn stopped(&self, more: &str) -> String {
        let name = self.name();
        self.node.apply(&terminal(&name, &["/bin/cat"], &format!("run: stopped\n{more}")));
        self.node.wait(&name, Phase::Declared);
        name
    }

    /// What several cases share.
    pub(crate) fn share(&self, what: &'static str, make: impl FnOnce() -> Value) -> Value {
        if let Some(known) = self.shared.borrow().get(what) {
            return known.clone();
        }
        let made = make();
        self.shared.borrow_mut().insert(what, made.clone());
        made
    }

    /// Asks a daemon that cannot reach an agent's shim.
    pub(crate) fn with_silent_shim<R>(&mut self, agent: &str, ask: impl FnOnce(&Self) -> R) -> R {
        let shim = self.node.shim_pid(agent);
        signals::send(shim, edgeplane_os::Signal::STOP);
        self.node.kill_daemon();
        self.node.up();
        self.access = self.node.access(&self.access.token);
        let answer = ask(self);
        signals::send(shim, edgeplane_os::Signal::CONT);
        answer
    }

    /// The token of a person far away.
    pub(crate) fn token(&self, scopes: &[Scope]) -> String {
        if let Some(known) = self.tokens.borrow().get(scopes) {
            return known.clone();
        }
        let made = self.node.remote_token("bearer", scopes, &["role"]).token;
        self.tokens.borrow_mut().insert(scopes.to_vec(), made.clone());
        made
    }
}

/// A call that succeeds.
pub(crate) struct Good {
    pub(crate) talk: Talk,
    pub(crate) params: Value,
}

/// A call of an operator that succeeds.
pub(crate) fn good(world: &World, params: Value) -> Good {
    Good { talk: world.talk(Who::Operator), params }
}

pub(crate) type Failure = (ErrorName, fn(&World) -> Result<Value, RpcError>);

/// A failure by its name, and how a method comes to it.
pub(crate) fn failure(name: ErrorName, fail: fn(&World) -> Result<Value, RpcError>) -> Failure {
    (name, fail)
}

/// How a method comes to its success and to each failure of its row.
pub(crate) struct Case {
    pub(crate) method: &'static str,
    /// None: another test shows it.
    pub(crate) success: Option<fn(&World) -> Good>,
    pub(crate) failures: Vec<Failure>,
}

/// The failures of a method whose success another test shows.
pub(crate) fn failures(method: &'static str, failures: Vec<Failure>) -> Case {
    Case { method, success: None, failures }
}

pub(crate) fn case(method: &'static str, success: fn(&World) -> Good, failures: Vec<Failure>) -> Case {
    Case { method, success: Some(success), failures }
}

fn keyed(params: &Value) -> Value {
    let mut params = params.clone();
    params["ctx"] = json!({ "idempotency_key": "catalogue" });
    params
}

fn without_meta(mut result: Value) -> (Value, bool) {
    let meta = result.as_object_mut().unwrap().remove("meta").unwrap();
    (result, meta["replayed"] == true)
}

/// Methods whose keys stand with what they made, and tell what has become of it.
const OWN_KEYS: [&str; 8] = [
    "conversation/action.open",
    "conversation/turn.start",
    "conversation/turn.steer",
    "runtime/agent.signal",
    "runtime/agent.ask",
    "runtime/agent.broadcast",
    "runtime/topic.publish",
    "runtime/message.submit",
];

fn check(world: &World, case: &Case) {
    if let Some(success) = case.success {
        check_success(world, case.method, success(world));
    }
    let method = case.method;
    for (name, fail) in &case.failures {
        let error = match fail(world) {
            Err(error) => error,
            Ok(result) => panic!("{method} should fail with {}: {result}", name.as_str()),
        };
        assert_eq!(error.name(), *name, "{method}: {error}");
        assert!(!error.data.retryable || error.data.effect == Effect::None, "{method}: {error:?}");
        assert_eq!(error.data.operation.as_deref(), Some(method), "{error:?}");
    }
}

/// It succeeds, once under a key, and not for a caller without the scope.
fn check_success(world: &World, method: &str, good: Good) {
    let row = catalogue::find(method).unwrap_or_else(|| panic!("{method} is no method"));
    let Good { mut talk, params } = good;
    let refused_by = match row.need {
        Need::Nothing => None,
        Need::Scope(scope) => {
            let others: Vec<Scope> = Scope::ALL.iter().copied().filter(|other| *other != scope).collect();
            Some((others, format!("rule scope-{}", scope.as_str())))
        }
        Need::Uid => Some((Scope::ALL.to_vec(), "rule no-token-is-enough".to_owned())),
    };
    if let Some((scopes, rule)) = refused_by {
        let error = world.talk(Who::Bearer(&world.token(&scopes)))(method, params.clone()).unwrap_err();
        assert_eq!(error.name(), ErrorName::PermissionDenied, "{method}: {error}");
        assert!(error.message.ends_with(&rule), "{method}: {error}");
    }
    if is_opening(method) {
        let error = ways::Post::new(&world.access).call(method, params.clone()).unwrap_err();
        assert_eq!(error.name(), ErrorName::Unsupported, "{method}: {error}");
    }
    let first = talk(method, keyed(&params)).unwrap_or_else(|error| panic!("{method} {params}: {error}"));
    let (first, replayed) = without_meta(first);
    assert!(!replayed, "{method}");
    match talk(method, keyed(&params)) {
        _ if row.effect == MethodEffect::Read => {}
        Err(error) if method == "security/token.create" => {
            assert_eq!((error.name(), error.data.effect), (ErrorName::Conflict, Effect::Applied));
        }
        Err(error) => panic!("{method} once more: {error}"),
        Ok(again) => {
            let (again, replayed) = without_meta(again);
            assert!(replayed, "{method}: {again}");
            if OWN_KEYS.contains(&method) {
                assert_eq!(first.get("message_id"), again.get("message_id"), "{method}");
            } else {
                assert_eq!(first.to_string(), again.to_string(), "{method}");
            }
        }
    }
}

fn all() -> Vec<Case> {
    let profiles = [
        core::cases(),
        runtime::cases(),
        machine::cases(),
        words::cases(),
        conversation::cases(),
        threads::cases(),
        turns::cases(),
        memory::cases(),
        security::cases(),
        stream::cases(),
        terminals::cases(),
        evidence::cases(),
        work::cases(),
        jobs::cases(),
        subagents::cases(),
        resources::cases(),
        capabilities::cases(),
        automations::cases(),
        workspaces::cases(),
        files::cases(),
        locks::cases(),
        bindings::cases(),
        blobs::cases(),
        barriers::cases(),
        artifacts::cases(),
        contexts::cases(),
        benchmarks::cases(),
    ];
    profiles.into_iter().flatten().collect()
}

fn check_all(cases: &[Case]) {
    let world = World::new();
    for case in cases {
        check(&world, case);
    }
    world.node.verify();
}

/// Proves CALL-060.
#[test]
fn every_method_and_every_failure_of_a_row_has_a_case() {
    let cases = all();
    let mut missing = Vec::new();
    for row in METHODS {
        let of_row: Vec<&Case> = cases.iter().filter(|case| case.method == row.name).collect();
        let elsewhere = |what: &str| elsewhere::shown(row.name, what);
        let successes = of_row.iter().filter(|case| case.success.is_some()).count();
        if of_row.len() > 1 || successes + usize::from(elsewhere("success")) != 1 {
            missing.push(format!("{}: {} cases, {successes} successes", row.name, of_row.len()));
        }
        let shown: BTreeSet<&str> =
            of_row.iter().flat_map(|case| &case.failures).map(|(name, _)| name.as_str()).collect();
        for name in row.errors.iter().map(|name| name.as_str()) {
            if shown.contains(name) == elsewhere(name) {
                missing.push(format!(
                    "{}: {name} is shown {} times",
                    row.name,
                    if elsewhere(name) { 2 } else { 0 }
                ));
            }
        }
        for name in shown {
            let is_named = row.errors.iter().any(|named| named.as_str() == name);
            if !is_named {
                missing.push(format!("{}: its row does not name {name}", row.name));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
    elsewhere::check();
}

/// Proves CALL-060.
#[test]
fn core_does_what_its_rows_say() {
    check_all(&core::cases());
}

/// Proves CALL-060.
#[test]
fn runtime_does_what_its_rows_say() {
    check_all(&runtime::cases());
}

/// Proves CALL-060.
#[test]
fn machines_and_overrides_do_what_their_rows_say() {
    check_all(&machine::cases());
}

/// Proves CALL-060.
#[test]
fn words_do_what_their_rows_say() {
    check_all(&words::cases());
}

/// Proves CALL-060.
#[test]
fn actions_and_schedules_do_what_their_rows_say() {
    check_all(&conversation::cases());
}

/// Proves CALL-060.
#[test]
fn sessions_and_threads_do_what_their_rows_say() {
    check_all(&threads::cases());
}

/// Proves CALL-060.
#[test]
fn turns_and_outputs_do_what_their_rows_say() {
    check_all(&turns::cases());
}

/// Proves CALL-060.
#[test]
fn artifacts_do_what_their_rows_say() {
    check_all(&artifacts::cases());
}

/// Proves CALL-060.
#[test]
fn contexts_do_what_their_rows_say() {
    check_all(&contexts::cases());
}

/// Proves CALL-060.
#[test]
fn benchmarks_do_what_their_rows_say() {
    check_all(&benchmarks::cases());
}

/// Proves CALL-060.
#[test]
fn automations_do_what_their_rows_say() {
    check_all(&automations::cases());
}

/// Proves CALL-060.
#[test]
fn memory_does_what_its_rows_say() {
    check_all(&memory::cases());
}

/// Proves CALL-060.
#[test]
fn security_and_policy_do_what_their_rows_say() {
    check_all(&security::cases());
}

/// Proves CALL-060.
#[test]
fn streams_do_what_their_rows_say() {
    check_all(&stream::cases());
}

/// Proves CALL-060.
#[test]
fn terminals_do_what_their_rows_say() {
    check_all(&terminals::cases());
}

/// Proves CALL-060.
#[test]
fn tasks_and_runs_do_what_their_rows_say() {
    check_all(&work::cases());
}

/// Proves CALL-060.
#[test]
fn jobs_do_what_their_rows_say() {
    check_all(&jobs::cases());
}

/// Proves CALL-060.
#[test]
fn traces_and_evidence_do_what_their_rows_say() {
    check_all(&evidence::cases());
}

/// Proves CALL-060.
#[test]
fn resources_do_what_their_rows_say() {
    check_all(&resources::cases());
}

/// Proves CALL-060.
#[test]
fn capabilities_do_what_their_rows_say() {
    check_all(&capabilities::cases());
}

/// Proves CALL-021, CALL-060.
#[test]
fn node_is_told_to_end_once() {
    let World { mut node, access, .. } = World::new();
    let stop = |node: &Node| ways::talk(node, &access, Who::Operator)("runtime/node.stop", keyed(&json!({})));
    let first = stop(&node);
    eventually("the daemon has ended", || node.has_ended());
    node.up();
    let (again, replayed) = without_meta(stop(&node).unwrap());
    assert!(replayed && again == json!({}) && first.is_ok(), "{first:?} {again}");
    assert!(!node.has_ended(), "it is not told again");
    let access = node.access(&access.token);
    let error = ways::Post::new(&access).call("runtime/node.stop", json!({})).unwrap_err();
    assert!(error.message.ends_with("rule no-token-is-enough"), "{error}");
}

/// Proves CALL-060.
#[test]
fn workspaces_do_what_their_rows_say() {
    check_all(&workspaces::cases());
}

/// Proves CALL-060.
#[test]
fn files_do_what_their_rows_say() {
    check_all(&files::cases());
}

/// Proves CALL-060.
#[test]
fn bindings_do_what_their_rows_say() {
    check_all(&bindings::cases());
}

/// Proves CALL-060.
#[test]
fn blobs_do_what_their_rows_say() {
    check_all(&blobs::cases());
}

/// Proves CALL-060.
#[test]
fn locks_do_what_their_rows_say() {
    check_all(&locks::cases());
}

/// Proves CALL-060.
#[test]
fn barriers_do_what_their_rows_say() {
    check_all(&barriers::cases());
}

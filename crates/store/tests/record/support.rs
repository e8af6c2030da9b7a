//! Small histories: ids, facts, events and stores of their own.

use std::{
    cell::Cell,
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, Mutex, mpsc},
};

use edgeplane_store::{
    AppendError, AuditReport, Batch, Body, Committed, CommittedEvent, NewEvent, Options, Reader, Store,
    verify,
};
use edgeplane_testkit::sample;
use edgeplane_types::{
    AgentId, Authority, Continuity, Desired, Envelope, Epoch, EventId, Evidence, Fact, Generation, MessageId,
    NodeId, Priority, SessionId, StreamName, Tenant, Timestamp,
    fact::{Actor, Cause, MemoryPut, TreeEvidence},
    identity::ProcessIdentity,
    life::ExitStatus,
};

/// Options with a small reserve, so that a test takes little disk.
pub(crate) const OPTIONS: Options = Options { reserve_bytes: 256 << 10, ..Options::STANDARD };

pub(crate) fn open(dir: &Path) -> Store {
    let (store, opening) = Store::open(dir, &OPTIONS).unwrap();
    assert_eq!(opening.damaged, None);
    store
}

pub(crate) fn agent(number: u8) -> AgentId {
    AgentId::from_parts(u64::from(number), [number; 10])
}

pub(crate) fn stream(number: u8) -> StreamName {
    StreamName::Agent(agent(number))
}

pub(crate) fn node() -> StreamName {
    StreamName::Node(NodeId::from_parts(1, [1; 10]))
}

pub(crate) fn message(number: u8) -> MessageId {
    MessageId::from_parts(u64::from(number), [number; 10])
}

/// Makes events whose ids and times count up.
#[derive(Debug, Default)]
pub(crate) struct Maker {
    made: Cell<u64>,
}

impl Maker {
    /// A maker whose events do not meet those of another.
    pub(crate) fn from(number: u64) -> Self {
        Self { made: Cell::new(number) }
    }

    pub(crate) fn event(&self, stream: StreamName, fact: Fact) -> NewEvent {
        let number = self.made.get() + 1;
        self.made.set(number);
        NewEvent {
            id: EventId::from_parts(number, [0; 10]),
            stream,
            ts: Timestamp::from_micros(i64::try_from(number).unwrap() * 1_000),
            actor: Actor::Node { rule: "test".parse().unwrap() },
            cause: None,
            consumed: None,
            trace: None,
            fact,
        }
    }

    pub(crate) fn batch(&self, stream: StreamName, facts: impl IntoIterator<Item = Fact>) -> Batch {
        let events: Vec<NewEvent> = facts.into_iter().map(|fact| self.event(stream, fact)).collect();
        Batch { bodies: events.iter().filter_map(body_of).collect(), events, critical: false }
    }

    pub(crate) fn critical(&self, stream: StreamName, facts: impl IntoIterator<Item = Fact>) -> Batch {
        Batch { critical: true, ..self.batch(stream, facts) }
    }
}

/// What stands for a content, a value or a manifest: every fact below names the digest of its own text.
pub(crate) fn text_body(text: &str) -> Body {
    Body::new(text.as_bytes().to_vec())
}

fn body_of(event: &NewEvent) -> Option<Body> {
    match &event.fact {
        Fact::AgentDeclared { .. } => Some(text_body("manifest")),
        Fact::MessageAccepted { envelope } => Some(text_body(&envelope.id.to_string())),
        Fact::MemoryPut(MemoryPut { key, .. }) => Some(text_body(key)),
        Fact::ScheduleDeclared { .. } => Some(text_body("schedule")),
        _ => None,
    }
}

pub(crate) fn declared(number: u8, name: &str) -> Fact {
    Fact::AgentDeclared {
        agent_id: agent(number),
        session_id: SessionId::from_parts(1, [number; 10]),
        tenant: Tenant::default(),
        name: name.parse().unwrap(),
        generation: Generation(1),
        manifest_digest: text_body("manifest").digest().to_string(),
        desired: Desired::Running,
        set: None,
        parent: None,
    }
}

pub(crate) fn desired(desired: Desired) -> Fact {
    Fact::AgentDesired { desired, generation: Generation(2), reason: "asked".to_owned() }
}

pub(crate) fn starting(epoch: u64, cause: Cause) -> Fact {
    Fact::AgentStarting { epoch: Epoch(epoch), cause }
}

pub(crate) fn process(pid: u32) -> ProcessIdentity {
    ProcessIdentity { pid, start_time: 5, boot_id: "boot".to_owned() }
}

pub(crate) fn started(epoch: u64) -> Fact {
    Fact::AgentStarted {
        epoch: Epoch(epoch),
        process: process(10),
        shim: process(9),
        cgroup: Some("edgeplane/a.1".to_owned()),
        continuity: Continuity::None,
    }
}

pub(crate) fn exited(epoch: u64, code: i32) -> Fact {
    Fact::AgentExited {
        epoch: Epoch(epoch),
        status: ExitStatus::Code(code),
        output_bytes: 100,
        tree: TreeEvidence::Cgroup,
        ran_ms: 7,
    }
}

pub(crate) fn envelope(target: u8, number: u8, priority: Priority, key: Option<&str>) -> Envelope {
    let body = text_body(&message(number).to_string());
    Envelope {
        id: message(number),
        target: agent(target),
        source: sample::source("sender"),
        authority: Authority::Advisory,
        priority,
        idempotency_key: key.map(str::to_owned),
        content_digest: body.digest().to_string(),
        content_bytes: body.bytes().len() as u64,
        ..sample::envelope()
    }
}

pub(crate) fn accepted(target: u8, number: u8) -> Fact {
    Fact::MessageAccepted { envelope: Box::new(envelope(target, number, Priority::Normal, None)) }
}

/// A message that says more than usual.
pub(crate) fn accepted_with(target: u8, number: u8, change: impl FnOnce(&mut Envelope)) -> Fact {
    let mut envelope = envelope(target, number, Priority::Normal, None);
    change(&mut envelope);
    Fact::MessageAccepted { envelope: Box::new(envelope) }
}

pub(crate) fn injected(number: u8, epoch: u64) -> Fact {
    Fact::MessageInjected { message_id: message(number), epoch: Epoch(epoch), evidence: Evidence::Shim }
}

pub(crate) fn put(key: &str, version: u64) -> Fact {
    Fact::MemoryPut(MemoryPut {
        key: key.to_owned(),
        version,
        value_digest: text_body(key).digest().to_string(),
        value_bytes: key.len() as u64,
        expires_at: None,
    })
}

pub(crate) fn note(text: &str) -> Fact {
    Fact::NodeStopped { reason: text.to_owned() }
}

/// A life of agent `number` with something for every model.
pub(crate) fn life(maker: &Maker, number: u8) -> Batch {
    let name = format!("agent-{number}");
    let facts = [
        declared(number, &name),
        starting(1, Cause::Manifest),
        started(1),
        accepted(number, number),
        injected(number, 1),
        put("key", 1),
        Fact::RecordingSealed {
            epoch: Epoch(1),
            segment: 0,
            from_offset: 0,
            to_offset: 90,
            file_bytes: 120,
            digest: "0".repeat(64),
        },
        exited(1, 3),
        Fact::AgentFailed { reason: "crash loop".to_owned() },
    ];
    maker.batch(stream(number), facts)
}

pub(crate) fn positions(committed: &Committed) -> Vec<(u64, u64)> {
    committed.events.iter().map(|event| (event.pos, event.event.seq)).collect()
}

pub(crate) fn audit(reader: &Reader) -> AuditReport {
    verify(reader, &mut |_| {}).unwrap()
}

#[track_caller]
pub(crate) fn assert_sound(reader: &Reader) {
    let report = audit(reader);
    assert!(report.ok, "{:#?}", report.problems);
}

/// Holds the writer of `store` up in an observer, lets `submit` fill the queue, and lets the writer go on: what was
/// submitted is committed together. Returns what became of it, in order.
pub(crate) fn together(
    store: &Store,
    maker: &Maker,
    batches: Vec<Batch>,
) -> Vec<Result<Committed, AppendError>> {
    let (entered_sender, entered) = mpsc::sync_channel(1);
    let (go, wait) = mpsc::sync_channel(1);
    let gate = Mutex::new(Some((entered_sender, wait)));
    store.observe(Arc::new(move |_: &[CommittedEvent]| {
        if let Some((entered, wait)) = gate.lock().unwrap().take() {
            entered.send(()).unwrap();
            wait.recv().unwrap();
        }
    }));
    let (done_sender, done) = mpsc::channel();
    let submit = |batch: Batch, number: usize| {
        let done = done_sender.clone();
        store.submit(batch, Box::new(move |result| done.send((number, result)).unwrap()));
    };
    submit(maker.batch(node(), [note("gate")]), usize::MAX);
    entered.recv().unwrap();
    let count = batches.len();
    batches.into_iter().enumerate().for_each(|(number, batch)| submit(batch, number));
    go.send(()).unwrap();
    let mut results: Vec<_> = (0..=count).map(|_| done.recv().unwrap()).collect();
    results.sort_by_key(|(number, _)| *number);
    results.truncate(count);
    results.into_iter().map(|(_, result)| result).collect()
}

/// A file system of a few megabytes, if this machine lets us make one.
#[derive(Debug)]
pub(crate) struct Tmpfs(PathBuf);

impl Tmpfs {
    pub(crate) fn mount(path: &Path, megabytes: u32) -> Option<Self> {
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={megabytes}m"), "tmpfs"])
            .arg(path)
            .status()
            .is_ok_and(|status| status.success());
        if !mounted {
            println!("SKIPPED: cannot mount a tmpfs here (needs root)");
        }
        mounted.then(|| Self(path.to_owned()))
    }

    pub(crate) fn make_read_only(&self) {
        let remounted = Command::new("mount").args(["-o", "remount,ro"]).arg(&self.0).status().unwrap();
        assert!(remounted.success());
    }
}

impl Drop for Tmpfs {
    fn drop(&mut self) {
        // Lazily, so that a failed test whose files are still open leaves no mount behind either.
        drop(Command::new("umount").arg("-l").arg(&self.0).status());
    }
}

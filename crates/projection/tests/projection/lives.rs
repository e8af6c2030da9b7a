//! A generator of legal lives: what a record may hold, made of a seed.
//!
//! Every fact follows from what came before it, as the node's rules have it: nothing is put to a program that does not
//! run, no turn ends that did not begin, and nothing is decided that was not asked.

#[path = "lives/artifacts.rs"]
mod artifacts;
#[path = "lives/calls.rs"]
mod calls;
#[path = "lives/children.rs"]
mod children;
#[path = "lives/managed.rs"]
mod managed;
#[path = "lives/pieces.rs"]
mod pieces;
#[path = "lives/tasks.rs"]
mod tasks;
#[path = "lives/traces.rs"]
pub(crate) mod traces;
#[path = "lives/trials.rs"]
mod trials;

use std::collections::{BTreeMap, BTreeSet};

use edgeplane_proof::digest;
use edgeplane_types::{
    ActionId, AgentId, Authority, Channel, Desired, Epoch, Event, EventId, Evidence, Fact, Generation,
    InvocationId, ItemId, MessageId, NodeId, ProcessId, SafeLabel, SessionId, StreamName, TaskId, ThreadId,
    Timestamp, TurnId,
    decision::ActionKind,
    fact::{Actor, ThreadCreated, ThreadParent},
    message::{Assurance, DeliveryMode, Envelope, Ingress, Priority, Proof, Source},
};

/// An event as it stands in the record.
#[derive(Debug, Clone)]
pub(crate) struct Stored {
    pub(crate) pos: u64,
    pub(crate) hash: String,
    pub(crate) event: Event,
}

/// Numbers that follow from a seed.
#[derive(Debug)]
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(limit.max(1)).unwrap()).unwrap()
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    fn one_in(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }

    fn bytes(&mut self) -> [u8; 10] {
        let (a, b) = (self.next().to_le_bytes(), self.next().to_le_bytes());
        [a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], b[0], b[1]]
    }
}

fn label(text: &str) -> SafeLabel {
    text.parse().unwrap()
}

/// One agent with what may happen to it next.
#[derive(Debug)]
pub(crate) struct Life {
    pub(crate) agent: AgentId,
    /// The main thread first.
    pub(crate) threads: Vec<ThreadId>,
    seq: u64,
    epoch: Epoch,
    runs: bool,
    frozen: bool,
    waiting: Vec<MessageId>,
    open: Vec<MessageId>,
    /// Turns that are over, of this epoch: programs speak of them late.
    over: Vec<MessageId>,
    given_up: Vec<MessageId>,
    /// The message whose turn ended last.
    ended: Option<MessageId>,
    actions: Vec<(ActionId, ActionKind)>,
    tools: Vec<(ItemId, Option<MessageId>)>,
    /// Calls of capabilities that are not over, and whether they are being made.
    calls: Vec<(InvocationId, bool)>,
    text: Option<ItemId>,
    commands: Vec<(ProcessId, Option<MessageId>)>,
    attached: Option<String>,
    scheduled: bool,
    desired: Desired,
    retired: bool,
    children: Vec<children::Child>,
    artifacts: Vec<artifacts::Artifact>,
}

/// A node with its agents, and its record so far.
#[derive(Debug)]
pub(crate) struct World {
    chance: Chance,
    pub(crate) node: NodeId,
    node_seq: u64,
    pos: u64,
    at: Timestamp,
    pub(crate) lives: Vec<Life>,
    pub(crate) record: Vec<Stored>,
    last: Option<EventId>,
    tasks: Vec<tasks::TaskLife>,
    /// Which of them are jobs: what is a part of one is an item.
    jobs: BTreeSet<TaskId>,
    /// Messages that are runs of tasks.
    said: Vec<MessageId>,
    /// How much of what happens is pieces of turns, as on a node that is busy.
    busy: bool,
}

/// A record of about so many events of so many agents.
pub(crate) fn world(seed: u64, agents: usize, events: usize, busy: bool) -> World {
    let mut world = World {
        chance: Chance(seed),
        node: NodeId::from_parts(1_000, [1; 10]),
        node_seq: 0,
        pos: 0,
        at: Timestamp::from_micros(1_790_000_000_000_000),
        lives: Vec::new(),
        record: Vec::with_capacity(events + 16),
        last: None,
        tasks: Vec::new(),
        jobs: BTreeSet::new(),
        said: Vec::new(),
        busy,
    };
    for _ in 0..agents {
        world.declare();
    }
    world.live_on(events);
    world
}

impl World {
    /// Goes on until so many events stand in the record.
    pub(crate) fn live_on(&mut self, events: usize) {
        while self.record.len() < events {
            let which = self.chance.below(self.lives.len());
            self.step(which);
            if self.chance.one_in(60) {
                self.of_node();
            }
            if self.chance.one_in(if self.busy { 40 } else { 12 }) {
                self.of_tasks();
            }
        }
    }

    fn id<T>(&mut self, from: impl Fn(u64, [u8; 10]) -> T) -> T {
        let random = self.chance.bytes();
        from(self.at.as_millis(), random)
    }

    fn body(&mut self) -> (String, u64) {
        let number = self.chance.next();
        (format!("{number:016x}").repeat(4), number % 9_000)
    }

    fn push(&mut self, stream: StreamName, seq: u64, actor: Actor, fact: Fact) {
        let step = i64::try_from(self.chance.below(40_000)).unwrap();
        self.at = Timestamp::from_micros(self.at.as_micros() + step);
        self.pos += 1;
        let id = self.id(EventId::from_parts);
        let cause = self.last.filter(|_| self.pos.is_multiple_of(3));
        let trace = traces::trace_of(&fact).map(Box::new);
        let event = Event { id, stream, seq, ts: self.at, actor, cause, consumed: None, trace, fact };
        self.last = Some(id);
        let hash = format!("{:064x}", self.pos);
        self.record.push(Stored { pos: self.pos, hash, event });
    }

    pub(crate) fn add(&mut self, which: usize, fact: Fact) {
        let life = &mut self.lives[which];
        life.seq += 1;
        let (stream, seq) = (StreamName::Agent(life.agent), life.seq);
        self.push(stream, seq, Actor::Node { rule: label("supervisor") }, fact);
    }

    fn declare(&mut self) {
        let (agent, session) = (self.id(AgentId::from_parts), self.id(SessionId::from_parts));
        let mut threads = vec![ThreadId::from_bytes(*session.as_bytes())];
        for _ in 0..2 {
            threads.push(self.id(ThreadId::from_parts));
        }
        let which = self.lives.len();
        self.lives.push(Life {
            agent,
            threads,
            seq: 0,
            epoch: Epoch(0),
            runs: false,
            frozen: false,
            waiting: Vec::new(),
            open: Vec::new(),
            over: Vec::new(),
            given_up: Vec::new(),
            ended: None,
            actions: Vec::new(),
            tools: Vec::new(),
            calls: Vec::new(),
            text: None,
            commands: Vec::new(),
            attached: None,
            scheduled: false,
            desired: Desired::Running,
            retired: false,
            children: Vec::new(),
            artifacts: Vec::new(),
        });
        let fact = Fact::AgentDeclared {
            agent_id: agent,
            session_id: session,
            tenant: "local".parse().unwrap(),
            name: format!("agent-{which}").parse().unwrap(),
            generation: Generation(1),
            manifest_digest: digest(b"manifest").to_string(),
            desired: Desired::Running,
            set: None,
            parent: None,
        };
        self.add(which, fact);
        let (first, further) = (self.lives[which].threads[0], self.lives[which].threads[1..].to_vec());
        for thread_id in further {
            let parent = ThreadParent { agent_id: agent, thread_id: first, through: None };
            let created = ThreadCreated {
                thread_id,
                session_id: session,
                title: Some("another".to_owned()),
                labels: BTreeMap::new(),
                parent: self.chance.one_in(2).then_some(parent),
            };
            self.add(which, Fact::ThreadCreated(created));
        }
        self.add(which, Fact::AgentInstalled { generation: Generation(1), steps: 2 });
    }

    fn step(&mut self, which: usize) {
        if self.lives[which].retired {
            // Its name is free, and nothing more happens to it: another one takes its place.
            self.lives.remove(which);
            return self.declare();
        }
        let life = &self.lives[which];
        match (life.runs, life.open.is_empty()) {
            (false, _) => self.rest(which),
            (true, true) => self.idle(which),
            (true, false) => self.work(which),
        }
    }

    /// What may happen while no program runs.
    fn rest(&mut self, which: usize) {
        match self.chance.below(10) {
            0..4 => self.start(which),
            4..8 => self.accept(which),
            8 => self.fate(which),
            _ => self.manage(which),
        }
    }

    /// What may happen while a program runs and nothing is asked of it.
    fn idle(&mut self, which: usize) {
        match self.chance.below(24) {
            0..8 => self.accept(which),
            8..18 => self.inject(which),
            18 => self.fate(which),
            19 => self.manage(which),
            20 => self.speak(which, None),
            21 => self.record_output(which),
            22 => self.end_of_own_accord(which),
            _ if self.busy && !self.chance.one_in(20) => self.inject(which),
            _ => self.exit(which),
        }
    }

    /// What may happen in a turn.
    fn work(&mut self, which: usize) {
        let message = {
            let open = &self.lives[which].open;
            open[self.chance.below(open.len())]
        };
        let many = if self.busy { 100 } else { 30 };
        match self.chance.below(many) {
            0 | 1 => self.accept(which),
            2 => self.observe(which, message),
            3..6 => self.complete(which, message),
            6 => self.tool(which, message),
            7 => self.action(which, message),
            8 => self.command(which, message),
            9 => self.usage(which, message),
            10 => self.record_output(which),
            11 if !self.busy || self.chance.one_in(40) => self.exit(which),
            12 => self.manage(which),
            13 => self.fate(which),
            14 if self.chance.one_in(3) => self.inject(which),
            15 => self.file(which, message),
            16 if self.chance.one_in(4) => self.end_silently(which, message),
            17 => self.tool(which, message),
            18 => self.call(which, message),
            _ => self.speak(which, Some(message)),
        }
    }

    fn accept(&mut self, which: usize) {
        let id: MessageId = self.id(MessageId::from_parts);
        let (content_digest, content_bytes) = self.body();
        let life = &self.lives[which];
        let (target, threads) = (life.agent, life.threads.clone());
        let thread = match self.chance.below(4) {
            0 | 1 => None,
            _ => Some(self.chance.pick(&threads)),
        };
        let traceparent = self.chance.one_in(2).then(|| {
            let (a, b) = (self.chance.next(), self.chance.next());
            format!("00-{a:016x}{b:016x}-{b:016x}-01")
        });
        let envelope = Envelope {
            id,
            target,
            channel: self.chance.pick(Channel::ALL),
            ingress: self.chance.pick(Ingress::ALL),
            source: Source {
                principal: label(self.chance.pick(&["uid-1000", "planner", "nightly"])),
                agent_id: None,
                display_name: None,
                proof: Proof::Uid,
                assurance: Assurance::Open,
            },
            authority: self.chance.pick(Authority::ALL),
            on_behalf_of: Vec::new(),
            topic: None,
            origin: None,
            rule: None,
            thread,
            into_turn: None,
            fence: None,
            reply_to: None,
            causation: None,
            hops: 0,
            mode: self.chance.pick(DeliveryMode::ALL),
            priority: self.chance.pick(Priority::ALL),
            expires_at: None,
            idempotency_key: None,
            traceparent,
            content_digest,
            content_bytes,
        };
        self.lives[which].waiting.push(id);
        self.add(which, Fact::MessageAccepted { envelope: Box::new(envelope) });
    }

    fn inject(&mut self, which: usize) {
        if self.lives[which].frozen {
            self.lives[which].frozen = false;
            let epoch = self.lives[which].epoch;
            return self.add(which, Fact::AgentThawed { epoch });
        }
        let epoch = self.lives[which].epoch;
        if self.lives[which].waiting.is_empty() && !self.chance.one_in(3) {
            return self.accept(which);
        }
        if self.lives[which].waiting.is_empty() || self.chance.one_in(8) {
            // A set handed it over: it was accepted in the set's stream.
            let id = self.id(MessageId::from_parts);
            self.lives[which].waiting.push(id);
        }
        let at = {
            let waiting = &self.lives[which].waiting;
            self.chance.below(waiting.len())
        };
        let message_id = self.lives[which].waiting.remove(at);
        self.lives[which].open.push(message_id);
        if self.chance.one_in(10) {
            // The program was faster with its word than its shim.
            return self
                .add(which, Fact::MessageObserved { message_id, epoch, evidence: Evidence::Protocol });
        }
        self.add(which, Fact::MessageInjected { message_id, epoch, evidence: Evidence::Shim });
    }

    fn observe(&mut self, which: usize, message_id: MessageId) {
        let epoch = self.lives[which].epoch;
        self.add(which, Fact::MessageObserved { message_id, epoch, evidence: Evidence::Protocol });
    }

    fn close(&mut self, which: usize, message_id: MessageId) {
        let life = &mut self.lives[which];
        life.open.retain(|open| *open != message_id);
        life.over.push(message_id);
        life.text = None;
    }

    fn complete(&mut self, which: usize, message_id: MessageId) {
        let epoch = self.lives[which].epoch;
        let (output_digest, output_bytes) = self.body();
        let outcomes = [None, Some("end_turn"), Some("cancelled"), Some("error"), Some("refusal")];
        let fact = Fact::TurnCompleted {
            turn_id: self.id(TurnId::from_parts),
            epoch,
            message_id: Some(message_id),
            output_digest,
            output_bytes,
            authority: Some(self.chance.pick(Authority::ALL)),
            outcome: self.chance.pick(&outcomes).map(label),
        };
        self.add(which, fact);
        self.close(which, message_id);
        self.lives[which].ended = Some(message_id);
        self.add(which, Fact::MessageTurnEnded { message_id, epoch, evidence: Evidence::Protocol });
    }

    /// Several messages that were typed one after the other end with one answer, which names the last.
    fn end_silently(&mut self, which: usize, message_id: MessageId) {
        let epoch = self.lives[which].epoch;
        self.close(which, message_id);
        self.add(which, Fact::MessageTurnEnded { message_id, epoch, evidence: Evidence::Hook });
    }

    fn end_of_own_accord(&mut self, which: usize) {
        let (output_digest, output_bytes) = self.body();
        let fact = Fact::TurnCompleted {
            turn_id: self.id(TurnId::from_parts),
            epoch: self.lives[which].epoch,
            message_id: None,
            output_digest,
            output_bytes,
            authority: None,
            outcome: None,
        };
        self.add(which, fact);
    }
}

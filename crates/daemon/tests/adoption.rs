//! Kill the daemon: nothing that it started notices, and nothing is lost.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on ends at once")]

use std::{
    collections::BTreeMap,
    io::Write as _,
    ops::Range,
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use edgeplane_os::{Clock as _, Signal, SystemClock};
use edgeplane_testkit::{
    Connection, Node, native,
    random::Random,
    signals, terminal,
    wait::{eventually, eventually_some},
    words,
};
use edgeplane_types::{DeliveryMode, MessageId, Phase, Rung};
use edgeplane_wire::{
    api::{agent::AgentParams, message::SignalResult},
    catalogue::{AgentFreeze, AgentGet, AgentSignal, AgentSnapshot, AgentUnfreeze},
    rpc::RpcError,
};

/// Proves LIFE-012.
#[test]
fn agents_live_through_the_daemons_death() {
    let mut node = Node::start();
    node.run("shell", &terminal("shell", &["/bin/sh"], ""));
    let pid = node.pid("shell");
    node.kill_daemon();
    node.up();
    node.wait("shell", Phase::Running);
    assert_eq!(node.pid("shell"), pid);
    node.signal("shell", "echo still-$((40+2))-here", Some(Rung::Injected));
    eventually("the shell answers", || {
        let params = AgentParams { agent: "shell".into() };
        let screen = node.connect().call::<AgentSnapshot>(&params);
        screen.text.contains("still-42-here")
    });
    node.verify();
}

/// How often the daemon is killed; `EDGEPLANE_TEST_ROUNDS` says more.
const ROUNDS: u64 = 25;

/// Agents that print all the time, on a terminal and on pipes.
const TALKERS: [&str; 5] = ["talker-1", "talker-2", "talker-3", "talker-4", "talker-5"];

/// What a talker says at a time: more than a pipe or a terminal holds, so that it ends only if its shim takes some.
const BURST_LINES: usize = 4_000;

const MORE_OF_A_LINE: &str = "of what a talker says";

/// Agents that take nothing while the daemon dies.
const DEAF: [&str; 3] = ["deaf-1", "deaf-2", "deaf-3"];

/// Agents that read, on a terminal and on pipes.
const LISTENERS: usize = 12;

/// More than a pipe holds, so that a message of this length is cut in two by a program that does not read.
const LONG_BYTES: usize = 100 << 10;

/// Proves LIFE-012, LIFE-013.
#[test]
fn killed_daemon_loses_no_agent_no_byte_and_no_message() {
    let rounds = match std::env::var("EDGEPLANE_TEST_ROUNDS") {
        Ok(text) => text.parse().unwrap(),
        Err(_) => ROUNDS,
    };
    let mut random = Random::seeded("killed_daemon_loses_no_agent_no_byte_and_no_message");
    let mut crowd = Crowd::start();
    let pids = crowd.pids();
    assert_eq!(pids.len(), 20);
    for round in 0..rounds {
        crowd.round(round, &mut random);
        assert_eq!(crowd.pids(), pids, "round {round}");
    }
    crowd.finish();
    assert_eq!(crowd.pids(), pids);
    crowd.check_output();
    crowd.check_messages();
    for name in pids.keys() {
        assert_eq!(crowd.node.count(name, "agent.started"), 1, "{name}");
        assert_eq!(crowd.node.count(name, "agent.exited"), 0, "{name}");
    }
    crowd.node.verify();
}

/// Twenty agents of one node, and what was said to them.
struct Crowd {
    node: Node,
    /// When there was no daemon, in microseconds since 1970.
    dead: Vec<Range<i64>>,
    sent: Mutex<Sent>,
}

/// What was said to agents: the marker of each message, and whether it was acknowledged.
#[derive(Default)]
struct Sent {
    acknowledged: BTreeMap<MessageId, (String, String)>,
    /// Those of which only the connection's end was heard.
    unknown: Vec<(String, String)>,
}

fn listeners() -> impl Iterator<Item = String> {
    (1..=LISTENERS).map(|number| format!("listener-{number}"))
}

fn is_on_terminal(name: &str) -> bool {
    name.ends_with(['1', '2', '3']) && !name.starts_with("deaf")
}

fn log_of(node: &Node, name: &str) -> PathBuf {
    node.scratch().join(format!("{name}.log"))
}

impl Crowd {
    fn start() -> Self {
        let node = Node::start();
        let scratch = node.scratch();
        let mut manifests = Vec::new();
        for name in TALKERS {
            // One burst for each word, as fast as the terminal or pipe takes it; then it is known how many there were.
            let talker = format!(
                "cd {}; mkfifo {name}.asked; exec 3<>{name}.asked; i=0; b=0; \
                 while read word <&3 && [ $word = talk ]; do n=0; while [ $n -lt {BURST_LINES} ]; do \
                 n=$((n+1)); i=$((i+1)); echo \"line $i {MORE_OF_A_LINE}\"; done; b=$((b+1)); \
                 echo $b > {name}.new; mv {name}.new {name}.said; done; echo end $i; exec sleep 1000",
                scratch.display(),
            );
            let driver = if is_on_terminal(name) { terminal } else { native };
            manifests.push(driver(name, &["/bin/sh", "-c", &talker], ""));
        }
        for name in listeners().chain(DEAF.map(str::to_owned)) {
            let log = log_of(&node, &name);
            let driver = if is_on_terminal(&name) { terminal } else { native };
            let quietly = if is_on_terminal(&name) { "stty -echo; " } else { "" };
            let program = format!("{quietly}echo ready >> {log}; exec cat >> {log}", log = log.display());
            manifests.push(driver(&name, &["/bin/sh", "-c", &program], ""));
        }
        node.apply(&manifests.join("---\n"));
        for name in TALKERS.into_iter().map(str::to_owned).chain(listeners()).chain(DEAF.map(str::to_owned)) {
            node.wait(&name, Phase::Running);
            if name.starts_with("talker") {
                eventually("it listens", || scratch.join(format!("{name}.asked")).exists());
            } else {
                eventually("it is ready", || read(&log_of(&node, &name)).starts_with("ready"));
            }
        }
        Self { node, dead: Vec::new(), sent: Mutex::default() }
    }

    fn pids(&self) -> BTreeMap<String, u32> {
        let agents = self.node.list();
        let pid = |agent: &edgeplane_wire::api::agent::AgentView| {
            let name = agent.metadata["name"].as_str().unwrap().to_owned();
            let process = agent.status.process.clone();
            (name.clone(), process.unwrap_or_else(|| panic!("{name}: {:?}", agent.status)).pid)
        };
        agents.iter().map(pid).collect()
    }

    /// Deafens three agents, lets five talk, kills the daemon at some moment, and looks that all is as it was.
    fn round(&mut self, round: u64, random: &mut Random) {
        let frozen = self.deafen();
        for name in DEAF {
            for number in 0..=random.below(3) {
                let marker = format!("<round-{round}-{name}-{number}>");
                let long = name == DEAF[2] && number == 0;
                let text = if long { format!("{marker}{}", "x".repeat(LONG_BYTES)) } else { marker.clone() };
                self.keep(name, &marker, send(&mut self.node.connect(), name, &text));
            }
        }
        let (before, after) = (random.below(30), random.below(30));
        let (over, socket) = (AtomicBool::new(false), self.node.socket());
        let Self { node, sent, dead } = self;
        let ask = |node: &Node, calls| {
            for _ in 0..calls {
                drop(node.connect().call::<AgentGet>(&AgentParams { agent: "listener-1".into() }));
            }
        };
        std::thread::scope(|scope| {
            let (over, mut choices) = (&over, Random::clone(random));
            scope.spawn(move || keep_sending(&socket, (round, &mut choices), over, sent));
            ask(node, before);
            // Some are cut short by the death; then all speak while there is no daemon.
            tell_talkers(node, "talk");
            ask(node, after);
            node.kill_daemon();
            let killed_at = SystemClock.now().as_micros();
            tell_talkers(node, "talk");
            for name in TALKERS {
                let said = node.scratch().join(format!("{name}.said"));
                let bursts = format!("{}\n", 2 * (round + 1));
                eventually("it has talked to nobody", || read(&said) == bursts);
            }
            node.up();
            dead.push(killed_at..SystemClock.now().as_micros());
            over.store(true, Ordering::Relaxed);
        });
        let _moved_on = random.draw();
        self.look(&frozen);
        self.undeafen(&frozen);
    }

    /// Makes three agents take nothing; gives those that are frozen, not only stopped.
    fn deafen(&self) -> Vec<&'static str> {
        let mut frozen = Vec::new();
        for name in DEAF {
            // One of them is never frozen: its shim goes on writing into a pipe that nobody empties.
            if name != DEAF[2] && self.node.change::<AgentFreeze>(name).is_ok() {
                self.node.wait(name, Phase::Frozen);
                frozen.push(name);
            } else {
                signals::send(self.node.pid(name), Signal::STOP);
            }
        }
        frozen
    }

    fn undeafen(&self, frozen: &[&str]) {
        for name in DEAF {
            if frozen.contains(&name) {
                self.node.change::<AgentUnfreeze>(name).unwrap();
            } else {
                signals::send(self.node.pid(name), Signal::CONT);
            }
        }
    }

    /// Every agent is in the phase it was in, and frozen ones still wait for their messages.
    fn look(&self, frozen: &[&str]) {
        for agent in self.node.list() {
            let name = agent.metadata["name"].as_str().unwrap();
            let phase = if frozen.contains(&name) { Phase::Frozen } else { Phase::Running };
            self.node.wait(name, phase);
            if frozen.contains(&name) {
                assert!(self.node.get(name).status.waiting_messages > 0, "{name}");
            }
        }
    }

    fn keep(&self, name: &str, marker: &str, result: Result<SignalResult, RpcError>) {
        let id = result.unwrap().message_id;
        self.sent.lock().unwrap().acknowledged.insert(id, (name.to_owned(), marker.to_owned()));
    }

    /// Ends all talking and waits until nothing is on its way any more.
    fn finish(&mut self) {
        tell_talkers(&self.node, "quiet");
        for name in TALKERS {
            eventually("it says how much it said", || self.last_line(name).starts_with("end "));
        }
        eventually("every message has come to an end", || {
            self.node.list().iter().all(|agent| agent.status.waiting_messages == 0)
        });
    }

    fn last_line(&self, name: &str) -> String {
        let params = edgeplane_wire::api::terminal::RecordingParams {
            agent: name.into(),
            epoch: None,
            offset: 0,
            last_bytes: Some(100),
            limit_bytes: None,
        };
        let tail = self.node.connect().call::<edgeplane_wire::catalogue::RecordingRead>(&params);
        let bytes = tail.items.iter().filter(|item| item.code == 'o');
        let bytes: Vec<u8> =
            bytes.flat_map(|item| edgeplane_wire::base64::decode(&item.data).unwrap()).collect();
        String::from_utf8_lossy(&bytes).lines().last().unwrap_or_default().to_owned()
    }

    /// The lines of each talker are there from the first to the last, each once and in order.
    fn check_output(&self) {
        for name in TALKERS {
            let items = self.node.recording(name, None);
            for (round, dead) in self.dead.iter().enumerate() {
                let mut written = items.iter().filter(|item| item.code == 'o');
                assert!(written.any(|item| dead.contains(&item.at_us)), "{name} round {round}");
            }
            let output = String::from_utf8(self.node.output(name, None)).unwrap();
            let mut lines = output.lines();
            let mut count = 0_u64;
            let end = lines.find(|line| {
                let is_next = *line == format!("line {} {MORE_OF_A_LINE}", count + 1);
                count += u64::from(is_next);
                !is_next
            });
            assert_eq!(end, Some(format!("end {count}").as_str()), "{name} after line {count}");
            assert_eq!(lines.next(), None, "{name}");
            assert_eq!(self.node.get(name).status.output_bytes, output.len() as u64, "{name}");
        }
    }

    /// What was acknowledged was written once; what was not, at most once; nothing is in doubt.
    fn check_messages(&self) {
        let sent = self.sent.lock().unwrap();
        let mut read_by: BTreeMap<&str, String> = BTreeMap::new();
        for (name, _) in sent.acknowledged.values().chain(&sent.unknown) {
            read_by.entry(name).or_default();
        }
        for (name, log) in &mut read_by {
            // What is injected is in the program's pipe or terminal, and read at once.
            let acknowledged = sent.acknowledged.values().filter(|(of, _)| of == name);
            let markers: Vec<&String> = acknowledged.map(|(_, marker)| marker).collect();
            eventually("it has read all", || {
                *log = read(&log_of(&self.node, name));
                markers.iter().all(|marker| log.contains(*marker))
            });
        }
        for (name, marker) in sent.acknowledged.values() {
            assert_eq!(times(&read_by[name.as_str()], marker), expected(name), "{name} {marker}");
        }
        for (name, marker) in &sent.unknown {
            let found = times(&read_by[name.as_str()], marker);
            assert!(found == 0 || found == expected(name), "{name} {marker}: {found}");
        }
        let mut injected: BTreeMap<MessageId, usize> = BTreeMap::new();
        for event in self.node.events("", &["message.*"]) {
            let kind = event.event["type"].as_str().unwrap().to_owned();
            if kind == "message.injected" {
                let id = event.event["payload"]["message_id"].as_str().unwrap().parse().unwrap();
                *injected.entry(id).or_default() += 1;
            } else {
                assert_eq!(kind, "message.accepted", "{event:?}");
            }
        }
        for (id, (name, marker)) in &sent.acknowledged {
            assert_eq!(injected.get(id), Some(&1), "{name} {marker}");
        }
        for name in read_by.keys() {
            let recording = self.node.recording(name, None);
            let mut marks: BTreeMap<&str, usize> = BTreeMap::new();
            for item in recording.iter().filter(|item| item.code == 'm') {
                *marks.entry(&item.data).or_default() += 1;
            }
            for (id, (of, marker)) in &sent.acknowledged {
                if of == name {
                    assert_eq!(marks.get(id.to_string().as_str()), Some(&1), "{name} {marker}");
                }
            }
        }
        assert!(sent.acknowledged.len() > 25, "hardly anything was sent: {}", sent.acknowledged.len());
    }
}

fn tell_talkers(node: &Node, word: &str) {
    for name in TALKERS {
        let mut asked = std::fs::OpenOptions::new()
            .write(true)
            .open(node.scratch().join(format!("{name}.asked")))
            .unwrap();
        writeln!(asked, "{word}").unwrap();
    }
}

/// How often a marker stands in what an agent reads: the native driver writes content as text and as parts.
fn expected(name: &str) -> usize {
    if is_on_terminal(name) { 1 } else { 2 }
}

fn times(log: &str, marker: &str) -> usize {
    log.matches(marker).count()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

fn send(connection: &mut Connection, name: &str, text: &str) -> Result<SignalResult, RpcError> {
    connection.try_call::<AgentSignal>(&words(name, text, DeliveryMode::Queue))
}

/// Sends to listeners until told to stop, over connections that break; remembers what was acknowledged.
fn keep_sending(socket: &Path, (round, random): (u64, &mut Random), over: &AtomicBool, sent: &Mutex<Sent>) {
    let names: Vec<String> = listeners().collect();
    let mut number = 0;
    while !over.load(Ordering::Relaxed) {
        let mut connection = eventually_some("a daemon answers", || Connection::open(socket).ok());
        let mut is_open = true;
        while is_open && !over.load(Ordering::Relaxed) {
            number += 1;
            let name = &names[usize::try_from(random.below(LISTENERS as u64)).unwrap()];
            let marker = format!("<round-{round}-{number}>");
            let result = send(&mut connection, name, &marker);
            is_open = result.is_ok();
            let mut sent = sent.lock().unwrap();
            match result {
                Ok(result) => {
                    sent.acknowledged.insert(result.message_id, (name.clone(), marker));
                }
                Err(_) => sent.unknown.push((name.clone(), marker)),
            }
        }
    }
}

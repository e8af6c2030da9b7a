//! Nothing of an epoch outlives it: killed shims, escaped grandchildren, frozen trees, machines without cgroups.
#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "a test that cannot go on ends at once")]

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use edgeplane_os::{
    Signal, proc,
    wait::{Deadline, until},
};
use edgeplane_testkit::{
    Alone, Node, NodeOptions, alone, observe,
    random::Random,
    signals, terminal,
    wait::{eventually, eventually_some},
};
use edgeplane_types::{AgentId, Epoch, ErrorName, Phase};
use edgeplane_wire::{
    api::agent::ChangeParams,
    catalogue::{AgentFreeze, AgentRelease, AgentStart, AgentUnfreeze},
};

/// Restarts at once and as often as a test kills.
const ALWAYS: &str =
    "restart: { policy: always, backoff: { initial: 0ms }, breaker: { failures: 1000, within: 1m } }\n";

/// Says which processes of former epochs it finds alive; then leaves a child, a marked orphan in a session of its
/// own and, if it is told to escape, an orphan that keeps nothing of where it came from.
const FAMILY: &str = r#"
import ctypes, os, sys, threading, time

home, kind = sys.argv[1:]
epoch = os.environ["EDGEPLANE_EPOCH"].rsplit(".", 1)[1]

def is_alive(pid):
    try:
        return open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False

def write(name, text):
    with open(f"{home}/{name}.new", "w") as file:
        file.write(text + "\n")
    os.rename(f"{home}/{name}.new", f"{home}/{name}")

former = [name for name in os.listdir(home) if name.startswith("family.") and not name.endswith(".new")]
pids = [pid for name in former for pid in open(f"{home}/{name}").read().split()]
write(f"left.{epoch}", " ".join(pid for pid in pids if is_alive(pid)) or "nothing")

def hold():
    kept = bytearray(1 << 29)
    for place in range(0, len(kept), 4096):
        kept[place] = 1
    write("held", "512 MiB")
    while True:
        time.sleep(1000)

def end_first_thread():
    threading.Thread(target=time.sleep, args=(1000,)).start()
    # Only the calling thread ends by it.
    ctypes.CDLL(None).syscall(60 if os.uname().machine == "x86_64" else 93, 0)

def orphan(environment):
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.setsid()
        child = os.fork()
        if child != 0:
            os.write(writer, str(child).encode())
            os._exit(0)
        null = os.open("/dev/null", os.O_RDWR)
        for number in range(3):
            os.dup2(null, number)
        if kind == "hold":
            hold()
        if kind == "headless":
            end_first_thread()
        os.execve("/bin/sleep", ["sleep", "1000"], environment)
    os.wait()
    os.close(writer)
    return os.read(reader, 32).decode()

child = os.fork()
if child == 0:
    os.execve("/bin/sleep", ["sleep", "1000"], dict(os.environ))
family = [str(os.getpid()), str(child), orphan(dict(os.environ))]
if kind == "escape":
    family.append(orphan({}))
write(f"family.{epoch}", " ".join(family))
print("family of epoch", epoch, flush=True)
while True:
    time.sleep(1000)
"#;

/// Counts in a file for as long as it is allowed to.
const COUNTER: &str = r#"
import sys, time

count = 0
while True:
    count += 1
    with open(sys.argv[1], "w") as file:
        file.write(f"{count}\n")
    time.sleep(0.001)
"#;

fn script(node: &Node, text: &str) -> String {
    node.program("program.py", text).to_string_lossy().into_owned()
}

fn run_family(node: &Node, name: &str, kind: &str, more: &str) -> Vec<u32> {
    let (program, home) = (script(node, FAMILY), node.scratch());
    node.run(name, &terminal(name, &["python3", &program, &home.to_string_lossy(), kind], more));
    family(node, 1)
}

/// The processes of an epoch: the program, its child, its marked orphan, the one that escaped.
fn family(node: &Node, epoch: u64) -> Vec<u32> {
    let line = observe::line_of(&node.scratch().join(format!("family.{epoch}")));
    line.split_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

fn wait_for_epoch(node: &Node, name: &str, epoch: u64) {
    eventually(&format!("epoch {epoch} of {name}"), || {
        let status = node.get(name).status;
        status.phase == Phase::Running && status.epoch.0 >= epoch
    });
}

fn change(agent: &str) -> ChangeParams {
    ChangeParams { agent: agent.into(), reason: None }
}

/// The types of an agent's events about its life, with the evidence of an end.
fn life(node: &Node, name: &str) -> Vec<String> {
    let events = node.history(name).into_iter().map(|view| view.event);
    let told = events.filter(|event| {
        let kind = event["type"].as_str().unwrap_or_default();
        kind.starts_with("agent.") && !matches!(kind, "agent.declared" | "agent.desired")
    });
    told.map(|event| {
        let kind = event["type"].as_str().unwrap_or_default();
        match event["payload"]["tree"].as_str() {
            Some(tree) => format!("{kind} {tree}"),
            None => kind.to_owned(),
        }
    })
    .collect()
}

fn skip_without_cgroups(node: &Node, what: &str) -> bool {
    let missing = !node.has_cgroups();
    if missing {
        eprintln!("SKIPPED: {what}: this machine has no writable cgroup");
    }
    missing
}

fn without_cgroups() -> NodeOptions {
    NodeOptions { no_cgroups: true, ..NodeOptions::default() }
}

/// Proves LIFE-014.
#[test]
fn killed_shim_takes_its_whole_tree_along_before_the_next_epoch_starts() {
    let node = Node::start();
    if skip_without_cgroups(&node, "killed shim with an escaped grandchild") {
        return;
    }
    let family = run_family(&node, "family", "escape", ALWAYS);
    assert_eq!(family.len(), 4);
    assert!(family.iter().all(|pid| signals::is_alive(*pid)));
    signals::kill(&[node.shim_pid("family")]);
    wait_for_epoch(&node, "family", 2);
    let left = observe::line_of(&node.scratch().join("left.2"));
    assert_eq!(left.trim(), "nothing", "alive when epoch 2 started, of {family:?}");
    assert!(family.iter().all(|pid| !signals::is_alive(*pid)));
    assert_eq!(
        life(&node, "family"),
        [
            "agent.starting",
            "agent.started",
            "agent.unobservable",
            "agent.exited cgroup",
            "agent.backed_off",
            "agent.starting",
            "agent.started",
        ]
    );
    assert_eq!(String::from_utf8_lossy(&node.output("family", Some(Epoch(1)))), "family of epoch 1\r\n");
    eventually("the first epoch's recording is sealed", || node.count("family", "recording.sealed") == 1);
    node.verify();
}

/// Proves LIFE-015.
#[test]
fn without_a_cgroup_a_possible_orphan_ends_in_quarantine() {
    let place = alone("without_a_cgroup_a_possible_orphan_ends_in_quarantine");
    if place == Alone::Passed {
        return;
    }
    let mut node = Node::start_with(without_cgroups());
    let family = run_family(&node, "family", "escape", ALWAYS);
    signals::kill(&[node.shim_pid("family")]);
    node.wait("family", Phase::Quarantined);
    let [program, child, marked, escaped] = family.as_slice() else { panic!("{family:?}") };
    for pid in [program, child, marked] {
        assert!(!signals::is_alive(*pid), "{pid} of {family:?}");
    }
    assert!(signals::is_alive(*escaped), "what bears no mark is not killed on a suspicion");
    let reason = node.get("family").status.reason.unwrap();
    assert!(reason.contains(&escaped.to_string()), "{reason}");

    let refused = node.connect().try_call::<AgentStart>(&change("family")).unwrap_err();
    assert_eq!(refused.name(), ErrorName::InvalidState);
    assert!(refused.data.hint.unwrap().contains("agent release family"));
    node.kill_daemon();
    node.up();
    node.wait("family", Phase::Quarantined);
    assert_eq!(node.count("family", "agent.starting"), 1);

    signals::kill(&[*escaped]);
    node.connect().call::<AgentRelease>(&change("family"));
    node.wait("family", Phase::Stopped);
    node.connect().call::<AgentStart>(&change("family"));
    wait_for_epoch(&node, "family", 2);
    assert_eq!(observe::line_of(&node.scratch().join("left.2")).trim(), "nothing");
    signals::kill(&[*self::family(&node, 2).last().unwrap()]);
    node.verify();
}

/// Runs a family of which nobody escapes without cgroups, in a test that is `alone` where that can be had, and kills its
/// shim; gives the node if the next epoch runs.
fn goes_on_without_its_shim(test: &str, family: impl FnOnce(&Node) -> Vec<u32>) -> Option<Node> {
    let place = alone(test);
    if place == Alone::Passed {
        return None;
    }
    let node = Node::start_with(without_cgroups());
    let family = family(&node);
    signals::kill(&[node.shim_pid("family")]);
    let status = eventually_some("the end of epoch 1", || {
        let status = node.get("family").status;
        let settled = status.phase == Phase::Quarantined || status.epoch.0 == 2;
        settled.then_some(status)
    });
    assert!(family.iter().all(|pid| !signals::is_alive(*pid)), "{family:?}");
    if status.phase == Phase::Quarantined {
        let reason = status.reason.unwrap();
        assert_eq!(place, Alone::No, "nobody else is in sight: {reason}");
        // Somebody else's process may be one of ours for all that can be known: the doubt must name it.
        eprintln!("SKIPPED: recovery without a cgroup: processes of others are in sight: {reason}");
        assert!(reason.ends_with(|last: char| last.is_ascii_digit()), "{reason}");
        return None;
    }
    wait_for_epoch(&node, "family", 2);
    node.verify();
    Some(node)
}

#[test]
fn without_a_cgroup_a_plain_tree_is_found_by_its_mark() {
    let test = "without_a_cgroup_a_plain_tree_is_found_by_its_mark";
    let Some(node) = goes_on_without_its_shim(test, |node| run_family(node, "family", "stay", ALWAYS)) else {
        return;
    };
    assert_eq!(observe::line_of(&node.scratch().join("left.2")).trim(), "nothing");
    let life = life(&node, "family");
    assert!(life.contains(&"agent.exited best_effort".to_owned()), "{life:?}");
}

/// A family of which one takes long to end: its memory goes first, and its mark with it.
fn run_large_family(node: &Node) -> Vec<u32> {
    let family = run_family(node, "family", "hold", ALWAYS);
    assert_eq!(observe::line_of(&node.scratch().join("held")).trim(), "512 MiB");
    family
}

#[test]
fn without_a_cgroup_what_takes_long_to_end_is_waited_for() {
    goes_on_without_its_shim("without_a_cgroup_what_takes_long_to_end_is_waited_for", run_large_family);
}

/// Somebody else ended it: it has no mark any more when it is looked for.
#[test]
fn without_a_cgroup_what_is_ending_already_is_no_stranger() {
    goes_on_without_its_shim("without_a_cgroup_what_is_ending_already_is_no_stranger", |node| {
        let family = run_large_family(node);
        signals::send(*family.last().unwrap(), Signal::KILL);
        family
    });
}

/// To whoever reads no more of it than the state of its first thread, it has ended already. Proves LIFE-016.
#[test]
fn without_a_cgroup_what_runs_on_without_its_first_thread_is_found() {
    goes_on_without_its_shim("without_a_cgroup_what_runs_on_without_its_first_thread_is_found", |node| {
        let family = run_family(node, "family", "headless", ALWAYS);
        let headless = *family.last().unwrap();
        eventually("its first thread has ended", || {
            proc::stat(headless).is_ok_and(|stat| (stat.state, stat.threads) == (b'Z', 2))
        });
        family
    });
}

/// Proves LIFE-015.
#[test]
fn orphan_that_a_session_manager_takes_in_is_still_in_doubt() {
    // As `systemd --user` does: orphans come to this process and not to the first of the machine.
    edgeplane_os::signals::become_subreaper().unwrap();
    let node = Node::start_with(without_cgroups());
    let family = run_family(&node, "family", "escape", ALWAYS);
    let escaped = *family.last().unwrap();
    signals::kill(&[node.shim_pid("family")]);
    eventually("an end of epoch 1", || {
        let status = node.get("family").status;
        status.phase == Phase::Quarantined || status.epoch.0 > 1
    });
    let status = node.get("family").status;
    assert_eq!(status.phase, Phase::Quarantined, "{:?}", life(&node, "family"));
    let reason = status.reason.unwrap();
    assert!(reason.contains(&escaped.to_string()), "{reason} does not name {escaped}");
    signals::kill(&[escaped]);
}

/// Proves LIFE-015.
#[test]
fn cgroup_is_no_evidence_for_an_epoch_that_had_none() {
    let mut node = Node::start_with(without_cgroups());
    let family = run_family(&node, "family", "escape", ALWAYS);
    let shim = node.shim_pid("family");
    node.kill_daemon();
    signals::kill(&[shim]);
    node.set_no_cgroups(false);
    node.up();
    eventually("an end of epoch 1", || {
        let status = node.get("family").status;
        status.phase == Phase::Quarantined || status.epoch.0 > 1
    });
    let life = life(&node, "family");
    assert_eq!(node.get("family").status.phase, Phase::Quarantined, "{life:?}");
    assert!(!life.contains(&"agent.exited cgroup".to_owned()), "{life:?}");
    signals::kill(&[*family.last().unwrap()]);
}

/// The epochs of an agent that have a living program, with one process of each.
fn marked(agent: AgentId) -> BTreeMap<u64, u32> {
    let mut epochs = BTreeMap::new();
    for pid in proc::all().unwrap_or_default() {
        let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        if name.trim_end() != "edgeplane-shim"
            && let Some(epoch) = epoch_of(pid, agent)
        {
            epochs.insert(epoch, pid);
        }
    }
    epochs
}

fn epoch_of(pid: u32, agent: AgentId) -> Option<u64> {
    let mark = format!("EDGEPLANE_EPOCH={agent}.");
    let environ = fs::read(format!("/proc/{pid}/environ")).ok()?;
    let of_it = environ.split(|byte| *byte == 0).find_map(|entry| entry.strip_prefix(mark.as_bytes()));
    std::str::from_utf8(of_it?).ok()?.parse().ok()
}

/// Looks for two living epochs of an agent until it is told to stop.
fn watch(agent: AgentId, over: &AtomicBool, seen: &Mutex<Vec<String>>) {
    until(Deadline::after(Duration::from_secs(600)), || {
        let epochs = marked(agent);
        for (older, pid) in epochs.iter().rev().skip(1) {
            // The look at all of them takes time: only what still lives after the younger was seen counts.
            if epoch_of(*pid, agent) == Some(*older) {
                seen.lock().unwrap().push(format!("epoch {older} (process {pid}) among {epochs:?}"));
            }
        }
        over.load(Ordering::Relaxed)
    });
}

/// Proves LIFE-016.
#[test]
fn twenty_killed_shims_never_leave_two_living_epochs() {
    let mut random = Random::seeded("twenty_killed_shims");
    let mut node = Node::start();
    if skip_without_cgroups(&node, "two living epochs") {
        return;
    }
    let program = "sleep 1000 & (setsid sleep 1000 &) ; echo up; while :; do sleep 1000; done";
    node.run("target", &terminal("target", &["/bin/sh", "-c", program], ALWAYS));
    let agent = node.get("target").status.identities.audit.agent_id;
    let (over, seen) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(Vec::new())));
    let watcher = {
        let (over, seen) = (Arc::clone(&over), Arc::clone(&seen));
        std::thread::spawn(move || watch(agent, &over, &seen))
    };
    for round in 0..20 {
        let (epoch, shim) = (node.get("target").status.epoch.0, node.shim_pid("target"));
        match random.below(3) {
            0 => signals::kill(&[shim]),
            1 => {
                node.kill_daemon();
                signals::kill(&[shim]);
                node.up();
            }
            _ => {
                signals::send(shim, Signal::KILL);
                node.kill_daemon();
                node.up();
            }
        }
        eventually(&format!("an epoch after {epoch}, round {round}"), || {
            let status = node.get("target").status;
            assert_ne!(status.phase, Phase::Quarantined, "{:?}", status.reason);
            status.phase == Phase::Running && status.epoch.0 > epoch
        });
    }
    over.store(true, Ordering::Relaxed);
    watcher.join().unwrap();
    assert!(seen.lock().unwrap().is_empty(), "{:?}", seen.lock().unwrap());
    let ends = life(&node, "target").into_iter().filter(|event| event.starts_with("agent.exited"));
    let ends: Vec<String> = ends.collect();
    assert!(ends.len() >= 20 && ends.iter().all(|end| end == "agent.exited cgroup"), "{ends:?}");
    node.verify();
}

fn count(path: &Path) -> u64 {
    fs::read_to_string(path).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0)
}

fn moves(path: &Path) -> bool {
    let first = count(path);
    until(Deadline::after(Duration::from_millis(300)), || count(path) > first)
}

fn freeze(node: &Node, name: &str) {
    node.connect().call::<AgentFreeze>(&change(name));
    node.wait(name, Phase::Frozen);
}

fn run_counter(node: &Node) -> std::path::PathBuf {
    let file = node.scratch().join("count");
    let program = script(node, COUNTER);
    node.run("counter", &terminal("counter", &["python3", &program, &file.to_string_lossy()], ALWAYS));
    eventually("it counts", || moves(&file));
    file
}

/// Proves LIFE-017.
#[test]
fn frozen_agent_stands_still_until_it_is_let_go_on() {
    let mut node = Node::start();
    if skip_without_cgroups(&node, "freezing") {
        return;
    }
    let file = run_counter(&node);
    let pid = node.pid("counter");
    freeze(&node, "counter");
    assert!(!moves(&file), "a frozen agent went on");
    node.kill_daemon();
    node.up();
    node.wait("counter", Phase::Frozen);
    assert!(!moves(&file), "adoption thawed it");
    node.connect().call::<AgentUnfreeze>(&change("counter"));
    node.wait("counter", Phase::Running);
    eventually("it counts again", || moves(&file));
    assert_eq!(node.pid("counter"), pid);
    freeze(&node, "counter");
    node.stop("counter");
    assert!(!signals::is_alive(pid));
    assert!(!moves(&file));
    node.verify();
}

/// Proves LIFE-017.
#[test]
fn frozen_agent_that_is_killed_comes_back_frozen() {
    let node = Node::start();
    if skip_without_cgroups(&node, "killing what is frozen") {
        return;
    }
    let file = run_counter(&node);
    freeze(&node, "counter");
    let frozen_again = |epoch: u64| {
        eventually(&format!("epoch {epoch} is frozen"), || {
            let status = node.get("counter").status;
            status.phase == Phase::Frozen && status.epoch.0 == epoch
        });
        assert!(!moves(&file));
    };
    signals::kill(&[node.pid("counter")]);
    frozen_again(2);
    signals::kill(&[node.shim_pid("counter")]);
    frozen_again(3);
    node.connect().call::<AgentUnfreeze>(&change("counter"));
    node.wait("counter", Phase::Running);
    eventually("it counts again", || moves(&file));
    node.verify();
}

/// The file with both reference agents, their programs named by path.
fn both_languages(node: &Node) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let text = fs::read_to_string(root.join("notes.yaml")).unwrap();
    let python = root.join("agents/python/notes_agent.py").canonicalize().unwrap();
    let rust = node.binaries().daemon.with_file_name("edgeplane-notes-agent");
    assert!(rust.is_file(), "`{}` is not built: run `cargo build --workspace --bins`", rust.display());
    let text = text.replace("[\"agents/python/notes_agent.py\"]", &format!("[python3, {python:?}]"));
    text.replace("[\"edgeplane-notes-agent\"]", &format!("[{rust:?}]"))
}

/// Proves LIFE-027.
#[test]
fn killing_one_agent_of_a_file_harms_neither_the_other_nor_the_node() {
    let node = Node::start();
    node.apply(&both_languages(&node));
    for name in ["alpha", "beta"] {
        node.wait(name, Phase::Running);
    }
    let daemon = node.daemon_pid();
    for (victim, other) in [("alpha", "beta"), ("beta", "alpha")] {
        let (kept, epoch) = (node.pid(other), node.get(victim).status.epoch.0);
        signals::kill(&[node.pid(victim)]);
        wait_for_epoch(&node, victim, epoch + 1);
        signals::kill(&[node.shim_pid(victim)]);
        wait_for_epoch(&node, victim, epoch + 2);
        assert_eq!(node.pid(other), kept, "{other} when {victim} was killed");
        let told = node.signal(victim, "/notes", Some(edgeplane_types::Rung::TurnEnded));
        assert!(!told.timed_out, "{victim} does not answer: {told:?}");
    }
    assert_eq!(node.daemon_pid(), daemon);
    for name in ["alpha", "beta"] {
        assert_eq!(node.get(name).status.phase, Phase::Running);
    }
    seven_identities_are_told_apart(&node);
    node.verify();
}

/// Every identity is there, and those that must differ between two agents do.
fn seven_identities_are_told_apart(node: &Node) {
    let [alpha, beta] = ["alpha", "beta"].map(|name| node.get(name).status.identities);
    let seen = serde_json::to_value(&alpha).unwrap();
    let names: Vec<&String> = seen.as_object().unwrap().keys().collect();
    assert_eq!(names, ["process", "session", "network", "principal", "memory", "authority", "audit"]);
    for identities in [&alpha, &beta] {
        let process = &identities.process;
        assert!(process.process.is_some() && process.shim.is_some() && !process.executable.is_empty());
        assert!(identities.network.socket.as_ref().is_some_and(|socket| Path::new(socket).exists()));
        assert!(!identities.memory.store.is_empty() && !identities.memory.workspace.is_empty());
        assert!(!identities.audit.head.is_empty() && identities.audit.events > 0);
        assert!(!identities.authority.decided_by.is_empty());
        assert_eq!(identities.principal.name, identities.network.name.as_str());
    }
    assert_ne!(alpha.process.process, beta.process.process);
    assert_ne!(alpha.process.shim, beta.process.shim);
    assert_eq!(alpha.process.node, beta.process.node);
    assert_ne!(alpha.session.session_id, beta.session.session_id);
    assert_ne!(alpha.network.address, beta.network.address);
    assert_ne!(alpha.network.socket, beta.network.socket);
    assert_ne!(alpha.principal.name, beta.principal.name);
    assert_ne!(alpha.memory.store, beta.memory.store);
    assert_ne!(alpha.memory.workspace, beta.memory.workspace);
    assert_ne!(alpha.audit.stream, beta.audit.stream);
    assert_ne!(alpha.audit.agent_id, beta.audit.agent_id);
}

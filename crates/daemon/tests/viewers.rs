//! Who watches: many, one of them in control, none of them able to hold up the agent or one another.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]

use std::{
    fs,
    path::{Path, PathBuf},
    sync::mpsc,
    thread,
};

use edgeplane_os::{Clock as _, SystemClock};
use edgeplane_testkit::{
    Connection, Node, observe, terminal,
    wait::{eventually, eventually_some},
};
use edgeplane_types::ErrorName;
use edgeplane_wire::{
    api::{
        agent::AgentParams,
        terminal::{
            AttachOutput, AttachParams, AttachResult, DetachParams, ResizeParams, SnapshotResult, WriteParams,
        },
    },
    base64,
    catalogue::{AgentAttach, AgentDetach, AgentResize, AgentSnapshot, AgentWrite},
    rpc::{self, RpcError},
};
use serde_json::{Value, json};

/// Bytes of one line of the numbered output.
const LINE_BYTES: u64 = 64;

/// Bytes of one round of the numbered output.
const ROUND_BYTES: u64 = 20 << 20;

/// At each word through its fifo, prints a round of numbered lines and notes how long that took.
const NUMBERS: &str = r#"
import os, sys, termios, time

home, lines = sys.argv[1], int(sys.argv[2])
os.mkfifo(f"{home}/go")
count = 0
number = 0
while True:
    with open(f"{home}/go") as file:
        file.read()
    began = time.monotonic()
    for start in range(0, lines, 1024):
        chunk = "".join(f"{number + line:062}\n" for line in range(min(1024, lines - start)))
        number += min(1024, lines - start)
        sys.stdout.write(chunk)
        sys.stdout.flush()
    termios.tcdrain(1)
    count += 1
    with open(f"{home}/took.{count}.new", "w") as file:
        file.write(f"{time.monotonic() - began}\n")
    os.rename(f"{home}/took.{count}.new", f"{home}/took.{count}")
"#;

/// A program with a screen of its own that changes while others come to look.
const PAINTER: &str = r#"
import sys, time

home = sys.argv[1]
out = sys.stdout
out.write("before\r\n\x1b[?1049h\x1b[2J\x1b[?25l\x1b]2;painter\x07")
for row in range(1, 21):
    out.write(f"\x1b[{row};{row}H\x1b[1;{30 + row % 8}mrow {row}\x1b[0m \u2500\u2500")
out.flush()
open(f"{home}/painted", "w").write("yes\n")
for step in range(1500):
    out.write(f"\x1b[{step % 20 + 1};{step % 7 * 5 + 30}H\x1b[4{step % 8}m{step:05}\x1b[0m")
    out.flush()
    time.sleep(0.001)
open(f"{home}/done", "w").write("yes\n")
while True:
    time.sleep(1000)
"#;

/// Somebody who watches over a connection of their own.
struct Viewer {
    connection: Connection,
    attached: AttachResult,
    /// Offset after the last byte that was shown.
    at: u64,
    resynchronised: usize,
}

fn watching(agent: &str) -> AttachParams {
    AttachParams { agent: agent.into(), control: false, takeover: false, cols: None, rows: None }
}

fn controlling(agent: &str) -> AttachParams {
    AttachParams { control: true, ..watching(agent) }
}

impl Viewer {
    fn try_attach(node: &Node, params: &AttachParams) -> Result<Self, RpcError> {
        let mut connection = node.connect();
        let attached = connection.try_call::<AgentAttach>(params)?;
        let at = attached.offset;
        Ok(Self { connection, attached, at, resynchronised: 0 })
    }

    fn attach(node: &Node, params: &AttachParams) -> Self {
        Self::try_attach(node, params).unwrap()
    }

    fn restored(&self) -> Vec<u8> {
        base64::decode(&self.attached.screen).unwrap()
    }

    /// The next output: where it begins, its bytes, whether they are a screen. Panics on a gap or an overlap.
    fn next(&mut self) -> (u64, Vec<u8>, bool) {
        loop {
            let heard = self.connection.notification().unwrap();
            if heard.method != "attach/output" {
                continue;
            }
            let output: AttachOutput = serde_json::from_value(heard.params).unwrap();
            assert_eq!(output.attachment, self.attached.attachment);
            let bytes = base64::decode(&output.data).unwrap();
            if output.resynchronised {
                assert!(
                    output.offset >= self.at,
                    "a screen of the past: {} after {}",
                    output.offset,
                    self.at
                );
                self.at = output.offset;
                self.resynchronised += 1;
            } else {
                assert_eq!(output.offset, self.at, "a gap or an overlap");
                self.at += u64::try_from(bytes.len()).unwrap();
            }
            return (output.offset, bytes, output.resynchronised);
        }
    }

    fn write(&mut self, keys: &str) -> Result<(), RpcError> {
        let mut data = Vec::new();
        base64::encode_into(keys.as_bytes(), &mut data);
        let params = WriteParams {
            attachment: self.attached.attachment.clone(),
            data: String::from_utf8(data).unwrap(),
        };
        self.connection.try_call::<AgentWrite>(&params).map(drop)
    }

    fn resize(&mut self, cols: u16, rows: u16) -> Result<(), RpcError> {
        let params = ResizeParams { attachment: self.attached.attachment.clone(), cols, rows };
        self.connection.try_call::<AgentResize>(&params).map(drop)
    }

    fn detach(&mut self) {
        let params = DetachParams { attachment: self.attached.attachment.clone() };
        self.connection.call::<AgentDetach>(&params);
    }

    /// The next word on the attachment's own state.
    fn state(&mut self) -> String {
        loop {
            let heard = self.connection.notification().unwrap();
            if heard.method == "stream/state" && heard.params["id"] == self.attached.attachment.as_str() {
                return heard.params["state"].as_str().unwrap().to_owned();
            }
        }
    }
}

fn snapshot(node: &Node, name: &str) -> SnapshotResult {
    node.connect().call::<AgentSnapshot>(&AgentParams { agent: name.into() })
}

fn script(node: &Node, text: &str) -> String {
    node.program("program.py", text).to_string_lossy().into_owned()
}

fn error_name<T>(result: Result<T, RpcError>) -> &'static str {
    result.err().map_or("none", |error| error.name().as_str())
}

/// What a terminal of this size shows after some bytes: rows as text, cursor, alternate screen, hidden cursor.
fn shown(size: (u16, u16), bytes: &[u8]) -> (String, (u16, u16), bool, bool) {
    let (cols, rows) = size;
    let mut parser = vt100::Parser::new(rows.try_into().unwrap(), cols.try_into().unwrap(), 0);
    parser.process(bytes);
    let screen = parser.screen();
    let lines: Vec<String> = screen.rows(0, cols).map(|row| row.trim_end().to_owned()).collect();
    let text = lines.join("\n").trim_end().to_owned();
    (text, screen.cursor_position(), screen.alternate_screen(), screen.hide_cursor())
}

/// Every whole line in a piece of the numbered output is the one that belongs there.
fn check_numbers(offset: u64, bytes: &[u8]) {
    let skip = usize::try_from((LINE_BYTES - offset % LINE_BYTES) % LINE_BYTES).unwrap();
    let first = offset.div_ceil(LINE_BYTES);
    let lines = bytes.get(skip..).unwrap_or_default().chunks_exact(64);
    for (expected, line) in (first..).zip(lines) {
        let digits = std::str::from_utf8(line).unwrap().strip_suffix("\r\n").unwrap();
        assert_eq!(digits.parse::<u64>().unwrap(), expected);
    }
}

/// Lets the program print a round, and gives the seconds that took.
fn round(home: &Path, number: u32) -> f64 {
    fs::write(home.join("go"), "go\n").unwrap();
    observe::line_of(&home.join(format!("took.{number}"))).trim().parse().unwrap()
}

fn best(home: &Path, rounds: std::ops::RangeInclusive<u32>) -> f64 {
    rounds.map(|number| round(home, number)).fold(f64::MAX, f64::min)
}

fn run_numbers(node: &Node) -> PathBuf {
    let (program, home) = (script(node, NUMBERS), node.scratch());
    let lines = (ROUND_BYTES / LINE_BYTES).to_string();
    node.run("numbers", &terminal("numbers", &["python3", &program, &home.to_string_lossy(), &lines], ""));
    eventually("it waits for its word", || home.join("go").exists());
    home
}

/// What a viewer who reads as fast as it can has had of some rounds.
struct Seen {
    /// Best time of the program for a round, in seconds.
    took: f64,
    /// From the first word to the last byte seen, in milliseconds.
    whole_ms: u64,
    live_bytes: u64,
    screens: usize,
}

/// Watches two rounds from their beginning to their end, and checks every line that comes.
fn watch_two_rounds(node: &Node, home: &Path, first: u32) -> Seen {
    let mut watcher = Viewer::attach(node, &watching("numbers"));
    let end = u64::from(first + 1) * ROUND_BYTES;
    let (seen, watched) = mpsc::channel();
    let began = SystemClock.monotonic_ms();
    let thread = thread::spawn(move || {
        let mut live_bytes = 0_u64;
        while watcher.at < end {
            let (offset, bytes, is_screen) = watcher.next();
            if !is_screen {
                check_numbers(offset, &bytes);
                live_bytes += u64::try_from(bytes.len()).unwrap();
            }
        }
        seen.send((live_bytes, watcher.resynchronised)).unwrap();
    });
    let took = best(home, first..=first + 1);
    thread.join().unwrap();
    let (live_bytes, screens) = watched.recv().unwrap();
    Seen { took, whole_ms: SystemClock.monotonic_ms() - began, live_bytes, screens }
}

#[test]
fn stalled_viewer_slows_neither_the_agent_nor_another_viewer() {
    let node = Node::start();
    let home = run_numbers(&node);
    let unwatched = best(&home, 1..=2);
    eventually("the daemon has taken it in", || snapshot(&node, "numbers").head == 2 * ROUND_BYTES);
    let alone = watch_two_rounds(&node, &home, 3);
    let before = observe::resident_bytes(node.daemon_pid());
    let mut stalled = Viewer::attach(&node, &watching("numbers"));
    let mut beside = watch_two_rounds(&node, &home, 5);
    let mut rounds = 6;
    // On a busy machine a round says little by itself: what is slow every time is slow.
    let is_behind = |seen: &Seen| seen.took > unwatched * 2.0 || seen.live_bytes <= alone.live_bytes / 4;
    while is_behind(&beside) && rounds < 12 {
        beside = watch_two_rounds(&node, &home, rounds + 1);
        rounds += 2;
    }
    for (who, seen) in [("alone", &alone), ("beside a stalled one", &beside)] {
        eprintln!(
            "{who}: {:.2} s a round ({unwatched:.2} s unwatched), {} ms in all, {} of {} bytes live, {} screens",
            seen.took,
            seen.whole_ms,
            seen.live_bytes,
            2 * ROUND_BYTES,
            seen.screens,
        );
    }
    assert!(beside.took < unwatched * 2.5, "{unwatched} s unwatched, {} s watched", beside.took);
    assert!(
        beside.whole_ms < alone.whole_ms * 5 / 2 + 1_000,
        "{} after {} ms",
        beside.whole_ms,
        alone.whole_ms
    );
    assert!(
        beside.live_bytes > alone.live_bytes / 4,
        "{} after {} bytes",
        beside.live_bytes,
        alone.live_bytes
    );
    let grown = observe::resident_bytes(node.daemon_pid()).saturating_sub(before);
    assert!(grown < 64 << 20, "the stalled viewer costs {grown} bytes");

    // It wakes up: what was on its way comes in order, then the screen as it is.
    let end = u64::from(rounds) * ROUND_BYTES;
    let mut last = Vec::new();
    while stalled.at < end {
        let (offset, bytes, is_screen) = stalled.next();
        if is_screen {
            last = bytes;
        } else {
            check_numbers(offset, &bytes);
        }
    }
    assert_eq!(stalled.resynchronised, 1);
    let fresh = Viewer::attach(&node, &watching("numbers"));
    assert_eq!((fresh.at, fresh.restored()), (end, last.clone()));
    let screen = snapshot(&node, "numbers");
    let found = shown((screen.cols, screen.rows), &last);
    assert_eq!((found.0, found.1), (screen.text, screen.cursor));
}

#[test]
fn late_viewer_sees_a_full_screen_program_right_and_misses_nothing_after() {
    let node = Node::start();
    let (program, home) = (script(&node, PAINTER), node.scratch());
    node.run("painter", &terminal("painter", &["python3", &program, &home.to_string_lossy()], ""));
    let _painted = observe::line_of(&home.join("painted"));
    let mut viewers = Vec::new();
    while !home.join("done").exists() {
        if viewers.len() < 40 {
            viewers.push(Viewer::attach(&node, &watching("painter")));
        }
    }
    assert!(viewers.len() > 3, "{} viewers came while it painted", viewers.len());
    let screen = eventually_some("the last byte", || {
        let screen = snapshot(&node, "painter");
        screen.text.contains("01499").then_some(screen)
    });
    assert_eq!((screen.offset, screen.title.as_str()), (screen.head, "painter"));
    for mut viewer in viewers {
        let mut bytes = viewer.restored();
        while viewer.at < screen.head {
            let (_, more, is_screen) = viewer.next();
            if is_screen {
                bytes.clear();
            }
            bytes.extend(more);
        }
        let size = (viewer.attached.cols, viewer.attached.rows);
        assert_eq!(shown(size, &bytes), (screen.text.clone(), screen.cursor, true, true));
    }
}

#[test]
fn there_is_one_controller_and_only_it_writes_and_resizes() {
    let node = Node::start();
    node.run("shell", &terminal("shell", &["/bin/sh"], ""));
    let pid = node.pid("shell");
    let mut first = Viewer::attach(&node, &controlling("shell"));
    let mut observer = Viewer::attach(&node, &watching("shell"));
    assert_eq!(error_name(Viewer::try_attach(&node, &controlling("shell"))), "locked");
    assert_eq!(error_name(observer.write("echo no\n")), "permission_denied");
    assert_eq!(error_name(observer.resize(100, 30)), "permission_denied");
    first.write("echo first-$((1+1))\n").unwrap();
    eventually("it obeys the controller", || snapshot(&node, "shell").text.contains("first-2"));

    let takeover = AttachParams { takeover: true, cols: Some(90), rows: Some(33), ..controlling("shell") };
    let mut second = Viewer::attach(&node, &takeover);
    assert_eq!((second.attached.cols, second.attached.rows), (90, 33));
    assert_eq!(first.state(), "observing");
    assert_eq!(error_name(first.write("echo no\n")), "permission_denied");
    assert_eq!(error_name(first.resize(70, 20)), "permission_denied");
    second.write("stty size\n").unwrap();
    eventually("it has the controller's size", || snapshot(&node, "shell").text.contains("33 90"));
    // Whose an attachment is, its connection decides.
    let stolen = WriteParams { attachment: second.attached.attachment.clone(), data: "YQ==".into() };
    assert_eq!(error_name(observer.connection.try_call::<AgentWrite>(&stolen)), "not_found");

    second.detach();
    drop(first);
    observer.detach();
    eventually("everybody's leaving is recorded", || node.count("shell", "attach.closed") == 3);
    let mut third = Viewer::attach(&node, &controlling("shell"));
    third.write("echo still-$((40+2))\n").unwrap();
    eventually("detaching disturbed nothing", || snapshot(&node, "shell").text.contains("still-42"));
    assert_eq!(node.pid("shell"), pid);
    assert!(!snapshot(&node, "shell").text.contains("no\n"), "{}", snapshot(&node, "shell").text);
    comings_and_goings(&node);
    node.verify();
}

/// Who came with which right, and why they left, as the record has it.
fn comings_and_goings(node: &Node) {
    let events = node.events("shell", &["attach.*"]);
    let told: Vec<Value> = events
        .iter()
        .map(|view| {
            let payload = &view.event["payload"];
            match view.event["type"].as_str() {
                Some("attach.opened") => json!([payload["control"], payload["takeover"]]),
                _ => payload["reason"].clone(),
            }
        })
        .collect();
    assert_eq!(told.first(), Some(&json!([true, false])));
    assert_eq!(told.get(1), Some(&json!([false, false])));
    assert_eq!(told.get(2), Some(&json!([true, true])));
    let mut left: Vec<&str> = told.iter().filter_map(Value::as_str).collect();
    left.sort_unstable();
    assert_eq!(left, ["detached", "detached", "its connection ended"]);
    assert!(events.iter().all(|view| view.event["actor"]["kind"] != "agent"), "{events:?}");
}

#[test]
fn refused_attach_changes_nothing() {
    let node = Node::start();
    node.run("shell", &terminal("shell", &["/bin/sh"], ""));
    let mut first = Viewer::attach(&node, &controlling("shell"));
    for size in [(0, 0), (1, 24), (80, 1), (1001, 24), (80, u16::MAX)] {
        let wrong =
            AttachParams { takeover: true, cols: Some(size.0), rows: Some(size.1), ..controlling("shell") };
        assert_eq!(error_name(Viewer::try_attach(&node, &wrong)), "invalid_params", "{size:?}");
        assert_eq!(error_name(first.resize(size.0, size.1)), "invalid_params", "{size:?}");
    }
    first.write("echo mine-$((20+1))\n").unwrap();
    eventually("it still has its controller", || snapshot(&node, "shell").text.contains("mine-21"));
    assert_eq!(node.count("shell", "attach.opened"), 1);
    first.detach();
    let _next = Viewer::attach(&node, &controlling("shell"));
}

#[test]
fn storm_of_sizes_and_keys_ends_with_the_last_of_each() {
    let node = Node::start();
    let program = "while read -r line; do stty size; echo \"got $line\"; done";
    node.run("shell", &terminal("shell", &["/bin/sh", "-c", program], ""));
    let mut controller = Viewer::attach(&node, &controlling("shell"));
    let attachment = controller.attached.attachment.clone();
    let mut storm = Vec::new();
    for step in 0..300_u16 {
        let size = json!({ "attachment": attachment, "cols": 20 + step % 100, "rows": 10 + step % 50 });
        storm.extend(rpc::notification("runtime/agent.resize", size));
    }
    let last = json!({ "attachment": attachment, "cols": 123, "rows": 45 });
    storm.extend(rpc::notification("runtime/agent.resize", last));
    let word: String = (0..600).map(|number: u32| char::from_digit(number % 36, 36).unwrap()).collect();
    for letter in word.bytes().chain([b'\n']) {
        let mut data = Vec::new();
        base64::encode_into(&[letter], &mut data);
        let key = json!({ "attachment": attachment, "data": String::from_utf8(data).unwrap() });
        storm.extend(rpc::notification("runtime/agent.write", key));
    }
    controller.connection.send(&storm).unwrap();
    eventually("the last size and every key have come", || {
        let said = String::from_utf8_lossy(&node.output("shell", None)).into_owned();
        said.contains("45 123\r\n") && said.contains(&format!("got {word}\r\n"))
    });
    let screen = snapshot(&node, "shell");
    assert_eq!((screen.cols, screen.rows), (123, 45));
}

#[test]
fn viewers_that_vanish_leave_nothing_behind() {
    let node = Node::start();
    node.run("quiet", &terminal("quiet", &["/bin/cat"], ""));
    let before = node.open_files();
    for round in 0..3 {
        let viewers: Vec<Viewer> = (0..40)
            .map(|number| {
                let params = if number == 0 { controlling("quiet") } else { watching("quiet") };
                Viewer::attach(&node, &params)
            })
            .collect();
        drop(viewers);
        eventually("all of them are gone", || node.count("quiet", "attach.closed") == 40 * (round + 1));
    }
    eventually("their files are closed", || node.open_files() <= before + 2);
    // An attachment that nobody waits for any more does not outlive its connection either.
    let mut hasty = node.connect();
    let params = json!({ "agent": "quiet", "control": true, "ctx": { "deadline_ms": 0 } });
    let _late = hasty.try_raw("runtime/agent.attach", params);
    drop(hasty);
    eventually("somebody else can control it", || Viewer::try_attach(&node, &controlling("quiet")).is_ok());
}

#[test]
fn agent_that_is_not_running_has_no_terminal_and_says_so() {
    let node = Node::start();
    node.run("brief", &terminal("brief", &["/bin/cat"], ""));
    let mut viewer = Viewer::attach(&node, &watching("brief"));
    node.stop("brief");
    assert_eq!(viewer.state(), "ended");
    let refused = node.connect().try_call::<AgentAttach>(&watching("brief")).unwrap_err();
    assert_eq!(refused.name(), ErrorName::InvalidState);
    assert!(refused.data.hint.is_some_and(|hint| hint.contains("logs brief")));
    assert_eq!(error_name(Viewer::try_attach(&node, &watching("nobody"))), "not_found");
}

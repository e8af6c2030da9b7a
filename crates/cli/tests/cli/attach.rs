//! Attaching, by pipe and by terminal.

use std::{
    fs::File,
    io::{Read, Write},
    os::fd::{AsFd, OwnedFd},
    process::{Child, Stdio},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use edgeplane_os::{
    pty::{self, Size},
    wait::{self, Deadline},
};
use edgeplane_types::ErrorName;
use rustix::termios::{LocalModes, tcgetattr};
use serde_json::{Value, json};

use crate::fake::{Fake, PATIENCE, Says, stderr, stdout};

pub(crate) fn attached(control: bool) -> Says {
    let screen = STANDARD.encode(b"\x1b[2J\x1b[H$ ");
    Says::result(
        json!({ "attachment": "a1", "epoch": 3, "screen": screen, "offset": 2, "cols": 80, "rows": 24,
        "control": control, "pipes": false }),
    )
}

pub(crate) fn shown(offset: u64, bytes: &[u8]) -> Value {
    json!({ "attachment": "a1", "offset": offset, "data": STANDARD.encode(bytes) })
}

fn ended(reason: &str) -> Value {
    json!({ "id": "a1", "state": "ended", "reason": reason })
}

#[test]
fn watching_plays_screen_and_output_until_the_end() {
    let says = attached(false)
        .then("attach/output", shown(2, b"ls\x1b[6n\r\n\x1b[3"))
        .then(
            "attach/output",
            json!({ "attachment": "other", "offset": 0, "data": STANDARD.encode(b"not mine") }),
        )
        .then("attach/output", shown(13, b"1mred\x1b]52;c;aGk=\x07"))
        .then("stream/state", ended("exit code 0"));
    let fake = Fake::saying("runtime/agent.attach", says);
    let output = fake.run(&["attach", "reviewer"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(stdout(&output), "\x1b[2J\x1b[H$ ls\r\n\x1b[31mred");
    assert_eq!(stderr(&output), "reviewer: exit code 0\n");
    let asked = fake.asked();
    assert_eq!(
        asked,
        [(
            "runtime/agent.attach".to_owned(),
            json!({ "agent": "reviewer", "control": false, "takeover": false })
        )]
    );
}

#[test]
fn keys_from_a_pipe_are_typed_and_then_it_leaves() {
    let fake = Fake::saying("runtime/agent.attach", attached(true));
    let mut child = fake
        .command(&["attach", "reviewer", "--control", "--takeover"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"ls\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let asked = fake.asked();
    let write = json!({ "attachment": "a1", "data": STANDARD.encode(b"ls\n") });
    assert_eq!(asked.get(1), Some(&("runtime/agent.write".to_owned(), write)), "{asked:?}");
}

#[test]
fn paste_waits_for_the_agent_to_take_it() {
    let fake = Fake::saying("runtime/agent.attach", attached(true));
    fake.says("runtime/agent.write", Says::error(ErrorName::Backpressure, "the agent does not read"));
    fake.says("runtime/agent.write", Says::result(json!({})));
    let words = ["attach", "reviewer", "--control"];
    let mut command = fake.command(&words);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let pasted: Vec<u8> =
        (0..100_000_u32).map(|number| (number % 251) as u8).filter(|byte| *byte != 0x1d).collect();
    child.stdin.take().unwrap().write_all(&pasted).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let writes = fake.asked().into_iter().filter(|(method, _)| method == "runtime/agent.write");
    let mut typed: Vec<_> =
        writes.map(|(_, params)| STANDARD.decode(params["data"].as_str().unwrap()).unwrap()).collect();
    assert_eq!(typed.first(), typed.get(1), "what was refused is offered again");
    typed.remove(0);
    assert_eq!(typed.concat(), pasted);
}

#[test]
fn held_control_says_how_to_take_it() {
    let fake =
        Fake::saying("runtime/agent.attach", Says::error(ErrorName::Locked, "operator uid-1000 controls it"));
    let output = fake.run(&["attach", "reviewer", "--control"]);
    assert_eq!(output.status.code(), Some(75));
    assert!(stderr(&output).contains("hint: watch without `--control`, or take it over with `--takeover`"));
}

#[test]
fn node_that_goes_away_is_said() {
    let fake = Fake::saying("runtime/agent.attach", attached(false).hangs_up());
    let output = fake.run(&["attach", "reviewer", "--no-reconnect"]);
    assert_eq!(output.status.code(), Some(69));
    assert!(stderr(&output).contains("the agent is not affected"), "{}", stderr(&output));
}

/// The program in a terminal of its own.
pub(crate) struct Seat {
    pub(crate) master: File,
    slave: OwnedFd,
    pub(crate) child: Child,
}

impl Seat {
    pub(crate) fn take(fake: &Fake, words: &[&str]) -> Self {
        let (master, slave) = pty::open(Size { columns: 100, rows: 30 }).unwrap();
        let slave = slave.as_fd().try_clone_to_owned().unwrap();
        let end = || Stdio::from(slave.try_clone().unwrap());
        let child = fake.command(words).stdin(end()).stdout(end()).stderr(end()).spawn().unwrap();
        let master = File::from(master.as_fd().try_clone_to_owned().unwrap());
        rustix::io::ioctl_fionbio(&master, false).unwrap();
        Self { master, slave, child }
    }

    fn is_raw(&self) -> bool {
        !tcgetattr(&self.slave).unwrap().local_modes.intersects(LocalModes::ICANON | LocalModes::ECHO)
    }

    /// Reads until `text` was shown.
    pub(crate) fn read_to(&mut self, text: &str) -> String {
        let mut seen = Vec::new();
        let mut byte = [0];
        while !String::from_utf8_lossy(&seen).contains(text) {
            assert_eq!(self.master.read(&mut byte).unwrap(), 1, "ended after {}", seen.escape_ascii());
            seen.extend_from_slice(&byte);
        }
        String::from_utf8_lossy(&seen).into_owned()
    }

    pub(crate) fn wait_until_raw(&self) {
        assert!(wait::until(Deadline::after(PATIENCE), || self.is_raw()));
    }

    /// Waits for the end; the terminal must then be as it was.
    pub(crate) fn finish(mut self, code: i32) {
        let reader = std::thread::spawn(move || {
            let mut rest = Vec::new();
            // Ends with an error once the last slave is closed.
            drop(self.master.read_to_end(&mut rest));
            rest
        });
        let status = self.child.wait().unwrap();
        assert_eq!(status.code(), Some(code));
        let modes = tcgetattr(&self.slave).unwrap().local_modes;
        assert!(modes.contains(LocalModes::ICANON | LocalModes::ECHO), "{modes:?}");
        drop(self.slave);
        let rest = String::from_utf8_lossy(&reader.join().unwrap()).into_owned();
        assert!(rest.contains("\x1b[?1049l") && rest.contains("\x1b[?25h"), "{rest:?}");
    }
}

#[test]
fn terminal_is_raw_while_attached_and_as_before_after() {
    let fake = Fake::saying("runtime/agent.attach", attached(true));
    let mut seat = Seat::take(&fake, &["attach", "reviewer", "--control"]);
    seat.read_to("ctrl-] leaves");
    seat.wait_until_raw();
    seat.master.write_all(b"a\x03").unwrap();
    fake.wait_for("runtime/agent.write");
    rustix::termios::tcsetwinsize(
        &seat.master,
        rustix::termios::Winsize { ws_col: 120, ws_row: 40, ws_xpixel: 0, ws_ypixel: 0 },
    )
    .unwrap();
    // The terminal belongs to no session here, so nobody but us tells the program.
    rustix::process::kill_process(
        rustix::process::Pid::from_child(&seat.child),
        rustix::process::Signal::WINCH,
    )
    .unwrap();
    fake.wait_for("runtime/agent.resize");
    seat.master.write_all(b"b\x1dc").unwrap();
    seat.finish(0);
    let asked = fake.asked();
    assert_eq!(asked.first().unwrap().1["cols"], 100);
    let typed: Vec<u8> = asked
        .iter()
        .filter(|(method, _)| method == "runtime/agent.write")
        .flat_map(|(_, params)| STANDARD.decode(params["data"].as_str().unwrap()).unwrap())
        .collect();
    assert_eq!(typed, b"a\x03b");
    let sizes: Vec<_> = asked.iter().filter(|(method, _)| method == "runtime/agent.resize").collect();
    assert_eq!(sizes.len(), 1);
    assert_eq!(sizes.first().unwrap().1, json!({ "attachment": "a1", "cols": 120, "rows": 40 }));
}

#[test]
fn terminal_is_given_back_when_a_signal_ends_it() {
    for signal in [rustix::process::Signal::TERM, rustix::process::Signal::HUP] {
        let fake = Fake::saying("runtime/agent.attach", attached(false));
        let mut seat = Seat::take(&fake, &["attach", "reviewer"]);
        seat.read_to("watching");
        seat.wait_until_raw();
        rustix::process::kill_process(rustix::process::Pid::from_child(&seat.child), signal).unwrap();
        seat.finish(0);
    }
}

#[test]
fn who_only_watches_leaves_with_q() {
    let fake = Fake::saying("runtime/agent.attach", attached(false));
    let mut seat = Seat::take(&fake, &["attach", "reviewer"]);
    seat.read_to("$ ");
    seat.wait_until_raw();
    seat.master.write_all(b"xq").unwrap();
    seat.finish(0);
    let asked: Vec<_> = fake.asked().into_iter().map(|(method, _)| method).collect();
    assert_eq!(asked, ["runtime/agent.attach", "runtime/agent.detach"], "nothing was typed");
}

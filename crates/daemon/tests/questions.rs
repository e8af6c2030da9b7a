//! What a program asks its terminal is answered whether or not a daemon is there, once, and never late.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on ends at once")]

use std::{fs, path::PathBuf};

use edgeplane_os::wait::{Deadline, until};
use edgeplane_testkit::{Node, terminal, wait::PATIENCE};
use edgeplane_wire::{api::agent::AgentParams, catalogue::AgentSnapshot, terminal as answers};

/// How often the place of the cursor is asked for on a machine that is too busy to tell it in time.
const ATTEMPTS: usize = 20;

/// A program that asks what it is told to ask, and keeps what is typed.
struct Asking {
    folder: PathBuf,
    typed: Vec<u8>,
}

impl Asking {
    fn start(node: &Node) -> Self {
        let folder = node.scratch().join("asking");
        fs::create_dir_all(&folder).unwrap();
        let script = format!(
            "cd {}; stty raw -echo; cat > typed < /dev/tty & printf 'ab'; while :; do \
             if rm place 2>/dev/null; then printf '\\033[6n\\033[c'; fi; \
             if rm works 2>/dev/null; then printf '\\033[5n'; fi; sleep 0.02; done",
            folder.display()
        );
        node.run("asks", &terminal("asks", &["/bin/sh", "-c", &script], ""));
        Self { folder, typed: Vec::new() }
    }

    fn found(&self) -> Vec<u8> {
        fs::read(self.folder.join("typed")).unwrap_or_default()
    }

    /// Lets it ask, and waits until one of these answers was typed and nothing else.
    fn ask(&mut self, question: &str, may: &[&[u8]]) -> usize {
        fs::write(self.folder.join(question), "").unwrap();
        let all: Vec<Vec<u8>> = may.iter().map(|answer| [&self.typed, *answer].concat()).collect();
        let which = |found: &Vec<u8>| all.iter().position(|expected| expected == found);
        until(Deadline::after(PATIENCE), || which(&self.found()).is_some());
        self.typed = self.found();
        which(&self.typed).unwrap_or_else(|| panic!("{question}: {}", self.typed.escape_ascii()))
    }
}

/// Proves SHIM-041, SHIM-042.
#[test]
fn answers_come_once_and_without_a_daemon() {
    let mut node = Node::start();
    let mut asking = Asking::start(&node);
    let placed = [&answers::cursor(0, 2), answers::DEVICE].concat();
    let tells =
        |asking: &mut Asking| (0..ATTEMPTS).any(|_| asking.ask("place", &[answers::DEVICE, &placed]) == 1);
    assert!(tells(&mut asking), "the daemon tells where the cursor is");
    node.kill_daemon();
    asking.ask("works", &[answers::WORKS]);
    asking.ask("place", &[answers::DEVICE]);
    node.up();
    assert!(tells(&mut asking), "the next daemon tells it, although nobody looks at the screen");
    // The next daemon sees the questions of the past in the recording, and answers none of them again.
    let snapshot = node.connect().call::<AgentSnapshot>(&AgentParams { agent: "asks".into() });
    assert!(snapshot.text.starts_with("ab"), "{}", snapshot.text);
    asking.ask("works", &[answers::WORKS]);
}

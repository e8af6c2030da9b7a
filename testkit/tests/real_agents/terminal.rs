//! A terminal with somebody at it: shows what a program draws, answers what it asks the terminal, types.

use std::{
    fs::File,
    io::{Read as _, Write as _},
    num::NonZeroU16,
    os::fd::AsFd as _,
    path::Path,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    time::Duration,
};

use edgeplane_os::{
    Signal, group,
    pty::{self, Size},
    wait::{Deadline, until},
};
use edgeplane_testkit::{
    agents::Launch,
    wait::{AGENT_PATIENCE, eventually_within},
};

const SIZE: Size = Size { columns: 100, rows: 30 };

/// A program that has drawn nothing for so long has taken what was typed: some take an Enter that comes sooner as
/// part of pasted text.
const QUIET: Duration = Duration::from_millis(300);

/// Programs that always draw something are not waited for longer than so many times.
const QUIET_TRIES: usize = 10;

/// Questions to a terminal, and what one with a black background answers.
const ANSWERS: &[(&str, &str)] = &[
    ("\x1b[6n", "\x1b[1;1R"),
    ("\x1b[c", "\x1b[?62;c"),
    ("\x1b]10;?", "\x1b]10;rgb:ffff/ffff/ffff\x1b\\"),
    ("\x1b]11;?", "\x1b]11;rgb:0000/0000/0000\x1b\\"),
];

/// What was drawn so far.
struct Screen {
    parser: vt100::Parser,
    bytes: usize,
}

/// A program in a terminal of its own. Dropping it ends the program's group.
pub(crate) struct Terminal {
    child: Child,
    master: File,
    screen: Arc<Mutex<Screen>>,
}

impl Terminal {
    pub(crate) fn start(launch: &Launch, work: &Path) -> Self {
        let (master, slave) = pty::open(SIZE).unwrap();
        let end = || Stdio::from(slave.as_fd().try_clone_to_owned().unwrap());
        let mut command = Command::new("/usr/bin/setsid");
        command.arg("--ctty").args(&launch.argv).env_clear();
        command.envs(launch.env.iter().map(|(name, value)| (name, value)));
        let child = command.current_dir(work).stdin(end()).stdout(end()).stderr(end()).spawn().unwrap();
        drop(slave);
        let master = File::from(master.as_fd().try_clone_to_owned().unwrap());
        rustix::io::ioctl_fionbio(&master, false).unwrap();
        let size = |count| NonZeroU16::new(count).unwrap();
        let parser = vt100::Parser::new(size(SIZE.rows), size(SIZE.columns), 0);
        let screen = Arc::new(Mutex::new(Screen { parser, bytes: 0 }));
        let (shared, mut both) = (Arc::clone(&screen), master.try_clone().unwrap());
        std::thread::spawn(move || {
            let mut piece = [0; 65_536];
            while let Ok(count @ 1..) = both.read(&mut piece) {
                let drawn = &piece[..count];
                {
                    let mut screen = shared.lock().unwrap();
                    screen.parser.process(drawn);
                    screen.bytes += count;
                }
                let text = String::from_utf8_lossy(drawn);
                for (_, answer) in ANSWERS.iter().filter(|(question, _)| text.contains(question)) {
                    both.write_all(answer.as_bytes()).unwrap();
                }
            }
        });
        Self { child, master, screen }
    }

    fn text(&self) -> String {
        self.screen.lock().unwrap().parser.screen().contents()
    }

    fn bytes(&self) -> usize {
        self.screen.lock().unwrap().bytes
    }

    /// Waits until the screen shows this.
    pub(crate) fn wait_for(&self, text: &str) {
        let shown = until(Deadline::after(AGENT_PATIENCE), || self.text().contains(text));
        assert!(shown, "{text:?} is not shown:\n{}", self.text());
    }

    /// Types a line and an Enter, once the program has taken the line.
    pub(crate) fn enter(&mut self, line: &str) {
        self.master.write_all(line.as_bytes()).unwrap();
        self.wait_for(line);
        for _ in 0..QUIET_TRIES {
            let before = self.bytes();
            if !until(Deadline::after(QUIET), || self.bytes() != before) {
                break;
            }
        }
        self.master.write_all(b"\r").unwrap();
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // The program leads its session, and what it started ends with the hangup at the latest.
        let _gone = group::signal(self.child.id(), Signal::KILL);
        let mut reaped = false;
        eventually_within(AGENT_PATIENCE, "the program is gone", || {
            reaped |= self.child.try_wait().is_ok_and(|status| status.is_some());
            reaped
        });
    }
}

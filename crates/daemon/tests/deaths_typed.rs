//! The daemon or a shim dies at each step in which a message is entered into a program that is read by an adapter: it is
//! submitted once, or doubt is said.
//!
//! Each run arms a point of the code, says a word, and brings daemons up until the word is settled. The program keeps
//! what was submitted to it. `EDGEPLANE_DEATHS` says how many runs there are; a quarter of them are these.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on ends at once")]
#![expect(clippy::print_stderr, reason = "what each run does is shown with a failure")]

use std::{fs, path::PathBuf, time::Duration};

use edgeplane_os::{
    failpoint,
    wait::{self, Deadline},
};
use edgeplane_testkit::{Connection, Node, random::Random, tui::Tui};
use edgeplane_types::{Activity, Rung};
use edgeplane_wire::{
    api::{
        agent::{AgentParams, ChangeParams},
        message::{InboxParams, MessageView},
    },
    catalogue::{AgentGet, AgentRestart, AgentSnapshot, InboxList},
};

/// Runs of all tests of deaths together unless `EDGEPLANE_DEATHS` says otherwise, and which share of them is here.
const RUNS: u64 = 500;

/// How long a run may take; a stuck one is told with its point.
const PATIENCE: Duration = Duration::from_secs(90);

/// The agent.
const NAME: &str = "typed";

/// Where a process may die, and whose folder arms it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Node,
    Shim,
}

/// How the program takes what is entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scene {
    /// It takes it.
    Takes,
    /// It does not hear the submit keys, so that the text is taken out again.
    Deaf,
    /// It takes it, and shows nothing that is understood from then on.
    Blind,
}

/// A point, and at which of its passages in one run a process dies there.
type Point = (Place, &'static str, u64);

/// Every step up to the end of a message that is taken. A shim writes the text first and the submit keys second.
const TAKEN: [Point; 18] = [
    (Place::Node, "paste.before", 1),
    (Place::Node, "paste.after", 1),
    (Place::Shim, "shim.begun", 1),
    (Place::Shim, "shim.marked", 1),
    (Place::Shim, "shim.written", 1),
    (Place::Shim, "shim.recorded", 1),
    (Place::Shim, "shim.answered", 1),
    (Place::Node, "shown.before", 1),
    (Place::Node, "shown.after", 1),
    (Place::Node, "submit.before", 1),
    (Place::Node, "submit.after", 1),
    (Place::Shim, "shim.begun", 2),
    (Place::Shim, "shim.marked", 2),
    (Place::Shim, "shim.written", 2),
    (Place::Shim, "shim.recorded", 2),
    (Place::Shim, "shim.answered", 2),
    (Place::Node, "seen.before", 1),
    (Place::Node, "seen.after", 1),
];

/// The steps in which a text that was not taken is taken out; the keys for it are the third that a shim writes.
const CLEARED: [Point; 9] = [
    (Place::Node, "clear.before", 1),
    (Place::Node, "clear.after", 1),
    (Place::Shim, "shim.begun", 3),
    (Place::Shim, "shim.marked", 3),
    (Place::Shim, "shim.written", 3),
    (Place::Shim, "shim.recorded", 3),
    (Place::Shim, "shim.answered", 3),
    (Place::Node, "cleared.before", 1),
    (Place::Node, "cleared.after", 1),
];

/// The steps in which doubt is said.
const DOUBTED: [Point; 2] = [(Place::Node, "doubt.before", 1), (Place::Node, "doubt.after", 1)];

struct World {
    node: Node,
    tui: Tui,
    random: Random,
    said: usize,
}

impl World {
    fn new(test: &str) -> Self {
        let node = Node::start();
        let more = "restart: { policy: always, backoff: { initial: 0s, max: 0s, jitterPercent: 0 }, breaker: { failures: 0 } }\ndelivery: { ambiguous: hold }";
        let tui = Tui::start(&node, NAME, "idle", more);
        Self { node, tui, random: Random::seeded(test), said: 0 }
    }

    fn path(&self, (place, name, _): Point) -> PathBuf {
        let state = self.node.state_dir();
        let of = match place {
            Place::Node => state,
            Place::Shim => {
                let agents = fs::read_dir(state.join("agents")).unwrap();
                agents.map(|agent| agent.unwrap().path()).find(|path| path.is_dir()).unwrap()
            }
        };
        let folder = of.join(failpoint::FOLDER);
        fs::create_dir_all(&folder).unwrap();
        folder.join(name)
    }

    fn until(&mut self, what: &str, mut is_so: impl FnMut(&mut Self) -> bool) {
        if wait::until(Deadline::after(PATIENCE), || is_so(self)) {
            return;
        }
        let screen = match self.node.has_ended() {
            true => String::new(),
            false => self.node.connect().call::<AgentSnapshot>(&AgentParams { agent: NAME.into() }).recorded,
        };
        panic!("in vain: {what}\n{:?}\n{screen}\n{}", self.last(), self.node.log());
    }

    /// Brings daemons up until one stays.
    fn revive(&mut self) {
        let until = Deadline::after(PATIENCE);
        while self.node.has_ended() {
            assert!(!until.remaining().is_zero(), "no daemon stays");
            let _died_again = self.node.try_up();
        }
    }

    /// The newest message, if a daemon is there that tells.
    fn last(&mut self) -> Option<MessageView> {
        if self.node.has_ended() {
            return None;
        }
        // It may die while it answers.
        let mut connection = Connection::open(&self.node.socket()).ok()?;
        let params = InboxParams { agent: NAME.into(), all: true, limit: 1 };
        let inbox = connection.try_call::<InboxList>(&params).ok()?;
        inbox.items.into_iter().max_by_key(|message| message.message_id)
    }

    fn activity(&mut self) -> Option<Activity> {
        let mut connection = Connection::open(&self.node.socket()).ok()?;
        let agent = connection.try_call::<AgentGet>(&AgentParams { agent: NAME.into() }).ok()?;
        Some(agent.status.activity)
    }

    fn rung(&mut self) -> Option<Rung> {
        self.last()?.receipts.last().map(|receipt| receipt.rung)
    }

    fn is_held(&mut self, why: &str) -> bool {
        self.last().and_then(|message| message.reason).is_some_and(|reason| reason.contains(why))
    }

    /// How often a word was submitted.
    fn times(&self, token: &str) -> usize {
        self.tui.submitted().iter().filter(|text| text.contains(token)).count()
    }

    fn run(&mut self, scene: Scene, point: Point) {
        self.said += 1;
        let token = format!("<word {}>", self.said);
        let mut armed = vec![point];
        // Whoever takes over may die as well.
        if point.0 == Place::Node && scene == Scene::Takes && self.random.below(3) == 0 {
            let others: Vec<Point> = TAKEN
                .into_iter()
                .filter(|(place, name, _)| *place == Place::Node && *name != point.1)
                .collect();
            let index = self.random.below(u64::try_from(others.len()).unwrap());
            armed.push(others[usize::try_from(index).unwrap()]);
        }
        eprintln!("{scene:?} {armed:?} {token}");
        // Two runs alike would leave it as the first has left it.
        self.tui.set("idle");
        self.until("it follows", |world| world.tui.has_followed());
        self.tui.set(match scene {
            Scene::Takes => "idle",
            Scene::Deaf => "deaf",
            Scene::Blind => "blind",
        });
        self.until("it is idle", |world| {
            world.revive();
            world.tui.has_followed() && world.activity() == Some(Activity::Idle)
        });
        for point in &armed {
            fs::write(self.path(*point), point.2.to_string()).unwrap();
        }
        // Its answer may die with the daemon; the message was made durable before.
        drop(self.node.try_signal(NAME, &token, None));
        let first = self.path(point);
        self.until("the point is met", |world| {
            // Unless the other one comes before it.
            if first.exists() {
                world.revive();
            }
            !first.exists()
        });
        // Of two deaths the first may have been the other one, and the next daemon has died and been followed by now.
        if point.0 == Place::Node && armed.len() == 1 {
            self.until("the daemon dies", |world| world.node.has_ended());
        }
        if scene == Scene::Deaf {
            self.tui.set("idle");
        }
        self.revive();
        let expected = self.expected(scene, point);
        if scene == Scene::Deaf {
            self.until("it was taken out again, or a new program has it", |world| {
                world.revive();
                world.is_held("did not take what was submitted") || world.rung() == Some(expected)
            });
            if self.rung() != Some(expected) {
                assert_eq!(self.times(&token), 0, "{point:?}: a deaf program has taken nothing");
                // A new program is not rested from.
                self.node.connect().call::<AgentRestart>(&ChangeParams { agent: NAME.into(), reason: None });
            }
        }
        self.until(&format!("{point:?} is {expected:?}"), |world| {
            world.revive();
            world.rung() == Some(expected)
        });
        armed.iter().for_each(|point| drop(fs::remove_file(self.path(*point))));
        let times = self.times(&token);
        let may = match (expected, point) {
            // Marked, and died before its first byte.
            (Rung::Ambiguous, (Place::Shim, "shim.marked", _)) => 0..=0,
            (Rung::Ambiguous, (Place::Shim, ..)) => 0..=1,
            _ => 1..=1,
        };
        assert!(may.contains(&times), "{point:?}: {token} is {expected:?} and was submitted {times} times");
    }

    /// What becomes of the word: only the submit keys can leave doubt.
    fn expected(&self, scene: Scene, point: Point) -> Rung {
        match (scene, point) {
            (Scene::Blind, _) => Rung::Ambiguous,
            (Scene::Takes, (Place::Shim, name, 2)) if name != "shim.begun" => Rung::Ambiguous,
            // The submit keys were written, and the keys that clear are not even marked.
            (Scene::Deaf, (Place::Shim, "shim.begun", _)) => Rung::Ambiguous,
            _ => Rung::Injected,
        }
    }

    /// Looks at everything once more: no word came twice, or under two ids, and the record is whole.
    fn end(mut self) {
        self.revive();
        assert_eq!(self.node.inbox(NAME).len(), self.said, "each word is one message");
        for text in self.tui.submitted() {
            assert_eq!(text.matches("<word ").count(), 1, "two messages met in one: {text}");
        }
        for number in 1..=self.said {
            assert!(self.times(&format!("<word {number}>")) <= 1, "{number}");
        }
        self.node.verify();
    }
}

fn rounds(points: usize, at_least: u64) -> u64 {
    let runs = std::env::var("EDGEPLANE_DEATHS").map_or(RUNS, |text| text.parse().unwrap());
    (runs / 4 / u64::try_from(points).unwrap()).max(at_least)
}

fn share(test: &str, of_which: usize) {
    let mut world = World::new(test);
    for _round in 0..rounds(2 * TAKEN.len(), 1) {
        for point in TAKEN.into_iter().skip(of_which).step_by(2) {
            world.run(Scene::Takes, point);
        }
    }
    world.end();
}

/// Proves TERM-008.
#[test]
fn what_is_taken_is_submitted_once_first_share() {
    share("typed, first share", 0);
}

/// Proves TERM-008.
#[test]
fn what_is_taken_is_submitted_once_second_share() {
    share("typed, second share", 1);
}

/// Proves TERM-007, TERM-008. Each run waits as long as a program may take to submit.
#[test]
fn what_is_not_taken_is_taken_out_and_entered_anew() {
    let mut world = World::new("typed, not taken");
    CLEARED.into_iter().for_each(|point| world.run(Scene::Deaf, point));
    world.end();
}

/// Proves TERM-008.
#[test]
fn what_nobody_can_see_is_doubted_once() {
    let mut world = World::new("typed, doubted");
    DOUBTED.into_iter().for_each(|point| world.run(Scene::Blind, point));
    world.end();
}

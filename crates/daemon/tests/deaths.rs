//! The daemon or a shim dies at each step of delivery: nothing acknowledged is lost, nothing is injected twice, and what
//! nobody can know is called ambiguous.
//!
//! Each run arms a point of the code by its number, says its words, and brings daemons up until one has settled
//! everything. `EDGEPLANE_DEATHS` says how many runs there are.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on ends at once")]
#![expect(clippy::print_stderr, reason = "how often each point was met is shown with a failure")]

use std::{collections::BTreeMap, fs, path::PathBuf, time::Duration};

use edgeplane_os::{
    failpoint,
    wait::{self, Deadline},
};
use edgeplane_testkit::{Connection, Node, native, random::Random, terminal};
use edgeplane_types::{DeliveryMode, ErrorName, MessageId, Priority, Rung};
use edgeplane_wire::{
    api::message::{DropParams, MessageParams, MessageView, SignalResult},
    catalogue::{DeadLetterDrop, DeadLetterReplay, MessageGet},
    rpc::{self, Id, Incoming},
};
use serde_json::json;

/// Runs of all tests together unless `EDGEPLANE_DEATHS` says otherwise.
const RUNS: u64 = 500;

/// Over how many tests they are spread, so that processors work beside each other.
const SHARES: u64 = 4;

/// Words of one run to agents that are there to hear them.
const WORDS: u64 = 6;

/// How long a run may take; a stuck one is told with its seed.
const PATIENCE: Duration = Duration::from_secs(60);

/// Where a process may die, and whose folder arms it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The daemon.
    Node,
    /// The daemon's writer of the record.
    Record,
    /// The shim of the agent that speaks the native driver.
    Shim,
}

/// Every step of delivery, before and after; and at most how many passages of it one run makes.
const POINTS: [(Place, &str, u64); 25] = [
    (Place::Node, "accept.before", 6),
    (Place::Record, "commit.before", 12),
    (Place::Record, "commit.after", 12),
    (Place::Node, "accept.after", 6),
    (Place::Node, "answer.before", 3),
    (Place::Node, "answer.after", 3),
    (Place::Node, "send.before", 6),
    (Place::Node, "send.after", 6),
    (Place::Shim, "shim.begun", 2),
    (Place::Shim, "shim.marked", 2),
    (Place::Shim, "shim.written", 2),
    (Place::Shim, "shim.recorded", 2),
    (Place::Shim, "shim.answered", 2),
    (Place::Node, "injected.before", 5),
    (Place::Node, "injected.after", 5),
    (Place::Node, "observed.before", 2),
    (Place::Node, "observed.after", 2),
    (Place::Node, "ended.before", 2),
    (Place::Node, "ended.after", 2),
    (Place::Node, "expire.before", 1),
    (Place::Node, "expire.after", 1),
    (Place::Node, "letter.before", 1),
    (Place::Node, "letter.after", 1),
    (Place::Node, "adopt.before", 2),
    (Place::Node, "adopt.after", 2),
];

/// Where what became of a cut message is settled; they are met only behind a shim's death.
const SETTLING: [&str; 2] = ["settle.before", "settle.after"];

/// A program that keeps each line it is told, observes each message and ends its turn.
fn hearing(path: &std::path::Path) -> String {
    format!(
        r#"while IFS= read -r line; do
            printf '%s\n' "$line" >> {path}
            case $line in *'"agent/message.deliver"'*)
                id=${{line#*'"message_id":"'}}; id=${{id%%'"'*}}
                echo '{{"jsonrpc":"2.0","method":"agent/message.observe","params":{{"message_id":"'$id'"}}}}'
                echo '{{"jsonrpc":"2.0","method":"agent/turn.complete","params":{{"message_id":"'$id'","output":"x"}}}}';;
            esac
        done"#,
        path = path.display()
    )
}

/// What was said in a run.
#[derive(Debug)]
struct Word {
    agent: &'static str,
    /// Unique in the node, and its idempotency key.
    token: String,
    params: serde_json::Value,
    acknowledged: Option<MessageId>,
}

/// A node with three agents: one hears over the native driver, one on a terminal, one sleeps for ever.
struct World {
    node: Node,
    random: Random,
    heard: BTreeMap<&'static str, PathBuf>,
    said: u64,
    /// Dead letters of the sleeper.
    letters: Vec<MessageId>,
    /// How often each point was armed and met.
    met: BTreeMap<&'static str, (u64, u64)>,
    everything: Vec<Word>,
}

/// What one run does to the node.
#[derive(Debug)]
struct Deaths {
    armed: Vec<(Place, &'static str, u64)>,
    /// Whether something but the daemon dies, so that there can be doubt.
    of_a_shim: bool,
    by_hand: bool,
}

impl World {
    fn new(test: &str) -> Self {
        let mut node = Node::start();
        // The folder of the runtime is short, that of scratch need not be.
        let heard = BTreeMap::from([
            ("native", node.scratch().join("native.heard")),
            ("screen", node.scratch().join("screen.heard")),
        ]);
        let restart = "restart: { policy: always, backoff: { initial: 0s, max: 0s, jitterPercent: 0 }, breaker: { failures: 0 } }\ndelivery: { ambiguous: hold }";
        node.run("native", &native("native", &["/bin/sh", "-c", &hearing(&heard["native"])], restart));
        let cat = format!("exec cat >> {}", heard["screen"].display());
        node.run("screen", &terminal("screen", &["/bin/sh", "-c", &cat], restart));
        node.apply(&native("asleep", &["/bin/cat"], "run: stopped"));
        assert!(!node.has_ended());
        let (letters, met, everything) = (Vec::new(), BTreeMap::new(), Vec::new());
        Self { node, random: Random::seeded(test), heard, said: 0, letters, met, everything }
    }

    fn folder(&self, place: Place) -> PathBuf {
        let state = self.node.state_dir();
        let of = match place {
            Place::Node => state,
            Place::Record => state.join("record"),
            Place::Shim => state.join("agents").join(self.id_of("native")),
        };
        of.join(failpoint::FOLDER)
    }

    fn id_of(&self, agent: &str) -> String {
        // Its folder is known without the daemon, which may be gone.
        let path = self.node.scratch().join(format!("{agent}.id"));
        fs::read_to_string(&path).unwrap_or_else(|_| {
            let id = self.node.get(agent).metadata["id"].as_str().unwrap().to_owned();
            fs::write(&path, &id).unwrap();
            id
        })
    }

    /// What dies in run `number`: each point in turn, and sometimes a second one.
    fn draw_deaths(&mut self, number: u64) -> Deaths {
        let index = usize::try_from(number).unwrap();
        let (place, name, passages) = POINTS[index % POINTS.len()];
        let mut armed = vec![(place, name, 1 + self.random.below(passages))];
        if place == Place::Shim {
            // Whoever settles it may die as well.
            let settling = SETTLING[index / POINTS.len() % 2];
            if self.random.below(2) == 0 {
                armed.push((Place::Node, settling, 1));
            }
        } else if self.random.below(4) == 0 {
            let (place, name, passages) = self.draw_point();
            if place != Place::Shim && name != armed[0].1 {
                armed.push((place, name, 1 + self.random.below(passages)));
            }
        }
        let by_hand = armed.iter().any(|(_, name, _)| name.starts_with("adopt."));
        Deaths { of_a_shim: place == Place::Shim, armed, by_hand }
    }

    fn draw_point(&mut self) -> (Place, &'static str, u64) {
        let count = u64::try_from(POINTS.len()).unwrap();
        POINTS[usize::try_from(self.random.below(count)).unwrap()]
    }

    fn arm(&self, deaths: &Deaths) {
        for (place, name, passage) in &deaths.armed {
            let folder = self.folder(*place);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(name), passage.to_string()).unwrap();
        }
    }

    /// Disarms what was not met, and tells whether the first point was.
    fn disarm(&mut self, deaths: &Deaths) -> bool {
        let mut all = Vec::new();
        for (place, name, _) in &deaths.armed {
            let was_met = fs::remove_file(self.folder(*place).join(name)).is_err();
            let (armed, met) = self.met.entry(name).or_default();
            *armed += 1;
            *met += u64::from(was_met);
            all.push(was_met);
        }
        all[0]
    }

    fn words(&mut self) -> Vec<Word> {
        (0..WORDS).map(|number| self.word(if number % 3 == 2 { "screen" } else { "native" }, None)).collect()
    }

    fn word(&mut self, agent: &'static str, expires_in_ms: Option<u64>) -> Word {
        self.said += 1;
        let token = format!("<{agent} {}>", self.said);
        let modes = [DeliveryMode::Queue, DeliveryMode::Queue, DeliveryMode::Steer, DeliveryMode::Interrupt];
        // An interrupt would let the terminal forget what it was typed before.
        let mode = modes[usize::try_from(self.random.below(if agent == "screen" { 3 } else { 4 })).unwrap()];
        let priorities = [Priority::Low, Priority::Normal, Priority::High];
        let priority = priorities[usize::try_from(self.random.below(3)).unwrap()];
        let params = json!({
            "agent": agent, "parts": [{ "type": "text", "text": token }], "mode": mode, "priority": priority,
            "idempotency_key": token, "expires_in_ms": expires_in_ms,
        });
        Word { agent, token, params, acknowledged: None }
    }

    /// What the last daemons said.
    fn log(&self) -> String {
        let log = self.node.log();
        let lines: Vec<&str> = log.lines().rev().take(20).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join("\n")
    }

    /// Brings daemons up until one stays.
    fn revive(&mut self, until: Deadline) {
        while self.node.has_ended() {
            assert!(!until.remaining().is_zero(), "no daemon stays");
            let _died_again = self.node.try_up();
        }
    }

    /// Asks until there is an answer; what breaks off is asked again of the next daemon.
    fn insist<T>(
        &mut self,
        mut ask: impl FnMut(&mut Connection) -> Result<T, rpc::RpcError>,
    ) -> Result<T, rpc::RpcError> {
        let until = Deadline::after(PATIENCE);
        loop {
            assert!(!until.remaining().is_zero(), "no answer:\n{}", self.log());
            self.revive(until);
            let Ok(mut connection) = Connection::open(&self.node.socket()) else { continue };
            match ask(&mut connection) {
                Err(error) if error.name() == ErrorName::Unavailable => {}
                other => return other,
            }
        }
    }

    /// Says words until each is acknowledged: all at once, and again those without an answer.
    fn say(&mut self, words: &mut [Word]) {
        while words.iter().any(|word| word.acknowledged.is_none()) {
            let answers = self.insist(|connection| {
                let open: Vec<(i64, &Word)> =
                    (0..).zip(words.iter()).filter(|(_, word)| word.acknowledged.is_none()).collect();
                for (number, word) in &open {
                    connection.send(&rpc::request(
                        &Id::Number(*number),
                        "runtime/agent.signal",
                        &word.params,
                    ))?;
                }
                let mut answers = Vec::new();
                while answers.len() < open.len() {
                    match connection.read() {
                        Ok(Incoming::Response { id: Id::Number(number), outcome }) => {
                            let result: SignalResult = serde_json::from_str(outcome.unwrap().get()).unwrap();
                            answers.push((usize::try_from(number).unwrap(), result.message_id));
                        }
                        Ok(other) => panic!("{other:?}"),
                        // What came before the end counts: it was acknowledged.
                        Err(_) => break,
                    }
                }
                Ok(answers)
            });
            for (number, message_id) in answers.unwrap() {
                words[number].acknowledged = Some(message_id);
            }
        }
    }

    fn view(&mut self, message_id: MessageId) -> MessageView {
        self.insist(|connection| connection.try_call::<MessageGet>(&MessageParams { message_id })).unwrap()
    }

    /// Waits until each word has a rung that satisfies `is_settled`.
    fn settled(
        &mut self,
        words: &[Word],
        until: Deadline,
        is_settled: impl Fn(&Word, Rung) -> bool,
    ) -> Vec<Rung> {
        loop {
            let ladders: Vec<Vec<Rung>> = words
                .iter()
                .map(|word| {
                    let view = self.view(word.acknowledged.unwrap());
                    view.receipts.iter().map(|receipt| receipt.rung).collect()
                })
                .collect();
            for ladder in &ladders {
                assert!(ladder.is_sorted_by_key(|rung| *rung as u8), "out of order: {ladder:?}");
            }
            let rungs: Vec<Rung> = ladders.iter().map(|ladder| *ladder.last().unwrap()).collect();
            if words.iter().zip(&rungs).all(|(word, rung)| is_settled(word, *rung)) {
                return rungs;
            }
            // Judged before the next question, which would give up without saying of what.
            assert!(!until.remaining().is_zero(), "{words:?}\n{rungs:?}\n{}", self.log());
        }
    }

    /// Replays or drops a dead letter of a former run. Asked again after a death, it may be done already.
    fn letter(&mut self) {
        let Some(message_id) = self.letters.pop() else { return };
        let replays = self.random.below(2) == 0;
        let done = self.insist(|connection| {
            if replays {
                connection.try_call::<DeadLetterReplay>(&MessageParams { message_id }).map(drop)
            } else {
                let params = DropParams { message_id, reason: "not wanted".to_owned() };
                connection.try_call::<DeadLetterDrop>(&params).map(drop)
            }
        });
        assert!(done.is_ok() || done.is_err_and(|error| error.name() == ErrorName::InvalidState));
        let view = self.view(message_id);
        let rungs: Vec<Rung> = view.receipts.iter().map(|receipt| receipt.rung).collect();
        assert_eq!(rungs, [Rung::Accepted, Rung::Expired], "no receipt changes by it");
    }

    fn run(&mut self, number: u64) {
        let until = Deadline::after(PATIENCE);
        let deaths = self.draw_deaths(number);
        eprintln!("run {number}: {:?}", deaths.armed);
        self.arm(&deaths);
        let mut words = self.words();
        let soon = 1 + self.random.below(5);
        let mut late = [self.word("asleep", Some(soon))];
        self.say(&mut words);
        self.say(&mut late);
        if deaths.by_hand && !self.node.has_ended() {
            self.node.kill_daemon();
        }
        self.letter();
        let rungs = self.settled(&words, until, |word, rung| {
            rung == Rung::Ambiguous || rung == if word.agent == "screen" { Rung::Injected } else { Rung::TurnEnded }
                // A program that died with its shim ends no turn any more.
                || deaths.of_a_shim && matches!(rung, Rung::Injected | Rung::Observed | Rung::TurnEnded)
        });
        self.settled(&late, until, |_, rung| rung == Rung::Expired);
        let was_met = self.disarm(&deaths);
        self.judge(&deaths, was_met, &words, &rungs);
        self.letters.extend(late.iter().filter_map(|word| word.acknowledged));
        self.everything.extend(words);
    }

    /// How often a word came to its program.
    fn times_heard(&self, word: &Word) -> usize {
        let text = fs::read_to_string(&self.heard[word.agent]).unwrap_or_default();
        // What a session is told of former epochs quotes the word, and is no delivery.
        let is_delivery = |line: &&str| word.agent == "screen" || line.contains("agent/message.deliver");
        text.lines().filter(is_delivery).filter(|line| line.contains(&word.token)).count()
    }

    fn judge(&self, deaths: &Deaths, was_met: bool, words: &[Word], rungs: &[Rung]) {
        let point = deaths.armed[0].1;
        let mut doubts = 0;
        for (word, rung) in words.iter().zip(rungs) {
            let expected = match rung {
                Rung::Ambiguous => {
                    doubts += 1;
                    // Before the first byte nothing can have been heard; behind it, perhaps.
                    0..=usize::from(point != "shim.marked")
                }
                // The program may have died with its shim before it read.
                _ if deaths.of_a_shim && word.agent == "native" => 0..=1,
                _ => 1..=1,
            };
            // A program on a terminal reads in its own time what was typed.
            let came = wait::until(Deadline::after(PATIENCE), || self.times_heard(word) >= *expected.start());
            let times = self.times_heard(word);
            assert!(
                came && expected.contains(&times),
                "{point}: {word:?} is {rung:?} and was heard {times} times"
            );
        }
        let is_cut = matches!(point, "shim.marked" | "shim.written") && was_met;
        assert_eq!(doubts, usize::from(is_cut), "{deaths:?}: {rungs:?}");
    }

    /// Looks at everything once more: no word came twice, or under two ids, and the record is whole.
    fn end(mut self, runs: u64) {
        eprintln!("points: armed, met: {:#?}", self.met);
        self.revive(Deadline::after(PATIENCE));
        for agent in ["native", "screen"] {
            let mine: Vec<&Word> = self.everything.iter().filter(|word| word.agent == agent).collect();
            let inbox = self.node.inbox(agent);
            assert_eq!(inbox.len(), mine.len(), "each word is one message");
            for word in mine {
                assert!(self.times_heard(word) <= 1, "{word:?}");
            }
        }
        if runs >= 4 * u64::try_from(POINTS.len()).unwrap() {
            let missed: Vec<&str> = POINTS
                .iter()
                .map(|(_, name, _)| *name)
                .filter(|name| self.met.get(name).is_none_or(|met| met.1 == 0))
                .collect();
            assert!(missed.is_empty(), "never met: {missed:?}");
        }
        self.node.verify();
    }
}

fn share(test: &str, share: u64) {
    let runs = std::env::var("EDGEPLANE_DEATHS").map_or(RUNS, |text| text.parse().unwrap());
    let mine: Vec<u64> = (0..runs).filter(|number| number / 25 % SHARES == share).collect();
    let mut world = World::new(test);
    for number in &mine {
        world.run(*number);
    }
    world.end(mine.len().try_into().unwrap());
}

#[test]
fn first_share() {
    share("deaths, first share", 0);
}

#[test]
fn second_share() {
    share("deaths, second share", 1);
}

#[test]
fn third_share() {
    share("deaths, third share", 2);
}

#[test]
fn fourth_share() {
    share("deaths, fourth share", 3);
}

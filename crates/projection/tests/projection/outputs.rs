//! No reader may miss what a turn gave.

use edgeplane_projection::{Numbered, find, turn_of};
use edgeplane_types::{Fact, StreamName};
use proptest::prelude::*;

use crate::{
    lives::{World, world},
    support::{agents, main_thread, of_session, of_thread, of_turn, run, threads},
};

fn has_output(said: &[Numbered], kinds: &[&str], turn: &str, digest: &str) -> bool {
    said.iter().any(|numbered| {
        kinds.contains(&numbered.entry.kind)
            && numbered.entry.ids.turn_id.is_some_and(|id| id.to_string() == turn)
            && numbered.entry.refs.iter().any(|body| body.name == "output" && body.digest == digest)
    })
}

fn check(world: &World) {
    for of in agents(world) {
        let (_, exported) = run(find("agentruntime.events").unwrap(), &of_session(world, of), &world.record);
        let transcripts: Vec<_> = threads(world, of)
            .into_iter()
            .map(|thread| {
                (
                    thread,
                    run(find("thread.transcript").unwrap(), &of_thread(world, of, thread), &world.record),
                )
            })
            .collect();
        for stored in &world.record {
            let Fact::TurnCompleted { turn_id, message_id, output_digest, .. } = &stored.event.fact else {
                continue;
            };
            if stored.event.stream != StreamName::Agent(of.0) {
                continue;
            }
            let turn = message_id.map_or(*turn_id, turn_of).to_string();
            let thread = message_id.and_then(|message| {
                world.record.iter().find_map(|stored| match &stored.event.fact {
                    Fact::MessageAccepted { envelope } if envelope.id == message => envelope.thread,
                    _ => None,
                })
            });
            let thread = thread.unwrap_or_else(|| main_thread(of.1));
            for (id, (_, said)) in &transcripts {
                let is_there = has_output(said, &["turn.completed"], &turn, output_digest);
                assert_eq!(is_there, *id == thread, "turn {turn} in the transcript of {id}");
            }
            let ends = ["turn.completed", "turn.failed"];
            assert!(has_output(&exported, &ends, &turn, output_digest), "turn {turn} is exported");
            let named = exported.iter().any(|numbered| {
                let event = numbered.entry.payload.value();
                ends.contains(&numbered.entry.kind)
                    && event["outputRef"] == format!("sha256:{output_digest}")
                    && event["payload"]["finalOutput"]["digest"] == output_digest.as_str()
                    && event["turnId"] == turn.as_str()
            });
            assert!(named, "the end of turn {turn} names its output");
            if let Some(message) = message_id {
                let (items, said) =
                    run(find("turn.items").unwrap(), &of_turn(world, of, *message), &world.record);
                assert!(has_output(&said, &["turn.completed"], &turn, output_digest), "items of {turn}");
                assert!(!items.state()["final_output"].is_null());
            }
        }
        for (_, (running, said)) in &transcripts {
            let ended = said.iter().filter(|numbered| numbered.entry.kind == "turn.completed").count();
            assert_eq!(running.state()["turns_completed"], ended);
            assert_eq!(running.state()["last_output"].is_null(), ended == 0);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Proves PROJ-007.
    #[test]
    fn every_turns_output_is_where_its_readers_look(seed: u64, events in 10_usize..400) {
        check(&world(seed, 2, events, false));
    }
}

//! Measures how fast each projection folds events that are parsed already. Prints one line of JSON per projection.
//!
//! Arguments: the number of events (default: 1,000,000) and the only projection wanted (default: all). The record is
//! that of one busy agent and its node, generated; a thread's and a turn's projections look for the main thread and
//! for the first turn. The digest is part of what is measured, the making of events is not.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "the lines are the result")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock itself")]
#![expect(clippy::unwrap_used, reason = "the generator of the tests is shared")]

#[path = "../tests/projection/lives.rs"]
mod lives;

use std::{
    error::Error,
    time::{Duration, Instant},
};

use edgeplane_projection::{Input, PROJECTIONS, Running, Subject};
use edgeplane_types::{Fact, MessageId};
use edgeplane_wire::api::stream::{Target, TargetKind};

/// Events that are held at once: enough that the clock is read rarely, few enough for any machine.
const PART: usize = 50_000;

struct Measured {
    running: Running,
    took: Duration,
    folded: u64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let events = arguments.next().map_or(Ok(1_000_000), |text| text.parse::<usize>())?;
    let wanted = arguments.next();
    let mut world = lives::world(1, 1, PART.min(events), true);
    let mut measured = begin(&world, wanted.as_deref());
    let mut left = events;
    loop {
        left = left.saturating_sub(world.record.len());
        for one in &mut measured {
            measure(one, &world.record);
        }
        if left == 0 {
            break;
        }
        world.record.clear();
        world.live_on(PART.min(left));
    }
    for one in &measured {
        let seconds = one.took.as_secs_f64();
        println!(
            "{{\"projection\":\"{}\",\"target\":\"{}\",\"events\":{},\"envelopes\":{},\"events_per_s\":{:.0},\"state_bytes\":{},\"checkpoint_bytes\":{}}}",
            one.running.definition().name,
            one.running.subject().target.kind.as_str(),
            one.folded,
            one.running.n(),
            f64::from(u32::try_from(one.folded)?) / seconds,
            one.running.state().to_string().len(),
            one.running.save().len(),
        );
    }
    Ok(())
}

fn begin(world: &lives::World, wanted: Option<&str>) -> Vec<Measured> {
    let mut measured = Vec::new();
    for definition in PROJECTIONS.iter().filter(|one| wanted.is_none_or(|wanted| wanted == one.name)) {
        for kind in definition.targets {
            if let Some(subject) = subject(world, *kind) {
                let running = Running::new(definition, &subject);
                measured.push(Measured { running, took: Duration::ZERO, folded: 0 });
            }
        }
    }
    measured
}

fn subject(world: &lives::World, kind: TargetKind) -> Option<Subject> {
    let session = world.record.iter().find_map(|stored| match &stored.event.fact {
        Fact::AgentDeclared { session_id, .. } => Some(*session_id),
        _ => None,
    })?;
    let first: Option<MessageId> = world.record.iter().find_map(|stored| match &stored.event.fact {
        Fact::MessageInjected { message_id, .. } => Some(*message_id),
        _ => None,
    });
    let life = world.lives.first()?;
    let all = Subject {
        target: Target { kind, id: None },
        node: Some(world.node),
        agent: Some(life.agent),
        session: Some(session),
        ..Subject::default()
    };
    Some(match kind {
        TargetKind::Node => Subject { agent: None, session: None, ..all },
        TargetKind::Agent | TargetKind::Session => all,
        TargetKind::Thread => Subject { thread: life.threads.first().copied(), ..all },
        TargetKind::Turn => Subject { turn: first, ..all },
        TargetKind::Trace | TargetKind::Task => return None,
    })
}

fn measure(one: &mut Measured, record: &[lives::Stored]) {
    let began = Instant::now();
    let mut folded = 0;
    for stored in record {
        let input = Input { pos: stored.pos, hash: &stored.hash, event: &stored.event };
        drop(one.running.fold(&input));
        folded += 1;
    }
    one.took += began.elapsed();
    one.folded += folded;
}

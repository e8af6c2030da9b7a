//! AC-5, AC-6, AC-10, AC-16: what outlives a restart, a compaction, a long time, a connection.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{of_kind, says, says_all};
use crate::{
    http::{Feed, Sent},
    rules::{kind, sequence, word},
    schemas::Form,
    stream::event_of,
    template::{pick, words},
    watch::path_of,
    world::{Part, Step, Stop, World, must, short},
};

/// Turns of a session that counts as old.
const OLD_TURNS: usize = 30;

/// Turns of one page of it.
const PAGE: usize = 10;

/// Events that are heard before a connection is given up.
const HEARD: usize = 5;

pub(super) fn queue_survives(world: &mut World) -> Step<()> {
    let worker = world.part("worker")?;
    let busy = world.submit(&worker, "gated")?.text("turnId")?;
    let required = world.of_turn(&worker, "action.required", &busy)?;
    let mut waiting = Vec::new();
    for _ in 0..3 {
        let said = world.submit(&worker, "short")?;
        let turn = said.text("turnId")?;
        must(said.get("disposition") == "queued", || {
            format!("a turn for a busy thread is neither queued nor refused: {}", short(&said.raw))
        })?;
        world.of_turn(&worker, "queue.changed", &turn)?;
        waiting.push(turn);
    }
    let is_same = |world: &mut World, expected: &[String]| -> Step<()> {
        let queue = world.ask("list_queue", &json!({ "agent": worker.agent, "threadId": worker.thread }))?;
        let found = queue.list("turns");
        must(found == expected, || format!("the queue is {} and not {expected:?}", short(&json!(found))))
    };
    is_same(world, &waiting)?;
    world.restart()?;
    is_same(world, &waiting)?;
    let thread = world.thread(&worker)?;
    let shown = pick(&thread, "/queuedTurns/*/turnId").to_string();
    must(waiting.iter().all(|turn| shown.contains(turn)), || {
        format!("the read model has lost turns that wait: {shown}")
    })?;
    // What waits can still be put in another order, or taken out.
    let (Some(last), [first, second, ..]) = (waiting.pop(), waiting.as_slice()) else { return Ok(()) };
    world.ask("promote_queued_turn", &json!({ "turnId": last }))?;
    is_same(world, &[last.clone(), first.clone(), second.clone()])?;
    world.ask("remove_queued_turn", &json!({ "turnId": second }))?;
    is_same(world, &[last.clone(), first.clone()])?;
    let (out, session) = (second.clone(), worker.clone());
    world.event(&session, "`queue.changed` of the turn that was removed", |event| {
        kind(event) == "queue.changed"
            && word(event, "turnId") == out
            && pick(event, "/payload/change") == "removed"
    })?;
    world.decide(&required, "approve")?;
    for turn in [&busy, &last, first] {
        let end = world.end_of(&worker, turn)?;
        must(kind(&end) == "turn.completed", || format!("turn {turn} ended with {}", short(&end)))?;
    }
    Ok(())
}

pub(super) fn compaction(world: &mut World) -> Step<()> {
    let worker = world.part("worker")?;
    world.turn(&worker, "short")?;
    let (before, _) = world.snapshot(&worker, Form::Strict)?;
    let evidence = pick(&before, "/evidenceRefs").as_array().cloned().unwrap_or_default();
    let turn = world.submit(&worker, "gated")?.text("turnId")?;
    let required = world.of_turn(&worker, "action.required", &turn)?;
    let from = world.heard(&worker).last().map_or(0, sequence);
    let asked = world.try_ask("compact_thread", &json!({ "agent": worker.agent, "threadId": worker.thread }));
    let outcome = asked.and_then(|said| match said {
        Ok(_) => compacted(world, &worker, (from, &required, &evidence)),
        Err(refused) => Err(Stop::Failed(format!("`compact_thread`: {refused}"))),
    });
    // Whatever became of it: nobody is left waiting.
    world.decide(&required, "approve")?;
    world.end_of(&worker, &turn)?;
    outcome
}

fn compacted(
    world: &mut World,
    worker: &Part,
    (from, required, evidence): (u64, &Value, &[Value]),
) -> Step<()> {
    let later = |wanted: &'static str| move |event: &Value| kind(event) == wanted && sequence(event) > from;
    let begun = world.event(worker, "the compaction's beginning", later("context.compaction.started"))?;
    let done = world.event(worker, "the compaction's end", later("context.compaction.completed"))?;
    must(sequence(&begun) < sequence(&done), || "the compaction ended before it began".to_owned())?;
    let boundary = ["/refs", "/outputRef", "/payload/summaryRef", "/payload/boundary"];
    must(boundary.iter().any(|place| says(&pick(&done, place))), || {
        format!("no boundary is kept: {}", short(&done))
    })?;
    let (after, _) = world.snapshot(worker, Form::Strict)?;
    let open = pick(&after, "/threads/*/pendingRequests/*/actionId").to_string();
    must(open.contains(word(required, "actionId")), || "the open action is gone".to_owned())?;
    let kept = pick(&after, "/evidenceRefs").as_array().cloned().unwrap_or_default();
    let lost = evidence.iter().find(|one| !kept.contains(one));
    must(lost.is_none(), || format!("a reference to evidence is gone: {}", short(&json!(lost))))
}

pub(super) fn old_session(world: &mut World) -> Step<()> {
    let worker = world.part("second")?;
    let mut all = Vec::new();
    for _ in 0..OLD_TURNS {
        all.push(world.submit(&worker, "short")?.text("turnId")?);
    }
    for turn in &all {
        world.end_of(&worker, turn)?;
    }
    // The shell first: what the session is, without its history.
    let shell = world.ask("get_session", &json!({ "sessionId": worker.session }))?;
    must(shell.text("sessionId")? == worker.session, || format!("another session: {}", short(&shell.raw)))?;
    let text = shell.raw.to_string();
    must(!all.iter().any(|turn| text.contains(turn)), || "the shell holds the history".to_owned())?;
    let mut page = json!({ "agent": worker.agent, "threadId": worker.thread, "limit": PAGE });
    let mut found: Vec<String> = Vec::new();
    let mut pages = 0;
    loop {
        let said = world.ask("list_turns", &page)?;
        let turns: Vec<String> =
            said.list("turns").iter().filter_map(Value::as_str).map(str::to_owned).collect();
        must(turns.len() <= PAGE, || format!("a page of {PAGE} has {} turns", turns.len()))?;
        if pages == 0 {
            let newest: BTreeSet<_> = all.iter().rev().take(PAGE).collect();
            must(turns.iter().collect::<BTreeSet<_>>() == newest, || {
                format!("the first page is not the recent window: {turns:?}")
            })?;
        }
        found.extend(turns);
        pages += 1;
        let next = said.get("next").clone();
        if !says(&next) || all.iter().all(|turn| found.contains(turn)) {
            break;
        }
        page.as_object_mut().map(|page| page.insert("cursor".to_owned(), next));
    }
    let distinct: BTreeSet<_> = found.iter().collect();
    must(distinct.len() == found.len(), || "a turn stands on two pages".to_owned())?;
    let missing = all.iter().find(|turn| !distinct.contains(turn));
    must(missing.is_none(), || format!("older history cannot be reached: {missing:?} is on no page"))?;
    must(pages >= OLD_TURNS / PAGE, || format!("all of it came in {pages} pages"))
}

pub(super) fn reconnect(world: &mut World) -> Step<()> {
    let worker = world.part("worker")?;
    world.turn(&worker, "short")?;
    let strict = world.mapping.stream.strict.clone();
    let path = path_of(&world.mapping, &worker.session, &strict);
    // A client that hears a few events and is gone.
    let mut feed = world.open(&format!("{path}{}", world.mapping.stream.from_start), None)?;
    let mut last = Sent::default();
    let mut heard = 0;
    while heard < HEARD {
        let sent = next(&mut feed, "the first events")?;
        if event_of(&sent, &world.mapping.stream).is_some() {
            (last, heard) = (sent, heard + 1);
        }
    }
    drop(feed);
    let acked = event_of(&last, &world.mapping.stream).map_or(0, |event| sequence(&event));
    // It comes back to where it was: what follows, without a gap and without a double.
    let again = format!("{path}{}", world.mapping.stream.from_start);
    let mut feed = world.open(&again, last.id.as_deref())?;
    let follows = first_event(world, &mut feed)?;
    must(sequence(&follows) == acked + 1, || {
        format!("after event {acked} the reconnected client hears event {}", sequence(&follows))
    })?;
    // Or with a snapshot, and what follows that.
    let with_snapshot = format!("{path}{}", world.mapping.stream.with_snapshot);
    let mut feed = world.open(&with_snapshot, None)?;
    let (snapshot, through) = begun(world, &mut feed)?;
    let wrong = world.watch.problems_of_snapshot(Form::Strict, &snapshot);
    must(wrong.is_empty(), || format!("the snapshot: {wrong:?}"))?;
    world.turn(&worker, "short")?;
    let joined = first_event(world, &mut feed)?;
    must(sequence(&joined) == through + 1, || {
        format!("the snapshot goes up to event {through}, and what follows it is {}", sequence(&joined))
    })?;
    gap(world, &path)
}

/// A place that is gone: the client is told so, and gets a snapshot instead.
fn gap(world: &mut World, path: &str) -> Step<()> {
    let Some(cursor) = world.mapping.values.get("stale_cursor").cloned() else {
        return Err(Stop::NotApplicable(
            "no place that is gone was declared: `stale_cursor` of the fixture".to_owned(),
        ));
    };
    let given = json!({ "cursor": cursor });
    let tail = given.as_object().and_then(|given| words(&world.mapping.stream.stale, given));
    let mut feed = world.open(&format!("{path}{}", tail.unwrap_or_default()), None)?;
    let (mut state, mut said) = (Value::Null, false);
    for _ in 0..HEARD {
        let sent = next(&mut feed, "word of the gap")?;
        let stream = &world.mapping.stream;
        if sent.name == stream.begin {
            state = pick(&sent.data, &stream.snapshot);
        }
        let event = event_of(&sent, stream).unwrap_or_default();
        said |= sent.name == stream.repaired && pick(&sent.data, &stream.repaired_at) == stream.repaired_word;
        said |= matches!(kind(&event), "snapshot.repaired" | "snapshot.updated");
        if said {
            break;
        }
    }
    must(said, || "nothing says that what was asked for is gone".to_owned())?;
    let wrong = world.watch.problems_of_snapshot(Form::Strict, &state);
    must(wrong.is_empty(), || format!("the snapshot that stands for the gap: {wrong:?}"))
}

fn next(feed: &mut Feed, what: &str) -> Step<Sent> {
    feed.next_sent().ok_or_else(|| Stop::Failed(format!("the stream ended before {what}")))
}

fn first_event(world: &World, feed: &mut Feed) -> Step<Value> {
    loop {
        if let Some(event) = event_of(&next(feed, "an event")?, &world.mapping.stream) {
            return Ok(event);
        }
    }
}

/// What a stream with a snapshot begins with.
fn begun(world: &World, feed: &mut Feed) -> Step<(Value, u64)> {
    let stream = &world.mapping.stream;
    let sent = next(feed, "the snapshot")?;
    must(sent.name == stream.begin, || format!("`{}` comes before the snapshot", sent.name))?;
    let through = pick(&sent.data, &stream.through).as_u64();
    let through =
        through.ok_or_else(|| Stop::Failed("the snapshot does not say how far it goes".to_owned()))?;
    let state = pick(&sent.data, &stream.snapshot);
    says_all(&state, "the snapshot", &["sessionId", "threads"])?;
    Ok((state, through))
}

/// Whether a session was told of something of a task.
pub(super) fn of_task<'a>(events: &'a [Value], wanted: &'a str, task: &str) -> Vec<&'a Value> {
    of_kind(events, wanted).filter(|event| word(event, "taskId") == task).collect()
}

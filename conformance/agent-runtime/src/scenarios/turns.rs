//! AC-1, AC-3, AC-14: a turn, what it may be given, and who was asked to think.

use serde_json::json;

use super::{in_order, of_kind, of_turn, reference, says, says_all};
use crate::{
    rules::{kind, sequence, word},
    template::pick,
    world::{Step, World, must, short},
};

/// What a read model may say of a turn that was just submitted.
const KNOWN: &[&str] = &["preparing", "queued", "running", "blocked", "streaming", "completed"];

pub(super) fn first_status(world: &mut World) -> Step<()> {
    let worker = world.part("worker")?;
    let word_of_turn = world.fresh();
    let text = world.prompt("long", &word_of_turn)?;
    let given =
        json!({ "agent": worker.agent, "threadId": worker.thread, "text": text, "key": word_of_turn });
    let turn = world.ask("submit_turn", &given)?.text("turnId")?;
    let thread = world.thread(&worker)?;
    let status = word(&thread, "status").to_owned();
    must(status != "unknown", || "the thread is `unknown` after a turn was accepted".to_owned())?;
    let turns = pick(&thread, "/turns").as_array().cloned().unwrap_or_default();
    let shown = turns.iter().find(|one| word(one, "turnId") == turn);
    let shown = shown.map(|turn| word(turn, "status").to_owned()).unwrap_or_default();
    must(KNOWN.contains(&shown.as_str()), || format!("the read model says of the turn: `{shown}`"))?;
    // The same request once more is the same turn.
    let again = world.ask("submit_turn", &given)?.text("turnId")?;
    must(again == turn, || format!("the same request made two turns: {turn} and {again}"))?;
    world.end_of(&worker, &turn)?;
    let events = of_turn(world.heard(&worker), &turn);
    let accepted = events.iter().find(|event| {
        matches!(kind(event), "turn.submitted" | "queue.changed" | "task.accepted" | "task.queued")
    });
    let Some(accepted) = accepted.map(sequence) else {
        return must(false, || "no event says that the turn was accepted or queued".to_owned());
    };
    let output = events.iter().find(|event| {
        let family = kind(event).split('.').next().unwrap_or_default();
        matches!(family, "model" | "reasoning" | "tool")
    });
    let output = output.map(sequence);
    must(output.is_some(), || "the turn gave no output, so nothing is shown".to_owned())?;
    must(output > Some(accepted), || {
        format!("output is event {output:?}, and that the turn was accepted is event {accepted}")
    })?;
    let submitted = of_kind(&events, "turn.submitted").count();
    must(submitted <= 1, || format!("one request was submitted {submitted} times"))
}

pub(super) fn large_result(world: &mut World) -> Step<()> {
    let worker = world.part("worker")?;
    let bytes_min = world.mapping.values.get("large_bytes").and_then(serde_json::Value::as_u64);
    let bytes_min = bytes_min.unwrap_or(65_536);
    let turn = world.turn(&worker, "large")?;
    let events = of_turn(world.heard(&worker), &turn);
    let result = of_kind(&events, "tool.result").next().cloned().unwrap_or_default();
    let Some(named) = reference(&result) else {
        return must(false, || format!("the result names no reference to its output: {}", short(&result)));
    };
    let size = pick(&result, "/output/sizeBytes").as_u64().unwrap_or_default();
    must(size >= bytes_min, || format!("`output.sizeBytes` is {size}, and {bytes_min} were asked for"))?;
    // A preview in the event, or a word of where there is one: what is not in events can be erased.
    let preview = pick(&result, "/output/preview");
    must(says(&preview), || format!("neither a preview nor why there is none: {}", short(&result)))?;
    if !preview.is_string() {
        says_all(&preview, "`output.preview`", &["status", "reason"])?;
        let items = world.ask("read_preview", &json!({ "turnId": turn }))?;
        let shown = items.raw.to_string().len();
        let is_short = u64::try_from(shown).is_ok_and(|shown| shown > 0 && shown < bytes_min);
        must(is_short, || format!("what stands for a preview has {shown} bytes"))?;
    }
    // The answer of the turn is not where it is kept: the reference leads to all of it.
    let pack = super::evidence::Pack::export(world, &json!({ "turnId": turn, "bodies": "inline" }))?;
    let digest = named.rsplit(':').next().unwrap_or_default().to_owned();
    let kept = pack.files.iter().find(|(path, _)| path.contains(&digest));
    let kept = kept.map_or(0, |(_, bytes)| u64::try_from(bytes.len()).unwrap_or(u64::MAX));
    must(kept >= bytes_min, || format!("behind `{named}` there are {kept} bytes, and {bytes_min} were given"))
}

pub(super) fn routing(world: &mut World) -> Step<()> {
    let worker = world.part("worker")?;
    let turn = world.turn(&worker, "short")?;
    let events = of_turn(world.heard(&worker), &turn);
    in_order(&events, &["turn.submitted", "routing.single_candidate"])?;
    let routed = of_kind(&events, "routing.single_candidate").next().cloned().unwrap_or_default();
    must(pick(&routed, "/payload/candidateCount") == json!(1), || {
        format!("a single candidate is not counted as one: {}", short(&routed))
    })?;
    says_all(&pick(&routed, "/payload"), "`routing.single_candidate`", &["reason"])?;
    let thread = world.thread(&worker)?;
    let routing = pick(&thread, "/modelRouting");
    let members = ["candidateCount", "reason", "capabilityGap", "costState", "limitState"];
    says_all(&routing, "the read model's `modelRouting`", &members)?;
    must(routing.get("candidateCount") == Some(&json!(1)), || {
        format!("the read model counts other candidates: {}", short(&routing))
    })
}

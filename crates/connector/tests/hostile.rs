//! Servers that lie, flood and die: each costs itself, says why, and takes no memory that it was not given.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on ends at once")]

#[path = "hostile/bench.rs"]
mod bench;

use std::time::Duration;

use bench::{Bench, memory_peak_kib};
use edgeplane_connector::{
    Call, CallFailure, Effect, FRAME_BYTES_MAX, Failure, Listening, OFFERS_MAX, OfferKind, STDERR_LINES_MAX,
};
use edgeplane_os::proc;
use edgeplane_testkit::wait::eventually;
use serde_json::json;
use tokio_util::sync::CancellationToken;

/// What one hostile server may cost the process that it talks to, in KiB.
const MEMORY_KIB_MAX: u64 = 192 << 10;

fn echo() -> Call {
    bench::call("echo", &json!({ "text": "hello" }))
}

/// Calls `echo` of a server in this mode and gives what becomes of it, and checks what it costs.
async fn outcome(mode: &str, timeout: Duration) -> (Bench, Result<String, CallFailure>) {
    let bench = Bench::new(mode);
    let before = memory_peak_kib();
    let call = Call { timeout, ..echo() };
    let result =
        bench.call(call).await.map(|said| said.value["content"][0]["text"].as_str().unwrap().to_owned());
    let grown = memory_peak_kib().saturating_sub(before);
    assert!(grown < MEMORY_KIB_MAX, "{mode}: {grown} KiB");
    (bench, result)
}

fn broken(result: Result<String, CallFailure>) -> String {
    match result {
        Err(failure @ CallFailure::Broken(_)) => {
            assert_eq!(failure.effect(), Effect::Unknown);
            failure.to_string()
        }
        other => panic!("{other:?}"),
    }
}

/// Proves CAP-010.
#[tokio::test(flavor = "multi_thread")]
async fn server_that_never_answers_is_given_up_and_told() {
    let (bench, result) = outcome("silent", Duration::from_millis(300)).await;
    let failure = result.unwrap_err();
    assert_eq!(failure, CallFailure::Late(Duration::from_millis(300)));
    assert_eq!(failure.effect(), Effect::Unknown);
    eventually("it is told", || bench.log().contains("notifications/cancelled"));
    // It still lists what it offers: only the call was given up.
    assert!(bench.connector.inventory().await.is_ok());
}

/// Proves CAP-010.
#[tokio::test(flavor = "multi_thread")]
async fn server_that_never_greets_is_ended() {
    let bench = Bench::with("mute", bench::limits(Duration::from_millis(500)));
    let failure = bench.connector.inventory().await.unwrap_err();
    assert!(matches!(failure, Failure::Silent(_) | Failure::Greeting(_)), "{failure}");
    bench.nothing_is_left().await;
    // The next who asks is told at once that it rests.
    assert!(matches!(bench.connector.inventory().await, Err(Failure::Resting { .. })));
}

/// Proves CAP-011.
#[tokio::test(flavor = "multi_thread")]
async fn garbage_ends_the_connection_and_not_a_greeting() {
    let (_bench, result) = outcome("babble", Duration::from_secs(20)).await;
    let said = broken(result);
    assert!(said.contains("lines in a row that are no messages"), "{said}");
    let (_bench, result) = outcome("greeter", Duration::from_secs(20)).await;
    assert_eq!(result, Ok("hello".to_owned()));
}

/// Proves CAP-011.
#[tokio::test(flavor = "multi_thread")]
async fn line_without_an_end_ends_the_connection() {
    let (_bench, result) = outcome("long", Duration::from_secs(20)).await;
    let said = broken(result);
    assert!(said.contains(&format!("a line of more than {FRAME_BYTES_MAX} bytes")), "{said}");
}

/// Proves CAP-012.
#[tokio::test(flavor = "multi_thread")]
async fn pages_without_an_end_are_cut() {
    let inventory = Bench::new("pages").connector.inventory().await.unwrap();
    assert!(
        inventory.problems.iter().any(|problem| problem.contains("pages of tools")),
        "{:?}",
        inventory.problems
    );
    assert!(inventory.find(OfferKind::Tool, "t0").is_some());
    // What comes behind the tools is there all the same.
    assert!(inventory.find(OfferKind::Prompt, "greet").is_some());
    let inventory = Bench::new("circle").connector.inventory().await.unwrap();
    assert!(
        inventory.problems.iter().any(|problem| problem.contains("in a circle")),
        "{:?}",
        inventory.problems
    );
}

/// Proves CAP-012.
#[tokio::test(flavor = "multi_thread")]
async fn hundred_thousand_tools_are_cut() {
    let before = memory_peak_kib();
    let inventory = Bench::new("many").connector.inventory().await.unwrap();
    let tools = inventory.offers().filter(|offer| offer.kind == OfferKind::Tool).count();
    assert_eq!(tools, OFFERS_MAX);
    assert!(
        inventory.problems.iter().any(|problem| problem.contains("more than")),
        "{:?}",
        inventory.problems
    );
    assert!(memory_peak_kib().saturating_sub(before) < MEMORY_KIB_MAX);
}

/// Proves CAP-012.
#[tokio::test(flavor = "multi_thread")]
async fn names_that_are_not_one_thing_s_are_offered_by_nobody() {
    let inventory = Bench::new("same").connector.inventory().await.unwrap();
    let tools = inventory.offers().filter(|offer| offer.kind == OfferKind::Tool);
    let names: Vec<&str> = tools.map(|offer| offer.native_id.as_str()).collect();
    assert_eq!(names, ["b", "c"]);
    assert_eq!(inventory.problems.len(), 2, "{:?}", inventory.problems);
}

/// Proves CAP-012.
#[tokio::test(flavor = "multi_thread")]
async fn schemas_that_are_none_leave_out_their_tool_only() {
    let inventory = Bench::new("schema").connector.inventory().await.unwrap();
    let tools = inventory.offers().filter(|offer| offer.kind == OfferKind::Tool);
    let names: Vec<&str> = tools.map(|offer| offer.native_id.as_str()).collect();
    assert_eq!(names, ["good"]);
    assert_eq!(inventory.problems.len(), 4, "{:?}", inventory.problems);
    let failure = Bench::new("shapeless").connector.inventory().await.unwrap_err();
    assert!(matches!(failure, Failure::Unexpected(_)), "{failure}");
}

/// Proves CAP-013.
#[tokio::test(flavor = "multi_thread")]
async fn tool_that_changed_is_not_called() {
    let bench = Bench::with("plain", bench::limits(Duration::ZERO));
    let digest = bench.digest("echo").await;
    bench.set_state("changed");
    let result = bench.call_as(echo(), &digest).await;
    assert!(matches!(&result, Err(CallFailure::Changed { .. })), "{result:?}");
    assert!(!bench.log().contains("tools/call"));
    // Whoever looks again may.
    let digest = bench.digest("echo").await;
    assert!(bench.call_as(echo(), &digest).await.is_ok());
}

/// Proves CAP-010.
#[tokio::test(flavor = "multi_thread")]
async fn server_that_dies_in_a_call_says_why_and_is_started_again() {
    let bench = Bench::new("plain");
    let failure = bench.call(bench::call("die", &json!({}))).await.unwrap_err();
    assert_eq!(failure.effect(), Effect::Unknown);
    let said = failure.to_string();
    assert!(said.contains("code 7") && said.contains("dying as asked"), "{said}");
    // It rests a moment, and then answers.
    bench.rested().await;
    assert!(bench.call(echo()).await.is_ok());
    assert_eq!(bench.connector.standing().await.opened, 2);
}

/// Proves CAP-011.
#[tokio::test(flavor = "multi_thread")]
async fn flood_of_notifications_ends_the_connection() {
    let (_bench, result) = outcome("flood", Duration::from_secs(20)).await;
    let said = broken(result);
    assert!(said.contains("notifications within a second"), "{said}");
}

/// Proves CAP-011.
#[tokio::test(flavor = "multi_thread")]
async fn answers_that_nobody_waits_for_are_nobody_s() {
    let (_bench, result) = outcome("lies", Duration::from_secs(20)).await;
    let said = broken(result);
    assert!(said.contains("answers that nobody waits for"), "{said}");
    // Of two answers the first counts.
    let (bench, result) = outcome("twice", Duration::from_secs(20)).await;
    assert_eq!(result, Ok("hello".to_owned()));
    assert!(bench.call(echo()).await.is_ok());
}

/// Proves CAP-011.
#[tokio::test(flavor = "multi_thread")]
async fn flood_of_standard_error_keeps_the_last_lines_only() {
    let (bench, result) = outcome("noise", Duration::from_secs(20)).await;
    assert_eq!(result, Ok("hello".to_owned()));
    let ended = bench.open().await;
    eventually("lines are kept", || ended.stderr().len() == STDERR_LINES_MAX);
    assert!(ended.stderr().iter().all(|line| line.len() <= 512));
    ended.close().await;
}

/// Proves CAP-010.
#[tokio::test(flavor = "multi_thread")]
async fn server_that_refuses_to_end_is_ended_with_what_it_started() {
    let bench = Bench::new("stubborn");
    assert!(bench.call(echo()).await.is_ok());
    let mark = bench.mark_entry();
    // The program and what it put into a session of its own.
    assert!(proc::find_marked(&mark).unwrap().len() >= 2);
    bench.connector.stop().await;
    bench.nothing_is_left().await;
}

/// Proves CAP-010.
#[tokio::test(flavor = "multi_thread")]
async fn ending_one_start_of_a_program_leaves_another() {
    let bench = Bench::new("plain");
    let (old, new) = (bench.open().await, bench.open().await);
    old.close().await;
    assert!(new.inventory().await.is_ok());
    new.close().await;
    bench.nothing_is_left().await;
}

/// Proves CAP-014.
#[tokio::test(flavor = "multi_thread")]
async fn program_that_does_not_stay_is_told_of_with_its_last_words() {
    let bench = Bench::new("gone");
    let failure = bench.connector.inventory().await.unwrap_err().to_string();
    assert!(failure.contains("cannot find my configuration") && failure.contains("code 3"), "{failure}");
    assert!(matches!(bench.connector.inventory().await, Err(Failure::Resting { failures: 1, .. })));
}

/// Proves CAP-010.
#[tokio::test(flavor = "multi_thread")]
async fn call_that_is_not_wanted_any_more_is_taken_back() {
    let bench = Bench::new("plain");
    let digest = bench.digest("wait").await;
    let cancelled = CancellationToken::new();
    let (steps, mut told) = tokio::sync::watch::channel(None);
    let call = bench::call("wait", &json!({ "path": bench.path("never") }));
    let calling =
        bench.connector.call(call, &digest, &cancelled, Listening { progress: Some(steps), questions: None });
    let cancelling = async {
        let step = told.wait_for(Option::is_some).await.unwrap().clone().unwrap();
        assert!(step.message.is_some_and(|words| words.starts_with("step ")));
        assert_eq!(step.total, Some(3.0));
        cancelled.cancel();
    };
    let (result, ()) = tokio::join!(calling, cancelling);
    assert_eq!(result, Err(CallFailure::Cancelled));
    eventually("it is told", || bench.log().contains("notifications/cancelled"));
    assert!(bench.call(echo()).await.is_ok());
}

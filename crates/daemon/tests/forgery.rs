//! Nobody passes for somebody else through a node: one table of attempts, each delivered under its true header or refused
//! by name.
//!
//! What is believed is what the recipient's program was handed, byte for byte, read by the contract alone.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test that cannot go on ends at once, and says what it could not try"
)]

#[path = "forgery/callers.rs"]
mod callers;
#[path = "forgery/claims.rs"]
mod claims;
#[path = "forgery/contents.rs"]
mod contents;
#[path = "forgery/judge.rs"]
mod judge;
#[path = "forgery/lines.rs"]
mod lines;
#[path = "forgery/names.rs"]
mod names;
#[path = "forgery/replays.rs"]
mod replays;
#[path = "forgery/stage.rs"]
mod stage;
#[path = "forgery/table.rs"]
mod table;
#[path = "forgery/tokens.rs"]
mod tokens;
#[path = "forgery/weights.rs"]
mod weights;

use std::{
    collections::BTreeSet,
    panic::{AssertUnwindSafe, catch_unwind},
};

use stage::Stage;
use table::Row;

/// Fewest attempts beside those of the corpus.
const ROWS_MIN: usize = 40;

fn rows() -> Vec<Row> {
    let kinds: [fn() -> Vec<Row>; 8] = [
        callers::rows,
        tokens::rows,
        weights::rows,
        replays::rows,
        names::rows,
        claims::rows,
        lines::rows,
        contents::rows,
    ];
    kinds.iter().flat_map(|rows| rows()).collect()
}

/// Judges every row, and tells all that failed by name.
fn judge_all(stage: &Stage, rows: &[Row], is_close: bool) {
    let failed: Vec<&str> = rows
        .iter()
        .filter(|row| {
            let judged = catch_unwind(AssertUnwindSafe(|| judge::judge(stage, row, is_close)));
            judged.inspect_err(|_| eprintln!("FAILED: {}", row.name)).is_err()
        })
        .map(|row| row.name.as_str())
        .collect();
    assert!(failed.is_empty(), "{} of {} attempts: {failed:#?}", failed.len(), rows.len());
}

/// Proves MSG-092, ID-001, ID-002, ID-003, ID-010, ID-011, MSG-001, MSG-002, MSG-003, MSG-004, MSG-007,
/// MSG-011, MSG-022, MSG-061, MSG-068, MSG-069, MSG-080, MSG-093, MSG-094, POL-028, SEC-022, SEC-025.
#[test]
fn no_attempt_changes_what_a_session_is_told_of_its_source() {
    let rows = rows();
    assert!(rows.len() >= ROWS_MIN, "{} attempts", rows.len());
    let names: BTreeSet<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names.len(), rows.len(), "names are told apart");
    let stage = Stage::set();
    judge_all(&stage, &rows, true);
    let wanted: BTreeSet<String> = rows
        .iter()
        .map(|row| judge::named(&stage, row.wants))
        .filter(|line| line.contains("OPERATOR"))
        .collect();
    judge::nowhere(&stage, &wanted);
    stage.node.verify();
}

/// Proves MSG-092, MSG-023, MSG-024, MSG-025, MSG-026, MSG-027, MSG-086.
#[test]
fn no_content_changes_what_a_session_is_told_of_its_source() {
    let rows = contents::corpus();
    assert!(rows.len() >= 3 * ROWS_MIN, "{} attempts", rows.len());
    let stage = Stage::set();
    judge_all(&stage, &rows, false);
    stage.node.verify();
}

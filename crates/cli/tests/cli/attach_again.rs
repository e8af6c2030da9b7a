//! Attachments that outlive their node.

use std::{io::Write, process::Stdio};

use base64::{Engine, engine::general_purpose::STANDARD};
use edgeplane_types::ErrorName;
use serde_json::{Value, json};

use crate::{
    attach::{Seat, attached, shown},
    fake::{Fake, Says, stderr, stdout},
};

const ATTACH: &str = "runtime/agent.attach";
const READ: &str = "runtime/recording.read";

/// An attachment whose live output begins at `offset`.
fn attached_at(offset: u64, epoch: u64, control: bool) -> Says {
    Says::result(json!({ "attachment": "a1", "epoch": epoch, "screen": STANDARD.encode(b"\x1b[2J\x1b[Hnow"),
        "offset": offset, "cols": 80, "rows": 24, "control": control, "pipes": false }))
}

fn page(items: &[(u64, &[u8])], next: u64, end: bool, over: bool) -> Says {
    let items: Vec<_> = items
        .iter()
        .map(|(offset, bytes)| {
            json!({ "at_us": 1, "offset": offset, "code": "o", "data": STANDARD.encode(bytes) })
        })
        .collect();
    Says::result(
        json!({ "epoch": 3, "items": items, "next": next, "end": end, "over": over, "cols": 80, "rows": 24 }),
    )
}

fn ended() -> Value {
    json!({ "id": "a1", "state": "ended", "reason": "the epoch is over" })
}

fn asked(fake: &Fake, method: &str) -> Vec<Value> {
    fake.asked().into_iter().filter(|(asked, _)| asked == method).map(|(_, params)| params).collect()
}

#[test]
fn watching_goes_on_at_the_very_byte() {
    let fake = Fake::saying(ATTACH, attached(false).then("attach/output", shown(2, b"one\r\n")).hangs_up());
    // What came live before the rest was read is in the recording too, and is not played twice.
    let again = attached_at(12, 3, false).then("attach/output", shown(12, b"three\r\n"));
    fake.says(ATTACH, again);
    fake.says(READ, page(&[(5, b"\r\ntw")], 9, false, false));
    fake.says(READ, page(&[(9, b"o\r\nthree")], 17, false, false));
    let rest = page(&[(17, b"\r\n")], 19, true, false)
        .then("attach/output", shown(12, b"three\r\nfour"))
        .then("stream/state", ended());
    fake.says(READ, rest);
    let output = fake.run(&["attach", "reviewer"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(stdout(&output), "\x1b[2J\x1b[H$ one\r\ntwo\r\nthree\r\nfour");
    let said = stderr(&output);
    assert!(
        said.contains("[the node is gone; waiting for it]") && said.contains("[the node is back]"),
        "{said:?}"
    );
    let offsets: Vec<_> = asked(&fake, READ).into_iter().map(|params| params["offset"].clone()).collect();
    assert_eq!(offsets, [7, 9, 17]);
}

#[test]
fn daemon_that_ends_in_good_order_is_waited_for_too() {
    let ends = json!({ "id": "a1", "state": "ended", "reason": "the daemon ends" });
    let fake = Fake::saying(ATTACH, attached(false).then("stream/state", ends).hangs_up());
    fake.says(ATTACH, attached_at(2, 3, false).then("stream/state", ended()));
    let output = fake.run(&["attach", "reviewer", "--quiet"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(stdout(&output), "\x1b[2J\x1b[H$ ");
    assert_eq!(stderr(&output), "");
}

#[test]
fn control_comes_back_unless_somebody_took_it() {
    for is_taken in [false, true] {
        let fake = Fake::saying(ATTACH, attached(true).hangs_up());
        if is_taken {
            fake.says(ATTACH, Says::error(ErrorName::Locked, "somebody else controls it"));
        }
        fake.says(ATTACH, attached_at(2, 3, !is_taken).then("stream/state", ended()));
        // A pipe that stays open: keys wait in it.
        let mut command = fake.command(&["attach", "reviewer", "--control", "--takeover"]);
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = child.spawn().unwrap();
        let stdin = child.stdin.take();
        let output = child.wait_with_output().unwrap();
        drop(stdin);
        assert!(output.status.success(), "{}", stderr(&output));
        assert_eq!(stderr(&output).contains("somebody else controls it now"), is_taken);
        let asked: Vec<_> = asked(&fake, ATTACH)
            .iter()
            .map(|params| (params["control"] == true, params["takeover"] == true))
            .collect();
        let mut expected = vec![(true, true), (true, false)];
        expected.extend(is_taken.then_some((false, false)));
        assert_eq!(asked, expected, "nobody is robbed of the control by a program that comes back");
    }
}

#[test]
fn epoch_that_ended_meanwhile_is_played_to_its_end() {
    // Either nothing runs now, or already the next epoch does.
    let next = [Says::error(ErrorName::InvalidState, "no terminal while stopped"), attached_at(90, 4, false)];
    for next in next {
        let fake = Fake::saying(ATTACH, attached(false).hangs_up());
        fake.says(ATTACH, Says::error(ErrorName::InvalidState, "no terminal while unobservable"));
        fake.says(ATTACH, next);
        fake.says(READ, page(&[], 2, true, false));
        fake.says(READ, page(&[(2, b"last ")], 7, false, false));
        fake.says(READ, page(&[(7, b"words")], 12, true, true));
        let output = fake.run(&["attach", "reviewer"]);
        assert!(output.status.success(), "{}", stderr(&output));
        assert_eq!(stdout(&output), "\x1b[2J\x1b[H$ last words");
        assert!(stderr(&output).ends_with("reviewer: epoch 3 ended while the node was gone\n"));
    }
}

#[test]
fn who_waits_can_leave() {
    for (words, key) in [
        (["attach", "reviewer"].as_slice(), b"q".as_slice()),
        (&["attach", "reviewer", "--control"], b"typed\x1d"),
        (&["attach", "reviewer", "--control", "--detach-key", "none"], b"q\x03"),
    ] {
        let fake = Fake::saying(ATTACH, attached(words.contains(&"--control")));
        let mut seat = Seat::take(&fake, words);
        seat.read_to("$ ");
        seat.wait_until_raw();
        fake.goes();
        seat.read_to("waiting for it");
        seat.master.write_all(key).unwrap();
        seat.finish(0);
        assert!(fake.asked().iter().all(|(method, _)| method == ATTACH), "keys go nowhere meanwhile");
    }
}

#[test]
fn terminal_shows_the_screen_anew_after_what_was_missed() {
    let fake = Fake::saying(ATTACH, attached(true));
    fake.says(ATTACH, attached_at(8, 3, true));
    fake.says(READ, page(&[(2, b"missed\r\nlater")], 15, true, false));
    let mut seat = Seat::take(&fake, &["attach", "reviewer", "--control"]);
    seat.read_to("$ ");
    seat.wait_until_raw();
    fake.goes();
    seat.read_to("waiting for it");
    fake.comes();
    seat.read_to("is back");
    let shown = seat.read_to("now");
    assert!(shown.contains("missed") && !shown.contains("later"), "{shown:?}");
    seat.master.write_all(b"k\x1d").unwrap();
    fake.wait_for("runtime/agent.detach");
    seat.finish(0);
    let typed = asked(&fake, "runtime/agent.write");
    assert_eq!(typed, [json!({ "attachment": "a1", "data": STANDARD.encode(b"k") })]);
}

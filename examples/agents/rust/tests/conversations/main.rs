//! The reference agent in Rust holds every conversation of `../../../conversations`, one test for each.
#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "the helpers of a test may fail it"
)]

mod model_service;
mod scripted_node;

use std::{collections::BTreeSet, fs, path::PathBuf};

use scripted_node::ScriptedNode;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../conversations")
}

fn play(name: &str) {
    let text = fs::read_to_string(folder().join(format!("{name}.json"))).unwrap();
    ScriptedNode::new(env!("CARGO_BIN_EXE_edgeplane-notes-agent"), serde_json::from_str(&text).unwrap())
        .play();
}

macro_rules! conversations {
    ($($name:ident)+) => {
        const NAMES: &[&str] = &[$(stringify!($name),)+];

        $(
            #[test]
            fn $name() {
                play(stringify!($name));
            }
        )+
    };
}

conversations! {
    a_hang_up_during_a_request
    a_model_answers
    a_model_fails
    a_model_of_the_other_form_answers
    a_model_talks_nonsense
    a_peer_asks
    a_peer_is_asked
    a_peer_stays_silent
    a_person_gives_leave
    a_stop_ends_open_turns
    briefing
    deliveries_during_a_request
    failures_are_said
    foreign_words_are_noted_only
    notes_survive_a_kill
    small_words
}

#[test]
fn every_file_is_played() {
    let files = fs::read_dir(folder()).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let found: BTreeSet<String> =
        files.filter_map(|file| file.strip_suffix(".json").map(str::to_owned)).collect();
    assert_eq!(found, NAMES.iter().map(|name| (*name).to_owned()).collect());
}

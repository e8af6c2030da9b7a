//! What is written to commands: accepted once, settled once, counted when it was written.

use edgeplane_store::AppendError;
use edgeplane_types::{
    Authority, Epoch, Fact, InputId, ProcessId,
    fact::{Cause, CommandInputAccepted, CommandInputSettled, InputFate},
    life::ExitStatus,
};

use crate::support::{Maker, declared, open, started, starting, stream, text_body};

const EPOCH: Epoch = Epoch(1);

fn process() -> ProcessId {
    ProcessId::from_parts(1, [1; 10])
}

fn input(number: u8) -> InputId {
    InputId::from_parts(u64::from(number), [number; 10])
}

fn accepted(number: u8, closes: bool) -> Fact {
    Fact::CommandInputAccepted(CommandInputAccepted {
        process_id: process(),
        epoch: EPOCH,
        input_id: input(number),
        input_bytes: 3,
        input_digest: text_body("abc").digest().to_string(),
        closes,
    })
}

fn settled(number: u8, fate: InputFate) -> Fact {
    let (process_id, epoch, input_id) = (process(), EPOCH, input(number));
    Fact::CommandInputSettled(CommandInputSettled { process_id, epoch, input_id, fate })
}

/// Proves MACH-010.
#[test]
fn an_input_is_accepted_once_and_counts_when_it_was_written() {
    let dir = tempfile::tempdir().unwrap();
    let (store, maker) = (open(dir.path()), Maker::default());
    let begun = Fact::CommandStarted {
        process_id: process(),
        epoch: EPOCH,
        message_id: None,
        authority: Authority::Delegated,
        details_digest: text_body("details").digest().to_string(),
        details_bytes: 0,
    };
    store
        .append(maker.batch(stream(1), [declared(1, "one"), starting(1, Cause::Manifest), started(1), begun]))
        .unwrap();
    let append = |fact: Fact| store.append(maker.batch(stream(1), [fact]));
    let refuse = |fact: Fact| match append(fact).unwrap_err() {
        AppendError::Refused { source, .. } => source.to_string(),
        other => other.to_string(),
    };
    append(accepted(1, false)).unwrap();
    assert!(refuse(accepted(1, false)).contains("accepted already"));
    assert!(refuse(settled(2, InputFate::Written)).contains("does not wait"));
    append(settled(1, InputFate::Refused)).unwrap();
    append(settled(1, InputFate::Written)).unwrap();
    assert!(refuse(settled(1, InputFate::Closed)).contains("does not wait"), "what was written stays so");
    append(accepted(2, true)).unwrap();
    let story = || store.reader().command_story(&process()).unwrap().unwrap();
    assert_eq!((story().inputs, story().input_bytes, story().input_closed), (1, 3, false));
    append(settled(2, InputFate::Written)).unwrap();
    assert_eq!((story().inputs, story().input_bytes, story().input_closed), (2, 6, true));
    let row = store.reader().command_input(&process(), &input(2)).unwrap().unwrap();
    assert_eq!((row.closes, row.fate), (true, Some(InputFate::Written)));
    assert!(store.reader().command_input(&process(), &input(3)).unwrap().is_none());
    let ended = Fact::CommandEnded {
        process_id: process(),
        epoch: EPOCH,
        message_id: None,
        status: ExitStatus::Code(0),
        output_digest: text_body("").digest().to_string(),
        output_bytes: 0,
        written_bytes: 0,
        reason: None,
    };
    append(ended).unwrap();
    assert!(refuse(accepted(4, false)).contains("does not run"));
}

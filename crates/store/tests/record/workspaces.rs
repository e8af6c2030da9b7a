//! Workspaces and checkpoints: what fits, and rows that are a function of the record.

use edgeplane_store::{AppendError, CheckpointFilter, Model};
use edgeplane_types::{
    CheckpointCause, CheckpointId, CheckpointState, Fact, FileChangeKind, FileChangeOutcome, FolderCounts,
    LockEnd, RestoreCounts, StreamName, Timestamp, WorkspaceId,
    fact::{
        CheckpointCreated, CheckpointDeleted, CheckpointFailed, CheckpointStarted, FileChangeBegun,
        FileChangeEnded, LockAcquired, LockReleased, RestoreEnded, RestoreStarted, WorkspaceCreated,
        WorkspaceDeleted,
    },
};

use crate::support::{Maker, open};

fn id(number: u8) -> WorkspaceId {
    WorkspaceId::from_parts(1, [number; 10])
}

fn checkpoint(number: u8) -> CheckpointId {
    CheckpointId::from_parts(1, [number; 10])
}

fn created(number: u8, folder: &str) -> Fact {
    Fact::WorkspaceCreated(WorkspaceCreated {
        workspace_id: id(number),
        agent_id: None,
        folder: folder.to_owned(),
    })
}

fn started(number: u8) -> Fact {
    Fact::CheckpointStarted(CheckpointStarted {
        checkpoint_id: checkpoint(number),
        cause: CheckpointCause::Asked,
        label: None,
        suspends: Vec::new(),
    })
}

fn kept(number: u8) -> Fact {
    Fact::CheckpointCreated(Box::new(CheckpointCreated {
        checkpoint_id: checkpoint(number),
        digest: format!("{number:064}"),
        counts: FolderCounts::default(),
        bytes_new: 1,
        left_out: 0,
        unsettled: 0,
        frozen: false,
        write_seq: 0,
    }))
}

fn lost(number: u8) -> Fact {
    let reason = "x".to_owned();
    Fact::CheckpointFailed(CheckpointFailed { checkpoint_id: checkpoint(number), reason, lost: true })
}

fn deleted(number: u8) -> Fact {
    Fact::CheckpointDeleted(CheckpointDeleted { checkpoint_id: checkpoint(number), reason: None })
}

fn restoring(number: u8) -> Fact {
    let (checkpoint_id, before_id) = (checkpoint(number), checkpoint(9));
    Fact::RestoreStarted(RestoreStarted { checkpoint_id, before_id, forced: false })
}

fn restored(number: u8) -> Fact {
    let counts = RestoreCounts::default();
    Fact::RestoreEnded(RestoreEnded { checkpoint_id: checkpoint(number), counts })
}

/// Proves WSP-012.
#[test]
fn each_end_follows_a_beginning_and_rows_are_a_function_of_the_record() {
    let dir = tempfile::tempdir().unwrap();
    let (store, maker) = (open(dir.path()), Maker::default());
    let (one, two) = (StreamName::Workspace(id(1)), StreamName::Workspace(id(2)));
    let append = |stream, facts: Vec<Fact>| store.append(maker.batch(stream, facts));
    append(one, vec![created(1, "/a"), started(1), kept(1), started(2), lost(2), started(3), kept(3)])
        .unwrap();
    for wrong in [created(1, "/b"), started(1), kept(1), lost(3), deleted(2), restored(1), created(2, "/c")] {
        let refused = append(one, vec![wrong.clone()]);
        assert!(matches!(refused, Err(AppendError::Refused { .. })), "{wrong:?}");
    }
    for wrong in [created(2, "/a"), started(4), kept(3), deleted(1)] {
        let refused = append(two, vec![wrong.clone()]);
        assert!(matches!(refused, Err(AppendError::Refused { .. })), "{wrong:?}");
    }
    append(one, vec![deleted(3), restoring(1)]).unwrap();
    assert!(append(one, vec![restoring(1)]).is_err());
    let reader = store.reader();
    let row = reader.workspace(&id(1)).unwrap().unwrap();
    assert_eq!((row.restoring, row.checkpoints), (Some(checkpoint(1)), 1));
    assert_eq!(reader.kept_digests().unwrap(), [format!("{:064}", 1)]);
    let filter = CheckpointFilter { workspace: Some(id(1)), all: true };
    let all = reader.checkpoints(&filter, None, 10).unwrap();
    let states: Vec<_> = all.iter().map(|row| row.state).collect();
    assert_eq!(states, [CheckpointState::Deleted, CheckpointState::Lost, CheckpointState::Created]);
    assert!(all[0].created.is_some() && all[1].failed.is_some());
    append(one, vec![restored(1)]).unwrap();
    let end = WorkspaceDeleted { workspace_id: id(1), reason: None };
    append(one, vec![Fact::WorkspaceDeleted(end)]).unwrap();
    assert_eq!(reader.kept_digests().unwrap(), Vec::<String>::new());
    assert!(append(one, vec![started(5)]).is_err());
    append(two, vec![created(2, "/a")]).unwrap();
    let before = reader.model_digest(Model::Workspaces).unwrap();
    store.rebuild(Model::Workspaces).unwrap();
    assert_eq!(store.reader().model_digest(Model::Workspaces).unwrap(), before);
}

fn begun(write_seq: u64) -> Fact {
    Fact::FileChangeBegun(Box::new(FileChangeBegun {
        write_seq,
        kind: FileChangeKind::Delete,
        path: "a".to_owned(),
        to: None,
        before: None,
        after: Some("absent".to_owned()),
        bytes: None,
        aside: ".a".to_owned(),
    }))
}

fn settled(write_seq: u64) -> Fact {
    Fact::FileChangeEnded(FileChangeEnded { write_seq, outcome: FileChangeOutcome::Done, reason: None })
}

/// Proves WSP-021.
#[test]
fn changes_of_files_are_numbered_without_gaps_and_one_at_a_time() {
    let dir = tempfile::tempdir().unwrap();
    let (store, maker) = (open(dir.path()), Maker::default());
    let one = StreamName::Workspace(id(1));
    let append = |facts: Vec<Fact>| store.append(maker.batch(one, facts));
    append(vec![created(1, "/a"), begun(1)]).unwrap();
    for wrong in [begun(1), begun(2), settled(2)] {
        assert!(matches!(append(vec![wrong.clone()]), Err(AppendError::Refused { .. })), "{wrong:?}");
    }
    let reader = store.reader();
    assert_eq!(reader.open_changes().unwrap()[0].changing.as_ref().unwrap().path, "a");
    append(vec![settled(1)]).unwrap();
    for wrong in [begun(1), begun(3), settled(1)] {
        assert!(matches!(append(vec![wrong.clone()]), Err(AppendError::Refused { .. })), "{wrong:?}");
    }
    append(vec![begun(2), settled(2)]).unwrap();
    let row = reader.workspace(&id(1)).unwrap().unwrap();
    assert_eq!((row.write_seq, row.changing), (2, None));
    assert!(reader.open_changes().unwrap().is_empty());
    let before = reader.model_digest(Model::Workspaces).unwrap();
    store.rebuild(Model::Workspaces).unwrap();
    assert_eq!(store.reader().model_digest(Model::Workspaces).unwrap(), before);
}

fn acquired(token: u64) -> Fact {
    Fact::LockAcquired(LockAcquired {
        token,
        paths: vec!["a".to_owned()],
        shared: false,
        epoch: None,
        expires_at: Timestamp::from_micros(1),
    })
}

fn released(token: u64) -> Fact {
    Fact::LockReleased(LockReleased { token, reason: LockEnd::Released })
}

/// Proves WSP-027.
#[test]
fn tokens_of_locks_only_grow() {
    let dir = tempfile::tempdir().unwrap();
    let (store, maker) = (open(dir.path()), Maker::default());
    let one = StreamName::Workspace(id(1));
    let append = |facts: Vec<Fact>| store.append(maker.batch(one, facts));
    append(vec![created(1, "/a"), acquired(1), acquired(2), acquired(1), released(1)]).unwrap();
    for wrong in [acquired(1), acquired(4), released(1), released(3)] {
        assert!(matches!(append(vec![wrong.clone()]), Err(AppendError::Refused { .. })), "{wrong:?}");
    }
    let reader = store.reader();
    let open: Vec<u64> = reader.open_locks(&id(1)).unwrap().iter().map(|row| row.acquired.token).collect();
    assert_eq!((open, reader.workspace(&id(1)).unwrap().unwrap().last_token), (vec![2], 2));
    assert!(!reader.lock(&id(1), 1).unwrap().unwrap().is_open && reader.lock(&id(1), 3).unwrap().is_none());
    let end = WorkspaceDeleted { workspace_id: id(1), reason: None };
    append(vec![Fact::WorkspaceDeleted(end)]).unwrap();
    assert!(reader.open_locks(&id(1)).unwrap().is_empty());
    let before = reader.model_digest(Model::Workspaces).unwrap();
    store.rebuild(Model::Workspaces).unwrap();
    assert_eq!(store.reader().model_digest(Model::Workspaces).unwrap(), before);
}

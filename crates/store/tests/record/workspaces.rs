//! Workspaces and checkpoints: what fits, and rows that are a function of the record.

use edgeplane_store::{AppendError, CheckpointFilter, Model};
use edgeplane_types::{
    AgentId, BindingEnd, BindingMode, CheckpointCause, CheckpointId, CheckpointState, Fact, FileChangeKind,
    FileChangeOutcome, FolderCounts, LockEnd, RestoreCounts, RunId, StreamName, Timestamp, WorkspaceId,
    fact::{
        BindingAttached, BindingDetached, CheckpointCreated, CheckpointDeleted, CheckpointFailed,
        CheckpointStarted, FileChangeBegun, FileChangeEnded, LockAcquired, LockReleased, RestoreEnded,
        RestoreStarted, WorkspaceCreated, WorkspaceDeleted,
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
        invocation_id: None,
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

fn bound(binding_epoch: u64, mode: BindingMode) -> Fact {
    let agent_id = AgentId::from_parts(1, [1; 10]);
    Fact::BindingAttached(BindingAttached { binding_epoch, mode, agent_id, run_id: None, epoch: None })
}

fn of_run(binding_epoch: u64, run: RunId) -> Fact {
    let agent_id = AgentId::from_parts(1, [1; 10]);
    let (mode, run_id) = (BindingMode::ReadOnly, Some(run));
    Fact::BindingAttached(BindingAttached { binding_epoch, mode, agent_id, run_id, epoch: None })
}

fn unbound(binding_epoch: u64) -> Fact {
    Fact::BindingDetached(BindingDetached { binding_epoch, reason: BindingEnd::Detached })
}

/// Proves WSP-032, WSP-034.
#[test]
fn bindings_are_numbered_on_the_node_and_one_at_most_writes() {
    use BindingMode::{ReadOnly, ReadWrite};
    let dir = tempfile::tempdir().unwrap();
    let (store, maker) = (open(dir.path()), Maker::default());
    let (one, two) = (StreamName::Workspace(id(1)), StreamName::Workspace(id(2)));
    let append = |stream, facts: Vec<Fact>| store.append(maker.batch(stream, facts));
    append(one, vec![created(1, "/a"), bound(1, ReadWrite), bound(2, ReadOnly)]).unwrap();
    append(two, vec![created(2, "/b")]).unwrap();
    // A second one that writes, a number that was given out, one that leaves a gap, and ends of what is not.
    for wrong in [bound(3, ReadWrite), bound(2, ReadOnly), bound(4, ReadOnly), unbound(3)] {
        assert!(matches!(append(one, vec![wrong.clone()]), Err(AppendError::Refused { .. })), "{wrong:?}");
    }
    assert!(matches!(append(two, vec![unbound(1)]), Err(AppendError::Refused { .. })), "another one's");
    append(two, vec![bound(3, ReadWrite)]).unwrap();
    append(one, vec![unbound(1), bound(4, ReadWrite)]).unwrap();
    assert!(matches!(append(one, vec![unbound(1)]), Err(AppendError::Refused { .. })), "it ends once");
    let reader = store.reader();
    let open = |of: Option<u8>| -> Vec<u64> {
        let rows = reader.open_bindings(of.map(id).as_ref(), None).unwrap();
        rows.iter().map(|row| row.attached.binding_epoch).collect()
    };
    assert_eq!((open(Some(1)), open(Some(2)), open(None)), (vec![2, 4], vec![3], vec![2, 3, 4]));
    assert_eq!(reader.last_binding().unwrap(), 4);
    assert!(!reader.binding(1).unwrap().unwrap().is_open && reader.binding(5).unwrap().is_none());
    let run = RunId::from_parts(1, [2; 10]);
    append(one, vec![of_run(5, run), unbound(5), of_run(6, run)]).unwrap();
    let of_run = reader.bindings_of_run(&run).unwrap();
    let found: Vec<_> = of_run.iter().map(|row| (row.attached.binding_epoch, row.is_open)).collect();
    assert_eq!(found, [(5, false), (6, true)]);
    let end = WorkspaceDeleted { workspace_id: id(1), reason: None };
    append(one, vec![Fact::WorkspaceDeleted(end)]).unwrap();
    assert_eq!(open(None), [3]);
    let before = reader.model_digest(Model::Workspaces).unwrap();
    store.rebuild(Model::Workspaces).unwrap();
    assert_eq!(store.reader().model_digest(Model::Workspaces).unwrap(), before);
}

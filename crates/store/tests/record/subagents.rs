//! Subagents: what fits, and rows that are a function of the record.

use edgeplane_store::{AppendError, Model};
use edgeplane_types::{
    Fact, Isolation, MessageId, OnParentExit, SessionId, StreamName, SubagentStatus,
    fact::{SubagentClosed, SubagentClosing, SubagentInput, SubagentMoved, SubagentSpawned},
};

use crate::support::{Maker, agent, declared, open};

fn spawned(number: u8) -> Fact {
    Fact::SubagentSpawned(Box::new(SubagentSpawned {
        subagent_id: agent(number),
        name: "child".parse().unwrap(),
        session_id: SessionId::from_parts(1, [number; 10]),
        task_id: None,
        isolation: Isolation::standard(),
        on_parent_exit: OnParentExit::Keep,
        context: None,
        checkpoint_id: None,
        request_digest: String::new(),
    }))
}

fn moved(number: u8) -> Fact {
    let (status, reason) = (SubagentStatus::Running, "it runs".to_owned());
    Fact::SubagentMoved(SubagentMoved { subagent_id: agent(number), status, reason })
}

fn input(number: u8) -> Fact {
    let message_id = MessageId::from_parts(1, [7; 10]);
    Fact::SubagentInput(SubagentInput { subagent_id: agent(number), message_id })
}

fn closing(number: u8) -> Fact {
    let (outcome, reason) = (SubagentStatus::Closed, "enough".to_owned());
    Fact::SubagentClosing(SubagentClosing { subagent_id: agent(number), outcome, reason })
}

fn closed(number: u8) -> Fact {
    let (outcome, reason) = (SubagentStatus::Closed, "enough".to_owned());
    Fact::SubagentClosed(SubagentClosed { subagent_id: agent(number), outcome, reason })
}

/// Proves SUB-001, SUB-002.
#[test]
fn each_child_has_one_parent_and_one_end_and_rows_are_a_function_of_the_record() {
    let dir = tempfile::tempdir().unwrap();
    let (store, maker) = (open(dir.path()), Maker::default());
    let (one, two) = (StreamName::Agent(agent(1)), StreamName::Agent(agent(2)));
    let append = |stream, facts: Vec<Fact>| store.append(maker.batch(stream, facts));
    append(one, vec![declared(1, "one")]).unwrap();
    append(two, vec![declared(2, "two")]).unwrap();
    append(one, vec![spawned(3), moved(3), input(3), spawned(4)]).unwrap();
    for wrong in [spawned(3), moved(5), input(5), closing(5), closed(5)] {
        assert!(matches!(append(one, vec![wrong.clone()]), Err(AppendError::Refused { .. })), "{wrong:?}");
    }
    // It is the child of one agent only.
    for wrong in [spawned(3), moved(3), input(3), closing(3), closed(3)] {
        assert!(matches!(append(two, vec![wrong.clone()]), Err(AppendError::Refused { .. })), "{wrong:?}");
    }
    let reader = store.reader();
    let row = reader.subagent(&agent(3)).unwrap().unwrap();
    assert_eq!((row.parent, row.status), (agent(1), SubagentStatus::Running));
    assert!(row.last_message.is_some() && row.closing.is_none());
    append(one, vec![closing(3)]).unwrap();
    assert!(append(one, vec![closing(3)]).is_err(), "it is to end already");
    append(one, vec![closed(3)]).unwrap();
    for late in [moved(3), closing(3), closed(3)] {
        assert!(append(one, vec![late.clone()]).is_err(), "{late:?}");
    }
    assert_eq!(reader.subagents_of(&agent(1), true, 10).unwrap().len(), 2);
    let open: Vec<_> = reader.open_subagents(10, 0).unwrap().into_iter().map(|row| row.id).collect();
    assert_eq!(open, [agent(4)]);
    let before = reader.model_digest(Model::Subagents).unwrap();
    store.rebuild(Model::Subagents).unwrap();
    assert_eq!(store.reader().model_digest(Model::Subagents).unwrap(), before);
}

//! What callers are told of agents, where a simple answer would be a wrong one.

use edgeplane_testkit::{Node, native, terminal, wait::eventually};
use edgeplane_wire::{
    api::{agent::AgentParams, message::InboxParams, terminal::RecordingParams},
    catalogue::{EpochList, InboxList, RecordingRead},
};

#[test]
fn living_epoch_tells_its_output_so_far() {
    let node = Node::start();
    node.run("a", &terminal("a", &["/bin/sh", "-c", "echo hello; exec sleep 1000"], ""));
    let printed = 7;
    eventually("it has printed", || node.get("a").status.output_bytes == printed);
    let epochs = || node.connect().call::<EpochList>(&AgentParams { agent: "a".into() }).items;
    let [living] = epochs().try_into().unwrap_or_else(|other| panic!("{other:?}"));
    assert_eq!((living.output_bytes, living.ended_at), (printed, None));
    node.stop("a");
    let [over] = epochs().try_into().unwrap_or_else(|other| panic!("{other:?}"));
    assert_eq!((over.output_bytes, over.ended_at.is_some()), (printed, true));
}

#[test]
fn recording_tells_whether_the_program_has_pipes() {
    let node = Node::start();
    node.run("screen", &terminal("screen", &["/bin/sleep", "1000"], ""));
    node.run("lines", &native("lines", &["/bin/sleep", "1000"], ""));
    for (agent, pipes) in [("screen", false), ("lines", true)] {
        let params = RecordingParams {
            agent: agent.into(),
            epoch: None,
            offset: 0,
            last_bytes: None,
            limit_bytes: None,
        };
        assert_eq!(node.connect().call::<RecordingRead>(&params).pipes, pipes, "{agent}");
    }
}

#[test]
fn bounded_inbox_keeps_the_newest_messages_and_ends_with_the_newest() {
    let node = Node::start();
    node.apply(&terminal("a", &["/bin/cat"], "run: stopped"));
    let sent: Vec<_> = ["one", "two", "three"].map(|text| node.signal("a", text, None).message_id).into();
    let list = |all, limit| {
        let params = InboxParams { agent: "a".into(), all, limit };
        let items = node.connect().call::<InboxList>(&params).items;
        items.into_iter().map(|message| message.message_id).collect::<Vec<_>>()
    };
    assert_eq!(list(true, 2), sent[1..]);
    assert_eq!(list(true, 9), sent);
    assert_eq!(list(false, 2), sent[..2], "what waits is listed as it will be delivered");
}

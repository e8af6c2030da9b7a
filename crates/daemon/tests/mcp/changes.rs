//! That the list of tools is another one by now: who is told of it, and when.

use edgeplane_os::proc;
use edgeplane_testkit::{Node, native, signals};
use serde_json::json;

use crate::{
    SESSIONS, STATELESS, Talk,
    capabilities::{capabilities, declare, named},
    run_host,
};

const CHANGED: &str = "notifications/tools/list_changed";

/// The processes of the scripted server of a node.
pub(crate) fn servers(node: &Node) -> Vec<u32> {
    let script = node.scratch().join("server.py").display().to_string();
    let runs = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(&script) && proc::stat(*pid).is_ok_and(|stat| stat.is_alive())
    };
    proc::all().unwrap().into_iter().filter(runs).collect()
}

/// Proves MCP-049.
#[test]
fn whoever_follows_the_list_is_told_that_it_changed() {
    let node = Node::start();
    declare(&node, "tools", "plain", "  policy: {default: allow}");
    run_host(&node, "worker", "");
    node.run("helper", &native("helper", &["/bin/sh", "-c", "exec cat > /dev/null"], ""));
    let mut session = Talk::within(&node, "worker", SESSIONS[0]);
    let mut open = Talk::within(&node, "worker", STATELESS);
    for talk in [&mut session, &mut open] {
        assert!(named(&capabilities(talk), "tools__echo").is_some());
    }
    let wanted = json!({ "toolsListChanged": true });
    open.send("subscriptions/listen", json!({ "notifications": wanted }));
    let accepted = open.notification("notifications/subscriptions/acknowledged");
    assert_eq!(accepted["notifications"], wanted, "{accepted}");

    // A server that offers something else after a restart; nothing of that is in the record.
    std::fs::write(node.scratch().join("tools.state"), "changed").unwrap();
    signals::kill(&servers(&node));
    for talk in [&mut session, &mut open] {
        talk.notification(CHANGED);
        // It is told when the server is gone, and again when it is there.
        while !named(&capabilities(talk), "tools__echo")
            .is_some_and(|echo| echo["inputSchema"]["properties"]["added"].is_object())
        {
            talk.notification(CHANGED);
        }
    }
    // An offer that is made and withdrawn.
    let offer = json!({ "agent": "helper", "name": "count", "permission": "allow" });
    for (method, params, is_there) in [
        ("capability/register", offer, true),
        ("capability/withdraw", json!({ "capability": "agent:helper/count" }), false),
    ] {
        node.connect().try_raw(method, params).unwrap();
        for talk in [&mut session, &mut open] {
            while named(&capabilities(talk), "agent_helper__count").is_some() != is_there {
                talk.notification(CHANGED);
            }
        }
    }
    // A declaration that ends.
    node.connect().try_raw("resource/delete", json!({ "uri": "edgeplane://connector/tools" })).unwrap();
    for talk in [&mut session, &mut open] {
        while named(&capabilities(talk), "tools__echo").is_some() {
            talk.notification(CHANGED);
        }
    }
}

/// Proves MCP-049.
#[test]
fn a_server_that_says_so_itself_is_heard() {
    let node = Node::start();
    declare(&node, "tools", "curious", "  policy: {default: allow}");
    run_host(&node, "worker", "");
    let mut session = Talk::within(&node, "worker", SESSIONS[0]);
    assert!(named(&capabilities(&mut session), "tools__echo").is_some());
    std::fs::write(node.scratch().join("tools.state"), "changed").unwrap();
    session.call("tools__announce", json!({}));
    session.notification(CHANGED);
    let now = capabilities(&mut session);
    assert!(named(&now, "tools__echo").unwrap()["inputSchema"]["properties"]["added"].is_object());
}

/// Proves MCP-049.
#[test]
fn who_has_listed_nothing_is_told_at_the_beginning_and_who_wants_none_never() {
    let node = Node::start();
    run_host(&node, "worker", "");
    let mut open = Talk::within(&node, "worker", STATELESS);
    open.send("subscriptions/listen", json!({ "notifications": { "toolsListChanged": true } }));
    open.notification(CHANGED);
    let mut none = Talk::outside_with(&node, STATELESS, &["--capabilities", "none"]);
    none.send("subscriptions/listen", json!({ "notifications": { "toolsListChanged": true } }));
    let accepted = none.notification("notifications/subscriptions/acknowledged");
    assert_eq!(accepted["notifications"], json!({}), "{accepted}");
}

/// Proves MCP-040 and MCP-049.
#[test]
fn the_nodes_own_tools_are_there_whoever_does_not_answer() {
    let mut node = Node::start();
    declare(&node, "slow", "mute", "");
    declare(&node, "tools", "plain", "  policy: {default: allow}");
    run_host(&node, "worker", "");
    let mut talk = Talk::within(&node, "worker", SESSIONS[0]);
    // A server that says nothing hides none of the others.
    let list = talk.ask("tools/list", json!({})).unwrap();
    assert!(named(list["tools"].as_array().unwrap(), "tools__echo").is_some(), "{list}");
    let left_out = list["_meta"]["dev.edgeplane/left_out"].to_string();
    assert!(left_out.contains("connector `slow`: "), "{left_out}");
    // Nor does a node that is not there; when it is again, that is told.
    node.connect().try_raw("resource/delete", json!({ "uri": "edgeplane://connector/slow" })).unwrap();
    node.kill_daemon();
    let list = talk.ask("tools/list", json!({})).unwrap();
    let tools = list["tools"].as_array().unwrap();
    assert!(named(tools, "signal").is_some() && named(tools, "tools__echo").is_none(), "{list}");
    assert!(
        list["_meta"]["dev.edgeplane/left_out"].to_string().contains("capabilities of the node"),
        "{list}"
    );
    node.up();
    while named(&capabilities(&mut talk), "tools__echo").is_none() {
        talk.notification(CHANGED);
    }
}

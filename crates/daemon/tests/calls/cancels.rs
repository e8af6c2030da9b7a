//! Taking requests back.

use edgeplane_testkit::{Connection, Node, exec, wait::eventually};
use edgeplane_types::{ErrorName, Scope, TokenKind, error::Effect};
use edgeplane_wire::rpc::{self, Id, Incoming, RpcError};
use serde_json::{Value, json};

use super::{listening, raw, with};

fn send(connection: &mut Connection, id: i64, method: &str, params: Value) {
    connection.send(&rpc::request(&Id::Number(id), method, params)).unwrap();
}

/// What a request is answered.
fn answer(connection: &mut Connection, id: i64) -> Result<Value, RpcError> {
    loop {
        match connection.read().unwrap() {
            Incoming::Response { id: of, outcome } if of == Id::Number(id) => {
                return outcome.map(|raw| serde_json::from_str(raw.get()).unwrap());
            }
            _ => {}
        }
    }
}

fn cancel(connection: &mut Connection, request_id: &str) -> bool {
    let params = json!({ "request_id": request_id, "reason": "enough" });
    raw(connection, "core/cancel", params)["cancelled"] == true
}

fn wait_for_ever(request_id: &str) -> Value {
    let params = json!({ "agent": "shell", "phases": ["retired"], "timeout_ms": 600_000 });
    with(params, &json!({ "request_id": request_id }))
}

/// Proves CALL-030.
#[test]
fn request_is_taken_back_by_its_name() {
    let node = listening("shell");
    let mut connection = node.connect();
    assert!(!cancel(&mut connection, "r"), "nothing is worked on");
    // Over another connection, and behind as many requests as one connection may have.
    let mut full = node.connect();
    for id in 0..64 {
        send(&mut full, id, "runtime/agent.wait", wait_for_ever(if id == 7 { "r" } else { "rest" }));
    }
    eventually("it is taken back", || cancel(&mut connection, "r"));
    let error = answer(&mut full, 7).unwrap_err();
    assert_eq!((error.name(), error.data.effect, error.code), (ErrorName::Cancelled, Effect::None, 4990));
    assert!(error.message.ends_with("enough"), "{error}");
    send(&mut full, 100, "runtime/agent.wait", wait_for_ever("rest"));
    send(&mut full, 101, "core/cancel", json!({ "request_id": "rest" }));
    assert_eq!(
        answer(&mut full, 101).unwrap()["cancelled"],
        true,
        "over the same, which has no room for more"
    );
    assert!(!cancel(&mut connection, "r"), "only once");

    // A question that is durable was asked, and is said to be.
    node.run("thinker", &exec("thinker", &node.scratch().join("t"), &["slow=1000"], ("", "")));
    let question = json!({ "agent": "thinker", "parts": [{ "type": "text", "text": "hang" }] });
    send(&mut full, 200, "runtime/agent.ask", with(question, &json!({ "request_id": "q" })));
    eventually("the question is durable", || node.count("thinker", "message.accepted") == 1);
    eventually("the question is taken back", || cancel(&mut connection, "q"));
    let error = answer(&mut full, 200).unwrap_err();
    assert_eq!((error.name(), error.data.effect), (ErrorName::Cancelled, Effect::Applied));
}

/// Proves CALL-031.
#[test]
fn nobody_takes_back_anothers_request() {
    let node = listening("shell");
    let token = |name: &str| node.token(name, TokenKind::Service, &[Scope::Read, Scope::Delegate], &[]).token;
    let (mine, theirs) = (token("mine"), token("theirs"));
    let mut waiting = node.bearer(&mine);
    send(&mut waiting, 1, "runtime/agent.wait", wait_for_ever("r"));
    let user = json!({ "user_id": "ann", "scopes": ["read"] });
    let mut of_user = wait_for_ever("u");
    of_user["ctx"]["principal"] = user.clone();
    send(&mut waiting, 2, "runtime/agent.wait", of_user);
    raw(&mut waiting, "core/health", json!({}));
    for connection in [&mut node.bearer(&theirs), &mut node.connect(), &mut inside(&node)] {
        assert!(!cancel(connection, "r") && !cancel(connection, "u"));
    }
    let mut again = node.bearer(&mine);
    assert!(!cancel(&mut again, "u"), "a user's is not the service's own");
    let mut by_user = |user_id: &str| {
        let context = json!({ "principal": { "user_id": user_id, "scopes": [] } });
        raw(&mut again, "core/cancel", with(json!({ "request_id": "u" }), &context))["cancelled"] == true
    };
    assert!(!by_user("bob") && by_user("ann"));
    assert_eq!(answer(&mut waiting, 2).unwrap_err().name(), ErrorName::Cancelled);
    assert!(cancel(&mut again, "r"));
    assert_eq!(answer(&mut waiting, 1).unwrap_err().name(), ErrorName::Cancelled);
}

/// A connection as the agent itself.
fn inside(node: &Node) -> Connection {
    let socket = node.get("shell").status.identities.network.socket.unwrap();
    Connection::open(socket.as_ref()).unwrap()
}

//! Clients against scripted nodes, over memory.

use std::time::Duration;

use edgeplane_types::ErrorName;
use edgeplane_wire::{
    api::{
        Empty,
        agent::{AgentParams, ChangeParams},
        memory::KeysParams,
    },
    catalogue::{AgentRestart, CoreHealth, MemoryList},
    rpc::{self, Id, Incoming, LINE_BYTES_MAX, RpcError},
};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines};

use crate::{CallError, Client, NOTIFICATIONS_MAX, Notifications};

/// No test takes so long unless it hangs.
const PATIENCE: Duration = Duration::from_secs(20);

/// The node's end of a connection.
struct Node {
    lines: Lines<BufReader<tokio::io::ReadHalf<DuplexStream>>>,
    writer: tokio::io::WriteHalf<DuplexStream>,
}

impl Node {
    async fn request(&mut self) -> (Id, String, Value) {
        let line = self.lines.next_line().await.unwrap().expect("a request");
        match rpc::parse_line(line.as_bytes()).unwrap() {
            Incoming::Request { id, method, params } => (id, method, params),
            other => panic!("{other:?}"),
        }
    }

    async fn send(&mut self, bytes: &[u8]) {
        self.writer.write_all(bytes).await.unwrap();
    }
}

fn connect(capacity: usize) -> (Client, Notifications, Node) {
    let (ours, theirs) = tokio::io::duplex(capacity);
    let (reader, writer) = tokio::io::split(ours);
    let (client, notifications) = Client::over(reader, writer);
    let (reader, writer) = tokio::io::split(theirs);
    (client, notifications, Node { lines: BufReader::new(reader).lines(), writer })
}

async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.expect("the test hangs")
}

fn health() -> Value {
    json!({ "status": "ok", "checks": [] })
}

#[tokio::test]
async fn answers_find_their_calls_in_any_order() {
    let (client, _notifications, mut node) = connect(1 << 16);
    let node = tokio::spawn(async move {
        let mut asked = Vec::new();
        for _call in 0..8 {
            asked.push(node.request().await);
        }
        for (id, _method, params) in asked.iter().rev() {
            node.send(&rpc::success(id, params)).await;
        }
    });
    let calls = (0..8_i32).map(|number| client.call_raw("x/echo", json!({ "number": number })));
    let mut results = Vec::new();
    for call in futures_in_order(calls).await {
        results.push(serde_json::from_str::<Value>(call.unwrap().get()).unwrap()["number"].clone());
    }
    assert_eq!(results, (0..8).map(|number| json!(number)).collect::<Vec<_>>());
    within(node).await.unwrap();
    within(client.close()).await;
}

/// Runs all futures at once, results in the order of the futures.
async fn futures_in_order<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut running: Vec<_> = futures.map(|future| (Box::pin(future), None)).collect();
    within(std::future::poll_fn(|context| {
        let mut waits = false;
        for (future, output) in &mut running {
            if output.is_none() {
                match future.as_mut().poll(context) {
                    std::task::Poll::Ready(value) => *output = Some(value),
                    std::task::Poll::Pending => waits = true,
                }
            }
        }
        if waits { std::task::Poll::Pending } else { std::task::Poll::Ready(()) }
    }))
    .await;
    running.into_iter().map(|(_future, output)| output.unwrap()).collect()
}

#[tokio::test]
async fn refusal_of_the_node_arrives_with_its_name() {
    let (client, _notifications, mut node) = connect(1 << 16);
    let params = change("a");
    let (result, ()) = tokio::join!(client.call::<AgentRestart>(&params), async {
        let (id, method, params) = node.request().await;
        assert_eq!((method.as_str(), &params), ("runtime/agent.restart", &json!({ "agent": "a" })));
        node.send(&rpc::failure(Some(&id), &RpcError::new(ErrorName::NotFound, "no agent `a`").hint("look")))
            .await;
    });
    let error = result.unwrap_err();
    assert_eq!((error.name(), error.exit_code()), (ErrorName::NotFound, 66));
    assert!(matches!(error, CallError::Rpc(error) if error.data.hint.as_deref() == Some("look")));
}

fn change(agent: &str) -> ChangeParams {
    ChangeParams { agent: agent.to_owned(), reason: None }
}

#[tokio::test]
async fn result_of_another_shape_is_a_protocol_error() {
    let (client, _notifications, mut node) = connect(1 << 16);
    let (result, ()) = tokio::join!(client.call::<CoreHealth>(&Empty {}), async {
        let (id, _method, _params) = node.request().await;
        node.send(&rpc::success(&id, json!({ "status": 7 }))).await;
    });
    assert!(matches!(result, Err(CallError::Protocol { .. })), "{result:?}");
    assert!(!client.is_closed(), "one odd result does not end the connection");
}

#[tokio::test]
async fn garbage_ends_the_connection_for_all_calls() {
    for garbage in [
        "hello\n",
        "{}\n",
        "\n",
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":1,\"message\":\"eh\"}}\n",
    ] {
        let (client, _notifications, mut node) = connect(1 << 16);
        let all = KeysParams::default();
        let (first, second, ()) =
            tokio::join!(client.call::<CoreHealth>(&Empty {}), client.call::<MemoryList>(&all), async {
                node.request().await;
                node.request().await;
                node.send(garbage.as_bytes()).await;
            });
        assert!(matches!(first, Err(CallError::Protocol { .. })), "{garbage:?} {first:?}");
        assert!(matches!(second, Err(CallError::Protocol { .. })), "{garbage:?}");
        assert!(client.is_closed());
        assert!(matches!(client.call::<CoreHealth>(&Empty {}).await, Err(CallError::Protocol { .. })));
        within(client.close()).await;
    }
}

#[tokio::test]
async fn node_that_goes_away_mid_call_is_told_apart_by_what_may_have_changed() {
    let (client, mut notifications, mut node) = connect(1 << 16);
    let params = change("a");
    let (read, write, ()) =
        tokio::join!(client.call::<CoreHealth>(&Empty {}), client.call::<AgentRestart>(&params), async {
            node.request().await;
            node.request().await;
            node.send(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"res").await;
            drop(node);
        });
    assert_eq!(read.unwrap_err().name(), ErrorName::Unavailable);
    assert_eq!(write.unwrap_err().name(), ErrorName::OutcomeUnknown);
    assert_eq!(within(notifications.next()).await, None);
    assert!(client.notify("x/y", ()).await.is_err());
}

#[tokio::test]
async fn huge_lines_pass_up_to_the_limit_and_not_beyond() {
    let (client, _notifications, mut node) = connect(1 << 16);
    let filler = "x".repeat(LINE_BYTES_MAX - 100);
    let (result, ()) = tokio::join!(client.call_raw("x/y", json!({})), async {
        let (id, _method, _params) = node.request().await;
        node.send(&rpc::success(&id, &filler)).await;
    });
    assert_eq!(result.unwrap().get().len(), filler.len() + 2);

    let too_large = client.call_raw("x/y", "x".repeat(LINE_BYTES_MAX)).await.unwrap_err();
    assert_eq!(too_large.name(), ErrorName::TooLarge);
    assert!(!client.is_closed(), "a request that was not sent harms nobody");

    let (result, ()) = tokio::join!(client.call_raw("x/y", json!({})), async {
        let (id, _method, _params) = node.request().await;
        let line = rpc::success(&id, "x".repeat(LINE_BYTES_MAX));
        // The client stops reading somewhere in the line.
        drop(tokio::time::timeout(PATIENCE, node.writer.write_all(&line)).await);
    });
    assert!(matches!(result, Err(CallError::Protocol { .. })));
}

#[tokio::test]
async fn unread_notifications_stop_the_reading_and_none_is_lost() {
    let count = NOTIFICATIONS_MAX * 3;
    let (client, mut notifications, mut node) = connect(256);
    let node = tokio::spawn(async move {
        for number in 0..count {
            node.send(&rpc::notification("stream/event", json!({ "number": number }))).await;
        }
        let (id, _method, _params) = node.request().await;
        node.send(&rpc::success(&id, health())).await;
    });
    tokio::time::timeout(Duration::from_millis(200), client.call::<CoreHealth>(&Empty {}))
        .await
        .expect_err("the answer stands behind notifications that nobody takes");
    assert_eq!(client.pending_count(), 0, "the call that was dropped has left");
    assert!(!node.is_finished(), "the node is slowed down");
    for number in 0..count {
        assert_eq!(within(notifications.next()).await.unwrap().params["number"], json!(number));
    }
    within(node).await.unwrap();
}

#[tokio::test]
async fn dropped_call_does_not_disturb_the_next() {
    let (client, notifications, mut node) = connect(1 << 16);
    drop(notifications);
    let short = client.call_within::<CoreHealth>(Duration::from_millis(20), &Empty {}).await;
    assert!(matches!(short, Err(CallError::Deadline { .. })), "{short:?}");
    let (result, ()) = tokio::join!(client.call::<CoreHealth>(&Empty {}), async {
        let (late, _method, _params) = node.request().await;
        let (id, _method, _params) = node.request().await;
        node.send(&rpc::success(&late, health())).await;
        node.send(&rpc::notification("x/unwanted", json!({}))).await;
        node.send(&rpc::success(&id, health())).await;
    });
    assert_eq!(result.unwrap().status, "ok");
}

#[tokio::test]
async fn requests_of_the_node_are_refused() {
    let (client, _notifications, mut node) = connect(1 << 16);
    node.send(b"{\"jsonrpc\":\"2.0\",\"id\":\"n1\",\"method\":\"x/y\"}\n").await;
    let line = within(node.lines.next_line()).await.unwrap().unwrap();
    let Incoming::Response { id: Id::Text(id), outcome: Err(error) } =
        rpc::parse_line(line.as_bytes()).unwrap()
    else {
        panic!("{line}")
    };
    assert_eq!((id.as_str(), error.name()), ("n1", ErrorName::MethodNotFound));
    within(client.close()).await;
}

#[tokio::test]
async fn closing_writes_what_was_said_and_ends_the_stream() {
    let (client, _notifications, mut node) = connect(1 << 16);
    client.notify("x/last", AgentParams { agent: "a".to_owned() }).await.unwrap();
    within(client.close()).await;
    let line = node.lines.next_line().await.unwrap().unwrap();
    assert!(line.contains("x/last"), "{line}");
    assert_eq!(node.lines.next_line().await.unwrap(), None);
}

#[tokio::test]
async fn nobody_at_the_socket_is_unavailable() {
    let error = Client::connect(std::path::Path::new("/nonexistent/edgeplane.sock")).await.unwrap_err();
    assert_eq!(error.name(), ErrorName::Unavailable);
}

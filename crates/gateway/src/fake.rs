//! A node of tests: it takes every token but `bad`, and says what the test wants.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use edgeplane_types::ErrorName;
use edgeplane_wire::rpc::{self, Id, Incoming, RpcError};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};

use crate::conversation::{Converse, Presented};

/// What is said to a request.
pub(crate) enum Said {
    /// A result.
    Result(Value),
    /// A failure.
    Failure(ErrorName),
    /// Nothing, for ever.
    Nothing,
    /// The conversation is over.
    End,
    /// A result, and then events without an end.
    Flood(Value),
}

/// How many conversations were begun, and events said.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) conversations: AtomicUsize,
    pub(crate) events: AtomicUsize,
    pub(crate) presented: std::sync::Mutex<Vec<Presented>>,
}

/// A node that says to each method what `say` does.
pub(crate) fn node(say: impl Fn(&str) -> Said + Send + Sync + 'static) -> (Converse, Arc<Counts>) {
    let (say, counts) = (Arc::new(say), Arc::new(Counts::default()));
    let counted = Arc::clone(&counts);
    let converse: Converse = Arc::new(move |presented| {
        counted.conversations.fetch_add(1, Ordering::SeqCst);
        counted.presented.lock().unwrap().push(presented);
        let (ours, theirs) = tokio::io::duplex(4_096);
        tokio::spawn(speak(theirs, Arc::clone(&say), Arc::clone(&counted)));
        ours
    });
    (converse, counts)
}

async fn speak(stream: DuplexStream, say: Arc<impl Fn(&str) -> Said>, counts: Arc<Counts>) {
    let (reader, mut writer) = tokio::io::split(stream);
    let mut lines = BufReader::new(reader).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let Ok(Incoming::Request { id, method, params }) = rpc::parse_line(line.as_bytes()) else { return };
        let said = if method == "core/initialize" { greet(&params) } else { say(&method) };
        let answer = match &said {
            Said::Result(result) | Said::Flood(result) => rpc::success(&id, result),
            Said::Failure(name) => failure(&id, *name),
            Said::Nothing => continue,
            Said::End => return,
        };
        if writer.write_all(&answer).await.is_err() {
            return;
        }
        if !matches!(said, Said::Flood(_)) {
            continue;
        }
        loop {
            let number = counts.events.fetch_add(1, Ordering::SeqCst);
            let event = rpc::notification("stream/event", json!({ "event": { "pos": number } }));
            if writer.write_all(&event).await.is_err() {
                return;
            }
        }
    }
}

fn greet(params: &Value) -> Said {
    if params["token"] == "bad" {
        return Said::Failure(ErrorName::Unauthenticated);
    }
    let proof = if params["token"].is_string() { "service_token" } else { "none" };
    Said::Result(json!({
        "version": "1", "server": "1", "node_id": "nod_01890000-0000-7000-8000-000000000001", "node": "n",
        "caller": { "principal": "p", "proof": proof, "assurance": "open" }, "profiles": [],
    }))
}

fn failure(id: &Id, name: ErrorName) -> Vec<u8> {
    rpc::failure(Some(id), &RpcError::new(name, "no"))
}

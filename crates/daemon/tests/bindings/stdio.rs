//! Standard streams: lines through, nothing else, and an end.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    process::{Child, Stdio},
};

use edgeplane_testkit::{Node, wait::eventually_some};
use serde_json::Value;

use super::listening;

fn start(node: &Node, env: &[(&str, &str)]) -> Child {
    let mut command = node.cli(&["stdio"]);
    command.envs(env.iter().copied());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn code(child: &mut Child) -> i32 {
    eventually_some("it ends", || child.try_wait().unwrap()).code().unwrap()
}

fn stderr(child: &mut Child) -> String {
    let mut text = String::new();
    child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
    text
}

/// Proves BIND-050.
#[test]
fn what_was_asked_is_answered_before_the_end() {
    let (node, access) = listening();
    let mut child = start(&node, &[]);
    let mut asked = String::new();
    for id in 0..100 {
        asked.push_str(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"runtime/node.status\"}}\n"));
    }
    asked.push_str("garbage\n");
    let mut input = child.stdin.take().unwrap();
    let saying = std::thread::spawn(move || input.write_all(asked.as_bytes()).unwrap());
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    saying.join().unwrap();
    let answers: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut ids: Vec<u64> = answers.iter().filter_map(|answer| answer["id"].as_u64()).collect();
    ids.sort_unstable();
    assert_eq!((answers.len(), ids), (101, (0..100).collect()));
    assert_eq!((code(&mut child), stderr(&mut child)), (0, String::new()));
    // The bearer of a token is who it is there as well.
    let mut child = start(&node, &[("EDGEPLANE_TOKEN_FILE", access.token_file.to_str().unwrap())]);
    child
        .stdin
        .take()
        .unwrap()
        .write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"core/initialize\"}\n")
        .unwrap();
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap()["result"]["caller"]["principal"], "reports");
    assert_eq!(code(&mut child), 0);
}

/// Proves BIND-051.
#[test]
fn end_tells_which_side_it_was() {
    let (mut node, _access) = listening();
    let bad = node.scratch().join("bad");
    edgeplane_os::atomic::write_atomic(&bad, b"ept_unknown", 0o600).unwrap();
    let mut child = start(&node, &[("EDGEPLANE_TOKEN_FILE", bad.to_str().unwrap())]);
    assert_eq!(code(&mut child), 77);
    assert!(stderr(&mut child).contains("error: "));
    // Nobody reads any more: that is no failure.
    let mut child = start(&node, &[]);
    drop(child.stdout.take());
    child
        .stdin
        .as_mut()
        .unwrap()
        .write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"core/health\"}\n")
        .unwrap();
    assert_eq!(code(&mut child), 0);
    // The node ends, while somebody may still have something to say.
    let mut child = start(&node, &[]);
    child
        .stdin
        .as_mut()
        .unwrap()
        .write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"core/health\"}\n")
        .unwrap();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    assert!(line.contains("\"id\":1"), "{line}");
    node.kill_daemon();
    assert_eq!(code(&mut child), 69);
    assert!(stderr(&mut child).contains("the node ended the conversation"));
    let mut child = start(&node, &[]);
    assert_eq!(code(&mut child), 69);
    assert!(stderr(&mut child).contains("the daemon is not running"));
}

//! The conformance suite of the protocol, run against a server that is mounted as ours is.
//!
//! The suite asks for a server with tools of its own. It gets one behind the gateway, the endpoint and the kit that serve
//! an agent's tools, with the same checks of where requests come from and whose they are. The suite knows no tokens, so a
//! layer in front of the gateway puts one on each request; everything behind that layer is what ships.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    deprecated,
    reason = "the suite asks for what the kit calls old; a test that cannot go on ends at once"
)]

#[path = "conformance/fixture.rs"]
mod fixture;
#[path = "conformance/inputs.rs"]
mod inputs;

use std::{
    future::Future,
    path::{Path, PathBuf},
    pin::Pin,
    process::Command,
    sync::{Arc, Mutex},
};

use axum::{body::Body, middleware};
use bytes::Bytes;
use edgeplane_client::Client;
use edgeplane_edge_mcp::HttpEndpoint;
use edgeplane_gateway::{Bearers, Config, Connect, Endpoint, Gateway, MCP_CONNECTIONS_MAX, Routes};
use edgeplane_testkit::npm::Npm;
use http::{HeaderValue, Request, Response, header};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

/// The token that the layer puts on each request.
const TOKEN: &str = "ept_of-the-suite";

struct Mounted(HttpEndpoint);

impl Endpoint for Mounted {
    fn answer(
        self: Arc<Self>,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Response<Body>> + Send>> {
        Box::pin(async move { self.0.answer(request).await.map(Body::new) })
    }
}

/// A node that knows one token and serves nothing but the greeting.
fn connect() -> Connect {
    Arc::new(|| {
        Box::pin(async {
            let (ours, theirs) = tokio::io::duplex(64 << 10);
            tokio::spawn(greet(theirs));
            let (reader, writer) = tokio::io::split(ours);
            Ok(Client::over(reader, writer))
        })
    })
}

async fn greet(stream: tokio::io::DuplexStream) {
    let (reader, mut writer) = tokio::io::split(stream);
    let mut lines = BufReader::new(reader).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let request: Value = serde_json::from_str(&line).unwrap();
        let answer = if request["params"]["token"] == TOKEN {
            let caller = json!({ "principal": "suite", "proof": "service_token", "assurance": "open" });
            json!({ "result": {
                "version": "2026-11-01",
                "server": "0",
                "node_id": "nod_01890000-0000-7000-8000-000000000001",
                "node": "fixture",
                "caller": caller,
                "profiles": [],
            } })
        } else {
            let data = json!({ "name": "unauthenticated", "retryable": false, "effect": "none" });
            json!({ "error": { "code": 4010, "message": "no such token", "data": data } })
        };
        let mut answer = answer;
        answer["jsonrpc"] = json!("2.0");
        answer["id"] = request["id"].clone();
        writer.write_all(format!("{answer}\n").as_bytes()).await.unwrap();
    }
}

async fn listen() -> Gateway {
    let lists = Arc::<Mutex<fixture::Lists>>::default();
    let mount = move |_connect: Connect, _token: String| -> Arc<dyn Endpoint> {
        let lists = Arc::clone(&lists);
        Arc::new(Mounted(HttpEndpoint::over(move || fixture::Fixture::new(Arc::clone(&lists)))))
    };
    let routes = Routes::new().with_mcp(Bearers::new(connect(), Arc::new(mount)));
    let with_token = middleware::map_request(|mut request: Request<Body>| async move {
        let token = HeaderValue::from_static("Bearer ept_of-the-suite");
        request.headers_mut().entry(header::AUTHORIZATION).or_insert(token);
        request
    });
    let config = Config {
        address: "127.0.0.1:0".parse().unwrap(),
        tls: None,
        hosts: Vec::new(),
        connections_max: MCP_CONNECTIONS_MAX,
    };
    Gateway::listen(config, routes.map(|router| router.layer(with_token))).await.unwrap()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance")
}

/// The runtime and the suite's program, or nothing where they cannot be had.
fn suite() -> Option<(PathBuf, PathBuf)> {
    let suite = Npm::find_or_skip("the conformance suite of the Model Context Protocol", &folder())?;
    Some((suite.runtime.clone(), suite.file("@modelcontextprotocol/conformance/dist/index.js")))
}

/// The scenarios of a revision that are known not to pass, each with its reason.
fn skipped(revision: &str) -> Vec<String> {
    let text = std::fs::read_to_string(folder().join("skipped.txt")).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    lines
        .map(|line| {
            let mut words = line.splitn(3, ' ');
            let (of, scenario, reason) = (words.next().unwrap(), words.next().unwrap(), words.next());
            assert!(reason.is_some_and(|reason| reason.len() > 20), "no reason: {line}");
            (of, scenario)
        })
        .filter(|(of, _)| *of == revision)
        .map(|(_, scenario)| scenario.to_owned())
        .collect()
}

async fn conforms(revision: &'static str, scenarios_min: usize) {
    let Some((runtime, program)) = tokio::task::spawn_blocking(suite).await.unwrap() else { return };
    let gateway = listen().await;
    let url = format!("http://{}/mcp", gateway.address());
    let out = tempfile::tempdir().unwrap();
    let expected = out.path().join("expected.yaml");
    // The suite fails for what fails and is not in this list, and for what is in it and passes.
    let list: Vec<String> = skipped(revision);
    std::fs::write(&expected, json!({ "server": list }).to_string()).unwrap();
    let run = move || {
        let mut command = Command::new(runtime);
        command.arg(program).args(["server", "--url", &url, "--requirements", revision]);
        command.arg("--expected-failures").arg(&expected).arg("-o").arg(out.path());
        let output = command.output().unwrap();
        let passed = std::fs::read_dir(out.path()).unwrap().count();
        (output, passed)
    };
    let (output, results) = tokio::task::spawn_blocking(run).await.unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let tail: Vec<&str> = said.lines().rev().take(120).collect();
    let tail: Vec<&str> = tail.into_iter().rev().collect();
    assert!(output.status.success(), "{}\n{}", tail.join("\n"), String::from_utf8_lossy(&output.stderr));
    // A suite that ran nothing passes, too.
    assert!(results > scenarios_min, "{results} scenarios of {revision}:\n{}", tail.join("\n"));
    drop(gateway);
}

/// Proves MCP-030.
#[tokio::test(flavor = "multi_thread")]
async fn revision_without_a_handshake_is_kept() {
    conforms("2026-07-28", 37).await;
}

/// Proves MCP-030.
#[tokio::test(flavor = "multi_thread")]
async fn revision_with_a_handshake_is_kept() {
    conforms("2025-11-25", 30).await;
}

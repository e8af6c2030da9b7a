//! A small runtime over HTTP: requests as JSON-RPC, a session's events as server-sent ones.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex},
    thread,
};

use serde_json::{Value, json};

use super::runtime::Runtime;

/// The runtime with whoever waits for its events.
#[derive(Debug)]
pub(crate) struct Server {
    runtime: Mutex<Runtime>,
    bell: Condvar,
}

/// Serves a runtime with this fault, on any port; it ends with the test.
pub(crate) fn serve(fault: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let server = Arc::new(Server { runtime: Mutex::new(Runtime::new(fault)), bell: Condvar::new() });
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let server = Arc::clone(&server);
            thread::spawn(move || server.answer(&stream));
        }
    });
    url
}

impl Server {
    fn answer(&self, stream: &TcpStream) -> Option<()> {
        let mut reader = BufReader::new(stream);
        let (mut line, mut length, mut last) = (String::new(), 0, 0);
        reader.read_line(&mut line).ok()?;
        let first = line.trim_end().to_owned();
        loop {
            line.clear();
            reader.read_line(&mut line).ok()?;
            let lower = line.trim_end().to_ascii_lowercase();
            if lower.is_empty() {
                break;
            }
            if let Some(value) = lower.strip_prefix("content-length: ") {
                length = value.parse().ok()?;
            }
            if let Some(value) = lower.strip_prefix("last-event-id: ") {
                last = value.parse().ok()?;
            }
        }
        if let Some(query) = first.strip_prefix("GET /events?") {
            return self.events(stream, query.split(' ').next()?, last);
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let request: Value = serde_json::from_slice(&body).ok()?;
        let answered = {
            let mut runtime = self.runtime.lock().unwrap();
            runtime.call(request["method"].as_str()?, &request["params"])
        };
        self.bell.notify_all();
        let answer = match answered {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }),
            Err(name) => {
                json!({ "jsonrpc": "2.0", "id": request["id"], "error": { "code": 1, "message": "no", "data": { "name": name } } })
            }
        };
        let text = answer.to_string();
        let mut out = stream;
        write!(out, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}", text.len())
            .ok()
    }

    /// Sends events until nobody reads them.
    fn events(&self, mut out: &TcpStream, query: &str, last: usize) -> Option<()> {
        let of = |name: &str| {
            let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            pairs.into_iter().find(|(key, _)| *key == name).map(|(_, value)| value.to_owned())
        };
        let (session, strict) = (of("session")?, of("form")? == "strict");
        write!(out, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
            .ok()?;
        let mut runtime = self.runtime.lock().unwrap();
        let mut next = last;
        let has_snapshot = of("snapshot").is_some() || of("stale").is_some();
        if has_snapshot {
            next = runtime.events(&session).len();
        } else if last > 0 && runtime.fault == "a gap behind a reconnection" {
            next += 1;
        }
        let state = runtime.snapshot(&session, strict);
        let begin = json!({ "snapshot": has_snapshot.then_some(state), "through": next });
        write!(out, "event: begin\ndata: {begin}\n\n").ok()?;
        if of("stale").is_some() && runtime.fault != "no word of a gap" {
            write!(out, "event: state\ndata: {{\"state\":\"repaired\"}}\n\n").ok()?;
        }
        loop {
            while let Some(event) = runtime.events(&session).get(next) {
                next += 1;
                let event = Runtime::in_form(event, strict);
                write!(out, "id: {next}\nevent: entry\ndata: {event}\n\n").ok()?;
            }
            runtime = self.bell.wait(runtime).unwrap();
        }
    }
}

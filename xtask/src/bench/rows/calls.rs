//! Calls that read, over the node's socket and over HTTP that is kept alive.

use std::{
    io::{BufRead as _, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    os::unix::net::UnixStream,
    thread,
};

use anyhow::{Context as _, bail, ensure};
use edgeplane_os::wait::{Deadline, until};
use serde_json::json;

use crate::bench::{
    Bench, Group,
    clock::now_ns,
    node::{Node, PATIENCE, manifest},
    row::Row,
    sample::Samples,
};

pub(crate) const GROUP: Group = Group {
    name: "calls",
    how: "`runtime/agent.get` of one agent that does not run, one call after another: over the unix socket, and by its \
          path over one HTTP connection that is kept alive. Reference: two threads that hand each other as many bytes as \
          request and answer have, over a socket of the same kind. Calls per second: the same with eight connections, each \
          of which waits for an answer before it asks again; their threads run on the same machine. Before each call \
          after a change a value of the agent's memory is written, which is not timed: nothing that was looked up before \
          is still so.",
    run,
};

/// Connections that ask at the same time.
const CONNECTIONS: usize = 8;

/// Microseconds that one call may take, over the socket and over HTTP.
const REACH_MICROS: [f64; 2] = [150.0, 300.0];

/// Calls that are answered in a second.
const REACH_RATE: f64 = 15_000.0;

/// One way to ask the same again and again.
trait Asking: Send {
    /// Asks once, and gives how many bytes came back.
    fn ask(&mut self) -> anyhow::Result<usize>;
    /// How many bytes a request has.
    fn request_bytes(&self) -> usize;
}

fn run(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    // A port that was free a moment ago.
    let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string();
    let more = vec![("EDGEPLANE_HTTP_LISTEN".to_owned(), address.clone())];
    let node = Node::start_with(&bench.binaries, bench.dir.path(), more)?;
    node.apply(&manifest("quiet", "terminal", &["/bin/cat"], &["run: stopped"]))?;
    let params = json!({ "principal": "bench", "kind": "service", "scopes": ["read"], "roles": [] });
    let token = node.connect()?.call("security/token.create", params)?;
    let token = token["token"].as_str().context("no token was made")?;
    ensure!(
        until(Deadline::after(PATIENCE), || TcpStream::connect(&address).is_ok()),
        "no HTTP: {}",
        node.log()
    );

    let over_socket = || -> anyhow::Result<Box<dyn Asking>> { Ok(Box::new(Socket::open(&node)?)) };
    let over_http = || -> anyhow::Result<Box<dyn Asking>> { Ok(Box::new(Http::open(&address, token)?)) };
    let (ours, unix) = pair(bench, &over_socket, unix_pair)?;
    let (http, tcp) = pair(bench, &over_http, tcp_pair)?;
    let changed = after_changes(bench, &node)?;
    let mut rows = vec![
        time("call that reads, unix socket", &ours, ("unix ping-pong", &unix), REACH_MICROS[0]),
        time(
            "call that reads after a change, unix socket",
            &changed,
            ("unix ping-pong", &unix),
            REACH_MICROS[0],
        ),
        time("call that reads, HTTP kept alive", &http, ("TCP ping-pong", &tcp), REACH_MICROS[1]),
    ];
    for (what, open) in [
        ("calls that read, unix socket", &over_socket as &dyn Fn() -> anyhow::Result<Box<dyn Asking>>),
        ("calls that read, HTTP kept alive", &over_http),
    ] {
        let rates = rates(bench, open)?;
        let met = rates.p50() >= REACH_RATE;
        rows.push(
            Row::rate(format!("{what}, connections: {CONNECTIONS}"), "calls/s", &rates)
                .reach(format!("≥ {REACH_RATE}"), met),
        );
    }
    Ok(rows)
}

fn time(what: &str, ours: &Samples, (name, bare): (&str, &Samples), reach: f64) -> Row {
    Row::time(what, "µs", ours)
        .reference(name, bare)
        .against(name, bare.p50())
        .reach(format!("p50 ≤ {reach}"), ours.p50() <= reach)
}

type Open<'a> = &'a dyn Fn() -> anyhow::Result<Box<dyn Asking>>;

/// Ours, and two threads with nothing but the kernel between them.
fn pair<S: Read + Write + Send>(
    bench: &Bench,
    open: Open<'_>,
    bare: fn() -> anyhow::Result<(S, S)>,
) -> anyhow::Result<(Samples, Samples)> {
    let times = bench.times(20_000, 200);
    let mut asking = open()?;
    let mut answer_bytes = 0;
    let mut ours = Vec::with_capacity(times);
    for number in 0..times + times / 10 {
        let begin = now_ns();
        answer_bytes = asking.ask()?;
        // The first ones warm everything up.
        if number >= times / 10 {
            ours.push(now_ns() - begin);
        }
    }
    let bare = ping_pong(bare()?, (asking.request_bytes(), answer_bytes), times)?;
    Ok((Samples::micros(&ours), Samples::micros(&bare)))
}

pub(super) fn ping_pong<S: Read + Write + Send>(
    (mut ours, mut theirs): (S, S),
    (request, answer): (usize, usize),
    times: usize,
) -> anyhow::Result<Vec<u64>> {
    thread::scope(|scope| {
        scope.spawn(move || {
            let (mut heard, said) = (vec![0; request], vec![b'a'; answer]);
            while theirs.read_exact(&mut heard).is_ok() && theirs.write_all(&said).is_ok() {}
        });
        let (said, mut heard) = (vec![b'r'; request], vec![0; answer]);
        let mut nanos = Vec::with_capacity(times);
        for _ in 0..times {
            let begin = now_ns();
            ours.write_all(&said)?;
            ours.read_exact(&mut heard)?;
            nanos.push(now_ns() - begin);
        }
        // The other thread ends with the stream.
        drop(ours);
        Ok(nanos)
    })
}

fn unix_pair() -> anyhow::Result<(UnixStream, UnixStream)> {
    Ok(UnixStream::pair()?)
}

fn tcp_pair() -> anyhow::Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let ours = TcpStream::connect(listener.local_addr()?)?;
    let (theirs, _) = listener.accept()?;
    ours.set_nodelay(true)?;
    theirs.set_nodelay(true)?;
    Ok((ours, theirs))
}

/// The time of calls over the socket before each of which the record has grown.
fn after_changes(bench: &Bench, node: &Node) -> anyhow::Result<Samples> {
    let (mut asking, mut changing) = (Socket::open(node)?, node.connect()?);
    let times = bench.times(2_000, 50);
    let mut nanos = Vec::with_capacity(times);
    for number in 0..times {
        changing.call("memory/entry.put", json!({ "agent": "quiet", "key": "k", "value": number }))?;
        let begin = now_ns();
        asking.ask()?;
        nanos.push(now_ns() - begin);
    }
    Ok(Samples::micros(&nanos))
}

/// How many are answered in a second, several times.
fn rates(bench: &Bench, open: Open<'_>) -> anyhow::Result<Samples> {
    let each = bench.times(5_000, 50);
    let mut rates = Vec::new();
    for _ in 0..bench.times(5, 1) {
        let mut asking = (0..CONNECTIONS).map(|_| open()).collect::<anyhow::Result<Vec<_>>>()?;
        let begin = now_ns();
        thread::scope(|scope| {
            let work: Vec<_> = asking
                .iter_mut()
                .map(|asking| scope.spawn(|| (0..each).try_for_each(|_| asking.ask().map(drop))))
                .collect();
            work.into_iter().try_for_each(|work| match work.join() {
                Ok(done) => done,
                Err(_panic) => bail!("a thread that asks ended"),
            })
        })?;
        let seconds = (now_ns() - begin) as f64 / 1e9;
        rates.push((CONNECTIONS * each) as f64 / seconds);
    }
    Ok(Samples::new(rates))
}

/// Over the socket of the node.
struct Socket {
    connection: crate::bench::rpc::Connection,
    line: Vec<u8>,
}

impl Socket {
    fn open(node: &Node) -> anyhow::Result<Self> {
        let mut connection = node.connect()?;
        let (line, _) = connection.request("runtime/agent.get", json!({ "agent": "quiet" }));
        Ok(Self { connection, line })
    }
}

impl Asking for Socket {
    fn ask(&mut self) -> anyhow::Result<usize> {
        self.connection.send(&self.line)?;
        let answer = self.connection.read_line()?;
        ensure!(answer.starts_with(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\""), "the node refused");
        Ok(answer.len())
    }

    fn request_bytes(&self) -> usize {
        self.line.len()
    }
}

/// Over a connection that is kept alive.
struct Http {
    stream: BufReader<TcpStream>,
    request: Vec<u8>,
    line: String,
    body: Vec<u8>,
}

impl Http {
    fn open(address: &str, token: &str) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        let body = json!({ "agent": "quiet" }).to_string();
        let request = format!(
            "POST /v1/runtime/agent.get HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let stream = BufReader::with_capacity(1 << 16, stream);
        Ok(Self { stream, request: request.into_bytes(), line: String::new(), body: Vec::new() })
    }
}

impl Asking for Http {
    fn ask(&mut self) -> anyhow::Result<usize> {
        self.stream.get_mut().write_all(&self.request)?;
        let (mut head, mut length) = (0, 0);
        loop {
            self.line.clear();
            head += self.stream.read_line(&mut self.line)?;
            let line = self.line.trim_end();
            if line.is_empty() {
                break;
            }
            ensure!(
                !line.starts_with("HTTP/") || line.starts_with("HTTP/1.1 200"),
                "the node refused: {line}"
            );
            if let Some(value) = line.strip_prefix("content-length: ") {
                length = value.parse()?;
            }
        }
        self.body.resize(length, 0);
        self.stream.read_exact(&mut self.body)?;
        ensure!(length > 0, "an answer without a length");
        Ok(head + length)
    }

    fn request_bytes(&self) -> usize {
        self.request.len()
    }
}

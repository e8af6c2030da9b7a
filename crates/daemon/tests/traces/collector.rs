//! A collector of OTLP for tests: takes what is posted to it and keeps it, or never answers.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex, PoisonError},
};

use opentelemetry_proto::tonic::{
    collector::{
        logs::v1::ExportLogsServiceRequest, metrics::v1::ExportMetricsServiceRequest,
        trace::v1::ExportTraceServiceRequest,
    },
    common::v1::{KeyValue, any_value::Value},
    logs::v1::LogRecord,
    trace::v1::Span,
};
use prost::Message as _;

/// What was posted.
#[derive(Default)]
struct Kept {
    spans: Vec<Span>,
    logs: Vec<LogRecord>,
    /// Each metric with the labels of its points.
    metrics: Vec<(String, Vec<KeyValue>)>,
    posts: usize,
}

/// A collector on loopback.
pub(crate) struct Collector {
    address: std::net::SocketAddr,
    kept: Arc<Mutex<Kept>>,
}

impl Collector {
    pub(crate) fn start() -> Self {
        Self::listen(true)
    }

    /// One that takes connections and what is posted, and says nothing.
    pub(crate) fn that_never_answers() -> Self {
        Self::listen(false)
    }

    fn listen(answers: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let kept = Arc::<Mutex<Kept>>::default();
        let shared = Arc::clone(&kept);
        // It ends with the test's process.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let kept = Arc::clone(&shared);
                std::thread::spawn(move || serve(stream, &kept, answers));
            }
        });
        Self { address, kept }
    }

    pub(crate) fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    fn look<T>(&self, at: impl FnOnce(&Kept) -> T) -> T {
        at(&self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn posts(&self) -> usize {
        self.look(|kept| kept.posts)
    }

    /// The one query that rebuilds a request: everything with this trace's id.
    pub(crate) fn of_trace(&self, trace: &str) -> (Vec<Span>, Vec<LogRecord>) {
        self.look(|kept| {
            let spans = kept.spans.iter().filter(|span| hex(&span.trace_id) == trace).cloned();
            let logs = kept.logs.iter().filter(|line| hex(&line.trace_id) == trace).cloned();
            (spans.collect(), logs.collect())
        })
    }

    pub(crate) fn metrics(&self) -> Vec<(String, Vec<KeyValue>)> {
        self.look(|kept| kept.metrics.clone())
    }

    /// Everything that was posted, as text.
    pub(crate) fn all(&self) -> String {
        self.look(|kept| format!("{:?} {:?} {:?}", kept.spans, kept.logs, kept.metrics))
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The text of an attribute.
pub(crate) fn attribute(of: &[KeyValue], name: &str) -> Option<String> {
    of.iter().find(|pair| pair.key == name).and_then(|pair| match pair.value.as_ref()?.value.as_ref()? {
        Value::StringValue(text) => Some(text.clone()),
        _ => None,
    })
}

fn serve(stream: TcpStream, kept: &Mutex<Kept>, answers: bool) {
    let mut writer = stream.try_clone().unwrap();
    let mut reader = BufReader::new(stream);
    loop {
        let (mut path, mut length) = (String::new(), 0_usize);
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if path.is_empty() {
                line.split(' ').nth(1).unwrap_or_default().clone_into(&mut path);
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().unwrap();
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        keep(&mut kept.lock().unwrap_or_else(PoisonError::into_inner), &path, &body);
        if !answers {
            continue;
        }
        let answer = b"HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n";
        if writer.write_all(answer).is_err() {
            return;
        }
    }
}

fn keep(kept: &mut Kept, path: &str, body: &[u8]) {
    kept.posts += 1;
    match path {
        "/v1/traces" => {
            let post = ExportTraceServiceRequest::decode(body).unwrap();
            let scopes = post.resource_spans.into_iter().flat_map(|of| of.scope_spans);
            kept.spans.extend(scopes.flat_map(|scope| scope.spans));
        }
        "/v1/logs" => {
            let post = ExportLogsServiceRequest::decode(body).unwrap();
            let scopes = post.resource_logs.into_iter().flat_map(|of| of.scope_logs);
            kept.logs.extend(scopes.flat_map(|scope| scope.log_records));
        }
        "/v1/metrics" => {
            use opentelemetry_proto::tonic::metrics::v1::metric::Data;
            let post = ExportMetricsServiceRequest::decode(body).unwrap();
            let scopes = post.resource_metrics.into_iter().flat_map(|of| of.scope_metrics);
            for metric in scopes.flat_map(|scope| scope.metrics) {
                let labels: Vec<KeyValue> = match metric.data {
                    Some(Data::Histogram(of)) => {
                        of.data_points.into_iter().flat_map(|point| point.attributes).collect()
                    }
                    Some(Data::Sum(of)) => {
                        of.data_points.into_iter().flat_map(|point| point.attributes).collect()
                    }
                    _ => Vec::new(),
                };
                kept.metrics.push((metric.name, labels));
            }
        }
        other => panic!("nobody posts to {other}"),
    }
}

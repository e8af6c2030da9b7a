//! Requests over HTTP: one JSON-RPC message each, and streams of server-sent events.

use std::{
    io::{BufRead as _, BufReader},
    time::Duration,
};

use serde_json::{Value, json};

use crate::template::pick;

/// Longest answer that is read, in bytes: packs of evidence come in one.
const ANSWER_BYTES_MAX: u64 = 64 << 20;

/// Longest time without a byte of a stream, a sign of life included.
const SILENCE_MAX: Duration = Duration::from_secs(45);

/// Why a call gave no result.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The implementation says so, by the stable name of the failure.
    #[error("{name}: {message}")]
    Refused {
        /// The name.
        name: String,
        /// In words.
        message: String,
    },
    /// No answer, or none that is one.
    #[error("no answer to `{method}`: {message}")]
    Broken {
        /// What was called.
        method: String,
        /// What happened.
        message: String,
    },
}

/// A way to an implementation.
#[derive(Debug, Clone)]
pub struct Client {
    base: String,
    rpc: String,
    error_name: String,
    bearer: Option<String>,
    agent: ureq::Agent,
}

/// One server-sent event.
#[derive(Debug, Clone, Default)]
pub struct Sent {
    /// The place behind it.
    pub id: Option<String>,
    /// Its name.
    pub name: String,
    /// What it carries.
    pub data: Value,
}

/// The events of an answer that goes on.
pub struct Feed {
    lines: std::io::Lines<BufReader<ureq::BodyReader<'static>>>,
}

impl std::fmt::Debug for Feed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Feed").finish_non_exhaustive()
    }
}

impl Client {
    /// A way to the implementation at an address such as `http://127.0.0.1:8930`.
    #[must_use]
    pub fn new(base: &str, token: Option<&str>, rpc: &str, error_name: &str) -> Self {
        Self {
            base: base.trim_end_matches('/').to_owned(),
            rpc: rpc.to_owned(),
            error_name: error_name.to_owned(),
            bearer: token.map(|token| format!("Bearer {}", token.trim())),
            agent: agent(SILENCE_MAX),
        }
    }

    /// The same way for somebody who takes a stream for broken after so long without a byte.
    #[must_use]
    pub fn hasty(&self, silence: Duration) -> Self {
        Self { agent: agent(silence), ..self.clone() }
    }

    /// Calls a method.
    ///
    /// # Errors
    /// What the implementation answers, or that it does not.
    pub fn call(&self, method: &str, params: &Value) -> Result<Value, CallError> {
        let broken = |message: String| CallError::Broken { method: method.to_owned(), message };
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let mut request =
            self.agent.post(format!("{}{}", self.base, self.rpc)).header("Content-Type", "application/json");
        if let Some(bearer) = &self.bearer {
            request = request.header("Authorization", bearer);
        }
        let mut answer = request.send(message.to_string()).map_err(|error| broken(error.to_string()))?;
        let text = answer.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_string();
        let text = text.map_err(|error| broken(error.to_string()))?;
        let answer: Value =
            serde_json::from_str(&text).map_err(|error| broken(format!("{error} in its answer")))?;
        if let Some(result) = answer.get("result") {
            return Ok(result.clone());
        }
        let error = answer.get("error").unwrap_or(&answer);
        let name = pick(error, &self.error_name).as_str().unwrap_or("unnamed").to_owned();
        let message = error.get("message").and_then(Value::as_str).unwrap_or_default().to_owned();
        Err(CallError::Refused { name, message })
    }

    /// Follows events, behind the place that was heard last.
    ///
    /// # Errors
    /// If they are not to be had.
    pub fn follow(&self, path: &str, last: Option<&str>) -> Result<Feed, CallError> {
        let broken = |message: String| CallError::Broken { method: path.to_owned(), message };
        let mut request =
            self.agent.get(format!("{}{path}", self.base)).header("Accept", "text/event-stream");
        if let Some(bearer) = &self.bearer {
            request = request.header("Authorization", bearer);
        }
        if let Some(last) = last {
            request = request.header("Last-Event-ID", last);
        }
        let mut answer = request.call().map_err(|error| broken(error.to_string()))?;
        if answer.status() == 200 {
            let lines = BufReader::new(answer.into_body().into_reader()).lines();
            return Ok(Feed { lines });
        }
        let text = answer.body_mut().read_to_string().unwrap_or_default();
        let error: Value = serde_json::from_str(&text).unwrap_or_default();
        let error = error.get("error").unwrap_or(&error);
        match pick(error, &self.error_name).as_str() {
            Some(name) => Err(CallError::Refused { name: name.to_owned(), message: text.clone() }),
            None => Err(broken(format!("status {}: {text}", answer.status()))),
        }
    }
}

/// A connection for each request: one that is kept may belong to a daemon that was restarted.
fn agent(silence: Duration) -> ureq::Agent {
    ureq::Agent::config_builder()
        .http_status_as_error(false)
        .max_idle_connections(0)
        .timeout_per_read(Some(silence))
        .build()
        .into()
}

impl Feed {
    /// The next event; nothing when the answer has ended or broke.
    pub fn next_sent(&mut self) -> Option<Sent> {
        let (mut sent, mut data) = (Sent::default(), String::new());
        loop {
            let line = self.lines.next()?.ok()?;
            if line.is_empty() {
                if !data.is_empty() {
                    sent.data = serde_json::from_str(&data).unwrap_or(Value::String(data));
                    return Some(sent);
                }
                continue;
            }
            let (field, value) = line.split_once(':').unwrap_or((&line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "id" => sent.id = Some(value.to_owned()),
                "event" => value.clone_into(&mut sent.name),
                "data" => data.push_str(value),
                _ => {}
            }
        }
    }
}

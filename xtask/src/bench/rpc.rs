//! One blocking conversation with a node: requests are written whole, answers are read line by line.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    os::unix::net::UnixStream,
    path::Path,
    time::Duration,
};

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

/// How long an answer may take before the measurement is given up.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(60);

/// A conversation.
#[derive(Debug)]
pub(crate) struct Connection {
    writer: UnixStream,
    reader: BufReader<UnixStream>,
    next: i64,
    line: Vec<u8>,
}

impl Connection {
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        let writer = edgeplane_os::sock::connect(path)?;
        writer.set_nonblocking(false)?;
        writer.set_read_timeout(Some(ANSWER_TIME_MAX))?;
        let reader = BufReader::with_capacity(1 << 16, writer.try_clone()?);
        Ok(Self { writer, reader, next: 0, line: Vec::new() })
    }

    /// A request as bytes, so that making it is no part of a measurement, and its number.
    #[expect(clippy::needless_pass_by_value, reason = "`json!` makes values")]
    pub(crate) fn request(&mut self, method: &str, params: Value) -> (Vec<u8>, i64) {
        self.next += 1;
        let request = json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params });
        let mut line = request.to_string().into_bytes();
        line.push(b'\n');
        (line, self.next)
    }

    pub(crate) fn send(&mut self, line: &[u8]) -> anyhow::Result<()> {
        Ok(self.writer.write_all(line)?)
    }

    /// The next line as it came.
    pub(crate) fn read_line(&mut self) -> anyhow::Result<&[u8]> {
        self.line.clear();
        if self.reader.read_until(b'\n', &mut self.line).context("no answer from the node")? == 0 {
            bail!("the node closed the connection");
        }
        Ok(&self.line)
    }

    /// The next line, read.
    pub(crate) fn read(&mut self) -> anyhow::Result<Value> {
        Ok(serde_json::from_slice(self.read_line()?)?)
    }

    /// The answer to a request; what comes before it is passed over.
    pub(crate) fn answer(&mut self, id: i64) -> anyhow::Result<Value> {
        loop {
            let mut line = self.read()?;
            if line.get("id").and_then(Value::as_i64) != Some(id) {
                continue;
            }
            if let Some(error) = line.get("error") {
                bail!("the node refused: {error}");
            }
            return Ok(line.get_mut("result").map(Value::take).unwrap_or_default());
        }
    }

    pub(crate) fn call(&mut self, method: &str, params: Value) -> anyhow::Result<Value> {
        let (line, id) = self.request(method, params);
        self.send(&line)?;
        self.answer(id).with_context(|| method.to_owned())
    }
}

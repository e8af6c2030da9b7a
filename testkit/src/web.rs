//! Requests over HTTP as bytes: a client that says exactly what a test wants it to say, also what no good client would.

use std::{
    io::{self, BufRead as _, BufReader, Read, Write},
    net::TcpStream,
    time::Duration,
};

/// How long an answer may take.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(60);

/// A connection, over which requests follow one another.
#[derive(Debug)]
pub struct Web<S: Read + Write> {
    stream: BufReader<S>,
}

/// The beginning of an answer.
#[derive(Debug, Clone)]
pub struct Head {
    /// The status.
    pub status: u16,
    headers: Vec<(String, String)>,
}

/// A whole answer.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Its beginning.
    pub head: Head,
    /// Its body.
    pub body: Vec<u8>,
}

/// One of the events that a server sends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Event {
    /// Where a reader goes on after it.
    pub id: Option<String>,
    /// What it is called.
    pub event: String,
    /// What it carries.
    pub data: String,
}

impl Web<TcpStream> {
    /// Connects.
    ///
    /// # Errors
    /// If nobody listens.
    pub fn connect(address: &str) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(ANSWER_TIME_MAX))?;
        stream.set_nodelay(true)?;
        Ok(Self::over(stream))
    }
}

impl Head {
    /// A header's value.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    fn is_chunked(&self) -> bool {
        self.header("transfer-encoding").is_some_and(|kind| kind.eq_ignore_ascii_case("chunked"))
    }
}

impl Answer {
    /// The status.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.head.status
    }

    /// The body as JSON.
    ///
    /// # Panics
    /// If it is none.
    #[must_use]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&self.body)))
    }

    /// The name of the error that the body is, or has as a message of JSON-RPC.
    #[must_use]
    pub fn error_name(&self) -> String {
        let body: serde_json::Value = serde_json::from_slice(&self.body).unwrap_or_default();
        let error = body.get("error").unwrap_or(&body);
        error["data"]["name"].as_str().unwrap_or_default().to_owned()
    }
}

impl<S: Read + Write> Web<S> {
    /// Speaks over any stream.
    pub fn over(stream: S) -> Self {
        Self { stream: BufReader::new(stream) }
    }

    /// The stream itself.
    pub fn stream(&mut self) -> &mut S {
        self.stream.get_mut()
    }

    /// Says bytes.
    ///
    /// # Errors
    /// If nobody hears them.
    pub fn say(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.get_mut().write_all(bytes)?;
        self.stream.get_mut().flush()
    }

    /// Sends a request with a length, and gives the whole answer.
    ///
    /// # Errors
    /// If the connection breaks before.
    pub fn ask(&mut self, line: &str, headers: &[(&str, &str)], body: &[u8]) -> io::Result<Answer> {
        self.begin(line, headers, body)?;
        let head = self.head()?;
        let body = self.body(&head)?;
        Ok(Answer { head, body })
    }

    /// Sends a request with a length, such as `POST /v1/rpc`.
    ///
    /// # Errors
    /// If the connection breaks before.
    pub fn begin(&mut self, line: &str, headers: &[(&str, &str)], body: &[u8]) -> io::Result<()> {
        let mut bytes = format!("{line} HTTP/1.1\r\n");
        for (name, value) in headers {
            bytes.push_str(&format!("{name}: {value}\r\n"));
        }
        bytes.push_str(&format!("Content-Length: {}\r\n\r\n", body.len()));
        let mut bytes = bytes.into_bytes();
        bytes.extend_from_slice(body);
        self.say(&bytes)
    }

    /// The beginning of the next answer.
    ///
    /// # Errors
    /// If the connection breaks before.
    pub fn head(&mut self) -> io::Result<Head> {
        let first = self.line()?;
        let status = first.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.ok_or_else(|| io::Error::other(format!("no status: {first:?}")))?;
        let mut headers = Vec::new();
        loop {
            let line = self.line()?;
            match line.split_once(": ") {
                Some((name, value)) => headers.push((name.to_owned(), value.to_owned())),
                None => return Ok(Head { status, headers }),
            }
        }
    }

    /// The body that belongs to a beginning.
    ///
    /// # Errors
    /// If the connection breaks before.
    pub fn body(&mut self, head: &Head) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        if head.is_chunked() {
            while let Some(chunk) = self.chunk()? {
                body.extend(chunk);
            }
        } else if let Some(length) = head.header("content-length") {
            body.resize(length.parse().map_err(io::Error::other)?, 0);
            self.stream.read_exact(&mut body)?;
        }
        Ok(body)
    }

    /// The next piece of a body that comes in pieces.
    ///
    /// # Errors
    /// If the connection breaks before.
    pub fn chunk(&mut self) -> io::Result<Option<Vec<u8>>> {
        let size = self.line()?;
        let size = usize::from_str_radix(size.trim(), 16).map_err(io::Error::other)?;
        let mut chunk = vec![0; size];
        self.stream.read_exact(&mut chunk)?;
        self.line()?;
        Ok((size > 0).then_some(chunk))
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        if self.stream.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(line.trim_end().to_owned())
    }
}

/// Events of an answer that goes on.
#[derive(Debug)]
pub struct Events<S: Read + Write> {
    web: Web<S>,
    waiting: String,
}

impl<S: Read + Write> Events<S> {
    /// Those behind a beginning that was read.
    pub fn of(web: Web<S>) -> Self {
        Self { web, waiting: String::new() }
    }

    /// The next event; comments are passed over. `None` at the proper end of the answer.
    ///
    /// # Errors
    /// If the connection breaks before.
    pub fn next_event(&mut self) -> io::Result<Option<Event>> {
        loop {
            while let Some((block, rest)) = self.waiting.split_once("\n\n") {
                let event = read(block);
                self.waiting = rest.to_owned();
                if let Some(event) = event {
                    return Ok(Some(event));
                }
            }
            let Some(chunk) = self.web.chunk()? else { return Ok(None) };
            self.waiting.push_str(&String::from_utf8(chunk).map_err(io::Error::other)?);
        }
    }

    /// The connection.
    pub fn web(&mut self) -> &mut Web<S> {
        &mut self.web
    }
}

fn read(block: &str) -> Option<Event> {
    let mut event = Event::default();
    for line in block.lines() {
        match line.split_once(": ") {
            Some(("id", id)) => event.id = Some(id.to_owned()),
            Some(("event", name)) => name.clone_into(&mut event.event),
            Some(("data", data)) => event.data.push_str(data),
            _ => {}
        }
    }
    (!event.data.is_empty()).then_some(event)
}

//! What a program says, line by line.

use edgeplane_types::MessageId;
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::{
    permission::Permission,
    terminal::{self, Terminal},
    update::{Update, UpdateKind},
};

/// Longest id of a program's request in bytes; it is given back, and kept meanwhile.
const ID_BYTES_MAX: usize = 256;

/// Longest text of a program's failure that is kept, in bytes.
const FAILURE_BYTES_MAX: usize = 2_048;

/// The number of the error by which a program says that it wants a login first.
const AUTH_REQUIRED: i64 = -32_000;

/// What our requests' ids begin with.
const OURS: &str = "edgeplane:";

/// What one of our requests was about. Its id says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Asked {
    /// Versions and capabilities.
    Initialize,
    /// A login.
    Authenticate,
    /// A new session.
    New,
    /// A former session, with its history said again.
    Load,
    /// A former session, without its history.
    Resume,
    /// The end of the session, before that of its program.
    Close,
    /// The session's mode.
    Mode,
    /// The session's model.
    Model,
    /// The turn of a message.
    Prompt(MessageId),
}

impl Asked {
    /// The id of the request.
    #[must_use]
    pub fn id(self) -> String {
        let name = match self {
            Self::Initialize => "initialize",
            Self::Authenticate => "authenticate",
            Self::New => "new",
            Self::Load => "load",
            Self::Resume => "resume",
            Self::Close => "close",
            Self::Mode => "mode",
            Self::Model => "model",
            Self::Prompt(message_id) => return format!("{OURS}prompt:{message_id}"),
        };
        format!("{OURS}{name}")
    }

    fn of(id: &str) -> Option<Self> {
        match id.strip_prefix(OURS)? {
            "initialize" => Some(Self::Initialize),
            "authenticate" => Some(Self::Authenticate),
            "new" => Some(Self::New),
            "load" => Some(Self::Load),
            "resume" => Some(Self::Resume),
            "close" => Some(Self::Close),
            "mode" => Some(Self::Mode),
            "model" => Some(Self::Model),
            other => other.strip_prefix("prompt:")?.parse().ok().map(Self::Prompt),
        }
    }
}

/// The id of a program's request, given back as it is.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestId(pub(super) Value);

impl RequestId {
    fn of(value: Value) -> Option<Self> {
        let fits = match &value {
            Value::String(text) => text.len() <= ID_BYTES_MAX,
            Value::Number(_) => true,
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => false,
        };
        fits.then_some(Self(value))
    }
}

/// Why a program did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The number of the error.
    pub code: i64,
    /// What it says, cleaned and cut.
    pub message: String,
}

impl Failure {
    /// Whether it wants a login first.
    #[must_use]
    pub fn wants_login(&self) -> bool {
        self.code == AUTH_REQUIRED
    }
}

/// A line of a program's output.
#[derive(Debug, Clone, PartialEq)]
pub enum Heard {
    /// Not a line of the protocol.
    Text,
    /// An answer to one of our requests.
    Answer(Asked, Result<Value, Failure>),
    /// Something of a session that goes on.
    Update(Update),
    /// It asks whether it may do something.
    Permission(Permission),
    /// It asks for the text of a file.
    ReadFile {
        /// To be given back.
        id: RequestId,
        /// Which file.
        path: String,
        /// From which line, counted from 1.
        line: Option<u64>,
        /// How many lines.
        limit: Option<u64>,
    },
    /// It asks that a text be written to a file.
    WriteFile {
        /// To be given back.
        id: RequestId,
        /// Which file.
        path: String,
        /// The whole text.
        content: String,
    },
    /// It asks for a command to be run, or about one.
    Terminal {
        /// To be given back.
        id: RequestId,
        /// What it asks.
        terminal: Terminal,
    },
    /// A request that is not served.
    Unserved {
        /// To be given back.
        id: RequestId,
        /// What it asks for.
        method: String,
    },
    /// A notification that means nothing here.
    Unknown {
        /// Its name.
        method: String,
    },
    /// A line of the protocol that cannot be used, and why.
    Refused {
        /// The request's id, if it was one.
        id: Option<RequestId>,
        /// Why.
        reason: String,
    },
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(default)]
    id: Option<Value>,
    #[serde(default)]
    method: Option<String>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct RawFailure {
    #[serde(default)]
    code: i64,
    #[serde(default)]
    message: String,
    #[serde(default)]
    data: Option<Value>,
}

#[derive(Deserialize)]
struct ReadParams {
    path: String,
    #[serde(default)]
    line: Option<u64>,
    #[serde(default)]
    limit: Option<u64>,
}

#[derive(Deserialize)]
struct WriteParams {
    path: String,
    content: String,
}

/// Reads a line of a program's output.
#[must_use]
pub fn hear(line: &[u8]) -> Heard {
    if !line.trim_ascii_start().starts_with(b"{") {
        return Heard::Text;
    }
    // JSON that is not of the protocol is a program's own log format, not an offence.
    let Ok(read) = serde_json::from_slice::<Line<'_>>(line) else { return Heard::Text };
    match (read.method, read.id.filter(|id| !id.is_null())) {
        (Some(method), Some(id)) => match RequestId::of(id) {
            Some(id) => request(id, &method, read.params),
            None => refused(None, "the id of a request is neither a short text nor a number"),
        },
        (Some(method), None) => notification(&method, read.params),
        (None, Some(id)) => answer(&id, read.result, read.error),
        (None, None) if read.error.is_some() => refused(None, "it could not read one of our lines"),
        (None, None) => Heard::Text,
    }
}

fn request(id: RequestId, method: &str, params: Option<&RawValue>) -> Heard {
    let named = id.clone();
    let heard = match method {
        "session/request_permission" => read(params).and_then(|params| Permission::read(named, params)),
        "fs/read_text_file" => read(params).map(|ReadParams { path, line, limit }| Heard::ReadFile {
            id: named,
            path,
            line,
            limit,
        }),
        "fs/write_text_file" => {
            read(params).map(|WriteParams { path, content }| Heard::WriteFile { id: named, path, content })
        }
        _ => match read(params).map(|params: Value| terminal::read(method, params)) {
            Ok(Some(read)) => read.map(|terminal| Heard::Terminal { id: named, terminal }),
            Ok(None) | Err(_) => return Heard::Unserved { id, method: crate::render::clean(method) },
        },
    };
    heard.unwrap_or_else(|why| refused(Some(id), &format!("parameters of {method}: {why}")))
}

fn notification(method: &str, params: Option<&RawValue>) -> Heard {
    if method != "session/update" {
        return Heard::Unknown { method: crate::render::clean(method) };
    }
    match read(params).and_then(Update::read) {
        // A kind of update that is not known, or not said as we know it, is passed over like any other.
        Err(why) => Heard::Update(Update { session: String::new(), kind: UpdateKind::Unknown { name: why } }),
        Ok(update) => Heard::Update(update),
    }
}

fn answer(id: &Value, result: Option<&RawValue>, error: Option<&RawValue>) -> Heard {
    let Some(asked) = id.as_str().and_then(Asked::of) else {
        return refused(None, "an answer to nothing that was asked");
    };
    if let Some(error) = error.filter(|error| error.get() != "null") {
        let failure = serde_json::from_str::<RawFailure>(error.get());
        let Ok(failure) = failure else { return refused(None, "an error that is none") };
        return Heard::Answer(asked, Err(failure.into()));
    }
    // An answer without a result is how some say that there is nothing to say.
    let value = result.map_or(Ok(Value::Null), |result| serde_json::from_str(result.get()));
    match value {
        Ok(value) => Heard::Answer(asked, Ok(value)),
        Err(error) => refused(None, &format!("an answer that cannot be read: {error}")),
    }
}

impl From<RawFailure> for Failure {
    fn from(raw: RawFailure) -> Self {
        // Where the reason stands in `data`, the message alone is `Internal error`.
        let data = match &raw.data {
            Some(Value::String(text)) => Some(text.clone()),
            Some(Value::Object(fields)) => ["details", "message"]
                .iter()
                .find_map(|key| fields.get(*key).and_then(Value::as_str))
                .map(str::to_owned),
            _ => None,
        };
        let text = match data {
            Some(data) if !data.is_empty() && data != raw.message => format!("{}: {data}", raw.message),
            _ => raw.message,
        };
        let mut message = crate::render::clean(&text).replace('\n', " ");
        message.truncate(message.floor_char_boundary(FAILURE_BYTES_MAX));
        Self { code: raw.code, message }
    }
}

fn read<'a, T: Deserialize<'a>>(params: Option<&'a RawValue>) -> Result<T, String> {
    let text = params.map_or("null", RawValue::get);
    serde_json::from_str(text).map_err(|error| error.to_string())
}

fn refused(id: Option<RequestId>, reason: &str) -> Heard {
    Heard::Refused { id, reason: crate::render::clean(reason) }
}

//! How a session comes about: versions and capabilities, a login, a former session or a new one, mode and model.
//!
//! Each line that is sent follows from one that was heard, so a daemon that takes over in the middle reads the program's
//! output from its beginning and comes to the same lines. Only the end of the way is a fact.

use serde_json::{Value, json};

use super::{
    hear::{Asked, Failure},
    say::{self, McpServer},
};

/// Most bytes of what a program says of itself that are kept.
const DETAILS_BYTES_MAX: usize = 256 << 10;

/// Longest name that a program may give its session, in bytes.
const SESSION_BYTES_MAX: usize = 256;

/// What a session is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// The folder that the agent works in.
    pub cwd: String,
    /// The login to use, by the program's own name.
    pub auth_method: Option<String>,
    /// The mode to work in.
    pub mode: Option<String>,
    /// The model to work with.
    pub model: Option<String>,
    /// The servers of tools that it has.
    pub servers: Vec<McpServer>,
    /// The former session that it goes on with, by the program's own name.
    pub former: Option<String>,
    /// Whether the program may ask for files.
    pub files: bool,
    /// Whether the program may ask for commands to be run.
    pub commands: bool,
}

/// By which way a session came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// It is new.
    New,
    /// It is a former one, with what was said in it.
    Former,
}

/// A session that takes prompts.
#[derive(Debug, Clone, PartialEq)]
pub struct Opened {
    /// The program's own name for it.
    pub session: String,
    /// How it came about.
    pub way: Way,
    /// The program and its version, as it says them.
    pub program: Option<String>,
    /// Why a former session was not gone on with, if one was asked for.
    pub lost: Option<String>,
    /// Whether another start of the program could go on with it.
    pub resumable: bool,
    /// Whether the program can be asked to close it.
    pub closable: bool,
    /// What the program said of itself and of the session.
    pub details: Value,
}

/// What follows from an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Act {
    /// This line is sent.
    Send(Vec<u8>),
    /// The session takes prompts.
    Opened(Box<Opened>),
    /// There will be no session in this epoch; why.
    Failed {
        /// In a sentence for people.
        why: String,
        /// Whether another start could help without anybody doing anything.
        may_pass: bool,
    },
}

#[derive(Debug, Clone, PartialEq)]
enum State {
    Initializing,
    Authenticating,
    Opening,
    Setting { session: String, left: Vec<Asked> },
    Ready { session: String },
    Failed { why: String },
}

/// A session on its way to its first prompt, and from then on its name.
#[derive(Debug, Clone)]
pub struct Session {
    wanted: Wanted,
    state: State,
    offered: Value,
    opened: Value,
    way: Way,
    lost: Option<String>,
}

impl Session {
    /// Begins; the line is the first that the program reads.
    #[must_use]
    pub fn begin(wanted: Wanted) -> (Self, Vec<u8>) {
        let line = say::initialize(wanted.files, wanted.commands);
        let session = Self {
            wanted,
            state: State::Initializing,
            offered: Value::Null,
            opened: Value::Null,
            way: Way::New,
            lost: None,
        };
        (session, line)
    }

    /// A session that a former daemon saw come about.
    #[must_use]
    pub fn known(wanted: Wanted, session: String) -> Self {
        let (mut known, _) = Self::begin(wanted);
        known.state = State::Ready { session };
        known
    }

    /// A session of which a former daemon saw that it cannot come about.
    #[must_use]
    pub fn hopeless(wanted: Wanted, why: String) -> Self {
        let (mut known, _) = Self::begin(wanted);
        known.state = State::Failed { why };
        known
    }

    /// The program's own name for the session, once it takes prompts.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match &self.state {
            State::Ready { session } => Some(session),
            _ => None,
        }
    }

    /// Why there will be no session, if that is so.
    #[must_use]
    pub fn failure(&self) -> Option<&str> {
        match &self.state {
            State::Failed { why } => Some(why),
            _ => None,
        }
    }

    /// Whether it is still on its way.
    #[must_use]
    pub fn is_opening(&self) -> bool {
        !matches!(self.state, State::Ready { .. } | State::Failed { .. })
    }

    /// Takes the answer to one of the requests that lead to a session. One that does not belong here changes nothing.
    pub fn answered(&mut self, asked: Asked, result: Result<Value, Failure>) -> Vec<Act> {
        match (&self.state, asked, result) {
            (State::Initializing, Asked::Initialize, Ok(value)) => self.initialized(value),
            (State::Initializing, Asked::Initialize, Err(error)) => {
                self.break_off(format!("it cannot begin: {}", error.message))
            }
            (State::Authenticating, Asked::Authenticate, Ok(_)) => self.open(),
            (State::Authenticating, Asked::Authenticate, Err(error)) => {
                let method = self.wanted.auth_method.clone().unwrap_or_default();
                self.fail(format!("its login `{method}` failed: {}", error.message))
            }
            (State::Opening, Asked::New | Asked::Load | Asked::Resume, Ok(value)) => {
                self.session_opened(asked, value)
            }
            (State::Opening, Asked::Load | Asked::Resume, Err(error)) if !error.wants_login() => {
                self.lost = Some(error.message);
                self.new_session()
            }
            (State::Opening, Asked::New | Asked::Load | Asked::Resume, Err(error)) => {
                if error.wants_login() {
                    return self.fail(self.login_wanted(&error));
                }
                self.break_off(format!("it opens no session: {}", error.message))
            }
            (State::Setting { .. }, Asked::Mode | Asked::Model, Ok(_)) => self.set(asked),
            (State::Setting { .. }, Asked::Mode | Asked::Model, Err(error)) => {
                let what = if asked == Asked::Mode { "mode" } else { "model" };
                let value = self.value_of(asked).unwrap_or_default().to_owned();
                // To go on in another mode could mean to go on with more rights than were meant.
                self.fail(format!("its {what} `{value}` was refused: {}", error.message))
            }
            _ => Vec::new(),
        }
    }

    fn initialized(&mut self, value: Value) -> Vec<Act> {
        let version = value.get("protocolVersion").and_then(Value::as_u64);
        self.offered = value;
        if version != Some(say::VERSION) {
            let spoken = version.map_or("no version that can be read".to_owned(), |v| format!("version {v}"));
            let wanted = say::VERSION;
            return self
                .fail(format!("it speaks {spoken} of the Agent Client Protocol, not version {wanted}"));
        }
        match self.wanted.auth_method.clone() {
            Some(method) => {
                self.state = State::Authenticating;
                vec![Act::Send(say::authenticate(&method))]
            }
            None => self.open(),
        }
    }

    fn open(&mut self) -> Vec<Act> {
        match (self.wanted.former.clone(), self.way_back()) {
            (Some(former), Some(way)) => {
                self.state = State::Opening;
                let Wanted { cwd, servers, .. } = &self.wanted;
                vec![Act::Send(say::former_session(way, &former, cwd, servers))]
            }
            (Some(_), None) => {
                self.lost = Some("it cannot go on with a former session".to_owned());
                self.new_session()
            }
            (None, _) => self.new_session(),
        }
    }

    /// The way to a former session that the program offers.
    fn way_back(&self) -> Option<Asked> {
        let capabilities = self.offered.get("agentCapabilities")?;
        if offers(capabilities, "resume") {
            return Some(Asked::Resume);
        }
        let loads = capabilities.get("loadSession").and_then(Value::as_bool) == Some(true);
        loads.then_some(Asked::Load)
    }

    fn new_session(&mut self) -> Vec<Act> {
        self.state = State::Opening;
        vec![Act::Send(say::new_session(&self.wanted.cwd, &self.wanted.servers))]
    }

    fn session_opened(&mut self, asked: Asked, value: Value) -> Vec<Act> {
        let session = match asked {
            Asked::New => value.get("sessionId").and_then(Value::as_str).map(str::to_owned),
            _ => self.wanted.former.clone(),
        };
        let Some(session) = session.filter(|name| !name.is_empty() && name.len() <= SESSION_BYTES_MAX) else {
            return self.break_off("it gave its session no name that can be used".to_owned());
        };
        self.way = if asked == Asked::New { Way::New } else { Way::Former };
        self.opened = value;
        self.state = State::Setting { session, left: vec![Asked::Model, Asked::Mode] };
        self.set_next()
    }

    fn set(&mut self, done: Asked) -> Vec<Act> {
        let State::Setting { left, .. } = &self.state else { return Vec::new() };
        // One that was not asked now, such as a second answer, is none.
        if left.last() != Some(&done) {
            return Vec::new();
        }
        self.done_with_last();
        self.set_next()
    }

    fn done_with_last(&mut self) {
        if let State::Setting { left, .. } = &mut self.state {
            left.pop();
        }
    }

    /// Sets what is to be set next, or has the session ready.
    fn set_next(&mut self) -> Vec<Act> {
        loop {
            let State::Setting { session, left } = &self.state else { return Vec::new() };
            let Some(asked) = left.last().copied() else { return self.ready() };
            let session = session.clone();
            match self.setting(asked, &session) {
                Ok(Some(line)) => return vec![Act::Send(line)],
                Ok(None) => self.done_with_last(),
                Err(why) => return self.fail(why),
            }
        }
    }

    fn value_of(&self, asked: Asked) -> Option<&str> {
        match asked {
            Asked::Mode => self.wanted.mode.as_deref(),
            Asked::Model => self.wanted.model.as_deref(),
            _ => None,
        }
    }

    /// The line that sets mode or model; none if nothing is wanted or it is so already.
    fn setting(&self, asked: Asked, session: &str) -> Result<Option<Vec<u8>>, String> {
        let Some(value) = self.value_of(asked) else { return Ok(None) };
        let (what, list, id, current) = match asked {
            Asked::Mode => ("mode", "/modes/availableModes", "id", "/modes/currentModeId"),
            _ => ("model", "/models/availableModels", "modelId", "/models/currentModelId"),
        };
        let text = |at: &str| self.opened.pointer(at).and_then(Value::as_str);
        let offered = names(self.opened.pointer(list), id);
        if offered.iter().any(|name| name == value) {
            let line = || match asked {
                Asked::Mode => say::set_mode(session, value),
                _ => say::set_model(session, value),
            };
            return Ok((text(current) != Some(value)).then(line));
        }
        // Newer programs have options of which each says what it is about.
        let options = self.opened.get("configOptions").and_then(Value::as_array);
        let option = options
            .into_iter()
            .flatten()
            .find(|option| option.get("category").and_then(Value::as_str) == Some(what));
        let Some(option) = option else { return Err(not_offered(what, value, &offered)) };
        let offered = option_values(option);
        let Some(id) =
            option.get("id").and_then(Value::as_str).filter(|_| offered.iter().any(|v| v == value))
        else {
            return Err(not_offered(what, value, &offered));
        };
        let is_so = option.get("currentValue").and_then(Value::as_str) == Some(value);
        Ok((!is_so).then(|| say::set_option(asked, session, id, value)))
    }

    fn ready(&mut self) -> Vec<Act> {
        let State::Setting { session, .. } = &self.state else { return Vec::new() };
        let session = session.clone();
        self.state = State::Ready { session: session.clone() };
        let info = self.offered.get("agentInfo");
        let said = |key: &str| info.and_then(|info| info.get(key)).and_then(Value::as_str);
        let program = said("name").map(|name| match said("version") {
            Some(version) => crate::render::clean(&format!("{name} {version}")),
            None => crate::render::clean(name),
        });
        let details = json!({ "initialize": self.offered, "session": self.opened });
        let bytes = details.to_string().len();
        let details = if bytes > DETAILS_BYTES_MAX { json!({ "tooLarge": bytes }) } else { details };
        let (lost, resumable) = (self.lost.take(), self.way_back().is_some());
        let capabilities = self.offered.get("agentCapabilities");
        let closable = capabilities.is_some_and(|capabilities| offers(capabilities, "close"));
        let opened = Opened { session, way: self.way, program, lost, resumable, closable, details };
        vec![Act::Opened(Box::new(opened))]
    }

    /// Nothing but a person can help.
    fn fail(&mut self, why: String) -> Vec<Act> {
        self.state = State::Failed { why: why.clone() };
        vec![Act::Failed { why, may_pass: false }]
    }

    /// The next start may go better.
    fn break_off(&mut self, why: String) -> Vec<Act> {
        self.state = State::Failed { why: why.clone() };
        vec![Act::Failed { why, may_pass: true }]
    }

    fn login_wanted(&self, error: &Failure) -> String {
        let methods = names(self.offered.get("authMethods"), "id");
        let how = match methods.is_empty() {
            true => "it names no way to log in".to_owned(),
            false => format!(
                "log in with the program itself, or set `spec.driver.authMethod` to one of {}",
                methods.join(", ")
            ),
        };
        format!("its program wants a login ({}): {how}", error.message)
    }
}

/// Whether a program offers to do this with a session.
fn offers(capabilities: &Value, what: &str) -> bool {
    let found = capabilities.get("sessionCapabilities").and_then(|session| session.get(what));
    found.is_some_and(|value| !value.is_null() && value.as_bool() != Some(false))
}

fn names(list: Option<&Value>, key: &str) -> Vec<String> {
    let items = list.and_then(Value::as_array).into_iter().flatten();
    items.filter_map(|item| item.get(key)?.as_str()).map(crate::render::clean).collect()
}

/// The values of an option, which stand in it or in groups of it.
fn option_values(option: &Value) -> Vec<String> {
    let entries = option.get("options").and_then(Value::as_array).into_iter().flatten();
    entries
        .flat_map(|entry| match entry.get("options") {
            Some(group) => names(Some(group), "value"),
            None => entry.get("value").and_then(Value::as_str).map(str::to_owned).into_iter().collect(),
        })
        .collect()
}

fn not_offered(what: &str, value: &str, offered: &[String]) -> String {
    match offered.is_empty() {
        true => format!("it has no {what} `{value}`: it lets none be chosen"),
        false => format!("it has no {what} `{value}`; it offers {}", offered.join(", ")),
    }
}

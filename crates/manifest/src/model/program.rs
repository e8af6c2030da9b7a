//! The program: what drives it, what surrounds it, where it lives.

use std::collections::BTreeMap;

use edgeplane_types::{Authority, SafeLabel};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    model::{
        exec::{EXEC_TIMEOUT, ExecOutput, Preset, PromptBy},
        yes,
    },
    quantity::DurationMs,
    words::{EnvName, Keys},
};

/// How long a program's question for leave waits for a person unless a manifest says otherwise: a day.
pub const APPROVAL_TIMEOUT: DurationMs = DurationMs::from_secs(86_400);

/// Columns of a terminal unless a manifest says otherwise: what programs expect that ask nobody.
pub const TERMINAL_COLS: u16 = 80;

/// Rows of a terminal unless a manifest says otherwise.
pub const TERMINAL_ROWS: u16 = 24;

/// Variables that every program gets from the daemon's environment, beside those that begin with
/// [`ENV_PASSED_PREFIX`].
pub const ENV_PASSED: [&str; 8] = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TERM"];

/// What the locale's variables begin with, which every program gets too.
pub const ENV_PASSED_PREFIX: &str = "LC_";

/// Whether every program gets this variable of the daemon's environment without being asked.
#[must_use]
pub fn is_env_passed(name: &str) -> bool {
    ENV_PASSED.contains(&name) || name.starts_with(ENV_PASSED_PREFIX)
}

/// How messages become what the program reads, and its output becomes events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Driver {
    /// The program speaks EdgePlane's own JSON lines.
    Native {
        /// What carries the lines.
        #[serde(default = "NativeStdio::standard")]
        stdio: NativeStdio,
    },
    /// The program is made for people: messages are typed into its terminal.
    Terminal {
        /// The name of the adapter that reads the program's screen: nothing is typed then that the screen does not
        /// allow, and a message counts as injected only when the screen says so. Left out: the screen is not read.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        adapter: Option<SafeLabel>,
        /// Written before each header line, so that a shell or an interpreter takes it for a comment: `# ` for a
        /// shell. Left out: the header line stands bare.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(length(min = 1, max = 16))]
        comment: Option<String>,
        /// Whether the launch notice, which explains the header lines, is typed when the program is ready.
        #[serde(default = "Notice::standard")]
        notice: Notice,
        /// What is typed to send a message off.
        #[serde(default = "terminal_submit")]
        submit: Keys,
        /// What is typed before a message that is to end the running turn: Ctrl-C unless something else is said.
        #[serde(default = "terminal_interrupt")]
        interrupt: Keys,
        /// The lightest authority of messages that are typed. Lighter ones are held: a program on a terminal cannot
        /// tell them from what its user types.
        #[serde(default = "terminal_accepts")]
        accepts: Authority,
        /// Whether the program's own hooks report to the node, where the adapter knows them. They are installed by the
        /// program's flags for each epoch; no file of the user is touched.
        #[serde(default = "yes")]
        hooks: bool,
    },
    /// The program speaks the Agent Client Protocol, version 1, on its standard input and output.
    Acp {
        /// The mode that its session works in, by the program's own name for it. Left out: the one it begins with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(length(min = 1, max = 256))]
        mode: Option<String>,
        /// The model that its session works with, by the program's own name for it. Left out: the one it begins with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(length(min = 1, max = 256))]
        model: Option<String>,
        /// The way it logs in, by the program's own name for it. Left out: it is logged in already, or says that it is
        /// not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(length(min = 1, max = 256))]
        auth_method: Option<String>,
        /// Servers of tools that its session has.
        #[serde(default)]
        #[schemars(length(max = 64))]
        mcp_servers: Vec<McpServer>,
        /// Whether EdgePlane's own tools are among them: to signal and ask other agents, to remember, to ask a person.
        #[serde(default = "yes")]
        tools: bool,
        /// Whether it may have the node read and write text files in its folder.
        #[serde(default = "yes")]
        files: bool,
        /// Whether it may have the node run commands inside the agent, in its folder and as its user.
        #[serde(default = "yes")]
        commands: bool,
        /// Whether those commands can be written to. Left out they cannot: their input is empty, so that one that reads
        /// it goes on at once.
        #[serde(default)]
        command_input: bool,
        /// How long its question for leave waits for a person. After that the answer is no.
        #[serde(default = "approval_timeout")]
        approval_timeout: DurationMs,
    },
    /// The program ends with each turn: it is run once for every message, with its own way to go on with a session.
    /// What `preset` says of a known program, each other key says of any.
    Exec {
        /// A program whose ways are known. Other keys take precedence over what it says.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        preset: Option<Preset>,
        /// The arguments of a turn in a new session, after those of `command` and `args`. An argument `{prompt}` is the
        /// text of the turn, an argument `{session}` the name of the session. Left out: the prompt, if it is an argument.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(length(max = 256))]
        first: Option<Vec<String>>,
        /// The arguments of a turn in a session that goes on. Left out: every turn is a session of its own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(length(min = 1, max = 256))]
        resume: Option<Vec<String>>,
        /// How the text of a turn reaches the program. Left out: as an argument.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prompt: Option<PromptBy>,
        /// What its standard output is. Left out: text, which is its answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output: Option<ExecOutput>,
        /// Where the JSON of its output names the session, as a JSON pointer. Left out: the session goes by a UUID that
        /// the program is told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(length(min = 1, max = 256))]
        session: Option<String>,
        /// Where the JSON of its output has the answer, as a JSON pointer. Left out: all text that it says is the answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(length(min = 1, max = 256))]
        answer: Option<String>,
        /// Words that it says when it does not know the session that it is to go on with. The turn then begins a new one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(length(min = 1, max = 256))]
        lost: Option<String>,
        /// How long a turn may take. After that the process is interrupted, and ended by force 10 s later.
        #[serde(default = "exec_timeout")]
        #[schemars(extend("x-edgeplane-min" = "1s", "x-edgeplane-max" = "7d"))]
        timeout: DurationMs,
    },
}

const fn exec_timeout() -> DurationMs {
    EXEC_TIMEOUT
}

/// A server of tools, either a program that the agent's program starts or an address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct McpServer {
    /// Its name in the session.
    pub name: SafeLabel,
    /// The program and its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1024))]
    pub command: Vec<String>,
    /// Variables of the program. Not for secrets.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<EnvName, String>,
    /// The address of a server that runs already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 4096))]
    pub url: Option<String>,
    /// What is sent to the address with each request. Not for secrets.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<SafeLabel, String>,
}

const fn approval_timeout() -> DurationMs {
    APPROVAL_TIMEOUT
}

/// The key that sends a message off unless a manifest says otherwise: carriage return, what the Enter key sends.
///
/// # Panics
///
/// Never: a carriage return is a key.
#[must_use]
pub fn terminal_submit() -> Keys {
    #[expect(clippy::expect_used, reason = "the text is constant and a test reads it")]
    "\r".parse().expect("a carriage return is a key")
}

/// The key that interrupts unless a manifest says otherwise: Ctrl-C.
///
/// # Panics
///
/// Never: a control character is a key.
#[must_use]
pub fn terminal_interrupt() -> Keys {
    #[expect(clippy::expect_used, reason = "the text is constant and a test reads it")]
    "\u{3}".parse().expect("a control character is a key")
}

/// What is typed into a terminal unless a manifest says otherwise: the words of those who may instruct, and of those
/// who act for them.
#[must_use]
pub const fn terminal_accepts() -> Authority {
    Authority::Delegated
}

/// What carries the lines of the native driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NativeStdio {
    /// Standard input and output are pipes.
    Pipes,
}

impl NativeStdio {
    /// What holds unless a manifest says otherwise: pipes.
    #[must_use]
    pub const fn standard() -> Self {
        Self::Pipes
    }
}

/// Whether the launch notice is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Notice {
    /// It is not.
    None,
    /// It is.
    Type,
}

impl Notice {
    /// What holds unless a manifest says otherwise: nothing is typed that nobody sent.
    #[must_use]
    pub const fn standard() -> Self {
        Self::None
    }
}

/// The value of a variable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, deny_unknown_fields)]
pub enum EnvValue {
    /// The value itself. Not for secrets.
    Text(String),
    /// A secret's handle: by the secret's `as` the path of a file, the number of a descriptor, or the value.
    Secret {
        /// The `name` of an entry of `spec.secrets`.
        secret: SafeLabel,
    },
}

/// Size of a terminal in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TerminalSize {
    /// Characters in a line.
    #[serde(default = "terminal_cols")]
    #[schemars(range(min = 2, max = 1000))]
    pub cols: u16,
    /// Lines.
    #[serde(default = "terminal_rows")]
    #[schemars(range(min = 2, max = 1000))]
    pub rows: u16,
}

impl TerminalSize {
    /// What holds unless a manifest says otherwise: [`TERMINAL_COLS`] by [`TERMINAL_ROWS`].
    #[must_use]
    pub const fn standard() -> Self {
        Self { cols: TERMINAL_COLS, rows: TERMINAL_ROWS }
    }
}

fn terminal_cols() -> u16 {
    TERMINAL_COLS
}

fn terminal_rows() -> u16 {
    TERMINAL_ROWS
}

/// Where the program lives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Substrate {
    /// Under a shim of EdgePlane's own, which outlives the daemon.
    Shim {},
}

impl Substrate {
    /// What holds unless a manifest says otherwise: EdgePlane's own shim.
    #[must_use]
    pub const fn standard() -> Self {
        Self::Shim {}
    }
}

/// What is wanted right after the manifest is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// It is started.
    Running,
    /// It waits for somebody to start it.
    Stopped,
}

impl RunState {
    /// What holds unless a manifest says otherwise: it runs.
    #[must_use]
    pub const fn standard() -> Self {
        Self::Running
    }
}

/// Whether what the agent has been told must survive its turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StateKind {
    /// It remembers: one program at a time, and a restart tries to continue.
    Stateful,
    /// It forgets: each program begins with an empty workspace and without memory.
    Stateless,
}

impl StateKind {
    /// What holds unless a manifest says otherwise: it remembers.
    #[must_use]
    pub const fn standard() -> Self {
        Self::Stateful
    }
}

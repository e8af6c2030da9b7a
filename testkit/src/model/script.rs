//! What the model is to say, and when.

use std::{fmt, sync::Arc};

use serde_json::Value;
use tokio::sync::watch;

use super::Asked;
use crate::wait::{AGENT_PATIENCE, eventually_within};

/// Rules, of which the first that fits a request answers it.
#[derive(Debug, Clone, Default)]
pub struct Script {
    pub(super) rules: Vec<Rule>,
}

impl Script {
    /// A script without rules: every request gets a short plain answer.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a rule behind the others.
    #[must_use]
    pub fn rule(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }
}

/// A condition on a request and one text that the user said in it.
type Condition = dyn Fn(&Asked, &str) -> bool + Send + Sync;

/// Whether a rule is for a request in which the user said this last.
#[derive(Clone)]
enum Fits {
    Contains(String),
    Holds(Arc<Condition>),
}

impl fmt::Debug for Fits {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Contains(text) => write!(formatter, "contains {text:?}"),
            Self::Holds(_) => formatter.write_str("a condition"),
        }
    }
}

/// Replies for the turns that fit a condition.
#[derive(Debug, Clone)]
pub struct Rule {
    fits: Fits,
    /// Only for requests that offer tools: those of the turn itself.
    with_tools_only: bool,
    pub(super) replies: Vec<Reply>,
}

impl Rule {
    /// For turns of an agent whose prompt contains `text`: requests that offer tools.
    ///
    /// Programs also ask for titles and summaries, quoting the prompt; those offer none, and this is not for them.
    #[must_use]
    pub fn on(text: impl Into<String>) -> Self {
        Self { fits: Fits::Contains(text.into()), with_tools_only: true, replies: Vec::new() }
    }

    /// For every request whose last user text contains `text`, also without tools.
    #[must_use]
    pub fn anywhere(text: impl Into<String>) -> Self {
        Self { fits: Fits::Contains(text.into()), with_tools_only: false, replies: Vec::new() }
    }

    /// For every request of which `condition` holds; it sees the request and one text that the user said in it.
    #[must_use]
    pub fn when(condition: impl Fn(&Asked, &str) -> bool + Send + Sync + 'static) -> Self {
        Self { fits: Fits::Holds(Arc::new(condition)), with_tools_only: false, replies: Vec::new() }
    }

    /// Adds the reply to the next call of the model in the turn. After the last one the model says that it is done.
    #[must_use]
    pub fn reply(mut self, reply: Reply) -> Self {
        self.replies.push(reply);
        self
    }

    /// Adds a reply that is one text.
    #[must_use]
    pub fn says(self, text: impl Into<String>) -> Self {
        self.reply(Reply::new().text(text))
    }

    pub(super) fn fits(&self, asked: &Asked, text: &str) -> bool {
        if self.with_tools_only && asked.tools.is_empty() {
            return false;
        }
        match &self.fits {
            Fits::Contains(part) => text.contains(part),
            Fits::Holds(condition) => condition(asked, text),
        }
    }
}

/// What one call of the model brings: faults first, one a request, then the steps.
#[derive(Debug, Clone, Default)]
pub struct Reply {
    pub(super) faults: Vec<Fault>,
    pub(super) steps: Vec<Step>,
}

impl Reply {
    /// A reply that says nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Every request fails like this.
    #[must_use]
    pub fn always(fault: Fault) -> Self {
        Self { faults: vec![fault], steps: Vec::new() }
    }

    /// One more request fails, before the reply is given.
    #[must_use]
    pub fn after(mut self, fault: Fault) -> Self {
        self.faults.push(fault);
        self
    }

    /// Says a text, as one piece of the stream.
    #[must_use]
    pub fn text(self, text: impl Into<String>) -> Self {
        self.step(Step::Text(text.into()))
    }

    /// Waits until the test lets go, with everything before it sent.
    #[must_use]
    pub fn hold(self, hold: &Hold) -> Self {
        self.step(Step::Hold(hold.clone()))
    }

    /// Calls whichever tool runs a command line.
    #[must_use]
    pub fn shell(self, command: impl Into<String>) -> Self {
        self.step(Step::Call(Action::Shell { command: command.into(), with_leave: false }))
    }

    /// The same, for which the model itself asks for leave where the tool lets it (codex runs everything else without
    /// asking, in a sandbox).
    #[must_use]
    pub fn shell_with_leave(self, command: impl Into<String>) -> Self {
        self.step(Step::Call(Action::Shell { command: command.into(), with_leave: true }))
    }

    /// Calls whichever tool writes a file.
    #[must_use]
    pub fn write(self, path: impl Into<String>, content: impl Into<String>) -> Self {
        self.step(Step::Call(Action::Write { path: path.into(), content: content.into() }))
    }

    /// Calls the tool of this name, or the only one whose name ends with it, such as one of an MCP server.
    #[must_use]
    pub fn call(self, tool: impl Into<String>, arguments: Value) -> Self {
        self.step(Step::Call(Action::Tool { name: tool.into(), arguments }))
    }

    /// Adds a step.
    #[must_use]
    pub fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }
}

/// A part of a reply.
#[derive(Debug, Clone)]
pub enum Step {
    /// A piece of text.
    Text(String),
    /// Nothing more until the test releases it.
    Hold(Hold),
    /// A tool call.
    Call(Action),
    /// The connection breaks here, in the middle of the answer.
    Cut,
}

/// A tool call as the script means it; the program's own tool for it is found in the request.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Runs a command line with a shell.
    Shell {
        /// The command line.
        command: String,
        /// Whether the model says that it needs leave, where the tool lets it.
        with_leave: bool,
    },
    /// Writes a file.
    Write {
        /// Where to.
        path: String,
        /// What.
        content: String,
    },
    /// Any tool.
    Tool {
        /// Its name, or the end of it.
        name: String,
        /// What it gets.
        arguments: Value,
    },
}

/// A request that fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// 429, with the seconds after which to try again.
    TooManyRequests {
        /// The value of `retry-after`.
        retry_after_s: u32,
    },
    /// 429, for what is allowed in a long time is used up; the body says so in the way of the provider.
    QuotaUsedUp,
    /// Any status that is no success, such as 500.
    Status(u16),
    /// The request is read and never answered.
    Stall,
    /// The answer begins, and the connection breaks after its first text.
    Cut,
}

/// A point in a reply at which the model waits for the test. Clones are the same point.
#[derive(Debug, Clone)]
pub struct Hold(Arc<Point>);

#[derive(Debug)]
struct Point {
    reached: watch::Sender<usize>,
    abandoned: watch::Sender<usize>,
    released: watch::Sender<bool>,
}

impl Default for Hold {
    fn default() -> Self {
        Self::new()
    }
}

impl Hold {
    /// A point that was not reached yet.
    #[must_use]
    pub fn new() -> Self {
        Self(Arc::new(Point {
            reached: watch::Sender::new(0),
            abandoned: watch::Sender::new(0),
            released: watch::Sender::new(false),
        }))
    }

    /// Waits until a reply has come here, everything before it sent.
    ///
    /// # Panics
    /// If none does within [`AGENT_PATIENCE`].
    pub fn wait_until_reached(&self) {
        eventually_within(AGENT_PATIENCE, "the model is held", || self.times_reached() > 0);
    }

    /// Waits until a program has closed the connection of a reply that was held here.
    ///
    /// # Panics
    /// If none does within [`AGENT_PATIENCE`].
    pub fn wait_until_abandoned(&self) {
        eventually_within(AGENT_PATIENCE, "the held reply is abandoned", || self.times_abandoned() > 0);
    }

    /// Lets every reply go on, those that come later too.
    pub fn release(&self) {
        self.0.released.send_replace(true);
    }

    /// How many replies have come here.
    #[must_use]
    pub fn times_reached(&self) -> usize {
        *self.0.reached.borrow()
    }

    /// How many connections were closed by the program while their reply was held here.
    #[must_use]
    pub fn times_abandoned(&self) -> usize {
        *self.0.abandoned.borrow()
    }

    /// Waits for the release, or until `gone` ends; says whether it was released.
    pub(super) async fn pass(&self, gone: impl Future<Output = ()>) -> bool {
        self.0.reached.send_modify(|times| *times += 1);
        let mut released = self.0.released.subscribe();
        // Both arms only look at states that stay, so nothing is lost with the arm that is dropped.
        tokio::select! {
            waited = released.wait_for(|released| *released) => waited.is_ok(),
            () = gone => {
                self.0.abandoned.send_modify(|times| *times += 1);
                false
            }
        }
    }
}

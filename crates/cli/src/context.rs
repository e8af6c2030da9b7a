//! What every command works with: where the node is, how to print, how long to wait.
//!
//! Owns the rule from flags and environment to settings, and the one sentence that is said when no daemon answers.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context as _;
use edgeplane_os::dirs::{self, StateDirs};
use edgeplane_types::ErrorName;
use edgeplane_wire::catalogue::Call;
use serde_json::value::RawValue;

use crate::{
    args::Global,
    environment::Environment,
    failure::Failure,
    node::{Node, Patience},
    output::{Format, Manner, Output},
    token::{self, Token},
};

/// How long an ordinary answer may take before the daemon counts as hung.
const ANSWER_TIME: Duration = Duration::from_secs(30);

/// What every command works with.
pub(crate) struct Context {
    pub(crate) env: Environment,
    pub(crate) out: Output,
    global: Global,
}

impl Context {
    pub(crate) fn new(env: Environment, global: Global) -> Self {
        let color_is_wanted = !global.no_color && env.get("NO_COLOR").is_none();
        let manner = Manner::of_this_process(global.output, global.quiet, color_is_wanted);
        Self { env, out: Output::new(manner), global }
    }

    /// Where the node keeps its state and its sockets.
    pub(crate) fn dirs(&self) -> anyhow::Result<StateDirs> {
        resolve(&self.global, &self.env)
    }

    /// The socket to speak to; inside an agent, that is the one its node gave it.
    pub(crate) fn socket(&self) -> anyhow::Result<PathBuf> {
        // Whoever names the socket need not have a home.
        match flag(&self.global, &self.env, dirs::SOCKET) {
            Some(path) => {
                Ok(std::path::absolute(&path)
                    .with_context(|| format!("cannot resolve `{}`", path.display()))?)
            }
            None => Ok(self.dirs()?.socket),
        }
    }

    /// Whether somebody said which socket to use.
    pub(crate) fn socket_is_given(&self) -> bool {
        flag(&self.global, &self.env, dirs::SOCKET).is_some()
    }

    /// The `--timeout` of the command line.
    pub(crate) fn timeout(&self) -> Option<Duration> {
        self.global.timeout
    }

    /// The token by which this program is to be known, if one is given.
    pub(crate) fn token(&self) -> anyhow::Result<Option<Token>> {
        self.env.get(token::TOKEN_FILE).map(|path| Token::read(Path::new(&path))).transpose()
    }

    /// Connects to the node, as the bearer of the token if one is given.
    pub(crate) fn connect(&self) -> anyhow::Result<Node> {
        // Read first: a token that cannot be used is no reason to speak as somebody else.
        let token = self.token()?;
        let mut node = self.connect_plainly()?;
        if token.is_some() {
            token::greet(&mut node, token.as_ref(), self.patience())?;
        }
        Ok(node)
    }

    /// Connects to the node as whom the kernel says that this is, for what no token allows.
    pub(crate) fn connect_plainly(&self) -> anyhow::Result<Node> {
        let path = self.socket()?;
        let stream = edgeplane_os::sock::connect(&path).map_err(|error| {
            let failure = Failure::new(ErrorName::Unavailable, "the daemon is not running");
            anyhow::Error::new(error).context(failure.hint("start it with `edgeplane daemon up`"))
        })?;
        let shows_progress = self.out.manner.stderr_is_terminal && !self.out.manner.quiet;
        let mut node = Node::over(stream, shows_progress).context("cannot use the connection to the node")?;
        // Programs that a turn starts are told its trace, and so is what they ask.
        node.belong_to(self.env.get("TRACEPARENT").and_then(|trace| trace.into_string().ok()));
        Ok(node)
    }

    /// How long to wait for an ordinary answer.
    pub(crate) fn patience(&self) -> Patience {
        Patience::within(self.global.timeout.unwrap_or(ANSWER_TIME))
    }

    /// How long to wait for an answer that takes as long as it takes.
    pub(crate) fn long_patience(&self) -> Patience {
        self.global.timeout.map_or_else(Patience::endless, Patience::within)
    }

    /// Connects, calls once, and gives the answer as the node wrote it.
    pub(crate) fn ask<C: Call>(&self, params: &C::Params) -> anyhow::Result<Answer<C>> {
        self.ask_over::<C>(&mut self.connect()?, params)
    }

    /// Connects and calls what takes as long as it takes.
    pub(crate) fn ask_at_length<C: Call>(&self, params: &C::Params) -> anyhow::Result<Answer<C>> {
        Ok(Answer::new(self.connect()?.call(C::NAME, params, self.long_patience())?))
    }

    /// Calls once over a connection.
    pub(crate) fn ask_over<C: Call>(&self, node: &mut Node, params: &C::Params) -> anyhow::Result<Answer<C>> {
        Ok(Answer::new(node.call(C::NAME, params, self.patience())?))
    }

    /// Prints an answer: for programs as it is, for people as `human` says.
    pub(crate) fn show<C: Call>(
        &mut self,
        answer: &Answer<C>,
        human: impl FnOnce(&mut Output, C::Result) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        match self.out.format() {
            Format::Table => human(&mut self.out, answer.read()?),
            Format::Json | Format::Yaml => Ok(self.out.value(&answer.value()?)?),
        }
    }
}

/// A result as the node wrote it, and as the catalogue describes it.
#[derive(Debug)]
pub(crate) struct Answer<C> {
    raw: Box<RawValue>,
    call: std::marker::PhantomData<C>,
}

impl<C: Call> Answer<C> {
    pub(crate) fn new(raw: Box<RawValue>) -> Self {
        Self { raw, call: std::marker::PhantomData }
    }

    pub(crate) fn read(&self) -> anyhow::Result<C::Result> {
        serde_json::from_str(self.raw.get())
            .with_context(|| format!("the node's answer to {} is not what this version expects", C::NAME))
    }

    pub(crate) fn value(&self) -> anyhow::Result<serde_json::Value> {
        serde_json::from_str(self.raw.get())
            .with_context(|| format!("the node's answer to {} is not JSON", C::NAME))
    }
}

fn flag(global: &Global, env: &Environment, variable: &str) -> Option<PathBuf> {
    let given = match variable {
        dirs::STATE_DIR => &global.state_dir,
        dirs::RUNTIME_DIR => &global.runtime_dir,
        dirs::SOCKET => &global.socket,
        _ => &None,
    };
    given.clone().or_else(|| env.get(variable).map(PathBuf::from))
}

fn resolve(global: &Global, env: &Environment) -> anyhow::Result<StateDirs> {
    let variable = |name: &str| -> Option<OsString> {
        let given = match name {
            dirs::STATE_DIR => global.state_dir.as_ref(),
            dirs::RUNTIME_DIR => global.runtime_dir.as_ref(),
            dirs::SOCKET => global.socket.as_ref(),
            _ => None,
        };
        // A flag is read from where the person stands; a variable must say it whole.
        given.and_then(|path| std::path::absolute(path).ok()).map(OsString::from).or_else(|| env.get(name))
    };
    Ok(StateDirs::resolve(env.uid, variable)?)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::args::Cli;

    fn context(arguments: &[&str], variables: &[(&str, &str)]) -> Context {
        use clap::Parser;

        let cli = Cli::try_parse_from(["edgeplane"].iter().chain(arguments).chain(&["doctor"])).unwrap();
        Context::new(Environment::of(variables), cli.global)
    }

    #[test]
    fn flag_stands_before_variable_before_default() {
        let check = |arguments: &[&str], variables: &[(&str, &str)], expected: &str| {
            assert_eq!(context(arguments, variables).socket().unwrap(), Path::new(expected));
        };
        check(&[], &[("HOME", "/h"), ("XDG_RUNTIME_DIR", "/r")], "/r/edgeplane/edgeplaned.sock");
        check(&[], &[("EDGEPLANE_SOCKET", "/s")], "/s");
        check(&["--socket", "/t"], &[("EDGEPLANE_SOCKET", "/s")], "/t");
        check(
            &["--runtime-dir", "/q"],
            &[("HOME", "/h"), ("EDGEPLANE_RUNTIME_DIR", "/r")],
            "/q/edgeplaned.sock",
        );
    }

    #[test]
    fn missing_daemon_says_how_to_start_it() {
        let error = context(&["--socket", "/nonexistent/s"], &[]).connect().map(drop).unwrap_err();
        let report = crate::failure::Report::of(&error).unwrap();
        assert_eq!(report.exit_code, 69);
        assert!(report.lines().last().is_some_and(|hint| hint.contains("edgeplane daemon up")));
    }
}

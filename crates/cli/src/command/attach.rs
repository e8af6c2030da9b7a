//! `edgeplane attach`: watch or control an agent's terminal.

mod link;
mod session;
mod wire;

use anyhow::Context as _;
use clap::Args;
use edgeplane_types::ErrorName;
use edgeplane_wire::{
    api::terminal::{AttachParams, AttachResult},
    catalogue::{AgentAttach, Call},
};

use self::session::{End, Plan, Session};
use super::Outcome;
use crate::{
    context::{Answer, Context},
    failure::{Advice, Failure},
    lasting::Loss,
    output,
    terminal::{keys::DetachKey, raw::Stage},
};

/// Watch or control an agent's terminal
///
/// Shows the screen as it is and then everything that happens, live. Many may watch; with `--control` one types, and this
/// terminal's size becomes the agent's. Leaving disturbs nothing: the agent does not notice. Keys that are typed go to
/// the program at once, except the key that leaves. Whoever attaches, when and with which right is in the record. When the
/// daemon dies, this waits for the next one and goes on at the very byte; the control comes back with it, unless somebody
/// else took it first.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane attach reviewer
  edgeplane attach reviewer --control
  edgeplane attach reviewer --control --takeover --detach-key ctrl-q
  printf 'ls\\n' | edgeplane attach shell --control

KEYS:
  ctrl-]  leaves (see --detach-key); who only watches also leaves with ctrl-c or q")]
pub(crate) struct AttachArgs {
    /// The agent's name or id
    name: String,
    /// Also type, and give the agent this terminal's size
    #[arg(short, long)]
    control: bool,
    /// Take the control from whoever has it
    #[arg(long, requires = "control")]
    takeover: bool,
    /// The key that leaves: `ctrl-` and a letter or one of [ \ ] ^ _, or `none`
    #[arg(long, value_name = "KEY", default_value = "ctrl-]", value_parser = DetachKey::parse)]
    detach_key: DetachKey,
    /// End when the daemon does instead of waiting for the next one
    #[arg(long)]
    no_reconnect: bool,
}

pub(crate) fn run(args: &AttachArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let stage = Stage::of_stdout().context("cannot use standard output")?;
    let size = stage.size().filter(|_| args.control);
    let params = AttachParams {
        agent: args.name.clone(),
        control: args.control,
        takeover: args.takeover,
        cols: size.map(|(cols, _)| cols),
        rows: size.map(|(_, rows)| rows),
    };
    let mut node = context.connect()?;
    let called = node.call(AgentAttach::NAME, &params, context.patience());
    let answer = Answer::<AgentAttach>::new(called.map_err(|error| match error.name() {
        ErrorName::Locked => anyhow::Error::new(error).context(Advice {
            context: format!("cannot control `{}`", args.name),
            hint: "watch without `--control`, or take it over with `--takeover`".to_owned(),
        }),
        _ => anyhow::Error::new(error).context(format!("cannot attach to `{}`", args.name)),
    })?);
    let attached = answer.read()?;
    greet(args, &attached, &stage, context);
    let plan = Plan {
        agent: args.name.clone(),
        socket: context.socket()?,
        token: context.token()?,
        detach_key: args.detach_key.clone(),
        loss: Loss::of_flag(args.no_reconnect),
        is_quiet: context.out.manner.quiet,
    };
    let end = Session::begin(node.into_parts(), &attached, stage, plan)?.run()?;
    farewell(&args.name, end, context)
}

/// One line on what this is and how to leave, where somebody looks.
fn greet(args: &AttachArgs, attached: &AttachResult, stage: &Stage, context: &Context) {
    let manner = context.out.manner;
    if manner.quiet || !manner.stderr_is_terminal {
        return;
    }
    let does = if attached.control { "controlling" } else { "watching" };
    let leave =
        if args.detach_key.is_some() { format!("{} leaves", args.detach_key.name()) } else { String::new() };
    let small = stage.size().is_some_and(|(cols, rows)| cols < attached.cols || rows < attached.rows);
    let size = if small && !attached.control {
        format!(", its terminal is {}x{}", attached.cols, attached.rows)
    } else {
        String::new()
    };
    output::complain_dimly(&format!("[{does} {}, epoch {}{size}; {leave}]", args.name, attached.epoch));
}

fn farewell(name: &str, end: End, context: &Context) -> anyhow::Result<Outcome> {
    match end {
        End::Left => {
            context.out.note(&format!("left {name}; it goes on"));
            Ok(Outcome::Done)
        }
        End::Over(reason) => {
            context.out.note(&format!("{name}: {reason}"));
            Ok(Outcome::Done)
        }
        End::NodeGone => {
            let failure = Failure::new(
                ErrorName::Unavailable,
                "the daemon closed the connection; the agent is not affected",
            );
            Err(failure
                .hint(format!("once `edgeplane daemon status` answers, `edgeplane attach {name}` goes on"))
                .into())
        }
    }
}

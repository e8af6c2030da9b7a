//! `edgeplane completion`: words for the shell.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::{Outcome, done};
use crate::{args::Cli, context::Context};

/// Print a shell's completion script
///
/// The script completes commands, flags and their values. It is printed, not installed: where it belongs depends on the
/// shell.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane completion bash > ~/.local/share/bash-completion/completions/edgeplane
  edgeplane completion zsh > ~/.zfunc/_edgeplane
  edgeplane completion fish > ~/.config/fish/completions/edgeplane.fish")]
pub(crate) struct CompletionArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(args: &CompletionArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "edgeplane", &mut script);
    done(context.out.raw(&script))
}

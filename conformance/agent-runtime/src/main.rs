//! The program that plays the scenarios against an implementation.
#![forbid(unsafe_code)]

use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use clap::Parser;
use edgeplane_conformance::{
    http::Client,
    mapping::{Mapping, MappingError},
    report::{self, Outcome},
    scenarios::SCENARIOS,
    schemas::{SchemaError, Schemas},
    world::{Options, World},
};

/// Plays the acceptance scenarios of Agent Runtime 0.4.0 against a running implementation, over HTTP.
///
/// Every event and snapshot of the sessions that take part is held to the standard's schemas and to the rules of
/// sequence all the while; whatever breaks one fails the scenario that was played. Each scenario ends as `passed`,
/// `failed`, `not served` (the implementation declares so) or `not applicable` (what it needs was not brought).
///
/// What the implementation must have running stands in the README beside this program: agents that do as a prompt says.
/// Which they are stands in the mapping, or over it in a fixture file.
#[derive(Debug, Parser)]
#[command(
    name = "agent-runtime-conformance",
    after_help = "Ends with 0 if no scenario failed, with 1 if one did, with 2 if they could not be played.\n\n\
        Examples:\n  \
        agent-runtime-conformance --url http://127.0.0.1:8930 --token-file token --fixture fixture.toml\n  \
        agent-runtime-conformance --url http://127.0.0.1:8930 --token-file token --only AC-4 --only AC-8\n  \
        agent-runtime-conformance --url http://127.0.0.1:9000 --mapping other.toml --restart 'systemctl restart other'\n  \
        agent-runtime-conformance --list"
)]
struct Args {
    /// Where the implementation is served, such as `http://127.0.0.1:8930`.
    #[arg(long, required_unless_present = "list")]
    url: Option<String>,
    /// A file with the bearer token to show with each request.
    #[arg(long)]
    token_file: Option<PathBuf>,
    /// A mapping in TOML: what the implementation calls the commands. Without one, EdgePlane's.
    #[arg(long)]
    mapping: Option<PathBuf>,
    /// A fixture in TOML that says over the mapping which agents play which part, and what to say to them.
    #[arg(long)]
    fixture: Option<PathBuf>,
    /// The shell command that restarts the implementation and ends when that is done. AC-5 needs it.
    #[arg(long)]
    restart: Option<String>,
    /// Only this scenario, such as `AC-4`; may be given several times.
    #[arg(long)]
    only: Vec<String>,
    /// How many seconds something is waited for.
    #[arg(long, default_value_t = 30)]
    patience: u64,
    /// A folder into which AC-2 writes the examples that it found, a file each.
    #[arg(long)]
    publish: Option<PathBuf>,
    /// Tell it as JSON.
    #[arg(long)]
    json: bool,
    /// Also end with 1 if something is not served or not applicable.
    #[arg(long)]
    whole: bool,
    /// List the scenarios and end.
    #[arg(long)]
    list: bool,
}

/// Why the scenarios cannot be played.
#[derive(Debug, thiserror::Error)]
enum Cannot {
    #[error(transparent)]
    Mapping(#[from] MappingError),
    #[error(transparent)]
    Schemas(#[from] SchemaError),
    #[error("cannot read the token in `{path}`")]
    Token {
        path: String,
        #[source]
        source: io::Error,
    },
    #[error("there is no scenario `{0}`: `--list` names them")]
    Unknown(String),
    #[error("nobody reads what is told")]
    Told(#[source] io::Error),
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(is_good) => ExitCode::from(u8::from(!is_good)),
        Err(cannot) => {
            let mut text = format!("agent-runtime-conformance: {cannot}");
            let mut source = std::error::Error::source(&cannot);
            while let Some(error) = source {
                text.push_str(&format!(": {error}"));
                source = error.source();
            }
            // Whoever does not read this either reads the status.
            drop(writeln!(io::stderr(), "{text}"));
            ExitCode::from(2)
        }
    }
}

fn run(args: &Args) -> Result<bool, Cannot> {
    let mut out = io::stdout();
    if args.list {
        for scenario in SCENARIOS {
            writeln!(out, "{:<6} {}", scenario.id, scenario.title).map_err(Cannot::Told)?;
        }
        return Ok(true);
    }
    let known = |id: &String| SCENARIOS.iter().any(|scenario| scenario.id == id);
    if let Some(strange) = args.only.iter().find(|id| !known(id)) {
        return Err(Cannot::Unknown(strange.clone()));
    }
    let mut world = world(args)?;
    let name = world.mapping.name.clone();
    let mut lines = Vec::new();
    for scenario in
        SCENARIOS.iter().filter(|one| args.only.is_empty() || args.only.iter().any(|id| id == one.id))
    {
        let line = report::play(&mut world, *scenario);
        if !args.json {
            report::tell(&mut out, &line).map_err(Cannot::Told)?;
        }
        lines.push(line);
    }
    if args.json {
        writeln!(out, "{:#}", report::json_of(&name, &lines)).map_err(Cannot::Told)?;
    } else {
        writeln!(out, "{name}: {}", report::sum(&lines)).map_err(Cannot::Told)?;
    }
    Ok(lines.iter().all(|line| match line.outcome {
        Outcome::Passed => true,
        Outcome::Failed(_) => false,
        Outcome::NotServed(_) | Outcome::NotApplicable(_) => !args.whole,
    }))
}

fn world(args: &Args) -> Result<World, Cannot> {
    let mapping = Mapping::load(args.mapping.as_deref(), args.fixture.as_deref())?;
    let token = args.token_file.as_deref().map(read_token).transpose()?;
    let url = args.url.as_deref().unwrap_or_default();
    let client = Client::new(url, token.as_deref(), &mapping.rpc, &mapping.error_name);
    let options = Options {
        patience: Duration::from_secs(args.patience),
        restart: args.restart.clone(),
        publish: args.publish.clone(),
    };
    let run = std::process::id().to_string();
    Ok(World::new(client, mapping, Schemas::load()?, (options, run)))
}

fn read_token(path: &Path) -> Result<String, Cannot> {
    std::fs::read_to_string(path)
        .map(|token| token.trim().to_owned())
        .map_err(|source| Cannot::Token { path: path.display().to_string(), source })
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser as _};

    use super::Args;

    #[test]
    fn examples_of_the_help_are_taken() {
        let help = Args::command().render_long_help().to_string();
        let examples = help.lines().filter(|line| line.starts_with("  agent-runtime-conformance --"));
        let examples: Vec<_> = examples.collect();
        assert_eq!(examples.len(), 4, "{help}");
        for example in examples {
            // The one quoted argument counts as one word.
            let words = example.replace("'systemctl restart other'", "restart-other");
            assert!(Args::try_parse_from(words.split_whitespace()).is_ok(), "{example}");
        }
        assert!(Args::try_parse_from(["agent-runtime-conformance"]).is_err(), "it needs an address");
    }
}

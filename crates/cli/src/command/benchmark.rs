//! `edgeplane benchmark`: trials of agents, what they are worth, and how two configurations compare.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use edgeplane_types::{
    SafeLabel, TrialConfiguration, TrialDataset, TrialId, TrialRefs, TrialRole, TrialVerifier,
};
use edgeplane_wire::{
    api::benchmark::{
        ComparisonView, RewardRecordParams, RewardView, RunCompareParams, SideView, TrialExportParams,
        TrialStartParams, TrialView, Trials, TrialsOf,
    },
    catalogue::{Call as _, RewardRecord, RunCompare, TrialExport, TrialStart},
};

use super::{
    Outcome,
    content::{text_of, words},
    evidence,
    task::LimitArgs,
};
use crate::{
    context::{Answer, Context},
    failure::Misuse,
    output::{Format, Output},
    quantity::counted,
    table::{Table, cell},
};

/// Measure agents: give trials, record what they are worth, write them out and compare them
///
/// A trial is a task with one run. What it is worth a verifier says, which is never the agent itself; the node records it
/// and judges nothing.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane benchmark start reviewer --dataset riddles@2026-05 --case sums --config plain --file task.md --wall-time 10m
  edgeplane benchmark reward tri_01890000-0000-7000-8000-000000000002 1 --no-p0
  edgeplane benchmark compare riddles@2026-05/plain riddles@2026-05/changed --changed \"the model\"")]
pub(crate) struct BenchmarkArgs {
    #[command(subcommand)]
    command: BenchmarkCommand,
}

#[derive(Debug, Subcommand)]
enum BenchmarkCommand {
    Start(Box<StartArgs>),
    Reward(RewardArgs),
    Export(ExportArgs),
    Compare(CompareArgs),
}

/// Give an agent a trial
///
/// It is told the content word for word. The same key with the same request is the same trial.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane benchmark start reviewer --dataset riddles@1 --case sums --config plain --text \"What is 2 + 2?\"
  edgeplane benchmark start reviewer --dataset riddles@1 --case sums --config changed --changed \"the model\" --verifier checks@3 --file task.md --wall-time 10m --key run-7")]
struct StartArgs {
    /// Who is tried
    #[arg(value_name = "AGENT")]
    agent: String,
    /// The dataset and its version
    #[arg(long, value_name = "NAME@VERSION", value_parser = parse_versioned)]
    dataset: (SafeLabel, SafeLabel),
    /// Which of its problems
    #[arg(long, value_name = "CASE")]
    case: SafeLabel,
    /// Where the dataset is to be had
    #[arg(long, value_name = "REF")]
    dataset_ref: Option<String>,
    /// What the dataset's bytes are known by
    #[arg(long, value_name = "DIGEST")]
    dataset_digest: Option<String>,
    /// The configuration
    #[arg(long, value_name = "NAME")]
    config: SafeLabel,
    /// What the configuration is known by
    #[arg(long, value_name = "DIGEST")]
    config_digest: Option<String>,
    /// The one thing that is other than in the baseline
    #[arg(long, value_name = "TEXT")]
    changed: Option<String>,
    /// What it is for: `baseline`, `candidate` or `control`
    #[arg(long, value_name = "ROLE", default_value = "candidate", value_parser = words(&["baseline", "candidate", "control"], TrialRole::from_word))]
    role: TrialRole,
    /// Who says what it is worth
    #[arg(long, value_name = "NAME@VERSION", value_parser = parse_versioned)]
    verifier: Option<(SafeLabel, SafeLabel)>,
    /// The how manieth of its kind it is
    #[arg(long, value_name = "N")]
    repetition: Option<u32>,
    /// What it is told
    #[arg(long, value_name = "TEXT", conflicts_with = "file", required_unless_present = "file")]
    text: Option<String>,
    /// A file with what it is told; `-` is standard input
    #[arg(short = 'f', long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// A key, so that giving it twice gives it once
    #[arg(long, value_name = "KEY")]
    key: Option<SafeLabel>,
    /// The job of Harbor that it belongs to
    #[arg(long, value_name = "REF")]
    harbor_job: Option<String>,
    /// The trial of Harbor that it is
    #[arg(long, value_name = "REF")]
    harbor_trial: Option<String>,
    #[command(flatten)]
    limits: LimitArgs,
}

/// Record what a trial is worth
///
/// A reward is kept as it is said and never changed. Another one is refused unless `--supersedes` names the one that counts
/// so far; all of them are exported.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane benchmark reward tri_01890000-0000-7000-8000-000000000002 1 --no-p0
  edgeplane benchmark reward tri_01890000-0000-7000-8000-000000000002 0.5 --p0 login --failure timeout --details rewards/7.json")]
struct RewardArgs {
    /// Which trial
    #[arg(value_name = "TRIAL")]
    trial: TrialId,
    /// The number
    #[arg(value_name = "REWARD", allow_hyphen_values = true)]
    reward: f64,
    /// What was looked at; may be repeated
    #[arg(long, value_name = "TEXT")]
    criterion: Vec<String>,
    /// Where more is said
    #[arg(long, value_name = "REF")]
    details: Option<String>,
    /// What kind of failure it was
    #[arg(long, value_name = "WORD")]
    failure: Option<SafeLabel>,
    /// Who says so
    #[arg(long, value_name = "NAME@VERSION", value_parser = parse_versioned)]
    verifier: Option<(SafeLabel, SafeLabel)>,
    /// What worked before and must not fail, and failed; may be repeated
    #[arg(long, value_name = "NAME", conflicts_with = "no_p0")]
    p0: Vec<SafeLabel>,
    /// Nothing failed that must not
    #[arg(long)]
    no_p0: bool,
    /// The number of the reward that counts so far
    #[arg(long, value_name = "N")]
    supersedes: Option<u32>,
}

/// Write a trial out
///
/// A summary, the trajectory and the events, signed; `edgeplane evidence verify` verifies the folder without a node.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane benchmark export tri_01890000-0000-7000-8000-000000000002 -d trial
  edgeplane benchmark export tri_01890000-0000-7000-8000-000000000002 -o json | jq .metrics")]
struct ExportArgs {
    /// Which trial
    #[arg(value_name = "TRIAL")]
    trial: TrialId,
    /// The folder to write
    #[arg(short = 'd', long = "dir", value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Compare trials that differ in one thing
///
/// Each side is a trial, several of them with commas between, or DATASET@VERSION/CONFIGURATION. What was not measured alike
/// is refused.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane benchmark compare riddles@1/plain riddles@1/changed --changed \"the model\"
  edgeplane benchmark compare tri_01890000-0000-7000-8000-000000000002 tri_01890000-0000-7000-8000-000000000003 -o json")]
struct CompareArgs {
    /// How it was
    #[arg(value_name = "BASELINE", value_parser = parse_trials)]
    baseline: Trials,
    /// How it is
    #[arg(value_name = "CANDIDATE", value_parser = parse_trials)]
    candidate: Trials,
    /// The one thing that is other
    #[arg(long, value_name = "TEXT")]
    changed: Option<String>,
    /// The reward from which on a trial counts as a success
    #[arg(long, value_name = "REWARD", default_value_t = 1.0, allow_hyphen_values = true)]
    success_at: f64,
}

fn parse_versioned(text: &str) -> Result<(SafeLabel, SafeLabel), String> {
    // A name may hold the sign, a version may not.
    let (name, version) = text.rsplit_once('@').ok_or("is NAME@VERSION")?;
    let label = |text: &str| text.parse::<SafeLabel>().map_err(|error| error.to_string());
    Ok((label(name)?, label(version)?))
}

fn parse_trials(text: &str) -> Result<Trials, String> {
    if let Some((dataset, configuration)) = text.split_once('/') {
        let (dataset, version) = parse_versioned(dataset)?;
        let configuration = configuration.parse::<SafeLabel>().map_err(|error| error.to_string())?;
        return Ok(Trials::Of(TrialsOf { configuration, dataset, version }));
    }
    let ids =
        text.split(',').map(str::trim).map(|id| id.parse::<TrialId>().map_err(|error| error.to_string()));
    ids.collect::<Result<_, _>>().map(Trials::Several)
}

fn verifier_of(named: Option<(SafeLabel, SafeLabel)>) -> Option<TrialVerifier> {
    named.map(|(id, version)| TrialVerifier { id, version })
}

pub(crate) fn run(args: BenchmarkArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    match args.command {
        BenchmarkCommand::Start(args) => {
            let answer = context.ask::<TrialStart>(&to_start(*args)?)?;
            context.show(&answer, |out, trial| Ok(out.line(&trial_line(&trial))?))?;
        }
        BenchmarkCommand::Reward(args) => {
            let answer = context.ask::<RewardRecord>(&to_reward(args))?;
            context.show(&answer, |out, reward| {
                let early =
                    if reward.is_early { ", before the trial had ended: it does not count" } else { "" };
                let RewardView { trial_id, number, reward, .. } = reward;
                Ok(out.line(&format!("reward {number} of {trial_id} is {reward}{early}"))?)
            })?;
        }
        BenchmarkCommand::Export(args) => return export(&args, context),
        BenchmarkCommand::Compare(args) => {
            let CompareArgs { baseline, candidate, changed, success_at } = args;
            let params = RunCompareParams { baseline, candidate, changed_variable: changed, success_at };
            let answer = context.ask_at_length::<RunCompare>(&params)?;
            context.show(&answer, |out, view| show_comparison(out, &view))?;
        }
    }
    Ok(Outcome::Done)
}

fn to_start(args: StartArgs) -> anyhow::Result<TrialStartParams> {
    let content = match (args.text, args.file) {
        (Some(text), _) => text,
        (None, Some(file)) => text_of(file)?,
        (None, None) => return Err(Misuse("say what it is told: `--text` or `--file`".to_owned()).into()),
    };
    let (id, version) = args.dataset;
    Ok(TrialStartParams {
        agent: args.agent,
        content,
        key: args.key,
        dataset: TrialDataset {
            id,
            version,
            case: args.case,
            reference: args.dataset_ref,
            digest: args.dataset_digest,
        },
        configuration: TrialConfiguration {
            id: args.config,
            digest: args.config_digest,
            changed_variable: args.changed,
        },
        role: args.role,
        verifier: verifier_of(args.verifier),
        repetition: args.repetition,
        limits: args.limits.limits(),
        refs: TrialRefs {
            harbor_job: args.harbor_job,
            harbor_trial: args.harbor_trial,
            ..TrialRefs::default()
        },
    })
}

fn to_reward(args: RewardArgs) -> RewardRecordParams {
    RewardRecordParams {
        trial_id: args.trial,
        reward: args.reward,
        criteria: args.criterion,
        details_ref: args.details,
        failure_category: args.failure,
        verifier: verifier_of(args.verifier),
        p0_regressions: (args.no_p0 || !args.p0.is_empty()).then_some(args.p0),
        supersedes: args.supersedes,
    }
}

fn trial_line(trial: &TrialView) -> String {
    let TrialView { trial_id, agent, dataset, configuration, state, .. } = trial;
    cell(format!(
        "{trial_id} is given to {agent}: {} {}, {}, with `{}`; it is {state}",
        dataset.id, dataset.version, dataset.case, configuration.id
    ))
}

fn export(args: &ExportArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    if let Some(dir) = args.dir.as_ref().filter(|dir| dir.exists()) {
        return Err(Misuse(format!("`{}` is there already", dir.display())).into());
    }
    let params = TrialExportParams { trial_id: args.trial, write: false };
    let mut node = context.connect()?;
    let answer =
        Answer::<TrialExport>::new(node.call(TrialExport::NAME, &params, context.long_patience())?);
    let result = answer.read()?;
    let mut shown = answer.value()?;
    if let Some(fields) = shown.as_object_mut() {
        fields.remove("files");
    }
    if let Some(dir) = &args.dir {
        evidence::write_files((&result.file_refs, &result.files, result.path.as_deref()), dir)?;
    }
    match (context.out.format(), &args.dir) {
        (Format::Table, Some(dir)) => {
            let files = counted(u64::try_from(result.file_refs.len()).unwrap_or(0), "file");
            let line =
                format!("{} in `{}`: {files}, signed by {}", result.pack_id, dir.display(), result.signed_by);
            context.out.line(&cell(line))?;
        }
        (Format::Table, None) => context.out.text(&serde_json::to_string_pretty(&shown)?)?,
        (Format::Json | Format::Yaml, _) => context.out.value(&shown)?,
    }
    Ok(Outcome::Done)
}

/// A number, or that it is not known.
fn known<T: std::fmt::Display>(value: Option<T>) -> String {
    value.map_or_else(|| "unknown".to_owned(), |value| value.to_string())
}

fn show_comparison(out: &mut Output, view: &ComparisonView) -> anyhow::Result<()> {
    let mut table = Table::new(&["", "BASELINE", "CANDIDATE"]);
    let (one, other) = (&view.baseline, &view.candidate);
    let mut row = |name: &str, of: &dyn Fn(&SideView) -> String| {
        table.row([name.to_owned(), cell(of(one)), cell(of(other))]);
    };
    row("configuration", &|side| side.configuration.id.to_string());
    row("trials", &|side| format!("{} ({} ended)", side.trials, side.ended));
    row("mean reward", &|side| known(side.mean_reward));
    row("success", &|side| {
        known(side.success_rate.map(|share| {
            format!("{:.1} % ({:.1} to {:.1})", share.rate * 100.0, share.low * 100.0, share.high * 100.0)
        }))
    });
    row("without a reward", &|side| side.unrewarded.len().to_string());
    row("took too long", &|side| side.timeouts.to_string());
    row("time p50, p95 (ms)", &|side| {
        format!("{}, {}", known(side.latency_p50_ms), known(side.latency_p95_ms))
    });
    row("tokens", &|side| known(side.tokens.map(|used| format!("{} in {} trials", used.total, used.trials))));
    row("evidence", &|side| format!("{:.1} %", side.evidence_completeness * 100.0));
    out.table(&table)?;
    let verdict =
        if view.promotion.eligible { "the candidate is eligible" } else { "the candidate is NOT eligible" };
    out.line(verdict)?;
    for reason in &view.promotion.reasons {
        out.line(&format!("  {}", cell(reason)))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_trials_or_configurations() {
        let id = "tri_01890000-0000-7000-8000-000000000002";
        assert!(matches!(parse_trials(id), Ok(Trials::Several(ids)) if ids.len() == 1));
        assert!(matches!(parse_trials("a@1/b"), Ok(Trials::Of(of)) if of.configuration.as_str() == "b"));
        assert!(matches!(parse_trials("a@b@1/c"), Ok(Trials::Of(of)) if of.dataset.as_str() == "a@b"));
        for bad in ["", "a", "a/b", "a@1/", &format!("{id},x")] {
            assert!(parse_trials(bad).is_err(), "{bad}");
        }
    }
}

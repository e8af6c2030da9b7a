//! Comparisons of trials: what may be compared, what comes of it, and whether the candidate may take the baseline's place.

use std::collections::{BTreeMap, BTreeSet};

use edgeplane_store::{ReadError, Reader, TrialRow};
use edgeplane_types::{
    ErrorName, Fact, SafeLabel, StreamName, TrialConfiguration, TrialVerifier, fact::TrialsCompared,
};
use edgeplane_wire::{
    api::benchmark::{
        ComparisonView, CompletenessView, DeltasView, PromotionView, REFERENCE_BYTES_MAX, REWARD_MAX,
        RegressionsView, RunCompareParams, SideView, TRIALS_MAX, Trials, Used,
    },
    rpc::RpcError,
};
use serde_json::json;

use super::{
    check_judge, check_text, decimal,
    figures::{mean, part, percentile, share},
    invalid,
    measure::{Measured, measure},
    none, value_of,
};
use crate::{
    record::{Draft, Origin, refused},
    server::Session,
};

/// Manifests that a refusal names of each side.
const NAMED_MAX: usize = 10;

/// Something about a trial, in words.
type Word = fn(&Measured) -> String;

pub(in crate::server) async fn compare(
    session: &Session,
    params: RunCompareParams,
) -> Result<ComparisonView, RpcError> {
    if !params.success_at.is_finite() || params.success_at.abs() > REWARD_MAX {
        return Err(invalid(format!("`success_at` is a number from -{REWARD_MAX} to {REWARD_MAX}")));
    }
    if let Some(changed) = &params.changed_variable {
        check_text("changed_variable", changed, REFERENCE_BYTES_MAX)?;
    }
    let baseline = found(session, "baseline", params.baseline).await?;
    let candidate = found(session, "candidate", params.candidate).await?;
    let measure_all = |rows: Vec<TrialRow>| {
        let record = session.shared.record.clone();
        async move {
            let all = move |reader: &Reader| rows.into_iter().map(|row| measure(reader, row)).collect();
            record.read(all).await
        }
    };
    let baseline: Vec<Measured> = measure_all(baseline).await?;
    let candidate: Vec<Measured> = measure_all(candidate).await?;
    let said = (params.changed_variable.as_deref(), params.success_at);
    let view = of(&baseline, &candidate, said)?;
    record(session, &view, (&baseline, &candidate)).await?;
    session.effect.notify_one();
    Ok(view)
}

/// The trials that are named, each of which the caller may judge.
async fn found(session: &Session, side: &str, trials: Trials) -> Result<Vec<TrialRow>, RpcError> {
    let record = &session.shared.record;
    let rows = match trials {
        Trials::Of(of) => {
            let read = move |reader: &Reader| {
                let dataset = (&of.dataset, &of.version);
                reader.trials_of(dataset, &of.configuration, TRIALS_MAX.saturating_add(1))
            };
            record.read(read).await?
        }
        Trials::One(id) => vec![record.look_up(|reader| reader.trial(&id))?.ok_or_else(|| none(id))?],
        Trials::Several(ids) => {
            let distinct: BTreeSet<_> = ids.iter().collect();
            if distinct.len() < ids.len() {
                return Err(invalid(format!("`{side}` names a trial twice")));
            }
            if ids.len() > TRIALS_MAX {
                return Err(invalid(format!("`{side}` names more than {TRIALS_MAX} trials")));
            }
            let read = move |reader: &Reader| {
                let one = |id| Ok((id, reader.trial(&id)?));
                ids.into_iter().map(one).collect::<Result<Vec<_>, ReadError>>()
            };
            let rows = record.read(read).await?.into_iter();
            rows.map(|(id, row)| row.ok_or_else(|| none(id))).collect::<Result<_, _>>()?
        }
    };
    if rows.is_empty() || rows.len() > TRIALS_MAX {
        let what =
            format!("`{side}` has {} trials: 1 to {TRIALS_MAX} can be compared", rows.len().min(9_999));
        return Err(invalid(what).hint("name trials by their ids"));
    }
    rows.iter().try_for_each(|row| check_judge(session, row))?;
    Ok(rows)
}

/// Compares trials that were measured.
fn of(
    baseline: &[Measured],
    candidate: &[Measured],
    (changed, success_at): (Option<&str>, f64),
) -> Result<ComparisonView, RpcError> {
    let manifests = same_manifests(baseline, candidate)?;
    same_verifier(baseline.iter().chain(candidate))?;
    let (before, after) =
        (one_configuration("baseline", baseline)?, one_configuration("candidate", candidate)?);
    let changed = changed_variable(before, after, changed)?;
    let one = side(before, baseline, success_at);
    let other = side(after, candidate, success_at);
    let deltas = deltas(&one, &other);
    let p0_regressions = regressions(candidate);
    let evidence_completeness =
        CompletenessView { baseline: one.evidence_completeness, candidate: other.evidence_completeness };
    let reasons = reasons((&one, &other), (baseline, candidate), &deltas, &p0_regressions);
    Ok(ComparisonView {
        baseline: one,
        candidate: other,
        changed_variable: changed,
        success_at,
        manifest_hashes: manifests.into_iter().collect(),
        aggregate_deltas: deltas,
        evidence_completeness,
        p0_regressions,
        promotion: PromotionView { eligible: reasons.is_empty(), reasons },
    })
}

fn hashes(trials: &[Measured]) -> BTreeSet<String> {
    trials.iter().map(|trial| trial.row.started.manifest_hash.clone()).collect()
}

/// The manifests that both sides have; refused if they are not the same.
fn same_manifests(baseline: &[Measured], candidate: &[Measured]) -> Result<BTreeSet<String>, RpcError> {
    let (one, other) = (hashes(baseline), hashes(candidate));
    if one == other {
        return Ok(one);
    }
    let differs = what_differs(baseline, candidate);
    let what = format!("bench_manifest_mismatch: what is compared was not measured alike: {differs}");
    let mut error = RpcError::new(ErrorName::Conflict, what)
        .hint("compare trials of the same dataset, version, cases, contents, verifier and limits");
    let only = |side: &str, trials: &[Measured], hashes: Vec<&String>| {
        let of = |hash: &String| {
            let is_its = |trial: &&Measured| trial.row.started.manifest_hash == *hash;
            json!({ "hash": hash, "trial_id": trials.iter().find(is_its).map(|trial| trial.row.started.trial_id) })
        };
        let named: Vec<_> = hashes.into_iter().take(NAMED_MAX).map(of).collect();
        json!({ "code": "bench_manifest_mismatch", "side": side, "manifests": named })
    };
    error.data.violations = vec![
        only("baseline", baseline, one.difference(&other).collect()),
        only("candidate", candidate, other.difference(&one).collect()),
    ];
    Err(error)
}

/// In words, what makes the manifests of two sides others.
fn what_differs(baseline: &[Measured], candidate: &[Measured]) -> String {
    let words = |trials: &[Measured], word: Word| -> BTreeSet<String> { trials.iter().map(word).collect() };
    let looks: [(&str, Word); 4] = [
        ("dataset", |trial| trial.row.started.dataset.id.to_string()),
        ("version of the dataset", |trial| trial.row.started.dataset.version.to_string()),
        ("cases", |trial| trial.row.started.dataset.case.to_string()),
        ("verifier", |trial| {
            let verifier = trial.row.started.verifier.as_ref();
            verifier.map_or_else(|| "none".to_owned(), |one| format!("{} {}", one.id, one.version))
        }),
    ];
    for (name, word) in looks {
        let (one, other) = (words(baseline, word), words(candidate, word));
        let show = |set: BTreeSet<String>| set.into_iter().take(3).collect::<Vec<_>>().join(", ");
        if one != other {
            return format!("{name} of the baseline: {}; of the candidate: {}", show(one), show(other));
        }
    }
    "digests of the dataset, contents or limits are others".to_owned()
}

/// Refuses trials that were judged by several verifiers.
fn same_verifier<'a>(trials: impl Iterator<Item = &'a Measured>) -> Result<(), RpcError> {
    let said = trials.filter_map(Measured::reward).map(|reward| reward.verifier.clone());
    let said: BTreeSet<Option<TrialVerifier>> = said.collect();
    if said.len() < 2 {
        return Ok(());
    }
    let name = |verifier: &Option<TrialVerifier>| match verifier {
        Some(verifier) => format!("`{}` {}", verifier.id, verifier.version),
        None => "one that is not named".to_owned(),
    };
    let names: Vec<_> = said.iter().take(3).map(name).collect();
    let what =
        format!("bench_manifest_mismatch: the trials were judged by several verifiers: {}", names.join(", "));
    Err(RpcError::new(ErrorName::Conflict, what).hint("have all of them judged by one"))
}

fn one_configuration<'a>(side: &str, trials: &'a [Measured]) -> Result<&'a TrialConfiguration, RpcError> {
    let mut all = trials.iter().map(|trial| &trial.row.started.configuration);
    let first = all.next().ok_or_else(|| invalid(format!("`{side}` has no trials")))?;
    match all.find(|other| *other != first) {
        None => Ok(first),
        Some(other) => {
            let what = format!("`{side}` has trials of two configurations: {} and {}", first.id, other.id);
            Err(RpcError::new(ErrorName::Conflict, what).hint("one thing at a time can be compared"))
        }
    }
}

/// The one thing that is other; refused where the configurations differ and nobody says in what.
fn changed_variable(
    before: &TrialConfiguration,
    after: &TrialConfiguration,
    said: Option<&str>,
) -> Result<Option<String>, RpcError> {
    let own = after.changed_variable.as_deref();
    if let Some((said, own)) = said.zip(own).filter(|(said, own)| said != own) {
        let what = format!("configuration `{}` says that `{own}` is other, not `{said}`", after.id);
        return Err(RpcError::new(ErrorName::Conflict, what));
    }
    let named = said.or(own);
    if before != after && named.is_none() {
        let what =
            format!("configurations `{}` and `{}` differ, and nobody says in what", before.id, after.id);
        return Err(invalid(what).hint("name the one thing as `changed_variable`"));
    }
    Ok(named.map(str::to_owned))
}

fn count(trials: &[Measured], is: impl Fn(&Measured) -> bool) -> u64 {
    u64::try_from(trials.iter().filter(|trial| is(trial)).count()).unwrap_or(u64::MAX)
}

fn side(configuration: &TrialConfiguration, trials: &[Measured], success_at: f64) -> SideView {
    let all = count(trials, |_| true);
    let rewards: Vec<f64> = trials.iter().filter_map(Measured::reward).map(value_of).collect();
    let is_rewarded = rewards.len() == trials.len();
    let successes =
        u64::try_from(rewards.iter().filter(|reward| **reward >= success_at).count()).unwrap_or(0);
    let times: Vec<u64> = trials.iter().filter_map(|trial| trial.duration_ms).collect();
    let tokens: Vec<u64> = trials.iter().filter_map(|trial| trial.tokens).collect();
    let mut cost_micros: BTreeMap<String, Used> = BTreeMap::new();
    for (micros, currency) in trials.iter().filter_map(|trial| trial.cost.as_ref()) {
        let used = cost_micros.entry(currency.clone()).or_insert(Used { total: 0, trials: 0 });
        used.total = used.total.saturating_add(*micros);
        used.trials = used.trials.saturating_add(1);
    }
    let gaps = trials.iter().filter(|trial| !trial.gaps.is_empty());
    let words = |trial: &Measured| trial.gaps.iter().map(|gap| (*gap).to_owned()).collect();
    SideView {
        configuration: configuration.clone(),
        trials: all,
        ended: count(trials, |trial| trial.row.ended.is_some()),
        completed: count(trials, Measured::is_completed),
        successes,
        success_rate: is_rewarded.then(|| share(successes, all)).flatten(),
        mean_reward: is_rewarded.then(|| mean(&rewards)).flatten(),
        unrewarded: trials
            .iter()
            .filter(|trial| trial.reward().is_none())
            .map(|trial| trial.row.started.trial_id)
            .collect(),
        timeouts: count(trials, Measured::is_timeout),
        latency_p50_ms: percentile(&times, 50),
        latency_p95_ms: percentile(&times, 95),
        tokens: (!tokens.is_empty()).then(|| Used {
            total: tokens.iter().fold(0, |sum, one| sum.saturating_add(*one)),
            trials: u64::try_from(tokens.len()).unwrap_or(u64::MAX),
        }),
        cost_micros,
        evidence_completeness: part(count(trials, |trial| trial.gaps.is_empty()), all),
        evidence_gaps: gaps.map(|trial| (trial.row.started.trial_id.to_string(), words(trial))).collect(),
    }
}

fn deltas(one: &SideView, other: &SideView) -> DeltasView {
    let more = |one: Option<f64>, other: Option<f64>| one.zip(other).map(|(one, other)| other - one);
    let longer = |one: Option<u64>, other: Option<u64>| {
        one.zip(other).map(|(one, other)| other.cast_signed().saturating_sub(one.cast_signed()))
    };
    let per_trial = |side: &SideView| {
        side.tokens.filter(|used| used.trials == side.trials).map(|used| part(used.total, used.trials))
    };
    let timeouts = |side: &SideView| part(side.timeouts, side.trials);
    let rate = |side: &SideView| side.success_rate.map(|share| share.rate);
    DeltasView {
        mean_reward: more(one.mean_reward, other.mean_reward),
        success_rate: more(rate(one), rate(other)),
        timeout_rate: timeouts(other) - timeouts(one),
        latency_p50_ms: longer(one.latency_p50_ms, other.latency_p50_ms),
        latency_p95_ms: longer(one.latency_p95_ms, other.latency_p95_ms),
        tokens_per_trial: more(per_trial(one), per_trial(other)),
        evidence_completeness: other.evidence_completeness - one.evidence_completeness,
    }
}

fn regressions(candidate: &[Measured]) -> RegressionsView {
    let said: Vec<_> = candidate
        .iter()
        .map(|trial| trial.reward().and_then(|reward| reward.p0_regressions.as_deref()))
        .collect();
    let named = said.iter().flatten().flat_map(|names| names.iter());
    let names: BTreeSet<&SafeLabel> = named.clone().collect();
    RegressionsView {
        count: u32::try_from(named.count()).unwrap_or(u32::MAX),
        names: names.into_iter().cloned().collect(),
        unknown: u64::try_from(said.iter().filter(|said| said.is_none()).count()).unwrap_or(u64::MAX),
    }
}

/// How often each manifest was measured.
fn tally(trials: &[Measured]) -> BTreeMap<&str, usize> {
    let mut tally = BTreeMap::new();
    for trial in trials {
        let count: &mut usize = tally.entry(trial.row.started.manifest_hash.as_str()).or_default();
        *count = count.saturating_add(1);
    }
    tally
}

/// What speaks against the candidate, in words; nothing, if it may take the baseline's place.
fn reasons(
    (one, other): (&SideView, &SideView),
    (baseline, candidate): (&[Measured], &[Measured]),
    deltas: &DeltasView,
    p0: &RegressionsView,
) -> Vec<String> {
    let mut reasons = Vec::new();
    for (name, side) in [("baseline", one), ("candidate", other)] {
        if side.ended < side.trials {
            reasons.push(format!("{} trials of the {name} have not ended", side.trials - side.ended));
        }
        if !side.unrewarded.is_empty() {
            let count = side.unrewarded.len();
            reasons.push(format!("what {count} trials of the {name} are worth is unknown"));
        }
    }
    match deltas.mean_reward {
        Some(delta) if delta < 0.0 => reasons.push(format!("the mean reward is less by {}", -delta)),
        _ => {}
    }
    if p0.count > 0 {
        reasons.push(format!("{} P0 regressions", p0.count));
    }
    if p0.unknown > 0 {
        reasons.push(format!("nobody said of {} trials whether there are P0 regressions", p0.unknown));
    }
    if deltas.evidence_completeness < 0.0 {
        reasons.push("less of the candidate's evidence is there than of the baseline's".to_owned());
    }
    // Means over cases that are weighed otherwise say nothing about each other.
    let (before, after) = (tally(baseline), tally(candidate));
    let is_even = before.iter().all(|(hash, count)| {
        let other = after.get(hash).copied().unwrap_or(0);
        count.saturating_mul(candidate.len()) == other.saturating_mul(baseline.len())
    });
    if !is_even {
        reasons.push("the cases are not given in the same proportion on both sides".to_owned());
    }
    reasons
}

/// Makes a comparison durable, where the candidate's first trial is.
async fn record(
    session: &Session,
    view: &ComparisonView,
    (baseline, candidate): (&[Measured], &[Measured]),
) -> Result<(), RpcError> {
    let shared = &session.shared;
    let Some(first) = candidate.first().map(|trial| &trial.row.started) else { return Ok(()) };
    let ids =
        |trials: &[Measured]| -> Vec<_> { trials.iter().map(|trial| trial.row.started.trial_id).collect() };
    let whole = json!({ "comparison": view, "baseline": ids(baseline), "candidate": ids(candidate) });
    let mut draft = Draft::default();
    let (comparison_digest, comparison_bytes) = draft.body(whole.to_string().into_bytes());
    let number = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
    let compared = TrialsCompared {
        trial_id: first.trial_id,
        task_id: first.task_id,
        baseline_trials: number(view.baseline.trials),
        candidate_trials: number(view.candidate.trials),
        changed_variable: view.changed_variable.clone(),
        mean_reward_delta: view.aggregate_deltas.mean_reward.map(decimal),
        timeout_rate_delta: decimal(view.aggregate_deltas.timeout_rate),
        evidence_completeness: decimal(view.evidence_completeness.candidate),
        p0_regressions: view.p0_regressions.count,
        is_eligible: view.promotion.eligible,
        comparison_digest,
        comparison_bytes,
    };
    let origin = Origin::actor(session.caller.actor());
    let fact = Fact::TrialsCompared(Box::new(compared));
    shared.record.add(&mut draft, StreamName::Task(first.task_id), &origin, fact);
    shared.record.commit(draft).await.map(drop).map_err(|error| refused(&error))
}

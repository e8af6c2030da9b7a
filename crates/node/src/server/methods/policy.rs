//! Rules: what is in force, what they would say, and why.

use std::path::PathBuf;

use edgeplane_driver::render;
use edgeplane_policy::{Decision, Explanation, LayerRules, RuleFile, Rules, compile};
use edgeplane_types::{
    Assurance, Authority, Channel, Epoch, ErrorName, Ingress, PolicyLayer, Proof, SafeLabel,
};
use edgeplane_wire::{
    api::policy::{CheckParams, CheckResult, ExplainParams, ExplainResult, RuleView, RulesResult},
    rpc::RpcError,
};

use super::{Session, agent};
use crate::{
    caller::{AGENT_AUTHORITY_MAX, Caller, CallingAgent},
    gate::{self, Asked},
    shared::Shared,
};

/// Most bytes of rules that are looked at in one request.
const CHECKED_BYTES_MAX: usize = 4 << 20;

pub(in crate::server) fn list(session: &Session) -> RulesResult {
    let gate = &session.shared.gate;
    let in_force = gate.in_force();
    let layers = in_force.rules.organisation().into_iter().chain([in_force.rules.node()]);
    RulesResult {
        digest: in_force.rules.digest().to_owned(),
        since: in_force.since,
        items: layers.flat_map(views).collect(),
        rejected: in_force.rejected.clone(),
        folders: gate
            .folders()
            .iter()
            .map(|folder: &PathBuf| folder.to_string_lossy().into_owned())
            .collect(),
    }
}

fn views(layer: &LayerRules) -> impl Iterator<Item = RuleView> {
    layer.rules().iter().map(|rule| RuleView {
        layer: layer.layer(),
        id: rule.id.clone(),
        effect: match rule.effect {
            edgeplane_policy::Effect::Permit => "permit".to_owned(),
            edgeplane_policy::Effect::Forbid => "forbid".to_owned(),
        },
        file: rule.file.to_string(),
        line: u64::from(rule.line),
    })
}

pub(in crate::server) async fn reload(session: &Session) -> RulesResult {
    gate::reload(&session.shared).await;
    list(session)
}

pub(in crate::server) fn explain(
    session: &Session,
    params: &ExplainParams,
) -> Result<ExplainResult, RpcError> {
    let in_force = session.shared.gate.in_force();
    explained(session, params, &in_force.rules)
}

/// Looks at rules on a worker: their text may be large.
pub(in crate::server) async fn check(
    session: &Session,
    params: CheckParams,
) -> Result<CheckResult, RpcError> {
    let bytes: usize = params.files.iter().map(|file| file.text.len()).sum();
    if bytes > CHECKED_BYTES_MAX {
        let what = format!("{bytes} bytes of rules, more than {CHECKED_BYTES_MAX}");
        return Err(RpcError::new(ErrorName::TooLarge, what));
    }
    let (layer, files) = (params.layer, params.files);
    let compiled = tokio::task::spawn_blocking(move || {
        let files: Vec<RuleFile<'_>> =
            files.iter().map(|file| RuleFile { name: &file.name, text: &file.text }).collect();
        compile(layer, &files)
    });
    let compiled =
        compiled.await.map_err(|_panic| RpcError::new(ErrorName::Internal, "the check was cut off"))?;
    let rules = match compiled {
        Ok(rules) => rules,
        Err(problems) => {
            let problems = problems.iter().map(ToString::to_string).collect();
            return Ok(CheckResult { ok: false, rules: 0, problems, decision: None });
        }
    };
    let count = u64::try_from(rules.rules().len()).unwrap_or(u64::MAX);
    let decision = match &params.request {
        Some(request) => Some(explained(session, request, &as_if(&session.shared, rules)?)?),
        None => None,
    };
    Ok(CheckResult { ok: true, rules: count, problems: Vec::new(), decision })
}

/// The rules as they would be with this layer in the place of the one in force.
fn as_if(shared: &Shared, layer: LayerRules) -> Result<Rules, RpcError> {
    let in_force = shared.gate.in_force();
    match layer.layer() {
        PolicyLayer::Organisation => Ok(Rules::new(Some(layer), in_force.rules.node().clone())),
        PolicyLayer::Node => Ok(Rules::new(in_force.rules.organisation().cloned(), layer)),
        PolicyLayer::Agent => {
            let what = "a request can be tried against rules of the organisation or of the node";
            Err(RpcError::new(ErrorName::InvalidParams, what)
                .hint("rules of an agent hold once its manifest is applied"))
        }
    }
}

fn explained(session: &Session, params: &ExplainParams, rules: &Rules) -> Result<ExplainResult, RpcError> {
    let target = agent(session, &params.to)?;
    let caller = match &params.from {
        Some(from) => imagined(session, from)?,
        None => session.caller.clone(),
    };
    let channel = params.channel.unwrap_or_else(|| caller.channel());
    let asked = Asked {
        action: params.action,
        caller: &caller,
        target: &target,
        channel,
        ingress: match channel {
            Channel::Tool | Channel::Document | Channel::Web => Ingress::Submit,
            Channel::Scheduler => Ingress::Schedule,
            Channel::System => Ingress::Node,
            _ if params.topic.is_some() => Ingress::Topic,
            _ => Ingress::Signal,
        },
        authority: params.authority.map_or(caller.authority(), |wanted| caller.authority().at_most(wanted)),
        hops: params.hops,
        topic: params.topic.as_ref(),
        capability: None,
        causation: None,
        bytes: params.bytes,
    };
    result(session.shared.gate.explain(&session.shared, &asked, rules))
}

/// Somebody who is only named, with the proof that such a one usually has.
fn imagined(session: &Session, from: &str) -> Result<Caller, RpcError> {
    let plain = |name: &str, proof: Proof, authority_max: Authority| Caller {
        principal: SafeLabel::sanitized(name),
        proof,
        authority_max,
        assurance: Assurance::Open,
        ..Caller::unknown(String::new())
    };
    if let Some(name) = from.strip_prefix("service:") {
        return Ok(plain(name, Proof::ServiceToken, Authority::Delegated));
    }
    match from {
        name if name == "operator" || name.starts_with("uid-") => {
            Ok(plain(name, Proof::Uid, Authority::Trusted))
        }
        "node" => Ok(plain("node", Proof::Node, Authority::Trusted)),
        "external" => Ok(plain("unknown", Proof::None, Authority::External)),
        name => {
            let handle = agent(session, name).map_err(|error| {
                let shown = render::clean(name).chars().take(80).collect::<String>();
                RpcError::new(ErrorName::NotFound, format!("no sender `{shown}`: {}", error.message))
                    .hint("give an agent's name, `operator`, `node`, `external` or `service:NAME`")
            })?;
            let calling = CallingAgent { id: handle.id, name: handle.name.clone(), epoch: Epoch(0) };
            Ok(Caller {
                proof: Proof::EpochSocket,
                authority_max: AGENT_AUTHORITY_MAX,
                ..Caller::driver(calling, Assurance::Open)
            })
        }
    }
}

fn result(explanation: Explanation) -> Result<ExplainResult, RpcError> {
    let detail = serde_json::to_value(&explanation.layers)
        .map_err(|error| RpcError::new(ErrorName::Internal, error.to_string()))?;
    Ok(match explanation.decision {
        Decision::Permit(permit) => {
            let last = permit.rules.last();
            ExplainResult {
                allowed: true,
                layer: last.map(|deciding| deciding.layer),
                rule: last.map_or_else(|| SafeLabel::sanitized("no-rule"), |deciding| deciding.rule.clone()),
                reason: None,
                authority: Some(permit.authority),
                rate_per_minute: permit.rate.as_ref().map(|limit| per_minute(limit.value)),
                bytes_max: permit.bytes_max.as_ref().map(|limit| limit.value),
                detail,
            }
        }
        Decision::Refuse(refusal) => ExplainResult {
            allowed: false,
            layer: Some(refusal.layer),
            rule: refusal.rule,
            reason: Some(refusal.reason),
            authority: None,
            rate_per_minute: None,
            bytes_max: None,
            detail,
        },
    })
}

fn per_minute(rate: edgeplane_policy::Rate) -> u64 {
    let count = u128::from(rate.count()).saturating_mul(60_000);
    u64::try_from(count.checked_div(u128::from(rate.window_ms())).unwrap_or(0)).unwrap_or(u64::MAX)
}

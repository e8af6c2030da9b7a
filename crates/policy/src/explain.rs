//! Why a request was decided as it was: every rule of every layer that matched, and where it stands.

use edgeplane_types::{Authority, PolicyLayer, SafeLabel};
use serde::Serialize;

use crate::{
    decide::{AgentLayers, Decision, Permit, Rules, Seat, Whose, unasked},
    layer::{Effect, Failure, Matches, Rule},
    limit::Rate,
    request::Request,
    schema::Query,
};

/// A decision and everything that led to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// What becomes of the request.
    pub decision: Decision,
    /// What each layer with a say says by itself, the one above first.
    pub layers: Vec<LayerExplanation>,
}

/// What one layer says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LayerExplanation {
    /// Who laid down its rules.
    pub layer: PolicyLayer,
    /// Whose manifest they stand in, for the rules of an agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<Owner>,
    /// What it decides by itself, the size of the content included.
    pub decision: Decision,
    /// The rules that match, forbids first, each in the order of the text.
    pub matched: Vec<MatchedRule>,
    /// The rules that could not be evaluated.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<RuleFailure>,
}

/// Which agent of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Owner {
    /// To which something is to be done.
    Target,
    /// That wants it.
    Sender,
}

/// A rule that matches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MatchedRule {
    /// Its name.
    pub rule: SafeLabel,
    /// What it does.
    pub effect: Effect,
    /// The most that it grants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authority: Option<Authority>,
    /// How often.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// How many bytes at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_max: Option<u64>,
    /// Why, in the words of those who wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The file in which it stands.
    pub file: String,
    /// The line on which it begins, from 1.
    pub line: u32,
}

/// A rule that could not be evaluated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuleFailure {
    /// Its name.
    pub rule: SafeLabel,
    /// Why.
    pub error: String,
    /// The file in which it stands.
    pub file: String,
    /// The line on which it begins, from 1.
    pub line: u32,
}

impl Rules {
    /// Decides one request and says why. Looks at every layer, also behind one that refuses.
    #[must_use]
    pub fn explain(&self, request: &Request, agents: AgentLayers<'_>) -> Explanation {
        let layers = match Query::new(&request.class, None) {
            Ok(query) => self.seats(agents).map(|seat| explain_layer(&seat, request, &query)).collect(),
            Err(error) => {
                return Explanation { decision: Decision::Refuse(unasked(&error)), layers: Vec::new() };
            }
        };
        Explanation { decision: self.decide(request, agents), layers }
    }
}

fn explain_layer(seat: &Seat<'_>, request: &Request, query: &Query) -> LayerExplanation {
    let matches = seat.rules.matches(query);
    let decision = match seat.judge(&request.class, &matches) {
        Ok(grant) => {
            let mut permit = Permit::unlimited(request.class.authority_claimed());
            permit.lower(seat.layer, &grant);
            Decision::Permit(permit).for_bytes(request.bytes)
        }
        Err(refusal) => Decision::Refuse(refusal),
    };
    let owner = match seat.whose {
        Whose::All => None,
        Whose::Target => Some(Owner::Target),
        Whose::Sender => Some(Owner::Sender),
    };
    let Matches { permits, forbids, failures } = matches;
    let failures = failures.into_iter().map(|Failure { rule, error }| RuleFailure {
        rule: rule.id.clone(),
        error,
        file: rule.file.to_string(),
        line: rule.line,
    });
    LayerExplanation {
        layer: seat.layer,
        owner,
        decision,
        matched: forbids.into_iter().chain(permits).map(matched).collect(),
        failures: failures.collect(),
    }
}

fn matched(rule: &Rule) -> MatchedRule {
    MatchedRule {
        rule: rule.id.clone(),
        effect: rule.effect,
        authority: rule.authority,
        rate: rule.rate,
        bytes_max: rule.bytes_max,
        reason: rule.reason.clone(),
        file: rule.file.to_string(),
        line: rule.line,
    }
}

#[cfg(test)]
mod tests;

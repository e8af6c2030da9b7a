//! The meeting of layers: one decision, with the rule that made it.
//!
//! Each layer with rules decides alone. A request passes if every one permits it, and what is granted is the least of
//! what they grant; so a layer further down can only tighten.

use std::{error::Error, iter};

use edgeplane_types::{Authority, PolicyLayer, SafeLabel};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::{
    compile::hexadecimal,
    layer::{Grant, LayerRules, Matches, Rule},
    limit::{Limit, Rate},
    problem::excerpt,
    request::{Class, Request},
    schema::Query,
};

/// The rule that a refusal names where no rule permitted the request.
pub const NO_PERMIT: &str = "no-permit";

/// The rule that a refusal names where a rule could not be evaluated.
pub const RULE_ERROR: &str = "rule-error";

/// The rules of organisation and node.
#[derive(Debug, Clone)]
pub struct Rules {
    organisation: Option<LayerRules>,
    node: LayerRules,
    digest: String,
}

/// The rules in the manifests of the agents that a request concerns.
#[derive(Debug, Clone, Copy, Default)]
pub struct AgentLayers<'a> {
    /// Those of the agent to which something is to be done.
    pub target: Option<&'a LayerRules>,
    /// Those of the agent that wants it, where it is one.
    pub sender: Option<&'a LayerRules>,
}

/// What becomes of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "decision", rename_all = "snake_case")]
pub enum Decision {
    /// It passes.
    Permit(Permit),
    /// It does not.
    Refuse(Refusal),
}

/// What a request that passes is worth.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Permit {
    /// How its words are to be weighed.
    pub authority: Authority,
    /// How often requests like it pass, for each pair of sender and receiver. The caller counts.
    pub rate: Option<Limit<Rate>>,
    /// The most bytes that pass at once.
    pub bytes_max: Option<Limit<u64>>,
    /// The rule that let it pass in each layer that has a say, the layer above first.
    pub rules: Vec<Deciding>,
}

/// A rule that let a request pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Deciding {
    /// Who laid it down.
    pub layer: PolicyLayer,
    /// Its name.
    pub rule: SafeLabel,
}

/// Why a request does not pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// Who refuses.
    pub layer: PolicyLayer,
    /// By which rule; [`NO_PERMIT`] and [`RULE_ERROR`] where by none.
    pub rule: SafeLabel,
    /// For people.
    pub reason: String,
}

impl Rules {
    /// Puts the layers together. That of the node has a say also where it is empty, and permits nothing then.
    #[must_use]
    pub fn new(organisation: Option<LayerRules>, node: LayerRules) -> Self {
        debug_assert!(organisation.iter().all(|rules| rules.layer() == PolicyLayer::Organisation));
        debug_assert_eq!(node.layer(), PolicyLayer::Node, "rules stand in the layer they were compiled for");
        let mut hasher = Sha256::new();
        // Each digest is of the same length, so the parts cannot run into each other.
        for layer in organisation.iter().chain(iter::once(&node)) {
            hasher.update(layer.digest());
        }
        let digest = hexadecimal(&hasher.finalize());
        Self { organisation, node, digest }
    }

    /// The rules of the organisation.
    #[must_use]
    pub fn organisation(&self) -> Option<&LayerRules> {
        self.organisation.as_ref()
    }

    /// The rules of the node.
    #[must_use]
    pub fn node(&self) -> &LayerRules {
        &self.node
    }

    /// SHA-256 of both layers, in lower-case hexadecimal. Of other texts it is another.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Decides one request.
    #[must_use]
    pub fn decide(&self, request: &Request, agents: AgentLayers<'_>) -> Decision {
        self.judge(&request.class, agents).for_bytes(request.bytes)
    }

    /// Decides for all requests of a class but for their size, which [`Decision::for_bytes`] holds to the limit.
    #[must_use]
    pub fn judge(&self, class: &Class, agents: AgentLayers<'_>) -> Decision {
        let query = match Query::new(class, None) {
            Ok(query) => query,
            Err(error) => return Decision::Refuse(unasked(&error)),
        };
        let mut permit = Permit::unlimited(class.authority_claimed());
        for seat in self.seats(agents) {
            match seat.judge(class, &seat.rules.matches(&query)) {
                Ok(grant) => permit.lower(seat.layer, &grant),
                Err(refusal) => return Decision::Refuse(refusal),
            }
        }
        Decision::Permit(permit)
    }

    /// The layers that have a say, the one above first.
    pub(crate) fn seats<'a>(&'a self, agents: AgentLayers<'a>) -> impl Iterator<Item = Seat<'a>> {
        let seat = |layer, whose| move |rules| Seat { layer, whose, rules };
        let organisation = self.organisation.as_ref().map(seat(PolicyLayer::Organisation, Whose::All));
        let target = agents.target.map(seat(PolicyLayer::Agent, Whose::Target));
        let sender = agents.sender.map(seat(PolicyLayer::Agent, Whose::Sender));
        let node = Some(seat(PolicyLayer::Node, Whose::All)(&self.node));
        let has_say = |seat: &Seat<'_>| seat.layer == PolicyLayer::Node || !seat.rules.is_empty();
        [organisation, node, target, sender].into_iter().flatten().filter(has_say)
    }
}

/// For whom a layer speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    All,
    Target,
    Sender,
}

/// A layer that has a say in a decision.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seat<'a> {
    pub(crate) layer: PolicyLayer,
    pub(crate) whose: Whose,
    pub(crate) rules: &'a LayerRules,
}

impl Seat<'_> {
    /// What this layer says by itself.
    pub(crate) fn judge<'m>(&self, class: &Class, matches: &Matches<'m>) -> Result<Grant<'m>, Refusal> {
        if let Some(rule) = matches.forbids.first() {
            let reason =
                rule.reason.clone().unwrap_or_else(|| format!("{} forbids {class}", self.named(rule)));
            return Err(Refusal { layer: self.layer, rule: rule.id.clone(), reason });
        }
        // Without this rule nobody knows whether the request should have been refused.
        if let Some(failure) = matches.failures.first() {
            let reason = format!("{} could not be evaluated: {}", self.named(failure.rule), failure.error);
            return Err(Refusal { layer: self.layer, rule: fixed(RULE_ERROR), reason });
        }
        matches.grant().ok_or_else(|| {
            let reason = format!("no rule of {} permits {class}", self.owner());
            Refusal { layer: self.layer, rule: fixed(NO_PERMIT), reason }
        })
    }

    fn named(&self, rule: &Rule) -> String {
        format!("rule {} of {}", rule.id, self.owner())
    }

    fn owner(&self) -> &'static str {
        match (self.layer, self.whose) {
            (PolicyLayer::Organisation, _) => "the organisation",
            (PolicyLayer::Node, _) => "the node",
            (PolicyLayer::Agent, Whose::Sender) => "the sending agent",
            (PolicyLayer::Agent, Whose::Target | Whose::All) => "the receiving agent",
        }
    }
}

/// The names of [`NO_PERMIT`] and [`RULE_ERROR`] are labels already.
fn fixed(rule: &str) -> SafeLabel {
    SafeLabel::sanitized(rule)
}

/// The refusal of a request that could not be put to the rules.
pub(crate) fn unasked(error: &(dyn Error + 'static)) -> Refusal {
    let errors = iter::successors(Some(error), |&error| error.source());
    let chain: Vec<String> = errors.map(ToString::to_string).collect();
    Refusal { layer: PolicyLayer::Node, rule: fixed(RULE_ERROR), reason: excerpt(&chain.join(": ")) }
}

impl Permit {
    /// What no layer has had its say in.
    pub(crate) fn unlimited(authority: Authority) -> Self {
        Self { authority, rate: None, bytes_max: None, rules: Vec::with_capacity(4) }
    }

    /// Takes in what one more layer grants: the least holds.
    pub(crate) fn lower(&mut self, layer: PolicyLayer, grant: &Grant<'_>) {
        self.authority = self.authority.at_most(grant.authority);
        self.rules.push(Deciding { layer, rule: grant.rule.id.clone() });
        if let Some((rate, rule)) = grant.rate {
            let next = Limit { value: rate, layer, rule: rule.id.clone() };
            self.rate = Some(match self.rate.take() {
                None => next,
                Some(before) => {
                    let value = before.value.at_most(rate);
                    // The slower one is named; the layer above where they are alike.
                    let named = if rate.is_slower_than(before.value) { next } else { before };
                    Limit { value, ..named }
                }
            });
        }
        if let Some((value, rule)) = grant.bytes_max
            && self.bytes_max.as_ref().is_none_or(|before| value < before.value)
        {
            self.bytes_max = Some(Limit { value, layer, rule: rule.id.clone() });
        }
    }
}

impl Decision {
    /// The decision for a request of so many bytes: refused by the rule of the limit where it is over it.
    #[must_use]
    pub fn for_bytes(self, bytes: u64) -> Self {
        match self {
            Self::Permit(Permit { bytes_max: Some(limit), .. }) if bytes > limit.value => {
                let Limit { value, layer, rule } = limit;
                let reason = format!("{bytes} bytes, and rule {rule} grants at most {value}");
                Self::Refuse(Refusal { layer, rule, reason })
            }
            Self::Permit(_) | Self::Refuse(_) => self,
        }
    }
}

#[cfg(test)]
mod tests;

//! The compiled rules of one layer, and what they say to one request by themselves.

use std::sync::Arc;

use cedar_policy::Policy;
use edgeplane_types::{Authority, PolicyLayer, SafeLabel};
use serde::Serialize;

use crate::{
    condition::{Bundle, Condition},
    limit::Rate,
    schema::Query,
};

/// What a rule does when it matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Lets pass, within its limits.
    Permit,
    /// Refuses, whatever permits.
    Forbid,
}

impl Effect {
    pub(crate) fn of(policy: &Policy) -> Self {
        match policy.effect() {
            cedar_policy::Effect::Permit => Self::Permit,
            cedar_policy::Effect::Forbid => Self::Forbid,
        }
    }
}

/// One rule, and what it says beside its condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Its name, unique in its layer.
    pub id: SafeLabel,
    /// What it does when it matches.
    pub effect: Effect,
    /// The most that it grants; none where it lowers nothing.
    pub authority: Option<Authority>,
    /// How often, for each pair of sender and receiver.
    pub rate: Option<Rate>,
    /// How many bytes at once.
    pub bytes_max: Option<u64>,
    /// Why, in the words of those who wrote it.
    pub reason: Option<String>,
    /// The file in which it stands.
    pub file: Arc<str>,
    /// The line on which it begins, from 1.
    pub line: u32,
}

impl Rule {
    /// What it grants of an authority; everything, where it lowers nothing.
    pub(crate) fn authority_granted(&self) -> Authority {
        self.authority.unwrap_or(Authority::Trusted)
    }
}

/// The compiled rules of one layer.
#[derive(Debug, Clone)]
pub struct LayerRules {
    pub(crate) layer: PolicyLayer,
    pub(crate) digest: Arc<str>,
    pub(crate) files: Vec<String>,
    /// In the order of the text.
    pub(crate) rules: Vec<Rule>,
    /// Of each rule, when it matches.
    pub(crate) conditions: Vec<Condition>,
    /// The rules as they are asked.
    pub(crate) bundles: Vec<Bundle>,
}

impl LayerRules {
    /// Who laid them down.
    #[must_use]
    pub fn layer(&self) -> PolicyLayer {
        self.layer
    }

    /// SHA-256 of the files they were compiled from, in lower-case hexadecimal.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// The names of those files.
    #[must_use]
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// The rules, in the order of the text.
    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Whether there is none. Such a layer has no say, but for that of the node.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// What matches `query`.
    pub(crate) fn matches(&self, query: &Query) -> Matches<'_> {
        let mut matches = Matches::default();
        let bundles = self.bundles.iter();
        let mut said: Vec<_> = bundles.flat_map(|bundle| bundle.holding(&self.conditions, query)).collect();
        said.sort_unstable_by_key(|(place, _)| *place);
        for (place, holds) in said {
            let Some(rule) = self.rules.get(place) else { continue };
            match (holds, rule.effect) {
                (Ok(true), Effect::Permit) => matches.permits.push(rule),
                (Ok(true), Effect::Forbid) => matches.forbids.push(rule),
                (Ok(false), Effect::Permit | Effect::Forbid) => {}
                (Err(error), Effect::Permit | Effect::Forbid) => {
                    matches.failures.push(Failure { rule, error })
                }
            }
        }
        matches
    }
}

/// What of a layer matches a request, each in the order of the text.
#[derive(Debug, Default)]
pub(crate) struct Matches<'a> {
    pub(crate) permits: Vec<&'a Rule>,
    pub(crate) forbids: Vec<&'a Rule>,
    pub(crate) failures: Vec<Failure<'a>>,
}

/// A rule that could not be evaluated.
#[derive(Debug)]
pub(crate) struct Failure<'a> {
    pub(crate) rule: &'a Rule,
    pub(crate) error: String,
}

/// What a layer grants by itself: of each limit the most generous that a matching permit has.
#[derive(Debug)]
pub(crate) struct Grant<'a> {
    /// The permit that grants the most authority; of several the first.
    pub(crate) rule: &'a Rule,
    pub(crate) authority: Authority,
    pub(crate) rate: Option<(Rate, &'a Rule)>,
    pub(crate) bytes_max: Option<(u64, &'a Rule)>,
}

impl<'a> Matches<'a> {
    /// What the permits grant together; none where none matches.
    pub(crate) fn grant(&self) -> Option<Grant<'a>> {
        // Weightiest is least, and the first of equals is kept.
        let rule = *self.permits.iter().min_by_key(|rule| rule.authority_granted())?;
        // One permit without a limit is the most generous.
        let rates: Option<Vec<_>> = self.permits.iter().map(|rule| Some((rule.rate?, *rule))).collect();
        let rate = rates.and_then(|rates| {
            rates
                .into_iter()
                .reduce(|best, next| if next.0.is_more_generous_than(best.0) { next } else { best })
        });
        let sizes: Option<Vec<_>> = self.permits.iter().map(|rule| Some((rule.bytes_max?, *rule))).collect();
        let bytes_max = sizes.and_then(|sizes| {
            sizes.into_iter().reduce(|best, next| if next.0 > best.0 { next } else { best })
        });
        Some(Grant { rule, authority: rule.authority_granted(), rate, bytes_max })
    }
}

#[cfg(test)]
mod tests;

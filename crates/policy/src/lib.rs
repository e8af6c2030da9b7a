//! Who may say what to whom, and with which force: rules in Cedar, in three layers, and one decision with its rule.
//!
//! Owns the compiling of rules, their limits, the meeting of layers, and the reasons that are given. It deliberately
//! knows no file, clock, network or counter: texts and requests come in as values, and how often something happened
//! is counted by the caller.
#![forbid(unsafe_code)]

pub mod problem;

pub mod limit;
pub mod request;

mod annotation;
mod condition;
mod schema;
mod statement;

pub mod compile;
mod layer;

pub mod cache;
pub mod decide;
pub mod engine;
pub mod explain;
pub mod standard;

pub use cache::{DECISIONS_MAX, Decisions};
pub use compile::{
    DEPTH_MAX, FILE_BYTES_MAX, FILES_MAX, NESTING_MAX, PROBLEMS_MAX, RULES_MAX, RuleFile, compile,
};
pub use decide::{AgentLayers, Deciding, Decision, NO_PERMIT, Permit, RULE_ERROR, Refusal, Rules};
pub use engine::{Cedar, CountingEngine, PolicyEngine};
pub use explain::{Explanation, LayerExplanation, MatchedRule, Owner, RuleFailure};
pub use layer::{Effect, LayerRules, Rule};
pub use limit::{Limit, Rate};
pub use problem::Problem;
pub use request::{Class, Request, Subject, SubjectKind, Target};
pub use schema::SCHEMA_TEXT;
pub use standard::{DEFAULT_NAME, DEFAULT_TEXT, default_rules};

#[cfg(test)]
mod sample;

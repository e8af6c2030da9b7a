//! What a run may use, as options.

use std::time::Duration;

use clap::Args;
use edgeplane_types::RunLimits;

use crate::{command::signal::millis, quantity};

#[derive(Debug, Clone, Args)]
pub(in crate::command) struct LimitArgs {
    /// How long each run may take, such as 10m
    #[arg(long, value_name = "TIME", value_parser = quantity::parse_duration)]
    wall_time: Option<Duration>,
    /// How many tokens each run may use, as far as its program says so
    #[arg(long, value_name = "N")]
    tokens: Option<u64>,
    /// What each run may cost in the currency that its program names, such as 0.50
    #[arg(long, value_name = "AMOUNT", value_parser = quantity::parse_micros)]
    cost: Option<u64>,
    /// How many texts, thoughts and uses of tools each run may have
    #[arg(long, value_name = "N")]
    steps: Option<u64>,
    /// How often a run is gone on with after its program has ended in the middle of it
    #[arg(long, value_name = "N")]
    continuations: Option<u64>,
}

impl LimitArgs {
    pub(in crate::command) fn limits(&self) -> RunLimits {
        RunLimits {
            wall_ms: self.wall_time.map(millis),
            tokens: self.tokens,
            cost_micros: self.cost,
            steps: self.steps,
            continuations: self.continuations,
        }
    }
}

/// What runs may use, in words.
pub(in crate::command) fn in_words(limits: &RunLimits) -> String {
    let RunLimits { wall_ms, tokens, cost_micros, steps, continuations } = limits;
    let parts = [
        wall_ms.map(|limit| format!("{limit} ms")),
        tokens.map(|limit| format!("{limit} tokens")),
        cost_micros.map(|limit| format!("a cost of {}", quantity::decimal(limit))),
        steps.map(|limit| format!("{limit} steps")),
        continuations.map(|limit| format!("{limit} continuations")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

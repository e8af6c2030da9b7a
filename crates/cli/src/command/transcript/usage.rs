//! What turns have used, added up from what programs say of it.

use std::collections::BTreeMap;

use edgeplane_types::{Continuity, Epoch};
use edgeplane_wire::api::report::TranscriptEntry;
use serde_json::Value;

use crate::command::agent::word;

/// Tokens and cost.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Used {
    input: u64,
    output: u64,
    /// What neither is, where a program says only one number.
    total: u64,
    /// By currency.
    cost: BTreeMap<String, f64>,
}

impl Used {
    pub(super) fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.total = self.total.saturating_add(other.total);
        for (currency, amount) in &other.cost {
            *self.cost.entry(currency.clone()).or_default() += amount;
        }
    }
}

impl std::fmt::Display for Used {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut words = Vec::new();
        if self.input > 0 || self.output > 0 {
            words.push(format!("{} tokens read, {} written", self.input, self.output));
        } else if self.total > 0 {
            words.push(format!("{} tokens", self.total));
        }
        for (currency, amount) in &self.cost {
            let number = format!("{amount:.6}");
            let number = number.trim_end_matches('0').trim_end_matches('.');
            words.push(format!("{number} {currency}"));
        }
        f.write_str(&words.join(", "))
    }
}

/// The costs that a session has told so far. Programs tell what a session has cost from its beginning.
#[derive(Debug, Default)]
pub(super) struct Meter {
    told: BTreeMap<String, f64>,
    epoch: Option<Epoch>,
}

impl Meter {
    /// A session begins: a former one that goes on may go on counting too.
    pub(super) fn session(&mut self, entry: &TranscriptEntry) {
        let goes_on = entry.status.as_ref().is_some_and(|status| status.as_str() == word(Continuity::Full));
        if !goes_on || self.epoch.is_none() {
            self.told.clear();
        }
        self.epoch = Some(entry.epoch);
    }

    /// What a report adds to what was used before it.
    pub(super) fn used(&mut self, data: &Value) -> Used {
        let number = |key: &str| data.get(key).and_then(Value::as_u64);
        let (input, output) = (number("input_tokens"), number("output_tokens"));
        let is_turn = input.is_some() || output.is_some() || data.get("context_tokens").is_none();
        let mut used = Used {
            input: input.unwrap_or(0),
            output: output.unwrap_or(0),
            // Beside the size of the context it is how full that is, which adds up to nothing.
            total: number("total_tokens").filter(|_| is_turn).unwrap_or(0),
            cost: BTreeMap::new(),
        };
        let cost = data.get("cost").and_then(Value::as_str).and_then(|cost| cost.split_once(' '));
        if let Some((amount, currency)) = cost
            && let Some(amount) =
                amount.parse::<f64>().ok().filter(|amount| amount.is_finite() && *amount >= 0.0)
        {
            let before = self.told.insert(currency.to_owned(), amount).unwrap_or(0.0);
            // A smaller number is that of a session that began to count anew.
            let more = if amount >= before { amount - before } else { amount };
            used.cost.insert(currency.to_owned(), more);
        }
        used
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Proves DRV-051.
    #[test]
    fn turns_add_up_and_the_cost_of_a_session_is_counted_once() {
        let mut meter = Meter::default();
        let mut total = Used::default();
        for data in [
            json!({ "input_tokens": 7, "output_tokens": 5, "total_tokens": 12 }),
            json!({ "total_tokens": 53, "context_tokens": 200_000, "cost": "0.25 USD" }),
            json!({ "input_tokens": 3 }),
            json!({ "total_tokens": 60, "context_tokens": 200_000, "cost": "0.3 USD" }),
            json!({ "cost": "0.1 USD" }),
            json!({ "cost": "much EUR" }),
        ] {
            total.add(&meter.used(&data));
        }
        assert_eq!(total.to_string(), "10 tokens read, 5 written, 0.4 USD");
        assert!(Used::default().is_nothing() && Used::default().to_string().is_empty());
        let mut only_total = Meter::default();
        assert_eq!(only_total.used(&json!({ "total_tokens": 9 })).to_string(), "9 tokens");
    }
}

//! What a run has used so far, for those that are bounded: read from what the record says of its turn.
//!
//! Counted on from where it was left, so that it does not matter how often somebody looks, or which daemon does.

use std::collections::HashSet;

use edgeplane_store::{ReadError, Reader, RunRow};
use edgeplane_types::fact::UsageReported;
use edgeplane_types::{Continuity, Event, Fact, ItemId, MessageId, RunLimit, StreamName};

use super::run::message_of;

/// Events that are read at one go.
const PAGE: usize = 500;

/// How far back what a session had cost before a run is looked for, in events. Further back it counts as nothing, so
/// that the run is ended too early rather than too late.
const BACK_MAX: u64 = 20_000;

/// What one run has used.
#[derive(Debug)]
pub(crate) struct Meter {
    message: MessageId,
    stream: StreamName,
    first_seq: u64,
    next_seq: u64,
    items: HashSet<ItemId>,
    reports: u64,
    given: u64,
    /// In the epochs before, and in the one that runs.
    tokens: (u64, u64),
    /// Whether the program said anything of tokens.
    is_told: bool,
    /// What the session had cost when the run began, what it has cost since then, and what former sessions did.
    cost: Cost,
}

#[derive(Debug, Default, Clone, Copy)]
struct Cost {
    base: u64,
    now: Option<u64>,
    former: u64,
}

impl Cost {
    fn micros(self) -> u64 {
        self.former.saturating_add(self.now.map_or(0, |now| now.saturating_sub(self.base)))
    }

    /// A session that does not go on counts from nothing again.
    fn begin_anew(&mut self) {
        *self = Self { base: 0, now: None, former: self.micros() };
    }
}

impl Meter {
    /// The meter of a run whose message is in an inbox.
    pub(super) fn open(reader: &Reader, row: &RunRow) -> Result<Option<Self>, ReadError> {
        let Some(mut meter) = Self::bare(reader, row)? else { return Ok(None) };
        if row.started.limits.cost_micros.is_some() {
            meter.cost.base = cost_before(reader, &meter.stream, meter.next_seq)?;
        }
        Ok(Some(meter))
    }

    /// What a run that is over used: tokens, and cost in millionths, as far as its program said them.
    pub(crate) fn over(
        reader: &Reader,
        row: &RunRow,
        to_pos: u64,
    ) -> Result<(Option<u64>, Option<u64>), ReadError> {
        let Some(mut meter) = Self::bare(reader, row)? else { return Ok((None, None)) };
        let end = reader.seq_at(&meter.stream, to_pos.saturating_add(1))?;
        meter.read_to(reader, end)?;
        if meter.cost.now.is_some() {
            meter.cost.base = cost_before(reader, &meter.stream, meter.first_seq)?;
        }
        let tokens = meter.tokens.0.saturating_add(meter.tokens.1);
        let cost = meter.cost.now.map(|_said| meter.cost.micros());
        Ok((meter.is_told.then_some(tokens), cost))
    }

    fn bare(reader: &Reader, row: &RunRow) -> Result<Option<Self>, ReadError> {
        let message = message_of(row.id);
        let Some(found) = reader.message(&message)? else { return Ok(None) };
        let stream = StreamName::Agent(found.envelope.target);
        let next_seq = reader.seq_at(&stream, found.accepted_pos)?;
        Ok(Some(Self {
            message,
            stream,
            first_seq: next_seq,
            next_seq,
            items: HashSet::new(),
            reports: 0,
            given: 0,
            tokens: (0, 0),
            is_told: false,
            cost: Cost::default(),
        }))
    }

    /// Counts what was recorded since it was looked at last.
    pub(super) fn read_on(&mut self, reader: &Reader) -> Result<(), ReadError> {
        self.read_to(reader, u64::MAX)
    }

    /// Counts what was recorded before a number.
    fn read_to(&mut self, reader: &Reader, end: u64) -> Result<(), ReadError> {
        loop {
            let page = reader.events(&self.stream, self.next_seq, PAGE)?;
            for event in &page {
                if event.event.seq >= end {
                    return Ok(());
                }
                self.count(&event.event);
                self.next_seq = event.event.seq.saturating_add(1);
            }
            if page.len() < PAGE {
                return Ok(());
            }
        }
    }

    fn count(&mut self, event: &Event) {
        let is_own = event.fact.message_id() == Some(self.message);
        match &event.fact {
            Fact::MessageInjected { .. } if is_own => {
                self.given = self.given.saturating_add(1);
                // A further epoch counts the turn's tokens from nothing.
                self.tokens = (self.tokens.0.saturating_add(self.tokens.1), 0);
            }
            Fact::ItemUpdated { item_id, .. } if is_own => {
                self.items.insert(*item_id);
            }
            Fact::ItemReported { .. } if is_own => self.reports = self.reports.saturating_add(1),
            Fact::SessionOpened { continuity, .. } if *continuity != Continuity::Full => {
                self.cost.begin_anew()
            }
            Fact::UsageReported(UsageReported {
                input_tokens,
                output_tokens,
                total_tokens,
                context_tokens,
                cost,
                ..
            }) => {
                // With the room that its context has, the total says how much of that is taken.
                let both =
                    input_tokens.zip(*output_tokens).map(|(read, written)| read.saturating_add(written));
                let total = total_tokens.filter(|_| context_tokens.is_none()).or(both);
                if let Some(total) = total.or(*input_tokens).or(*output_tokens).filter(|_| is_own) {
                    self.tokens.1 = self.tokens.1.max(total);
                    self.is_told = true;
                }
                if let Some(micros) = cost.as_deref().and_then(micros) {
                    self.cost.now = Some(micros);
                }
            }
            _ => {}
        }
    }

    /// Which of its limits a run has passed, also in words.
    pub(super) fn passed(&self, row: &RunRow) -> Option<(RunLimit, String)> {
        let limits = &row.started.limits;
        let steps = self.reports.saturating_add(u64::try_from(self.items.len()).unwrap_or(u64::MAX));
        let tokens = self.tokens.0.saturating_add(self.tokens.1);
        let again = self.given.saturating_sub(1);
        let of = |limit: Option<u64>, used: u64| limit.filter(|limit| used > *limit);
        if let Some(limit) = of(limits.tokens, tokens) {
            return Some((RunLimit::Tokens, format!("it used {tokens} tokens and may use {limit}")));
        }
        if let Some(limit) = of(limits.cost_micros, self.cost.micros()) {
            let (cost, limit) = (units(self.cost.micros()), units(limit));
            return Some((RunLimit::Cost, format!("it cost {cost} and may cost {limit}")));
        }
        if let Some(limit) = of(limits.steps, steps) {
            return Some((RunLimit::Steps, format!("it took {steps} steps and may take {limit}")));
        }
        let limit = of(limits.continuations, again)?;
        let why = format!("its program was to go on with it {again} times and may {limit} times");
        Some((RunLimit::Continuations, why))
    }
}

/// What an agent's session had cost before an event.
fn cost_before(reader: &Reader, stream: &StreamName, seq: u64) -> Result<u64, ReadError> {
    let (mut end, first) = (seq, seq.saturating_sub(BACK_MAX).max(1));
    while end > first {
        let start = end.saturating_sub(PAGE as u64).max(first);
        let rows = usize::try_from(end.saturating_sub(start)).unwrap_or(PAGE);
        for event in reader.events(stream, start, rows)?.iter().rev() {
            match &event.event.fact {
                Fact::UsageReported(UsageReported { cost: Some(cost), .. }) => {
                    return Ok(micros(cost).unwrap_or(0));
                }
                Fact::SessionOpened { continuity, .. } if *continuity != Continuity::Full => return Ok(0),
                _ => {}
            }
        }
        end = start;
    }
    Ok(0)
}

/// Digits after the point that count.
const PLACES: usize = 6;

/// Millionths of a cost as a program says it, such as `0.25 USD`; nothing of what is no plain decimal number.
fn micros(cost: &str) -> Option<u64> {
    let amount = cost.split(' ').next()?;
    let (whole, part) = amount.split_once('.').unwrap_or((amount, ""));
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !all_digits(whole) || !all_digits(part) {
        return None;
    }
    let part: String = part.chars().chain(std::iter::repeat('0')).take(PLACES).collect();
    whole.parse::<u64>().ok()?.checked_mul(1_000_000)?.checked_add(part.parse().ok()?)
}

/// Millionths as a decimal number.
fn units(micros: u64) -> String {
    let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_read_and_written_as_plain_numbers() {
        for (text, expected) in [
            ("0.25 USD", Some(250_000)),
            ("12 EUR", Some(12_000_000)),
            ("0.0000019 USD", Some(1)),
            ("1e-7 USD", None),
            ("-1 USD", None),
            (".5 USD", None),
            ("", None),
            ("99999999999999999999 USD", None),
            ("18446744073709 USD", Some(18_446_744_073_709_000_000)),
        ] {
            assert_eq!(micros(text), expected, "{text}");
        }
        assert_eq!([250_000, 12_000_000, 1].map(units), ["0.25", "12", "0.000001"]);
    }

    #[test]
    fn session_that_begins_anew_counts_from_nothing() {
        let mut cost = Cost { base: 100, now: Some(150), former: 0 };
        assert_eq!(cost.micros(), 50);
        cost.begin_anew();
        assert_eq!(cost.micros(), 50);
        cost.now = Some(7);
        assert_eq!(cost.micros(), 57);
    }
}

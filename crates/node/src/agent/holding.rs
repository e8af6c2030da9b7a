//! Being held: an agent's engine looks at the overrides that cover it before each of its steps.

use std::time::Duration;

use edgeplane_lifecycle::{Input, overrides::Covered};
use edgeplane_store::OverrideRow;
use edgeplane_types::{AgentName, ErrorName, OverrideKind};
use edgeplane_wire::rpc::RpcError;

use tokio::time::Instant;

use super::{Actor, life::Ahead};
use crate::record::Origin;

/// How long what could not be noted, for want of space, is left alone.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// What an engine remembers of being held.
#[derive(Debug, Default)]
pub(super) struct Holding {
    /// When it looks again at what it could not note.
    look_at: Option<Instant>,
}

impl Holding {
    pub(super) fn timer(&self) -> Option<Instant> {
        self.look_at
    }
}

impl Actor {
    fn name_of_set(&self) -> Option<AgentName> {
        self.shared.agent_by_id(self.identity.set?).map(|set| set.name)
    }

    /// The overrides that cover it, newest first.
    pub(super) fn overrides(&self) -> Vec<std::sync::Arc<OverrideRow>> {
        let (set, labels) = (self.name_of_set(), self.profile.borrow().labels.clone());
        let covered = Covered { name: &self.identity.name, set: set.as_ref(), labels: &labels };
        self.shared.overrides.on(&covered)
    }

    /// What the overrides that cover it come to now.
    pub(super) fn hold_now(&self) -> Option<OverrideKind> {
        let (set, profile) = (self.name_of_set(), self.profile.borrow());
        let covered = Covered { name: &self.identity.name, set: set.as_ref(), labels: &profile.labels };
        self.shared.overrides.hold_on(&covered)
    }

    /// Takes a step under what holds it now.
    pub(super) async fn apply(&mut self, input: Input, origin: &Origin, why: &str) -> Result<(), RpcError> {
        self.apply_with(Ahead::default(), input, origin, why).await
    }

    /// The same, with facts that become durable together with the step or not at all, ahead of it.
    pub(super) async fn apply_with(
        &mut self,
        ahead: Ahead,
        input: Input,
        origin: &Origin,
        why: &str,
    ) -> Result<(), RpcError> {
        if let Err(error) = self.look_at_holds(&Origin::node("override")).await {
            // What could not be noted yet holds all the same; what is over must be told nevertheless.
            let begins = matches!(input, Input::Start(_) | Input::Restart(_) | Input::BackoffElapsed);
            if begins && self.hold_now().is_some() {
                return Err(error);
            }
        }
        self.step(ahead, input, origin, why).await
    }

    /// Takes note of what holds it now, if that is something else than before.
    pub(super) async fn look_at_holds(&mut self, origin: &Origin) -> Result<(), RpcError> {
        let wanted = self.hold_now();
        if self.is_set() || wanted == self.life.hold() {
            return Ok(());
        }
        let why = self.overrides().first().map_or_else(String::new, |row| row.reason.clone());
        let noted = self.step(Ahead::default(), Input::Hold(wanted), origin, &why).await;
        // It looks again before its next step, and at the latest then.
        self.holding.look_at = noted.is_err().then(|| Instant::now() + LOOK_AGAIN);
        noted
    }

    pub(super) async fn holding_due(&mut self, now: Instant) {
        if self.holding.look_at.is_some_and(|at| at <= now) {
            self.holding.look_at = None;
            if let Err(error) = self.look_at_holds(&Origin::node("override")).await {
                tracing::debug!(agent = %self.identity.name, %error, "what holds it cannot be noted yet");
            }
        }
    }

    /// Says that an override is in the way, if one is.
    pub(super) fn check_held(&self, input: Input) -> Result<(), RpcError> {
        use edgeplane_types::fact::Cause;
        let goes_on =
            matches!(input, Input::Start(Cause::Request) | Input::Restart(Cause::Request) | Input::Thaw);
        if !goes_on || self.hold_now().is_none() {
            return Ok(());
        }
        Err(self.held_error())
    }

    pub(super) fn held_error(&self) -> RpcError {
        let name = &self.identity.name;
        let standing = self.overrides();
        let words: Vec<String> = standing
            .iter()
            .map(|row| format!("{} ({}: {})", row.id, row.kind.as_str(), row.reason))
            .collect();
        let what = format!("agent `{name}` is held by override {}", words.join(", "));
        let error = RpcError::new(ErrorName::InvalidState, what);
        match standing.first() {
            Some(row) => {
                error.hint(format!("`edgeplane override lift {} --reason WHY` lets it go on", row.id))
            }
            None => error,
        }
    }

    /// What people are told of it, if something holds it.
    pub(super) fn held_reason(&self) -> Option<String> {
        let standing = self.overrides();
        let strongest = standing.iter().max_by_key(|row| row.kind)?;
        let more = match standing.len() {
            0 | 1 => String::new(),
            several => format!(" and {} more", several.saturating_sub(1)),
        };
        let (kind, reason, id) = (strongest.kind.as_str(), &strongest.reason, strongest.id);
        Some(format!("held, {kind}: {reason} (override {id}{more})"))
    }
}

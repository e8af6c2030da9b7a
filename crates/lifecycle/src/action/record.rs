//! What the record says of an action, made into its state again.
//!
//! The rules of a vote are looked at once more where the facts suffice: a record that breaks them is not believed.

use edgeplane_types::{
    ActionId, SafeLabel,
    decision::{ActionOutcome, Verdict},
    fact::Fact,
};

use super::{
    Resolution, Standing, State,
    rules::{counted, is_of_kind, says_again},
};

/// What is wrong with the facts of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Corrupt {
    /// It was opened twice.
    #[error("action {id} was opened twice")]
    OpenedTwice {
        /// Which.
        id: ActionId,
    },
    /// Something was said of it before it was opened.
    #[error("action {id} was spoken of before it was opened")]
    NotOpened {
        /// Which.
        id: ActionId,
    },
    /// Something was said of it after it was decided.
    #[error("action {id} was spoken of after it was decided")]
    AfterResolution {
        /// Which.
        id: ActionId,
    },
    /// A vote was taken that does not count.
    #[error("action {id} has a vote that does not count")]
    Vote {
        /// Which.
        id: ActionId,
    },
    /// The decision is not the one that the votes make.
    #[error("action {id} was decided otherwise than its votes say")]
    Unfounded {
        /// Which.
        id: ActionId,
    },
}

/// How far the record has come.
enum Place {
    Before,
    Open(State),
    /// A vote decided it; the same commit says so next.
    Deciding(State),
    Decided(State),
}

impl State {
    /// The state of the action `id` after these facts, in the order of the record; `None` if it was never opened.
    /// Facts of other actions, and of other kinds, are passed over.
    ///
    /// # Errors
    /// When the facts cannot be the work of these rules.
    pub fn fold<'a>(
        id: ActionId,
        facts: impl IntoIterator<Item = &'a Fact>,
    ) -> Result<Option<Self>, Corrupt> {
        let mut place = Place::Before;
        for fact in facts {
            place = match fact {
                Fact::ActionOpened { action } if action.id == id => match place {
                    Place::Before => Place::Open(Self::opened(action.as_ref().clone())),
                    Place::Open(_) | Place::Deciding(_) | Place::Decided(_) => {
                        return Err(Corrupt::OpenedTwice { id });
                    }
                },
                Fact::ActionVoted { action_id, principal, digest, verdict } if *action_id == id => {
                    place.voted(id, principal, digest, verdict)?
                }
                Fact::ActionResolved { action_id, outcome, answer, by, reason, told_by: _ }
                    if *action_id == id =>
                {
                    place.resolved(
                        id,
                        Resolution {
                            outcome: *outcome,
                            answer: answer.clone(),
                            by: by.clone(),
                            reason: reason.clone(),
                        },
                    )?
                }
                _ => place,
            };
        }
        match place {
            Place::Before => Ok(None),
            Place::Open(state) | Place::Decided(state) => Ok(Some(state)),
            Place::Deciding(_) => Err(Corrupt::Unfounded { id }),
        }
    }
}

impl Place {
    fn voted(
        self,
        id: ActionId,
        principal: &SafeLabel,
        digest: &str,
        verdict: &Verdict,
    ) -> Result<Self, Corrupt> {
        let mut state = self.open_state(id)?;
        let Standing::Waiting { approvals } = &state.standing else {
            return Err(Corrupt::AfterResolution { id });
        };
        let counts = digest == state.action.digest
            && *principal != state.action.principal
            && !says_again(approvals, principal, verdict)
            && is_of_kind(state.action.kind, verdict);
        if !counts {
            return Err(Corrupt::Vote { id });
        }
        state.standing = counted(&state.action, approvals, principal, verdict);
        Ok(match state.standing {
            Standing::Waiting { .. } => Self::Open(state),
            Standing::Resolved(_) => Self::Deciding(state),
        })
    }

    fn resolved(self, id: ActionId, resolution: Resolution) -> Result<Self, Corrupt> {
        let (mut state, is_founded) = match self {
            Self::Deciding(state) => {
                // The words of a reason may change with the version; what was decided may not.
                let is_same = state.resolution().is_some_and(|made| {
                    (made.outcome, &made.answer, &made.by)
                        == (resolution.outcome, &resolution.answer, &resolution.by)
                });
                (state, is_same)
            }
            other => {
                let is_without_vote = match resolution.outcome {
                    ActionOutcome::Expired | ActionOutcome::Cancelled => resolution.answer.is_none(),
                    ActionOutcome::Approved | ActionOutcome::Denied | ActionOutcome::Answered => false,
                };
                (other.open_state(id)?, is_without_vote)
            }
        };
        if !is_founded {
            return Err(Corrupt::Unfounded { id });
        }
        state.standing = Standing::Resolved(resolution);
        Ok(Self::Decided(state))
    }

    fn open_state(self, id: ActionId) -> Result<State, Corrupt> {
        match self {
            Self::Before => Err(Corrupt::NotOpened { id }),
            Self::Open(state) => Ok(state),
            Self::Deciding(_) | Self::Decided(_) => Err(Corrupt::AfterResolution { id }),
        }
    }
}

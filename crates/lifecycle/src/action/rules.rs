//! The rules of a decision: whose vote counts, and what follows from it.

use edgeplane_types::{
    SafeLabel, Timestamp,
    decision::{Action, ActionKind, ActionOutcome, Verdict},
};

use super::{
    Input, Output, REASON_BYTES_MAX, Refused, Resolution, Standing, State, Step, Vote, answer::check_answer,
};

impl State {
    /// Takes one step.
    ///
    /// A vote that comes at the end of the time or later is not counted: it finds the action expired, and the step
    /// has the output `Resolved` without `Voted`.
    ///
    /// # Errors
    /// If the input is not possible now; nothing has changed then.
    pub fn step(&self, input: &Input) -> Result<Step, Refused> {
        let approvals = match &self.standing {
            Standing::Waiting { approvals } => approvals,
            Standing::Resolved(resolution) => return self.after_resolution(resolution, input),
        };
        match input {
            Input::Vote(vote) if self.is_over(vote.now) => Ok(self.expire(approvals)),
            Input::Vote(vote) => self.vote(approvals, vote),
            Input::Tick { now } if self.is_over(*now) => Ok(self.expire(approvals)),
            // A timer that fired early, or a daemon that has just read the record.
            Input::Tick { .. } => Ok(self.unchanged(vec![Output::WakeAt(self.action.expires_at)])),
            Input::Cancel { by } => Ok(self.resolve(Resolution {
                outcome: ActionOutcome::Cancelled,
                answer: None,
                by: vec![by.clone()],
                reason: format!("taken back by {by}"),
            })),
        }
    }

    fn after_resolution(&self, resolution: &Resolution, input: &Input) -> Result<Step, Refused> {
        match input {
            // A timer that could not be stopped in time.
            Input::Tick { .. } => Ok(self.unchanged(Vec::new())),
            Input::Vote(_) | Input::Cancel { .. } => {
                Err(Refused::AlreadyResolved { outcome: resolution.outcome })
            }
        }
    }

    fn is_over(&self, now: Timestamp) -> bool {
        now >= self.action.expires_at
    }

    fn expire(&self, approvals: &[SafeLabel]) -> Step {
        let Action { quorum, expires_at, .. } = &self.action;
        let reason = if approvals.is_empty() {
            format!("nobody decided by {expires_at}")
        } else {
            format!("{} of {quorum} had approved by {expires_at}", approvals.len())
        };
        let outcome = ActionOutcome::Expired;
        self.resolve(Resolution { outcome, answer: None, by: Vec::new(), reason })
    }

    fn vote(&self, approvals: &[SafeLabel], vote: &Vote) -> Result<Step, Refused> {
        may_vote(&self.action, vote)?;
        if vote.digest != self.action.digest {
            return Err(Refused::DigestMismatch { expected: self.action.digest.clone() });
        }
        check_verdict(&self.action, &vote.verdict)?;
        if says_again(approvals, &vote.principal, &vote.verdict) {
            return Ok(self.unchanged(Vec::new()));
        }
        let voted = Output::Voted {
            principal: vote.principal.clone(),
            digest: vote.digest.clone(),
            verdict: vote.verdict.clone(),
        };
        let standing = counted(&self.action, approvals, &vote.principal, &vote.verdict);
        let mut outputs = vec![voted];
        if let Standing::Resolved(resolution) = &standing {
            outputs.push(Output::Resolved(resolution.clone()));
        }
        Ok(Step { state: Self { action: self.action.clone(), standing }, outputs })
    }

    fn resolve(&self, resolution: Resolution) -> Step {
        let outputs = vec![Output::Resolved(resolution.clone())];
        let standing = Standing::Resolved(resolution);
        Step { state: Self { action: self.action.clone(), standing }, outputs }
    }

    fn unchanged(&self, outputs: Vec<Output>) -> Step {
        Step { state: self.clone(), outputs }
    }
}

/// Whether this voter may decide this action at all.
fn may_vote(action: &Action, vote: &Vote) -> Result<(), Refused> {
    let principal = vote.principal.clone();
    // Nobody grants a wish of their own, under whatever name they make it: no rule lifts this one.
    let is_own_agent = vote.agent.as_ref().is_some_and(|agent| agent.id == action.agent_id);
    if is_own_agent || vote.principal == action.principal {
        return Err(Refused::OwnAction { principal });
    }
    if vote.agent.as_ref().is_some_and(|agent| agent.permitted_by.is_none()) {
        return Err(Refused::AgentVote { principal });
    }
    if !action.roles.is_empty() && !action.roles.iter().any(|role| vote.roles.contains(role)) {
        return Err(Refused::WrongRole { principal, roles: action.roles.clone() });
    }
    Ok(())
}

/// Whether this can be said of this action at all.
fn check_verdict(action: &Action, verdict: &Verdict) -> Result<(), Refused> {
    if !is_of_kind(action.kind, verdict) {
        return Err(Refused::WrongVerdict { kind: action.kind });
    }
    match verdict {
        Verdict::Deny { reason: Some(reason), .. } if reason.len() > REASON_BYTES_MAX => {
            Err(Refused::LongReason { found: reason.len() })
        }
        Verdict::Answer { value } => check_answer(action, value).map_err(Refused::Answer),
        Verdict::Approve { .. } | Verdict::Deny { .. } => Ok(()),
    }
}

pub(super) fn is_of_kind(kind: ActionKind, verdict: &Verdict) -> bool {
    match (kind, verdict) {
        (ActionKind::Question, Verdict::Answer { .. } | Verdict::Deny { .. })
        | (ActionKind::Approval, Verdict::Approve { .. } | Verdict::Deny { .. }) => true,
        (ActionKind::Question, Verdict::Approve { .. }) | (ActionKind::Approval, Verdict::Answer { .. }) => {
            false
        }
    }
}

/// Whether a vote says what its principal has said before. Who approved and sees that it was wrong may still deny.
pub(super) fn says_again(approvals: &[SafeLabel], principal: &SafeLabel, verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Approve { .. }) && approvals.contains(principal)
}

/// What an action comes to by a vote that counts and says something new.
pub(super) fn counted(
    action: &Action,
    approvals: &[SafeLabel],
    principal: &SafeLabel,
    verdict: &Verdict,
) -> Standing {
    let by_one = |outcome, answer, reason| {
        Standing::Resolved(Resolution { outcome, answer, by: vec![principal.clone()], reason })
    };
    match verdict {
        Verdict::Approve { .. } => {
            let approvals = [approvals, std::slice::from_ref(principal)].concat();
            if approvals.len() < quorum(action) {
                return Standing::Waiting { approvals };
            }
            let reason = format!("approved by {} of {}", approvals.len(), action.quorum);
            Standing::Resolved(Resolution {
                outcome: ActionOutcome::Approved,
                answer: None,
                by: approvals,
                reason,
            })
        }
        Verdict::Deny { reason, .. } => {
            by_one(ActionOutcome::Denied, None, reason.clone().unwrap_or_else(|| "denied".to_owned()))
        }
        Verdict::Answer { value } => {
            by_one(ActionOutcome::Answered, Some(value.clone()), "answered".to_owned())
        }
    }
}

/// The quorum as a count; one that does not fit is never reached.
fn quorum(action: &Action) -> usize {
    usize::try_from(action.quorum).unwrap_or(usize::MAX)
}

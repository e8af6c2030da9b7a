//! What this agent asks of people: opened, decided and told in its own stream, by its own engine.
//!
//! The rules of a decision are the lifecycle's; this performs them. What decides an action, its outcome and the message
//! that tells the agent are one commit, so no crash can part them. Nothing is kept here but a timer: what waits is read
//! from the record, where it is whatever happens to the daemon. Who may vote is found out before it comes here.

use std::time::Duration;

use edgeplane_lifecycle::action::{self, Input, Output, Refused, Request, State, Vote};
use edgeplane_proof::{action_digest, canonical};
use edgeplane_store::ActionRow;
use edgeplane_types::{
    ActionId, Activity, ActivityReport, Authority, ErrorName, Evidence, Fact, Ingress, MessageId, Part,
    SafeLabel, Timestamp,
    decision::{Action, ActionKind, ActionOutcome},
    fact::Actor as FactActor,
};
use edgeplane_wire::{api::action::OpenParams, rpc::RpcError};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Actor, acp::asked_by_line};
use crate::{
    admission::{self, Admitted, Saying},
    caller::{Caller, Living as _},
    record::{Draft, Origin, refused},
};

/// Actions of one agent that may wait; more are refused with `backpressure`. What is decided is told beyond the bound of
/// the inbox, so this is also how far beyond it can be.
const PENDING_MAX: u64 = 64;

/// Longest subject in bytes of canonical JSON: a person reads it.
const SUBJECT_BYTES_MAX: usize = 256 << 10;

/// Actions that are settled at a time when their time is over; the rest follow at once.
const EXPIRED_MAX: usize = 64;

/// How long it takes at most until the record is looked at again: the clock may be set meanwhile.
const LOOK_AGAIN: Duration = Duration::from_secs(60);

/// How long an action is left alone whose end could not be recorded.
const SETTLE_RETRY: Duration = Duration::from_secs(1);

/// Characters of an answer in the line for people; the whole stands in the data beside it.
const ANSWER_CHARS: usize = 256;

/// By which rule the node itself ends an action.
const RULE: &str = "action-expiry";

/// What is asked of an agent's actions.
#[derive(Debug)]
pub(crate) enum ActionRequest {
    Open(Box<Caller>, Box<OpenParams>),
    /// The time of the vote is when it is counted.
    Vote(ActionId, Box<Vote>, Box<Teller>),
    /// With a teller if the agent itself does not know of it.
    Cancel(ActionId, SafeLabel, Box<Teller>),
}

/// Who tells the agent what was decided.
#[derive(Debug, Clone)]
pub(crate) struct Teller {
    pub(crate) caller: Caller,
    pub(crate) authority: Authority,
    pub(crate) hops: u32,
    /// The rule by which they may.
    pub(crate) rule: SafeLabel,
}

/// When the time of an action is over next.
#[derive(Debug, Default)]
pub(super) struct Pending {
    due_at: Option<Instant>,
}

impl Pending {
    pub(super) fn timer(&self) -> Option<Instant> {
        self.due_at
    }
}

impl Actor {
    /// Does what is asked and gives the action as it is afterwards.
    pub(super) async fn action(&mut self, request: ActionRequest) -> Result<ActionRow, RpcError> {
        match request {
            ActionRequest::Open(caller, params) => self.open_action(&caller, *params).await,
            ActionRequest::Vote(id, vote, teller) => self.vote(id, *vote, *teller).await,
            ActionRequest::Cancel(id, by, teller) => self.cancel_action(id, by, *teller).await,
        }
    }

    pub(super) async fn open_action(
        &mut self,
        caller: &Caller,
        params: OpenParams,
    ) -> Result<ActionRow, RpcError> {
        let mut draft = Draft::default();
        let request = self.asked(caller, params, &mut draft)?;
        let (id, key) = (self.identity.id, request.idempotency_key.clone());
        let action =
            action::open(request, self.shared.record.now()).map_err(|error| invalid(&chained(&error)))?;
        if let Some(key) = key
            && let Some(known) = self.shared.record.look_up(|reader| reader.action_by_key(&id, &key))?
        {
            return same_action(known, &action);
        }
        self.check_pending_room()?;
        let action_id = action.id;
        let fact = Fact::ActionOpened { action: Box::new(action) };
        self.shared.record.add(&mut draft, self.stream(), &Origin::actor(caller.actor()), fact);
        self.shared.record.commit(draft).await.map_err(|error| refused(&error))?;
        self.arm_actions();
        self.action_row(action_id)
    }

    /// What is asked, with the digest of exactly that; the subject goes into the draft.
    fn asked(&self, caller: &Caller, params: OpenParams, draft: &mut Draft) -> Result<Request, RpcError> {
        let subject = params.subject.as_ref().map(subject_bytes).transpose()?;
        let subject_digest = subject.as_deref().map(edgeplane_proof::digest);
        let digest = action_digest(&params.prompt, &params.choices, params.schema.as_ref(), subject_digest)
            .map_err(|error| invalid(&format!("the schema cannot be kept: {error}")))?;
        let causation = self.cause_of_action(caller, params.causation)?;
        Ok(Request {
            id: self.shared.record.mint().id(),
            kind: params.kind,
            agent_id: self.identity.id,
            epoch: caller.agent.as_ref().map_or(self.last_epoch, |agent| agent.epoch),
            principal: self.profile.borrow().subject.principal.clone(),
            prompt: params.prompt,
            choices: params.choices,
            schema: params.schema,
            digest: digest.to_string(),
            subject_digest: subject.map(|bytes| draft.body(bytes).0),
            roles: params.roles,
            quorum: params.quorum,
            lasts_ms: params.expires_in_ms,
            causation,
            idempotency_key: params.idempotency_key,
        })
    }

    /// The message that led to it: the one that is named, if it came to this agent, else what leads its words.
    fn cause_of_action(
        &self,
        caller: &Caller,
        named: Option<MessageId>,
    ) -> Result<Option<MessageId>, RpcError> {
        let (id, record) = (self.identity.id, &self.shared.record);
        if let Some(message_id) = named {
            let row = record.look_up(|reader| reader.message(&message_id))?;
            return match row.filter(|row| row.envelope.target == id) {
                Some(_) => Ok(named),
                None => {
                    Err(invalid(&format!("{message_id} is no message of agent `{}`", self.identity.name)))
                }
            };
        }
        let Some(agent) = &caller.agent else { return Ok(None) };
        let saying = Saying::plain(Vec::new(), Ingress::Action);
        Ok(admission::led_by(&self.shared, agent, &saying)?.causation)
    }

    fn check_pending_room(&self) -> Result<(), RpcError> {
        let (id, name) = (self.identity.id, &self.identity.name);
        let (approvals, questions) = self.pending_actions()?;
        let pending = approvals.saturating_add(questions);
        if pending >= PENDING_MAX {
            let what = format!("{pending} actions of agent `{name}` wait already");
            return Err(RpcError::new(ErrorName::Backpressure, what).hint("decide some, or take them back"));
        }
        let waiting = self.shared.record.look_up(|reader| reader.waiting_count(&id))?;
        if waiting >= u64::from(self.manifest.spec.inbox.max) {
            let what = format!("{waiting} messages wait for agent `{name}` already");
            let error = RpcError::new(ErrorName::Backpressure, what);
            return Err(error.hint("what is decided comes as a message: let it read some first"));
        }
        Ok(())
    }

    /// How many approvals and questions wait.
    fn pending_actions(&self) -> Result<(u64, u64), RpcError> {
        let id = self.identity.id;
        let count = |kind| self.shared.record.look_up(|reader| reader.pending_actions(&id, kind));
        Ok((count(ActionKind::Approval)?, count(ActionKind::Question)?))
    }

    /// What the agent is doing: while it asks a person, that is what it waits for.
    pub(super) fn activity_now(&self) -> ActivityReport {
        let state = match self.pending_actions() {
            Ok((1.., _)) => Activity::AwaitingApproval,
            Ok((0, 1..)) => Activity::AwaitingInput,
            Ok((0, 0)) | Err(_) => return self.activity_by_hook().unwrap_or(self.activity),
        };
        ActivityReport { state, evidence: Evidence::Protocol }
    }

    /// Whether it asks a person something that is not decided.
    pub(super) fn awaits_a_person(&self) -> bool {
        self.pending_actions().is_ok_and(|(approvals, questions)| approvals > 0 || questions > 0)
    }

    async fn vote(&mut self, id: ActionId, vote: Vote, teller: Teller) -> Result<ActionRow, RpcError> {
        let row = self.action_row(id)?;
        let state = state_of(&row)?;
        let verdict = match &row.resolution {
            None => self.with_option(row.action.idempotency_key.as_deref(), vote.verdict)?,
            // That it is decided is what there is to say.
            Some(_) => vote.verdict,
        };
        let vote = Vote { now: self.shared.record.now(), verdict, ..vote };
        let step = state.step(&Input::Vote(vote)).map_err(|error| not_counted(&error, id))?;
        let is_counted = step.outputs.iter().any(|output| matches!(output, Output::Voted { .. }));
        match (&step.outputs[..], step.state.resolution()) {
            // It said the same before.
            ([], _) => return Ok(row),
            (_, Some(_)) if !is_counted => {
                self.end_action(&step.outputs, &state, &self.own_teller()).await?;
                let expired = Refused::AlreadyResolved { outcome: ActionOutcome::Expired };
                return Err(not_counted(&expired, id));
            }
            (_, Some(_)) => self.end_action(&step.outputs, &state, &teller).await?,
            (_, None) => self.record_action(&step.outputs, id, &teller.caller).await?,
        }
        self.action_row(id)
    }

    async fn cancel_action(
        &mut self,
        id: ActionId,
        by: SafeLabel,
        teller: Teller,
    ) -> Result<ActionRow, RpcError> {
        let row = self.action_row(id)?;
        if row.resolution.as_ref().is_some_and(|end| end.outcome == ActionOutcome::Cancelled) {
            // Asked again, perhaps because the answer was lost.
            return Ok(row);
        }
        let state = state_of(&row)?;
        let step = state.step(&Input::Cancel { by }).map_err(|error| not_counted(&error, id))?;
        if teller.caller.is_agent(self.identity.id) {
            // It knows: nobody need tell it.
            self.record_action(&step.outputs, id, &teller.caller).await?;
            self.arm_actions();
        } else {
            self.end_action(&step.outputs, &state, &teller).await?;
        }
        self.action_row(id)
    }

    /// Records what a step says, all or nothing.
    async fn record_action(&self, outputs: &[Output], id: ActionId, caller: &Caller) -> Result<(), RpcError> {
        let mut draft = Draft::default();
        let origin = Origin::actor(caller.actor());
        for fact in outputs.iter().filter_map(|output| output.fact(id, None)) {
            self.shared.record.add(&mut draft, self.stream(), &origin, fact);
        }
        self.shared.record.commit(draft).await.map(drop).map_err(|error| refused(&error))
    }

    /// Records how an action ends together with the message that tells the agent.
    async fn end_action(
        &mut self,
        outputs: &[Output],
        state: &State,
        teller: &Teller,
    ) -> Result<(), RpcError> {
        let action = state.action();
        let resolution = outputs.iter().find_map(|output| match output {
            Output::Resolved(resolution) => Some(resolution),
            Output::Voted { .. } | Output::WakeAt(_) => None,
        });
        let Some(resolution) = resolution else { return Ok(()) };
        if asked_by_line(action.idempotency_key.as_deref()).is_some() {
            // The program waits for an answer to its request, not for a message.
            self.record_action(outputs, action.id, &teller.caller).await?;
            self.arm_actions();
            let option = outputs.iter().find_map(|output| match output {
                Output::Voted { verdict, .. } => verdict.option(),
                Output::Resolved(_) | Output::WakeAt(_) => None,
            });
            self.permission_decided(action.idempotency_key.as_deref(), resolution.outcome, option);
            return Ok(());
        }
        let mut admitted = telling(teller, action, resolution)?;
        // It belongs to the conversation in which it was asked.
        admitted.saying.thread = self.thread_of(action.causation);
        let facts = |message_id| {
            outputs.iter().filter_map(|output| output.fact(action.id, Some(message_id))).collect()
        };
        self.accept(admitted, facts).await?;
        self.arm_actions();
        Ok(())
    }

    /// The node itself, which tells what nobody decided.
    fn own_teller(&self) -> Teller {
        let shared = &self.shared;
        Teller {
            caller: Caller::node(
                SafeLabel::sanitized(shared.identity.name.as_str()),
                RULE,
                shared.assurance(),
            ),
            authority: Authority::Trusted,
            hops: 0,
            rule: SafeLabel::sanitized(RULE),
        }
    }

    /// Sets the timer for the pending action whose time is over first.
    pub(super) fn arm_actions(&mut self) {
        let id = self.identity.id;
        let wait = match self.shared.record.look_up(|reader| reader.next_action_expiry(Some(&id))) {
            Ok(None) => return self.pending.due_at = None,
            Ok(Some(at)) => Duration::from_millis(at.millis_since(self.shared.record.now())).min(LOOK_AGAIN),
            Err(_) => SETTLE_RETRY,
        };
        // A millisecond more than the rounded wait, so that the time is over when the timer is.
        self.pending.due_at = Some(Instant::now() + wait + Duration::from_millis(1));
    }

    pub(super) async fn actions_due(&mut self, now: Instant) {
        if self.pending.due_at.is_some_and(|at| at <= now) {
            self.expire_actions().await;
            self.pump().await;
        }
    }

    /// Ends the actions whose time is over, each with the message that says so.
    async fn expire_actions(&mut self) {
        let (id, now) = (self.identity.id, self.shared.record.now());
        let over = |reader: &edgeplane_store::Reader| reader.expired_actions(Some(&id), now, EXPIRED_MAX);
        let mut is_left = false;
        for action_id in self.shared.record.look_up(over).unwrap_or_default() {
            if let Err(error) = self.expire_action(action_id, now).await {
                tracing::warn!(agent = %self.identity.name, %action_id, %error, "an action cannot be ended yet");
                is_left = true;
            }
        }
        self.arm_actions();
        if is_left {
            let retry = Instant::now() + SETTLE_RETRY;
            self.pending.due_at = self.pending.due_at.map(|at| at.max(retry));
        }
    }

    async fn expire_action(&mut self, id: ActionId, now: Timestamp) -> Result<(), RpcError> {
        let state = state_of(&self.action_row(id)?)?;
        let step = state.step(&Input::Tick { now }).map_err(|error| not_counted(&error, id))?;
        self.end_action(&step.outputs, &state, &self.own_teller()).await
    }

    /// Takes back what waits, because the agent is gone: nobody is left to be told.
    pub(super) fn cancel_actions(&self, draft: &mut Draft, origin: &Origin) {
        let id = self.identity.id;
        let by = match &origin.actor {
            FactActor::Operator { name, .. }
            | FactActor::Agent { name, .. }
            | FactActor::Service { name, .. }
            | FactActor::Unproven { name } => name,
            FactActor::Node { rule } => rule,
        };
        let all = |reader: &edgeplane_store::Reader| {
            reader.expired_actions(Some(&id), Timestamp::from_micros(i64::MAX), usize::MAX)
        };
        for action_id in self.shared.record.look_up(all).unwrap_or_default() {
            let fact = Fact::ActionResolved {
                action_id,
                outcome: ActionOutcome::Cancelled,
                answer: None,
                by: vec![by.clone()],
                reason: "the agent was deleted".to_owned(),
                told_by: None,
            };
            self.shared.record.add(draft, self.stream(), origin, fact);
        }
    }

    fn action_row(&self, id: ActionId) -> Result<ActionRow, RpcError> {
        let row = self.shared.record.look_up(|reader| reader.action(&id))?;
        row.filter(|row| row.action.agent_id == self.identity.id)
            .ok_or_else(|| RpcError::new(ErrorName::NotFound, format!("no action {id}")))
    }
}

/// An action as the rules see it, from what the record says.
fn state_of(row: &ActionRow) -> Result<State, RpcError> {
    let action_id = row.action.id;
    let mut facts = vec![Fact::ActionOpened { action: Box::new(row.action.clone()) }];
    facts.extend(row.votes.iter().map(|vote| Fact::ActionVoted {
        action_id,
        principal: vote.principal.clone(),
        // The record takes a vote on nothing else.
        digest: row.action.digest.clone(),
        verdict: vote.verdict.clone(),
    }));
    facts.extend(row.resolution.iter().map(|end| Fact::ActionResolved {
        action_id,
        outcome: end.outcome,
        answer: end.answer.clone(),
        by: end.by.clone(),
        reason: end.reason.clone(),
        told_by: end.told_by,
    }));
    match State::fold(action_id, &facts) {
        Ok(Some(state)) => Ok(state),
        Ok(None) => Err(RpcError::new(ErrorName::NotFound, format!("no action {action_id}"))),
        Err(error) => Err(RpcError::new(ErrorName::RecordDamaged, error.to_string())),
    }
}

/// The message that tells the agent. It repeats nothing of what the agent itself wrote: the prompt may come from
/// anywhere, and must not come back with the weight of the one who decides.
fn telling(teller: &Teller, action: &Action, end: &action::Resolution) -> Result<Admitted, RpcError> {
    let data = json!({
        "action_id": action.id,
        "outcome": end.outcome,
        "answer": end.answer,
        "digest": action.digest,
        "by": end.by,
        "reason": end.reason,
    });
    let parts = vec![Part::Text { text: told(action, end) }, Part::Data { data }];
    let content = serde_json::to_vec(&parts).map_err(|error| {
        RpcError::new(ErrorName::Internal, format!("the decision cannot be told: {error}"))
    })?;
    let saying = Saying { reply_to: action.causation, ..Saying::plain(parts, Ingress::Action) };
    Ok(Admitted {
        actor: teller.caller.actor(),
        caller: teller.caller.clone(),
        content,
        channel: teller.caller.channel(),
        authority: teller.authority,
        hops: teller.hops,
        causation: None,
        on_behalf_of: Vec::new(),
        rule: teller.rule.clone(),
        saying,
    })
}

/// What was decided, in a line for people.
fn told(action: &Action, end: &action::Resolution) -> String {
    let what = match action.kind {
        ActionKind::Approval => "approval",
        ActionKind::Question => "question",
    };
    let by = end.by.iter().map(SafeLabel::as_str).collect::<Vec<_>>().join(", ");
    let how = match end.outcome {
        ActionOutcome::Approved => format!("is approved by {by}"),
        ActionOutcome::Denied => format!("is denied by {by}: {}", end.reason),
        ActionOutcome::Answered => format!("is answered by {by}: {}", excerpt(end.answer.as_ref())),
        ActionOutcome::Expired => format!("has expired, which is a denial: {}", end.reason),
        ActionOutcome::Cancelled => format!("is cancelled by {by}"),
    };
    format!("Your {what} {} {how}", action.id)
}

fn excerpt(answer: Option<&Value>) -> String {
    let text = match answer {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    };
    match text.char_indices().nth(ANSWER_CHARS) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text,
    }
}

fn same_action(known: ActionRow, asked: &Action) -> Result<ActionRow, RpcError> {
    let was = &known.action;
    let is_same = (was.kind, &was.digest, &was.roles, was.quorum)
        == (asked.kind, &asked.digest, &asked.roles, asked.quorum);
    if is_same {
        return Ok(known);
    }
    Err(RpcError::new(ErrorName::IdempotencyMismatch, "the key was used for another action")
        .hint("use a new key for a new action"))
}

fn subject_bytes(subject: &Value) -> Result<Vec<u8>, RpcError> {
    let bytes = canonical::to_vec(subject).map_err(|error| {
        invalid(&format!("the subject cannot be kept: {error}")).hint("write what has a fraction as a text")
    })?;
    if bytes.len() > SUBJECT_BYTES_MAX {
        let what = format!("the subject has {} bytes, more than {SUBJECT_BYTES_MAX}", bytes.len());
        return Err(
            RpcError::new(ErrorName::TooLarge, what).hint("keep it in a file, and ask about its digest")
        );
    }
    Ok(bytes)
}

/// Why a vote or a taking back does not count, as it is answered.
fn not_counted(error: &Refused, id: ActionId) -> RpcError {
    let what = format!("{id}: {}: {}", error.name(), chained(error));
    match error {
        Refused::AlreadyResolved { .. } => RpcError::new(ErrorName::InvalidState, what)
            .hint(format!("`edgeplane action show {id}` tells by whom; to ask again is a new action")),
        Refused::OwnAction { .. } | Refused::AgentVote { .. } | Refused::WrongRole { .. } => {
            RpcError::new(ErrorName::PermissionDenied, what)
        }
        Refused::DigestMismatch { .. } => RpcError::new(ErrorName::Conflict, what)
            .hint(format!("`edgeplane action show {id}` shows what is asked; look at it, then decide")),
        Refused::WrongVerdict { .. } | Refused::Answer(_) | Refused::LongReason { .. } => {
            RpcError::new(ErrorName::InvalidParams, what)
        }
    }
}

fn invalid(what: &str) -> RpcError {
    RpcError::new(ErrorName::InvalidParams, what)
}

fn chained(error: &dyn std::error::Error) -> String {
    crate::record::chain(error)
}

//! A program's questions for leave: durable actions that people decide, answered with the program's own words.
//!
//! The key of such an action names the line that asked, so that its answer can be given by whichever daemon is there when
//! it is decided. What a program is told of it is the answer to its request, and no message.

use edgeplane_driver::acp::{self, Heard, Permission};
use edgeplane_store::{ActionFilter, ActionRow};
use edgeplane_types::{
    Epoch, Fact, MessageId,
    decision::{Action, ActionKind, ActionOutcome, Verdict},
};
use edgeplane_wire::{api::action::OpenParams, rpc::RpcError};
use serde_json::Value;

use super::{Actor, label};
use crate::{
    agent::native::last_line,
    caller::{Caller, CallingAgent, Living as _},
    record::{Draft, Origin},
};

/// What the key of such an action begins with.
const KEY: &str = "acp.";

/// Decided questions of an epoch that are answered once more by a daemon that takes over. Their answers are known to the
/// shim by then, or are those that were lost.
const AGAIN_MAX: usize = 64;

/// The epoch and the line that asked, of an action that a program's question for leave is.
pub(in crate::agent) fn asked_by_line(key: Option<&str>) -> Option<(Epoch, u64)> {
    let (epoch, end) = key?.strip_prefix(KEY)?.split_once('.')?;
    Some((Epoch(epoch.parse().ok()?), end.parse().ok()?))
}

/// Whether an action is a program's question for leave, which has answers of its own.
pub(crate) fn is_asked_by_program(action: &Action) -> bool {
    asked_by_line(action.idempotency_key.as_deref()).is_some()
}

impl Actor {
    /// It asks whether it may do something: a person decides.
    pub(super) async fn acp_permission(&mut self, (epoch, end): (Epoch, u64), permission: Permission) {
        let is_own = self.acp().is_some_and(|acp| acp.session.name() == Some(permission.session.as_str()));
        if !is_own {
            self.acp_send(end, 0, &acp::permission_cancelled(&permission.id));
            return self.acp_offence("a question for leave of another session").await;
        }
        let origin = self.native_origin(epoch, end);
        // Some say nothing else of a use that is refused.
        self.acp_tool(&origin, epoch, permission.tool());
        self.acp_flush().await;
        let turn = self.acp_turn_of_piece();
        match self.open_permission((epoch, end), &permission, turn).await {
            Ok(row) => match row.resolution {
                // It was asked before, and decided: the daemon that did has died since.
                Some(ref end_of_it) => {
                    self.answer_permission(end, &permission, (end_of_it.outcome, chosen(&row)));
                }
                None => {
                    if let Some(acp) = self.acp_mut() {
                        acp.asked.insert(end, permission);
                    }
                }
            },
            Err(error) => {
                tracing::warn!(agent = %self.identity.name, %error, "its question for leave cannot be put to anybody");
                self.answer_permission(end, &permission, (ActionOutcome::Denied, None));
            }
        }
    }

    async fn open_permission(
        &mut self,
        (epoch, end): (Epoch, u64),
        permission: &Permission,
        turn: Option<MessageId>,
    ) -> Result<ActionRow, RpcError> {
        let edgeplane_manifest::Driver::Acp { approval_timeout, .. } = &self.manifest.spec.driver else {
            return Err(RpcError::new(edgeplane_types::ErrorName::Internal, "not its driver"));
        };
        let options: Vec<Value> = permission
            .options
            .iter()
            .map(|option| {
                let kind = option.kind.as_str();
                serde_json::json!({ "option": option.option_id, "name": option.name, "kind": kind })
            })
            .collect();
        let subject = whole_numbers(serde_json::json!({ "request": permission.subject, "offered": options }));
        let params = OpenParams {
            agent: None,
            kind: ActionKind::Approval,
            prompt: permission.title(),
            choices: Vec::new(),
            schema: None,
            subject: Some(subject),
            roles: Vec::new(),
            quorum: 1,
            expires_in_ms: Some(approval_timeout.as_millis()),
            causation: turn,
            idempotency_key: Some(format!("{KEY}{epoch}.{end}")),
        };
        let agent = CallingAgent { id: self.identity.id, name: self.identity.name.clone(), epoch };
        let caller = Caller::driver(agent, self.shared.assurance());
        self.open_action(&caller, params).await
    }

    /// Tells the program what was decided, in its own words.
    fn answer_permission(
        &mut self,
        end: u64,
        permission: &Permission,
        (outcome, option): (ActionOutcome, Option<&str>),
    ) {
        let allows = outcome == ActionOutcome::Approved;
        let named = option.and_then(|option| permission.named(option, allows).ok());
        let chosen = match outcome {
            ActionOutcome::Approved | ActionOutcome::Denied if named.is_some() => named,
            ActionOutcome::Approved | ActionOutcome::Answered => permission.allows(),
            ActionOutcome::Denied | ActionOutcome::Expired => permission.refuses(),
            ActionOutcome::Cancelled => None,
        };
        let line = match chosen {
            Some(option) => acp::permission_selected(&permission.id, &option.option_id),
            None => acp::permission_cancelled(&permission.id),
        };
        self.acp_send(end, 0, &line);
    }

    /// The question for leave of the live epoch that an action is.
    fn permission_of(&self, key: Option<&str>) -> Option<Permission> {
        let (epoch, end) = asked_by_line(key)?;
        let live = self.live.as_ref().filter(|live| live.place.epoch == epoch)?;
        if let Some(permission) = self.acp().and_then(|acp| acp.asked.get(&end)) {
            return Some(permission.clone());
        }
        match acp::hear(&last_line(&live.place.dir, end)?) {
            Heard::Permission(permission) => Some(permission),
            _ => None,
        }
    }

    /// A verdict with the answer that it names by its id, if it names one of those that are offered.
    pub(in crate::agent) fn with_option(
        &self,
        key: Option<&str>,
        verdict: Verdict,
    ) -> Result<Verdict, RpcError> {
        let Some(name) = verdict.option() else { return Ok(verdict) };
        let refused = |why: String| {
            let shown = edgeplane_driver::render::clean(name);
            let error = RpcError::new(edgeplane_types::ErrorName::InvalidParams, format!("`{shown}`: {why}"));
            error.hint("`edgeplane action show` lists what is offered")
        };
        let Some(permission) = self.permission_of(key) else {
            return Err(refused("this action offers no options".to_owned()));
        };
        let allows = matches!(verdict, Verdict::Approve { .. });
        let option =
            permission.named(name, allows).map(|option| Some(option.option_id.clone())).map_err(refused)?;
        Ok(match verdict {
            Verdict::Approve { .. } => Verdict::Approve { option },
            Verdict::Deny { reason, .. } => Verdict::Deny { reason, option },
            answer @ Verdict::Answer { .. } => answer,
        })
    }

    /// Answers the question for leave that an action is, whoever was there when it was asked.
    pub(in crate::agent) fn permission_decided(
        &mut self,
        key: Option<&str>,
        outcome: ActionOutcome,
        option: Option<&str>,
    ) {
        let Some((_, end)) = asked_by_line(key) else { return };
        let permission = self.permission_of(key);
        if let Some(acp) = self.acp_mut() {
            acp.asked.remove(&end);
        }
        match permission {
            Some(permission) => self.answer_permission(end, &permission, (outcome, option)),
            None => {
                tracing::warn!(agent = %self.identity.name, "the question that was decided is not to be found")
            }
        }
    }

    /// Gives the answers of an epoch once more that its program may not have got.
    pub(super) fn answer_permissions_again(&mut self, epoch: Epoch) {
        for row in self.permissions(ActionFilter::All, AGAIN_MAX) {
            let key = row.action.idempotency_key.as_deref();
            if let (Some((of, _)), Some(end)) = (asked_by_line(key), &row.resolution)
                && of == epoch
            {
                self.permission_decided(key, end.outcome, chosen(&row));
            }
        }
    }

    /// Takes back what the program asks people for in an epoch: its turn is over, or it is.
    pub(in crate::agent) async fn cancel_permissions(&mut self, epoch: Epoch) {
        let pending = self.permissions(ActionFilter::Pending, usize::MAX);
        let of_epoch = |row: &ActionRow| {
            asked_by_line(row.action.idempotency_key.as_deref()).is_some_and(|(of, _)| of == epoch)
        };
        let open: Vec<ActionRow> = pending.into_iter().filter(of_epoch).collect();
        if open.is_empty() {
            return;
        }
        let mut draft = Draft::default();
        for row in &open {
            let fact = Fact::ActionResolved {
                action_id: row.action.id,
                outcome: ActionOutcome::Cancelled,
                answer: None,
                by: vec![label("session")],
                reason: "the turn that asked is over".to_owned(),
                told_by: None,
            };
            self.shared.record.add(&mut draft, self.stream(), &Origin::node("session"), fact);
        }
        self.pending(draft.critical()).await;
        self.arm_actions();
        for row in &open {
            self.permission_decided(row.action.idempotency_key.as_deref(), ActionOutcome::Cancelled, None);
        }
    }

    fn permissions(&self, filter: ActionFilter, rows: usize) -> Vec<ActionRow> {
        let id = self.identity.id;
        self.shared.record.look_up(|reader| reader.actions(filter, Some(&id), rows)).unwrap_or_default()
    }
}

/// The answer that was chosen by who decided.
fn chosen(row: &ActionRow) -> Option<&str> {
    row.votes.last().and_then(|vote| vote.verdict.option())
}

/// The value with each number that has a fraction as a text: what is approved has one spelling.
fn whole_numbers(value: Value) -> Value {
    match value {
        Value::Number(number) if !(number.is_i64() || number.is_u64()) => Value::String(number.to_string()),
        Value::Array(items) => Value::Array(items.into_iter().map(whole_numbers).collect()),
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(key, value)| (key, whole_numbers(value))).collect())
        }
        other => other,
    }
}

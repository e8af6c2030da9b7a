//! What a server says while it works on a call: how far it is, and what it asks people.
//!
//! Progress goes into the record, at most once a second of each call, so that whoever follows the call hears it from there
//! like everything else. A question opens an action of the agent that calls; what a person answers goes back to the server
//! and nowhere else. A call that ends takes its questions back.

use std::{future::Future, sync::Arc, time::Duration};

use edgeplane_connector::{Answer, Asking, Listening, Progress, QUESTIONS_MAX, Question, Wanted};
use edgeplane_lifecycle::action::Schema;
use edgeplane_manifest::{ConnectorElicitation, is_secret_key, looks_secret};
use edgeplane_store::Resolution;
use edgeplane_types::{
    ActionId, Fact, InvocationId, SafeLabel,
    decision::{ActionKind, ActionOutcome},
    fact::{InvocationAsked, InvocationProgressed, InvocationRequested},
};
use edgeplane_wire::{api::action::OpenParams, rpc::RpcError};
use serde_json::{Map, Value, json};
use tokio::{
    sync::{broadcast::error::RecvError, mpsc, watch},
    task::JoinSet,
    time::{Instant, sleep_until},
};

use super::{ending::RULE, hooks::Place};
use crate::{
    agent::{ActionRequest, AgentHandle, Command, Teller},
    caller::{Caller, CallingAgent, Living as _},
    record::{Draft, chain},
    shared::Shared,
};

/// What the key of an action that is a server's question begins with.
const QUESTION: &str = "question:";

/// Questions of one call that are put to people; what is asked beyond them is declined.
const ASKED_MAX: u32 = 16;

/// How long a person has, in milliseconds.
const ANSWER_MS_MAX: u64 = 10 * 60 * 1_000;

/// How often progress of one call is recorded, at most.
const PROGRESS_PAUSE: Duration = Duration::from_secs(1);

/// How often it is recorded at all; the call goes on without.
const PROGRESS_MAX: u32 = 1_000;

/// Longest words of a question that a person is shown, in characters.
const SHOWN_CHARS_MAX: usize = 1_500;

/// What comes of a call before it is over.
#[derive(Debug)]
pub(super) struct Heard {
    progress: watch::Receiver<Option<Progress>>,
    questions: mpsc::Receiver<Question>,
}

/// What is handed to a connector, and what comes back of it.
pub(super) fn listening() -> (Listening, Heard) {
    let (progress, heard_progress) = watch::channel(None);
    let (questions, heard_questions) = mpsc::channel(QUESTIONS_MAX);
    let listening = Listening { progress: Some(progress), questions: Some(questions) };
    (listening, Heard { progress: heard_progress, questions: heard_questions })
}

/// Whether a connector may ask people.
pub(super) fn asking(elicitation: ConnectorElicitation) -> Asking {
    match elicitation {
        ConnectorElicitation::Off => Asking::Declined,
        ConnectorElicitation::Form => Asking::Form,
    }
}

/// Heeds what comes of a call until it is over.
pub(super) async fn during<T>(
    place: Place<'_>,
    asked: &InvocationRequested,
    mut heard: Heard,
    call: impl Future<Output = T>,
) -> T {
    tokio::pin!(call);
    let mut asking = JoinSet::new();
    let mut number = 0;
    let mut told = Told { newest: None, last: None, next: Instant::now(), count: 0 };
    let result = loop {
        let at = told.next;
        // Cancel-safe: a call that is polled again goes on, and a channel loses nothing.
        tokio::select! {
            biased;
            result = &mut call => break result,
            Some(question) = heard.questions.recv() => {
                number += 1;
                let (shared, stream) = (Arc::clone(place.shared), place.stream);
                asking.spawn(ask(shared, (stream, place.origin.clone()), asked.clone(), number, question));
            }
            Ok(()) = heard.progress.changed() => told.newest = heard.progress.borrow_and_update().clone(),
            // What was asked is answered; whatever came of it, the server knows.
            Some(_over) = asking.join_next() => {}
            () = sleep_until(at), if told.newest.is_some() => told.tell(place, asked).await,
        }
    };
    // What it said last may have come together with its answer.
    let last = heard.progress.borrow().clone();
    if last.is_some() && last != told.last {
        told.newest = last;
    }
    told.tell(place, asked).await;
    asking.shutdown().await;
    take_back(place.shared, asked.invocation_id, place.agent(), number).await;
    result
}

/// How far a call is, as far as the record knows.
struct Told {
    newest: Option<Progress>,
    /// What it was told last.
    last: Option<Progress>,
    next: Instant,
    count: u32,
}

impl Told {
    async fn tell(&mut self, place: Place<'_>, asked: &InvocationRequested) {
        let Some(step) = self.newest.take().filter(|_| self.count < PROGRESS_MAX) else { return };
        (self.next, self.count) = (Instant::now() + PROGRESS_PAUSE, self.count.saturating_add(1));
        self.last = Some(step.clone());
        let progressed = InvocationProgressed {
            invocation_id: asked.invocation_id,
            done: number(step.progress),
            total: step.total.map(number),
            message: step.message,
        };
        if note(place, Fact::InvocationProgressed(progressed.clone())).await
            && let Some(making) = place.shared.capabilities.making(place.id)
        {
            making.progressed(progressed);
        }
    }
}

/// A number as the record has it: without fractions in JSON.
fn number(value: f64) -> String {
    let text = format!("{value:.3}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// Tells the record what a server said; says whether it is in it.
async fn note(place: Place<'_>, fact: Fact) -> bool {
    let mut draft = Draft::default();
    place.shared.record.add(&mut draft, place.stream, place.origin, fact);
    let noted = place.shared.record.commit(draft).await;
    if let Err(error) = &noted {
        tracing::debug!(invocation = %place.id, error = chain(error), "what a server said is not in the record");
    }
    noted.is_ok()
}

fn key_of(id: InvocationId, number: u32) -> String {
    format!("{QUESTION}{id}:{number}")
}

/// Puts a question of a server to people, and tells the server what they say.
async fn ask(
    shared: Arc<Shared>,
    (stream, origin): (edgeplane_types::StreamName, crate::record::Origin),
    asked: InvocationRequested,
    number: u32,
    question: Question,
) {
    let (id, causation) = (asked.invocation_id, asked.causation);
    let place = Place { shared: &shared, id, stream, origin: &origin, causation };
    let agent = place.agent().and_then(|agent| shared.agent_by_id(agent));
    let form = form_of(&question, number, agent.is_some());
    let rule = form.as_ref().err().map(|rule| SafeLabel::sanitized(rule));
    note(place, Fact::InvocationAsked(InvocationAsked { invocation_id: id, number, declined_by: rule }))
        .await;
    let (Ok(schema), Some(agent)) = (form, agent) else { return question.answer(Answer::Declined) };
    match open(&shared, &agent, (&asked, number), (&question.message, schema)).await {
        Ok(action) => {
            let answer = decided(&shared, action).await;
            question.answer(answer);
        }
        Err(error) => {
            tracing::warn!(invocation = %id, %error, "a question of a server cannot be put to anybody");
            question.answer(Answer::Declined);
        }
    }
}

/// The schema by which an answer is checked, or the rule by which the question is declined.
fn form_of(question: &Question, number: u32, has_agent: bool) -> Result<Value, &'static str> {
    if number > ASKED_MAX {
        return Err("questions-of-a-call");
    }
    if !has_agent {
        return Err("nobody-to-ask");
    }
    let Wanted::Form(asked) = &question.wanted else { return Err("elicitation-by-address") };
    if asks_for_secret(&question.message, asked) {
        return Err("elicitation-of-a-secret");
    }
    let schema = understood(asked);
    match Schema::parse(&schema) {
        Ok(_) => Ok(schema),
        Err(_) => Err("elicitation-not-understood"),
    }
}

/// Words by which a secret is asked for. What is answered stands in the record, where no secret may be.
const SECRET_WORDS: [&str; 9] = [
    "password",
    "passphrase",
    "passcode",
    "secret",
    "token",
    "api key",
    "apikey",
    "credential",
    "private key",
];

fn asks_for_secret(message: &str, schema: &Value) -> bool {
    let is_asked = |text: &str| {
        let text = text.to_lowercase();
        SECRET_WORDS.iter().any(|word| text.contains(word)) || looks_secret(&text)
    };
    let fields = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let mut words = fields.flat_map(|(name, field)| {
        let texts = ["title", "description"].iter().filter_map(|key| field.get(*key)?.as_str());
        let is_password = field.get("format").and_then(Value::as_str) == Some("password");
        texts.map(is_asked).chain([is_secret_key(name) || is_asked(name), is_password])
    });
    is_asked(message) || words.any(|is_secret| is_secret)
}

/// The part of a form's schema that is checked here. What is left out of it, the server checks, which asked for it.
fn understood(schema: &Value) -> Value {
    let fields = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let fields: Map<String, Value> =
        fields.map(|(name, field)| (name.clone(), understood_field(field))).collect();
    // What has a value of its own may be left out.
    let has_own =
        |name: &str| schema.get("properties").and_then(|fields| fields.get(name)?.get("default")).is_some();
    let needed = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let needed: Vec<&str> = needed.filter_map(Value::as_str).filter(|name| !has_own(name)).collect();
    json!({ "type": "object", "properties": fields, "required": needed, "additionalProperties": false })
}

fn understood_field(field: &Value) -> Value {
    let mut made = Map::new();
    for key in ["title", "description", "minLength", "maxLength", "minItems", "maxItems"] {
        if let Some(value) = field.get(key) {
            made.insert(key.to_owned(), value.clone());
        }
    }
    let kind = field.get("type").and_then(Value::as_str).unwrap_or("string");
    // The record holds whole numbers, and a whole one is a number.
    made.insert("type".to_owned(), json!(if kind == "number" { "integer" } else { kind }));
    for key in ["minimum", "maximum"] {
        if let Some(value) = field.get(key).and_then(Value::as_i64) {
            made.insert(key.to_owned(), json!(value));
        }
    }
    if let Some(words) = words_of(field) {
        made.insert("enum".to_owned(), words);
    }
    if let Some(words) = field.get("items").and_then(words_of) {
        made.insert("items".to_owned(), json!({ "type": "string", "enum": words }));
    }
    Value::Object(made)
}

/// The words that may be chosen: named as such, or each with a title.
fn words_of(field: &Value) -> Option<Value> {
    let titled = field.get("oneOf").or_else(|| field.get("anyOf")).and_then(Value::as_array);
    let titled = titled.map(|all| all.iter().filter_map(|one| one.get("const").cloned()).collect());
    field.get("enum").cloned().or_else(|| titled.map(Value::Array))
}

/// The words of a server as a person reads them: each line marked, nothing that acts on a terminal.
fn quoted(message: &str) -> String {
    let clean = edgeplane_driver::render::clean(message);
    let cut: String = clean.chars().take(SHOWN_CHARS_MAX).collect();
    cut.lines().map(|line| format!("| {line}")).collect::<Vec<_>>().join("\n")
}

async fn open(
    shared: &Arc<Shared>,
    agent: &AgentHandle,
    (asked, number): (&InvocationRequested, u32),
    (message, schema): (&str, Value),
) -> Result<ActionId, RpcError> {
    let name = asked.name();
    let prompt = format!(
        "While agent `{}` calls `{name}`, its server asks. These are the server's words, not to be believed:\n{}",
        agent.name,
        quoted(message)
    );
    let id = asked.invocation_id;
    let params = OpenParams {
        agent: None,
        kind: ActionKind::Question,
        prompt,
        choices: Vec::new(),
        schema: Some(schema),
        subject: Some(json!({ "invocation_id": id, "capability": name, "number": number })),
        roles: Vec::new(),
        quorum: 1,
        expires_in_ms: Some(ANSWER_MS_MAX),
        causation: asked.causation,
        idempotency_key: Some(key_of(id, number)),
    };
    let epoch = asked.epoch.unwrap_or(agent.summary.borrow().epoch);
    let calling = CallingAgent { id: agent.id, name: agent.name.clone(), epoch };
    let caller = Caller::driver(calling, shared.assurance());
    let request = ActionRequest::Open(Box::new(caller), Box::new(params));
    agent.ask(|reply| Command::Action(request, reply)).await??;
    let key = key_of(id, number);
    let row = shared.record.look_up(|reader| reader.action_by_key(&agent.id, &key))?;
    let gone = || RpcError::new(edgeplane_types::ErrorName::Internal, "the action is not in the record");
    Ok(row.ok_or_else(gone)?.action.id)
}

/// Waits until a question is decided.
async fn decided(shared: &Arc<Shared>, id: ActionId) -> Answer {
    // Followed from before the first look, so that no decision is missed.
    let mut following = shared.record.follow();
    loop {
        let row = shared.record.look_up(|reader| reader.action(&id));
        if let Ok(Some(resolution)) = row.map(|row| row.and_then(|row| row.resolution)) {
            return answer_of(resolution);
        }
        loop {
            match following.recv().await {
                Ok(event) => match &event.event.fact {
                    Fact::ActionResolved { action_id, .. } if *action_id == id => break,
                    _ => {}
                },
                Err(RecvError::Lagged(_)) => break,
                Err(RecvError::Closed) => return Answer::Cancelled,
            }
        }
    }
}

fn answer_of(resolution: Resolution) -> Answer {
    match (resolution.outcome, resolution.answer) {
        (ActionOutcome::Answered | ActionOutcome::Approved, Some(Value::Object(values))) => {
            Answer::Accepted(values)
        }
        (ActionOutcome::Expired | ActionOutcome::Cancelled, _) => Answer::Cancelled,
        (ActionOutcome::Denied | ActionOutcome::Answered | ActionOutcome::Approved, _) => Answer::Declined,
    }
}

/// Takes back whatever of a call's questions nobody has answered. Those of a former daemon are found by their keys.
pub(super) async fn take_back(
    shared: &Arc<Shared>,
    id: InvocationId,
    agent: Option<edgeplane_types::AgentId>,
    numbers: u32,
) {
    let Some(agent) = agent.and_then(|agent| shared.agent_by_id(agent)) else { return };
    for number in 1..=numbers.min(ASKED_MAX) {
        let key = key_of(id, number);
        let found = shared.record.look_up(|reader| reader.action_by_key(&agent.id, &key));
        let Ok(Some(action)) = found else { continue };
        if action.resolution.is_some() {
            continue;
        }
        let principal = SafeLabel::sanitized(RULE);
        let caller = Caller::node(principal.clone(), RULE, shared.assurance());
        let teller = Teller { authority: caller.authority(), hops: 0, rule: principal.clone(), caller };
        let request = ActionRequest::Cancel(action.action.id, principal, Box::new(teller));
        if let Ok(Err(error)) | Err(error) = agent.ask(|reply| Command::Action(request, reply)).await {
            tracing::warn!(invocation = %id, %error, "a question cannot be taken back");
        }
    }
}

/// The same for a call that a former daemon left.
pub(super) async fn take_back_left(
    shared: &Arc<Shared>,
    id: InvocationId,
    agent: Option<edgeplane_types::AgentId>,
) {
    take_back(shared, id, agent, ASKED_MAX).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves CAP-041.
    #[test]
    fn what_asks_for_a_secret_is_known_by_its_words() {
        let form = |name: &str, field: Value| json!({ "type": "object", "properties": { name: field } });
        let plain = form("city", json!({ "type": "string", "title": "Your city" }));
        assert!(!asks_for_secret("Where are you?", &plain));
        assert!(asks_for_secret("What is your Password?", &plain));
        for asked in [
            form("password", json!({ "type": "string" })),
            form("apiKey", json!({ "type": "string" })),
            form("x", json!({ "type": "string", "title": "API key" })),
            form("x", json!({ "type": "string", "description": "the access token" })),
            form("x", json!({ "type": "string", "format": "password" })),
        ] {
            assert!(asks_for_secret("Hello", &asked), "{asked}");
        }
    }

    /// Proves CAP-040.
    #[test]
    fn a_form_becomes_a_schema_that_answers_are_checked_by() {
        let asked = json!({
            "type": "object",
            "properties": {
                "city": { "type": "string", "format": "email", "minLength": 2, "default": "Bonn" },
                "size": { "type": "number", "minimum": 0.5, "maximum": 9 },
                "tone": { "type": "string", "oneOf": [{ "const": "a", "title": "A" }, { "const": "b", "title": "B" }] },
                "many": { "type": "array", "items": { "anyOf": [{ "const": "x", "title": "X" }] } },
            },
            "required": ["city", "size"],
        });
        let schema = understood(&asked);
        assert!(Schema::parse(&schema).is_ok(), "{schema}");
        assert_eq!(schema["required"], json!(["size"]));
        assert_eq!(schema["properties"]["size"], json!({ "type": "integer", "maximum": 9 }));
        assert_eq!(schema["properties"]["tone"]["enum"], json!(["a", "b"]));
        assert_eq!(schema["properties"]["many"]["items"]["enum"], json!(["x"]));
        assert_eq!(schema["additionalProperties"], false);
    }

    #[test]
    fn numbers_are_kept_without_fractions_in_json() {
        for (value, text) in [(1.0, "1"), (0.5, "0.5"), (100.0, "100"), (2.25, "2.25"), (1_000.0, "1000")] {
            assert_eq!(number(value), text);
        }
    }
}

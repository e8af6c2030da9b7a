//! What a server asks a person while it works on a call, and which call that is.
//!
//! In the newer form a question is the answer to a request, and the request is made again with what was said. In the older
//! one it is a request of the server, which does not say during which call it asks: it is put to whoever called if there is
//! one call only, and declined otherwise.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};
use serde_json::{Map, Value};
use tokio::sync::{Notify, mpsc, oneshot, watch};

use crate::{Progress, limits::QUESTION_CHARS_MAX};

/// Whether a server may ask people.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Asking {
    /// It is not offered that, and what it asks nevertheless is declined.
    #[default]
    Declined,
    /// It may ask for values of a form.
    Form,
}

/// What whoever calls wants to hear before the call is over.
#[derive(Debug, Clone, Default)]
pub struct Listening {
    /// How far it is: what its server said last.
    pub progress: Option<watch::Sender<Option<Progress>>>,
    /// What its server asks.
    pub questions: Option<mpsc::Sender<Question>>,
}

/// What a server wants.
#[derive(Debug, Clone, PartialEq)]
pub enum Wanted {
    /// Values of a form, by its JSON Schema.
    Form(Value),
    /// That a person opens an address.
    Address(String),
}

/// A question of a server. One that is dropped is taken back.
#[derive(Debug)]
pub struct Question {
    /// What the server says, cut: words of somebody who is not to be believed.
    pub message: String,
    /// What it wants.
    pub wanted: Wanted,
    answer: oneshot::Sender<Answer>,
}

/// What is answered.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// These values; what is left out gets the value that the server says is meant then.
    Accepted(Map<String, Value>),
    /// Somebody says no.
    Declined,
    /// Nobody answers.
    Cancelled,
}

impl Question {
    /// Answers it. Whoever asked may be gone.
    pub fn answer(self, answer: Answer) {
        drop(self.answer.send(answer));
    }
}

/// A call that is under way, as far as questions go.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    open: AtomicUsize,
    /// Told when a question is answered: the server has its time anew.
    pub(crate) answered: Notify,
}

impl Asked {
    /// Whether a person is waited for.
    pub(crate) fn is_open(&self) -> bool {
        self.open.load(Ordering::SeqCst) > 0
    }
}

/// Who is asked during a call.
type Entry = (Arc<Asked>, Option<mpsc::Sender<Question>>);

/// The calls under way.
#[derive(Debug, Clone, Default)]
pub(crate) struct Askers(Arc<Mutex<BTreeMap<u64, Entry>>>);

/// A call that is under way for as long as this is there.
#[derive(Debug)]
pub(crate) struct Entered {
    askers: Askers,
    number: u64,
    pub(crate) asked: Arc<Asked>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.askers.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.number);
    }
}

impl Askers {
    pub(crate) fn enter(&self, questions: Option<mpsc::Sender<Question>>) -> Entered {
        let mut calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let number = calls.last_key_value().map_or(0, |(last, _)| last.wrapping_add(1));
        let asked = Arc::<Asked>::default();
        calls.insert(number, (Arc::clone(&asked), questions));
        Entered { askers: self.clone(), number, asked }
    }

    /// The only call, if whoever makes it hears questions.
    fn only(&self) -> Option<(Arc<Asked>, mpsc::Sender<Question>)> {
        let calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut calls = calls.values();
        match (calls.next(), calls.next()) {
            (Some((asked, Some(questions))), None) => Some((Arc::clone(asked), questions.clone())),
            _ => None,
        }
    }

    /// Puts what a server asks to whoever makes the only call.
    pub(crate) async fn ask(&self, params: ElicitRequestParams) -> ElicitResult {
        match self.only() {
            Some((asked, questions)) => put(&asked, &questions, params).await,
            None => ElicitResult::new(ElicitationAction::Decline),
        }
    }
}

/// Puts a question, and waits for its answer.
pub(crate) async fn put(
    asked: &Asked,
    questions: &mpsc::Sender<Question>,
    params: ElicitRequestParams,
) -> ElicitResult {
    let (message, wanted) = match params {
        ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => {
            (message, Wanted::Form(serde_json::to_value(&requested_schema).unwrap_or_default()))
        }
        ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
            (message, Wanted::Address(cut(&url)))
        }
        _ => return ElicitResult::new(ElicitationAction::Decline),
    };
    let defaults = match &wanted {
        Wanted::Form(schema) => defaults(schema),
        Wanted::Address(_) => Map::new(),
    };
    let (answer, answered) = oneshot::channel();
    asked.open.fetch_add(1, Ordering::SeqCst);
    let question = Question { message: cut(&message), wanted, answer };
    let heard = match questions.try_send(question) {
        Ok(()) => answered.await.unwrap_or(Answer::Cancelled),
        // More at a time than anybody could answer.
        Err(_full) => Answer::Declined,
    };
    asked.open.fetch_sub(1, Ordering::SeqCst);
    asked.answered.notify_one();
    match heard {
        Answer::Accepted(values) => {
            let mut content = defaults;
            content.extend(values);
            ElicitResult::new(ElicitationAction::Accept).with_content(Value::Object(content))
        }
        Answer::Declined => ElicitResult::new(ElicitationAction::Decline),
        Answer::Cancelled => ElicitResult::new(ElicitationAction::Cancel),
    }
}

/// The values that a form says are meant where nothing is given.
fn defaults(schema: &Value) -> Map<String, Value> {
    let fields = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    fields.filter_map(|(name, field)| Some((name.clone(), field.get("default")?.clone()))).collect()
}

fn cut(text: &str) -> String {
    text.chars().take(QUESTION_CHARS_MAX).collect()
}

//! `thread.transcript`: what was said and done in a thread, in its order.

use edgeplane_types::ThreadId;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    entry::Ids,
    fold::{Fold, Step},
    recent::Recent,
    subject::Subject,
    telling::{Reader, Teller},
};

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Transcript {
    thread: OfThread,
    teller: Teller,
    turns_completed: u64,
    /// What the last turn gave: a transcript is never without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_output: Option<Value>,
    recent: Recent,
}

/// Wants what is in one thread; none: in all of them.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct OfThread {
    thread: Option<ThreadId>,
}

impl OfThread {
    pub(crate) fn new(subject: &Subject) -> Self {
        Self { thread: subject.thread }
    }

    pub(crate) fn id(&self, main: Option<ThreadId>) -> Option<ThreadId> {
        self.thread.or(main)
    }

    pub(crate) fn is(&self, thread: Option<ThreadId>) -> bool {
        self.thread.is_none() || thread == self.thread
    }
}

impl Reader for OfThread {
    fn wants(&self, ids: &Ids, of_session: bool) -> bool {
        of_session || self.is(ids.thread_id)
    }
}

impl Fold for Transcript {
    fn new(subject: &Subject) -> Self {
        Self {
            thread: OfThread::new(subject),
            teller: Teller::new(subject),
            turns_completed: 0,
            last_output: None,
            recent: Recent::default(),
        }
    }

    fn fold(&mut self, step: &mut Step<'_>) {
        self.teller.tell(step, &self.thread);
        for numbered in &step.said {
            if numbered.entry.kind == "turn.completed" {
                self.turns_completed += 1;
                self.last_output = numbered.entry.refs.first().map(|output| {
                    json!({ "turn_id": numbered.entry.ids.turn_id, "digest": output.digest, "bytes": output.bytes })
                });
            }
        }
        self.recent.take(&step.said);
    }

    fn state(&self) -> Value {
        json!({
            "thread_id": self.thread.id(self.teller.turns.main()),
            "turns_completed": self.turns_completed,
            "last_output": self.last_output,
            "transcript": self.recent.state(),
        })
    }
}

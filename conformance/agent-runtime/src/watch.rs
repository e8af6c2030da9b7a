//! Everything that was heard of the sessions that take part, held to the schemas and the rules.

use std::{
    sync::mpsc::{Receiver, SyncSender},
    time::Duration,
};

use serde_json::Value;

use crate::{
    clock::Deadline,
    http::Client,
    mapping::Mapping,
    rules::{Deeds, Ledger, kind, sequence},
    schemas::{Form, Schemas},
    stream::{Follower, Heard, channel},
    template,
};

/// Problems of one scenario that are told.
const TOLD_MAX: usize = 20;

/// One session in one form.
#[derive(Debug)]
struct Followed {
    form: Form,
    session: usize,
    events: Vec<Value>,
    checked: usize,
    ledger: Ledger,
    _follower: Follower,
}

/// All of them.
#[derive(Debug)]
pub struct Watch {
    schemas: Schemas,
    to: SyncSender<Heard>,
    from: Receiver<Heard>,
    streams: Vec<Followed>,
    sessions: usize,
    /// What the runner did.
    pub deeds: Deeds,
}

impl Watch {
    /// Of nothing yet.
    #[must_use]
    pub fn new(schemas: Schemas) -> Self {
        let (to, from) = channel();
        Self { schemas, to, from, streams: Vec::new(), sessions: 0, deeds: Deeds::default() }
    }

    /// Follows a session in both forms, and gives its number here.
    pub fn follow(&mut self, client: &Client, mapping: &Mapping, session: &str) -> usize {
        let number = self.sessions;
        self.sessions += 1;
        for (form, projection) in
            [(Form::Public, &mapping.stream.public), (Form::Strict, &mapping.stream.strict)]
        {
            let path = path_of(mapping, session, projection);
            let told = (self.streams.len(), self.to.clone());
            let follower = Follower::begin(client, &path, &mapping.stream, told);
            let ledger = Ledger::default();
            let followed = Followed {
                form,
                session: number,
                events: Vec::new(),
                checked: 0,
                ledger,
                _follower: follower,
            };
            self.streams.push(followed);
        }
        number
    }

    /// Takes in what was heard; waits a moment if there is nothing.
    pub fn hear(&mut self, moment: Duration) {
        let first = self.from.recv_timeout(moment);
        let rest: Vec<Heard> = self.from.try_iter().collect();
        for heard in first.into_iter().chain(rest) {
            if let Some(stream) = self.streams.get_mut(heard.stream) {
                stream.events.push(heard.event);
            }
        }
    }

    /// The events of a session in the public form.
    #[must_use]
    pub fn events(&self, session: usize) -> &[Value] {
        self.of(session, Form::Public)
    }

    /// The events of a session in the strict form.
    #[must_use]
    pub fn strict(&self, session: usize) -> &[Value] {
        self.of(session, Form::Strict)
    }

    fn of(&self, session: usize, form: Form) -> &[Value] {
        let found = self.streams.iter().find(|stream| stream.session == session && stream.form == form);
        found.map_or(&[], |stream| stream.events.as_slice())
    }

    /// What is wrong with an event of this form.
    #[must_use]
    pub fn problems(&self, form: Form, event: &Value) -> Vec<String> {
        self.schemas.event(form, event)
    }

    /// What is wrong with a snapshot of this form.
    #[must_use]
    pub fn problems_of_snapshot(&self, form: Form, snapshot: &Value) -> Vec<String> {
        self.schemas.snapshot(form, snapshot)
    }

    /// Waits until both forms of a session have been heard as far as a snapshot goes.
    pub fn catch_up(&mut self, session: usize, (form, through): (Form, u64), deadline: Deadline) -> bool {
        loop {
            let behind = self.of(session, form).last().map_or(0, sequence) < through;
            if !behind {
                return true;
            }
            if deadline.left().is_none() {
                return false;
            }
            self.hear(Duration::from_millis(20));
        }
    }

    /// Checks what was heard and not checked yet, as far as `through`, and the snapshot that stands for it.
    pub fn settle(
        &mut self,
        session: usize,
        (form, snapshot, through): (Form, &Value, u64),
        event_bytes_max: usize,
    ) -> Vec<String> {
        let mut wrong = Vec::new();
        let Some(stream) = self.streams.iter_mut().find(|one| one.session == session && one.form == form)
        else {
            return wrong;
        };
        for event in stream.events.iter().skip(stream.checked) {
            if sequence(event) > through && sequence(event) == stream.ledger.last() + 1 {
                break;
            }
            stream.checked += 1;
            let said = |why: String| format!("event {} `{}`: {why}", sequence(event), kind(event));
            wrong.extend(stream.ledger.take(event, &self.deeds).into_iter().map(said));
            wrong.extend(self.schemas.event(form, event).into_iter().map(said));
            let bytes = event.to_string().len();
            if bytes > event_bytes_max {
                wrong.push(said(format!("it has {bytes} bytes, more than the published {event_bytes_max}")));
            }
        }
        let said = |why: String| format!("{form:?} snapshot: {why}");
        wrong.extend(self.schemas.snapshot(form, snapshot).into_iter().map(said));
        wrong.extend(stream.ledger.vanished(snapshot).into_iter().map(said));
        wrong.truncate(TOLD_MAX);
        wrong
    }
}

/// The path of a session's events, without where they begin.
#[must_use]
pub fn path_of(mapping: &Mapping, session: &str, projection: &str) -> String {
    let given = serde_json::json!({ "sessionId": session, "projection": projection });
    let given = given.as_object().cloned().unwrap_or_default();
    template::words(&mapping.stream.path, &given).unwrap_or_else(|| mapping.stream.path.clone())
}

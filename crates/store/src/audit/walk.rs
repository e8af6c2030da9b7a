//! Every event in the order of the record: its place, its bytes, its columns, its chain, its fold.

use std::collections::{HashMap, HashSet};

use edgeplane_proof::{Canonicalizer, Digest, Link, Verifier};
use edgeplane_types::{
    Event, Fact, StreamName,
    fact::{CallEnd, MemoryPut},
};
use rusqlite::{Connection, Result, Row};

use super::{AuditProgress, AuditReport, Problem};
use crate::{
    known,
    model::{self, Step},
    sqlite::{digest, parsed, uint},
};

/// Events between two reports of progress.
const PROGRESS_EVENTS: u64 = 4_096;

struct Stream {
    name: StreamName,
    verifier: Verifier,
    pos: u64,
}

/// An audit on its way.
pub(super) struct Walk<'a> {
    conn: &'a Connection,
    scratch: &'a Connection,
    report: &'a mut AuditReport,
    streams: HashMap<i64, Stream>,
    canonicalizer: Canonicalizer,
    /// Bodies that were looked for already.
    named: HashSet<Digest>,
    pos: u64,
    foldable: bool,
}

/// The columns of an event.
struct Columns<'a> {
    pos: u64,
    stream: i64,
    seq: u64,
    ts: i64,
    kind: String,
    bytes: &'a [u8],
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        conn: &'a Connection,
        scratch: &'a Connection,
        report: &'a mut AuditReport,
    ) -> Result<Self> {
        let mut streams = HashMap::new();
        let mut statement = conn.prepare("SELECT id, name FROM stream")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            match parsed(row, 1) {
                Ok(name) => {
                    streams.insert(row.get(0)?, Stream { name, verifier: Verifier::new(&name), pos: 0 });
                }
                Err(error) => report.add_general(format!("a stream has no readable name: {error}")),
            }
        }
        report.streams = streams.len() as u64;
        Ok(Self {
            conn,
            scratch,
            report,
            streams,
            canonicalizer: Canonicalizer::default(),
            named: HashSet::new(),
            pos: 0,
            foldable: true,
        })
    }

    pub(super) fn events(&mut self, progress: &mut dyn FnMut(AuditProgress)) -> Result<()> {
        let conn = self.conn;
        let head_pos = conn.query_row("SELECT coalesce(max(pos), 0) FROM event", [], |row| uint(row, 0))?;
        let mut statement =
            conn.prepare("SELECT pos, stream, seq, ts, type, body, leaf, hash FROM event ORDER BY pos")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            self.event(row)?;
            self.report.events += 1;
            if self.report.events.is_multiple_of(PROGRESS_EVENTS) {
                progress(AuditProgress { events: self.report.events, head_pos });
            }
        }
        progress(AuditProgress { events: self.report.events, head_pos });
        Ok(())
    }

    fn event(&mut self, row: &Row<'_>) -> Result<()> {
        let columns = Columns {
            pos: uint(row, 0)?,
            stream: row.get(1)?,
            seq: uint(row, 2)?,
            ts: row.get(3)?,
            kind: row.get(4)?,
            bytes: row.get_ref(5)?.as_bytes()?,
        };
        if columns.pos != self.pos + 1 {
            let what = format!("position {} follows position {}", columns.pos, self.pos);
            self.problem(&columns, what);
        }
        self.pos = columns.pos;
        let link =
            Link { seq: columns.seq, bytes: columns.bytes, leaf: digest(row, 6)?, hash: digest(row, 7)? };
        let broken = match self.streams.get_mut(&columns.stream) {
            Some(stream) => {
                stream.pos = columns.pos;
                stream.verifier.step(&link).err().map(|broken| broken.to_string())
            }
            None => Some("its stream is not in the table of streams".to_owned()),
        };
        if let Some(what) = broken {
            self.problem(&columns, what);
        }
        match known::event(columns.bytes) {
            Ok(Some(event)) => {
                self.compare(&columns, &event);
                self.bodies(&columns, &event.fact)?;
                self.fold(&columns, &event);
            }
            // A newer program wrote it. Its chain is verified; what it says is not known, to the models either.
            Ok(None) => {}
            Err(error) => {
                self.foldable = false;
                self.problem(&columns, format!("its bytes are not an event: {error}"));
            }
        }
        Ok(())
    }

    /// Holds the columns and the spelling against what the bytes say.
    fn compare(&mut self, columns: &Columns<'_>, event: &Event) {
        let stream = self.streams.get(&columns.stream).map(|stream| stream.name);
        let differ = [
            ("stream", stream != Some(event.stream)),
            ("number", columns.seq != event.seq),
            ("time", columns.ts != event.ts.as_micros()),
            ("type", columns.kind != event.fact.type_name()),
        ];
        for (what, _) in differ.into_iter().filter(|(_, differs)| *differs) {
            self.problem(columns, format!("its bytes say another {what} than its row"));
        }
        if !self.is_canonical(columns.bytes, event) {
            self.problem(columns, "its bytes are not canonical".to_owned());
        }
    }

    fn is_canonical(&mut self, bytes: &[u8], event: &Event) -> bool {
        if self.canonicalizer.write(event).is_ok_and(|canonical| canonical == bytes) {
            return true;
        }
        // A program that knew more of the event may have written it: then only the spelling can be checked.
        serde_json::from_slice::<serde_json::Value>(bytes)
            .is_ok_and(|value| self.canonicalizer.write(&value).is_ok_and(|canonical| canonical == bytes))
    }

    /// Looks for the body that a fact names. Nothing at all needs no body.
    fn bodies(&mut self, columns: &Columns<'_>, fact: &Fact) -> Result<()> {
        let named = match fact {
            Fact::AgentDeclared { manifest_digest, .. } | Fact::AgentUpdated { manifest_digest, .. } => {
                Some(manifest_digest)
            }
            Fact::MessageAccepted { envelope } => Some(&envelope.content_digest),
            Fact::TurnCompleted { output_digest, output_bytes: 1.., .. } => Some(output_digest),
            Fact::ItemReported { body_digest, body_bytes: 1.., .. }
            | Fact::ItemUpdated { body_digest, body_bytes: 1.., .. } => Some(body_digest),
            Fact::SessionOpened { details_digest, details_bytes: 1.., .. } => Some(details_digest),
            Fact::AgentRemovalPlanned { body_digest, body_bytes: 1.., .. } => Some(body_digest),
            Fact::MemoryPut(MemoryPut { value_digest, value_bytes: 1.., .. }) => Some(value_digest),
            Fact::ScheduleDeclared { spec_digest, spec_bytes: 1.., .. } => Some(spec_digest),
            Fact::ResourcePut(put) => Some(&put.value_digest),
            Fact::AutomationFired(fired) => fired.cause.body_digest(),
            Fact::InvocationRequested(asked) => Some(&asked.shown_digest),
            Fact::InvocationEnded(ended) => ended.output_digest.as_ref(),
            Fact::CapabilityRegistered(registered) => Some(&registered.capability_digest),
            Fact::HookStarted(started) => Some(&started.given_digest),
            Fact::HookCompleted(completed) => Some(&completed.said_digest),
            Fact::ActionOpened { action } => action.subject_digest.as_ref(),
            Fact::ContextResolved(resolved) => resolved.query_digest.as_ref(),
            Fact::TrialsCompared(compared) => Some(&compared.comparison_digest),
            Fact::CallEnded {
                end: CallEnd::Done { digest, .. } | CallEnd::Failed { digest, .. }, ..
            } => Some(digest),
            _ => None,
        };
        let Some(text) = named else {
            return Ok(());
        };
        let Ok(digest) = text.parse::<Digest>() else {
            self.problem(columns, format!("it names a body by `{text}`, which is not a digest"));
            return Ok(());
        };
        if !self.named.insert(digest) {
            return Ok(());
        }
        let found =
            self.conn.prepare_cached("SELECT 1 FROM body WHERE digest = ?1")?.exists([digest.as_bytes()])?;
        if !found {
            self.problem(columns, format!("body {digest} is missing"));
        }
        Ok(())
    }

    fn fold(&mut self, columns: &Columns<'_>, event: &Event) {
        if let Err(error) = model::fold(&Step { conn: self.scratch, pos: columns.pos, event }) {
            self.foldable = false;
            self.problem(columns, format!("it does not fit what came before it: {error}"));
        }
    }

    /// Holds the ends of the streams against their table; says whether the models could be made.
    pub(super) fn heads(&mut self) -> Result<bool> {
        let mut statement = self.conn.prepare("SELECT id, seq, hash, pos FROM stream")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let Some(stream) = self.streams.get(&row.get(0)?) else { continue };
            let noted = (uint(row, 1)?, digest(row, 2)?);
            if (noted, uint(row, 3)?) != (stream.verifier.head(), stream.pos) {
                let what = format!("the stream should end with event {}", noted.0);
                let (stream, seq) = (Some(stream.name), Some(stream.verifier.head().0));
                self.report.add(Problem { stream, seq, event_type: None, what });
            }
        }
        Ok(self.foldable)
    }

    fn problem(&mut self, columns: &Columns<'_>, what: String) {
        self.report.add(Problem {
            stream: self.streams.get(&columns.stream).map(|stream| stream.name),
            seq: Some(columns.seq),
            event_type: Some(columns.kind.clone()),
            what,
        });
    }
}

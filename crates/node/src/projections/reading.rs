//! Reading a projection from the record: page by page, from any number on, beside the ones that follow it live.
//!
//! Everything here blocks and is called on workers, one page at a time, so that a reader that is waited for holds no
//! worker.

use std::{collections::VecDeque, path::Path, sync::Arc};

use edgeplane_projection::{Definition, Input, Numbered, Running};
use edgeplane_store::{RawEvent, ReadError, Reader};

use super::{
    checkpoint,
    source::{Kind, Source},
    topic::{Fed, Item, Writer},
};

/// Events that are read at one go.
pub(super) const PAGE: usize = 1_000;

/// A reading of a projection behind a number.
#[derive(Debug)]
pub(crate) struct Reading {
    source: Source,
    writer: Writer,
    /// The number behind which it is.
    after: u64,
    /// The number of the last entry that was made, which is further on if not all were given.
    made: u64,
    /// Entries that were made and not given yet.
    pending: VecDeque<Arc<Item>>,
    /// What is folded, for it.
    fold: Option<Box<Running>>,
}

/// Entries, and whether the record had no more.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) items: Vec<Arc<Item>>,
    pub(crate) end: bool,
}

impl Reading {
    /// A reading of the entries behind `after`. A fold goes on from its checkpoint if that is not beyond it.
    pub(crate) fn begin(dir: &Path, reader: &Reader, source: &Source, after: u64) -> Self {
        let fold = match source.kind {
            Kind::Log => None,
            Kind::Fold(definition) => {
                let kept = checkpoint::load(dir, reader, source, definition);
                let kept = kept.filter(|running| running.n() <= after);
                Some(Box::new(kept.unwrap_or_else(|| Running::new(definition, &source.subject))))
            }
        };
        let writer = Writer::of(source);
        Self { writer, source: source.clone(), after, made: after, pending: VecDeque::new(), fold }
    }

    /// Whether it goes on where somebody wants to.
    pub(crate) fn is_at(&self, source: &Source, after: u64) -> bool {
        self.after == after && self.source.key() == source.key()
    }

    /// The next entries, `most` at most, which may be none where the record goes on.
    pub(crate) fn page(&mut self, reader: &Reader, most: usize) -> Result<Page, ReadError> {
        let end = self.pending.is_empty() && self.make(reader)? == 0;
        let items: Vec<_> = self.pending.drain(..most.min(self.pending.len())).collect();
        if let Some(last) = items.last() {
            self.after = last.n;
        }
        Ok(Page { items, end })
    }

    /// Makes the entries of the next events, whose number it gives.
    fn make(&mut self, reader: &Reader) -> Result<usize, ReadError> {
        let from = self.fold.as_ref().map_or(self.made, |running| running.as_of()).saturating_add(1);
        let found = self.source.reads.events(reader, from, PAGE)?;
        let events = found.len();
        for raw in found {
            let place = self.source.reads.place(raw.pos, raw.seq);
            match (&mut self.fold, self.source.kind) {
                (Some(running), Kind::Fold(definition)) => {
                    for numbered in fold_stored(running, definition, &raw, place)? {
                        if numbered.n > self.made {
                            self.pending.push_back(self.writer.folded(&numbered));
                            self.made = numbered.n;
                        }
                    }
                }
                _ => {
                    self.pending.push_back(self.writer.logged(place, &Fed::stored(raw)));
                    self.made = place;
                }
            }
        }
        Ok(events)
    }
}

/// Folds a stored event; one that the projection does not take is not looked into.
pub(super) fn fold_stored(
    running: &mut Running,
    definition: &'static Definition,
    raw: &RawEvent,
    place: u64,
) -> Result<Vec<Numbered>, ReadError> {
    let event = if (definition.takes)(&raw.kind) { raw.event()? } else { None };
    Ok(match event {
        Some(event) => running.fold(&Input { pos: raw.pos, hash: &raw.hash.to_string(), event: &event }),
        None => {
            running.skip_to(place);
            Vec::new()
        }
    })
}

//! The newest of many: what a state shows of a list that only grows.

use std::collections::VecDeque;

use edgeplane_types::{ItemId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    entry::{BodyRef, Ids, Numbered},
    fold::SHOWN_MAX,
    json::Json,
};

/// Most bodies that one shown item names. A text in more pieces is read from the stream.
const PIECES_MAX: usize = 50;

/// An envelope as a state shows it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Shown {
    n: u64,
    /// The newest envelope of the same item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_n: Option<u64>,
    ts: Timestamp,
    #[serde(rename = "type")]
    kind: String,
    payload: Json,
    ids: Ids,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    refs: Vec<BodyRef>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pieces: Option<u64>,
}

/// The newest envelopes; of the rest there is the count.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Recent {
    total: u64,
    shown: VecDeque<Shown>,
}

impl Recent {
    pub(crate) fn push(&mut self, numbered: &Numbered) {
        self.total += 1;
        if self.shown.len() == SHOWN_MAX {
            self.shown.pop_front();
        }
        self.shown.push_back(Shown {
            n: numbered.n,
            last_n: None,
            ts: numbered.ts,
            kind: numbered.entry.kind.to_owned(),
            payload: numbered.entry.payload.clone(),
            ids: numbered.entry.ids,
            refs: numbered.entry.refs.clone(),
            pieces: None,
        });
    }

    /// Adds a piece of an item. Pieces that follow each other are shown as one.
    pub(crate) fn push_piece(&mut self, numbered: &Numbered, item: ItemId) {
        let last = self.shown.back_mut().filter(|shown| shown.ids.item_id == Some(item));
        let Some(shown) = last else { return self.push(numbered) };
        shown.last_n = Some(numbered.n);
        shown.payload = numbered.entry.payload.clone();
        shown.pieces = Some(shown.pieces.unwrap_or(1) + 1);
        if shown.refs.len() < PIECES_MAX {
            shown.refs.extend(numbered.entry.refs.iter().cloned());
        }
    }

    /// Adds whatever was said, pieces of items to the item before.
    pub(crate) fn take(&mut self, said: &[Numbered]) {
        for numbered in said {
            match numbered.entry.ids.item_id {
                Some(item) => self.push_piece(numbered, item),
                None => self.push(numbered),
            }
        }
    }

    pub(crate) fn state(&self) -> Value {
        let shown = u64::try_from(self.shown.len()).unwrap_or(u64::MAX);
        json!({ "more": self.total.saturating_sub(shown), "entries": self.shown })
    }
}

//! Recordings, page after page.
//!
//! Owns the reading on from where a page ended. What is done with the bytes is the business of `logs` and `replay`.

use anyhow::Context as _;
use base64::{Engine, engine::general_purpose::STANDARD};
use edgeplane_types::Epoch;
use edgeplane_wire::{
    api::terminal::{RecordingItem, RecordingParams, RecordingResult},
    catalogue::RecordingRead,
};

use crate::{context::Context, lasting::Lasting};

/// Bytes of output asked for at a time: base64 and JSON of it stay well below the longest line.
pub(crate) const PAGE_BYTES: u64 = 1 << 20;

/// Reads a recording on and on.
#[derive(Debug)]
pub(crate) struct Reader {
    pub(crate) agent: String,
    pub(crate) epoch: Option<Epoch>,
    pub(crate) offset: u64,
    /// For the first page: the last this many bytes, instead of the offset.
    pub(crate) last_bytes: Option<u64>,
}

impl Reader {
    /// The whole recording of an epoch; of the newest if none is given.
    pub(crate) fn whole(agent: &str, epoch: Option<u64>) -> Self {
        Self { agent: agent.to_owned(), epoch: epoch.map(Epoch), offset: 0, last_bytes: None }
    }

    /// The next page; the reader then stands after it, in the epoch that the node said.
    pub(crate) fn page(&mut self, node: &mut Lasting, context: &Context) -> anyhow::Result<RecordingResult> {
        let params = RecordingParams {
            agent: self.agent.clone(),
            epoch: self.epoch,
            offset: if self.last_bytes.is_some() { 0 } else { self.offset },
            last_bytes: self.last_bytes.take(),
            limit_bytes: Some(PAGE_BYTES),
        };
        let page = node.ask::<RecordingRead>(&params, context)?.read()?;
        self.epoch = Some(page.epoch);
        self.offset = page.next;
        Ok(page)
    }
}

/// The bytes of an item that is output; `None` for all others.
pub(crate) fn output(item: &RecordingItem) -> anyhow::Result<Option<Vec<u8>>> {
    match item.code {
        'o' | 'e' => {
            let bytes = STANDARD.decode(&item.data).context("the node sent output that is not base64")?;
            Ok(Some(bytes))
        }
        _ => Ok(None),
    }
}

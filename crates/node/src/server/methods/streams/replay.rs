//! Reading a projection from any point, a part at a time.

use std::{collections::VecDeque, path::Path, sync::Arc};

use edgeplane_store::{ReadError, Reader};
use edgeplane_types::ErrorName;
use edgeplane_wire::{api::stream::ReplayParams, rpc::RpcError};
use serde_json::value::RawValue;

use super::{Begin, OLDEST, Session, begin, check_types, head, number, replay_gap, source};
use crate::{
    projections::{Cursors, Item, Kind, Reading, Source, lease, source_head},
    server::subscription::takes,
};

/// Entries in one answer when the caller does not say how many.
const LIMIT: u32 = 1_000;

/// Most entries in one answer.
const LIMIT_MAX: u32 = 10_000;

/// Bytes of entries in one answer, of those that a line of the protocol holds. The entry that reaches it is the last.
const ANSWER_BYTES_MAX: usize = 8 << 20;

/// Entries that are looked through at one go where the newest are wanted.
const WINDOW: u64 = 1_000;

/// What is to be read.
struct Wanted {
    source: Source,
    types: Vec<String>,
    limit: usize,
    after: u64,
    head: u64,
}

impl Wanted {
    fn takes(&self, item: &Item) -> bool {
        self.types.is_empty() || takes(&self.types, &item.kind)
    }
}

/// What was read, and the number up to which everything was looked at.
struct Found {
    items: VecDeque<Arc<Item>>,
    bytes: usize,
    next: u64,
    end: bool,
    reading: Option<Reading>,
}

pub(in crate::server) async fn read(
    session: &Session,
    params: ReplayParams,
) -> Result<Box<RawValue>, RpcError> {
    let shared = &session.shared;
    let source = source(session, &params.projection, &params.target)?;
    check_types(&params.types)?;
    let begin = begin(&source, params.from, params.after, params.cursor.as_deref())?;
    if params.newest && begin.is_some() {
        let what = "the newest are counted from the end, so nothing says where to begin";
        return Err(RpcError::new(ErrorName::InvalidParams, what));
    }
    let is_log = matches!(source.kind, Kind::Log);
    let lease = if is_log { None } else { Some(lease(shared, &source).await?) };
    let head = match &lease {
        Some(lease) => head(shared, lease).await?,
        None => source_head(shared, &source)?,
    };
    let after = number(begin.unwrap_or(Begin::Start), &source, head)?;
    let Some(after) = after else { return Err(replay_gap(&source, None, head)) };
    let limit = usize::try_from(params.limit.unwrap_or(LIMIT).clamp(1, LIMIT_MAX)).unwrap_or(1);
    let wanted = Wanted { source: source.clone(), types: params.types, limit, after, head };
    let dir = shared.projections.dir.clone();
    let kept = session.opened.take_reading(|reading| reading.is_at(&source, after));
    let permit = if is_log { None } else { shared.projections.permit().await };
    let newest = params.newest;
    let read = shared.record.read(move |reader| {
        let _held = permit;
        let mut found =
            if newest { last(reader, &dir, &wanted)? } else { next(reader, &dir, &wanted, kept)? };
        let reading = found.reading.take();
        Ok((written(&wanted, &found), reading))
    });
    let (answer, reading) = read.await?;
    if let Some(reading) = reading.filter(|_| !is_log) {
        session.opened.keep_reading(reading);
    }
    answer
}

fn next(reader: &Reader, dir: &Path, wanted: &Wanted, kept: Option<Reading>) -> Result<Found, ReadError> {
    let mut reading = kept.unwrap_or_else(|| Reading::begin(dir, reader, &wanted.source, wanted.after));
    let mut found = Found { items: VecDeque::new(), bytes: 0, next: wanted.after, end: false, reading: None };
    while found.items.len() < wanted.limit && found.bytes < ANSWER_BYTES_MAX {
        // Of a chosen few, more than a few must be looked at.
        let most = if wanted.types.is_empty() { wanted.limit.saturating_sub(found.items.len()) } else { 1 };
        let page = reading.page(reader, most)?;
        if page.end {
            found.end = true;
            break;
        }
        for item in page.items {
            found.next = item.n;
            if wanted.takes(&item) {
                found.bytes = found.bytes.saturating_add(item.event().len());
                found.items.push_back(item);
            }
        }
    }
    // Nothing that came meanwhile is missing from an answer that says so.
    found.end |= found.next >= wanted.head;
    found.reading = Some(reading);
    Ok(found)
}

/// The newest entries. A fold is folded once; of the log only the end is read.
fn last(reader: &Reader, dir: &Path, wanted: &Wanted) -> Result<Found, ReadError> {
    let mut found = Found { items: VecDeque::new(), bytes: 0, next: wanted.head, end: true, reading: None };
    let is_log = matches!(wanted.source.kind, Kind::Log);
    let window = match is_log && !wanted.types.is_empty() {
        true => WINDOW,
        false => u64::try_from(wanted.limit).unwrap_or(WINDOW),
    };
    let mut upto = wanted.head;
    while upto >= OLDEST && found.items.len() < wanted.limit && found.bytes < ANSWER_BYTES_MAX {
        let whole = !is_log && !wanted.types.is_empty();
        let from = if whole { 0 } else { upto.saturating_sub(window) };
        let mut part = Vec::new();
        let mut reading = Reading::begin(dir, reader, &wanted.source, from);
        let mut at = from;
        while at < upto {
            let page = reading.page(reader, usize::MAX)?;
            if page.end {
                break;
            }
            for item in page.items {
                at = item.n;
                if item.n <= upto && wanted.takes(&item) {
                    part.push(item);
                }
            }
            let surplus = part.len().saturating_sub(wanted.limit);
            part.drain(..surplus);
        }
        for item in part.into_iter().rev() {
            if found.items.len() >= wanted.limit || found.bytes >= ANSWER_BYTES_MAX {
                return Ok(found);
            }
            found.bytes = found.bytes.saturating_add(item.event().len());
            found.items.push_front(item);
        }
        upto = from;
    }
    Ok(found)
}

/// The answer, in which each event stands as it was written once.
fn written(wanted: &Wanted, found: &Found) -> Result<Box<RawValue>, RpcError> {
    let mut text = Vec::with_capacity(found.bytes.saturating_add(4 << 10));
    text.extend_from_slice(b"{\"items\":[");
    for (index, item) in found.items.iter().enumerate() {
        if index > 0 {
            text.push(b',');
        }
        text.extend_from_slice(format!("{{\"n\":{},\"event\":", item.n).as_bytes());
        text.extend_from_slice(item.event());
        text.push(b'}');
    }
    let Found { next, end, .. } = found;
    // What came after the head was looked up may be among the entries; the newest is never older than those.
    let (cursor, head) = (Cursors::of(&wanted.source).at(*next), wanted.head.max(*next));
    text.extend_from_slice(
        format!("],\"next\":{next},\"cursor\":\"{cursor}\",\"oldest_seq\":{OLDEST},\"head_seq\":{head},\"end\":{end}}}")
            .as_bytes(),
    );
    let unreadable = |what: &dyn std::fmt::Display| {
        RpcError::new(ErrorName::Internal, format!("an event of the record is no JSON: {what}"))
    };
    let text = String::from_utf8(text).map_err(|error| unreadable(&error))?;
    RawValue::from_string(text).map_err(|error| unreadable(&error))
}

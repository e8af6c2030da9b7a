//! Streams: subscribe, acknowledge, end.

pub(in crate::server) mod barrier;
pub(in crate::server) mod projection;
pub(in crate::server) mod replay;

use std::{sync::Arc, time::Duration};

use edgeplane_types::{ErrorName, SubscriptionId};
use edgeplane_wire::{
    api::{
        Empty,
        stream::{
            AckParams, AckResult, From, Mode, OnGap, Repaired, Snapshot, SnapshotView, SubscribeParams,
            SubscribeResult, SubscriptionParams, SubscriptionStatusParams, SubscriptionStatusResult,
        },
    },
    rpc::{Gap, RpcError},
};

use super::Session;
use crate::{
    projections::{self, Cursors, Kind, Lease, Place, Source, lease},
    server::{
        connection::HANGS_UP,
        subscription::{Subscription, Wanted, serve},
    },
    shared::Shared,
    trace::lasting::Lasting,
};

/// The oldest number of every projection: nothing of the record is ever taken away.
const OLDEST: u64 = 1;

/// Most entries that may be on their way unacknowledged; a subscriber that wants more wants none counted.
const INFLIGHT_MAX: u32 = 10_000;

/// Bounds of the time between signs of life: more often is noise, and a longer silence no program waits for.
const HEARTBEAT_MS: std::ops::RangeInclusive<u64> = 100..=3_600_000;

/// Most types of which one must be an entry's.
const TYPES_MAX: usize = 64;

/// Longest of them.
const TYPE_BYTES_MAX: usize = 128;

/// Where reading begins.
#[derive(Debug, Clone, Copy)]
enum Begin {
    Start,
    Latest,
    After(u64),
    At(Place),
}

/// Where a caller wants to begin, if it says so.
fn begin(
    source: &Source,
    from: Option<From>,
    after: Option<u64>,
    cursor: Option<&str>,
) -> Result<Option<Begin>, RpcError> {
    match (from, after, cursor) {
        (None, None, None) => Ok(None),
        (Some(From::Start), None, None) => Ok(Some(Begin::Start)),
        (Some(From::Latest), None, None) => Ok(Some(Begin::Latest)),
        (None, Some(after), None) => Ok(Some(Begin::After(after))),
        (None, None, Some(cursor)) => Ok(Some(Begin::At(projections::read_cursor(source, cursor)?))),
        _ => Err(RpcError::new(
            ErrorName::InvalidParams,
            "at most one of `from`, `after` and `cursor` says where to begin",
        )),
    }
}

/// The number behind which it begins; none if it was a place of another version, which nobody has any more.
fn number(begin: Begin, source: &Source, head: u64) -> Result<Option<u64>, RpcError> {
    let n = match begin {
        Begin::Start => OLDEST.saturating_sub(1),
        Begin::Latest => head,
        Begin::After(n) => n,
        Begin::At(place) if place.version != source.kind.version() => return Ok(None),
        Begin::At(place) => place.n,
    };
    if n > head {
        let what = format!("there is nothing behind {n}: the newest entry is {head}");
        return Err(RpcError::new(ErrorName::InvalidParams, what));
    }
    Ok(Some(n))
}

fn replay_gap(source: &Source, place: Option<Place>, head: u64) -> RpcError {
    let (name, version) = (source.kind.name(), source.kind.version());
    let old = place.map_or(0, |place| place.version);
    let what = format!("the cursor is of version {old} of `{name}`, and version {version} is served");
    let mut error = RpcError::new(ErrorName::ReplayGap, what)
        .hint("subscribe with `on_gap` `repair` or `snapshot` `first`, or read from the start");
    error.data.gap =
        Some(Box::new(Gap { oldest_seq: OLDEST, snapshot_seq: head, projection_version: version }));
    error
}

/// The projection of a target that a caller asks for.
fn source(
    session: &Session,
    projection: &str,
    target: &edgeplane_wire::api::stream::Target,
) -> Result<Source, RpcError> {
    projections::resolve(&session.shared, &session.caller, Kind::find(projection)?, target)
}

fn check_types(types: &[String]) -> Result<(), RpcError> {
    if types.len() > TYPES_MAX || types.iter().any(|kind| kind.len() > TYPE_BYTES_MAX) {
        let what = format!("at most {TYPES_MAX} types of at most {TYPE_BYTES_MAX} bytes can be chosen");
        return Err(RpcError::new(ErrorName::TooLarge, what));
    }
    Ok(())
}

fn wanted(params: &SubscribeParams) -> Result<Wanted, RpcError> {
    let bad = |what: String| Err(RpcError::new(ErrorName::InvalidParams, what));
    check_types(&params.types)?;
    if params.max_inflight.is_some_and(|max| !(1..=INFLIGHT_MAX).contains(&max)) {
        return bad(format!("`max_inflight` is from 1 to {INFLIGHT_MAX}"));
    }
    if params.heartbeat_ms.is_some_and(|time| !HEARTBEAT_MS.contains(&time)) {
        let (least, most) = (HEARTBEAT_MS.start(), HEARTBEAT_MS.end());
        return bad(format!("`heartbeat_ms` is from {least} to {most}"));
    }
    Ok(Wanted {
        types: params.types.clone(),
        max_inflight: params.max_inflight,
        heartbeat: params.heartbeat_ms.map(Duration::from_millis),
    })
}

/// The number of the newest entry that the record makes, once the projection has it.
async fn head(shared: &Shared, lease: &Lease) -> Result<u64, RpcError> {
    let topic = &lease.topic;
    let place = projections::source_head(shared, &topic.source)?;
    if topic.is_log() {
        return Ok(place);
    }
    let mut reached = topic.reached.subscribe();
    tokio::select! {
        reached = reached.wait_for(|reached| *reached >= place) => drop(reached),
        () = topic.replaced.cancelled() => {
            return Err(RpcError::new(ErrorName::Unavailable, "the projection was made anew in this moment"));
        }
    }
    Ok(topic.how_far().0)
}

/// The state of a projection, and what it is the state of. The log has none but its events.
async fn snapshot(shared: &Arc<Shared>, lease: &Lease, head: u64) -> Result<SnapshotView, RpcError> {
    if let Some(state) = lease.topic.state() {
        return Ok(state.snapshot);
    }
    let source = lease.topic.source.clone();
    let newest = shared.record.read(move |reader| source.reads.event(reader, head)).await?;
    let digest = newest.map(|event| event.hash.to_string()).unwrap_or_default();
    Ok(SnapshotView { state: serde_json::Value::Null, as_of_seq: head, digest })
}

pub(in crate::server) async fn subscribe(
    session: &Session,
    params: SubscribeParams,
) -> Result<SubscribeResult, RpcError> {
    let shared = &session.shared;
    let source = source(session, &params.projection, &params.target)?;
    let wanted = wanted(&params)?;
    let begin = begin(&source, params.from, params.after, params.cursor.as_deref())?;
    if params.snapshot != Snapshot::None && begin.is_some() {
        let what = "a snapshot says where what follows it begins, so nothing else can";
        return Err(RpcError::new(ErrorName::InvalidParams, what));
    }
    let lease = lease(shared, &source).await?;
    let mut head = head(shared, &lease).await?;
    let place = match begin {
        Some(Begin::At(place)) => Some(place),
        _ => None,
    };
    let after = number(begin.unwrap_or(Begin::Latest), &source, head)?;
    if after.is_none() && params.on_gap == OnGap::Error {
        return Err(replay_gap(&source, place, head));
    }
    let snapshot = match (after, params.snapshot) {
        (Some(_), Snapshot::None) => None,
        _ => Some(snapshot(shared, &lease, head).await?),
    };
    head = head.max(snapshot.as_ref().map_or(0, |snapshot| snapshot.as_of_seq));
    let after = snapshot.as_ref().map(|snapshot| snapshot.as_of_seq).or(after).unwrap_or(head);
    let version = source.kind.version();
    let repaired = place.filter(|place| place.version != version).map(|place| Repaired {
        from_version: place.version,
        after: place.n,
        projection_version: version,
        as_of_seq: after,
    });
    let is_over = params.snapshot == Snapshot::Only;
    let subscription_id = if is_over { None } else { Some(open(session, (lease, wanted), after, repaired)?) };
    Ok(SubscribeResult {
        subscription_id,
        projection_version: version,
        snapshot,
        next_seq: after.saturating_add(1),
        oldest_seq: OLDEST,
        head_seq: head,
        cursor: Cursors::of(&source).at(after),
        mode: match (is_over, after == head) {
            (true, _) => Mode::Snapshot,
            (false, true) => Mode::Live,
            (false, false) => Mode::Replaying,
        },
    })
}

/// Opens a subscription behind a number. Nothing is waited for: either all of it happens or nothing.
fn open(
    session: &Session,
    (lease, wanted): (Lease, Wanted),
    after: u64,
    repaired: Option<Repaired>,
) -> Result<SubscriptionId, RpcError> {
    let id: SubscriptionId = session.shared.record.mint().id();
    let subscription = Subscription::new(id, lease, wanted, after);
    if !session.opened.subscribed(Arc::clone(&subscription)) {
        return Err(RpcError::new(ErrorName::QuotaExhausted, "this connection has too many subscriptions")
            .hint("end some, or follow the node's log with `types`"));
    }
    // The connection may have ended meanwhile, and ended what it had until then.
    if session.outbound.is_gone() {
        subscription.end(HANGS_UP);
    }
    let lasting = Lasting::begin(&session.shared, id);
    let session = session.clone();
    session.shared.tasks.clone().spawn(Box::pin(async move {
        serve(session.clone(), subscription, repaired).await;
        lasting.end(&session.shared);
    }));
    Ok(id)
}

fn unknown() -> RpcError {
    RpcError::new(ErrorName::NotFound, "no such subscription on this connection")
}

pub(in crate::server) fn unsubscribe(
    session: &Session,
    params: &SubscriptionParams,
) -> Result<Empty, RpcError> {
    let known = session.opened.unsubscribed(&params.subscription_id).ok_or_else(unknown)?;
    known.end("");
    Ok(Empty {})
}

pub(in crate::server) fn acknowledge(session: &Session, params: &AckParams) -> Result<AckResult, RpcError> {
    let subscription = session.opened.subscription(&params.subscription_id).ok_or_else(unknown)?;
    let n = match (params.n, &params.cursor) {
        (Some(n), None) => n,
        (None, Some(cursor)) => {
            let place = projections::read_cursor(subscription.source(), cursor)?;
            if place.version != subscription.source().kind.version() {
                let what = "the cursor is of another version of the projection";
                return Err(RpcError::new(ErrorName::InvalidParams, what));
            }
            place.n
        }
        _ => {
            let what = "exactly one of `n` and `cursor` says how far you are";
            return Err(RpcError::new(ErrorName::InvalidParams, what));
        }
    };
    let (acked, inflight) = subscription.acknowledge(n)?;
    Ok(AckResult { acked, inflight })
}

pub(in crate::server) fn status(
    session: &Session,
    params: &SubscriptionStatusParams,
) -> Result<SubscriptionStatusResult, RpcError> {
    let items = match &params.subscription_id {
        Some(id) => vec![session.opened.subscription(id).ok_or_else(unknown)?.view()],
        None => session.opened.all_subscriptions().iter().map(|subscription| subscription.view()).collect(),
    };
    Ok(SubscriptionStatusResult { items })
}

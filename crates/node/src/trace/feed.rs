//! Feeds whoever looks on with spans, made of the record when a turn is over: the same as anybody reads later.
//!
//! It follows the record like any other follower: it is never waited for. What it cannot keep up with is counted and
//! left out.

use std::{sync::Arc, time::Duration};

use edgeplane_types::{Fact, MessageId};
use edgeplane_wire::api::trace::{Segment, Span, SpanStatus};
use tokio::sync::broadcast::error::RecvError;

use super::{gather, spans};
use crate::{
    observer::{Observer, Seen},
    server::habits,
    shared::Shared,
};

/// Turns that wait to be looked at; of more at once the oldest are passed over.
const WAITING_MAX: usize = 256;

/// How long the facts of an end may come after each other.
const SETTLING: Duration = Duration::from_millis(50);

/// Looks on until the daemon ends.
pub(crate) async fn run(shared: Arc<Shared>, observer: Arc<dyn Observer>) {
    let mut live = shared.record.follow();
    let stopping = shared.stopping.clone();
    let mut waiting: Vec<MessageId> = Vec::new();
    loop {
        let is_idle = waiting.is_empty();
        // Losing a race loses nothing: events stay in the channel, and the timer begins anew.
        tokio::select! {
            () = stopping.cancelled() => break,
            heard = live.recv() => match heard {
                Ok(committed) => {
                    if matches!(committed.event.fact, Fact::RecordingGap { .. }) {
                        observer.seen(Seen::Gap);
                    }
                    if let Some(id) = ends(&committed.event.fact) {
                        waiting.push(id);
                    }
                }
                Err(RecvError::Lagged(events)) => observer.seen(Seen::Behind(events)),
                Err(RecvError::Closed) => break,
            },
            () = tokio::time::sleep(SETTLING), if !is_idle => {
                look(&shared, &observer, std::mem::take(&mut waiting)).await;
            }
        }
        if waiting.len() >= WAITING_MAX {
            look(&shared, &observer, std::mem::take(&mut waiting)).await;
        }
    }
    look(&shared, &observer, waiting).await;
}

/// The message that comes to its end with a fact.
fn ends(fact: &Fact) -> Option<MessageId> {
    match fact {
        Fact::MessageTurnEnded { message_id, .. }
        | Fact::MessageRejected { message_id, .. }
        | Fact::MessageExpired { message_id }
        | Fact::MessageDeadLettered { message_id, .. } => Some(*message_id),
        _ => None,
    }
}

async fn look(shared: &Arc<Shared>, observer: &Arc<dyn Observer>, ids: Vec<MessageId>) {
    for id in ids {
        let (as_of, lookup) = (shared.record.now(), habits(shared));
        let read = shared.record.read(move |reader| gather::one(reader, id, as_of, lookup)).await;
        let Ok(Some(found)) = read else {
            observer.seen(Seen::PassedOver(1));
            continue;
        };
        let drawn = spans::waterfall(&found);
        // The request itself was told of when it was served.
        let is_over = |span: &Span| span.status != SpanStatus::Open && span.segment != Segment::Request;
        let ended: Vec<Span> = drawn.spans.into_iter().filter(is_over).collect();
        observer.ended(drawn.trace_id, &ended);
    }
}

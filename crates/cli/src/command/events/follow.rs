//! Following: entries as they come, over the deaths of daemons.

use std::collections::BTreeMap;

use edgeplane_client::CallError;
use edgeplane_types::ErrorName;
use edgeplane_wire::{
    api::stream::{DAEMON_ENDS, EventView, StreamEvent, StreamState, SubscribeParams},
    catalogue::{Call as _, StreamSubscribe},
};

use super::{Entry, line, print, print_snapshot};
use crate::{context::Context, failure::Failure, lasting::Lasting, node::Node};

/// Prints entries as they come, and goes on behind the last one when a daemon that died is back.
pub(super) fn follow(
    mut params: SubscribeParams,
    names: &mut BTreeMap<String, String>,
    node: &mut Lasting,
    context: &mut Context,
) -> anyhow::Result<()> {
    let mut is_back = false;
    loop {
        let asked = node.ask::<StreamSubscribe>(&params, context);
        let result = asked.map_err(|error| if is_back { other_record(error) } else { error })?.read()?;
        print_snapshot(result.snapshot.as_ref(), context)?;
        params.snapshot = Default::default();
        // From here on there is a place to go on from, also if nothing is seen before the node is gone.
        params.cursor = Some(result.cursor);
        context.out.flush()?;
        let lost = follow_until_lost(&mut params, names, &mut node.node, context)?;
        context.out.flush()?;
        node.survive(lost.into(), context)?;
        is_back = true;
    }
}

/// A record in which the place is not there any more is another one, and nothing that was asked for comes from it.
fn other_record(error: anyhow::Error) -> anyhow::Error {
    match error.downcast_ref::<CallError>() {
        Some(CallError::Rpc(refused)) if refused.name() == ErrorName::InvalidParams => {
            let message = format!("the node that is back has another record: {refused}");
            Failure::new(ErrorName::ReplayGap, message)
                .hint("see whether the node has another state directory now")
                .into()
        }
        _ => error,
    }
}

/// Prints entries as they come, with the cursor behind the last one, until the connection is no more; gives how it
/// ended.
fn follow_until_lost(
    params: &mut SubscribeParams,
    names: &mut BTreeMap<String, String>,
    node: &mut Node,
    context: &mut Context,
) -> anyhow::Result<CallError> {
    loop {
        let notification = match node.next_notification(None) {
            Ok(Some(notification)) => notification,
            Ok(None) => continue,
            Err(lost) => return Ok(lost),
        };
        match notification.method.as_str() {
            "stream/event" => {
                let StreamEvent { n, cursor, event, .. } = serde_json::from_value(notification.params)?;
                if let Some(view) = EventView::of(event.clone()) {
                    line::learn(&view, names);
                }
                let entry = Entry { n, cursor: Some(cursor), event };
                print(&entry, &params.projection, names, context)?;
                params.cursor = entry.cursor;
                if !node.has_held() {
                    context.out.flush()?;
                }
            }
            "stream/state" => {
                let state: StreamState = serde_json::from_value(notification.params)?;
                if state.state != "ended" {
                    continue;
                }
                let reason = state.reason.unwrap_or_else(|| "no reason given".to_owned());
                if reason == DAEMON_ENDS {
                    return Ok(CallError::Closed { method: StreamSubscribe::NAME.to_owned() });
                }
                let message = format!("the node ended the subscription: {reason}");
                return Err(Failure::new(ErrorName::Unavailable, message).into());
            }
            _ => {}
        }
    }
}

//! Every row of the table, in its order.

mod accept;
mod adopt;
mod attach;
mod calls;
mod capabilities;
mod checkpoints;
mod command;
mod events;
mod fleet;
mod folds;
mod idle;
mod keys;
mod launch;
mod memory;
mod output;
mod restart;
mod sessions;
mod signal;
mod streams;
mod subagents;
mod work;

use super::Group;

/// The rows, those that belong together under one name.
pub(crate) const GROUPS: &[Group] = &[
    memory::GROUP,
    launch::GROUP,
    fleet::GROUP,
    restart::GROUP,
    adopt::GROUP,
    signal::GROUP,
    command::GROUP,
    calls::GROUP,
    attach::GROUP,
    keys::GROUP,
    output::GROUP,
    idle::GROUP,
    events::GROUP,
    accept::GROUP,
    sessions::GROUP,
    streams::GROUP,
    folds::GROUP,
    work::GROUP,
    subagents::GROUP,
    checkpoints::GROUP,
    capabilities::GROUP,
];

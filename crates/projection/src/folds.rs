//! The folds, one projection a file.

pub(crate) mod actions;
pub(crate) mod artifacts;
pub(crate) mod audit;
pub(crate) mod boundary;
pub(crate) mod deliveries;
pub(crate) mod environment;
pub(crate) mod evidence;
pub(crate) mod governance;
pub(crate) mod items;
pub(crate) mod queue;
pub(crate) mod session;
pub(crate) mod status;
pub(crate) mod tasks;
pub(crate) mod timeline;
pub(crate) mod transcript;
pub(crate) mod usage;
pub(crate) mod waterfall;

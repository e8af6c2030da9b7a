//! The folds, one projection a file.

pub(crate) mod audit;

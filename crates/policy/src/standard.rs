//! The rules that a node has where nobody wrote others.
//!
//! Owns their text, which people read and copy; `default.cedar` says what each is for.

use edgeplane_types::PolicyLayer;

use crate::{
    compile::{RuleFile, compile},
    layer::LayerRules,
    problem::Problem,
};

/// Their text.
pub const DEFAULT_TEXT: &str = include_str!("default.cedar");

/// The name of their file.
pub const DEFAULT_NAME: &str = "default.cedar";

/// Compiles them.
///
/// # Errors
///
/// Never, as every test shows: the text is part of the program.
pub fn default_rules() -> Result<LayerRules, Vec<Problem>> {
    compile(PolicyLayer::Node, &[RuleFile { name: DEFAULT_NAME, text: DEFAULT_TEXT }])
}

#[cfg(test)]
mod tests;

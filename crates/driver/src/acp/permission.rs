//! What a program asks leave for, and the answers that it offers.

use serde::Deserialize;
use serde_json::Value;

use super::{
    hear::{Heard, RequestId},
    update::UpdateKind,
};

/// Most answers that one question may offer.
const OPTIONS_MAX: usize = 32;

/// Longest id or name of an answer in bytes.
const OPTION_BYTES_MAX: usize = 256;

/// What choosing an answer means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OptionKind {
    /// It may, this once.
    AllowOnce,
    /// It may, and need not ask again.
    AllowAlways,
    /// It may not, this once.
    RejectOnce,
    /// It may not, and need not ask again.
    RejectAlways,
    /// Something that this version does not know.
    #[serde(other)]
    Other,
}

impl OptionKind {
    /// The word of the protocol.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AllowOnce => "allow_once",
            Self::AllowAlways => "allow_always",
            Self::RejectOnce => "reject_once",
            Self::RejectAlways => "reject_always",
            Self::Other => "other",
        }
    }

    /// Whether it may be chosen by who allows, or else by who refuses. What this version does not know is chosen by its
    /// own words, by who allows.
    fn may_be(self, allows: bool) -> bool {
        match self {
            Self::AllowOnce | Self::AllowAlways | Self::Other => allows,
            Self::RejectOnce | Self::RejectAlways => !allows,
        }
    }
}

/// An answer that may be given.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionOption {
    /// The program's own name for it, given back as it is.
    pub option_id: String,
    /// What a person reads.
    #[serde(default)]
    pub name: String,
    /// What it means.
    pub kind: OptionKind,
}

/// A question for leave.
#[derive(Debug, Clone, PartialEq)]
pub struct Permission {
    /// To be given back.
    pub id: RequestId,
    /// The program's session.
    pub session: String,
    /// What it wants to do, as it says it.
    pub subject: Value,
    /// The answers that it takes.
    pub options: Vec<PermissionOption>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params {
    session_id: String,
    tool_call: Value,
    options: Vec<PermissionOption>,
}

impl Permission {
    pub(super) fn read(id: RequestId, params: Params) -> Result<Heard, String> {
        let Params { session_id, tool_call, options } = params;
        if options.is_empty() || options.len() > OPTIONS_MAX {
            return Err(format!("{} answers are offered; it may be 1 to {OPTIONS_MAX}", options.len()));
        }
        let too_long =
            |option: &PermissionOption| option.option_id.len().max(option.name.len()) > OPTION_BYTES_MAX;
        if options.iter().any(too_long) {
            return Err(format!("an answer has more than {OPTION_BYTES_MAX} bytes"));
        }
        Ok(Heard::Permission(Self { id, session: session_id, subject: tool_call, options }))
    }

    /// The use of a tool that it is about.
    #[must_use]
    pub fn tool(&self) -> UpdateKind {
        super::update::tool(self.subject.clone())
    }

    /// What it wants to do, in a line for people.
    #[must_use]
    pub fn title(&self) -> String {
        let said = |key: &str| self.subject.get(key).and_then(Value::as_str).map(crate::render::clean);
        let title = said("title").or_else(|| said("kind")).unwrap_or_else(|| "something".to_owned());
        let mut line = title.replace('\n', " ");
        line.truncate(line.floor_char_boundary(1_024));
        line
    }

    /// The answer that allows exactly what is asked, else the one that allows more: whoever approves has seen that
    /// nothing less is offered.
    #[must_use]
    pub fn allows(&self) -> Option<&PermissionOption> {
        self.of(OptionKind::AllowOnce).or_else(|| self.of(OptionKind::AllowAlways))
    }

    /// The answer that refuses exactly what is asked, else the one that refuses it for ever.
    #[must_use]
    pub fn refuses(&self) -> Option<&PermissionOption> {
        self.of(OptionKind::RejectOnce).or_else(|| self.of(OptionKind::RejectAlways))
    }

    /// The answer that somebody names, by its id or by what it says, to allow or to refuse.
    ///
    /// # Errors
    /// Which there are, if that names none of them or several, or one that does the opposite.
    pub fn named(&self, name: &str, allows: bool) -> Result<&PermissionOption, String> {
        let fits = |option: &&PermissionOption| option.kind.may_be(allows);
        let fitting = || self.options.iter().filter(fits);
        let by_id = fitting().find(|option| option.option_id == name);
        let mut by_name = fitting().filter(|option| option.name == name);
        let found = by_id.or_else(|| by_name.next().filter(|_| by_name.next().is_none()));
        found.ok_or_else(|| {
            let of = |option: &PermissionOption| {
                crate::render::clean(&format!("`{}` ({})", option.option_id, option.name))
            };
            let all: Vec<String> = fitting().map(of).collect();
            let what = if allows { "to allow it" } else { "to refuse it" };
            match all.is_empty() {
                true => format!("it offers nothing {what}"),
                false => format!("{what} it offers {}", all.join(", ")),
            }
        })
    }

    fn of(&self, kind: OptionKind) -> Option<&PermissionOption> {
        self.options.iter().find(|option| option.kind == kind)
    }
}

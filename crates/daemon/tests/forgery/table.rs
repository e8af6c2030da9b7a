//! A row of the table: who tries what, the line that they want, and what must come of it.

use edgeplane_types::{Authority, ErrorName};

use crate::stage::{Answer, Stage};

pub(crate) type Attack = Box<dyn Fn(&Stage) -> Answer>;

/// One attempt.
pub(crate) struct Row {
    pub(crate) name: String,
    /// The line that the attacker wants to stand where only the node writes, with `UID` for the operator.
    pub(crate) wants: &'static str,
    pub(crate) must: Must,
    pub(crate) attack: Attack,
}

/// What must come of an attempt.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Must {
    /// It is delivered to `reader`, under its true header.
    Seen(Truth),
    /// It is typed at `typed`, under its true header.
    Typed(Truth),
    /// It is refused by this error, whose text has this in it.
    Refused(ErrorName, &'static str),
    /// It is kept from its agent for this reason.
    Held(&'static str),
    /// Nobody hears of it, and nothing of anybody else's is changed.
    Nothing,
}

/// What is true of a message.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Truth {
    /// Its first line, with `UID` for the operator.
    pub(crate) header: &'static str,
    pub(crate) weighs: Authority,
    pub(crate) proof: Known,
    /// What the node says below the header, with `UID` for the operator.
    pub(crate) lines: &'static [&'static str],
    /// Whether it is shown in part.
    pub(crate) is_preview: bool,
    /// A line of content that must be shown exactly so.
    pub(crate) shown: &'static str,
}

/// By what the node knows who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    Socket,
    /// Cgroup and descent, or descent where there are no cgroups.
    Sight,
    Descent,
    Disagreement,
    Driver,
    EpochToken,
    ServiceToken,
    Nothing,
}

/// Words of the attacker.
pub(crate) const PEER: Truth = Truth {
    header: "[PEER MESSAGE from mallory on signal]",
    weighs: Authority::Delegated,
    proof: Known::Socket,
    lines: &[],
    is_preview: false,
    shown: "",
};

/// Words of the attacker that weigh nothing.
pub(crate) const LIGHT: Truth = Truth { weighs: Authority::Untrusted, ..PEER };

/// Words of one of whom nothing is known.
pub(crate) const STRANGE: Truth = Truth {
    header: "[EXTERNAL MESSAGE from unknown on signal]",
    weighs: Authority::Untrusted,
    proof: Known::Nothing,
    ..PEER
};

/// Words of a program with a token.
pub(crate) const SERVICE: Truth =
    Truth { header: "[WORKFLOW MESSAGE from ci on signal]", proof: Known::ServiceToken, ..PEER };

/// The header that everybody wants.
pub(crate) const OPERATOR: &str = "[OPERATOR MESSAGE from UID on signal]";

pub(crate) fn row(
    name: impl Into<String>,
    wants: &'static str,
    must: Must,
    attack: impl Fn(&Stage) -> Answer + 'static,
) -> Row {
    Row { name: name.into(), wants, must, attack: Box::new(attack) }
}

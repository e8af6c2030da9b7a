//! Cursors: a place in a projection, as text that only this module reads.
//!
//! A cursor names tenant, target, projection, version and number, and nothing of the daemon that gave it out, so it is
//! good for the next one too. It is signed by nothing: whoever shows one may see no more than without it.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use edgeplane_types::{ErrorName, Tenant};
use edgeplane_wire::rpc::RpcError;

use super::source::Source;

/// Most bytes of a cursor: several times what the longest that is given out has.
const CURSOR_BYTES_MAX: usize = 512;

/// What separates the parts; no part can hold it.
const SEPARATOR: char = '|';

/// A place that a cursor names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) version: u32,
    pub(crate) n: u64,
}

/// The cursors of one projection of one target.
#[derive(Debug, Clone)]
pub(crate) struct Cursors {
    before_n: String,
}

impl Cursors {
    pub(crate) fn of(source: &Source) -> Self {
        Self { before_n: format!("{}{}|", about(source), source.kind.version()) }
    }

    /// The place behind the entry with this number.
    pub(crate) fn at(&self, n: u64) -> String {
        URL_SAFE_NO_PAD.encode(format!("{}{n}", self.before_n))
    }
}

fn about(source: &Source) -> String {
    format!("{}|{}|{}|", Tenant::default(), source.subject.target, source.kind.name())
}

/// Reads a cursor of this projection of this target, of whichever version.
pub(crate) fn read(source: &Source, cursor: &str) -> Result<Place, RpcError> {
    let bad = |what: &str| RpcError::new(ErrorName::InvalidParams, format!("the cursor {what}"));
    let decoded = (cursor.len() <= CURSOR_BYTES_MAX).then(|| URL_SAFE_NO_PAD.decode(cursor).ok()).flatten();
    let text = decoded.and_then(|bytes| String::from_utf8(bytes).ok());
    let text = text
        .filter(|text| text.split(SEPARATOR).count() == 5)
        .ok_or_else(|| bad("is none of this node's"))?;
    let rest = text
        .strip_prefix(&about(source))
        .ok_or_else(|| bad(&format!("is not one of {} of {}", source.kind.name(), source.subject.target)))?;
    let place = rest
        .split_once(SEPARATOR)
        .and_then(|(version, n)| Some(Place { version: version.parse().ok()?, n: n.parse().ok()? }));
    // One spelling per place.
    place
        .filter(|place| rest == format!("{}|{}", place.version, place.n))
        .ok_or_else(|| bad("is none of this node's"))
}

#[cfg(test)]
mod tests {
    use edgeplane_projection::Subject;
    use edgeplane_wire::api::stream::Target;

    use super::*;
    use crate::projections::source::Kind;

    fn source(id: &str) -> Source {
        let subject = Subject { target: Target::agent(id), ..Subject::default() };
        Source::new(Kind::Log, subject)
    }

    fn refused(text: &str) -> bool {
        read(&source("a"), &URL_SAFE_NO_PAD.encode(text)).is_err()
    }

    /// Proves STRM-007.
    #[test]
    fn cursor_is_read_as_it_was_given_and_no_other_is() {
        let own = source("a");
        let given = Cursors::of(&own).at(57);
        assert_eq!(read(&own, &given), Ok(Place { version: 1, n: 57 }));
        assert_eq!(URL_SAFE_NO_PAD.decode(&given).unwrap(), b"local|agent/a|log|1|57");
        assert!(!refused("local|agent/a|log|2|57"), "another version is told from garbage");
        for text in [
            "other|agent/a|log|1|57",
            "local|agent/b|log|1|57",
            "local|node/a|log|1|57",
            "local|agent/a|queue|1|57",
            "local|agent/a|log|1|",
            "local|agent/a|log|1|057",
            "local|agent/a|log|1|-1",
            "local|agent/a|log|1|1|1",
            "local|agent/a|log|1",
            "local|agent/a|log|x|1",
            "",
        ] {
            assert!(refused(text), "{text}");
        }
        assert!(read(&own, "not base64!").is_err());
        assert!(read(&own, &"A".repeat(100_000)).is_err());
        assert!(read(&source("b"), &given).is_err());
    }
}

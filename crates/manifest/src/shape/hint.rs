//! What to say to somebody who wrote a word that is not taken.

use super::view::Shape;
use crate::problem::{excerpt, nearest};

/// Names that are known and not served: the definition, the word, and what to say about it.
const NOT_SERVED: [(&str, &str, &str); 8] = [
    ("Kind", "Profile", "kind `Profile` is not served by this version"),
    ("Substrate", "tmux", "substrate `tmux` is not served by this version"),
    ("Substrate", "systemd", "substrate `systemd` is not served by this version"),
    ("Substrate", "container", "substrate `container` is not served by this version"),
    ("Substrate", "zellij", "substrate `zellij` is not served by this version"),
    ("FetchSource", "http", "this version fetches nothing from the network: name a `file`"),
    ("FetchSource", "https", "this version fetches nothing from the network: name a `file`"),
    ("FetchSource", "url", "this version fetches nothing from the network: name a `file`"),
];

/// Says that a name is known and not served by this version.
pub(super) fn unserved(name: &str, word: &str) -> Option<String> {
    NOT_SERVED
        .iter()
        .find(|(known, unserved, _)| *known == name && *unserved == word)
        .map(|(_, _, said)| (*said).to_owned())
}

/// Says which word somebody most likely meant.
pub(super) fn meant(text: &str, words: &[&str]) -> Option<String> {
    nearest(text, words.iter().copied()).map(|word| format!("did you mean `{word}`?"))
}

/// Says where a key that is unknown here belongs in such a document, if it belongs to one place only.
pub(super) fn elsewhere(document: &Shape<'static>, key: &str) -> Option<String> {
    let places = homes(document, key);
    match places.as_slice() {
        [only] => Some(format!("it belongs under `{}`", excerpt(only))),
        _ => None,
    }
}

/// The sections of a document, one or two levels deep, that have the key.
fn homes(document: &Shape<'static>, key: &str) -> Vec<String> {
    let inside =
        |shape: &Shape<'static>, name: &str| shape.property(name).and_then(|schema| shape.of(schema));
    let mut found = Vec::new();
    for section in ["metadata", "spec"] {
        let Some(shape) = inside(document, section) else { continue };
        if shape.property(key).is_some() {
            found.push(section.to_owned());
        }
        for (name, _) in shape.properties() {
            let part = inside(&shape, name).filter(|part| part.property(key).is_some());
            found.extend(part.map(|_| format!("{section}.{name}")));
        }
    }
    found
}

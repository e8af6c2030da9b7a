//! The digest that says exactly what a person is asked.
//!
//! It does not know who asks, who may decide, or how it was decided.

use edgeplane_types::decision::Choice;
use serde::Serialize;
use serde_json::Value;

use crate::{CanonicalError, Digest, canonical, digest};

#[derive(Serialize)]
struct Asked<'a> {
    choices: &'a [Choice],
    prompt: &'a str,
    schema: Option<&'a Value>,
    subject: Option<Digest>,
}

/// The digest of exactly what is asked: the SHA-256 of the canonical form of
/// `{"choices":[{"label":…,"value":…},…],"prompt":…,"schema":…,"subject":…}`.
///
/// All four keys are always there: no choices are `[]`, no schema and no subject are `null`. The subject, which is what
/// is to be done word for word, stands in it by its own digest, in 64 hexadecimal digits.
///
/// # Errors
/// When the schema has no canonical form.
pub fn action_digest(
    prompt: &str,
    choices: &[Choice],
    schema: Option<&Value>,
    subject: Option<Digest>,
) -> Result<Digest, CanonicalError> {
    Ok(digest(&canonical::to_vec(&Asked { choices, prompt, schema, subject })?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn choice(value: &str, label: &str) -> Choice {
        Choice { value: value.parse().unwrap(), label: label.into() }
    }

    /// Proves ACT-002.
    #[test]
    fn digest_is_over_the_canonical_form_of_what_is_asked() {
        let subject = digest(b"rm -r build");
        let whole = action_digest("Delete the build?", &[], None, Some(subject)).unwrap();
        let text =
            format!(r#"{{"choices":[],"prompt":"Delete the build?","schema":null,"subject":"{subject}"}}"#);
        assert_eq!(whole, digest(text.as_bytes()));
        let choices = [choice("red", "Red one"), choice("blue", "Blue one")];
        let asked = action_digest("Which?", &choices, None, None).unwrap();
        let text = concat!(
            r#"{"choices":[{"label":"Red one","value":"red"},{"label":"Blue one","value":"blue"}],"#,
            r#""prompt":"Which?","schema":null,"subject":null}"#
        );
        assert_eq!(asked, digest(text.as_bytes()));
    }

    /// Proves ACT-002.
    #[test]
    fn digest_changes_with_each_thing_that_is_asked() {
        let schema = json!({ "type": "string" });
        let choices = [choice("a", "A"), choice("b", "B")];
        let swapped = [choice("b", "B"), choice("a", "A")];
        let relabelled = [choice("a", "A"), choice("b", "C")];
        let digests = [
            action_digest("p", &[], None, None),
            action_digest("q", &[], None, None),
            action_digest("p", &choices, None, None),
            action_digest("p", &swapped, None, None),
            action_digest("p", &relabelled, None, None),
            action_digest("p", &[], Some(&schema), None),
            action_digest("p", &[], None, Some(digest(b"x"))),
            action_digest("p", &[], None, Some(digest(b"y"))),
        ]
        .map(Result::unwrap);
        for (index, one) in digests.iter().enumerate() {
            assert!(!digests[index + 1..].contains(one), "{index}");
        }
        // The order in which a schema was written is not a part of it.
        let twisted: Value = serde_json::from_str(r#"{"type":"string","title":"t"}"#).unwrap();
        let straight: Value = serde_json::from_str(r#"{"title":"t","type":"string"}"#).unwrap();
        assert_eq!(
            action_digest("p", &[], Some(&twisted), None),
            action_digest("p", &[], Some(&straight), None)
        );
        assert!(action_digest("p", &[], Some(&json!({ "const": 0.5 })), None).is_err());
    }
}

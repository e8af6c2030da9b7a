//! What is chosen and why the rest is not, and that no store is believed more than it may say.

use std::collections::BTreeMap;

use edgeplane_neighbour::context::MemoryContexts;
use edgeplane_proof::digest;

use super::*;

fn store(texts: &[(&str, &str)]) -> MemoryContexts {
    let document = |text: &str| Document {
        title: "t".repeat(EXCERPT_BYTES_MAX * 2),
        media_type: "text/plain".to_owned(),
        text: text.to_owned(),
    };
    MemoryContexts::new(texts.iter().map(|(name, text)| ((*name).to_owned(), document(text))).collect())
}

fn chosen(choice: &Choice) -> Vec<&str> {
    choice.selected.iter().map(|one| one.item.reference.as_str()).collect()
}

fn omitted(choice: &Choice) -> BTreeMap<&str, &str> {
    choice.left_out.iter().map(|one| (one.reference.as_str(), one.reason.as_str())).collect()
}

/// Proves CTX-004, CTX-005.
#[test]
fn what_is_named_comes_first_and_each_omission_has_its_reason() {
    let large = "word ".repeat(DOCUMENT_BYTES_MAX / 5 + 1);
    let store = store(&[
        ("a", "word word word"),
        ("b", "word and more"),
        ("c", "word"),
        ("d", "word, and so much else that there is no room for all of it"),
        ("e", "named"),
        ("f", "some word, some word, some more of it"),
        ("large", &large),
    ]);
    let wanted = Choosing {
        query: Some("word".to_owned()),
        references: ["e", "none", "e", "large", "no\nname"].map(str::to_owned).to_vec(),
        limit: 3,
        budget_bytes: 40,
    };
    let choice = choose(&store, &wanted).unwrap();
    assert_eq!(chosen(&choice), ["e", "a", "b", "c"]);
    assert_eq!(choice.used_bytes, 36);
    assert!(choice.used_bytes <= wanted.budget_bytes);
    let expected =
        [("d", "rank"), ("f", "rank"), ("large", "policy"), ("no name", "policy"), ("none", "missing")];
    let found = omitted(&choice);
    for (reference, reason) in expected {
        let told = found.iter().find(|(name, _)| name.replace('\n', " ") == reference).map(|(_, why)| *why);
        let allowed = [Some(reason), Some("budget")];
        assert!(
            told == Some(reason) || (reason == "rank" && allowed.contains(&told)),
            "{reference}: {found:?}"
        );
    }
    let narrow = choose(&store, &Choosing { budget_bytes: 4, references: Vec::new(), ..wanted }).unwrap();
    assert_eq!(chosen(&narrow), ["c"], "what has no room leaves it to others");
    assert_eq!(omitted(&narrow)["a"], "budget");
}

/// A store that says what it may not.
#[derive(Debug)]
struct Lying;

impl ContextStore for Lying {
    fn search(&self, _query: &str, _found_max: usize) -> Result<Vec<Found>, NeighbourError> {
        let one = |reference: &str, score| Found {
            reference: reference.to_owned(),
            title: "x".repeat(10_000),
            digest: digest(b"another"),
            bytes: 1,
            score,
            excerpt: "\u{e4}".repeat(10_000),
        };
        let mut found = vec![one("a", 1), one("b\u{1b}[2J", 9), one("b", 2), one("a", 3), one("", 9)];
        found.extend((0..1_000).map(|number| one(&format!("n{number}"), 0)));
        Ok(found)
    }

    fn read(&self, reference: &str) -> Result<Document, NeighbourError> {
        let text = if reference == "a" { "y".repeat(DOCUMENT_BYTES_MAX + 1) } else { "text".to_owned() };
        Ok(Document { title: "x".repeat(10_000), media_type: String::new(), text })
    }
}

/// Proves CTX-003, NBR-002.
#[test]
fn no_store_is_believed_more_than_it_may_say() {
    let all = found(&Lying, "x", FOUND_MAX).unwrap();
    assert_eq!((all.len(), all[0].reference.as_str(), all[1].reference.as_str()), (FOUND_MAX, "b", "a"));
    assert!(
        all.iter().all(|one| one.title.len() <= EXCERPT_BYTES_MAX && one.excerpt.len() <= EXCERPT_BYTES_MAX)
    );
    let wanted =
        Choosing { query: Some("x".to_owned()), references: Vec::new(), limit: 2, budget_bytes: 100 };
    let choice = choose(&Lying, &wanted).unwrap();
    // What it says of digests and sizes is not what is recorded of what was given.
    assert_eq!(choice.selected[0].item.digest, digest(b"text").to_string());
    assert_eq!((choice.selected[0].item.bytes, omitted(&choice)["a"]), (4, "policy"));
}

//! A difference that is applied to the one text gives the other.

use proptest::prelude::*;

use super::*;

/// What a text becomes by a difference, as `patch` does it.
fn patched(before: &str, difference: &str) -> String {
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let mut lines = difference.split_inclusive('\n').skip(2).peekable();
    let (mut at, mut text) = (0, String::new());
    while let Some(line) = lines.next() {
        if let Some(rest) = line.strip_prefix("@@ -") {
            let (first, rest) = rest.split_once(',').unwrap();
            let count: usize = rest.split_once(' ').unwrap().0.parse().unwrap();
            let first = first.parse::<usize>().unwrap() - usize::from(count > 0);
            text.push_str(&old[at..first].concat());
            at = first;
            continue;
        }
        let is_last = lines.peek().is_some_and(|next| next.starts_with('\\'));
        let words = if is_last { line[1..].trim_end_matches('\n') } else { &line[1..] };
        match &line[..1] {
            " " => {
                assert_eq!(old[at], words);
                text.push_str(words);
                at += 1;
            }
            "-" => {
                assert_eq!(old[at], words);
                at += 1;
            }
            "+" => text.push_str(words),
            other => assert_eq!(other, "\\"),
        }
    }
    text + &old[at..].concat()
}

/// Proves ART-007.
#[test]
fn a_difference_has_the_form_that_others_read() {
    let before = "a\nb\nc\nd\ne\nf\ng\nh\n";
    let found = unified(("x@1", before), ("x@2", "a\nb\nc\nd\nE\nf\ng\nh\ni")).unwrap();
    let expected = "--- x@1\n+++ x@2\n@@ -2,7 +2,8 @@\n b\n c\n d\n-e\n+E\n f\n g\n h\n+i\n\\ No newline at end of file\n";
    assert_eq!(found, Difference { text: expected.to_owned(), added: 2, removed: 1 });
    assert_eq!(unified(("x", "same\n"), ("y", "same\n")).unwrap().text, "");
    assert_eq!(unified(("x", ""), ("y", "a\n")).unwrap().text, "--- x\n+++ y\n@@ -0,0 +1,1 @@\n+a\n");
    let many = |word: &str| (0..EDITS_MAX).map(|number| format!("{word}{number}\n")).collect::<String>();
    assert_eq!(unified(("x", &many("a")), ("y", &many("b"))), None);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Proves ART-007.
    #[test]
    fn a_difference_leads_from_one_text_to_the_other(
        before in "([a-d]{1,2}\n){0,12}[a-c]{0,1}",
        after in "([a-d]{1,2}\n){0,12}[a-c]{0,1}",
    ) {
        let found = unified(("x", &before), ("y", &after)).unwrap();
        let text = if found.text.is_empty() { before.clone() } else { patched(&before, &found.text) };
        prop_assert_eq!(text, after);
    }
}

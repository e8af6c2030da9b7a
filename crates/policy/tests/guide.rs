//! The guide shows rules that compile, and what is said of those that do not.

use edgeplane_policy::{
    DECISIONS_MAX, DEPTH_MAX, FILE_BYTES_MAX, FILES_MAX, NESTING_MAX, PROBLEMS_MAX, RULES_MAX, RuleFile,
    compile,
};
use edgeplane_types::PolicyLayer;

const GUIDE: &str = include_str!("../../../docs/guide/policy.md");

/// The fenced blocks of the guide, each with the word behind its fence.
fn blocks() -> Vec<(&'static str, String)> {
    let mut blocks = Vec::new();
    let mut lines = GUIDE.lines();
    while let Some(line) = lines.next() {
        let Some(kind) = line.strip_prefix("```") else { continue };
        let text: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        blocks.push((kind, text.join("\n")));
    }
    blocks
}

/// Proves POL-023.
#[test]
fn the_rules_of_the_guide_compile() {
    let rules: Vec<String> =
        blocks().into_iter().filter(|(kind, _)| *kind == "cedar").map(|(_, text)| text).collect();
    assert_eq!(rules.len(), 3, "the guide has lost its examples, or has more");
    for text in &rules {
        let compiled = compile(PolicyLayer::Node, &[RuleFile { name: "rules.cedar", text }]);
        let compiled = compiled.unwrap_or_else(|problems| panic!("{text}\n{problems:#?}"));
        assert!(!compiled.is_empty());
    }
}

/// Proves POL-012 and POL-023.
#[test]
fn the_problems_of_the_guide_are_those_that_are_told() {
    let blocks = blocks();
    let mut shown = 0;
    for pair in blocks.windows(2) {
        let [("cedar-wrong", text), (kind, expected)] = pair else { continue };
        assert_eq!(*kind, "", "what is said stands behind what is wrong");
        let problems = compile(PolicyLayer::Node, &[RuleFile { name: "rules.cedar", text }]).unwrap_err();
        let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(told.join("\n"), *expected);
        shown += 1;
    }
    assert_eq!(shown, 3);
}

#[test]
fn the_bounds_of_the_guide_are_those_of_the_code() {
    let number = |number: usize| {
        let digits = number.to_string();
        match digits.split_at_checked(digits.len().saturating_sub(3)) {
            Some((thousands, rest)) if !thousands.is_empty() => format!("{thousands},{rest}"),
            _ => digits,
        }
    };
    for (what, bound) in [
        ("bytes of a file", format!("{} KiB", FILE_BYTES_MAX >> 10)),
        ("files of a layer", number(FILES_MAX)),
        ("rules of a layer", number(RULES_MAX)),
        ("brackets within brackets", number(NESTING_MAX)),
        ("levels of an expression", number(DEPTH_MAX)),
        ("problems shown at once", number(PROBLEMS_MAX)),
        ("remembered decisions", number(DECISIONS_MAX)),
    ] {
        let row = GUIDE.lines().find(|line| line.starts_with(&format!("| {what}"))).unwrap();
        assert!(row.contains(&format!("| {bound} |")), "{row}: {bound}");
    }
}

//! What is a rule, what is none, and where that is said.

use super::*;
use crate::{DEFAULT_TEXT, Decision, NO_PERMIT, sample};

const ANY: &str = "permit (principal, action, resource)";

fn problems(text: &str) -> Vec<String> {
    let file = RuleFile { name: "p", text };
    let problems = compile(PolicyLayer::Node, &[file]).err().unwrap_or_default();
    problems.iter().map(ToString::to_string).collect()
}

/// Holds the first problem of `text` to its beginning and to a part of the rest.
#[track_caller]
fn check(text: &str, place: &str, part: &str) {
    let found = problems(text);
    let first = found.first().unwrap_or_else(|| panic!("no problem in {text}"));
    assert!(first.starts_with(&format!("p:{place}")), "{text}\n{first}");
    assert!(first.contains(part), "{text}\n{first}");
}

/// Proves POL-011.
#[test]
fn every_rule_has_a_name_of_its_own() {
    check(&format!("\n  {ANY};"), "2:3", "found a rule without a name, expected `@id(");
    check(&format!("@reason(\"x\") {ANY};"), "1:1", "a rule without a name");
    check(&format!("@id(\"a b\") {ANY};"), "1:5", "the name `a b`");
    check(&format!("@id(\"\") {ANY};"), "1:5", "1 to 128");
    check(&format!("@id {ANY};"), "1:2", "1 to 128");
    check(&format!("@id(\"{}\") {ANY};", "x".repeat(129)), "1:5", "1 to 128");
    check(&format!("@id(\"a\") {ANY};\n@id(\"a\") {ANY};"), "2:1", "(the first is at p:1)");
    check(&format!("@id(\"{NO_PERMIT}\") {ANY};"), "1:5", "another name");
    check(&format!("@id(\"rule-error\") {ANY};"), "1:5", "another name");
    let name = "x".repeat(128);
    let text = format!("@id(\"{name}\") {ANY};");
    let two = [RuleFile { name: "one", text: &text }; 2];
    assert_eq!(compile(PolicyLayer::Node, &two[..1]).unwrap().rules()[0].id.as_str(), name);
    let error = compile(PolicyLayer::Node, &two).unwrap_err().remove(0);
    assert_eq!(error.hint.as_deref(), Some("the first is at one:1"), "also in another file of the layer");
}

/// Proves POL-014.
#[test]
fn annotations_that_say_nothing_are_refused() {
    let with = |annotation: &str| format!("@id(\"a\") {annotation} {ANY};");
    for (annotation, part) in [
        ("@rte(\"60/min\")", "the annotation `@rte`, expected one of `@id`"),
        ("@Rate(\"60/min\")", "the annotation `@Rate`"),
        ("@authority(\"delegate\")", "`delegate` for `@authority`, expected one of `trusted`"),
        ("@authority", "expected one of `trusted`"),
        ("@rate(\"60\")", "`60` for `@rate`, expected a count"),
        ("@rate(\"0/min\")", "expected a count"),
        ("@bytes(\"64kb\")", "`64kb` for `@bytes`, expected a number of bytes"),
        ("@bytes(\"0\")", "expected a number of bytes"),
        ("@reason(\"\")", "1 to 200 characters on one line"),
        ("@reason(\"a\\nb\")", "1 to 200 characters on one line"),
        ("@rate(\"1/s\") @rate(\"2/s\")", "duplicate annotation"),
    ] {
        let text = with(annotation);
        let found = problems(&text);
        assert!(found.first().is_some_and(|first| first.contains(part)), "{text}: {found:?}");
        assert!(found[0].starts_with("p:1:"), "{found:?}");
        assert!(
            (10..40).contains(&found[0].split(':').nth(2).unwrap().parse::<usize>().unwrap()),
            "{found:?}"
        );
    }
    for limit in ["@authority(\"trusted\")", "@rate(\"1/s\")", "@bytes(\"1\")"] {
        let text = format!("@id(\"a\") {limit} forbid (principal, action, resource);");
        check(&text, "1:10", "on a `forbid`, expected limits on a `permit` only");
    }
    let all = "@authority(\"advisory\") @rate(\"60/min\") @bytes(\"64KiB\") @reason(\"ä\")";
    let rules = sample::layer(PolicyLayer::Node, &with(all));
    let rule = &rules.rules()[0];
    assert_eq!(rule.authority, Some(edgeplane_types::Authority::Advisory));
    assert_eq!((rule.rate.unwrap().to_string().as_str(), rule.bytes_max), ("60/min", Some(65_536)));
    assert_eq!((rule.reason.as_deref(), rule.line), (Some("ä"), 1));
}

/// Proves POL-012.
#[test]
fn problems_say_where_and_what_and_come_all_at_once() {
    check("@id(\"a\")\npermit (principal, action, resource) when { 1 + };", "2:49", "unexpected token `}`");
    check("@id(\"a\") permit (principal, action);", "1:", "missing the `resource` variable");
    check("@id(\"a\") allow (principal, action, resource);", "1:10", "must be either `permit` or `forbid`");
    check("@id(\"a\") permit (principal, action, resource)", "1:46", "unexpected end of input");
    check("@id(\"a\") permit (principal == ?principal, action, resource);", "1:31", "slot");
    check("@id(\"ä\") \u{1b}", "1:10", "invalid token");
    check("\n\n\"", "3:1", "a text without end");
    check(&format!("// é\n@id(\"é\") {ANY};"), "2:5", "the name `é`");
    let text =
        format!("{ANY};\n@id(\"a\") permit;\n@id(\"b\") {ANY} when {{ principal.x }};\n@id(\"c\") {ANY};");
    let found = problems(&text);
    let lines: Vec<&str> = found.iter().map(|problem| &problem[..4]).collect();
    assert_eq!(lines, ["p:1:", "p:2:", "p:3:", "p:3:", "p:3:", "p:3:", "p:3:"], "{found:#?}");
}

/// Proves POL-013.
#[test]
fn names_that_are_none_are_refused() {
    let when = |condition: &str| format!("@id(\"a\")\n{ANY}\nwhen {{ {condition} }};");
    for (condition, part) in [
        ("resource.labls.contains(\"x\")", "attribute `labls`"),
        ("context.chanel == Channel::\"peer\"", "attribute `chanel`"),
        ("context.channel == Channel::\"peeer\"", "`Channel::\"peeer\"`"),
        ("context.channel == Chanel::\"peer\"", "Chanel"),
        ("context.channel == \"peer\"", "not compatible"),
        ("context.rank == Authority::\"trusted\"", "not compatible"),
        ("context.topic == \"news\"", "attribute `topic`"),
        ("principal.tenant == \"local\"", "attribute `tenant`"),
        ("principal is Agnet", "Agnet"),
        ("resource.risk == Risk::\"hihg\"", "hihg"),
        ("resource.name + 1 == 2", "unexpected type"),
    ] {
        check(&when(condition), "3:", part);
    }
    check("@id(\"a\") permit (principal, action == Action::\"snd\", resource);", "1:", "Action::\"snd\"");
    check(&when("principal is Agent && principal is Operator"), "1:1", "impossible");
    check("@id(\"a\") permit (principal, action, resource is Operator);", "1:", "a rule that can match");
    check(&when("resource.name == \"\u{440}eer\""), "3:", "one script");
    for condition in [
        "context has topic && context.topic == \"news\"",
        "principal has tenant && principal.tenant == resource.tenant",
        "principal is Agent && principal.risk == Risk::\"low\"",
        "context.rank >= 3 && context.assurance != Assurance::\"open\"",
        "resource.labels.containsAll([\"team=harbour\", \"role=crane\"])",
    ] {
        assert_eq!(problems(&when(condition)), [""; 0], "{condition}");
    }
}

#[test]
fn digests_are_of_names_and_texts_and_layer() {
    let digest = |layer, files: &[(&str, &str)]| {
        let files: Vec<RuleFile<'_>> = files.iter().map(|(name, text)| RuleFile { name, text }).collect();
        compile(layer, &files).unwrap().digest().to_owned()
    };
    let first = digest(PolicyLayer::Node, &[("a", DEFAULT_TEXT)]);
    assert_eq!(first.len(), 64);
    assert_eq!(first, digest(PolicyLayer::Node, &[("a", DEFAULT_TEXT)]));
    let others = [
        digest(PolicyLayer::Node, &[("b", DEFAULT_TEXT)]),
        digest(PolicyLayer::Node, &[("a", &format!("{DEFAULT_TEXT} "))]),
        digest(PolicyLayer::Node, &[("a", DEFAULT_TEXT), ("", "")]),
        digest(PolicyLayer::Agent, &[("a", DEFAULT_TEXT)]),
    ];
    assert!(!others.contains(&first), "{others:?}");
}

/// Proves POL-015.
#[test]
fn files_and_rules_are_bounded() {
    let filled = |bytes: usize| "/".repeat(bytes);
    assert_eq!(problems(&filled(FILE_BYTES_MAX)), [""; 0]);
    check(&filled(FILE_BYTES_MAX + 1), "1:262145", "a file of 262145 bytes, expected at most 262144");
    let file = RuleFile { name: "p", text: "" };
    assert!(compile(PolicyLayer::Node, &[file; FILES_MAX]).is_ok());
    let error = compile(PolicyLayer::Node, &[file; FILES_MAX + 1]).unwrap_err().remove(0);
    assert_eq!((error.found.as_str(), error.expected.as_str()), ("65 files of a layer", "at most 64"));
    // Rules that the schema decides by their heads alone, because so many take time.
    let rule = |n: usize| {
        format!("@id(\"{n}\") permit (principal is Node, action == Action::\"send\", resource);\n")
    };
    let text: String = (0..=RULES_MAX).map(rule).collect();
    check(&text, "1001:1", "more than 1000 rules of a layer");
    let text = &text[..text.trim_end().rfind('\n').unwrap()];
    assert_eq!(problems(text), [""; 0]);
    assert_eq!(problems(&";".repeat(1_000)).len(), PROBLEMS_MAX);
}

/// What may nest at most is compiled and decided on the stack of a test's thread; what nests deeper is refused.
///
/// Proves POL-015.
#[test]
fn deep_rules_are_refused_and_the_deepest_allowed_are_decided() {
    let around = |open: &str, inner: &str, close: &str, times| {
        format!("@id(\"a\") {ANY} when {{ {}{inner}{} }};", open.repeat(times), close.repeat(times))
    };
    let brackets = NESTING_MAX - 1;
    for (open, inner, close, most) in [
        ("(", "context.hops < 9", ")", brackets),
        ("!(", "context.hops < 9", ")", brackets),
        ("", "context.hops < 9", " && context.hops < 9", DEPTH_MAX - 4),
        ("", "context.hops > 9", " || context.hops < 9", DEPTH_MAX - 4),
        ("", "1", " + context.hops", 10),
        ("if context.hops > 9 then false else ", "true", "", (DEPTH_MAX - 4) / 2),
        ("[true].contains(", "context.hops < 9", ")", brackets),
    ] {
        let text = around(open, inner, close, most);
        let text = if inner == "1" && open.is_empty() { text.replace(" };", " < 99 };") } else { text };
        let decision = sample::node(&text).decide(&sample::request(), sample::NO_AGENTS);
        // One more bracket than a thousand, as an attacker would write it.
        for times in [most + DEPTH_MAX, 1_000, 40_000] {
            let text = around(open, inner, close, times);
            if text.len() <= FILE_BYTES_MAX {
                let found = problems(&text);
                assert!(
                    found[0].contains("within 12 open brackets")
                        || found[0].contains(" deep, expected at most 32")
                );
                assert!(found[0].starts_with("p:1:"), "{}", found[0]);
            }
        }
        let is_negated = open == "!(" && most % 2 == 1;
        match decision {
            Decision::Permit(_) => assert!(!is_negated, "{text}"),
            Decision::Refuse(refusal) => {
                assert!(is_negated, "{text}: {refusal:?}");
                assert_eq!(refusal.rule.as_str(), NO_PERMIT);
            }
        }
    }
}

//! Where statements end, where annotations stand, and what is too deep.

use super::*;

/// The text of each statement, or what is wrong with it.
fn texts(text: &str) -> Vec<Result<&str, String>> {
    split(text)
        .unwrap()
        .into_iter()
        .map(|each| each.map(|s| s.text).map_err(|finding| finding.found))
        .collect()
}

#[test]
fn statements_end_at_semicolons_outside_of_texts_and_comments() {
    let text = "// a; b\npermit (principal); // c;\n@id(\"x;\\\"y\") forbid(\";\") ;; rest";
    let expected = ["permit (principal);", "@id(\"x;\\\"y\") forbid(\";\") ;", ";", "rest"];
    assert_eq!(texts(text), expected.map(Ok));
    assert_eq!(texts(" \n// only words\n"), []);
}

#[test]
fn annotations_are_where_they_stand() {
    let text = "\n@id(\"a\")\n@flag @rate ( \"1/s\" ) permit (x);";
    let statement = split(text).unwrap().remove(0).unwrap();
    let found: Vec<(&str, &str, &str)> = statement
        .annotations
        .iter()
        .map(|a| (a.key, &text[a.key_offset..a.key_offset + 2], &text[a.value_offset..a.value_offset + 2]))
        .collect();
    assert_eq!(found, [("id", "@i", "\"a"), ("flag", "@f", "fl"), ("rate", "@r", "\"1")]);
}

#[test]
fn a_text_without_end_is_found_where_it_begins() {
    for (text, offset, found) in [
        ("permit (\"a", 8, "a text without end"),
        ("\"a\\\"", 0, "a text without end"),
        ("\"\\", 0, "a text without end"),
        ("\"ab\\\ncd\"", 3, "a backslash at the end of a line"),
    ] {
        let finding = split(text).unwrap_err();
        assert_eq!((finding.offset, finding.found.as_str()), (offset, found), "{text}");
    }
}

fn is_refused(condition: &str) -> bool {
    let text = format!("permit (principal, action, resource) when {{ {condition} }};");
    split(&text).unwrap().remove(0).is_err()
}

/// Each way to nest, so often; the braces of the condition are one bracket, and the clause around them two levels.
#[test]
fn every_way_to_nest_is_counted() {
    let brackets = NESTING_MAX - 1;
    for (open, inner, close, times) in [
        ("(", "true", ")", brackets),
        ("[", "1", "]", brackets),
        ("{a: ", "1", "}", brackets),
        ("x.contains(", "1", ")", brackets),
        ("", "true", " && true", DEPTH_MAX - 2),
        ("", "true", " || true", DEPTH_MAX - 2),
        ("", "1", " + 1", DEPTH_MAX - 2),
        ("", "context", ".a", DEPTH_MAX - 2),
        ("", "x", " in x", DEPTH_MAX - 2),
        ("if true then true else ", "true", "", (DEPTH_MAX - 2) / 2),
        ("if ", "true", " then true else true", (DEPTH_MAX - 2) / 2),
        ("!", "true", "", DEPTH_MAX - 2),
        ("-", "1", "", DEPTH_MAX - 2),
    ] {
        let nested = |times: usize| format!("{}{inner}{}", open.repeat(times), close.repeat(times));
        assert!(!is_refused(&nested(times)), "{}", nested(times));
        assert!(is_refused(&nested(times + 1)), "{}", nested(times + 1));
    }
}

#[test]
fn depth_adds_up_through_brackets_and_is_not_added_beside_them() {
    let chain = "true && ".repeat(10);
    let inner = format!("{chain}true");
    assert!(!is_refused(&format!("{chain}({inner})")));
    assert!(is_refused(&format!("{chain}({chain}({inner}))")));
    assert!(is_refused(&format!("({chain}({chain}({inner}")), "brackets that nobody closed");
    let items = vec![format!("({inner})"); 20].join(", ");
    assert!(!is_refused(&format!("[{items}]")));
    assert!(!is_refused(&["a.b == c"; 20].join(" && ")));
}

#[test]
fn brackets_in_texts_and_comments_are_no_brackets() {
    let many = "(".repeat(1_000);
    assert!(!is_refused(&format!("\"{many}\" == \"\\\"{many}\"")));
    assert!(!is_refused(&format!("true // {many}\n")));
    assert!(is_refused(&format!("true // \r{many}\n")), "a comment ends with its line");
}

#[test]
fn a_closing_bracket_too_many_is_left_to_cedar() {
    assert!(split(") ] } ; permit ) ;").unwrap().iter().all(Result::is_ok));
}

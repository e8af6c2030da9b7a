//! What counts as code, what as a comment, and what as a test.

use super::{Source, words};

fn check_code(text: &str, code: &str) {
    let source = Source::new(text);
    assert_eq!(source.code().len(), text.len(), "the views of {text:?} differ in length");
    let seen: Vec<&str> = source.code().split_whitespace().collect();
    assert_eq!(seen.join(" "), code, "in {text:?}");
}

fn check_tests(text: &str, in_tests: &[&str], outside: &[&str]) {
    let source = Source::new(text);
    let at = |word: &str| words(text, word).next().unwrap_or_else(|| panic!("no {word} in {text:?}"));
    for word in in_tests {
        assert!(source.is_test(at(word)), "{word} is in a test of {text:?}");
    }
    for word in outside {
        assert!(!source.is_test(at(word)), "{word} is in no test of {text:?}");
    }
}

#[test]
fn comments_are_not_code() {
    check_code("a // b\nc", "a c");
    check_code("a /* b /* c */ d */ e", "a e");
    check_code("//! a\n/// b\nc", "c");
    check_code("a /* never closed", "a");
}

#[test]
fn literals_are_not_code() {
    check_code(r#"a("b // \" c", d)"#, "a( , d)");
    check_code(r##"a(r#"b " c"#, br"d\", e)"##, "a( , , e)");
    check_code(r#"a(b"c", c"d", 'e', b'\'', '"', '\u{41}', f)"#, "a( , , , , , , f)");
    check_code("a(\"b\\\\\", c)", "a( , c)");
    check_code("a(\"é unsafe\", 'é', b)", "a( , , b)");
}

#[test]
fn lifetimes_and_raw_identifiers_are_code() {
    check_code("fn a<'b, 'c>(d: &'b str) { 'e: loop {} }", "fn a<'b, 'c>(d: &'b str) { 'e: loop {} }");
    check_code("r#type, bar\"a\", b", "r#type, bar , b");
}

#[test]
fn comments_keep_their_lines() {
    let source = Source::new("a // b\n\"// c\"\n/* d\ne */ f\n");
    let comments: Vec<(usize, &str)> =
        source.comment_lines().map(|(line, text)| (line, text.trim())).collect();
    assert_eq!(comments, [(1, "// b"), (2, ""), (3, "/* d"), (4, "e */")]);
}

#[test]
fn words_are_whole() {
    let found: Vec<usize> = words("unsafe_code unsafe not_unsafe unsafe{", "unsafe").collect();
    assert_eq!(found, [12, 30]);
    assert_eq!(words("unsafe", "unsafe").collect::<Vec<_>>(), [0]);
}

#[test]
fn lines_are_counted_from_one() {
    let source = Source::new("a\nb\n\nc");
    assert_eq!([0, 1, 2, 4, 5].map(|offset| source.line(offset)), [1, 1, 2, 3, 4]);
}

#[test]
fn attributes_are_read_across_lines_and_without_literals() {
    let source =
        Source::new("#![deny(\n  a::b, // c\n  d,\n)]\n#[expect(e, reason = \"[f]\")]\nlet g = [1];");
    let seen: Vec<(bool, &str)> =
        source.attributes().iter().map(|attribute| (attribute.inner, attribute.content.as_str())).collect();
    assert_eq!(seen, [(true, "deny(a::b,d,)"), (false, "expect(e,reason=)")]);
    assert_eq!(source.attributes()[1].path(), "expect");
}

#[test]
fn a_gated_item_is_a_test_to_its_end() {
    check_tests("fn a() {}\n#[cfg(test)]\nmod b { fn c() { d(); } }\nfn e() {}", &["b", "d"], &["a", "e"]);
    check_tests("#[cfg(all(test, unix))] #[allow(x)] pub(crate) fn a<B, C>(d: D) { e } f", &["e"], &["f"]);
    check_tests("#[cfg(test)] use a::{b, c};\nfn d() {}", &["a", "b"], &["d"]);
    check_tests("struct A { #[cfg(test)] b: C, d: E }", &["b", "C"], &["d", "E"]);
    check_tests("#[tokio::test(flavor = \"x\")] async fn a() { b } c", &["b"], &["c"]);
    check_tests("#![cfg(test)]\nfn a() {}", &["a"], &[]);
}

#[test]
fn what_is_compiled_without_tests_is_none() {
    check_tests("#[cfg(not(test))] fn a() {}", &[], &["a"]);
    check_tests("#[cfg(feature = \"test\")] fn a() {}", &[], &["a"]);
    check_tests("#[cfg_attr(test, b)] fn a() {}", &[], &["a"]);
}

#[test]
fn modules_for_tests_in_files_of_their_own_are_named() {
    let source = Source::new(
        "mod a;\n#[cfg(test)]\nmod tests;\n#[cfg(test)]\npub(crate) mod fakes;\n#[cfg(test)] mod b {}",
    );
    assert_eq!(source.test_modules(), ["tests", "fakes"]);
}

#[test]
fn comments_above_reach_across_attributes_and_end_at_code() {
    let text = "// a\nlet x = 1;\n// b\n// c\n#[expect(\n    d,\n)]\nsleep();\n";
    let source = Source::new(text);
    let at = words(text, "sleep").next().unwrap_or_default();
    let above: Vec<&str> = source.comments_above(at).filter(|comment| !comment.is_empty()).collect();
    assert_eq!(above, ["// c", "// b"]);
}

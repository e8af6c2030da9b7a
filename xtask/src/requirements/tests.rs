//! Requirements that are cited, not cited and not defined.

use super::{check, defined_id, ids};
use crate::problem::Problem;
use crate::source::Source;
use crate::tidy::RustFile;
use crate::workspace::TextFile;

fn text(path: &str, text: &str) -> TextFile {
    TextFile { path: path.to_owned(), text: text.to_owned() }
}

fn check_problems(spec: &str, rust: &[(&str, &str)], scripts: &[(&str, &str)], expected: &[&str]) {
    let rust: Vec<RustFile> = rust.iter().map(|(path, code)| RustFile::new(text(path, code))).collect();
    let scripts: Vec<TextFile> = scripts.iter().map(|(path, code)| text(path, code)).collect();
    let mut problems = check(&[text("spec/life.md", spec)], &rust, &scripts);
    problems.sort();
    let problems: Vec<String> = problems.iter().map(Problem::to_string).collect();
    assert_eq!(problems, expected);
}

const UNCITED: &str = "spec/life.md:1: no test cites the requirement LIFE-001";

#[test]
fn a_cited_requirement_is_in_order() {
    let spec = "**LIFE-001** An agent has a name.\n\n### LIFE-002\n\nSee LIFE-001.\n";
    check_problems(
        spec,
        &[("crates/node/src/a.rs", "#[cfg(test)]\nmod tests {\n/// LIFE-001\n#[test] fn a() {}\n}")],
        &[("examples/agents/python/agent_test.py", "# LIFE-002")],
        &[],
    );
    check_problems(spec, &[("crates/node/tests/a.rs", "// LIFE-001, LIFE-002")], &[], &[]);
    check_problems(spec, &[("testkit/src/a.rs", "const A: &str = \"LIFE-001 LIFE-002\";")], &[], &[]);
}

#[test]
fn only_a_test_counts_as_citing() {
    let spec = "**LIFE-001** An agent has a name.\n";
    check_problems(spec, &[], &[], &[UNCITED]);
    check_problems(spec, &[("crates/node/src/a.rs", "/// LIFE-001\nfn a() {}")], &[], &[UNCITED]);
    check_problems(spec, &[("xtask/src/tests.rs", "// LIFE-001")], &[], &[UNCITED]);
    check_problems(spec, &[], &[("examples/agents/python/agent.py", "# LIFE-001")], &[UNCITED]);
}

#[test]
fn a_cited_requirement_has_to_exist() {
    let undefined = |place: &str, id: &str| {
        format!(
            "{place}: the requirement {id} is not defined; a line of spec/*.md that begins `**{id}**` or `### {id}` would"
        )
    };
    check_problems(
        "**LIFE-001** See LIFE-009.\n",
        &[("crates/node/tests/a.rs", "// LIFE-001\n// LIFE-123 and LOFE-001")],
        &[],
        &[
            &undefined("crates/node/tests/a.rs:2", "LIFE-123"),
            &undefined("crates/node/tests/a.rs:2", "LOFE-001"),
            &undefined("spec/life.md:1", "LIFE-009"),
        ],
    );
}

#[test]
fn a_requirement_is_defined_once() {
    check_problems(
        "**LIFE-001** One.\n**LIFE-001** Two.\n",
        &[("crates/node/tests/a.rs", "// LIFE-001")],
        &[],
        &["spec/life.md:2: the requirement LIFE-001 is already defined at spec/life.md:1"],
    );
}

#[test]
fn other_names_of_the_same_form_are_not_requirements() {
    check_problems("", &[("crates/proof/src/a.rs", "// SHA-256, HTTP-404")], &[], &[]);
}

#[test]
fn ids_are_whole() {
    let found = |text| ids(text).map(|(_, id)| id).collect::<Vec<&str>>();
    assert_eq!(
        found("(LIFE-001), A2A-002; LIFE-003..LIFE-004"),
        ["LIFE-001", "A2A-002", "LIFE-003", "LIFE-004"]
    );
    assert_eq!(found("LIFE-01 LIFE-0001 life-001 X-001 xLIFE-001 LIFE-001-b MY_LIFE-001 ISO-8601"), [""; 0]);
}

#[test]
fn a_definition_begins_its_line() {
    assert_eq!(defined_id("**LIFE-001** An agent"), Some("LIFE-001"));
    assert_eq!(defined_id("**LIFE-001.** An agent"), Some("LIFE-001"));
    assert_eq!(defined_id("### LIFE-001: an agent"), Some("LIFE-001"));
    assert_eq!(defined_id("See **LIFE-001**"), None);
    assert_eq!(defined_id("### About LIFE-001"), None);
    assert_eq!(defined_id("LIFE-001"), None);
}

#[test]
fn offsets_agree_across_lines() {
    let code = "fn é() {}\n\n#[cfg(test)]\nmod tests { /* LIFE-001 */ }\n";
    assert!(Source::new(code).is_test(code.find("LIFE").unwrap_or_default()));
    check_problems("**LIFE-001** One.\n", &[("crates/node/src/a.rs", code)], &[], &[]);
}

//! Each rule of tidy, kept and broken, on small trees.

use std::fs;

use super::check_workspace;
use crate::problem::Problem;

/// Writes a tree of files and checks it.
fn check(files: &[(&str, &str)], expected: &[&str]) {
    let root = tempfile::tempdir().expect("a folder of its own");
    for (path, text) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().expect("a file has a folder")).expect("the folder is made");
        fs::write(path, text).expect("the file is written");
    }
    let mut problems = check_workspace(root.path()).expect("the tree can be read");
    problems.sort();
    let problems: Vec<String> = problems.iter().map(Problem::to_string).collect();
    assert_eq!(problems, expected, "in {files:?}");
}

/// Checks a module of an ordinary crate.
fn check_module(body: &str, expected: &[&str]) {
    check(&[("crates/node/src/a.rs", &format!("//! A module.\n{body}"))], expected);
}

/// Checks a module of the shim.
fn check_shim(body: &str, expected: &[&str]) {
    check(&[("crates/shim/src/a.rs", &format!("//! A module.\n{body}"))], expected);
}

const ROOT: &str = "//! A crate.\n#![forbid(unsafe_code)]\n";

#[test]
fn a_tidy_tree_has_no_problems() {
    check(
        &[
            ("crates/node/Cargo.toml", "[package]\nname = \"edgeplane-node\"\n"),
            ("crates/node/src/lib.rs", ROOT),
            ("crates/node/tests/run.rs", "#[test]\nfn a_node_runs() {}\n"),
            ("target/debug/generated.rs", "unsafe {}"),
            (".hidden/a.rs", "unsafe {}"),
        ],
        &[],
    );
}

#[test]
fn a_long_file_is_reported_unless_it_is_tests() {
    let body = |lines: usize| format!("//! A module.\n{}", "//\n".repeat(lines - 1));
    check(&[("crates/node/src/a.rs", &body(600))], &[]);
    check(
        &[("crates/node/src/a.rs", &body(601))],
        &["crates/node/src/a.rs:601: 601 lines, at most 600 are allowed; split it by what its parts own"],
    );
    check(&[("crates/node/src/a/tests.rs", &body(601)), ("crates/node/tests/a.rs", &body(601))], &[]);
}

#[test]
fn every_source_opens_with_its_documentation() {
    let problem = |subject| {
        format!("the first line is not the {subject}'s documentation; open with `//!` and what it owns")
    };
    let (root, module) = (problem("crate"), problem("module"));
    check(
        &[("crates/node/src/lib.rs", "#![forbid(unsafe_code)]\n//! Late.\n")],
        &[&format!("crates/node/src/lib.rs:1: {root}")],
    );
    check(&[("crates/node/src/a.rs", "/// Of an item.\n")], &[&format!("crates/node/src/a.rs:1: {module}")]);
    check(&[("crates/node/src/a.rs", "//!\n")], &[&format!("crates/node/src/a.rs:1: {module}")]);
    check(&[("crates/node/src/a.rs", "")], &[&format!("crates/node/src/a.rs:1: {module}")]);
}

#[test]
fn files_and_modules_have_names_of_their_own() {
    check(
        &[("crates/node/src/a/mod.rs", "//! A module.\n")],
        &["crates/node/src/a/mod.rs:1: `mod.rs`; write `a.rs` beside the folder `a`"],
    );
    let message = "a module called `helpers` owns nothing in particular; name it by its subject";
    check(
        &[("crates/node/src/helpers.rs", "//! A module.\n")],
        &[&format!("crates/node/src/helpers.rs:1: {message}")],
    );
    check_module(
        "pub(crate) mod helpers {}\nmod useful {}\n",
        &[&format!("crates/node/src/a.rs:2: {message}")],
    );
}

#[test]
fn work_for_later_names_its_issue() {
    check_module("// TODO(#12): later\n// FIXME: see #3\nconst A: &str = \"TODO\";\n", &[]);
    check_module(
        "fn a() {} // TODO: later\n",
        &["crates/node/src/a.rs:2: TODO without the number of its issue, as in `#123`"],
    );
    check(
        &[("scripts/a.sh", "set -eu\n# FIXME\n"), ("examples/a.py", "print('TODO')\n")],
        &["scripts/a.sh:2: FIXME without the number of its issue, as in `#123`"],
    );
}

#[test]
fn unsafe_stands_only_in_os() {
    let problem = "`unsafe` outside crates/os/src/; give `os` a safe function that does this";
    for body in [
        "fn a() { unsafe { b() } }",
        "unsafe fn a() {}",
        "unsafe impl A for B {}",
        "#[unsafe(no_mangle)] fn a() {}",
    ] {
        check_module(body, &[&format!("crates/node/src/a.rs:2: {problem}")]);
        check(&[("crates/os/src/a.rs", &format!("//! A module.\n{body}"))], &[]);
        check(&[("crates/os/tests/a.rs", body)], &[&format!("crates/os/tests/a.rs:1: {problem}")]);
    }
    check_module("// unsafe\nconst A: &str = \"unsafe { }\"; fn unsafe_code() {}", &[]);
}

#[test]
fn every_crate_root_but_that_of_os_forbids_unsafe() {
    let problem = "a crate root without `#![forbid(unsafe_code)]`";
    let unguarded = "//! A crate.\n#![deny(unsafe_code)]\n// #![forbid(unsafe_code)]\n";
    for path in ["src/lib.rs", "src/main.rs", "src/bin/a.rs", "src/bin/a/main.rs"] {
        check(&[(&format!("crates/node/{path}"), unguarded)], &[&format!("crates/node/{path}:1: {problem}")]);
        check(&[(&format!("crates/node/{path}"), ROOT)], &[]);
        check(&[(&format!("crates/os/{path}"), unguarded)], &[]);
    }
    check(&[("crates/node/src/a.rs", unguarded)], &[]);
    let of_one_item = "//! A crate.\n#[forbid(unsafe_code)]\nmod a {}\n";
    check(&[("crates/node/src/lib.rs", of_one_item)], &[&format!("crates/node/src/lib.rs:1: {problem}")]);
}

#[test]
fn a_root_that_the_manifest_names_is_a_root() {
    check(
        &[
            ("crates/node/Cargo.toml", "[[bin]]\nname = \"a\"\npath = \"src/programs/a.rs\"\n"),
            ("crates/node/src/programs/a.rs", "//! A program.\n"),
        ],
        &["crates/node/src/programs/a.rs:1: a crate root without `#![forbid(unsafe_code)]`"],
    );
}

#[test]
fn the_shim_does_not_panic() {
    let problem =
        |what| format!("crates/shim/src/a.rs:2: {what} in the shim, which never panics; return an error");
    check_shim("fn a() { b.unwrap() }", &[&problem("`unwrap`")]);
    check_shim("fn a() { b\n        .expect(\"c\") }", &[&problem("`expect`").replace(":2:", ":3:")]);
    check_shim("fn a() { b.map(Option::unwrap) }", &[&problem("`unwrap`")]);
    check_shim("fn a() { panic!(\"b\") }", &[&problem("`panic!`")]);
    check_shim("fn a() { unreachable!() }", &[&problem("`unreachable!`")]);
    check_module("fn a() { b.unwrap() }", &[]);
}

#[test]
fn what_only_looks_like_a_panic_in_the_shim_is_fine() {
    check_shim("fn a() { b.unwrap_or(1).unwrap_or_default() } // c.unwrap()", &[]);
    check_shim("#[expect(dead_code, reason = \"panic!\")]\nfn a() {}", &[]);
    check_shim("#[cfg(test)]\nmod tests { fn a() { b.unwrap(); panic!() } }", &[]);
    check(&[("crates/shim/src/a/tests.rs", "//! Tests.\nfn a() { b.unwrap() }")], &[]);
}

#[test]
fn the_roots_of_the_shim_deny_hidden_panics() {
    let both = "#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]\n";
    check(&[("crates/shim/src/main.rs", &format!("{ROOT}{both}"))], &[]);
    check(
        &[(
            "crates/shim/src/lib.rs",
            &format!(
                "{ROOT}#![deny(\n    clippy::indexing_slicing,\n    clippy::arithmetic_side_effects,\n)]\n"
            ),
        )],
        &[],
    );
    check(
        &[("crates/shim/src/main.rs", ROOT)],
        &[
            "crates/shim/src/main.rs:1: a root of the shim without `#![deny(clippy::arithmetic_side_effects)]`",
            "crates/shim/src/main.rs:1: a root of the shim without `#![deny(clippy::indexing_slicing)]`",
        ],
    );
}

#[test]
fn tests_are_named_by_behaviour() {
    let problem = "the name of a test begins with `test_`; name the behaviour alone";
    check_module(
        "#[test]\n#[should_panic]\nfn test_a() {}",
        &[&format!("crates/node/src/a.rs:4: {problem}")],
    );
    check_module("#[tokio::test]\nasync fn test_a() {}", &[&format!("crates/node/src/a.rs:3: {problem}")]);
    check_module("#[cfg(test)]\nfn test_folder() {}\n#[test]\nfn tests_are_run() {}", &[]);
}

#[test]
fn every_test_runs() {
    let problem = "crates/node/src/a.rs:3: `#[ignore]`; every test runs, or is removed";
    check_module("#[test]\n#[ignore = \"slow\"]\nfn a() {}", &[problem]);
    check_module("#[test]\n#[cfg_attr(target_os = \"linux\", ignore)]\nfn a() {}", &[problem]);
    check_module("// #[ignore]\n#[serde(ignore)]\nstruct A;", &[]);
}

const SLEEPS: &str =
    "a test sleeps; wait on a condition with a deadline, or say `// sleep: <reason>` on the line above";

#[test]
fn tests_do_not_sleep() {
    for call in ["std::thread::sleep(a)", "tokio::time::sleep(a).await", "time::sleep_until(a)", "sleep(a)"] {
        let inline = format!("#[cfg(test)]\nmod tests {{ fn a() {{ {call}; }} }}");
        check_module(&inline, &[&format!("crates/node/src/a.rs:3: {SLEEPS}")]);
        check(
            &[("crates/node/tests/a.rs", &format!("fn a() {{ {call}; }}"))],
            &[&format!("crates/node/tests/a.rs:1: {SLEEPS}")],
        );
        check(
            &[("crates/node/src/a/tests.rs", &format!("//! Tests.\nfn a() {{ {call}; }}"))],
            &[&format!("crates/node/src/a/tests.rs:2: {SLEEPS}")],
        );
        check_module(&format!("fn a() {{ {call}; }}"), &[]);
    }
}

#[test]
fn a_module_declared_for_tests_is_a_test_with_all_below_it() {
    let sleeps = "//! Fakes.\nfn a() { thread::sleep(b); }";
    check(
        &[
            ("crates/node/src/lib.rs", &format!("{ROOT}mod other;\n#[cfg(test)]\nmod fakes;\n")),
            ("crates/node/src/fakes.rs", sleeps),
            ("crates/node/src/fakes/deep.rs", sleeps),
            ("crates/node/src/fakes_not.rs", sleeps),
            ("crates/node/src/other.rs", "//! Other.\n#[cfg(test)]\nmod regression;\n"),
            ("crates/node/src/other/regression.rs", sleeps),
        ],
        &[
            &format!("crates/node/src/fakes.rs:2: {SLEEPS}"),
            &format!("crates/node/src/fakes/deep.rs:2: {SLEEPS}"),
            &format!("crates/node/src/other/regression.rs:2: {SLEEPS}"),
        ],
    );
}

#[test]
fn a_sleep_with_its_reason_is_allowed() {
    let file = |above: &str| format!("fn a() {{\n{above}\n    thread::sleep(b);\n}}");
    check(&[("crates/node/tests/a.rs", &file("    // sleep: the kernel offers nothing to wait on"))], &[]);
    check(&[("crates/node/tests/a.rs", &file("    // sleep: see\n    #[expect(c, reason = \"d\")]"))], &[]);
    let problem = |line| format!("crates/node/tests/a.rs:{line}: {SLEEPS}");
    check(&[("crates/node/tests/a.rs", &file("    // sleep:"))], &[&problem(3)]);
    check(&[("crates/node/tests/a.rs", &file("    // a nap"))], &[&problem(3)]);
    check(&[("crates/node/tests/a.rs", &file("    // sleep: far\n    b();"))], &[&problem(4)]);
}

#[test]
fn what_is_not_a_sleep_is_allowed_in_tests() {
    for code in ["clock.sleep(a)", "fn sleep(a: A) {}", "let sleep = 1", "args(\"sleep\")", "State::sleep(a)"]
    {
        check(&[("crates/node/tests/a.rs", &format!("fn a() {{ {code}; }}"))], &[]);
    }
}

#[test]
fn requirements_are_read_from_the_tree() {
    check(
        &[("spec/life.md", "**LIFE-001** One.\n"), ("crates/node/src/a.rs", "//! Keeps LIFE-002.\n")],
        &[
            "crates/node/src/a.rs:1: the requirement LIFE-002 is not defined; a line of spec/*.md that begins `**LIFE-002**` or `### LIFE-002` would",
            "spec/life.md:1: no test cites the requirement LIFE-001",
        ],
    );
}

//! Each rule of the floors, kept and broken.

use std::fs;

use super::{Dependency, Kind, Member, Table, check, check_workspace, line_naming};

const TABLE: &str = r#"
tools = ["testkit"]
impure = ["tokio"]

[[floor]]
number = 0
name = "words"
pure = true
crates.types = { imports = [] }

[[floor]]
number = 1
name = "rules"
pure = true
crates.wire = { imports = ["types"] }
crates.driver = { imports = ["types", "wire"], imports_later = ["proof"] }
crates.proof = { imports = ["types"] }
crates.policy = { imports = ["types"], later = true }

[[floor]]
number = 2
name = "ground"
ban = ["hyper"]
crates.shim = { imports = ["wire"], ban = ["clap"] }
"#;

/// A workspace that keeps every rule of the table.
fn sound() -> Vec<Member> {
    vec![
        member("types", &["serde"]),
        member("wire", &["edgeplane-types"]),
        member("driver", &["edgeplane-types", "edgeplane-wire"]),
        member("proof", &["edgeplane-types"]),
        member("shim", &["edgeplane-wire", "tokio"]),
        member("testkit", &["edgeplane-shim", "tokio", "clap"]),
    ]
}

fn member(name: &str, packages: &[&str]) -> Member {
    let dependencies = packages.iter().zip(10..);
    let dependencies = dependencies.map(|(package, line)| Dependency {
        package: (*package).to_owned(),
        kind: Kind::Shipped,
        line,
    });
    Member {
        name: name.to_owned(),
        manifest_path: format!("crates/{name}/Cargo.toml"),
        dependencies: dependencies.collect(),
    }
}

/// The sound workspace with one more dependency.
fn with(name: &str, package: &str, kind: Kind) -> Vec<Member> {
    let mut members = sound();
    for member in members.iter_mut().filter(|member| member.name == name) {
        member.dependencies.push(Dependency { package: package.to_owned(), kind, line: 42 });
    }
    members
}

fn check_problems(table: &str, members: &[Member], expected: &[&str]) {
    let table = Table::parse(table).expect("the table parses");
    let problems: Vec<String> = check(&table, members).iter().map(ToString::to_string).collect();
    assert_eq!(problems, expected);
}

#[test]
fn a_sound_workspace_has_no_problems() {
    check_problems(TABLE, &sound(), &[]);
}

#[test]
fn imports_do_not_point_up() {
    check_problems(
        TABLE,
        &with("wire", "edgeplane-shim", Kind::Shipped),
        &[
            "crates/wire/Cargo.toml:42: `wire` on floor 1 imports `shim` on floor 2: imports point down; it may import `types`",
        ],
    );
    check_problems(
        TABLE,
        &with("types", "edgeplane-wire", Kind::Development),
        &[
            "crates/types/Cargo.toml:42: `types` on floor 0 imports `wire` on floor 1: imports point down; it may import nothing of the workspace",
        ],
    );
}

#[test]
fn an_edge_has_to_be_listed() {
    check_problems(
        TABLE,
        &with("shim", "edgeplane-types", Kind::Shipped),
        &[
            "crates/shim/Cargo.toml:42: `shim` imports `types`, which its row in floors.toml does not list; it may import `wire`",
        ],
    );
    check_problems(
        TABLE,
        &with("wire", "edgeplane-proof", Kind::Shipped),
        &[
            "crates/wire/Cargo.toml:42: `wire` imports `proof`, which its row in floors.toml does not list; it may import `types`",
        ],
    );
}

#[test]
fn a_test_may_name_any_crate_that_is_not_above() {
    check_problems(TABLE, &with("shim", "edgeplane-types", Kind::Development), &[]);
    check_problems(TABLE, &with("wire", "edgeplane-proof", Kind::Development), &[]);
}

#[test]
fn only_tests_and_tools_import_a_tool() {
    check_problems(TABLE, &with("types", "edgeplane-testkit", Kind::Development), &[]);
    check_problems(
        TABLE,
        &with("shim", "edgeplane-testkit", Kind::Shipped),
        &[
            "crates/shim/Cargo.toml:42: `shim` must not import the tool `testkit`; only `[dev-dependencies]` may name it",
        ],
    );
}

#[test]
fn banned_packages_are_refused_outside_tests() {
    check_problems(
        TABLE,
        &with("wire", "tokio", Kind::Shipped),
        &["crates/wire/Cargo.toml:42: `wire` must not depend on `tokio`: floor 1 (rules) is pure"],
    );
    check_problems(
        TABLE,
        &with("shim", "clap", Kind::Shipped),
        &["crates/shim/Cargo.toml:42: `shim` must not depend on `clap`: the row of `shim` bans it"],
    );
    check_problems(
        TABLE,
        &with("shim", "hyper", Kind::Shipped),
        &["crates/shim/Cargo.toml:42: `shim` must not depend on `hyper`: floor 2 (ground) bans it"],
    );
    check_problems(TABLE, &with("wire", "tokio", Kind::Development), &[]);
}

#[test]
fn every_crate_has_a_row() {
    let mut members = sound();
    members.push(member("novel", &[]));
    check_problems(
        TABLE,
        &members,
        &[
            "crates/novel/Cargo.toml:1: crate `novel` has no row in floors.toml; give it a floor and its imports",
        ],
    );
}

#[test]
fn a_row_without_its_crate_is_stale() {
    let mut members = sound();
    members.retain(|member| member.name != "proof" && member.name != "testkit");
    check_problems(
        TABLE,
        &members,
        &[
            "floors.toml:2: tool `testkit` does not exist",
            "floors.toml:17: crate `proof` does not exist; remove its row or say `later = true`",
        ],
    );
}

#[test]
fn a_listed_edge_that_is_not_used_is_stale() {
    let mut members = sound();
    members[4] = member("shim", &[]);
    check_problems(
        TABLE,
        &members,
        &[
            "floors.toml:24: `shim` no longer imports `wire`; remove it from `imports` or move it to `imports_later`",
        ],
    );
}

#[test]
fn what_was_for_later_is_moved_when_it_comes() {
    let mut members = with("driver", "edgeplane-proof", Kind::Shipped);
    members.push(member("policy", &["edgeplane-types"]));
    check_problems(
        TABLE,
        &members,
        &[
            "floors.toml:18: crate `policy` exists; remove its `later = true`",
            "floors.toml:16: `driver` now imports `proof`; move it from `imports_later` to `imports`",
        ],
    );
}

#[test]
fn the_table_itself_points_down() {
    let table = TABLE.replace(
        "wire = { imports = [\"types\"] }",
        "wire = { imports = [\"types\", \"shim\", \"nobody\"] }",
    );
    let wire = "crate `wire`";
    check_problems(
        &table,
        &with("wire", "edgeplane-types", Kind::Shipped),
        &[
            &format!("floors.toml:15: {wire} on floor 1 must not list `shim` on floor 2: imports point down"),
            &format!("floors.toml:15: {wire} imports `nobody`, which has no row"),
            "floors.toml:15: `wire` no longer imports `shim`; remove it from `imports` or move it to `imports_later`",
            "floors.toml:15: `wire` no longer imports `nobody`; remove it from `imports` or move it to `imports_later`",
        ],
    );
}

#[test]
fn a_table_that_contradicts_itself_is_refused() {
    let refused = |table: &str| Table::parse(table).expect_err("the table is refused").to_string();
    let floor = "[[floor]]\nnumber = 2\nname = \"more\"\n";
    assert_eq!(refused(&format!("{TABLE}{floor}crates = {{}}\n")), "floor 2 is listed twice");
    let floor = floor.replace('2', "3");
    assert_eq!(
        refused(&format!("{TABLE}{floor}crates.wire = {{ imports = [] }}\n")),
        "crate `wire` is listed twice"
    );
    assert_eq!(
        refused(&format!("{TABLE}{floor}crates.testkit = {{ imports = [] }}\n")),
        "`testkit` is listed as a tool and on a floor"
    );
    assert_eq!(refused(&TABLE.replace("later = true", "later_on = true")), "not a table of floors");
}

#[test]
fn a_dependency_is_found_in_every_form_of_a_manifest() {
    let manifest =
        "[dependencies]\nanyhow-extra = 1\nanyhow.workspace = true\ntokio = \"1\"\n[dev-dependencies.clap]\n";
    assert_eq!(line_naming(manifest, "anyhow"), 3);
    assert_eq!(line_naming(manifest, "tokio"), 4);
    assert_eq!(line_naming(manifest, "clap"), 5);
    assert_eq!(line_naming(manifest, "missing"), 1);
}

#[test]
fn a_workspace_is_read_as_cargo_reads_it() {
    let root = tempfile::tempdir().expect("a folder of its own");
    let write = |path: &str, text: &str| {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().expect("a file has a folder")).expect("the folder is made");
        fs::write(path, text).expect("the file is written");
    };
    write(
        "Cargo.toml",
        "[workspace]\nmembers = [\"one\"]\n[workspace.dependencies]\nrunner = { package = \"tokio\", version = \"1\" }\n",
    );
    write(
        "one/Cargo.toml",
        "[package]\nname = \"edgeplane-one\"\n[dev-dependencies]\nlibc = \"0.2\"\n\
         [target.'cfg(unix)'.dependencies]\nrunner.workspace = true\n",
    );
    write("one/src/lib.rs", "");
    write(
        "floors.toml",
        "tools = []\nimpure = [\"tokio\", \"libc\"]\n[[floor]]\nnumber = 0\nname = \"words\"\npure = true\n\
         crates.one = { imports = [] }\n",
    );
    let problems = check_workspace(root.path()).expect("cargo describes the workspace");
    let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(problems, ["one/Cargo.toml:6: `one` must not depend on `tokio`: floor 0 (words) is pure"]);
}

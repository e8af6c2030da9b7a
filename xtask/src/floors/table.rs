//! The table of floors as written. Knows its words, not whether the workspace follows it.

use std::collections::BTreeMap;

use anyhow::Context;
use serde::Deserialize;

/// The file's shape.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    tools: Vec<String>,
    impure: Vec<String>,
    floor: Vec<FileFloor>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileFloor {
    number: u8,
    name: String,
    #[serde(default)]
    pure: bool,
    #[serde(default)]
    ban: Vec<String>,
    crates: BTreeMap<String, FileCrate>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileCrate {
    imports: Vec<String>,
    #[serde(default)]
    imports_later: Vec<String>,
    #[serde(default)]
    later: bool,
    #[serde(default)]
    ban: Vec<String>,
}

/// What one crate may do.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) floor: u8,
    /// The crates of the workspace it depends on.
    pub(super) imports: Vec<String>,
    /// Edges agreed on but not in use yet.
    pub(super) imports_later: Vec<String>,
    /// The crate does not exist yet.
    pub(super) later: bool,
    /// The row's line in the table.
    pub(super) line: usize,
    ban: Vec<String>,
}

/// What every crate of one floor may do.
#[derive(Debug)]
struct Floor {
    name: String,
    pure: bool,
    ban: Vec<String>,
}

/// Every floor and every crate.
#[derive(Debug)]
pub(super) struct Table {
    tools: Vec<String>,
    tools_line: usize,
    impure: Vec<String>,
    floors: BTreeMap<u8, Floor>,
    rows: BTreeMap<String, Row>,
}

impl Table {
    /// Reads the table and refuses a floor, crate or tool that is listed twice.
    pub(super) fn parse(text: &str) -> anyhow::Result<Self> {
        let file: File = toml::from_str(text).context("not a table of floors")?;
        let tools_line = line_starting(text, "tools");
        let mut floors = BTreeMap::new();
        let mut rows = BTreeMap::new();
        for FileFloor { number, name, pure, ban, crates } in file.floor {
            anyhow::ensure!(
                floors.insert(number, Floor { name, pure, ban }).is_none(),
                "floor {number} is listed twice"
            );
            for (name, FileCrate { imports, imports_later, later, ban }) in crates {
                anyhow::ensure!(!file.tools.contains(&name), "`{name}` is listed as a tool and on a floor");
                let line = line_starting(text, &format!("crates.{name}"));
                let row = Row { name: name.clone(), floor: number, imports, imports_later, later, line, ban };
                anyhow::ensure!(rows.insert(name.clone(), row).is_none(), "crate `{name}` is listed twice");
            }
        }
        Ok(Self { tools: file.tools, tools_line, impure: file.impure, floors, rows })
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = &Row> {
        self.rows.values()
    }

    pub(super) fn row(&self, name: &str) -> Option<&Row> {
        self.rows.get(name)
    }

    pub(super) fn tools(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().map(String::as_str)
    }

    pub(super) fn tools_line(&self) -> usize {
        self.tools_line
    }

    pub(super) fn is_tool(&self, name: &str) -> bool {
        self.tools().any(|tool| tool == name)
    }

    /// Says why the crate of `row` must not name the external `package`, if so.
    pub(super) fn ban(&self, row: &Row, package: &str) -> Option<String> {
        let holds = |list: &[String]| list.iter().any(|banned| banned == package);
        if holds(&row.ban) {
            return Some(format!("the row of `{}` bans it", row.name));
        }
        let floor = self.floors.get(&row.floor)?;
        if floor.pure && holds(&self.impure) {
            return Some(format!("floor {} ({}) is pure", row.floor, floor.name));
        }
        holds(&floor.ban).then(|| format!("floor {} ({}) bans it", row.floor, floor.name))
    }
}

fn line_starting(text: &str, key: &str) -> usize {
    let opens = |line: &str| line.strip_prefix(key).is_some_and(|rest| rest.starts_with([' ', '=']));
    text.lines().position(opens).map_or(1, |index| index + 1)
}

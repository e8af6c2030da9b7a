//! `cargo xtask bench`: measures EdgePlane on this machine, beside references and peers measured in the same run.
//!
//! Owns the rows, their order and what is done before each of them; a row's own module owns how it is measured.
//! Everything happens in throw-away folders on one disk, and everything that is started is ended.

mod build;
mod clock;
mod machine;
mod node;
mod peers;
mod process;
mod pty;
mod report;
mod reports;
mod row;
mod rows;
mod rpc;
mod sample;

use std::{
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    time::Duration,
};

use anyhow::{Context as _, bail};

use build::Binaries;
use machine::{Busy, Machine};
use report::Found;
use row::Row;

/// Longest wait for quiet before a row in seconds, unless the variable `QUIET_WAIT` says otherwise.
const QUIET_WAIT_SECONDS: u64 = 90;

/// How often a row is measured at most while others keep the machine busy.
const ATTEMPTS_MAX: u32 = 3;

const USAGE: &str = "\
usage: cargo xtask bench [--only ROW,...] [--quick] [--json FILE] [--list]

  --only ROW,...  only these rows
  --quick         few repetitions and no waiting for quiet: shows that it works, not how fast
  --json FILE     also write what was found as JSON
  --list          name the rows

QUIET_WAIT=SECONDS is the longest wait for a quiet machine before each row. A run of all rows that is not quick
writes docs/benchmarks.md. Peers that are missing are left out; scripts/bench-setup.sh installs them.";

/// Rows that are measured together.
pub(crate) struct Group {
    pub(crate) name: &'static str,
    /// How, for the documentation.
    pub(crate) how: &'static str,
    pub(crate) run: fn(&Bench) -> anyhow::Result<Vec<Row>>,
}

/// What every row works with.
#[derive(Debug)]
pub(crate) struct Bench {
    binaries: Binaries,
    /// The measured program, see `program.c`.
    program: String,
    dir: tempfile::TempDir,
    quick: bool,
}

impl Bench {
    fn new(quick: bool) -> anyhow::Result<Self> {
        let parent = scratch_parent()?;
        let dir = tempfile::Builder::new().prefix("b-").tempdir_in(parent)?;
        let program = build::compile_program(dir.path())?.to_string_lossy().into_owned();
        Ok(Self { binaries: Binaries::find()?, program, dir, quick })
    }

    /// How often something is done: so often, or seldom in a quick run.
    fn times(&self, full: usize, quick: usize) -> usize {
        if self.quick { quick } else { full }
    }

    fn node(&self) -> anyhow::Result<node::Node> {
        node::Node::start(&self.binaries, self.dir.path())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn reports(&self, name: &str) -> anyhow::Result<reports::Reports> {
        reports::Reports::open(self.path(name))
    }
}

/// A folder on the disk of the user's files, with a short name because sockets lie in it.
fn scratch_parent() -> anyhow::Result<PathBuf> {
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or(home);
    let parent = cache.unwrap_or_else(std::env::temp_dir).join("edgeplane/bench");
    std::fs::create_dir_all(&parent)?;
    Ok(parent)
}

#[derive(Debug, Default)]
struct Options {
    only: Vec<String>,
    quick: bool,
    json: Option<PathBuf>,
    list: bool,
    /// Everything is built, and this is the release build of this program.
    built: bool,
}

impl Options {
    fn read(arguments: &[String]) -> anyhow::Result<Self> {
        let mut options = Self::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            match argument.as_str() {
                "--only" => {
                    let rows = rest.next().context("`--only` without rows")?;
                    options.only.extend(rows.split(',').map(str::to_owned));
                }
                "--quick" => options.quick = true,
                "--json" => options.json = Some(rest.next().context("`--json` without a file")?.into()),
                "--list" => options.list = true,
                "--built" => options.built = true,
                other => bail!("`bench` does not know `{other}`\n{USAGE}"),
            }
        }
        Ok(options)
    }
}

/// Runs the command at the root of the workspace.
pub(crate) fn run(root: &Path, arguments: &[String]) -> anyhow::Result<ExitCode> {
    let options = Options::read(arguments)?;
    if options.list {
        rows::GROUPS.iter().for_each(|group| println!("{}", group.name));
        return Ok(ExitCode::SUCCESS);
    }
    if !options.built {
        // A debug build of the client would be part of what is measured.
        let program = build::build(root)?;
        let status =
            Command::new(program).current_dir(root).args(["bench", "--built"]).args(arguments).status()?;
        return Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    if let Some(wrong) =
        options.only.iter().find(|name| rows::GROUPS.iter().all(|group| group.name != **name))
    {
        bail!("no row is called `{wrong}`; `--list` names them");
    }
    let found = measure(root, &options)?;
    println!("\n{}\n\n{}", found.place(), found.table());
    if let Some(path) = &options.json {
        std::fs::write(path, found.json()).with_context(|| format!("cannot write {}", path.display()))?;
    }
    if options.only.is_empty() && !options.quick {
        found.write_page(root, rows::GROUPS)?;
        println!("wrote {}", report::PAGE);
    }
    Ok(if found.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn measure(root: &Path, options: &Options) -> anyhow::Result<Found> {
    let bench = Bench::new(options.quick)?;
    let mut found = Found { machine: Machine::look(root), rows: Vec::new(), failures: Vec::new() };
    let quiet_wait = match std::env::var("QUIET_WAIT") {
        Ok(text) => text.parse().context("QUIET_WAIT is not a number of seconds")?,
        Err(_) if options.quick => 0,
        Err(_) => QUIET_WAIT_SECONDS,
    };
    for group in rows::GROUPS {
        if options.only.is_empty() || options.only.iter().any(|name| name == group.name) {
            match measure_group(&bench, group, Duration::from_secs(quiet_wait)) {
                Ok(rows) => found.rows.extend(rows),
                Err(error) => found.failures.push(format!("{}: {error:#}", group.name)),
            }
        }
    }
    process::end_marked(bench.dir.path());
    Ok(found)
}

/// Measures a group in a quiet moment; again if others became busy meanwhile, and then what was least disturbed counts.
fn measure_group(bench: &Bench, group: &Group, quiet_wait: Duration) -> anyhow::Result<Vec<Row>> {
    let attempts = if quiet_wait.is_zero() { 1 } else { ATTEMPTS_MAX };
    let mut best: Option<(Busy, Vec<Row>)> = None;
    for _ in 0..attempts {
        let before = machine::wait_for_quiet(quiet_wait);
        let begin = clock::now_ns();
        let rows = (group.run)(bench)?;
        let took = (clock::now_ns() - begin) as f64 / 1e9;
        let busy = Busy { before, after: machine::glance_after() };
        eprintln!("{}: {took:.1} s, the machine is {busy} busy with other things", group.name);
        if best.as_ref().is_none_or(|(least, _)| busy.worst() < least.worst()) {
            best = Some((busy, rows));
        }
        if machine::is_quiet(busy.worst()) {
            break;
        }
    }
    let (busy, rows) = best.context("not measured")?;
    Ok(rows.into_iter().map(|row| Row { busy, ..row }).collect())
}

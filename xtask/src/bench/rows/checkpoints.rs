//! Checkpoints of folders, beside what keeps folders elsewhere.

use std::{
    fs,
    io::{Read as _, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use crate::bench::{Bench, Group, clock::now_ns, peers, row::Row, rpc::Connection, sample::Samples};

pub(crate) const GROUP: Group = Group {
    name: "checkpoints",
    how: "`workspace/checkpoint.create` of a folder over the unix socket, from the request to the answer, after a first one. \
          Unchanged: 10,000 files of 1 KiB that nobody touched. Changed: 1 GiB that no program can make smaller, in 4,096 \
          files of which 41 were written anew, and in one file of which 164 places of 64 KiB were. Reference: one thread \
          that looks at (`lstat`), or reads, everything in the folder, with everything in the page cache. Peers: `git add \
          --all` and `restic backup` of the same folder after the same change, each after a first one of its own. Restore: \
          of the 1 GiB into the emptied folder, with the files it makes; reference: `cp --recursive` of it.",
    run,
};

const FILES: usize = 10_000;
const LARGE_FILES: usize = 4_096;
const LARGE_FILE_BYTES: usize = 256 << 10;
const CHANGED_FILES: usize = 41;
const PLACE_BYTES: usize = 64 << 10;
const PLACES: usize = 164;

/// Milliseconds that an unchanged folder may take, and bytes that it may add.
const REACH_MILLIS: f64 = 150.0;
const REACH_BYTES: u64 = 64 << 10;

/// Times the time of reading that a changed folder may take.
const REACH_READING: f64 = 1.5;

/// Megabytes that are brought back in a second.
const REACH_RATE: f64 = 300.0;

/// Bytes that look like chance, always the same from the same seed.
struct Chance(u64);

impl Chance {
    fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(count + 8);
        while bytes.len() < count {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            bytes.extend_from_slice(&self.0.to_le_bytes());
        }
        bytes.truncate(count);
        bytes
    }
}

/// A folder with a workspace of its own, and what others keep of it.
struct Kept {
    folder: PathBuf,
    id: Value,
    connection: Connection,
    git: Option<PathBuf>,
    restic: Option<PathBuf>,
}

impl Kept {
    fn of(bench: &Bench, node: &crate::bench::node::Node, folder: PathBuf) -> anyhow::Result<Self> {
        let mut connection = node.connect()?;
        let made = connection.call("workspace/create", json!({ "folder": folder }))?;
        let id = made["workspace_id"].clone();
        let name = folder.file_name().context("a folder has a name")?.to_string_lossy().into_owned();
        let beside = |kind: &str| peers::is_installed(kind).then(|| bench.path(&format!("{name}.{kind}")));
        let mut kept = Self { git: beside("git"), restic: beside("restic"), folder, id, connection };
        kept.create()?;
        if kept.git.is_some() {
            kept.git(&["init", "--quiet"])?;
            kept.add()?;
        }
        if kept.restic.is_some() {
            kept.restic(&["init"])?;
            kept.backup()?;
        }
        Ok(kept)
    }

    /// Keeps its state; gives the answer and how long that took.
    fn create(&mut self) -> anyhow::Result<(Value, u64)> {
        let begin = now_ns();
        let made = self.connection.call("workspace/checkpoint.create", json!({ "workspace_id": self.id }))?;
        let took = now_ns() - begin;
        ensure!(made["state"] == "kept" || made["digest"].is_string(), "no checkpoint was made: {made}");
        Ok((made, took))
    }

    fn git(&self, arguments: &[&str]) -> anyhow::Result<u64> {
        let repository = self.git.as_ref().context("git is there")?;
        let mut command = Command::new("git");
        command.arg("--git-dir").arg(repository).arg("--work-tree").arg(&self.folder).args(arguments);
        timed(&mut command)
    }

    fn add(&self) -> anyhow::Result<u64> {
        self.git(&["-c", "core.compression=0", "-c", "core.untrackedCache=true", "add", "--all", "."])
    }

    fn restic(&self, arguments: &[&str]) -> anyhow::Result<u64> {
        let repository = self.restic.as_ref().context("restic is there")?;
        let mut command = Command::new("restic");
        command.arg("--quiet").arg("--repo").arg(repository).args(arguments);
        command.env("RESTIC_PASSWORD", "bench").current_dir(&self.folder);
        timed(&mut command)
    }

    fn backup(&self) -> anyhow::Result<u64> {
        self.restic(&["backup", "."])
    }
}

fn timed(command: &mut Command) -> anyhow::Result<u64> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    if let Some(folder) = command.get_current_dir().map(Path::to_owned) {
        ensure!(folder.is_dir(), "{} is no folder", folder.display());
    }
    let begin = now_ns();
    let output = command.output()?;
    let took = now_ns() - begin;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(took)
}

/// What each way of keeping a folder took, round by round.
#[derive(Default)]
struct Times {
    ours: Vec<u64>,
    reference: Vec<u64>,
    git: Vec<u64>,
    restic: Vec<u64>,
    bytes_new: u64,
}

impl Times {
    fn round(&mut self, kept: &mut Kept, reference: fn(&Path) -> anyhow::Result<u64>) -> anyhow::Result<()> {
        let begin = now_ns();
        reference(&kept.folder)?;
        self.reference.push(now_ns() - begin);
        let (made, took) = kept.create()?;
        self.bytes_new = self.bytes_new.max(made["bytes_new"].as_u64().unwrap_or(u64::MAX));
        self.ours.push(took);
        if kept.git.is_some() {
            self.git.push(kept.add()?);
        }
        if kept.restic.is_some() {
            self.restic.push(kept.backup()?);
        }
        Ok(())
    }

    fn row(&self, what: &str, reference: &str) -> Row {
        let samples = |nanos: &[u64]| (!nanos.is_empty()).then(|| Samples::millis(nanos));
        let bare = Samples::millis(&self.reference);
        let kib = self.bytes_new as f64 / 1024.0;
        Row::time(what, "ms", &Samples::millis(&self.ours))
            .reference(reference, &bare)
            .peer("git add", samples(&self.git).as_ref())
            .peer("restic backup", samples(&self.restic).as_ref())
            .against(reference, bare.p50())
            .note(format!("{what}: {kib:.1} KiB new at most"))
    }

    fn p50(&self) -> [f64; 4] {
        [&self.ours, &self.reference, &self.git, &self.restic].map(|nanos| Samples::millis(nanos).p50())
    }
}

fn run(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let node = bench.node()?;
    let mut rows = vec![unchanged(bench, &node)?];
    rows.extend(changed(bench, &node)?);
    rows.push(one_file(bench, &node)?);
    Ok(rows)
}

fn unchanged(bench: &Bench, node: &crate::bench::node::Node) -> anyhow::Result<Row> {
    let folder = bench.path("unchanged");
    let mut chance = Chance(7);
    for number in 0..bench.times(FILES, 100) {
        let of = folder.join(format!("{:02}", number % 100));
        fs::create_dir_all(&of)?;
        fs::write(of.join(format!("file-{number}")), chance.bytes(1 << 10))?;
    }
    let mut kept = Kept::of(bench, node, folder)?;
    // Files that were written a moment ago are looked at twice.
    kept.create()?;
    let mut times = Times::default();
    for _ in 0..bench.times(20, 2) {
        times.round(&mut kept, look)?;
    }
    let met = times.p50()[0] <= REACH_MILLIS && times.bytes_new <= REACH_BYTES;
    let row = times.row("checkpoint of 10,000 files, unchanged", "looking at each");
    Ok(row.reach(format!("p50 ≤ {REACH_MILLIS}, ≤ 64 KiB new"), met))
}

fn changed(bench: &Bench, node: &crate::bench::node::Node) -> anyhow::Result<Vec<Row>> {
    let folder = bench.path("changed");
    let (mut chance, files) = (Chance(11), bench.times(LARGE_FILES, 32));
    let file = |number: usize| folder.join(format!("{:02}", number % 64)).join(format!("file-{number}"));
    for number in 0..files {
        fs::create_dir_all(file(number).parent().context("a file is in a folder")?)?;
        fs::write(file(number), chance.bytes(LARGE_FILE_BYTES))?;
    }
    let mut kept = Kept::of(bench, node, folder.clone())?;
    let mut times = Times::default();
    for round in 0..bench.times(5, 1) {
        for place in 0..CHANGED_FILES.min(files) {
            fs::write(file((round * 997 + place * 101) % files), chance.bytes(LARGE_FILE_BYTES))?;
        }
        times.round(&mut kept, read)?;
    }
    let row = reading_row(&times, "checkpoint of 1 GiB in 4,096 files, 1 % changed");
    let bytes = (files * LARGE_FILE_BYTES) as f64;
    Ok(vec![row, restored(bench, &mut kept, bytes)?])
}

fn reading_row(times: &Times, what: &str) -> Row {
    let [ours, reading, git, restic] = times.p50();
    let is_first = [git, restic].iter().all(|peer| peer.is_nan() || ours < *peer);
    times.row(what, "reading it").reach(
        format!("≤ {REACH_READING} × reading it, before git and restic"),
        ours <= REACH_READING * reading && is_first,
    )
}

fn restored(bench: &Bench, kept: &mut Kept, bytes: f64) -> anyhow::Result<Row> {
    let (made, _) = kept.create()?;
    let megabytes = bytes / 1e6;
    let (mut ours, mut copied) = (Vec::new(), Vec::new());
    for round in 0..bench.times(3, 1) {
        let copy = bench.path(&format!("copy-{round}"));
        let took = timed(Command::new("cp").arg("--recursive").arg(&kept.folder).arg(&copy))?;
        copied.push(megabytes / (took as f64 / 1e9));
        fs::remove_dir_all(&copy)?;
        for entry in fs::read_dir(&kept.folder)? {
            fs::remove_dir_all(entry?.path())?;
        }
        let begin = now_ns();
        let params = json!({ "checkpoint_id": made["checkpoint_id"] });
        kept.connection.call("workspace/checkpoint.restore", params)?;
        ours.push(megabytes / ((now_ns() - begin) as f64 / 1e9));
        ensure!(read(&kept.folder)? as f64 == bytes, "not everything came back");
    }
    let (ours, copied) = (Samples::new(ours), Samples::new(copied));
    let met = ours.p50() >= REACH_RATE;
    Ok(Row::rate("restore of 1 GiB in 4,096 files", "MB/s", &ours)
        .reference("cp", &copied)
        .against("cp", copied.p50())
        .reach(format!("≥ {REACH_RATE}"), met))
}

fn one_file(bench: &Bench, node: &crate::bench::node::Node) -> anyhow::Result<Row> {
    let folder = bench.path("one");
    fs::create_dir_all(&folder)?;
    let (path, mut chance) = (folder.join("file"), Chance(13));
    let mut file = fs::File::create_new(&path)?;
    let pieces = bench.times(LARGE_FILES, 32);
    for _ in 0..pieces {
        file.write_all(&chance.bytes(LARGE_FILE_BYTES))?;
    }
    let bytes = pieces * LARGE_FILE_BYTES;
    let mut kept = Kept::of(bench, node, folder)?;
    let mut times = Times::default();
    for round in 0..bench.times(5, 1) {
        for place in 0..PLACES {
            let at = (round * 7_919 + place * 6_151) * PLACE_BYTES % (bytes - PLACE_BYTES);
            file.seek(SeekFrom::Start(u64::try_from(at)?))?;
            file.write_all(&chance.bytes(PLACE_BYTES))?;
        }
        times.round(&mut kept, read)?;
    }
    Ok(reading_row(&times, "checkpoint of one file of 1 GiB, 1 % changed"))
}

/// Looks at everything in a folder.
fn look(folder: &Path) -> anyhow::Result<u64> {
    let mut count = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let found = fs::symlink_metadata(entry.path())?;
        count += if found.is_dir() { look(&entry.path())? } else { 1 };
    }
    Ok(count)
}

/// Reads everything in a folder, and gives how many bytes that are.
fn read(folder: &Path) -> anyhow::Result<u64> {
    let (mut count, mut buffer) = (0, vec![0; 1 << 20]);
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if fs::symlink_metadata(&path)?.is_dir() {
            count += read(&path)?;
            continue;
        }
        let mut file = fs::File::open(&path)?;
        loop {
            let found = file.read(&mut buffer)?;
            if found == 0 {
                break;
            }
            count += u64::try_from(found)?;
        }
    }
    Ok(count)
}

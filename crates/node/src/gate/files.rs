//! The files of rules: read at start and whenever they change; bad ones are refused while those before stay in force.
//!
//! `policy/organisation/*.cedar` and `policy/node/*.cedar` in the state directory; without any of the node the shipped
//! ones hold. What came into force is kept beside them, so that a daemon that starts on bad files has the rules that
//! held before.

use std::{
    fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, RwLock},
    time::Duration,
};

use edgeplane_policy::{LayerRules, PolicyEngine, RuleFile, Rules, compile, default_rules};
use edgeplane_types::{Fact, PolicyLayer, StreamName, Timestamp};
use serde::{Deserialize, Serialize};

use super::{Gate, InForce, rates::Rates, refusals::Refusals};
use crate::{
    record::{Draft, Origin},
    shared::Shared,
};

/// How often the files are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The copy of what came into force last.
const KEPT: &str = "in-force.json";

/// The ending of a file of rules; others are left alone.
const ENDING: &str = "cedar";

/// Why there are no rules at all.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PolicyError {
    /// A folder or file.
    #[error("cannot read `{}`", path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// What they say.
    #[error("{}", .0.join("; "))]
    Wrong(Vec<String>),
}

/// One file as it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    name: String,
    text: String,
}

/// The files of both layers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Texts {
    organisation: Vec<Text>,
    node: Vec<Text>,
}

/// By what a change of the files is noticed: names, inodes, sizes and times.
type Look = Vec<(PathBuf, u64, u64, i64, i64)>;

impl Gate {
    /// Reads the rules; what is wrong with the files does not keep the node from starting.
    pub(crate) fn open(dir: PathBuf, now: Timestamp, engine: Arc<dyn PolicyEngine>) -> Self {
        let (rules, rejected) = match Texts::read(&dir).and_then(|texts| Ok((texts.compile()?, texts))) {
            Ok((rules, texts)) => {
                keep(&dir, &texts);
                (rules, Vec::new())
            }
            Err(error) => {
                let mut rejected = vec![crate::record::chain(&error)];
                let rules = kept(&dir).unwrap_or_else(|| {
                    rejected.push("no rules of before are kept: nothing is permitted".to_owned());
                    Rules::new(None, nothing())
                });
                (rules, rejected)
            }
        };
        Self {
            in_force: RwLock::new(Arc::new(InForce { rules, since: now, rejected })),
            engine,
            rates: Mutex::new(Rates::default()),
            refusals: Mutex::new(Refusals::default()),
            dir,
        }
    }

    /// The folders that rules are read from, the layer above first.
    pub(crate) fn folders(&self) -> [PathBuf; 2] {
        [self.dir.join("organisation"), self.dir.join("node")]
    }

    fn look(&self) -> Look {
        let mut look = Look::new();
        for folder in self.folders() {
            for path in listed(&folder).unwrap_or_default() {
                if let Ok(found) = fs::metadata(&path) {
                    look.push((path, found.ino(), found.len(), found.mtime(), found.mtime_nsec()));
                }
            }
        }
        look
    }

    /// Reads the files anew; blocking. What was wrong, if anything, is in the rules in force afterwards.
    fn read_anew(&self, now: Timestamp) -> Change {
        let read = Texts::read(&self.dir).and_then(|texts| Ok((texts.compile()?, texts)));
        let mut in_force = self.in_force.write().unwrap_or_else(PoisonError::into_inner);
        match read {
            Ok((rules, texts)) => {
                let is_same = rules.digest() == in_force.rules.digest();
                let since = if is_same { in_force.since } else { now };
                *in_force = Arc::new(InForce { rules, since, rejected: Vec::new() });
                drop(in_force);
                keep(&self.dir, &texts);
                if is_same { Change::None } else { Change::Loaded }
            }
            Err(error) => {
                let rejected = match error {
                    PolicyError::Wrong(problems) => problems,
                    other @ PolicyError::Read { .. } => vec![crate::record::chain(&other)],
                };
                let is_new = rejected != in_force.rejected;
                *in_force = Arc::new(InForce {
                    rules: in_force.rules.clone(),
                    since: in_force.since,
                    rejected: rejected.clone(),
                });
                if is_new { Change::Rejected(rejected) } else { Change::None }
            }
        }
    }
}

/// What a look at the files came to.
#[derive(Debug)]
enum Change {
    None,
    Loaded,
    Rejected(Vec<String>),
}

/// Notes the rules that a daemon begins with, if the record does not know them, and follows their files until it ends.
pub(crate) async fn watch(shared: Arc<Shared>) {
    let gate = &shared.gate;
    let mut last = gate.look();
    let begun = gate.in_force();
    let known = shared.record.look_up(edgeplane_store::Reader::policy).ok().flatten();
    if known.and_then(|row| row.digest).as_deref() != Some(begun.rules.digest()) {
        note(&shared, &Change::Loaded).await;
    }
    if !begun.rejected.is_empty() {
        note(&shared, &Change::Rejected(begun.rejected.clone())).await;
    }
    loop {
        tokio::select! {
            () = shared.stopping.cancelled() => return,
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
        let look = gate.look();
        if look != last {
            last = look;
            reload(&shared).await;
        }
    }
}

/// Reads the files anew and notes what changed.
pub(crate) async fn reload(shared: &Arc<Shared>) {
    let own = Arc::clone(shared);
    let read = tokio::task::spawn_blocking(move || own.gate.read_anew(own.record.now()));
    if let Ok(change) = read.await {
        note(shared, &change).await;
    }
}

async fn note(shared: &Shared, change: &Change) {
    let fact = match change {
        Change::None => return,
        Change::Loaded => {
            let in_force = shared.gate.in_force();
            let layers = in_force.rules.organisation().into_iter().chain([in_force.rules.node()]);
            let (mut rules, mut files) = (0_u64, Vec::new());
            for layer in layers {
                rules = rules.saturating_add(u64::try_from(layer.rules().len()).unwrap_or(u64::MAX));
                files.extend(layer.files().iter().map(|file| format!("{}/{file}", layer.layer().as_str())));
            }
            Fact::PolicyLoaded { digest: in_force.rules.digest().to_owned(), rules, files }
        }
        Change::Rejected(problems) => {
            let first = problems.first().cloned().unwrap_or_default();
            let file = first.split(':').next().unwrap_or_default().to_owned();
            tracing::warn!(problem = first, "rules cannot be read; those before stay in force");
            Fact::PolicyRejected { file, problem: first }
        }
    };
    let mut draft = Draft::default();
    shared.record.add(&mut draft, StreamName::Node(shared.identity.id), &Origin::node("policy"), fact);
    if let Err(error) = shared.record.commit(draft).await {
        tracing::warn!(%error, "a change of rules cannot be recorded");
    }
}

impl Texts {
    fn read(dir: &Path) -> Result<Self, PolicyError> {
        let layer = |name: &str| {
            let folder = dir.join(name);
            let failed = |path: &Path| {
                let path = path.to_owned();
                move |source| PolicyError::Read { path, source }
            };
            let mut texts = Vec::new();
            for path in listed(&folder).map_err(failed(&folder))? {
                let text = fs::read_to_string(&path).map_err(failed(&path))?;
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                texts.push(Text { name, text });
            }
            Ok(texts)
        };
        Ok(Self { organisation: layer("organisation")?, node: layer("node")? })
    }

    fn compile(&self) -> Result<Rules, PolicyError> {
        let organisation = match self.organisation.as_slice() {
            [] => None,
            texts => Some(compiled(PolicyLayer::Organisation, texts)?),
        };
        let node = match self.node.as_slice() {
            [] => default_rules().map_err(|problems| wrong(&problems))?,
            texts => compiled(PolicyLayer::Node, texts)?,
        };
        Ok(Rules::new(organisation, node))
    }
}

fn compiled(layer: PolicyLayer, texts: &[Text]) -> Result<LayerRules, PolicyError> {
    let files: Vec<RuleFile<'_>> =
        texts.iter().map(|text| RuleFile { name: &text.name, text: &text.text }).collect();
    compile(layer, &files).map_err(|problems| wrong(&problems))
}

fn wrong(problems: &[edgeplane_policy::Problem]) -> PolicyError {
    PolicyError::Wrong(problems.iter().map(ToString::to_string).collect())
}

/// The files of rules in a folder, by name; none if there is no folder.
fn listed(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == ENDING) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// Keeps a copy of what came into force, if it is another than the one kept.
fn keep(dir: &Path, texts: &Texts) {
    let path = dir.join(KEPT);
    let Ok(bytes) = serde_json::to_vec_pretty(texts) else { return };
    if fs::read(&path).is_ok_and(|kept| kept == bytes) {
        return;
    }
    let written = fs::create_dir_all(dir).map_err(|error| error.to_string()).and_then(|()| {
        edgeplane_os::atomic::write_atomic(&path, &bytes, 0o600).map_err(|error| error.to_string())
    });
    if let Err(error) = written {
        tracing::warn!(error, "the rules in force cannot be kept for the next start");
    }
}

/// The rules that came into force last.
fn kept(dir: &Path) -> Option<Rules> {
    let bytes = fs::read(dir.join(KEPT)).ok()?;
    let texts: Texts = serde_json::from_slice(&bytes).ok()?;
    texts.compile().ok()
}

/// A layer of the node that permits nothing.
fn nothing() -> LayerRules {
    #[expect(clippy::expect_used, reason = "no file has nothing that could be wrong")]
    compile(PolicyLayer::Node, &[]).expect("no file is a layer")
}

//! What an agent owns: said before it is retired, and removed with it only as it was said.
//!
//! Owns the plan, whose digest is of what it names; how much it weighs in bytes grows while the agent lives and is told
//! beside it. What is done by the plan, when the agent is retired, stands in [`crate::removal`].

use std::{collections::BTreeMap, fs, path::Path};

use edgeplane_lifecycle::State;
use edgeplane_types::{ErrorName, Fact, Timestamp};
use edgeplane_wire::{
    api::agent::{Belonging, RetirementPlan},
    rpc::RpcError,
};
use serde_json::json;

use super::{Actor, Command, LifeRequest, replicas::BySet};
use crate::record::{Draft, Origin, refused};

/// Names of one kind that a plan shows.
const NAMES_MAX: usize = 100;

/// Most of one kind that is looked at; more is told as this many.
const COUNT_MAX: usize = 1_000_000;

/// A removal that is durable with the retirement it belongs to.
#[derive(Debug)]
pub(super) struct Removal {
    digest: String,
    text: String,
}

/// How much a folder holds.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Weight {
    files: u64,
    bytes: u64,
}

impl Actor {
    /// What it owns now.
    pub(super) async fn removal_plan(&self) -> Result<RetirementPlan, RpcError> {
        let mut replicas = Vec::new();
        for member in self.members() {
            // One that goes at this moment owns nothing any more.
            if let Ok(plan) = member.ask(Command::Removal).await {
                replicas.push(plan?);
            }
        }
        let (removes, versions) = self.belongings().await?;
        let named: Vec<_> =
            removes.iter().map(|belonging| (&belonging.kind, belonging.count, &belonging.names)).collect();
        let digests: Vec<&str> = replicas.iter().map(|plan| plan.digest.as_str()).collect();
        let subject = json!({
            "agent": self.identity.id, "generation": self.generation, "removes": named,
            "memory": versions, "replicas": digests,
        });
        Ok(RetirementPlan {
            name: self.identity.name.to_string(),
            agent_id: self.identity.id,
            digest: edgeplane_proof::digest(subject.to_string().as_bytes()).to_string(),
            removes,
            stays: self.staying()?,
            replicas,
        })
    }

    /// What goes with it, and the versions of the keys of its memory.
    async fn belongings(&self) -> Result<(Vec<Belonging>, BTreeMap<String, u64>), RpcError> {
        let (id, record) = (self.identity.id, &self.shared.record);
        let folder = self.shared.agents_dir().join(id.to_string());
        let own = folder.clone();
        let looked = tokio::task::spawn_blocking(move || look(&own)).await;
        let (epochs, rest) = looked.map_err(|_cut| RpcError::new(ErrorName::Internal, "cut off"))?;
        let memory = record.read(move |reader| reader.memory_list(&id, "", "", COUNT_MAX)).await?;
        let memory_bytes = record.look_up(|reader| reader.memory_totals(&id))?.value_bytes;
        let schedules = record.look_up(|reader| reader.schedules_of(&id))?;
        let waiting = record.look_up(|reader| reader.waiting_totals(&id))?.all();
        let dead = record.read(move |reader| reader.dead_letters(Some(&id), COUNT_MAX, 0)).await?;
        let actions = record.look_up(|reader| {
            reader.expired_actions(Some(&id), Timestamp::from_micros(i64::MAX), COUNT_MAX)
        })?;
        let epoch_names: Vec<String> = epochs.keys().map(|epoch| format!("epoch {epoch}")).collect();
        let epoch_bytes = epochs.values().map(|weight| weight.bytes).sum();
        let program = match self.life.state() {
            State::Starting(epoch) | State::Running(epoch) | State::Frozen(epoch) => {
                let group = self.live.as_ref().and_then(|live| live.group.clone());
                vec![group.unwrap_or_else(|| format!("epoch {epoch}"))]
            }
            _ => Vec::new(),
        };
        let names = |names: Vec<String>, bytes| (names.len(), bytes, names);
        let has_folder = rest.files > 0;
        let topics = self.manifest.spec.subscriptions.iter().map(ToString::to_string).collect();
        let kinds = [
            ("program", names(program, 0)),
            ("recordings", names(epoch_names, epoch_bytes)),
            (
                "folder",
                (count(rest.files), rest.bytes, has_folder.then(|| shown(&folder)).into_iter().collect()),
            ),
            ("memory", names(memory.iter().map(|row| row.key.clone()).collect(), memory_bytes)),
            ("schedules", names(schedules.iter().map(|row| row.name.to_string()).collect(), 0)),
            ("messages", (count(waiting.messages), waiting.content_bytes, Vec::new())),
            ("dead_letters", (dead.len(), 0, Vec::new())),
            ("actions", names(actions.iter().map(ToString::to_string).collect(), 0)),
            ("topics", names(topics, 0)),
        ];
        let versions = memory.into_iter().map(|row| (row.key, row.version)).collect();
        let removes = kinds.into_iter().filter(|(_, (count, ..))| *count > 0);
        Ok((removes.map(|(kind, found)| belonging(kind, found)).collect(), versions))
    }

    /// What stays whatever is removed.
    fn staying(&self) -> Result<Vec<Belonging>, RpcError> {
        let stream = self.stream();
        let head = self.shared.record.look_up(|reader| reader.stream_head(&stream))?;
        let events = head.map_or(0, |head| head.seq);
        let mut stays = vec![belonging("record", (count(events), 0, vec![stream.to_string()]))];
        if let Some(cwd) = &self.manifest.spec.cwd {
            stays.push(belonging("workspace", (1, 0, vec![cwd.as_str().to_owned()])));
        }
        Ok(stays)
    }

    /// Gets ready for a retirement with all that it owns, if that is what is asked for and what was said still holds.
    pub(super) async fn plan_removal(
        &mut self,
        request: &LifeRequest,
        origin: &Origin,
    ) -> Result<(), RpcError> {
        // What was planned before and refused is not planned any more.
        self.removal = None;
        if self.life.desired() != edgeplane_types::Desired::Retired {
            self.removes = false;
        }
        let with_the_set = request.by_set == Some(BySet::Retired { with_belongings: true });
        if request.plan.is_none() && !with_the_set {
            return Ok(());
        }
        let plan = self.removal_plan().await?;
        if request.plan.as_ref().is_some_and(|wanted| *wanted != plan.digest) {
            let what = format!("what agent `{}` owns is not what the plan says any more", self.identity.name);
            return Err(RpcError::new(ErrorName::Conflict, what)
                .hint("look at the plan again; of an agent that is stopped it stays the same"));
        }
        let text = serde_json::to_string(&plan).map_err(|error| {
            RpcError::new(ErrorName::Internal, format!("the plan cannot be kept: {error}"))
        })?;
        self.removal = Some(Removal { digest: plan.digest, text });
        if self.life.desired() == edgeplane_types::Desired::Retired {
            // It is on its way already: then this is all there is to be durable.
            let mut draft = Draft::default();
            self.draft_removal(&mut draft, origin);
            self.shared.record.commit(draft).await.map_err(|error| refused(&error))?;
        }
        self.removes = true;
        Ok(())
    }

    /// Adds the removal that is wanted to what makes a retirement durable.
    pub(super) fn draft_removal(&self, draft: &mut Draft, origin: &Origin) {
        let Some(removal) = &self.removal else { return };
        let (body_digest, body_bytes) = draft.body(removal.text.clone().into_bytes());
        let fact = Fact::AgentRemovalPlanned { plan_digest: removal.digest.clone(), body_digest, body_bytes };
        self.shared.record.add(draft, self.stream(), origin, fact);
    }
}

fn belonging(kind: &str, (found, bytes, mut names): (usize, u64, Vec<String>)) -> Belonging {
    names.truncate(NAMES_MAX);
    Belonging { kind: kind.to_owned(), count: u64::try_from(found).unwrap_or(u64::MAX), bytes, names }
}

fn count(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Looks through an agent's folder: its epochs by number, and the rest together.
fn look(folder: &Path) -> (BTreeMap<u64, Weight>, Weight) {
    let (mut epochs, mut rest) = (BTreeMap::new(), Weight::default());
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let epoch = entry.file_name().to_str().and_then(|name| name.parse::<u64>().ok());
        let mut weight = Weight::default();
        weigh(&entry.path(), &mut weight);
        match epoch {
            Some(epoch) => drop(epochs.insert(epoch, weight)),
            None => {
                rest.files = rest.files.saturating_add(weight.files);
                rest.bytes = rest.bytes.saturating_add(weight.bytes);
            }
        }
    }
    (epochs, rest)
}

/// Adds what a path holds; no link is followed.
fn weigh(path: &Path, weight: &mut Weight) {
    let mut left = vec![path.to_owned()];
    while let Some(path) = left.pop() {
        let Ok(found) = fs::symlink_metadata(&path) else { continue };
        if found.is_dir() {
            left.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        } else {
            weight.files = weight.files.saturating_add(1);
            weight.bytes = weight.bytes.saturating_add(found.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves LIFE-045.
    #[test]
    fn folder_is_weighed_without_following_links() {
        let dir = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("theirs"), [0; 1_000]).unwrap();
        for (place, bytes) in [("1/000001.cast", 10), ("12/000001.cast", 5), ("workspace/a", 3)] {
            let path = dir.path().join(place);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, vec![0; bytes]).unwrap();
        }
        std::os::unix::fs::symlink(outside.path(), dir.path().join("workspace/link")).unwrap();
        let (epochs, rest) = look(dir.path());
        assert_eq!(epochs.keys().copied().collect::<Vec<_>>(), [1, 12]);
        assert_eq!(epochs[&1], Weight { files: 1, bytes: 10 });
        assert_eq!(rest.files, 2, "the file and the link itself");
        assert!(rest.bytes < 1_000, "{rest:?}");
    }
}

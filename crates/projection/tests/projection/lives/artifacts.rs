//! What an agent publishes and which texts it is given, as its stream tells it.

use std::collections::BTreeMap;

use edgeplane_types::{
    ArtifactId, Authority, ContextId, Fact, MessageId, WorkspaceId,
    fact::{
        ArtifactDeleted, ArtifactPublished, ArtifactSource, ContextItem, ContextOmission, ContextResolved,
        OmissionReason,
    },
};

use super::{World, label};

/// An artifact with its newest version.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Artifact {
    id: ArtifactId,
    versions: u64,
}

impl World {
    /// An agent publishes something, once more, or ends it.
    pub(super) fn artifact(&mut self, which: usize) {
        if self.lives[which].artifacts.is_empty() || self.chance.one_in(3) {
            let id = self.id(ArtifactId::from_parts);
            self.lives[which].artifacts.push(Artifact { id, versions: 0 });
        }
        let place = {
            let artifacts = &self.lives[which].artifacts;
            self.chance.below(artifacts.len())
        };
        let Artifact { id: artifact_id, versions } = self.lives[which].artifacts[place];
        if versions > 0 && self.chance.one_in(4) {
            self.lives[which].artifacts.remove(place);
            let reason = "enough".to_owned();
            return self.add(which, Fact::ArtifactDeleted(ArtifactDeleted { artifact_id, versions, reason }));
        }
        self.lives[which].artifacts[place].versions = versions + 1;
        let (digest, bytes) = self.body();
        let workspace_id = self.id(WorkspaceId::from_parts);
        let source = ArtifactSource::File { workspace_id, path: "notes.md".to_owned() };
        let published = ArtifactPublished {
            artifact_id,
            name: label(&format!("{artifact_id}")),
            version: versions + 1,
            media_type: "text/plain".to_owned(),
            digest,
            bytes,
            labels: BTreeMap::new(),
            source: self.chance.one_in(2).then_some(source),
        };
        self.add(which, Fact::ArtifactPublished(Box::new(published)));
    }

    /// Texts are chosen for an agent, in one of its turns or not.
    pub(super) fn context(&mut self, which: usize, message_id: Option<MessageId>) {
        let (query_digest, query_bytes) = self.body();
        let (digest, bytes) = self.body();
        let left = |reason: OmissionReason| ContextOmission {
            reference: format!("{reason}.md"),
            digest: None,
            bytes: Some(7),
            score: None,
            reason,
        };
        let item = ContextItem { reference: "intro.md".to_owned(), digest, bytes, score: Some(1_500) };
        let resolved = ContextResolved {
            context_id: self.id(ContextId::from_parts),
            message_id,
            query_digest: Some(query_digest),
            query_bytes,
            budget_bytes: 9_000,
            used_bytes: bytes,
            authority: Authority::External,
            selected: vec![item],
            left_out: OmissionReason::ALL.iter().copied().map(left).collect(),
        };
        self.add(which, Fact::ContextResolved(Box::new(resolved)));
    }
}

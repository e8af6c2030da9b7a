//! `artifacts`: what was published, version by version, and what ended. The bytes are in no event.

use std::collections::BTreeMap;

use edgeplane_types::{
    ArtifactId, Fact, Timestamp,
    fact::{ArtifactDeleted, ArtifactPublished, ArtifactSource},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    entry::Ids,
    fold::{Fold, SHOWN_MAX, Step},
    json::Object,
    subject::Subject,
    telling::agent_of,
};

pub(crate) fn takes(kind: &str) -> bool {
    kind.starts_with("artifact.")
}

/// An artifact as it is now.
#[derive(Debug, Serialize, Deserialize)]
struct Now {
    name: String,
    version: u64,
    media_type: String,
    digest: String,
    bytes: u64,
    by: String,
    at: Timestamp,
}

/// Artifacts, oldest first: their ids grow with time.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Artifacts {
    there: BTreeMap<ArtifactId, Now>,
    published: u64,
    deleted: u64,
}

/// Which version it is, and where its bytes came from.
pub(crate) fn told(published: &ArtifactPublished) -> Object {
    let source = match &published.source {
        Some(ArtifactSource::Output { output_id }) => Some(json!({ "output_id": output_id })),
        Some(ArtifactSource::File { workspace_id, path }) => {
            Some(json!({ "workspace_id": workspace_id, "path": path }))
        }
        None => None,
    };
    Object::new()
        .put("artifact_id", &published.artifact_id)
        .put("name", &published.name)
        .put("version", &published.version)
        .put("media_type", &published.media_type)
        .put("digest", &published.digest)
        .put("bytes", &published.bytes)
        .maybe("source", source)
}

impl Fold for Artifacts {
    fn new(_: &Subject) -> Self {
        Self::default()
    }

    fn fold(&mut self, step: &mut Step<'_>) {
        let ids = Ids { agent_id: agent_of(step), ..Ids::default() };
        match step.fact() {
            Fact::ArtifactPublished(published) => {
                self.published += 1;
                let now = Now {
                    name: published.name.to_string(),
                    version: published.version,
                    media_type: published.media_type.clone(),
                    digest: published.digest.clone(),
                    bytes: published.bytes,
                    by: step.event().actor.name().to_string(),
                    at: step.event().ts,
                };
                self.there.insert(published.artifact_id, now);
                step.say("artifact.published", ids, told(published).done());
            }
            Fact::ArtifactDeleted(ArtifactDeleted { artifact_id, versions, reason }) => {
                self.deleted += 1;
                self.there.remove(artifact_id);
                let payload = Object::new().put("artifact_id", artifact_id).put("versions", versions);
                step.say("artifact.deleted", ids, payload.put("reason", reason).done());
            }
            _ => {}
        }
    }

    fn state(&self) -> Value {
        let more = self.there.len().saturating_sub(SHOWN_MAX);
        let shown: Vec<Value> = self
            .there
            .iter()
            .skip(more)
            .map(|(id, now)| {
                let mut value = json!(now);
                value["artifact_id"] = json!(id);
                value
            })
            .collect();
        json!({ "artifacts": shown, "more": more, "published": self.published, "deleted": self.deleted })
    }
}

//! Artifacts and contexts in the standard's words, which hold ids, versions and references, and never bytes.

use edgeplane_types::{
    ArtifactId, Fact,
    fact::{ArtifactDeleted, ArtifactSource, ContextResolved},
};

use super::{export::Telling, names};
use crate::{fold::Step, json::Object};

impl Telling<'_> {
    /// What is told of an event of an artifact: of the session as a whole, because no turn of it is known.
    pub(super) fn artifact(&self, step: &mut Step<'_>) {
        let because = Object::new().put("because", step.fact().type_name());
        let of = |id: &ArtifactId| {
            self.of_session(step, names::ARTIFACT_CHANGED).slot("artifactId", &id.to_string())
        };
        match step.fact() {
            Fact::ArtifactPublished(published) => {
                let source = match &published.source {
                    Some(ArtifactSource::Output { output_id }) => Some(output_id.to_string()),
                    Some(ArtifactSource::File { workspace_id, path }) => {
                        Some(format!("{workspace_id}:{path}"))
                    }
                    None => None,
                };
                let payload = because
                    .put("name", &published.name)
                    .put("version", &published.version)
                    .put("ref", &format!("sha256:{}", published.digest))
                    .put("mediaType", &published.media_type)
                    .put("sizeBytes", &published.bytes)
                    .maybe("sourceRef", source);
                of(&published.artifact_id).slot("status", "published").say(step, payload);
            }
            Fact::ArtifactDeleted(ArtifactDeleted { artifact_id, versions, reason }) => {
                let draft = of(artifact_id).slot("status", "deleted").slot("statusReason", reason);
                draft.say(step, because.put("versions", versions));
            }
            _ => {}
        }
    }

    /// What was chosen for a turn, and what was left out and why.
    pub(super) fn context(&self, step: &mut Step<'_>, resolved: &ContextResolved) {
        let included = resolved.selected.iter().map(|item| {
            let one = Object::new()
                .put("ref", &item.reference)
                .put("digest", &format!("sha256:{}", item.digest))
                .put("sizeBytes", &item.bytes);
            one.maybe("score", item.score).done()
        });
        let omitted = resolved.left_out.iter().map(|left| {
            let one = Object::new().put("ref", &left.reference).put("reason", left.reason.as_str());
            one.maybe("sizeBytes", left.bytes).maybe("score", left.score).done()
        });
        let payload = Object::new()
            .put("contextId", &resolved.context_id)
            .put("included", &included.map(|one| one.value()).collect::<Vec<_>>())
            .put("omitted", &omitted.map(|one| one.value()).collect::<Vec<_>>())
            .put("budgetBytes", &resolved.budget_bytes)
            .put("usedBytes", &resolved.used_bytes)
            .put("authority", resolved.authority.as_str());
        let draft = self.of_turn(step, names::CONTEXT_RESOLVED, resolved.message_id);
        let draft = match &resolved.query_digest {
            Some(digest) => draft.body("query", digest, resolved.query_bytes),
            None => draft,
        };
        draft.say(step, payload);
    }
}

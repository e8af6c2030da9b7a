//! A new manifest for an agent that is known.

use edgeplane_lifecycle::{Input, State};
use edgeplane_types::{Desired, Fact, Generation, fact::Cause};
use edgeplane_wire::rpc::RpcError;

use super::Actor;
use crate::{
    record::{Draft, Origin, refused},
    schedule::Declared,
};

impl Actor {
    /// Takes what a set of manifests says of it. What runs keeps what it was started with until its next epoch.
    pub(super) async fn update(
        &mut self,
        declared: Declared,
        origin: &Origin,
    ) -> Result<Generation, RpcError> {
        // What was due under the old words is accounted for under them.
        self.look_at_schedules().await;
        let changes = self.schedule_changes(&declared)?;
        let mut draft = Draft::default();
        let generation = match &declared.manifest {
            Some(manifest) => {
                let generation = self.generation.next();
                let (manifest_digest, _) = draft.body(manifest.canonical_text().into_bytes());
                let fact = Fact::AgentUpdated { generation, manifest_digest };
                self.shared.record.add(&mut draft, self.stream(), origin, fact);
                generation
            }
            None => self.generation,
        };
        self.draft_schedules(&mut draft, &changes, origin)?;
        if !draft.is_empty() {
            self.shared.record.commit(draft).await.map_err(|error| refused(&error))?;
        }
        self.schedules_changed(&changes);
        let Some(manifest) = declared.manifest else { return Ok(generation) };
        self.generation = generation;
        self.life.set_policy(super::policy(&manifest));
        self.manifest = manifest;
        self.show_profile();
        // Its labels may be others, and so what covers it.
        self.look_at_holds(origin).await?;
        if self.live.is_none() {
            self.observed_generation = generation;
        }
        if self.is_set() {
            self.settle_members().await;
            return Ok(generation);
        }
        let run = self.manifest.spec.run;
        let wanted = match (run, self.life.state(), self.life.desired()) {
            (edgeplane_manifest::RunState::Running, State::Declared, Desired::Running) => {
                Some(Input::Start(Cause::Update))
            }
            _ => None,
        };
        if let Some(input) = wanted {
            self.input(input, origin).await;
        }
        // What was held may be taken now.
        self.pump().await;
        Ok(generation)
    }
}

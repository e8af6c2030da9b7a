//! Artifacts: bytes first, then the fact that names them; and what nobody names is removed.
//!
//! One change at a time, from the look at what there is to the record. So what is in the store and in no fact is what a
//! daemon left that died in between, and goes when the next one starts.

use std::{collections::BTreeSet, sync::Arc};

use edgeplane_manifest::LabelKey;
use edgeplane_neighbour::artifact::{ARTIFACT_BYTES_MAX, sound};
use edgeplane_proof::{Digest, digest};
use edgeplane_store::ArtifactRow;
use edgeplane_types::{
    AgentId, ArtifactId, ErrorName, Fact, SafeLabel, StreamName,
    fact::{ArtifactDeleted, ArtifactPublished, ArtifactSource},
};
use edgeplane_wire::{api::artifact::MEDIA_TYPE_BYTES_MAX, rpc::RpcError};

use super::failed;
use crate::{
    record::{Draft, Origin, chain, refused},
    resources::{LABELS_MAX, Labels},
    shared::Shared,
    workspaces::blocking,
};

/// Artifacts of one owner; one more is refused.
pub(crate) const OF_OWNER_MAX: u64 = 1_000;

/// Versions of one artifact; one more is refused.
pub(crate) const VERSIONS_MAX: u64 = 10_000;

/// What every change of an artifact shares.
#[derive(Debug, Default)]
pub(crate) struct Artifacts {
    /// Held by whoever changes one, from the look at it to the record, and by whoever removes bytes.
    changing: tokio::sync::Mutex<()>,
}

/// A version that somebody wants to publish.
#[derive(Debug)]
pub(crate) struct Publishing {
    /// Whose it is; none: the node's.
    pub(crate) owner: Option<AgentId>,
    pub(crate) name: SafeLabel,
    pub(crate) media_type: String,
    /// Those that it has, if none are given.
    pub(crate) labels: Option<Labels>,
    pub(crate) bytes: Vec<u8>,
    pub(crate) source: Option<ArtifactSource>,
    /// The version that it is at; 0: there is none.
    pub(crate) if_version: Option<u64>,
}

fn invalid(what: String) -> RpcError {
    RpcError::new(ErrorName::InvalidParams, what)
}

fn check(wanted: &Publishing) -> Result<(), RpcError> {
    if wanted.bytes.len() > ARTIFACT_BYTES_MAX {
        let what = format!("it has {} bytes, more than {ARTIFACT_BYTES_MAX}", wanted.bytes.len());
        return Err(RpcError::new(ErrorName::TooLarge, what));
    }
    let is_word = |c: char| c.is_ascii_graphic() || c == ' ';
    let kind = &wanted.media_type;
    if kind.len() > MEDIA_TYPE_BYTES_MAX || !kind.contains('/') || !kind.chars().all(is_word) {
        return Err(invalid(format!(
            "`media_type` is none: it should be like `text/plain`, in at most {MEDIA_TYPE_BYTES_MAX} bytes"
        )));
    }
    let Some(labels) = &wanted.labels else { return Ok(()) };
    if labels.len() > LABELS_MAX {
        return Err(invalid(format!("`labels` has {} entries, more than {LABELS_MAX}", labels.len())));
    }
    match labels.keys().find_map(|key| key.parse::<LabelKey>().err()) {
        Some(error) => Err(invalid(format!("`labels`: {error}"))),
        None => Ok(()),
    }
}

/// Publishes a version, or finds that the newest holds the same; to the end also if nobody waits for it any more.
pub(crate) async fn publish(
    shared: &Arc<Shared>,
    wanted: Publishing,
    origin: Origin,
) -> Result<(ArtifactRow, bool), RpcError> {
    check(&wanted)?;
    let own = Arc::clone(shared);
    let work = shared.tasks.spawn(async move { perform(&own, wanted, &origin).await });
    work.await.unwrap_or_else(|_| Err(RpcError::new(ErrorName::Internal, "the publishing was cut off")))
}

async fn perform(
    shared: &Arc<Shared>,
    wanted: Publishing,
    origin: &Origin,
) -> Result<(ArtifactRow, bool), RpcError> {
    let _one_at_a_time = shared.artifacts.changing.lock().await;
    let Publishing { owner, name, media_type, labels, bytes, source, if_version } = wanted;
    let named = || shared.record.look_up(|reader| reader.artifact_named(owner.as_ref(), name.as_str()));
    let before = named()?;
    check_version(if_version, name.as_str(), before.as_ref())?;
    let (digest, bytes) = blocking(move || (digest(&bytes), bytes)).await?;
    let labels =
        labels.unwrap_or_else(|| before.as_ref().map(|row| row.published.labels.clone()).unwrap_or_default());
    let artifact_id = match &before {
        Some(row) => row.published.artifact_id,
        None => shared.record.mint().id::<ArtifactId>(),
    };
    let version = before.as_ref().map_or(0, |row| row.newest).saturating_add(1);
    let published = ArtifactPublished {
        artifact_id,
        name: name.clone(),
        version,
        media_type,
        digest: digest.to_string(),
        bytes: u64::try_from(bytes.len()).unwrap_or(u64::MAX),
        labels,
        source,
    };
    if let Some(row) = before.filter(|row| is_the_same(&row.published, &published)) {
        return Ok((row, true));
    }
    check_room(shared, owner.as_ref(), version)?;
    let store = Arc::clone(&shared.neighbours.artifacts);
    blocking(move || store.put(&digest, &bytes)).await?.map_err(|error| failed(&error))?;
    shared.failpoint("artifact.kept");
    let mut draft = Draft::default();
    let fact = Fact::ArtifactPublished(Box::new(published));
    shared.record.add(&mut draft, stream(shared, owner), origin, fact);
    if let Err(error) = shared.record.commit(draft).await {
        remove(shared, vec![digest]).await;
        return Err(refused(&error));
    }
    shared.failpoint("artifact.published");
    let row = named()?.ok_or_else(|| RpcError::new(ErrorName::Internal, "an artifact is gone at once"))?;
    Ok((row, false))
}

fn is_the_same(newest: &ArtifactPublished, wanted: &ArtifactPublished) -> bool {
    (&newest.digest, &newest.media_type, &newest.labels)
        == (&wanted.digest, &wanted.media_type, &wanted.labels)
}

fn stream(shared: &Shared, owner: Option<AgentId>) -> StreamName {
    owner.map_or(StreamName::Node(shared.identity.id), StreamName::Agent)
}

fn check_version(wanted: Option<u64>, name: &str, before: Option<&ArtifactRow>) -> Result<(), RpcError> {
    let found = before.map_or(0, |row| row.newest);
    let Some(wanted) = wanted.filter(|wanted| *wanted != found) else { return Ok(()) };
    let present = match found {
        0 => "not there".to_owned(),
        found => format!("at version {found}"),
    };
    let what = format!("artifact `{name}` is {present}, not at version {wanted}");
    Err(RpcError::new(ErrorName::VersionConflict, what).hint("look at it again, then decide"))
}

fn check_room(shared: &Shared, owner: Option<&AgentId>, version: u64) -> Result<(), RpcError> {
    let refuse = |what: String| {
        Err(RpcError::new(ErrorName::QuotaExhausted, what).hint("delete what nobody needs any more"))
    };
    if version > VERSIONS_MAX {
        return refuse(format!("it has {VERSIONS_MAX} versions, and no more may be"));
    }
    let count = shared.record.look_up(|reader| reader.artifacts_of(owner))?;
    if version == 1 && count >= OF_OWNER_MAX {
        return refuse(format!("{count} artifacts are there, and {OF_OWNER_MAX} may be"));
    }
    Ok(())
}

/// The bytes of a version, held against its digest.
pub(crate) async fn bytes(shared: &Shared, row: &ArtifactRow) -> Result<Vec<u8>, RpcError> {
    let uri = format!("version {} of artifact `{}`", row.published.version, row.published.name);
    let digest = row.published.digest.parse::<Digest>();
    let digest = digest.map_err(|_bad| RpcError::new(ErrorName::RecordDamaged, "a digest is none"))?;
    let (store, size) = (Arc::clone(&shared.neighbours.artifacts), row.published.bytes);
    let found = blocking(move || sound(store.as_ref(), &digest, size)).await?;
    found.map_err(|error| {
        let told = failed(&error);
        RpcError { message: format!("cannot give {uri}: {}", told.message), ..told }
    })
}

/// Ends an artifact: the fact first, then its bytes.
pub(crate) async fn delete(
    shared: &Arc<Shared>,
    (id, if_version): (ArtifactId, Option<u64>),
    reason: String,
    origin: &Origin,
) -> Result<ArtifactRow, RpcError> {
    let _one_at_a_time = shared.artifacts.changing.lock().await;
    let look = || shared.record.look_up(|reader| reader.artifact(&id));
    let none = || RpcError::new(ErrorName::NotFound, format!("no artifact {id}"));
    let row = look()?.filter(|row| row.deleted_at.is_none()).ok_or_else(none)?;
    check_version(if_version, row.published.name.as_str(), Some(&row))?;
    let digests = shared.record.read(move |reader| reader.artifact_digests_of(&id)).await?;
    let mut draft = Draft::default();
    let fact = ArtifactDeleted { artifact_id: id, versions: row.newest, reason };
    shared.record.add(&mut draft, stream(shared, row.owner), origin, Fact::ArtifactDeleted(fact));
    shared.record.commit(draft).await.map_err(|error| refused(&error))?;
    shared.failpoint("artifact.deleted");
    remove(shared, digests.iter().filter_map(|digest| digest.parse().ok()).collect()).await;
    look()?.ok_or_else(none)
}

/// Removes bytes that no artifact names. The lock must be held. What cannot be removed now goes when a daemon starts.
async fn remove(shared: &Arc<Shared>, digests: Vec<Digest>) {
    let own = Arc::clone(shared);
    let removed = blocking(move || {
        for digest in digests {
            let is_named = own.record.look_up(|reader| reader.is_artifact_digest(&digest.to_string()))?;
            if !is_named {
                own.neighbours.artifacts.remove(&digest).map_err(|error| failed(&error))?;
            }
        }
        Ok::<(), RpcError>(())
    });
    if let Err(error) = removed.await.and_then(|removed| removed) {
        tracing::warn!(error = %error.message, "bytes of an artifact are not removed");
    }
}

/// Removes what a former daemon left in the store and in no fact.
pub(crate) async fn take_up(shared: Arc<Shared>) {
    let _nobody_publishes = shared.artifacts.changing.lock().await;
    let store = Arc::clone(&shared.neighbours.artifacts);
    let listed = blocking(move || store.list()).await;
    let listed = listed.and_then(|listed| listed.map_err(|error| failed(&error)));
    let named = shared.record.read(|reader| reader.artifact_digests()).await;
    match (listed, named) {
        (Ok(listed), Ok(named)) => {
            let named: BTreeSet<String> = named.into_iter().collect();
            let left = listed.into_iter().filter(|digest| !named.contains(&digest.to_string())).collect();
            remove(&shared, left).await;
        }
        (Err(error), _) | (_, Err(error)) => {
            tracing::warn!(error = %chain(&error), "cannot tell which artifacts were left behind");
        }
    }
}

//! The node's key: which one signs, and how one follows another.
//!
//! The record decides which key is current; the seed in the state directory is only good if it makes that very key.
//! A seed is kept before the record names its key, and removed after the record named the next. So wherever a crash
//! comes between, the record names a key whose seed is there, and what lies beside it is swept away.

mod seed;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock},
};

use edgeplane_proof::{KeyRing, SigningKey, signature::SEED_BYTES};
use edgeplane_store::{AppendError, KeyRow};
use edgeplane_types::{ErrorName, Fact, NodeId, SafeLabel, StreamName};
use edgeplane_wire::{api::core::Check, rpc::RpcError};

use crate::record::{Draft, Origin, Record, chain, refused};

pub(crate) use seed::SeedError;

/// The name under which `doctor` shows what is to be said of the key.
const CHECK: &str = "signing key";

/// Why there is no other key than before.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeyFailure {
    /// The record does not tell which keys there are.
    #[error("{0}")]
    Read(RpcError),
    /// The seed.
    #[error(transparent)]
    Seed(#[from] SeedError),
    /// The record does not take it.
    #[error("the record does not take a new key")]
    Commit(#[from] AppendError),
    /// The work was cut off.
    #[error("the work on the key's file was cut off")]
    Cut,
}

impl From<KeyFailure> for RpcError {
    fn from(failure: KeyFailure) -> Self {
        match failure {
            KeyFailure::Read(error) => error,
            KeyFailure::Commit(error) => refused(&error),
            other => Self::new(ErrorName::Unavailable, chain(&other))
                .hint("`edgeplane doctor` shows the state of the key"),
        }
    }
}

/// The key that signs, and what is to be said of it.
#[derive(Debug, Default)]
struct Current {
    key: Option<Arc<SigningKey>>,
    /// Why there is none, or why it is not the one of the former daemon.
    trouble: Option<String>,
}

/// The node's key.
#[derive(Debug)]
pub(crate) struct Keys {
    dir: PathBuf,
    node: NodeId,
    current: RwLock<Current>,
    /// Held by whoever puts another key in force.
    changing: tokio::sync::Mutex<()>,
}

impl Keys {
    /// The key of a node whose state is in `state`; there is none before [`Self::establish`].
    pub(crate) fn new(state: &Path, node: NodeId) -> Self {
        Self { dir: state.join("keys"), node, current: RwLock::default(), changing: Default::default() }
    }

    /// Finds the key that the record calls current, or puts another in force and says why. A node without a key
    /// serves everything but what must be signed.
    pub(crate) async fn establish(&self, record: &Record) {
        let _one_at_a_time = self.changing.lock().await;
        if let Err(failure) = self.find_or_make(record).await {
            let what = format!("nothing can be signed: {}", chain(&failure));
            tracing::error!(what, "the node has no key");
            self.current.write().unwrap_or_else(PoisonError::into_inner).trouble = Some(what);
        }
    }

    async fn find_or_make(&self, record: &Record) -> Result<(), KeyFailure> {
        let rows = record.read(edgeplane_store::Reader::keys).await.map_err(KeyFailure::Read)?;
        let in_force: Vec<KeyRow> = rows.into_iter().filter(|row| row.retired_at.is_none()).collect();
        let Some(newest) = in_force.last().cloned() else {
            return self.make(record, &[], &Origin::node("first-key"), None).await.map(drop);
        };
        let dir = self.dir.clone();
        let (id, public) = (newest.id.clone(), newest.public_key.clone());
        let read = tokio::task::spawn_blocking(move || seed::read(&dir, &id, &public)).await;
        let error = match read.map_err(|_cut| KeyFailure::Cut)? {
            Ok(key) => return self.install(key, None).await,
            Err(error) => error,
        };
        let Some(rule) = error.rule() else { return Err(error.into()) };
        let trouble = format!("key {} was replaced: {}", newest.id, chain(&error));
        tracing::error!(rule, trouble, "the node's key is not used any more");
        self.make(record, &in_force, &Origin::node(rule), Some(trouble)).await.map(drop)
    }

    /// Puts a new key in force in place of the current one.
    pub(crate) async fn rotate(&self, record: &Record, origin: &Origin) -> Result<KeyRow, KeyFailure> {
        let _one_at_a_time = self.changing.lock().await;
        let rows = record.read(edgeplane_store::Reader::keys).await.map_err(KeyFailure::Read)?;
        let in_force: Vec<KeyRow> = rows.into_iter().filter(|row| row.retired_at.is_none()).collect();
        let id = self.make(record, &in_force, origin, None).await?;
        let rows = record.read(edgeplane_store::Reader::keys).await.map_err(KeyFailure::Read)?;
        let made = rows.into_iter().find(|row| row.id == id);
        made.ok_or_else(|| KeyFailure::Read(RpcError::new(ErrorName::Internal, "the new key is not there")))
    }

    /// Keeps a new seed, then makes it durable that its key is current and the former ones are not.
    async fn make(
        &self,
        record: &Record,
        former: &[KeyRow],
        origin: &Origin,
        trouble: Option<String>,
    ) -> Result<SafeLabel, KeyFailure> {
        let mut seed = zeroize::Zeroizing::new([0; SEED_BYTES]);
        record.mint().entropy.fill(seed.as_mut_slice());
        let key = SigningKey::from_seed(*seed);
        let (dir, id) = (self.dir.clone(), key.key_id().clone());
        let kept = tokio::task::spawn_blocking(move || seed::write(&dir, &seed, &id)).await;
        kept.map_err(|_cut| KeyFailure::Cut)??;
        let mut draft = Draft::default();
        let stream = StreamName::Node(self.node);
        for row in former {
            record.add(&mut draft, stream, origin, Fact::KeyRetired { key_id: row.id.clone() });
        }
        let (key_id, public_key) = (key.key_id().clone(), key.public().to_string());
        record.add(&mut draft, stream, origin, Fact::KeyCreated { key_id: key_id.clone(), public_key });
        // After a failure the seed stays where it is: whether the record has its key may not be known before the next
        // start, which sweeps it away if not.
        record.commit(draft).await?;
        tracing::info!(key = %key_id, "the node signs with a new key");
        self.install(key, trouble).await?;
        Ok(key_id)
    }

    async fn install(&self, key: SigningKey, trouble: Option<String>) -> Result<(), KeyFailure> {
        let (dir, id) = (self.dir.clone(), key.key_id().clone());
        {
            let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
            *current = Current { key: Some(Arc::new(key)), trouble };
        }
        let swept = tokio::task::spawn_blocking(move || {
            seed::prepare(&dir)?;
            seed::sweep(&dir, &id).map_err(|source| SeedError::File { path: dir, source })
        });
        if let Err(error) = swept.await.map_err(|_cut| KeyFailure::Cut)? {
            tracing::warn!(error = %chain(&error), "the seed of an old key cannot be removed");
        }
        Ok(())
    }

    /// The key that signs.
    pub(crate) async fn signing(&self, record: &Record) -> Result<Arc<SigningKey>, RpcError> {
        if let Some(key) = self.in_force() {
            return Ok(key);
        }
        // What kept it from being there, such as a full disk, may be over.
        self.establish(record).await;
        self.in_force().ok_or_else(|| {
            let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
            let what = current.trouble.clone().unwrap_or_else(|| "the node has no key".to_owned());
            RpcError::new(ErrorName::Unavailable, what).hint("`edgeplane doctor` shows the state of the key")
        })
    }

    fn in_force(&self) -> Option<Arc<SigningKey>> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).key.clone()
    }

    /// The current key alone. Tokens are read with it: one that an older key signed may have been signed by whoever
    /// that key was taken out of force for.
    pub(crate) fn ring(&self) -> KeyRing {
        let mut ring = KeyRing::default();
        if let Some(key) = self.in_force() {
            // An empty ring takes every key.
            drop(ring.add(key.public().clone()));
        }
        ring
    }

    /// What `doctor` shows.
    pub(crate) fn check(&self) -> Check {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        let (status, hint) = match (&current.key, &current.trouble) {
            (Some(_), None) => ("ok", None),
            (Some(_), Some(_)) => (
                "warn",
                Some("tell those who verify what this node signs: `edgeplane node keys` shows its keys"),
            ),
            (None, _) => (
                "fail",
                Some("see to the folder `keys` in the state directory; nothing is signed until then"),
            ),
        };
        let signs = current.key.as_ref().map(|key| format!("{} signs", key.key_id()));
        let detail = [signs, current.trouble.clone()].into_iter().flatten().collect::<Vec<_>>().join("; ");
        Check { name: CHECK.to_owned(), status: status.to_owned(), detail, hint: hint.map(str::to_owned) }
    }
}

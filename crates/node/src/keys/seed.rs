//! The file of a key: 32 random bytes that nobody but the daemon's user can read.
//!
//! Owns the folder `keys` of the state directory. It does not know which key is the current one; everything here
//! blocks.

use std::{
    fs, io,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use edgeplane_os::{
    atomic::{self, AtomicError},
    dirs::{DirsError, create_private_dir},
    proc,
};
use edgeplane_proof::{SigningKey, signature::SEED_BYTES};
use edgeplane_types::SafeLabel;
use zeroize::Zeroizing;

/// What a seed's file ends in.
const SUFFIX: &str = ".seed";

/// Why a seed cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SeedError {
    /// It is not there.
    #[error("`{}` is missing", .0.display())]
    Missing(PathBuf),
    /// Others can read it or could have written it.
    #[error("`{}` has mode {mode:04o} and belongs to user {owner}: others may have read it", path.display())]
    Open {
        /// Which.
        path: PathBuf,
        /// Its mode.
        mode: u32,
        /// Whose it is.
        owner: u32,
    },
    /// It is not a file of 32 bytes, or makes another key than it should.
    #[error("`{}` does not hold the key that the record calls current", .0.display())]
    Damaged(PathBuf),
    /// The system does not let us.
    #[error("cannot use `{}`", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// It cannot be written.
    #[error("cannot keep a new key")]
    Write(#[from] AtomicError),
    /// Its folder cannot be used.
    #[error("cannot use the folder of keys")]
    Dir(#[from] DirsError),
}

impl SeedError {
    /// The rule by which the key is replaced; none where it may still be there and only cannot be read now.
    pub(super) fn rule(&self) -> Option<&'static str> {
        match self {
            Self::Missing(_) => Some("key-missing"),
            Self::Open { .. } => Some("key-open"),
            Self::Damaged(_) => Some("key-damaged"),
            Self::File { .. } | Self::Write(_) | Self::Dir(_) => None,
        }
    }
}

/// Makes the folder, or makes the existing one private.
pub(super) fn prepare(dir: &Path) -> Result<(), SeedError> {
    let failed = |source| SeedError::File { path: dir.to_owned(), source };
    create_private_dir(dir, proc::own_uid())?;
    if fs::metadata(dir).map_err(failed)?.mode() & 0o077 != 0 {
        fs::set_permissions(dir, fs::Permissions::from_mode(0o700)).map_err(failed)?;
    }
    Ok(())
}

fn path(dir: &Path, key_id: &SafeLabel) -> PathBuf {
    dir.join(format!("{key_id}{SUFFIX}"))
}

/// Keeps the seed of a new key; durable when it returns.
pub(super) fn write(dir: &Path, seed: &[u8; SEED_BYTES], key_id: &SafeLabel) -> Result<(), SeedError> {
    prepare(dir)?;
    Ok(atomic::write_atomic(&path(dir, key_id), seed, 0o600)?)
}

/// The key with this id and this public half, if its file is as it should be.
pub(super) fn read(dir: &Path, key_id: &SafeLabel, public: &str) -> Result<SigningKey, SeedError> {
    let path = path(dir, key_id);
    let failed = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound => SeedError::Missing(path.clone()),
        _ => SeedError::File { path: path.clone(), source },
    };
    let found = fs::symlink_metadata(&path).map_err(failed)?;
    if !found.is_file() || found.len() != u64::try_from(SEED_BYTES).unwrap_or(u64::MAX) {
        return Err(SeedError::Damaged(path));
    }
    let (mode, owner) = (found.mode() & 0o7777, found.uid());
    if mode & 0o077 != 0 || owner != proc::own_uid() {
        return Err(SeedError::Open { path, mode, owner });
    }
    let bytes = Zeroizing::new(fs::read(&path).map_err(failed)?);
    let Ok(seed) = <[u8; SEED_BYTES]>::try_from(bytes.as_slice()) else {
        return Err(SeedError::Damaged(path));
    };
    let key = SigningKey::from_seed(seed);
    if key.key_id() != key_id || key.public().to_string() != public {
        return Err(SeedError::Damaged(path));
    }
    Ok(key)
}

/// Removes every seed but that of `current`: those of retired keys, and those of keys that never came to be.
pub(super) fn sweep(dir: &Path, current: &SafeLabel) -> io::Result<()> {
    let kept = path(dir, current);
    let mut removed = false;
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        // A write that was cut short left its file under a name with more behind it.
        if path != kept && name.contains(SUFFIX) {
            fs::remove_file(&path)?;
            removed = true;
        }
    }
    if removed { atomic::sync_dir(dir) } else { Ok(()) }
}

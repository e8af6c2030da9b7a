//! Who may use a store at the same time: any number who add and read, or one who removes.

use std::{
    fs::{File, OpenOptions},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
    time::Duration,
};

use edgeplane_os::wait::{Deadline, until};
use rustix::{
    fs::{FlockOperation, flock},
    io::Errno,
};

use crate::error::WorkspaceError;

/// How long the other kind of use is waited for. A first checkpoint of a large folder takes longer; whoever removes
/// then comes again later.
const WAIT_MAX: Duration = Duration::from_secs(20);

const LOCK_FILE: &str = "lock";

/// A right to use the store; given back on drop and when the process ends.
#[derive(Debug)]
pub(crate) struct Lock(#[expect(dead_code, reason = "it is held, not used")] File);

impl Lock {
    /// Takes part in adding and reading.
    pub(crate) fn shared(root: &Path) -> Result<Self, WorkspaceError> {
        Self::take(root, FlockOperation::NonBlockingLockShared)
    }

    /// Keeps everybody else away.
    pub(crate) fn alone(root: &Path) -> Result<Self, WorkspaceError> {
        Self::take(root, FlockOperation::NonBlockingLockExclusive)
    }

    fn take(root: &Path, operation: FlockOperation) -> Result<Self, WorkspaceError> {
        let path = root.join(LOCK_FILE);
        let failed = |source| WorkspaceError::Store { what: "lock", path: path.clone(), source };
        let options = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path);
        let file = options.map_err(failed)?;
        let mut last = Ok(());
        until(Deadline::after(WAIT_MAX), || {
            last = flock(&file, operation);
            !matches!(last, Err(Errno::WOULDBLOCK | Errno::INTR))
        });
        match last {
            Ok(()) => Ok(Self(file)),
            Err(Errno::WOULDBLOCK | Errno::INTR) => Err(WorkspaceError::Busy),
            Err(error) => Err(failed(error.into())),
        }
    }
}

//! Where keys come from, and when they are looked at again.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use reqwest::{Client, Url, redirect};
use tokio::{sync::Mutex, time::Instant};

use crate::{
    KeySource, Refused,
    keys::{Key, Keys},
    token::Header,
};

/// Longest set of keys in bytes.
const KEYS_BYTES_MAX: usize = 1 << 20;

/// How often an address is asked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    /// How long keys count before it is asked again.
    pub(crate) fresh: Duration,
    /// How long at least between two times that it is asked because a key was not known: whoever shows tokens decides how
    /// often that is.
    pub(crate) anew_after: Duration,
    /// How long it is left alone when it did not answer: first, and at most.
    pub(crate) retry_first: Duration,
    pub(crate) retry_max: Duration,
}

impl Pace {
    pub(crate) const STANDARD: Self = Self {
        fresh: Duration::from_secs(10 * 60),
        anew_after: Duration::from_secs(10),
        retry_first: Duration::from_secs(1),
        retry_max: Duration::from_secs(5 * 60),
    };
}

/// How long an answer may take.
const ANSWER_MAX: Duration = Duration::from_secs(10);

/// The keys of one issuer.
#[derive(Debug)]
pub(crate) enum Source {
    File { path: PathBuf, read: Mutex<ReadKeys> },
    Url { url: Url, pace: Pace, fetched: Mutex<Fetched> },
}

/// Keys of a file, and how the file was when they were read.
#[derive(Debug, Default)]
pub(crate) struct ReadKeys {
    as_of: Option<(SystemTime, u64)>,
    keys: Option<Keys>,
}

/// Keys from an address.
#[derive(Debug, Default)]
pub(crate) struct Fetched {
    client: Option<Client>,
    keys: Option<Keys>,
    asked_at: Option<Instant>,
    /// Failures in a row.
    failures: u32,
}

/// Why keys cannot be had, for logs.
#[derive(Debug, thiserror::Error)]
enum SourceError {
    #[error("cannot read the keys of an identity provider")]
    Read(#[source] io::Error),
    #[error("cannot fetch the keys of an identity provider")]
    Fetch(#[source] reqwest::Error),
    #[error("the keys of an identity provider have more than {KEYS_BYTES_MAX} bytes")]
    TooLong,
    #[error("the keys of an identity provider are no JSON Web Key Set")]
    Form(#[source] serde_json::Error),
}

impl Source {
    pub(crate) fn new(keys: &KeySource, pace: Pace) -> Self {
        match keys {
            KeySource::File(path) => Self::File { path: path.clone(), read: Mutex::default() },
            KeySource::Url(url) => Self::Url { url: url.clone(), pace, fetched: Mutex::default() },
        }
    }

    /// The key that a header names, among those that are known.
    pub(crate) async fn known(&self, header: &Header) -> Result<Key, Refused> {
        match self {
            Self::File { path, read } => {
                let mut read = read.lock().await;
                read.look(path);
                read.keys.as_ref().ok_or(Refused::KeysUnavailable)?.find(header)
            }
            Self::Url { url, pace, fetched } => {
                let mut fetched = fetched.lock().await;
                fetched.refresh(url, pace, pace.fresh).await;
                fetched.keys.as_ref().ok_or(Refused::KeysUnavailable)?.find(header)
            }
        }
    }

    /// The same, after the keys were looked at anew, if that is not too often.
    pub(crate) async fn anew(&self, header: &Header) -> Result<Key, Refused> {
        match self {
            // A file was looked at just now.
            Self::File { .. } => Err(Refused::UnknownKey),
            Self::Url { url, pace, fetched } => {
                let mut fetched = fetched.lock().await;
                fetched.refresh(url, pace, pace.anew_after).await;
                fetched.keys.as_ref().ok_or(Refused::KeysUnavailable)?.find(header)
            }
        }
    }
}

impl ReadKeys {
    /// Reads the file if it is another than before. One that cannot be read leaves what is known.
    fn look(&mut self, path: &Path) {
        let as_of = fs::metadata(path).and_then(|found| Ok((found.modified()?, found.len())));
        let read = match as_of {
            Ok(as_of) if self.as_of == Some(as_of) => return,
            Ok(as_of) => {
                // Also if it is wrong: it is not read again before it changes.
                self.as_of = Some(as_of);
                if usize::try_from(as_of.1).is_ok_and(|bytes| bytes <= KEYS_BYTES_MAX) {
                    fs::read(path).map_err(SourceError::Read)
                } else {
                    Err(SourceError::TooLong)
                }
            }
            Err(error) => Err(SourceError::Read(error)),
        };
        match read.and_then(|bytes| Keys::read(&bytes).map_err(SourceError::Form)) {
            Ok(keys) => self.keys = Some(keys),
            Err(error) => tracing::warn!(error = %chain(&error), path = %path.display(), "old keys stay"),
        }
    }
}

impl Fetched {
    /// Asks the address if the keys are older than this. While it does not answer, it is asked less and less often.
    async fn refresh(&mut self, url: &Url, pace: &Pace, age_max: Duration) {
        let wait = match self.failures {
            0 => age_max,
            failures => {
                pace.retry_first.saturating_mul(1 << failures.saturating_sub(1).min(16)).min(pace.retry_max)
            }
        };
        if self.asked_at.is_some_and(|at| at.elapsed() < wait) {
            return;
        }
        self.asked_at = Some(Instant::now());
        match self.fetch(url).await {
            Ok(keys) => {
                self.keys = Some(keys);
                self.failures = 0;
            }
            Err(error) => {
                self.failures = self.failures.saturating_add(1);
                tracing::warn!(error = %chain(&error), %url, "old keys stay");
            }
        }
    }

    async fn fetch(&mut self, url: &Url) -> Result<Keys, SourceError> {
        let client = match &self.client {
            Some(client) => client.clone(),
            None => {
                // Keys are where the configuration says, and nowhere else.
                let built =
                    Client::builder().redirect(redirect::Policy::none()).timeout(ANSWER_MAX).no_proxy();
                let built = built.build().map_err(SourceError::Fetch)?;
                self.client.insert(built).clone()
            }
        };
        let answer = client.get(url.clone()).send().await.and_then(reqwest::Response::error_for_status);
        let mut answer = answer.map_err(SourceError::Fetch)?;
        let mut bytes = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(SourceError::Fetch)? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > KEYS_BYTES_MAX {
                return Err(SourceError::TooLong);
            }
        }
        Keys::read(&bytes).map_err(SourceError::Form)
    }
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

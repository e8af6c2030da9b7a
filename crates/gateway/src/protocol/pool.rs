//! Conversations that calls of one bearer share.
//!
//! Owns which conversation carries a call. Each is one of a bearer alone, whose token was shown in it once; the node looks
//! at that token again with each call. A call that nobody waits for any more takes its conversation out of use, because the
//! node may be busy with it for as long as it likes.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use edgeplane_client::{CallError, Client};
use edgeplane_types::ErrorName;
use edgeplane_wire::catalogue::CoreInitialize;
use serde_json::{Value, value::RawValue};
use tokio::task::JoinHandle;

use super::is_stranger;
use crate::{
    bearer::{ANSWER_TIME, Refusal},
    conversation::{Converse, Credentials, Key},
};

/// Bearers whose conversations are kept. Whoever comes beyond takes the place of the one that asked longest ago.
const BEARERS_MAX: usize = 64;

/// Calls that one conversation carries at a time; more take another. The node works on as many of one conversation.
const CALLS_MAX: usize = 32;

/// The conversations of all bearers. There are no more than calls under way, and one for each bearer.
pub(super) struct Pool {
    converse: Converse,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    bearers: HashMap<Key, Bearer>,
    /// Counts calls, to find who asked longest ago.
    count: u64,
}

#[derive(Default)]
struct Bearer {
    lanes: Vec<Arc<Lane>>,
    asked: u64,
}

/// One conversation.
struct Lane {
    client: Client,
    calls: AtomicUsize,
    retired: Arc<AtomicBool>,
    /// Takes what the node says unasked, which nobody hears here.
    silent: JoinHandle<()>,
}

impl Drop for Lane {
    fn drop(&mut self) {
        self.silent.abort();
    }
}

impl Lane {
    fn is_usable(&self) -> bool {
        !self.retired.load(Ordering::Relaxed) && !self.client.is_closed()
    }

    /// Begins a conversation and shows what its bearer is known by.
    async fn begin(converse: &Converse, credentials: &Credentials) -> Result<Arc<Self>, Refusal> {
        let (reader, writer) = tokio::io::split(converse(credentials.presented));
        let (client, mut notifications) = Client::over(reader, writer);
        let retired = Arc::new(AtomicBool::new(false));
        let leaks = Arc::clone(&retired);
        let silent = tokio::spawn(async move {
            while let Some(heard) = notifications.next().await {
                // Calls that would begin a stream are refused before. If one slips through it ends with the conversation.
                if heard.method.starts_with("stream/") && !leaks.swap(true, Ordering::Relaxed) {
                    tracing::warn!(method = heard.method, "something streams where nobody hears it");
                }
            }
        });
        let lane = Arc::new(Self { client, calls: AtomicUsize::new(0), retired, silent });
        let is_nobody = credentials.key() == Credentials::NOBODY.key();
        if is_nobody {
            return Ok(lane);
        }
        let greeted = lane.client.call_within::<CoreInitialize>(ANSWER_TIME, &credentials.greeting()).await;
        let greeted = greeted.map_err(|error| match error.name() {
            ErrorName::Unauthenticated => Refusal::Refused(error.to_string()),
            _ => Refusal::Unavailable(error.to_string()),
        })?;
        credentials.check(&greeted)?;
        Ok(lane)
    }
}

/// Room for one call in a conversation.
pub(super) struct Place {
    lane: Arc<Lane>,
    /// Whether nobody waits for an answer: none was asked for yet, or it is there.
    is_done: bool,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.lane.calls.fetch_sub(1, Ordering::Relaxed);
        if !self.is_done {
            self.lane.retired.store(true, Ordering::Relaxed);
        }
    }
}

impl Place {
    fn of(lane: &Arc<Lane>) -> Self {
        lane.calls.fetch_add(1, Ordering::Relaxed);
        Self { lane: Arc::clone(lane), is_done: true }
    }

    /// Makes the call. Dropping it means that nobody waits for the answer; the node may carry it out all the same.
    pub(super) async fn make(mut self, method: &str, params: &Value) -> Result<Box<RawValue>, CallError> {
        self.is_done = false;
        let answered = self.lane.client.call_raw(method, params).await;
        self.is_done = true;
        if answered.as_ref().is_err_and(is_stranger) {
            // Whoever shows this token again is told so by the node before anything else.
            self.lane.retired.store(true, Ordering::Relaxed);
        }
        answered
    }
}

impl Pool {
    pub(super) fn new(converse: Converse) -> Self {
        Self { converse, known: Mutex::default() }
    }

    /// Room for a call of a bearer whom the node knows.
    pub(super) async fn call(&self, credentials: &Credentials) -> Result<Place, Refusal> {
        let key = credentials.key();
        if let Some(place) = self.known_place(&key) {
            return Ok(place);
        }
        let lane = Lane::begin(&self.converse, credentials).await?;
        let place = Place::of(&lane);
        self.keep(key, lane);
        Ok(place)
    }

    /// Room in a conversation that there is.
    fn known_place(&self, key: &Key) -> Option<Place> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.count = known.count.saturating_add(1);
        let asked = known.count;
        let bearer = known.bearers.get_mut(key)?;
        bearer.asked = asked;
        let mut is_first = true;
        // One is kept for the next call; others were for many at a time.
        bearer.lanes.retain(|lane| {
            let is_kept = lane.is_usable() && (is_first || lane.calls.load(Ordering::Relaxed) > 0);
            is_first &= !is_kept;
            is_kept
        });
        let lane = bearer.lanes.iter().find(|lane| lane.calls.load(Ordering::Relaxed) < CALLS_MAX)?;
        Some(Place::of(lane))
    }

    fn keep(&self, key: Key, lane: Arc<Lane>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let asked = known.count;
        if !known.bearers.contains_key(&key) && known.bearers.len() >= BEARERS_MAX {
            let oldest = known.bearers.iter().min_by_key(|(_, bearer)| bearer.asked).map(|(key, _)| *key);
            if let Some(oldest) = oldest {
                known.bearers.remove(&oldest);
            }
        }
        let bearer = known.bearers.entry(key).or_default();
        bearer.asked = asked;
        bearer.lanes.push(lane);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use serde_json::json;

    use super::*;
    use crate::{
        conversation::Presented,
        fake::{self, Said},
    };

    fn bearer(token: &str) -> Credentials {
        Credentials { presented: Presented::Nothing, token: Some(token.to_owned()) }
    }

    async fn call(pool: &Pool, token: &str, method: &str) -> Result<String, String> {
        let place = pool.call(&bearer(token)).await.map_err(|refusal| format!("{refusal:?}"))?;
        let answered = place.make(method, &Value::Null).await;
        answered.map(|raw| raw.get().to_owned()).map_err(|error| error.name().as_str().to_owned())
    }

    fn pool() -> (Pool, Arc<fake::Counts>) {
        let (converse, counts) = fake::node(|method| match method {
            "x/end" => Said::End,
            "x/stranger" => Said::Failure(ErrorName::Unauthenticated),
            "x/nothing" => Said::Nothing,
            _ => Said::Result(json!(1)),
        });
        (Pool::new(converse), counts)
    }

    /// Proves BIND-007.
    #[tokio::test]
    async fn conversation_is_shared_until_it_is_of_no_use() {
        let (pool, counts) = pool();
        let begun = || counts.conversations.load(Ordering::SeqCst);
        for _ in 0..5 {
            assert_eq!(call(&pool, "a", "x/y").await.as_deref(), Ok("1"));
        }
        assert_eq!(begun(), 1);
        assert_eq!(call(&pool, "b", "x/y").await.as_deref(), Ok("1"));
        assert_eq!(begun(), 2, "nobody speaks in the conversation of another");
        // One that broke is replaced; the call that it broke under is not made again.
        assert_eq!(call(&pool, "a", "x/end").await.unwrap_err(), "outcome_unknown");
        assert_eq!(call(&pool, "a", "x/y").await.as_deref(), Ok("1"));
        assert_eq!(begun(), 3);
        // A token that counts no more is shown again.
        assert_eq!(call(&pool, "a", "x/stranger").await.unwrap_err(), "unauthenticated");
        assert_eq!(call(&pool, "a", "x/y").await.as_deref(), Ok("1"));
        assert_eq!(begun(), 4);
        // One in which a call is under way for nobody takes no more calls.
        let short = std::time::Duration::from_millis(50);
        assert!(tokio::time::timeout(short, call(&pool, "a", "x/nothing")).await.is_err());
        assert_eq!(call(&pool, "a", "x/y").await.as_deref(), Ok("1"));
        assert_eq!(begun(), 5);
        assert!(call(&pool, "bad", "x/y").await.unwrap_err().starts_with("Refused"));
    }

    /// Proves BIND-007.
    #[tokio::test]
    async fn calls_at_a_time_take_as_many_conversations_as_they_need() {
        let (pool, counts) = pool();
        let credentials = bearer("a");
        let mut places = Vec::new();
        for _ in 0..=CALLS_MAX {
            places.push(pool.call(&credentials).await.unwrap());
        }
        assert_eq!(counts.conversations.load(Ordering::SeqCst), 2);
        places.clear();
        for _ in 0..3 {
            assert_eq!(call(&pool, "a", "x/y").await.as_deref(), Ok("1"));
        }
        let kept: usize = pool.known.lock().unwrap().bearers.values().map(|bearer| bearer.lanes.len()).sum();
        assert_eq!((counts.conversations.load(Ordering::SeqCst), kept), (2, 1));
        for number in 0..=BEARERS_MAX {
            assert_eq!(call(&pool, &format!("t{number}"), "x/y").await.as_deref(), Ok("1"));
        }
        let known = pool.known.lock().unwrap();
        assert!(known.bearers.len() == BEARERS_MAX && !known.bearers.contains_key(&credentials.key()));
    }

    /// Proves BIND-023.
    #[tokio::test]
    async fn certificate_that_is_nobodys_is_no_credential() {
        let (pool, _counts) = pool();
        let presented = Presented::Certificate { sha256: [7; 32] };
        let alone = Credentials { presented, token: None };
        assert!(matches!(pool.call(&alone).await, Err(Refusal::NoToken)));
        let both = Credentials { presented, token: Some("a".to_owned()) };
        assert!(pool.call(&both).await.is_ok());
        assert_ne!(both.key(), bearer("a").key());
    }
}

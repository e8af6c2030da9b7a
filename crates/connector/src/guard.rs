//! What a server says beside its answers is counted, whichever way it is spoken to.
//!
//! The kit starts a task for each notification and each request of a server, and passes over answers that nobody waits
//! for. This stands before it: what is too much is dropped unread, and whoever goes on loses the connection.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use rmcp::{
    RoleClient,
    model::{ClientJsonRpcMessage, RequestId, ServerJsonRpcMessage},
    transport::Transport,
};
use tokio::time::Instant;

use crate::{
    limits::{DROPPED_MAX, OWN_WORDS_A_SECOND, UNASKED_MAX},
    verdict::Verdict,
};

/// The time in which words are counted.
const WINDOW: Duration = Duration::from_secs(1);

/// Requests that are remembered as asked; whoever is asked more often and never answers is forgotten about.
const ASKED_MAX: usize = 4_096;

/// A transport whose other end is not trusted.
#[derive(Debug)]
pub(crate) struct Guard<T> {
    inner: T,
    asked: Arc<Mutex<HashSet<RequestId>>>,
    unasked: usize,
    window: Window,
    verdict: Verdict,
}

/// What was said of its own accord within a second.
#[derive(Debug)]
struct Window {
    since: Instant,
    taken: usize,
    dropped: usize,
}

/// What becomes of a message.
#[derive(Debug, PartialEq, Eq)]
enum Fate {
    Taken,
    Dropped,
    Fatal(String),
}

impl Window {
    fn count(&mut self, now: Instant) -> Fate {
        if now.duration_since(self.since) >= WINDOW {
            *self = Self { since: now, taken: 0, dropped: 0 };
        }
        if self.taken < OWN_WORDS_A_SECOND {
            self.taken += 1;
            return Fate::Taken;
        }
        self.dropped += 1;
        if self.dropped < DROPPED_MAX {
            return Fate::Dropped;
        }
        Fate::Fatal(format!("it sent more than {DROPPED_MAX} notifications within a second"))
    }
}

impl<T> Guard<T> {
    pub(crate) fn new(inner: T, verdict: Verdict) -> Self {
        let window = Window { since: Instant::now(), taken: 0, dropped: 0 };
        Self { inner, asked: Arc::default(), unasked: 0, window, verdict }
    }

    fn judge(&mut self, message: &ServerJsonRpcMessage) -> Fate {
        let id = match message {
            ServerJsonRpcMessage::Response(response) => Some(&response.id),
            ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
            ServerJsonRpcMessage::Request(_) | ServerJsonRpcMessage::Notification(_) => {
                return self.window.count(Instant::now());
            }
        };
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let is_answer =
            id.is_some_and(|id| asked.remove(id) || number(id).is_some_and(|id| asked.remove(&id)));
        if is_answer {
            return Fate::Taken;
        }
        drop(asked);
        self.unasked = self.unasked.saturating_add(1);
        if self.unasked < UNASKED_MAX {
            return Fate::Dropped;
        }
        Fate::Fatal(format!("it sent {UNASKED_MAX} answers that nobody waits for"))
    }
}

/// Some servers answer to a number with its text.
fn number(id: &RequestId) -> Option<RequestId> {
    match id {
        RequestId::String(text) => text.parse().ok().map(RequestId::Number),
        RequestId::Number(_) => None,
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Guard<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        if let ClientJsonRpcMessage::Request(request) = &item {
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            if asked.len() >= ASKED_MAX {
                asked.clear();
            }
            asked.insert(request.id.clone());
        }
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            // Cancel-safe if the inner one is; nothing is held between its message and the judgement.
            let message = self.inner.receive().await?;
            match self.judge(&message) {
                Fate::Taken => return Some(message),
                Fate::Dropped => {}
                Fate::Fatal(why) => {
                    self.verdict.say(why);
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_beyond_a_second_s_worth_are_dropped_and_then_fatal() {
        let now = Instant::now();
        let mut window = Window { since: now, taken: 0, dropped: 0 };
        let fates: Vec<Fate> = (0..OWN_WORDS_A_SECOND + DROPPED_MAX).map(|_| window.count(now)).collect();
        let taken = fates.iter().filter(|fate| **fate == Fate::Taken).count();
        let dropped = fates.iter().filter(|fate| **fate == Fate::Dropped).count();
        assert_eq!((taken, dropped), (OWN_WORDS_A_SECOND, DROPPED_MAX - 1));
        assert!(matches!(fates.last(), Some(Fate::Fatal(_))));
        // The next second begins anew.
        assert_eq!(window.count(now + WINDOW), Fate::Taken);
    }
}

//! Sessions that are followed all the while: each of their events comes here, over connections that are begun anew where
//! they broke.

use std::{
    sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender},
    thread,
    time::Duration,
};

use serde_json::Value;

use crate::{
    http::{Client, Sent},
    mapping::Stream,
    template::pick,
};

/// How long a connection that broke is left before the next one is begun.
const PAUSE: Duration = Duration::from_millis(100);

/// Events that wait to be looked at. When there are more, the connection is not read.
const WAITING_MAX: usize = 10_000;

/// What was heard on a followed stream.
#[derive(Debug)]
pub struct Heard {
    /// Which one.
    pub stream: usize,
    /// The event.
    pub event: Value,
}

/// A stream that is followed until this is dropped. Its thread ends with the next thing that it hears.
#[derive(Debug)]
pub struct Follower {
    _stop: Sender<()>,
}

impl Follower {
    /// Follows from the first event on.
    #[must_use]
    pub fn begin(
        client: &Client,
        path: &str,
        words: &Stream,
        (stream, to): (usize, SyncSender<Heard>),
    ) -> Self {
        let (stop, stopped) = mpsc::channel();
        let (client, path, words) = (client.clone(), format!("{path}{}", words.from_start), words.clone());
        thread::spawn(move || {
            let mut last = None;
            while follow(&client, (&path, &mut last), &words, (stream, &to))
                && stopped.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout)
            {}
        });
        Self { _stop: stop }
    }
}

/// Follows until the connection ends. Says whether anybody still listens.
fn follow(
    client: &Client,
    (path, last): (&str, &mut Option<String>),
    words: &Stream,
    (stream, to): (usize, &SyncSender<Heard>),
) -> bool {
    // What is not to be had now may be in a moment: an implementation may be restarted.
    let Ok(mut feed) = client.follow(path, last.as_deref()) else { return true };
    while let Some(sent) = feed.next_sent() {
        let event = event_of(&sent, words);
        if sent.name == words.entry {
            *last = sent.id.or(last.take());
        }
        if let Some(event) = event
            && to.send(Heard { stream, event }).is_err()
        {
            return false;
        }
    }
    true
}

/// The event that something sent carries, if it carries one.
#[must_use]
pub fn event_of(sent: &Sent, words: &Stream) -> Option<Value> {
    (sent.name == words.entry).then(|| pick(&sent.data, &words.event))
}

/// A way for followers to tell, and where it is heard.
#[must_use]
pub fn channel() -> (SyncSender<Heard>, Receiver<Heard>) {
    mpsc::sync_channel(WAITING_MAX)
}

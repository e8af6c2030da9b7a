//! Giving a reply: its steps one by one, as a stream or as a whole.

use std::{convert::Infallible, io};

use axum::body::Bytes;
use serde_json::Value;
use tokio::sync::mpsc::Sender;

use super::{Asked, Hold, Reply, Step, speech::Speech, tools};

/// Pieces of an answer that wait to be sent: the next step waits for room.
pub(super) const PIECES_MAX: usize = 16;

/// What comes of one step.
enum Played {
    /// To be sent at once.
    Pieces(Vec<String>),
    Hold(Hold),
    Cut,
}

/// A reply that is being given.
pub(super) struct Play {
    speech: Box<dyn Speech>,
    asked: Asked,
    /// What the ids of its calls begin with.
    id: String,
    calls: usize,
    /// What the script asked for and the request did not allow.
    problems: Vec<String>,
}

impl Play {
    pub(super) fn new(speech: Box<dyn Speech>, asked: Asked, id: String) -> Self {
        Self { speech, asked, id, calls: 0, problems: Vec::new() }
    }

    /// Gives the reply as a stream; returns early when nobody listens any more. Gives back what was wrong with it.
    pub(super) async fn stream(mut self, reply: Reply, to: Sender<io::Result<Bytes>>) -> Vec<String> {
        // Whoever went away has ended the answer.
        let _gone = self.stream_steps(reply, &to).await;
        self.problems
    }

    async fn stream_steps(&mut self, reply: Reply, to: &Sender<io::Result<Bytes>>) -> Option<()> {
        send(to, self.speech.open()).await?;
        for step in reply.steps {
            match self.take(step) {
                Played::Pieces(pieces) => send(to, pieces).await?,
                Played::Hold(hold) => hold.pass(to.closed()).await.then_some(())?,
                Played::Cut => {
                    to.send(Err(io::Error::other("the script cuts the answer here"))).await.ok()?;
                    return None;
                }
            }
        }
        send(to, self.speech.close()).await
    }

    /// Gives the reply as a whole, or nothing if it is cut; and what was wrong with it.
    pub(super) async fn whole(mut self, reply: Reply) -> (Option<Value>, Vec<String>) {
        self.speech.open();
        for step in reply.steps {
            match self.take(step) {
                Played::Pieces(_) => {}
                Played::Hold(hold) => {
                    // Whoever goes away drops this future as a whole.
                    hold.pass(std::future::pending()).await;
                }
                Played::Cut => return (None, self.problems),
            }
        }
        self.speech.close();
        (Some(self.speech.whole()), self.problems)
    }

    fn take(&mut self, step: Step) -> Played {
        let action = match step {
            Step::Text(text) => return Played::Pieces(self.speech.text(&text)),
            Step::Hold(hold) => return Played::Hold(hold),
            Step::Cut => return Played::Cut,
            Step::Call(action) => action,
        };
        self.calls += 1;
        let id = format!("call_{}_{}", self.id, self.calls);
        match tools::choose(&action, &self.asked.tools, id) {
            Ok(call) => Played::Pieces(self.speech.call(call)),
            Err(problem) => {
                let said = self.speech.text(&format!("The script cannot go on: {problem}"));
                self.problems.push(problem);
                Played::Pieces(said)
            }
        }
    }
}

async fn send(to: &Sender<io::Result<Bytes>>, pieces: Vec<String>) -> Option<()> {
    for piece in pieces {
        to.send(Ok(Bytes::from(piece))).await.ok()?;
    }
    Some(())
}

/// A reply without what would make it fail or wait, cut after its first text.
pub(super) fn cut(reply: Reply) -> Reply {
    let first = reply.steps.into_iter().find(|step| matches!(step, Step::Text(_)));
    let text = first.unwrap_or_else(|| Step::Text("This answer is cut".to_owned()));
    Reply { faults: Vec::new(), steps: vec![text, Step::Cut] }
}

/// Never ends.
pub(super) async fn stall() -> Infallible {
    std::future::pending().await
}

//! One server over its connections: opened when first needed, opened again when it died, left alone when it fails.

use std::{sync::Arc, time::Duration};

use tokio::{sync::Mutex, time::Instant};
use tokio_util::sync::CancellationToken;

use crate::{
    Asking, Call, CallFailure, Failure, Inventory, Limits, Listening, Said, Session, Target, rest::Rest,
};

/// Finds out where the server is, and what it is shown, each time that it is connected to: secrets change.
pub type Targeting = Arc<dyn Fn() -> Result<Target, String> + Send + Sync>;

/// A server that is used.
pub struct Connector {
    targeting: Targeting,
    limits: Limits,
    asking: Asking,
    state: Mutex<State>,
    stopped: CancellationToken,
}

impl std::fmt::Debug for Connector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connector").field("limits", &self.limits).finish_non_exhaustive()
    }
}

#[derive(Debug, Default)]
struct State {
    live: Option<Arc<Session>>,
    known: Option<Known>,
    rest: Rest,
    /// How many connections there were.
    opened: u64,
}

/// What a connection offered.
#[derive(Debug, Clone)]
struct Known {
    inventory: Arc<Inventory>,
    at: Instant,
    changes: u64,
    of: u64,
}

/// How it stands with a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// Whether there is a connection.
    pub is_connected: bool,
    /// Which version of the protocol it speaks, if it was connected to.
    pub protocol: Option<String>,
    /// What it calls itself, and its version.
    pub server: Option<(String, String)>,
    /// How many connections there were.
    pub opened: u64,
    /// How often it failed in a row.
    pub failures: u32,
    /// How it failed last.
    pub last_failure: Option<String>,
}

impl Connector {
    /// A server that nobody has spoken to yet.
    #[must_use]
    pub fn new(targeting: Targeting, limits: Limits) -> Self {
        let (asking, stopped) = (Asking::default(), CancellationToken::new());
        Self { targeting, limits, asking, state: Mutex::default(), stopped }
    }

    /// The same, and whether it may ask people.
    #[must_use]
    pub fn asking(self, asking: Asking) -> Self {
        Self { asking, ..self }
    }

    /// How it stands.
    pub async fn standing(&self) -> Standing {
        let state = self.state.lock().await;
        let live = state.live.as_ref().filter(|session| !session.is_over());
        Standing {
            is_connected: live.is_some(),
            protocol: state.live.as_ref().map(|session| session.protocol()),
            server: state.live.as_ref().and_then(|session| session.server()),
            opened: state.opened,
            failures: state.rest.failures(),
            last_failure: state.rest.last().map(str::to_owned),
        }
    }

    /// What it offers, as it said a short while ago or says now.
    ///
    /// # Errors
    /// When it cannot be asked.
    pub async fn inventory(&self) -> Result<Arc<Inventory>, Failure> {
        Box::pin(self.current()).await.map(|(_, inventory)| inventory)
    }

    /// Calls something, if it is what the caller thinks it is.
    ///
    /// # Errors
    /// When there is no result; what may have happened nevertheless is said.
    pub async fn call(
        &self,
        call: Call,
        digest: &str,
        cancelled: &CancellationToken,
        listening: Listening,
    ) -> Result<Said, CallFailure> {
        // Cancel-safe: what is dropped here has asked for nothing that has an effect.
        let current = tokio::select! {
            current = Box::pin(self.current()) => current,
            () = cancelled.cancelled() => return Err(CallFailure::Unreachable(Failure::Stopped)),
        };
        let (session, inventory) = current.map_err(CallFailure::Unreachable)?;
        let offer = inventory.find(call.kind, &call.native_id);
        match offer {
            None => {
                let (kind, name) = (call.kind.as_str(), call.native_id);
                return Err(CallFailure::NotOffered { kind, name });
            }
            Some(offer) if offer.digest != digest => {
                return Err(CallFailure::Changed { name: call.native_id, found: offer.digest.clone() });
            }
            Some(_) => {}
        }
        session.call(call, cancelled, listening).await
    }

    /// Ends the connection and takes up no other.
    pub async fn stop(&self) {
        self.stopped.cancel();
        let live = self.state.lock().await.live.take();
        if let Some(session) = live {
            session.close().await;
        }
    }

    /// The connection, and what it offers. Only one looks at a time: the others wait for what it finds.
    async fn current(&self) -> Result<(Arc<Session>, Arc<Inventory>), Failure> {
        let mut state = self.state.lock().await;
        if self.stopped.is_cancelled() {
            return Err(Failure::Stopped);
        }
        let session = self.session(&mut state).await?;
        let changes = session.changes();
        if let Some(known) = &state.known {
            let is_fresh = known.at.elapsed() < self.limits.fresh && known.changes == changes;
            if known.of == state.opened && is_fresh {
                return Ok((session, Arc::clone(&known.inventory)));
            }
        }
        match session.inventory().await {
            Ok(found) => {
                let inventory = Arc::new(found);
                let (at, of) = (Instant::now(), state.opened);
                state.known = Some(Known { inventory: Arc::clone(&inventory), at, changes, of });
                Ok((session, inventory))
            }
            Err(failure) => {
                // One that cannot say what it offers is of no use: the next who asks begins anew.
                self.failed(&mut state, session.age(), &failure);
                state.live = None;
                session.close().await;
                Err(failure)
            }
        }
    }

    async fn session(&self, state: &mut State) -> Result<Arc<Session>, Failure> {
        if let Some(session) = &state.live {
            if !session.is_over() {
                return Ok(Arc::clone(session));
            }
            let session = Arc::clone(session);
            state.live = None;
            self.failed(state, session.age(), &Failure::Ended(session.ended()));
            session.close().await;
        }
        state.rest.check(Instant::now())?;
        let opened = match (self.targeting)() {
            Ok(target) => Box::pin(Session::open(&target, self.limits, self.asking)).await,
            Err(why) => Err(Failure::Setup(why)),
        };
        match opened {
            Ok(session) => {
                let session = Arc::new(session);
                state.opened = state.opened.saturating_add(1);
                state.live = Some(Arc::clone(&session));
                Ok(session)
            }
            Err(failure) => {
                self.failed(state, Duration::ZERO, &failure);
                Err(failure)
            }
        }
    }

    fn failed(&self, state: &mut State, lived: Duration, failure: &Failure) {
        state.rest.failed(&self.limits, lived, Instant::now(), failure);
    }
}

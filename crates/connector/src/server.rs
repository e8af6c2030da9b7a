//! What the node needs of a server of tools, whoever it is: the neighbour behind which connectors stand.

use std::{
    collections::BTreeMap,
    fmt::Debug,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use futures_util::future::BoxFuture;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::{
    Asking, Call, CallFailure, Connector, Failure, Inventory, Limits, Listening, Said, Standing, Targeting,
};

/// A server of tools that may be spoken to.
pub trait ToolServer: Debug + Send + Sync {
    /// How it stands.
    fn standing(&self) -> BoxFuture<'_, Standing>;

    /// What it offers.
    ///
    /// # Errors
    /// When it cannot be asked.
    fn inventory(&self) -> BoxFuture<'_, Result<Arc<Inventory>, Failure>>;

    /// Calls something, if it is what the caller thinks it is.
    ///
    /// # Errors
    /// When there is no result; what may have happened nevertheless is said.
    fn call<'a>(
        &'a self,
        call: Call,
        digest: &'a str,
        cancelled: &'a CancellationToken,
        listening: Listening,
    ) -> BoxFuture<'a, Result<Said, CallFailure>>;

    /// Ends the connection and takes up no other.
    fn stop(&self) -> BoxFuture<'_, ()>;
}

/// Makes the servers of declared connectors.
pub trait ToolServers: Debug + Send + Sync {
    /// The server of a connector, within these limits, and whether it may ask people. Nobody has spoken to it yet.
    fn make(&self, name: &str, targeting: Targeting, how: (Limits, Asking)) -> Arc<dyn ToolServer>;
}

/// The default: servers of the Model Context Protocol.
#[derive(Debug, Clone, Copy, Default)]
pub struct Connectors;

impl ToolServers for Connectors {
    fn make(&self, _name: &str, targeting: Targeting, how: (Limits, Asking)) -> Arc<dyn ToolServer> {
        let (limits, asking) = how;
        Arc::new(Connector::new(targeting, limits).asking(asking))
    }
}

impl ToolServer for Connector {
    fn standing(&self) -> BoxFuture<'_, Standing> {
        Box::pin(self.standing())
    }

    fn inventory(&self) -> BoxFuture<'_, Result<Arc<Inventory>, Failure>> {
        Box::pin(self.inventory())
    }

    fn call<'a>(
        &'a self,
        call: Call,
        digest: &'a str,
        cancelled: &'a CancellationToken,
        listening: Listening,
    ) -> BoxFuture<'a, Result<Said, CallFailure>> {
        Box::pin(self.call(call, digest, cancelled, listening))
    }

    fn stop(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.stop())
    }
}

/// The double: servers without a program, which offer what they are told and answer what they are told.
#[derive(Debug, Default)]
pub struct MemoryServers {
    servers: Mutex<BTreeMap<String, MemoryServer>>,
    calls: Arc<AtomicU64>,
}

/// One of them.
#[derive(Debug, Clone)]
struct MemoryServer {
    inventory: Arc<Inventory>,
    said: Said,
    calls: Arc<AtomicU64>,
}

impl MemoryServers {
    /// Has the connector of this name offer this and answer that to whatever is called.
    pub fn put(&self, name: &str, inventory: Arc<Inventory>, said: Said) {
        let server = MemoryServer { inventory, said, calls: Arc::clone(&self.calls) };
        self.servers.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), server);
    }

    /// How often something was called.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }
}

impl ToolServers for MemoryServers {
    fn make(&self, name: &str, _targeting: Targeting, _how: (Limits, Asking)) -> Arc<dyn ToolServer> {
        let servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        let none = || MemoryServer {
            inventory: Arc::default(),
            said: Said { value: json!({}), is_error: false },
            calls: Arc::clone(&self.calls),
        };
        Arc::new(servers.get(name).cloned().unwrap_or_else(none))
    }
}

impl ToolServer for MemoryServer {
    fn standing(&self) -> BoxFuture<'_, Standing> {
        let standing = Standing {
            is_connected: true,
            protocol: None,
            server: None,
            opened: 1,
            failures: 0,
            last_failure: None,
        };
        Box::pin(async move { standing })
    }

    fn inventory(&self) -> BoxFuture<'_, Result<Arc<Inventory>, Failure>> {
        Box::pin(async move { Ok(Arc::clone(&self.inventory)) })
    }

    fn call<'a>(
        &'a self,
        call: Call,
        digest: &'a str,
        _cancelled: &'a CancellationToken,
        _listening: Listening,
    ) -> BoxFuture<'a, Result<Said, CallFailure>> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        Box::pin(async move {
            match self.inventory.find(call.kind, &call.native_id) {
                None => Err(CallFailure::NotOffered { kind: call.kind.as_str(), name: call.native_id }),
                Some(offer) if offer.digest != digest => {
                    Err(CallFailure::Changed { name: call.native_id, found: offer.digest.clone() })
                }
                Some(_) => Ok(self.said.clone()),
            }
        })
    }

    fn stop(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }
}

//! Whose a request is: the bearer of its token, as the node says.
//!
//! Each token has one connection to the node and one endpoint of each mount, so that nothing that one bearer has open is
//! found by another. The token is shown to the node again with each request: one that is revoked, expired or of a dead
//! epoch is refused at once, and what it had open ends.

use std::{collections::HashMap, fmt, future::Future, pin::Pin, sync::Arc, time::Duration};

use axum::body::Body;
use bytes::Bytes;
use edgeplane_client::{CallError, Client, Notifications};
use edgeplane_types::ErrorName;
use edgeplane_wire::{
    api::core::{InitializeParams, PROTOCOL_VERSIONS},
    catalogue::CoreInitialize,
};
use http::{HeaderMap, Request, Response, header};
use sha2::{Digest as _, Sha256};
use tokio::{sync::Mutex, task::JoinHandle};

/// Bearers that have something open at a time. Whoever comes beyond takes the place of the one that asked longest ago.
pub const BEARERS_MAX: usize = 64;

/// Longest token in bytes.
const TOKEN_BYTES_MAX: usize = 4_096;

/// How long the node may take to say whose a token is.
pub(crate) const ANSWER_TIME: Duration = Duration::from_secs(10);

type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Makes connections to the node.
pub type Connect = Arc<dyn Fn() -> Boxed<Result<(Client, Notifications), CallError>> + Send + Sync>;

/// What answers the requests of one bearer.
pub trait Endpoint: Send + Sync {
    /// Answers one.
    fn answer(self: Arc<Self>, request: Request<Bytes>) -> Boxed<Response<Body>>;
}

/// Makes the endpoint of a bearer, of whom it gets the token to show on its own connections.
pub type Mount = Arc<dyn Fn(Connect, String) -> Arc<dyn Endpoint> + Send + Sync>;

/// Why a request has no endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// It shows no token, more than one, or something that cannot be one.
    NoToken,
    /// The node does not take it.
    Refused(String),
    /// The node cannot be asked.
    Unavailable(String),
}

/// The bearers that have something open.
pub struct Bearers {
    connect: Connect,
    mount: Mount,
    known: Mutex<Known>,
}

impl fmt::Debug for Bearers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bearers").finish_non_exhaustive()
    }
}

/// A token is kept as its digest only, so that looking one up tells nothing by its time.
type Key = [u8; 32];

#[derive(Default)]
struct Known {
    bearers: HashMap<Key, Bearer>,
    /// Counts requests, to find who asked longest ago.
    count: u64,
}

struct Bearer {
    gate: Arc<Gate>,
    endpoint: Arc<dyn Endpoint>,
    asked: u64,
}

/// The connection on which a token is shown with each request.
struct Gate {
    client: Client,
    /// Takes what the node says unasked, which is nothing: nobody reads it here.
    silent: JoinHandle<()>,
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.silent.abort();
    }
}

impl Bearers {
    /// Nobody yet.
    #[must_use]
    pub fn new(connect: Connect, mount: Mount) -> Self {
        Self { connect, mount, known: Mutex::default() }
    }

    /// The endpoint of whoever sent these headers.
    ///
    /// # Errors
    /// If they show no token that the node takes now.
    pub async fn endpoint(&self, headers: &HeaderMap) -> Result<Arc<dyn Endpoint>, Refusal> {
        let token = token(headers).ok_or(Refusal::NoToken)?;
        let key: Key = Sha256::digest(token.as_bytes()).into();
        let gate = self.gate(&key).await?;
        if let Err(error) = show(&gate.client, token).await {
            self.known.lock().await.bearers.remove(&key);
            return Err(match error.name() {
                ErrorName::Unauthenticated => Refusal::Refused(error.to_string()),
                _ => Refusal::Unavailable(error.to_string()),
            });
        }
        Ok(self.admit(key, gate, token).await)
    }

    /// The connection of a bearer who is known, or a new one.
    async fn gate(&self, key: &Key) -> Result<Arc<Gate>, Refusal> {
        let known = self.known.lock().await;
        if let Some(bearer) = known.bearers.get(key).filter(|bearer| !bearer.gate.client.is_closed()) {
            return Ok(Arc::clone(&bearer.gate));
        }
        drop(known);
        let made = (self.connect)().await;
        let (client, mut notifications) = made.map_err(|error| Refusal::Unavailable(error.to_string()))?;
        let silent = tokio::spawn(async move { while notifications.next().await.is_some() {} });
        Ok(Arc::new(Gate { client, silent }))
    }

    /// Notes that a bearer has asked; the first time it gets its endpoint.
    async fn admit(&self, key: Key, gate: Arc<Gate>, token: &str) -> Arc<dyn Endpoint> {
        let mut known = self.known.lock().await;
        known.count = known.count.saturating_add(1);
        let asked = known.count;
        if let Some(bearer) = known.bearers.get_mut(&key) {
            // A connection that broke is replaced; sessions go on over connections of their own.
            bearer.gate = gate;
            bearer.asked = asked;
            return Arc::clone(&bearer.endpoint);
        }
        if known.bearers.len() >= BEARERS_MAX {
            let oldest = known.bearers.iter().min_by_key(|(_, bearer)| bearer.asked).map(|(key, _)| *key);
            if let Some(oldest) = oldest {
                known.bearers.remove(&oldest);
            }
        }
        let endpoint = (self.mount)(Arc::clone(&self.connect), token.to_owned());
        known.bearers.insert(key, Bearer { gate, endpoint: Arc::clone(&endpoint), asked });
        endpoint
    }
}

/// Shows a token to the node, which says whether it counts now.
async fn show(client: &Client, token: &str) -> Result<(), CallError> {
    let params = InitializeParams {
        versions: PROTOCOL_VERSIONS.iter().map(|version| (*version).to_owned()).collect(),
        client: Some(concat!("edgeplane-gateway/", env!("CARGO_PKG_VERSION")).to_owned()),
        token: Some(token.to_owned()),
    };
    client.call_within::<CoreInitialize>(ANSWER_TIME, &params).await.map(drop)
}

/// The token of a request: exactly one, in its header. One in an address would stand in logs and histories.
pub(crate) fn token(headers: &HeaderMap) -> Option<&str> {
    let mut all = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(value), None) = (all.next(), all.next()) else { return None };
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    let is_token =
        !token.is_empty() && token.len() <= TOKEN_BYTES_MAX && !token.contains(char::is_whitespace);
    (scheme.eq_ignore_ascii_case("bearer") && is_token).then_some(token)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex as Locked;

    use http::HeaderValue;
    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

    use super::*;

    /// An endpoint that says when it ends.
    struct Open(String, Arc<Locked<Vec<String>>>);

    impl Drop for Open {
        fn drop(&mut self) {
            self.1.lock().unwrap().push(self.0.clone());
        }
    }

    impl Endpoint for Open {
        fn answer(self: Arc<Self>, _request: Request<Bytes>) -> Boxed<Response<Body>> {
            Box::pin(async { Response::new(Body::empty()) })
        }
    }

    /// A node that takes every token but `bad`.
    async fn node(stream: tokio::io::DuplexStream) {
        let (reader, mut writer) = tokio::io::split(stream);
        let mut lines = BufReader::new(reader).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            let id = line.split("\"id\":").nth(1).and_then(|rest| rest.split([',', '}']).next()).unwrap();
            let answer = if line.contains("\"token\":\"bad\"") {
                r#""error":{"code":4010,"message":"no","data":{"name":"unauthenticated","retryable":false,"effect":"none"}}"#
            } else {
                r#""result":{"version":"1","server":"1","node_id":"nod_01890000-0000-7000-8000-000000000001","node":"n","caller":{"principal":"p","proof":"service_token","assurance":"open"},"profiles":[]}"#
            };
            let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},{answer}}}\n");
            writer.write_all(line.as_bytes()).await.unwrap();
        }
    }

    fn bearers(ended: &Arc<Locked<Vec<String>>>) -> Bearers {
        let connect: Connect = Arc::new(|| {
            Box::pin(async {
                let (ours, theirs) = tokio::io::duplex(4_096);
                tokio::spawn(node(theirs));
                let (reader, writer) = tokio::io::split(ours);
                Ok(Client::over(reader, writer))
            })
        });
        let ended = Arc::clone(ended);
        Bearers::new(connect, Arc::new(move |_connect, token| Arc::new(Open(token, Arc::clone(&ended)))))
    }

    async fn ask(bearers: &Bearers, token: &str) -> Result<(), Refusal> {
        let mut headers = HeaderMap::new();
        headers.insert(header::AUTHORIZATION, HeaderValue::from_str(&format!("Bearer {token}")).unwrap());
        bearers.endpoint(&headers).await.map(drop)
    }

    /// Proves MCP-024.
    #[tokio::test]
    async fn bearer_that_asked_longest_ago_makes_room() {
        let ended = Arc::default();
        let bearers = bearers(&ended);
        for number in 0..BEARERS_MAX {
            ask(&bearers, &format!("t{number}")).await.unwrap();
        }
        ask(&bearers, "t0").await.unwrap();
        for _ in 0..BEARERS_MAX {
            // A stranger takes nobody's place.
            assert!(matches!(ask(&bearers, "bad").await, Err(Refusal::Refused(_))));
        }
        assert!(ended.lock().unwrap().is_empty());
        ask(&bearers, "new").await.unwrap();
        assert_eq!(*ended.lock().unwrap(), ["t1"]);
        assert_eq!(ask(&bearers, "").await, Err(Refusal::NoToken));
    }

    /// Proves MCP-020.
    #[test]
    fn token_is_one_word_behind_its_scheme() {
        let check = |values: &[&str], expected: Option<&str>| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(header::AUTHORIZATION, HeaderValue::from_str(value).unwrap());
            }
            assert_eq!(token(&headers), expected, "{values:?}");
        };
        check(&["Bearer ept_x"], Some("ept_x"));
        check(&["bearer ept_x"], Some("ept_x"));
        for values in [
            &[] as &[&str],
            &["ept_x"],
            &["Basic ept_x"],
            &["Bearer"],
            &["Bearer "],
            &["Bearer a b"],
            &["Bearer  a"],
            &["Bearer a", "Bearer b"],
            &[&format!("Bearer {}", "x".repeat(TOKEN_BYTES_MAX + 1))],
        ] {
            check(values, None);
        }
    }
}

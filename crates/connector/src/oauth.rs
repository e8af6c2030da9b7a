//! Tokens of an authorisation server, got with a client's own credentials, and got anew before they end.
//!
//! A server of tools may say which authorisation server is its own; the client's secret goes only to the one that whoever
//! declared the client named. Everything that is read of either is bounded, and no secret is in any word of a failure.

mod metadata;

use std::{fmt, time::Duration};

use reqwest::{Client, StatusCode, Url, header, redirect::Policy};
use serde::Deserialize;
use tokio::{sync::Mutex, time::Instant};

use crate::{failure::said, shown::client};
use metadata::{Endpoint, endpoint, get_bounded};

/// How long an authorisation server may take to answer.
const ANSWER_MAX: Duration = Duration::from_secs(15);

/// How long a token is used that does not say how long it holds; a server that refuses it earlier is believed.
const LIFE_STANDARD: Duration = Duration::from_secs(300);

/// How long before its end a token is not used any more, or a tenth of its life if that is less.
const EARLY_MAX: Duration = Duration::from_secs(30);

/// Longest token, in bytes.
const TOKEN_BYTES_MAX: usize = 16 << 10;

/// A client of an authorisation server.
#[derive(Clone)]
pub struct Oauth {
    /// As which client.
    pub client_id: String,
    /// Its secret.
    pub client_secret: String,
    /// What is asked for; if nothing is, what the server of tools says that it wants.
    pub scopes: Vec<String>,
    /// Who gives tokens.
    pub grantor: Grantor,
}

/// Who gives tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Grantor {
    /// Whoever answers at this address.
    At(String),
    /// The authorisation server of this name, which the server of tools must name too; its metadata say where.
    Issuer(String),
    /// Whomever the server of tools names. Its secret goes where that says.
    Named,
}

impl fmt::Debug for Oauth {
    /// Without the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Oauth").field("client_id", &self.client_id).field("grantor", &self.grantor).finish()
    }
}

/// Why there is no token. Never holds a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Denied {
    #[error("{what} cannot be asked: {why}")]
    Unreachable { what: String, why: String },
    #[error("{what} is not as it should be: {why}")]
    Wrong { what: String, why: String },
    #[error("the authorisation server answered {status}: {said}")]
    Refused { status: u16, said: String },
}

impl Denied {
    fn wrong(what: &str, why: impl Into<String>) -> Self {
        Self::Wrong { what: said(what), why: said(&why.into()) }
    }
}

/// The token of one connection.
#[derive(Debug)]
pub(crate) struct Tokens {
    oauth: Oauth,
    /// The server of tools that the token is for.
    resource: Url,
    http: Client,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    endpoint: Option<Endpoint>,
    token: Option<Token>,
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

struct Token {
    value: String,
    until: Instant,
}

#[derive(Deserialize)]
struct Granted {
    access_token: String,
    token_type: Option<String>,
    expires_in: Option<u64>,
}

#[derive(Deserialize, Default)]
struct Problem {
    #[serde(default)]
    error: String,
    #[serde(default)]
    error_description: String,
}

impl Tokens {
    pub(crate) fn new(oauth: Oauth, resource: &str) -> Result<Self, String> {
        let resource = Url::parse(resource).map_err(|error| format!("`{}`: {error}", said(resource)))?;
        let state = State {
            endpoint: match &oauth.grantor {
                Grantor::At(url) => Some(Endpoint::at(url).map_err(|denied| denied.to_string())?),
                Grantor::Issuer(_) | Grantor::Named => None,
            },
            token: None,
        };
        // Nothing that a secret is sent to may send it on.
        Ok(Self { oauth, resource, http: client(Policy::none())?, state: Mutex::new(state) })
    }

    /// A token that holds for a while, got anew if the last one ends soon; none as long as nobody knows who gives one.
    pub(crate) async fn current(&self) -> Result<Option<String>, Denied> {
        let mut state = self.state.lock().await;
        if let Some(token) = state.token.as_ref().filter(|token| Instant::now() < token.until) {
            return Ok(Some(token.value.clone()));
        }
        state.token = None;
        let Some(endpoint) = state.endpoint.clone() else { return Ok(None) };
        self.get(&mut state, &endpoint).await.map(Some)
    }

    /// Another token after one was refused, or the first one, as the refusal says; only one caller gets it.
    pub(crate) async fn renew(&self, refused: Option<&str>, challenge: &str) -> Result<String, Denied> {
        let mut state = self.state.lock().await;
        if let Some(token) = state.token.as_ref().filter(|token| Some(token.value.as_str()) != refused) {
            return Ok(token.value.clone());
        }
        state.token = None;
        let endpoint = match state.endpoint.clone() {
            Some(endpoint) => endpoint,
            None => endpoint(&self.http, &self.resource, &self.oauth.grantor, challenge).await?,
        };
        state.endpoint = Some(endpoint.clone());
        self.get(&mut state, &endpoint).await
    }

    async fn get(&self, state: &mut State, endpoint: &Endpoint) -> Result<String, Denied> {
        let Oauth { client_id, client_secret, scopes, .. } = &self.oauth;
        let scope = if scopes.is_empty() { endpoint.scopes.join(" ") } else { scopes.join(" ") };
        let mut fields = vec![("grant_type", "client_credentials"), ("resource", self.resource.as_str())];
        if !scope.is_empty() {
            fields.push(("scope", &scope));
        }
        if !endpoint.takes_basic {
            fields.extend([("client_id", client_id.as_str()), ("client_secret", client_secret.as_str())]);
        }
        let mut request = self
            .http
            .post(endpoint.url.clone())
            .timeout(ANSWER_MAX)
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .header(header::ACCEPT, "application/json")
            .body(encoded(&fields));
        if endpoint.takes_basic {
            request = request.basic_auth(encoded_one(client_id), Some(encoded_one(client_secret)));
        }
        let (status, body) = get_bounded(request, "the authorisation server").await?;
        if status != StatusCode::OK {
            let problem: Problem = serde_json::from_slice(&body).unwrap_or_default();
            let said = said(&format!("{} {}", problem.error, problem.error_description));
            return Err(Denied::Refused { status: status.as_u16(), said: said.trim().to_owned() });
        }
        let what = "the answer of the authorisation server";
        let granted: Granted = serde_json::from_slice(&body).map_err(|error| {
            Denied::wrong(what, format!("it holds no token, at column {}", error.column()))
        })?;
        if granted.token_type.as_deref().is_some_and(|word| !word.eq_ignore_ascii_case("bearer")) {
            return Err(Denied::wrong(what, "its token is none that a bearer shows"));
        }
        let is_plain = granted.access_token.bytes().all(|byte| byte.is_ascii_graphic());
        if granted.access_token.is_empty() || granted.access_token.len() > TOKEN_BYTES_MAX || !is_plain {
            return Err(Denied::wrong(what, "its token cannot be sent"));
        }
        let life = granted.expires_in.map_or(LIFE_STANDARD, Duration::from_secs);
        let until = Instant::now() + life.saturating_sub(EARLY_MAX.min(life / 10));
        state.token = Some(Token { value: granted.access_token.clone(), until });
        Ok(granted.access_token)
    }
}

/// Fields as forms are sent.
fn encoded(fields: &[(&str, &str)]) -> String {
    #[expect(clippy::expect_used, reason = "the text is constant and a test reads it")]
    let mut url = Url::parse("http://localhost/").expect("an address");
    url.query_pairs_mut().extend_pairs(fields);
    url.query().unwrap_or_default().to_owned()
}

/// One value as it is sent in a form.
fn encoded_one(value: &str) -> String {
    encoded(&[("v", value)]).trim_start_matches("v=").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_written_as_forms_are() {
        assert_eq!(encoded(&[("a", "x y&z"), ("b", "1:2/ü")]), "a=x+y%26z&b=1%3A2%2F%C3%BC");
        assert_eq!(encoded_one("v=s:p"), "v%3Ds%3Ap");
    }
}

//! What goes over HTTP to a server: what is shown to it with each request, and whether it refused it.
//!
//! Owns who is shown a token: the server's own address, over a redirect only if that stays there.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use futures_util::stream::BoxStream;
use http::{HeaderName, HeaderValue};
use reqwest::{StatusCode, redirect::Policy};
use rmcp::{
    model::{ClientJsonRpcMessage, ServerJsonRpcMessage},
    transport::{
        DynamicTransportError,
        streamable_http_client::{
            SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
        },
    },
};
use sse_stream::Sse;

use crate::{
    failure::said,
    limits::FRAME_BYTES_MAX,
    oauth::{Denied, Tokens},
    verdict::Verdict,
};

/// Redirects that are followed for one request.
const REDIRECTS_MAX: usize = 4;

/// Why a connection is over whose server was started anew.
const FORGOTTEN: &str = "it does not know the session any more";

/// What is said where there is nothing to show.
const NO_TOKEN: &str = "no token can be had";

/// That a server did not accept what it was shown, in words; the last time counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Refused(Arc<Mutex<Option<String>>>);

impl Refused {
    /// What was said, if it was since the last look.
    pub(crate) fn take(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn say(&self, what: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(what);
    }
}

/// A client that shows a server what it is given, or a token that it has got.
#[derive(Debug, Clone)]
pub(crate) struct Shown {
    inner: reqwest::Client,
    tokens: Option<Arc<Tokens>>,
    refused: Refused,
    verdict: Verdict,
}

type Answer<T> = Result<T, StreamableHttpError<reqwest::Error>>;

/// A client of HTTP as servers of tools are spoken to.
pub(crate) fn client(redirects: Policy) -> Result<reqwest::Client, String> {
    // A connection that is taken up again stalls for 40 ms where the answer before was not read to its end.
    let built = reqwest::Client::builder().pool_max_idle_per_host(0).redirect(redirects).build();
    built.map_err(|error| format!("no client of HTTP: {error}"))
}

/// What keeps the message and goes to the same place is followed: anything else would show a secret to somebody else.
fn same_place() -> Policy {
    Policy::custom(|attempt| {
        let keeps = [StatusCode::TEMPORARY_REDIRECT, StatusCode::PERMANENT_REDIRECT];
        let origin = attempt.previous().first().map(reqwest::Url::origin);
        let stays = origin == Some(attempt.url().origin()) && keeps.contains(&attempt.status());
        match stays && attempt.previous().len() <= REDIRECTS_MAX {
            true => attempt.follow(),
            false => attempt.stop(),
        }
    })
}

impl Shown {
    pub(crate) fn new(tokens: Option<Tokens>, refused: Refused, verdict: Verdict) -> Result<Self, String> {
        Ok(Self { inner: client(same_place())?, tokens: tokens.map(Arc::new), refused, verdict })
    }

    /// What is shown with the next request.
    async fn token(&self, given: Option<String>) -> Answer<Option<String>> {
        match &self.tokens {
            Some(tokens) => tokens.current().await.map_err(|denied| self.denied(&denied)),
            None => Ok(given),
        }
    }

    /// Another token in place of one that was refused, if another can be had.
    async fn another(&self, challenge: Option<String>, refused: Option<&str>) -> Answer<Option<String>> {
        let (Some(tokens), Some(challenge)) = (&self.tokens, challenge) else { return Ok(None) };
        let renewed = tokens.renew(refused, &challenge).await;
        renewed.map(Some).map_err(|denied| self.denied(&denied))
    }

    fn denied(&self, denied: &Denied) -> StreamableHttpError<reqwest::Error> {
        let why = format!("{NO_TOKEN}: {denied}");
        self.refused.say(why.clone());
        StreamableHttpError::UnexpectedServerResponse(why.into())
    }

    /// Notes that nothing was sent, or that a server has forgotten what was agreed on: the next call begins anew.
    fn noted(&self, answer: &Answer<StreamableHttpPostResponse>, had_session: bool) {
        match answer {
            Err(StreamableHttpError::Client(error)) if error.is_connect() => {
                self.verdict.say("nobody answers at its address");
            }
            Err(StreamableHttpError::SessionExpired) => self.verdict.say(FORGOTTEN),
            // Some servers answer with an error of their own where the standard wants 404.
            Ok(StreamableHttpPostResponse::Json(ServerJsonRpcMessage::Error(error), _))
                if had_session
                    && matches!(error.error.code.0, -32_001 | -32_000)
                    && error.error.message.to_lowercase().contains("session") =>
            {
                self.verdict.say(FORGOTTEN);
            }
            _ => {}
        }
    }

    /// Notes a refusal on its way.
    fn judged<T>(&self, answer: Answer<T>) -> Answer<T> {
        if let Some(why) = answer.as_ref().err().and_then(refusal) {
            self.refused.say(why);
        }
        answer
    }
}

/// Why something that was sent came to nobody who does it.
pub(crate) enum Unsent {
    /// What was shown is not accepted.
    Refused(String),
    /// Nobody was there, or nobody knew us any more.
    Gone,
}

/// Whether what could not be sent came to nobody who does it; else it is not known.
pub(crate) fn unsent(error: &DynamicTransportError) -> Option<Unsent> {
    let error = error.error.downcast_ref::<StreamableHttpError<reqwest::Error>>()?;
    match error {
        StreamableHttpError::Client(error) if error.is_connect() => Some(Unsent::Gone),
        StreamableHttpError::SessionExpired => Some(Unsent::Gone),
        error => refusal(error).map(Unsent::Refused),
    }
}

/// That a server does not accept what it was shown, in words.
fn refusal(error: &StreamableHttpError<reqwest::Error>) -> Option<String> {
    match error {
        StreamableHttpError::AuthRequired(_) => {
            Some("it answered 401: what it was shown is not accepted".to_owned())
        }
        StreamableHttpError::InsufficientScope(error) => {
            let scope = error.required_scope.as_deref().map(|scope| format!(", it wants `{scope}`"));
            let scope = scope.unwrap_or_default();
            Some(said(&format!("it answered 403: what it was shown gives no right to this{scope}")))
        }
        // The kit has the status in its words only where the server does not say what it wants.
        StreamableHttpError::UnexpectedServerResponse(words)
            if words.starts_with("HTTP 401") || words.starts_with("HTTP 403") =>
        {
            Some(said(&format!("it answered {words}")))
        }
        StreamableHttpError::UnexpectedServerResponse(words) if words.starts_with(NO_TOKEN) => {
            Some(words.to_string())
        }
        _ => None,
    }
}

impl StreamableHttpClient for Shown {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        auth: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Answer<StreamableHttpPostResponse> {
        let max = FRAME_BYTES_MAX;
        self.post_message_with_max_sse_event_size(uri, message, session, auth, headers, max).await
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        auth: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
        max: usize,
    ) -> Answer<StreamableHttpPostResponse> {
        let post = async |token| {
            let (uri, message, session, headers) =
                (Arc::clone(&uri), message.clone(), session.clone(), headers.clone());
            self.inner.post_message_with_max_sse_event_size(uri, message, session, token, headers, max).await
        };
        let token = self.token(auth).await?;
        let mut answer = post(token.clone()).await;
        // What is refused for its token was not done: it is said once more with another one.
        let challenge = match &answer {
            Err(StreamableHttpError::AuthRequired(error)) => Some(error.www_authenticate_header.clone()),
            _ => None,
        };
        if let Some(another) = self.another(challenge, token.as_deref()).await? {
            answer = post(Some(another)).await;
        }
        self.noted(&answer, session.is_some());
        self.judged(answer)
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        auth: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Answer<()> {
        let token = self.token(auth).await?;
        self.inner.delete_session(uri, session, token, headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        auth: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Answer<BoxStream<'static, Result<Sse, SseError>>> {
        let max = FRAME_BYTES_MAX;
        self.get_stream_with_max_sse_event_size(uri, session, last, auth, headers, max).await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        auth: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
        max: usize,
    ) -> Answer<BoxStream<'static, Result<Sse, SseError>>> {
        let token = self.token(auth).await?;
        self.inner.get_stream_with_max_sse_event_size(uri, session, last, token, headers, max).await
    }
}

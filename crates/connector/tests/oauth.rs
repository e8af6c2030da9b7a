//! Tokens of an authorisation server: got as the standards say, got anew in time, and asked for of nobody else.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode, Uri, header},
    response::{IntoResponse as _, Response},
    routing::any,
};
use edgeplane_connector::{
    Address, Call, CallFailure, Connector, Effect, Failure, Grantor, Limits, Listening, Oauth, OfferKind,
    Said, Target,
};
use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

const SECRET: &str = "s3cr3t of the client";

/// How the servers behave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Way {
    #[default]
    Honest,
    /// Its tokens are accepted by nobody.
    Useless,
    /// The server of tools names another authorisation server.
    Elsewhere,
    /// What it says of itself is about another server of tools.
    Foreign,
    /// The authorisation server calls itself something else.
    Renamed,
    /// It sends whoever asks for a token on.
    SendsOn,
    /// It takes the secret as a field.
    Fields,
    /// It says too much.
    Endless,
    /// Its answer is no token.
    Garbage,
}

/// A server of tools and its authorisation server, at one address; and what came to them.
#[derive(Default)]
struct Seen {
    way: Way,
    base: String,
    life: u64,
    /// Tokens, and when they end.
    valid: BTreeMap<String, Instant>,
    given: usize,
    refused: usize,
    forms: Vec<String>,
    /// What anybody was shown, apart from the one who gives tokens.
    shown: Vec<String>,
}

type Shared = Arc<Mutex<Seen>>;

async fn answer(State(seen): State<Shared>, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let seen = &mut *seen.lock().unwrap();
    let text = String::from_utf8_lossy(&body).into_owned();
    let auth = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let base = seen.base.clone();
    if uri.path() != "/token" {
        seen.shown.push(format!("{} {auth} {text}", uri.path()));
    }
    match uri.path() {
        "/mcp" => tools(seen, auth, &text),
        "/.well-known/oauth-protected-resource/mcp" => {
            let resource = if seen.way == Way::Foreign { "https://other.example/mcp" } else { &base };
            let issuer = if seen.way == Way::Elsewhere { format!("{base}/evil") } else { base.clone() };
            said(&json!({ "resource": resource, "authorization_servers": [issuer] }))
        }
        "/.well-known/oauth-authorization-server" | "/.well-known/oauth-authorization-server/evil" => {
            let issuer = if seen.way == Way::Renamed { "https://other.example" } else { &base };
            let method = if seen.way == Way::Fields { "client_secret_post" } else { "client_secret_basic" };
            let filling = if seen.way == Way::Endless { "x".repeat(1 << 20) } else { String::new() };
            said(&json!({
                "issuer": issuer, "token_endpoint": format!("{base}/token"), "filling": filling,
                "token_endpoint_auth_methods_supported": [method],
            }))
        }
        "/token" => token(seen, auth, &text),
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

fn said(value: &Value) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], value.to_string()).into_response()
}

fn token(seen: &mut Seen, auth: &str, form: &str) -> Response {
    seen.forms.push(form.to_owned());
    match seen.way {
        Way::SendsOn => {
            return (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, "/evil")]).into_response();
        }
        Way::Garbage => return said(&json!({ "access_token": 7, "note": SECRET })),
        _ => {}
    }
    // `us:s3cr3t of the client`, each half as a form has it.
    let by_header = auth == "Basic dXM6czNjcjN0K29mK3RoZStjbGllbnQ=";
    let by_field = form.contains("client_id=us&client_secret=s3cr3t+of+the+client");
    let is_known = if seen.way == Way::Fields { by_field && auth.is_empty() } else { by_header && !by_field };
    if !is_known || !form.contains("grant_type=client_credentials") {
        let problem = json!({ "error": "invalid_client", "error_description": "who are you?" });
        return (StatusCode::UNAUTHORIZED, said(&problem)).into_response();
    }
    seen.given += 1;
    let value = format!("token-{}", seen.given);
    if seen.way != Way::Useless {
        seen.valid.insert(value.clone(), Instant::now() + Duration::from_secs(seen.life));
    }
    said(&json!({ "access_token": value, "token_type": "Bearer", "expires_in": seen.life }))
}

fn tools(seen: &mut Seen, auth: &str, text: &str) -> Response {
    let until = auth.strip_prefix("Bearer ").and_then(|value| seen.valid.get(value));
    if until.is_none_or(|until| Instant::now() >= *until) {
        seen.refused += 1;
        let place = format!("{}/.well-known/oauth-protected-resource/mcp", seen.base);
        let challenge = format!("Bearer resource_metadata=\"{place}\", scope=\"tools more\"");
        return (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, challenge)]).into_response();
    }
    let asked: Value = serde_json::from_str(text).unwrap();
    if asked["id"].is_null() {
        return StatusCode::ACCEPTED.into_response();
    }
    let result = match asked["method"].as_str().unwrap() {
        "server/discover" => json!({ "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} } }),
        "tools/list" => json!({ "tools": [{ "name": "echo", "inputSchema": { "type": "object" } }] }),
        _ => json!({ "content": [{ "type": "text", "text": "done" }] }),
    };
    let mut result = result;
    for (key, value) in
        [("resultType", json!("complete")), ("ttlMs", json!(0)), ("cacheScope", json!("private"))]
    {
        result[key] = value;
    }
    said(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result }))
}

async fn start(way: Way, life: u64) -> Shared {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let seen = Arc::new(Mutex::new(Seen { way, base, life, ..Seen::default() }));
    let router = Router::new().fallback(any(answer)).with_state(Arc::clone(&seen));
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    seen
}

fn connector(seen: &Shared, grantor: Grantor) -> Connector {
    let url = format!("{}/mcp", seen.lock().unwrap().base);
    let oauth =
        Oauth { client_id: "us".to_owned(), client_secret: SECRET.to_owned(), scopes: Vec::new(), grantor };
    let target = Target::Address(Address { url, bearer: None, oauth: Some(oauth), headers: Vec::new() });
    assert!(!format!("{target:?}").contains("s3cr3t"), "{target:?}");
    Connector::new(Arc::new(move || Ok(target.clone())), Limits::standard())
}

fn issuer(seen: &Shared) -> Grantor {
    Grantor::Issuer(seen.lock().unwrap().base.clone())
}

async fn echo(connector: &Connector) -> Result<Said, CallFailure> {
    let inventory = connector.inventory().await.map_err(CallFailure::Unreachable)?;
    let digest = inventory.find(OfferKind::Tool, "echo").unwrap().digest.clone();
    let call = Call {
        kind: OfferKind::Tool,
        native_id: "echo".to_owned(),
        input: serde_json::Map::new(),
        timeout: Duration::from_secs(20),
    };
    connector.call(call, &digest, &CancellationToken::new(), Listening::default()).await
}

/// Proves CAP-019.
#[tokio::test]
async fn a_token_is_got_where_the_server_says_and_shown_to_it_only() {
    for way in [Way::Honest, Way::Fields] {
        let seen = start(way, 3_600).await;
        let connector = connector(&seen, issuer(&seen));
        echo(&connector).await.unwrap();
        echo(&connector).await.unwrap();
        let seen = seen.lock().unwrap();
        assert_eq!((seen.given, seen.refused), (1, 1), "{way:?}");
        let resource = seen.base.replace(':', "%3A").replace('/', "%2F");
        assert!(seen.forms[0].contains("scope=tools+more"), "{:?}", seen.forms);
        assert!(seen.forms[0].contains(&format!("resource={resource}%2Fmcp")), "{:?}", seen.forms);
        assert!(seen.shown.iter().all(|what| !what.contains("s3cr3t")), "{:?}", seen.shown);
        assert!(seen.shown.iter().any(|what| what.starts_with("/mcp Bearer token-1")), "{:?}", seen.shown);
    }
}

/// Proves CAP-019.
#[tokio::test]
async fn a_token_is_got_anew_before_it_ends() {
    // A tenth of its life before its end it is not shown any more: enough for a busy machine.
    let seen = start(Way::Honest, 4).await;
    let at = format!("{}/token", seen.lock().unwrap().base);
    let connector = connector(&seen, Grantor::At(at));
    let several = async {
        while seen.lock().unwrap().given < 2 {
            echo(&connector).await.unwrap();
        }
    };
    tokio::time::timeout(Duration::from_secs(60), several).await.unwrap();
    assert_eq!(seen.lock().unwrap().refused, 0, "none was shown after its end");
}

/// Proves CAP-019.
#[tokio::test]
async fn a_token_that_is_refused_is_got_anew_once() {
    let seen = start(Way::Honest, 3_600).await;
    let connector = connector(&seen, issuer(&seen));
    echo(&connector).await.unwrap();
    seen.lock().unwrap().valid.clear();
    echo(&connector).await.unwrap();
    let counts = |seen: &Shared| {
        let seen = seen.lock().unwrap();
        (seen.given, seen.refused)
    };
    assert_eq!(counts(&seen), (2, 2));
    // One whose tokens nobody takes is not asked for ever.
    {
        let mut seen = seen.lock().unwrap();
        seen.way = Way::Useless;
        seen.valid.clear();
    }
    let failure = echo(&connector).await.unwrap_err();
    assert!(matches!(failure, CallFailure::Unreachable(Failure::Unauthorized(_))), "{failure:?}");
    assert_eq!((failure.effect(), counts(&seen).0), (Effect::None, 3));
}

/// Proves CAP-019.
#[tokio::test]
async fn a_secret_is_told_to_nobody_else() {
    for (way, why, forms) in [
        (Way::Elsewhere, "does not name", 0),
        (Way::Foreign, "another server", 0),
        (Way::Renamed, "it calls itself", 0),
        (Way::Endless, "more than 65536 bytes", 0),
        (Way::SendsOn, "answered 307", 1),
        (Way::Garbage, "it holds no token", 1),
    ] {
        let seen = start(way, 3_600).await;
        let failure = connector(&seen, issuer(&seen)).inventory().await.unwrap_err();
        assert!(matches!(failure, Failure::Unauthorized(_)), "{way:?}: {failure:?}");
        let text = failure.to_string();
        assert!(text.contains(why) && !text.contains("s3cr3t"), "{way:?}: {text}");
        let seen = seen.lock().unwrap();
        assert_eq!(seen.forms.len(), forms, "{way:?}");
        let heard = seen.shown.iter().filter(|what| what.contains("s3cr3t") || what.contains("Basic "));
        assert_eq!(heard.count(), 0, "{way:?}: {:?}", seen.shown);
    }
    // One that others may read along with is not asked at all.
    let seen = start(Way::Honest, 1).await;
    let open = connector(&seen, Grantor::At("http://login.example/token".to_owned()));
    let failure = open.inventory().await.unwrap_err();
    assert!(matches!(failure, Failure::Setup(_)) && failure.to_string().contains("https"), "{failure:?}");
}

//! Where tokens are given: what a server of tools says of its authorisation server, and that one of itself.

use reqwest::{Client, RequestBuilder, StatusCode, Url, header};
use serde::{Deserialize, de::DeserializeOwned};

use super::{ANSWER_MAX, Denied, Grantor};
use crate::failure::said;

/// Longest answer that is read, in bytes.
const ANSWER_BYTES_MAX: usize = 64 << 10;

/// What one is called that gives tokens.
const GRANTOR: &str = "the authorisation server's metadata";

/// Where tokens are asked for, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Endpoint {
    pub(super) url: Url,
    /// Whether it takes the client's secret as a header; else it takes it as fields.
    pub(super) takes_basic: bool,
    /// What the server of tools wants asked for.
    pub(super) scopes: Vec<String>,
}

/// What a server of tools says of who guards it (RFC 9728).
#[derive(Debug, Deserialize)]
struct Resource {
    resource: String,
    #[serde(default)]
    authorization_servers: Vec<String>,
    #[serde(default)]
    scopes_supported: Vec<String>,
}

/// What an authorisation server says of itself (RFC 8414).
#[derive(Debug, Deserialize)]
struct Grants {
    issuer: String,
    token_endpoint: String,
    grant_types_supported: Option<Vec<String>>,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
}

impl Endpoint {
    /// One that was declared.
    pub(super) fn at(url: &str) -> Result<Self, Denied> {
        let what = "the address where tokens are asked for";
        Ok(Self { url: safe(url, what)?, takes_basic: true, scopes: Vec::new() })
    }
}

/// An address that a secret may be sent to: nobody reads along.
fn safe(text: &str, what: &str) -> Result<Url, Denied> {
    let url = Url::parse(text).map_err(|error| Denied::wrong(what, error.to_string()))?;
    let host = url.host_str().unwrap_or_default();
    let is_here = matches!(host, "localhost" | "127.0.0.1" | "[::1]");
    match url.scheme() {
        "https" => Ok(url),
        "http" if is_here => Ok(url),
        _ => Err(Denied::wrong(what, "it is neither `https` nor on this machine")),
    }
}

/// Finds out where tokens for a server are given, beginning with what it said when it refused.
pub(super) async fn endpoint(
    http: &Client,
    resource: &Url,
    grantor: &Grantor,
    challenge: &str,
) -> Result<Endpoint, Denied> {
    let found = guarded(http, resource, challenge).await?;
    let issuer = match grantor {
        Grantor::Issuer(issuer) if found.authorization_servers.contains(issuer) => issuer.clone(),
        Grantor::Issuer(issuer) => {
            let why = format!("it does not name `{issuer}`, the one that is declared");
            return Err(Denied::wrong("what the server says of its authorisation servers", why));
        }
        Grantor::At(_) | Grantor::Named => found.authorization_servers.first().cloned().ok_or_else(|| {
            Denied::wrong("what the server says of its authorisation servers", "it names none")
        })?,
    };
    let grants = grants(http, &issuer).await?;
    let offers = |list: &Option<Vec<String>>, word: &str| {
        list.as_ref().is_none_or(|list| list.iter().any(|one| one == word))
    };
    if !offers(&grants.grant_types_supported, "client_credentials") {
        return Err(Denied::wrong(GRANTOR, "it gives no tokens for a client's own credentials"));
    }
    let methods = &grants.token_endpoint_auth_methods_supported;
    let takes_basic = offers(methods, "client_secret_basic");
    if !takes_basic && !offers(methods, "client_secret_post") {
        return Err(Denied::wrong(GRANTOR, "it takes no client's secret"));
    }
    let wanted = parameter(challenge, "scope").map(|scope| scope.split(' ').map(str::to_owned).collect());
    Ok(Endpoint {
        url: safe(&grants.token_endpoint, "the address where tokens are asked for")?,
        takes_basic,
        scopes: wanted.unwrap_or(found.scopes_supported),
    })
}

/// What a server says of who guards it: where its refusal says, else at the places for it.
async fn guarded(http: &Client, resource: &Url, challenge: &str) -> Result<Resource, Denied> {
    let what = "what the server says of its authorisation servers";
    let places = match parameter(challenge, "resource_metadata") {
        Some(place) => {
            let place = safe(&place, what)?;
            // Whoever guards a server is said at the server itself.
            if place.origin() != resource.origin() {
                return Err(Denied::wrong(what, "it lies at another address than the server"));
            }
            vec![place]
        }
        None => known(resource, "oauth-protected-resource", false),
    };
    let found: Resource = first(http, places, what).await?;
    let is_its = Url::parse(&found.resource).is_ok_and(|said| covers(&said, resource));
    match is_its {
        true => Ok(found),
        false => Err(Denied::wrong(what, format!("it is about `{}`, another server", found.resource))),
    }
}

/// Whether what is said of one address holds for another: the same, or one below it.
fn covers(said: &Url, resource: &Url) -> bool {
    let path = said.path().trim_end_matches('/');
    let rest = resource.path().strip_prefix(path);
    said.origin() == resource.origin() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// What an authorisation server says of itself, at the places for it. It must call itself what it is called.
async fn grants(http: &Client, issuer: &str) -> Result<Grants, Denied> {
    let url = safe(issuer, GRANTOR)?;
    let mut places = known(&url, "oauth-authorization-server", true);
    places.extend(known(&url, "openid-configuration", true));
    if url.path() != "/" {
        let mut below = url.clone();
        below.set_path(&format!("{}/.well-known/openid-configuration", url.path().trim_end_matches('/')));
        places.push(below);
    }
    let found: Grants = first(http, places, GRANTOR).await?;
    match found.issuer == issuer {
        true => Ok(found),
        false => Err(Denied::wrong(GRANTOR, format!("it calls itself `{}`, not `{issuer}`", found.issuer))),
    }
}

/// The places where something is said about an address: with its path, and where `exact` does not forbid it without.
fn known(url: &Url, name: &str, exact: bool) -> Vec<Url> {
    let path = url.path().trim_end_matches('/');
    let at = |path: &str| {
        let mut place = url.clone();
        place.set_path(&format!("/.well-known/{name}{path}"));
        place.set_query(None);
        place.set_fragment(None);
        place
    };
    match path.is_empty() || exact {
        true => vec![at(path)],
        false => vec![at(path), at("")],
    }
}

/// The first of some places where something is said.
async fn first<T: DeserializeOwned>(http: &Client, places: Vec<Url>, what: &str) -> Result<T, Denied> {
    let mut last = Denied::wrong(what, "it is nowhere");
    for place in places {
        let request = http.get(place).timeout(ANSWER_MAX).header(header::ACCEPT, "application/json");
        let (status, body) = get_bounded(request, what).await?;
        if status == StatusCode::OK {
            return serde_json::from_slice(&body).map_err(|error| Denied::wrong(what, error.to_string()));
        }
        last = Denied::wrong(what, format!("it is not to be had: {status}"));
    }
    Err(last)
}

/// An answer, read to a bound.
pub(super) async fn get_bounded(
    request: RequestBuilder,
    what: &str,
) -> Result<(StatusCode, Vec<u8>), Denied> {
    let unreachable = |error: reqwest::Error| {
        // Its address may hold what nobody is to see.
        let why = said(&error.without_url().to_string());
        Denied::Unreachable { what: what.to_owned(), why }
    };
    let mut response = request.send().await.map_err(unreachable)?;
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
        if body.len().saturating_add(chunk.len()) > ANSWER_BYTES_MAX {
            return Err(Denied::wrong(what, format!("it has more than {ANSWER_BYTES_MAX} bytes")));
        }
        body.extend_from_slice(&chunk);
    }
    Ok((response.status(), body))
}

/// What a refusal says under a name.
fn parameter(challenge: &str, name: &str) -> Option<String> {
    let mut rest = challenge.split_once(' ').map(|(_, rest)| rest)?;
    while let Some((key, after)) = rest.split_once('=') {
        let key = key.trim_start_matches([',', ' ']).trim();
        let (value, next) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => after.split_once(',').unwrap_or((after, "")),
        };
        if key.eq_ignore_ascii_case(name) {
            return Some(value.trim().to_owned());
        }
        rest = next;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_read() {
        let challenge =
            r#"Bearer error="invalid_token", resource_metadata="https://a.example/x", scope="a b", plain=1"#;
        let found = ["error", "resource_metadata", "SCOPE", "plain", "none"];
        let found = found.map(|name| parameter(challenge, name));
        let texts = [Some("invalid_token"), Some("https://a.example/x"), Some("a b"), Some("1"), None];
        assert_eq!(found, texts.map(|text| text.map(str::to_owned)));
        assert_eq!(parameter("Bearer", "scope"), None);
        assert_eq!(parameter("Bearer scope=\"open", "scope"), None);
    }

    #[test]
    fn places_are_those_of_the_standards() {
        let url = Url::parse("https://a.example/team/mcp?x=1").unwrap();
        let texts = |urls: Vec<Url>| urls.iter().map(Url::to_string).collect::<Vec<_>>();
        assert_eq!(
            texts(known(&url, "oauth-protected-resource", false)),
            [
                "https://a.example/.well-known/oauth-protected-resource/team/mcp",
                "https://a.example/.well-known/oauth-protected-resource"
            ]
        );
        assert_eq!(
            texts(known(&url, "oauth-authorization-server", true)),
            ["https://a.example/.well-known/oauth-authorization-server/team/mcp"]
        );
    }

    #[test]
    fn what_is_said_of_a_server_holds_for_it_only() {
        let resource = Url::parse("https://a.example/team/mcp").unwrap();
        let covers = |text: &str| covers(&Url::parse(text).unwrap(), &resource);
        assert!(
            covers("https://a.example/team/mcp")
                && covers("https://a.example")
                && covers("https://a.example/team/")
        );
        for other in ["https://b.example/team/mcp", "http://a.example", "https://a.example/te"] {
            assert!(!covers(other), "{other}");
        }
    }

    #[test]
    fn secrets_are_sent_where_nobody_reads_along() {
        for good in
            ["https://a.example/token", "http://127.0.0.1:1/t", "http://localhost/t", "http://[::1]/t"]
        {
            assert!(safe(good, "x").is_ok(), "{good}");
        }
        for bad in ["http://a.example/token", "ftp://localhost/t", "token", "http://127.0.0.1.example/"] {
            assert!(safe(bad, "x").is_err(), "{bad}");
        }
    }
}

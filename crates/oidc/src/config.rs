//! Which issuers count, for whom, and where their keys are.

use std::{net::IpAddr, path::PathBuf};

use edgeplane_types::TokenKind;
use reqwest::Url;

/// Longest name of an issuer or an audience in bytes.
const NAME_BYTES_MAX: usize = 512;

/// One issuer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssuerConfig {
    /// The `iss` of its tokens, exactly.
    pub issuer: String,
    /// The `aud` that a token must name.
    pub audience: String,
    /// Where its keys are.
    pub keys: KeySource,
    /// Whether its subjects are persons or programs.
    pub kind: TokenKind,
}

/// Where the keys of an issuer are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// In a file, which is read again when it changes.
    File(PathBuf),
    /// Behind an address, which is asked now and then.
    Url(Url),
}

/// Why an issuer cannot be meant as it stands.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// A name is missing or too long.
    #[error("the {0} of an identity provider has 1 to {NAME_BYTES_MAX} bytes")]
    Name(&'static str),
    /// It would be taken for this node or another.
    #[error("`{0}` is no identity provider's name: ids of nodes begin like it")]
    Node(String),
    /// Two have one name.
    #[error("the identity provider `{0}` is named twice")]
    Twice(String),
    /// Keys that anybody on the way could exchange.
    #[error("keys come over https, or over http from this machine, and not from `{0}`")]
    Url(String),
}

impl KeySource {
    /// A file, or an address if it begins like one.
    ///
    /// # Errors
    /// When it is an address from which keys are not taken.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        if !text.starts_with("https://") && !text.starts_with("http://") {
            return Ok(Self::File(PathBuf::from(text)));
        }
        let refused = || ConfigError::Url(text.to_owned());
        let url: Url = text.parse().map_err(|_not_one| refused())?;
        if is_safe(&url) { Ok(Self::Url(url)) } else { Err(refused()) }
    }
}

fn is_safe(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    let is_here = host == "localhost" || address.is_ok_and(|address| address.is_loopback());
    let is_plain = url.username().is_empty() && url.password().is_none();
    is_plain && (url.scheme() == "https" || (url.scheme() == "http" && is_here))
}

impl IssuerConfig {
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        for (what, name) in [("issuer", &self.issuer), ("audience", &self.audience)] {
            if name.is_empty() || name.len() > NAME_BYTES_MAX {
                return Err(ConfigError::Name(what));
            }
        }
        if self.issuer.starts_with("nod_") {
            return Err(ConfigError::Node(self.issuer.clone()));
        }
        match &self.keys {
            KeySource::Url(url) if !is_safe(url) => Err(ConfigError::Url(url.to_string())),
            KeySource::Url(_) | KeySource::File(_) => Ok(()),
        }
    }
}

//! Tokens of identity providers: whose they are, and whether they count.
//!
//! Owns the form of such tokens, their signatures and claims, and the keys that providers publish. It deliberately does
//! not know what a caller may do here, nor any other kind of token: it says whether a text names one of its issuers, and
//! reads it then as nothing else.
#![forbid(unsafe_code)]

mod claims;
mod config;
mod keys;
mod source;
mod token;

use std::sync::Arc;

pub use claims::{Identified, SKEW_SECONDS};
pub use config::{ConfigError, IssuerConfig, KeySource};
pub use token::TOKEN_BYTES_MAX;

use source::{Pace, Source};

/// Why a token does not count.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It is not in the form of one.
    #[error("that is no signed token: {0}")]
    Form(&'static str),
    /// It is signed in a way that does not count here.
    #[error("tokens are signed by ES256, RS256 or EdDSA, and not as this one is")]
    Algorithm,
    /// Its issuer has published no such key.
    #[error("the issuer has published no such key")]
    UnknownKey,
    /// The signature is another's.
    #[error("the signature is not the issuer's")]
    Forged,
    /// It is for somebody else.
    #[error("the token is for another audience")]
    Audience,
    /// Its time is over.
    #[error("the token's time is over")]
    Expired,
    /// Its time is yet to come.
    #[error("the token's time is yet to come")]
    NotYetValid,
    /// Its subject cannot be a principal.
    #[error("the subject has letters that a principal may not have, or too many")]
    Subject,
    /// It gives no right that counts here.
    #[error("the token has no scope that counts here")]
    NoScope,
    /// The keys of its issuer cannot be had now.
    #[error("the keys of the issuer cannot be had now")]
    KeysUnavailable,
}

impl Refused {
    /// The word that programs read.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Form(_) => "no-token",
            Self::Algorithm => "algorithm",
            Self::UnknownKey => "unknown-key",
            Self::Forged => "forged",
            Self::Audience => "other-audience",
            Self::Expired => "expired",
            Self::NotYetValid => "not-yet-valid",
            Self::Subject => "unusable-subject",
            Self::NoScope => "no-scope",
            Self::KeysUnavailable => "keys-unavailable",
        }
    }
}

/// The issuers whose tokens count.
#[derive(Debug, Clone, Default)]
pub struct Issuers {
    all: Arc<Vec<Issuer>>,
}

/// One issuer and where its keys are.
#[derive(Debug)]
pub struct Issuer {
    config: IssuerConfig,
    source: Source,
}

impl Issuers {
    /// Issuers as configured. Nothing is read or fetched yet.
    ///
    /// # Errors
    /// When one cannot be meant as it stands, or two are the same.
    pub fn new(configs: Vec<IssuerConfig>) -> Result<Self, ConfigError> {
        Self::paced(configs, Pace::STANDARD)
    }

    fn paced(configs: Vec<IssuerConfig>, pace: Pace) -> Result<Self, ConfigError> {
        for (index, config) in configs.iter().enumerate() {
            config.check()?;
            if configs.iter().take(index).any(|other| other.issuer == config.issuer) {
                return Err(ConfigError::Twice(config.issuer.clone()));
            }
        }
        let all =
            configs.into_iter().map(|config| Issuer { source: Source::new(&config.keys, pace), config });
        Ok(Self { all: Arc::new(all.collect()) })
    }

    /// The issuer that a text names, believing nothing of it but the name: by it alone is decided how the text is read.
    #[must_use]
    pub fn named_by(&self, text: &str) -> Option<&Issuer> {
        if self.all.is_empty() {
            return None;
        }
        let named = token::issuer(text)?;
        self.all.iter().find(|issuer| issuer.config.issuer == named)
    }
}

impl Issuer {
    /// Its name in tokens.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.config.issuer
    }

    /// Whose token a text is, at this moment in seconds since 1970.
    ///
    /// # Errors
    /// Why it does not count.
    pub async fn verify(&self, text: &str, now: u64) -> Result<Identified, Refused> {
        let header = token::header(text)?;
        let key = match self.source.known(&header).await {
            Ok(key) => key,
            // It may be a new one.
            Err(Refused::UnknownKey) => self.source.anew(&header).await?,
            Err(refused) => return Err(refused),
        };
        let claims = key.verified(text, &header)?;
        claims.check(&self.config, now)
    }
}

#[cfg(test)]
mod tests;

//! Which identity providers count: from options for one, from a file for several.

use std::{fs, path::PathBuf};

use anyhow::Context as _;
use clap::Args;
use edgeplane_oidc::{IssuerConfig, Issuers, KeySource};
use edgeplane_types::TokenKind;
use serde::Deserialize;

/// Longest file of providers in bytes, and most of them.
const FILE_BYTES_MAX: u64 = 64 << 10;
const ISSUERS_MAX: usize = 16;

#[derive(Debug, Args)]
pub(crate) struct IssuerOptions {
    /// An identity provider whose signed tokens count, by the name that they give as `iss`
    #[arg(long, env = "EDGEPLANE_OIDC_ISSUER", value_name = "URL", requires_all = ["oidc_audience", "jwks"])]
    oidc_issuer: Option<String>,

    /// The audience that its tokens must name
    #[arg(long, env = "EDGEPLANE_OIDC_AUDIENCE", value_name = "NAME")]
    oidc_audience: Option<String>,

    /// Where its keys are: a file, or an address beginning with https:// (http:// on this machine)
    #[arg(long, env = "EDGEPLANE_JWKS", value_name = "FILE|URL")]
    jwks: Option<String>,

    /// Whether its subjects are persons or programs
    #[arg(long, env = "EDGEPLANE_OIDC_KIND", value_name = "KIND", default_value = "service", value_parser = ["operator", "service"])]
    oidc_kind: String,

    /// A TOML file with several identity providers, each an `[[issuer]]` with issuer, audience, jwks and kind
    #[arg(long, env = "EDGEPLANE_OIDC_FILE", value_name = "FILE")]
    oidc_file: Option<PathBuf>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    issuer: Vec<Provider>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Provider {
    issuer: String,
    audience: String,
    jwks: String,
    kind: TokenKind,
}

impl Provider {
    fn config(self) -> anyhow::Result<IssuerConfig> {
        let Self { issuer, audience, jwks, kind } = self;
        let keys = KeySource::parse(&jwks)?;
        Ok(IssuerConfig { issuer, audience, keys, kind })
    }
}

impl IssuerOptions {
    /// The providers that were named.
    pub(crate) fn read(self) -> anyhow::Result<Issuers> {
        let mut providers = Vec::new();
        if let (Some(issuer), Some(audience), Some(jwks)) = (self.oidc_issuer, self.oidc_audience, self.jwks)
        {
            let kind = if self.oidc_kind == "operator" { TokenKind::Operator } else { TokenKind::Service };
            providers.push(Provider { issuer, audience, jwks, kind });
        }
        if let Some(path) = self.oidc_file {
            let shown = path.display().to_string();
            let bytes = fs::metadata(&path).with_context(|| format!("cannot read `{shown}`"))?.len();
            anyhow::ensure!(bytes <= FILE_BYTES_MAX, "`{shown}` has more than {FILE_BYTES_MAX} bytes");
            let text = fs::read_to_string(&path).with_context(|| format!("cannot read `{shown}`"))?;
            let file: File = toml::from_str(&text).with_context(|| format!("`{shown}` is wrong"))?;
            providers.extend(file.issuer);
        }
        anyhow::ensure!(providers.len() <= ISSUERS_MAX, "more than {ISSUERS_MAX} identity providers");
        let configs: Vec<IssuerConfig> =
            providers.into_iter().map(Provider::config).collect::<anyhow::Result<_>>()?;
        Ok(Issuers::new(configs)?)
    }
}

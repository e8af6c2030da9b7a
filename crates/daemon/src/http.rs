//! The protocol over HTTP: where it is served, and what is read of that before the node starts.

use std::{net::SocketAddr, path::PathBuf, sync::Arc};

use anyhow::{Context as _, bail};
use axum::body::Body;
use clap::Args;
use edgeplane_edge_mcp::Choice;
use edgeplane_gateway::{
    CONNECTIONS_MAX, Config, Converse, HostName, Metrics, Presented, Protocol, Routes, Tls, TlsFiles,
};
use edgeplane_node::{Edge, Presented as Seen};
use edgeplane_telemetry::Telemetry;
use http::{HeaderValue, Response, header};

/// What Prometheus calls its text.
const PROMETHEUS: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");

/// The description of the protocol for programs that make clients of it.
static OPENAPI: Option<&str> = Some(include_str!("../../../spec/openapi.json"));

/// Where and how the protocol is served over HTTP.
#[derive(Debug, Args)]
#[command(next_help_heading = "Over HTTP")]
pub(crate) struct HttpOptions {
    /// Serve the protocol over HTTP here, such as 127.0.0.1:8930 [default: not at all]
    #[arg(long, env = "EDGEPLANE_HTTP_LISTEN", value_name = "ADDRESS")]
    http_listen: Option<SocketAddr>,

    /// A name by which the encrypted listener is called, besides those of its certificate; may be given several times
    #[arg(
        long,
        env = "EDGEPLANE_HTTP_HOST",
        value_name = "NAME",
        value_delimiter = ',',
        requires = "http_listen"
    )]
    http_host: Vec<HostName>,

    /// Encrypt it with this certificate and those behind it, in PEM; an address that others can reach needs that
    #[arg(long, env = "EDGEPLANE_TLS_CERT", value_name = "FILE", requires_all = ["http_listen", "tls_key"])]
    tls_cert: Option<PathBuf>,

    /// The private key of the certificate, in PEM
    #[arg(long, env = "EDGEPLANE_TLS_KEY", value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,

    /// Verify certificates of clients by these authorities, in PEM; who shows none needs a token
    #[arg(long, env = "EDGEPLANE_TLS_CLIENT_CA", value_name = "FILE", requires = "tls_cert")]
    tls_client_ca: Option<PathBuf>,
}

impl HttpOptions {
    /// Whether the protocol is served over HTTP at all.
    pub(crate) fn is_served(&self) -> bool {
        self.http_listen.is_some()
    }

    /// Where to listen, with every file read: what is wrong with them is known before the node starts.
    pub(crate) fn config(&self) -> anyhow::Result<Option<Config>> {
        let Some(address) = self.http_listen else { return Ok(None) };
        let files = match (&self.tls_cert, &self.tls_key) {
            (Some(certificate), Some(key)) => {
                let (certificate, key) = (certificate.clone(), key.clone());
                Some(TlsFiles { certificate, key, client_authorities: self.tls_client_ca.clone() })
            }
            _ => None,
        };
        if files.is_none() && !self.http_host.is_empty() {
            bail!("`--http-host` is for encrypted listeners: give `--tls-cert` and `--tls-key` as well");
        }
        let tls =
            files.map(|files| Tls::read(&files)).transpose().context("cannot encrypt `--http-listen`")?;
        let config = Config { address, tls, hosts: self.http_host.clone(), connections_max: CONNECTIONS_MAX };
        config.check().context(
            "other machines are served with TLS alone: give `--tls-cert` and `--tls-key`, or an address such as \
             127.0.0.1:8930",
        )?;
        Ok(Some(config))
    }
}

/// What is served there.
pub(crate) fn routes(edge: &Edge, choice: &Choice, telemetry: Option<&Arc<Telemetry>>) -> Routes {
    let own = edge.clone();
    let converse: Converse = Arc::new(move |presented| {
        own.converse_presenting(match presented {
            Presented::Nothing => Seen::Nothing,
            Presented::Certificate { sha256 } => Seen::Certificate { sha256 },
        })
    });
    let protocol = Protocol { converse, openapi: OPENAPI, metrics: telemetry.map(metrics) };
    crate::mcp::routes(edge, choice).with_protocol(protocol)
}

/// The metrics as Prometheus reads them.
fn metrics(telemetry: &Arc<Telemetry>) -> Metrics {
    let telemetry = Arc::clone(telemetry);
    Arc::new(move || {
        let mut response = Response::new(Body::from(telemetry.prometheus()));
        response.headers_mut().insert(header::CONTENT_TYPE, PROMETHEUS);
        Box::pin(std::future::ready(response))
    })
}

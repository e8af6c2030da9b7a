//! The Model Context Protocol over HTTP: the gateway with the edge mounted on it, in the daemon's process.

use std::{future::Future, net::SocketAddr, pin::Pin, sync::Arc};

use axum::body::Body;
use bytes::Bytes;
use edgeplane_client::Client;
use edgeplane_edge_mcp::{Choice, HttpEndpoint, Way};
use edgeplane_gateway::{Bearers, Config, Connect, Endpoint, ListenError, MCP_CONNECTIONS_MAX, Routes};
use edgeplane_node::Edge;
use http::{Request, Response};

/// Reads an address that no other machine can reach.
pub(crate) fn parse_address(text: &str) -> Result<SocketAddr, String> {
    let address: SocketAddr =
        text.parse().map_err(|_error| "an address and a port, such as 127.0.0.1:8931")?;
    if address.ip().is_loopback() { Ok(address) } else { Err(ListenError::NotLoopback(address).to_string()) }
}

/// Where to listen for it alone.
pub(crate) fn config(address: SocketAddr) -> Config {
    Config { address, tls: None, hosts: Vec::new(), connections_max: MCP_CONNECTIONS_MAX }
}

/// What is served there.
pub(crate) fn routes(edge: &Edge, choice: &Choice) -> Routes {
    let choice = choice.clone();
    let mount = move |connect: Connect, token: String| -> Arc<dyn Endpoint> {
        let way = Way { connect: Box::new(move || connect()), token: Some(token) };
        Arc::new(Mcp(HttpEndpoint::new(way, choice.clone())))
    };
    Routes::new().with_mcp(Bearers::new(connect(edge.clone()), Arc::new(mount)))
}

fn connect(edge: Edge) -> Connect {
    Arc::new(move || {
        let edge = edge.clone();
        Box::pin(async move {
            let (reader, writer) = tokio::io::split(edge.converse());
            Ok(Client::over(reader, writer))
        })
    })
}

struct Mcp(HttpEndpoint);

impl Endpoint for Mcp {
    fn answer(
        self: Arc<Self>,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Response<Body>> + Send>> {
        Box::pin(async move { self.0.answer(request).await.map(Body::new) })
    }
}

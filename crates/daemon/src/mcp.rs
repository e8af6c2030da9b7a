//! The Model Context Protocol over HTTP: the gateway with the edge mounted on it, in the daemon's process.

use std::{convert::Infallible, future::Future, net::SocketAddr, pin::Pin, sync::Arc, time::Duration};

use axum::body::Body;
use bytes::Bytes;
use edgeplane_client::Client;
use edgeplane_edge_mcp::{HttpEndpoint, Way};
use edgeplane_gateway::{Bearers, Connect, Endpoint, Gateway, ListenError};
use edgeplane_node::Edge;
use http::{Request, Response};

/// How long an address that somebody else has is waited for before it is tried again.
const AGAIN: Duration = Duration::from_secs(5);

/// Reads an address that no other machine can reach.
pub(crate) fn parse_address(text: &str) -> Result<SocketAddr, String> {
    let address: SocketAddr =
        text.parse().map_err(|_error| "an address and a port, such as 127.0.0.1:8931")?;
    if address.ip().is_loopback() { Ok(address) } else { Err(ListenError::NotLoopback(address).to_string()) }
}

/// Serves until it is ended. An address that is taken does not keep the node from its agents: any of them could take it.
pub(crate) async fn serve(address: SocketAddr, edge: Edge) {
    loop {
        let bearers = Bearers::new(connect(edge.clone()), Arc::new(mount));
        match Gateway::listen(address, bearers).await {
            Ok(gateway) => {
                tracing::info!(url = %format!("http://{}/mcp", gateway.address()), "the Model Context Protocol is served");
                // Until this task is ended, which ends the gateway.
                let _never: Infallible = std::future::pending().await;
            }
            Err(error) => {
                tracing::error!(error = %chain(&error), "the Model Context Protocol is not served; tried again soon");
            }
        }
        tokio::time::sleep(AGAIN).await;
    }
}

fn chain(error: &ListenError) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
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

fn mount(connect: Connect, token: String) -> Arc<dyn Endpoint> {
    let way = Way { connect: Box::new(move || connect()), token: Some(token) };
    Arc::new(Mcp(HttpEndpoint::new(way)))
}

//! The server on standard streams, for the program that started us.

use std::sync::Arc;

use rmcp::{
    service::{ServerInitializeError, serve_server},
    transport::stdio_pipes,
};

use crate::{Choice, Way, capabilities::Capabilities, handler::Handler, link::Link};

/// Why standard streams are not served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Whoever is there does not begin as the protocol says.
    #[error("cannot begin to serve on standard streams")]
    Begin(#[source] Box<ServerInitializeError>),
    /// The server itself was cut off.
    #[error("the server on standard streams was cut off")]
    CutOff,
}

/// Serves standard input and output, with those capabilities of the node that are chosen, until the other side ends them.
///
/// # Errors
/// When the other side does not speak the protocol. That it ends before it has said anything is none.
pub async fn serve_stdio(way: Way, choice: Choice) -> Result<(), ServeError> {
    let link = Link::new(way);
    let handler = Handler::new(Arc::clone(&link), Capabilities::new(link, choice));
    let (reader, writer) = stdio_pipes();
    let running = match serve_server(handler, (reader, writer)).await {
        Ok(running) => running,
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(ServeError::Begin(Box::new(error))),
    };
    running.waiting().await.map(drop).map_err(|_cut| ServeError::CutOff)
}

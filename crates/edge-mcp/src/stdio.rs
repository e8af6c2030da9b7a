//! The server on standard streams, for the program that started us.

use rmcp::{
    service::{ServerInitializeError, serve_server},
    transport::stdio_pipes,
};

use crate::{Way, handler::Handler, link::Link};

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

/// Serves standard input and output until the other side ends them.
///
/// # Errors
/// When the other side does not speak the protocol. That it ends before it has said anything is none.
pub async fn serve_stdio(way: Way) -> Result<(), ServeError> {
    let handler = Handler::new(Link::new(way));
    let (reader, writer) = stdio_pipes();
    let running = match serve_server(handler, (reader, writer)).await {
        Ok(running) => running,
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(ServeError::Begin(Box::new(error))),
    };
    running.waiting().await.map(drop).map_err(|_cut| ServeError::CutOff)
}

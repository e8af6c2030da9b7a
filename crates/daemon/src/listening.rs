//! A listener of the gateway that is kept up for as long as the node is.

use std::time::Duration;

use edgeplane_gateway::{Config, Gateway, ListenError, Routes};
use tokio::sync::oneshot;

/// How long an address that somebody else has is waited for before it is tried again.
const AGAIN: Duration = Duration::from_secs(5);

/// Serves until it is told to end, and then lets what is under way finish for a short while. An address that is taken does
/// not keep the node from its agents: any of them could take it.
pub(crate) async fn serve(
    what: &'static str,
    config: Config,
    routes: impl Fn() -> Routes,
    mut ending: oneshot::Receiver<()>,
) {
    let scheme = if config.tls.is_some() { "https" } else { "http" };
    loop {
        match Gateway::listen(config.clone(), routes()).await {
            Ok(gateway) => {
                tracing::info!(url = %format!("{scheme}://{}", gateway.address()), "{what} is served");
                // Also if whoever would say so has gone.
                drop(ending.await);
                return gateway.end().await;
            }
            Err(error) => {
                tracing::error!(error = %chain(&error), "{what} is not served; tried again soon");
            }
        }
        tokio::select! {
            _ = &mut ending => return,
            () = tokio::time::sleep(AGAIN) => {}
        }
    }
}

fn chain(error: &ListenError) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

//! Terminal adapters: which there are, and what one says of a screen.

use std::sync::Arc;

use edgeplane_driver::screen::{Adapter, Fixture};
use edgeplane_types::ErrorName;
use edgeplane_wire::{
    api::adapter::{AdapterCheckParams, AdapterCheckResult, AdapterView, AdaptersResult},
    rpc::RpcError,
};

use super::{Session, agent};
use crate::agent::Command;

pub(in crate::server) async fn list(session: &Session) -> Result<AdaptersResult, RpcError> {
    let shared = Arc::clone(&session.shared);
    let read = tokio::task::spawn_blocking(move || shared.adapters.list()).await;
    let found = read.map_err(|error| RpcError::new(ErrorName::Internal, error.to_string()))?;
    let items = found.into_iter().map(|(name, known)| AdapterView {
        title: known.adapter.as_ref().map(|adapter| adapter.title.clone()).unwrap_or_default(),
        recorded: known.adapter.as_ref().map(|adapter| adapter.recorded.clone()).unwrap_or_default(),
        file: known.path.map(|path| path.to_string_lossy().into_owned()),
        rejected: known.rejected,
        text: known.text,
        name,
    });
    let folder = session.shared.adapters.folder().to_string_lossy().into_owned();
    Ok(AdaptersResult { items: items.collect(), folder })
}

pub(in crate::server) async fn check(
    session: &Session,
    params: AdapterCheckParams,
) -> Result<AdapterCheckResult, RpcError> {
    let wrong = |error: String| RpcError::new(ErrorName::InvalidParams, error);
    let adapter = Adapter::parse(&params.adapter).map_err(|error| wrong(format!("`adapter`: {error}")))?;
    let screen = match (params.screen, params.agent) {
        (Some(_), Some(_)) => return Err(wrong("give `screen` or `agent`, not both".to_owned())),
        (Some(screen), None) => Some(screen),
        (None, Some(name)) => {
            let handle = agent(session, &name)?;
            Some(handle.ask(Command::Snapshot).await??.recorded)
        }
        (None, None) => None,
    };
    let Some(screen) = screen else {
        let name = adapter.name;
        return Ok(AdapterCheckResult { name, state: None, composer: None, matched: Vec::new() });
    };
    let fixture = Fixture::parse(&screen).map_err(|error| wrong(format!("`screen`: {error}")))?;
    let reading = adapter.read(&fixture.view);
    Ok(AdapterCheckResult {
        name: adapter.name,
        state: Some(reading.state.as_str().to_owned()),
        composer: reading.composer.map(|composer| composer.text),
        matched: reading.matched,
    })
}

//! Tools about one's own memory.

use std::sync::Arc;

use edgeplane_wire::{
    api::memory::{DeleteParams, EntriesResult, Entry, KeyParams, KeysParams, PutParams},
    catalogue::{MemoryDelete, MemoryGet, MemoryList, MemoryPut},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::{failure::Failure, link::Link, shown::Shown};

impl Shown for Entry {}
impl Shown for EntriesResult {}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeyArgs {
    /// The key.
    key: String,
}

pub(super) async fn get(link: &Arc<Link>, args: KeyArgs) -> Result<Entry, Failure> {
    let agent = Some(link.own_id().await?.to_string());
    Ok(link.call::<MemoryGet>(&KeyParams { agent, key: args.key }).await?)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PutArgs {
    /// The key: 1 to 256 bytes.
    key: String,
    /// Any JSON value of at most 1 MiB.
    value: Value,
    /// Write only if the key is at this version; 0 means that it must not exist.
    #[serde(default)]
    if_version: Option<u64>,
    /// Milliseconds after which it is forgotten.
    #[serde(default)]
    ttl_ms: Option<u64>,
}

pub(super) async fn put(link: &Arc<Link>, args: PutArgs) -> Result<Entry, Failure> {
    let agent = Some(link.own_id().await?.to_string());
    let PutArgs { key, value, if_version, ttl_ms } = args;
    Ok(link.call::<MemoryPut>(&PutParams { agent, key, value, if_version, ttl_ms }).await?)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListArgs {
    /// Only keys that begin so.
    #[serde(default)]
    prefix: Option<String>,
}

pub(super) async fn list(link: &Arc<Link>, args: ListArgs) -> Result<EntriesResult, Failure> {
    let agent = Some(link.own_id().await?.to_string());
    Ok(link.call::<MemoryList>(&KeysParams { agent, prefix: args.prefix }).await?)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeleteArgs {
    /// The key.
    key: String,
    /// Remove only if the key is at this version.
    #[serde(default)]
    if_version: Option<u64>,
}

pub(super) async fn delete(link: &Arc<Link>, args: DeleteArgs) -> Result<Entry, Failure> {
    let agent = Some(link.own_id().await?.to_string());
    let DeleteArgs { key, if_version } = args;
    Ok(link.call::<MemoryDelete>(&DeleteParams { agent, key, if_version }).await?)
}

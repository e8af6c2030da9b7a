//! A conversation with the node on behalf of one peer: what it presents, and lines both ways.
//!
//! Owns how a conversation is begun: the credentials are shown before anything that the peer says.

use std::sync::Arc;

use edgeplane_client::{LineError, Lines};
use edgeplane_types::{ErrorName, Proof};
use edgeplane_wire::{
    api::core::{InitializeParams, InitializeResult, PROTOCOL_VERSIONS},
    catalogue::{Call as _, CoreInitialize},
    rpc::{self, Id, Incoming, LINE_BYTES_MAX},
};
use http::{HeaderMap, header};
use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncWriteExt as _, DuplexStream, ReadHalf, WriteHalf};

use crate::bearer::{ANSWER_TIME, Refusal, token};

/// What was seen of a peer before it said anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Presented {
    /// Nothing.
    Nothing,
    /// A certificate that an authority of the operator's choice has signed, and proof that the peer has its key.
    Certificate {
        /// SHA-256 of the certificate as it is transferred.
        sha256: [u8; 32],
    },
}

/// Begins conversations with the node, in each of which it is told what was seen of the peer.
pub type Converse = Arc<dyn Fn(Presented) -> DuplexStream + Send + Sync>;

/// Credentials are kept as their digest only, so that looking some up tells nothing by its time.
pub(crate) type Key = [u8; 32];

/// By what a peer wants to be known.
#[derive(Clone)]
pub(crate) struct Credentials {
    pub(crate) presented: Presented,
    pub(crate) token: Option<String>,
}

impl Credentials {
    /// Somebody of whom nothing is known.
    pub(crate) const NOBODY: Self = Self { presented: Presented::Nothing, token: None };

    /// What a request brings along. A certificate may do without a token: the node says whether it does.
    pub(crate) fn read(headers: &HeaderMap, presented: Presented) -> Result<Self, Refusal> {
        let may_lack = presented != Presented::Nothing && !headers.contains_key(header::AUTHORIZATION);
        match token(headers) {
            Some(token) => Ok(Self { presented, token: Some(token.to_owned()) }),
            None if may_lack => Ok(Self { presented, token: None }),
            None => Err(Refusal::NoToken),
        }
    }

    pub(crate) fn key(&self) -> Key {
        let mut digest = Sha256::new();
        match self.presented {
            Presented::Nothing => digest.update([0]),
            Presented::Certificate { sha256 } => {
                digest.update([1]);
                digest.update(sha256);
            }
        }
        digest.update(self.token.as_deref().unwrap_or_default());
        digest.finalize().into()
    }

    /// What is said first in a conversation.
    pub(crate) fn greeting(&self) -> InitializeParams {
        InitializeParams {
            versions: PROTOCOL_VERSIONS.iter().map(|version| (*version).to_owned()).collect(),
            client: Some(concat!("edgeplane-gateway/", env!("CARGO_PKG_VERSION")).to_owned()),
            token: self.token.clone(),
        }
    }

    /// Whether the node knows the peer, by what it greeted it with.
    pub(crate) fn check(&self, greeted: &InitializeResult) -> Result<(), Refusal> {
        let is_somebody = self.token.is_some() || greeted.caller.proof != Proof::None;
        if is_somebody { Ok(()) } else { Err(Refusal::NoToken) }
    }
}

/// A conversation of a peer's own, in which its credentials were taken.
pub(crate) struct Conversation {
    pub(crate) lines: Lines<ReadHalf<DuplexStream>>,
    pub(crate) writer: WriteHalf<DuplexStream>,
}

impl Conversation {
    pub(crate) async fn begin(converse: &Converse, credentials: &Credentials) -> Result<Self, Refusal> {
        let (reader, mut writer) = tokio::io::split(converse(credentials.presented));
        let mut lines = Lines::new(reader, LINE_BYTES_MAX);
        let greeting = rpc::request(&Id::Number(0), CoreInitialize::NAME, credentials.greeting());
        let answered = async {
            writer.write_all(&greeting).await.map_err(LineError::Io)?;
            lines.next().await.map(|line| line.map(rpc::parse_line))
        };
        let greeted = match tokio::time::timeout(ANSWER_TIME, answered).await {
            Ok(Ok(Some(Ok(Incoming::Response { outcome, .. })))) => outcome,
            Ok(_) => return Err(Refusal::Unavailable("the node does not answer".to_owned())),
            Err(_elapsed) => return Err(Refusal::Unavailable("the node is too busy".to_owned())),
        };
        let greeted = greeted.map_err(|error| match error.name() {
            ErrorName::Unauthenticated => Refusal::Refused(error.message),
            _ => Refusal::Unavailable(error.message),
        })?;
        let greeted: InitializeResult =
            serde_json::from_str(greeted.get()).map_err(|error| Refusal::Unavailable(error.to_string()))?;
        credentials.check(&greeted)?;
        Ok(Self { lines, writer })
    }
}

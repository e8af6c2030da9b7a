//! Texts by which a caller is known who does not come through the node's socket.
//!
//! There are two kinds. The token of an epoch is signed, short-lived and says what it is; the node keeps nothing of it.
//! A named token is a random secret; the record holds its digest. It does not know which of them are in force:
//! whether the epoch still lives, or the token was revoked, is the caller's to look up.

mod epoch;
mod named;

pub use epoch::{EpochClaims, SKEW_SECONDS, TOKEN_BYTES_MAX, TokenError, issue, read};
pub use named::{NAMED_TOKEN_BYTES, NamedToken, NamedTokenError, SECRET_BYTES};

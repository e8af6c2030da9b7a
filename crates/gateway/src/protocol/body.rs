//! Bodies of requests: of the right kind, no longer than a line of the protocol, and not for ever.

use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use edgeplane_types::ErrorName;
use edgeplane_wire::rpc::{LINE_BYTES_MAX, RpcError};
use http::{HeaderMap, StatusCode, header};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};

use tokio::sync::Semaphore;

use super::Served;
use crate::listen::BODY_TIME_MAX;

/// Longest body of a request in bytes, also after it was decompressed: a line of the protocol.
pub const BODY_BYTES_MAX: usize = LINE_BYTES_MAX;

/// Bodies up to this length in bytes are taken at once; almost all are far shorter.
const SMALL_BYTES_MAX: usize = 64 << 10;

/// Longer ones that are taken at a time: a quarter of a gigabyte if all of them are as long as they may be. Others wait.
pub(super) const LARGE_AT_ONCE: usize = 16;

/// A failure before there is a request, with the status that says it best.
pub(super) type Unread = (StatusCode, RpcError);

/// Reads a body whole.
pub(super) async fn read(served: &Served, headers: &HeaderMap, body: Body) -> Result<Bytes, Unread> {
    read_within(&served.large_bodies, BODY_TIME_MAX, headers, body).await
}

async fn read_within(
    large_bodies: &Semaphore,
    time: Duration,
    headers: &HeaderMap,
    body: Body,
) -> Result<Bytes, Unread> {
    let length = length(headers);
    check_kind(headers, length)?;
    if length.is_some_and(|length| length > BODY_BYTES_MAX) {
        return Err(too_long());
    }
    let reading = async {
        // What is compressed or says nothing of its length may be as long as it likes.
        let is_small = length.is_some_and(|length| length <= SMALL_BYTES_MAX);
        let _room = if is_small { None } else { large_bodies.acquire().await.ok() };
        Limited::new(body, BODY_BYTES_MAX).collect().await
    };
    match tokio::time::timeout(time, reading).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_long()),
        Ok(Err(error)) => Err(invalid(StatusCode::BAD_REQUEST, format!("the body cannot be read: {error}"))),
        Err(_elapsed) => {
            let error = RpcError::new(
                ErrorName::DeadlineExceeded,
                format!("the body took longer than {} s", time.as_secs()),
            );
            Err((StatusCode::REQUEST_TIMEOUT, error))
        }
    }
}

/// The length of a body as its request says it.
fn length(headers: &HeaderMap) -> Option<usize> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn check_kind(headers: &HeaderMap, length: Option<usize>) -> Result<(), Unread> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = match kind {
        // Nothing is of no kind.
        None if length == Some(0) => return Ok(()),
        None => {
            return Err(invalid(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "a body must be application/json".into(),
            ));
        }
        Some(kind) => kind,
    };
    let mut parts = kind.split(';').map(str::trim);
    let is_json = parts.next().is_some_and(|kind| kind.eq_ignore_ascii_case(super::answer::JSON));
    let is_utf8 = parts.all(|parameter| match parameter.split_once('=') {
        Some((name, value)) if name.trim().eq_ignore_ascii_case("charset") => {
            value.trim().trim_matches('"').eq_ignore_ascii_case("utf-8")
        }
        _ => true,
    });
    if is_json && is_utf8 {
        return Ok(());
    }
    let what = "a body must be application/json, in UTF-8".to_owned();
    Err(invalid(StatusCode::UNSUPPORTED_MEDIA_TYPE, what))
}

fn invalid(status: StatusCode, what: String) -> Unread {
    (status, RpcError::new(ErrorName::InvalidRequest, what))
}

fn too_long() -> Unread {
    let what = format!("the body is longer than {BODY_BYTES_MAX} bytes");
    (StatusCode::PAYLOAD_TOO_LARGE, RpcError::new(ErrorName::TooLarge, what))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    /// Proves BIND-070.
    #[tokio::test]
    async fn body_that_does_not_come_is_not_waited_for() {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let never = || Body::from_stream(futures_util::stream::pending::<Result<Bytes, std::io::Error>>());
        let large_bodies = Semaphore::new(1);
        let time = Duration::from_millis(50);
        let (status, error) = read_within(&large_bodies, time, &headers, never()).await.unwrap_err();
        assert_eq!((status, error.name()), (StatusCode::REQUEST_TIMEOUT, ErrorName::DeadlineExceeded));
        // Where there is no room one waits as long as for the body itself; a few lines need none.
        let _room = large_bodies.acquire().await.unwrap();
        let body = || Body::from("{}");
        let (status, _) = read_within(&large_bodies, time, &headers, body()).await.unwrap_err();
        assert_eq!(status, StatusCode::REQUEST_TIMEOUT);
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from_static("2"));
        assert_eq!(read_within(&large_bodies, time, &headers, body()).await.unwrap(), "{}");
    }

    /// Proves BIND-011.
    #[test]
    fn body_is_json_or_nothing() {
        let check = |kind: Option<&str>, length: Option<usize>, expected: bool| {
            let mut headers = HeaderMap::new();
            if let Some(kind) = kind {
                headers.insert(header::CONTENT_TYPE, HeaderValue::from_str(kind).unwrap());
            }
            assert_eq!(check_kind(&headers, length).is_ok(), expected, "{kind:?} {length:?}");
        };
        for kind in
            ["application/json", "Application/JSON; charset=UTF-8", "application/json;charset=\"utf-8\""]
        {
            check(Some(kind), Some(2), true);
        }
        for kind in
            ["text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1", ""]
        {
            check(Some(kind), Some(2), false);
        }
        check(None, Some(0), true);
        check(None, Some(2), false);
        check(None, None, false);
    }
}

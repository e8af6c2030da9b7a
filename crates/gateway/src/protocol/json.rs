//! JSON from a peer as a line for the node.

use edgeplane_types::ErrorName;
use edgeplane_wire::rpc::RpcError;
use serde::de::IgnoredAny;

/// Makes a message one line. Between its tokens a newline is a space; within a text it would be no JSON, and is not made
/// some.
///
/// # Errors
/// `parse_error` if it has newlines and is not JSON.
pub(super) fn into_line(message: &str) -> Result<Vec<u8>, RpcError> {
    let mut line = Vec::with_capacity(message.len().saturating_add(1));
    line.extend_from_slice(message.as_bytes());
    if line.iter().any(|byte| matches!(byte, b'\n' | b'\r')) {
        serde_json::from_slice::<IgnoredAny>(&line).map_err(|error| {
            RpcError::new(ErrorName::ParseError, format!("not a JSON-RPC message: {error}"))
        })?;
        for byte in line.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')) {
            *byte = b' ';
        }
    }
    line.push(b'\n');
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves BIND-010.
    #[test]
    fn message_is_one_line_and_no_other_message() {
        let check = |message: &str, expected: Option<&str>| {
            let line = into_line(message).ok().map(|line| String::from_utf8(line).unwrap());
            assert_eq!(line.as_deref(), expected, "{message:?}");
        };
        check("{\"a\":1}", Some("{\"a\":1}\n"));
        check("{\r\n \"a\":\n1}", Some("{   \"a\": 1}\n"));
        check("{\"a\":\"\\n\"}", Some("{\"a\":\"\\n\"}\n"));
        check("{\"a\":\"x\ny\"}", None);
        check("{}\n{}", None);
        // What is no JSON and one line is refused by the node, which says how.
        check("garbage", Some("garbage\n"));
    }
}

//! Where a request comes from: only programs of this machine, and no web page that a browser shows.
//!
//! A page of a stranger can make a browser send requests to loopback, and with a name that it owns it can even read the
//! answers. Both carry what the browser says of itself: a foreign `Host`, an `Origin`.

use http::{HeaderMap, header};

/// Names by which this machine calls itself.
const OWN: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Whether a request may come from where it says.
pub(crate) fn is_local(headers: &HeaderMap) -> bool {
    let mut hosts = headers.get_all(header::HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
    let is_own_host = host.to_str().is_ok_and(is_own);
    let mut origins = headers.get_all(header::ORIGIN).iter();
    is_own_host && origins.all(|origin| origin.to_str().is_ok_and(is_own_origin))
}

fn is_own_origin(origin: &str) -> bool {
    let rest = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    rest.is_some_and(is_own)
}

/// Whether a name, perhaps with a port, is this machine's.
fn is_own(authority: &str) -> bool {
    OWN.iter().any(|own| {
        let rest = authority
            .get(..own.len())
            .filter(|name| name.eq_ignore_ascii_case(own))
            .and_then(|_name| authority.get(own.len()..));
        match rest {
            Some("") => true,
            Some(rest) => rest.strip_prefix(':').is_some_and(is_port),
            None => false,
        }
    })
}

fn is_port(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<u16>().is_ok()
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    /// Proves MCP-021.
    #[test]
    fn only_this_machine_is_local() {
        let check = |hosts: &[&str], origins: &[&str], expected: bool| {
            let mut headers = HeaderMap::new();
            for host in hosts {
                headers.append(header::HOST, HeaderValue::from_str(host).unwrap());
            }
            for origin in origins {
                headers.append(header::ORIGIN, HeaderValue::from_str(origin).unwrap());
            }
            assert_eq!(is_local(&headers), expected, "{hosts:?} {origins:?}");
        };
        for host in ["localhost", "LocalHost:80", "127.0.0.1:8931", "[::1]", "[::1]:8931"] {
            check(&[host], &[], true);
            check(&[host], &[&format!("http://{host}")], true);
        }
        for host in [
            "",
            "evil.example",
            "evil.example:80",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "127.0.0.1:80@evil.example",
            "localhost:",
            "localhost:99999",
            "localhost:+80",
            "127.0.0.2",
            "::1",
            "0.0.0.0",
        ] {
            check(&[host], &[], false);
            check(&["localhost"], &[&format!("http://{host}")], false);
        }
        check(&[], &[], false);
        check(&["localhost", "localhost"], &[], false);
        check(&["localhost"], &["null"], false);
        check(&["localhost"], &["file://localhost"], false);
        check(&["localhost"], &["http://localhost", "http://evil.example"], false);
    }
}

//! Where a request comes from: whoever calls the listener by one of its own names, and no web page of a stranger.
//!
//! A page of a stranger can make a browser send requests to any address, and with a name that it owns it can even read the
//! answers. Both carry what the browser says of itself: a foreign `Host`, an `Origin`.

use std::{fmt, str::FromStr, sync::Arc};

use http::{HeaderMap, header};
use rustls::{
    client::verify_server_name,
    pki_types::{CertificateDer, ServerName},
    server::ParsedCertificate,
};

/// Names by which this machine calls itself.
const OWN: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// A name or an address by which a listener is called, without a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostName(String);

/// Why a text is no name of a host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no name of a host, such as agents.example.org, without a port")]
pub struct HostNameError(String);

impl FromStr for HostName {
    type Err = HostNameError;

    fn from_str(text: &str) -> Result<Self, HostNameError> {
        match ServerName::try_from(text) {
            Ok(_name) => Ok(Self(text.to_ascii_lowercase())),
            Err(_not_one) => Err(HostNameError(text.to_owned())),
        }
    }
}

/// By which names a listener is called.
#[derive(Clone)]
pub(crate) enum Site {
    /// By those of this machine: nobody else can reach it.
    ThisMachine,
    /// By those that its operator named and those that its certificate is for.
    Named {
        /// What its operator named.
        hosts: Vec<HostName>,
        /// What it shows.
        certificate: Arc<CertificateDer<'static>>,
    },
}

impl fmt::Debug for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ThisMachine => f.write_str("ThisMachine"),
            Self::Named { hosts, .. } => {
                f.debug_struct("Named").field("hosts", hosts).finish_non_exhaustive()
            }
        }
    }
}

impl Site {
    /// Whether a request may come from where it says.
    pub(crate) fn allows(&self, headers: &HeaderMap) -> bool {
        let mut hosts = headers.get_all(header::HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
        let is_own_host = host.to_str().is_ok_and(|host| self.is_own(host));
        let mut origins = headers.get_all(header::ORIGIN).iter();
        is_own_host && origins.all(|origin| origin.to_str().is_ok_and(|origin| self.is_own_origin(origin)))
    }

    fn is_own_origin(&self, origin: &str) -> bool {
        let safe = origin.strip_prefix("https://");
        let rest = match self {
            Self::ThisMachine => safe.or_else(|| origin.strip_prefix("http://")),
            Self::Named { .. } => safe,
        };
        rest.is_some_and(|rest| self.is_own(rest))
    }

    /// Whether a name, perhaps with a port, is the listener's.
    fn is_own(&self, authority: &str) -> bool {
        match self {
            Self::ThisMachine => OWN.iter().any(|own| is_it(authority, own)),
            Self::Named { hosts, certificate } => {
                let Some(name) = without_port(authority) else { return false };
                hosts.iter().any(|host| host.0.eq_ignore_ascii_case(name)) || is_for(certificate, name)
            }
        }
    }
}

/// Whether a certificate is for a name or an address.
fn is_for(certificate: &CertificateDer<'_>, name: &str) -> bool {
    let (Ok(certificate), Ok(name)) = (ParsedCertificate::try_from(certificate), ServerName::try_from(name))
    else {
        return false;
    };
    verify_server_name(&certificate, &name).is_ok()
}

/// The name in front of a port, or an address without its brackets.
fn without_port(authority: &str) -> Option<&str> {
    if let Some(rest) = authority.strip_prefix('[') {
        let (address, rest) = rest.split_once(']')?;
        let is_whole = rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port);
        return is_whole.then_some(address);
    }
    match authority.split_once(':') {
        None => Some(authority),
        Some((name, port)) => is_port(port).then_some(name),
    }
}

/// Whether an authority is a name, perhaps with a port behind it.
fn is_it(authority: &str, own: &str) -> bool {
    let rest = authority
        .get(..own.len())
        .filter(|name| name.eq_ignore_ascii_case(own))
        .and_then(|_name| authority.get(own.len()..));
    match rest {
        Some("") => true,
        Some(rest) => rest.strip_prefix(':').is_some_and(is_port),
        None => false,
    }
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
            assert_eq!(Site::ThisMachine.allows(&headers), expected, "{hosts:?} {origins:?}");
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

    /// Proves BIND-021.
    #[test]
    fn listener_of_the_world_goes_by_its_own_names() {
        let made = rcgen::generate_simple_self_signed(vec!["agents.example.org".into(), "192.0.2.7".into()]);
        let site = Site::Named {
            hosts: vec!["Proxy.example.net".parse().unwrap()],
            certificate: Arc::new(made.unwrap().cert.der().clone()),
        };
        let check = |host: &str, origin: Option<&str>, expected: bool| {
            let mut headers = HeaderMap::new();
            headers.append(header::HOST, HeaderValue::from_str(host).unwrap());
            if let Some(origin) = origin {
                headers.append(header::ORIGIN, HeaderValue::from_str(origin).unwrap());
            }
            assert_eq!(site.allows(&headers), expected, "{host} {origin:?}");
        };
        for host in ["agents.example.org", "AGENTS.example.org:8443", "192.0.2.7:1", "proxy.example.net"] {
            check(host, None, true);
            check(host, Some(&format!("https://{host}")), true);
            check(host, Some(&format!("http://{host}")), false);
            check(host, Some("https://evil.example"), false);
            check(host, Some("null"), false);
        }
        for host in
            ["localhost", "127.0.0.1", "evil.example", "agents.example.org.evil.example", "", "192.0.2.7:x"]
        {
            check(host, None, false);
        }
        for text in ["", "a b", "https://a", "a:80", "a/b"] {
            assert!(text.parse::<HostName>().is_err(), "{text}");
        }
    }
}

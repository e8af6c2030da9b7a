//! Encrypted listeners: what is refused at the start, what is shown, and who is heard.

use std::{
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Output, Stdio},
    sync::Arc,
};

use edgeplane_testkit::{Node, NodeOptions, binding::Access, web::Web};
use edgeplane_types::{Scope, TokenKind};
use rcgen::{BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned,
    crypto::aws_lc_rs,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName},
};
use serde_json::json;

type Encrypted = StreamOwned<ClientConnection, TcpStream>;

/// An authority and what it has signed.
struct Authority {
    certificate: CertificateDer<'static>,
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate and its key.
struct Signed {
    certificate: CertificateDer<'static>,
    pem: String,
    key: KeyPair,
}

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        Self {
            certificate: certificate.der().clone(),
            pem: certificate.pem(),
            issuer: Issuer::new(params, key),
        }
    }

    fn sign(&self, names: &[&str], usage: ExtendedKeyUsagePurpose) -> Signed {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.extended_key_usages = vec![usage];
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        Signed { certificate: certificate.der().clone(), pem: certificate.pem(), key }
    }
}

struct Files {
    dir: tempfile::TempDir,
}

impl Files {
    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.dir.path().join(name);
        edgeplane_os::atomic::write_atomic(&path, text.as_bytes(), 0o600).unwrap();
        path
    }
}

fn files() -> Files {
    Files { dir: tempfile::tempdir().unwrap() }
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

/// A node behind an encrypted listener, and who its clients trust.
fn encrypted(more: &[(&str, String)]) -> (Node, Access, Authority, Files) {
    let (authority, files) = (Authority::new(), files());
    let server = authority.sign(&["agents.example.org", "localhost"], ExtendedKeyUsagePurpose::ServerAuth);
    let mut env = Node::over_http();
    env.push(("EDGEPLANE_TLS_CERT".to_owned(), text(&files.write("server.pem", &server.pem))));
    env.push(("EDGEPLANE_TLS_KEY".to_owned(), text(&files.write("server.key", &server.key.serialize_pem()))));
    env.extend(more.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    let node = Node::start_with(NodeOptions { env, ..NodeOptions::default() });
    let token = node.token("reports", TokenKind::Service, &[Scope::Read], &[]);
    let access = node.access(&token.token);
    (node, access, authority, files)
}

fn connect(access: &Access, trusted: &Authority, own: Option<&Signed>) -> Web<Encrypted> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.certificate.clone()).unwrap();
    let builder = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    let config = match own {
        None => builder.with_no_client_auth(),
        Some(own) => {
            let key = PrivateKeyDer::Pkcs8(own.key.serialize_der().into());
            builder.with_client_auth_cert(vec![own.certificate.clone()], key).unwrap()
        }
    };
    let name = ServerName::try_from("agents.example.org").unwrap();
    let connection = ClientConnection::new(Arc::new(config), name).unwrap();
    Web::over(StreamOwned::new(connection, TcpStream::connect(&access.address).unwrap()))
}

fn status(web: &mut Web<Encrypted>, host: &str, more: &[(&str, &str)]) -> Option<u16> {
    let mut headers = vec![("Host", host), ("Content-Type", "application/json")];
    headers.extend_from_slice(more);
    web.ask("POST /v1/core/health", &headers, b"{}").ok().map(|answer| answer.status())
}

/// Proves BIND-021, BIND-022.
#[test]
fn encrypted_listener_goes_by_its_names() {
    let (_node, access, authority, _files) =
        encrypted(&[("EDGEPLANE_HTTP_HOST", "proxy.example.net".to_owned())]);
    let bearer = format!("Bearer {}", access.token);
    let known = [("Authorization", bearer.as_str())];
    let mut web = connect(&access, &authority, None);
    for host in ["agents.example.org", "localhost:443", "proxy.example.net:8443"] {
        assert_eq!(status(&mut web, host, &known), Some(200), "{host}");
    }
    for host in ["127.0.0.1", "evil.example", &access.address] {
        assert_eq!(status(&mut web, host, &known), Some(403), "{host}");
    }
    for (origin, expected) in [
        ("https://agents.example.org", 200),
        ("http://agents.example.org", 403),
        ("https://evil.example", 403),
        ("null", 403),
    ] {
        let headers = [("Authorization", bearer.as_str()), ("Origin", origin)];
        assert_eq!(status(&mut web, "agents.example.org", &headers), Some(expected), "{origin}");
    }
    assert_eq!(status(&mut web, "agents.example.org", &[]), Some(401));
    // Nothing is said in the clear, and nobody who trusts others hears it.
    let mut clear = Web::connect(&access.address).unwrap();
    let heard = clear.ask("GET /healthz", &[("Host", "localhost")], b"");
    assert!(heard.is_err(), "{heard:?}");
    assert_eq!(status(&mut connect(&access, &Authority::new(), None), "localhost", &known), None);
    assert_eq!(status(&mut web, "agents.example.org", &known), Some(200));
}

/// Proves BIND-023, SEC-033.
#[test]
fn certificate_of_a_client_is_verified_and_counts_once_it_is_known() {
    let clients = Authority::new();
    let authorities = files();
    let path = authorities.write("clients.pem", &clients.pem);
    let (node, access, authority, files) = encrypted(&[("EDGEPLANE_TLS_CLIENT_CA", text(&path))]);
    let bearer = format!("Bearer {}", access.token);
    let known = [("Authorization", bearer.as_str())];
    let signed = clients.sign(&["reports"], ExtendedKeyUsagePurpose::ClientAuth);
    let mut web = connect(&access, &authority, Some(&signed));
    assert_eq!(status(&mut web, "localhost", &[]), Some(401), "nobody knows whose the certificate is");
    assert_eq!(status(&mut web, "localhost", &known), Some(200));
    assert_eq!(status(&mut web, "localhost", &[("Authorization", "Bearer x")]), Some(401));
    // Without one the token alone counts; one that somebody else has signed is worse than none.
    assert_eq!(status(&mut connect(&access, &authority, None), "localhost", &known), Some(200));
    for other in [
        Authority::new().sign(&["reports"], ExtendedKeyUsagePurpose::ClientAuth),
        clients.sign(&["reports"], ExtendedKeyUsagePurpose::ServerAuth),
    ] {
        assert_eq!(status(&mut connect(&access, &authority, Some(&other)), "localhost", &known), None);
    }
    // From here on the node knows whose it is, by what the command line reads from the file.
    let file = text(&files.write("ann.pem", &signed.pem));
    let person = ["--principal", "ann", "--kind", "operator", "--scope", "read"];
    let add = [&["token", "certificate", file.as_str()], person.as_slice()].concat();
    let added = node.cli(&add).output().unwrap();
    assert!(added.status.success(), "{}", String::from_utf8_lossy(&added.stderr));
    let mut web = connect(&access, &authority, Some(&signed));
    let headers = [("Host", "localhost"), ("Content-Type", "application/json")];
    let greeting = web.ask("POST /v1/core/initialize", &headers, b"{}").unwrap();
    assert_eq!((greeting.status(), &greeting.json()["caller"]["principal"]), (200, &json!("ann")));
    let allowed = |web: &mut Web<Encrypted>, path: &str| {
        web.ask(&format!("POST {path}"), &headers, b"{}").unwrap().status()
    };
    assert_eq!(allowed(&mut web, "/v1/runtime/agent.list"), 200);
    assert_eq!(allowed(&mut web, "/v1/security/key.rotate"), 403);
    // Shown once more it is refused, and what is no certificate is not taken for one.
    assert_eq!(node.cli(&add).output().unwrap().status.code(), Some(73));
    let other = text(&files.write("none.pem", "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n"));
    let refused =
        node.cli(&[&["token", "certificate", other.as_str()], person.as_slice()].concat()).output().unwrap();
    assert!(String::from_utf8_lossy(&refused.stderr).contains("no certificate"), "{refused:?}");
}

fn refused(node: &Node, args: &[&str]) -> String {
    let mut command = node.daemon_command();
    command.env_remove("EDGEPLANE_HTTP_LISTEN").args(args).stdout(Stdio::null());
    let Output { status, stderr, .. } = command.output().unwrap();
    assert!(!status.success(), "{args:?}");
    String::from_utf8(stderr).unwrap()
}

/// Proves BIND-022.
#[test]
fn daemon_does_not_start_with_a_listener_that_it_may_not_have() {
    let mut node = Node::start();
    node.stop_daemon();
    let (authority, files) = (Authority::new(), files());
    let one = authority.sign(&["localhost"], ExtendedKeyUsagePurpose::ServerAuth);
    let other = authority.sign(&["localhost"], ExtendedKeyUsagePurpose::ServerAuth);
    let certificate = text(&files.write("one.pem", &one.pem));
    let key = text(&files.write("one.key", &one.key.serialize_pem()));
    let wrong_key = text(&files.write("other.key", &other.key.serialize_pem()));
    let garbage = text(&files.write("garbage.pem", "garbage"));
    let listen = ["--http-listen", "127.0.0.1:0"];
    let with = |more: &[&str]| refused(&node, &[&listen, more].concat());
    for (said, part) in [
        (refused(&node, &["--http-listen", "0.0.0.0:0"]), "with TLS alone"),
        (refused(&node, &["--http-listen", "[::]:0"]), "with TLS alone"),
        (refused(&node, &["--http-listen", "nowhere"]), "--http-listen"),
        (with(&["--tls-cert", &certificate]), "--tls-key"),
        (with(&["--tls-key", &key]), "--tls-cert"),
        (with(&["--tls-client-ca", &certificate]), "--tls-cert"),
        (with(&["--http-host", "a.example"]), "--tls-cert"),
        (with(&["--tls-cert", &certificate, "--tls-key", &wrong_key]), "one.pem"),
        (with(&["--tls-cert", &garbage, "--tls-key", &key]), "no certificate in"),
        (with(&["--tls-cert", &certificate, "--tls-key", &garbage]), "cannot read a private key from"),
        (with(&["--tls-cert", "/nowhere", "--tls-key", &key]), "/nowhere"),
        (
            with(&["--tls-cert", &certificate, "--tls-key", &key, "--tls-client-ca", &garbage]),
            "no certificate in",
        ),
        (
            with(&["--tls-cert", &certificate, "--tls-key", &key, "--http-host", "https://a"]),
            "no name of a host",
        ),
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

/// Proves BIND-001.
#[test]
fn address_that_is_taken_does_not_keep_the_node_from_its_agents() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let env = vec![("EDGEPLANE_HTTP_LISTEN".to_owned(), address)];
    let node = Node::start_with(NodeOptions { env, ..NodeOptions::default() });
    let token = node.token("reports", TokenKind::Service, &[Scope::Read], &[]);
    drop(taken);
    // It is served as soon as it can be.
    let mut client = super::Client::new(&node.access(&token.token));
    assert_eq!(client.post("/v1/core/health", &json!({})).status(), 200);
    // Where no address is given nothing is listened on.
    assert!(!Node::start().log().contains("over HTTP is served"));
}

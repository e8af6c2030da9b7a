//! TLS: the listener's certificate, and those that peers may show.
//!
//! Owns what is read from files and how it is offered. Whose a peer's certificate is the node says.

use std::{
    fmt, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use rustls::{
    RootCertStore, ServerConfig,
    crypto::aws_lc_rs,
    pki_types::{
        CertificateDer, PrivateKeyDer,
        pem::{self, PemObject as _},
    },
    server::{VerifierBuilderError, WebPkiClientVerifier, danger::ClientCertVerifier},
    version::TLS13,
};
use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

use crate::conversation::Presented;

/// Where the parts of an encrypted listener are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// Its certificate and those between it and an authority, as PEM.
    pub certificate: PathBuf,
    /// Its private key, as PEM.
    pub key: PathBuf,
    /// The authorities that sign certificates of peers, as PEM; without them none is asked for.
    pub client_authorities: Option<PathBuf>,
}

/// Why a listener cannot be encrypted.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read as what it should be.
    #[error("cannot read {what} from `{}`", path.display())]
    File {
        /// What should be in it.
        what: &'static str,
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: pem::Error,
    },
    /// A file has nothing of what it should have.
    #[error("there is no certificate in `{}`", .0.display())]
    Empty(PathBuf),
    /// A certificate cannot be used.
    #[error("cannot use what is in `{}`", path.display())]
    Unusable {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: rustls::Error,
    },
    /// Certificates of peers cannot be verified.
    #[error("cannot verify certificates of clients by `{}`", path.display())]
    Authorities {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: VerifierBuilderError,
    },
}

/// What an encrypted listener shows and asks for.
#[derive(Clone)]
pub struct Tls {
    acceptor: TlsAcceptor,
    certificate: Arc<CertificateDer<'static>>,
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}

impl Tls {
    /// Reads the files. TLS 1.3 alone is spoken: there is no peer of the protocol that is older.
    ///
    /// # Errors
    /// If one of them is not there, not what it should be, or the key is not the certificate's.
    pub fn read(files: &TlsFiles) -> Result<Self, TlsError> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let chain = certificates(&files.certificate)?;
        let certificate = chain.first().cloned().ok_or_else(|| TlsError::Empty(files.certificate.clone()))?;
        let key = PrivateKeyDer::from_pem_file(&files.key).map_err(|source| TlsError::File {
            what: "a private key",
            path: files.key.clone(),
            source,
        })?;
        let unusable = |source| TlsError::Unusable { path: files.certificate.clone(), source };
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[&TLS13])
            .map_err(unusable)?;
        let builder = match &files.client_authorities {
            None => builder.with_no_client_auth(),
            Some(path) => builder.with_client_cert_verifier(verifier(path, provider)?),
        };
        let mut config = builder.with_single_cert(chain, key).map_err(unusable)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { acceptor: TlsAcceptor::from(Arc::new(config)), certificate: Arc::new(certificate) })
    }

    /// What it shows.
    pub(crate) fn certificate(&self) -> Arc<CertificateDer<'static>> {
        Arc::clone(&self.certificate)
    }

    /// Greets a peer.
    pub(crate) async fn accept<S>(&self, stream: S) -> io::Result<(TlsStream<S>, Presented)>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let stream = self.acceptor.accept(stream).await?;
        let presented = match stream.get_ref().1.peer_certificates().and_then(<[_]>::first) {
            None => Presented::Nothing,
            Some(certificate) => Presented::Certificate { sha256: Sha256::digest(certificate).into() },
        };
        Ok((stream, presented))
    }
}

/// Verifies certificates of peers that show one; who shows none needs a token.
fn verifier(
    path: &Path,
    provider: Arc<rustls::crypto::CryptoProvider>,
) -> Result<Arc<dyn ClientCertVerifier>, TlsError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path)? {
        roots.add(certificate).map_err(|source| TlsError::Unusable { path: path.to_owned(), source })?;
    }
    if roots.is_empty() {
        return Err(TlsError::Empty(path.to_owned()));
    }
    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
        .allow_unauthenticated()
        .build()
        .map_err(|source| TlsError::Authorities { path: path.to_owned(), source })
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let failed = |source| TlsError::File { what: "a certificate", path: path.to_owned(), source };
    CertificateDer::pem_file_iter(path).map_err(failed)?.collect::<Result<_, _>>().map_err(failed)
}

#[cfg(test)]
mod tests {
    use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
    use rustls::{
        ClientConfig,
        pki_types::{PrivateKeyDer, ServerName},
    };
    use tokio_rustls::TlsConnector;

    use super::*;

    /// Proves BIND-023.
    #[tokio::test]
    async fn certificate_of_a_peer_is_told_by_its_digest() {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let authority = params.self_signed(&key).unwrap();
        let issuer = Issuer::new(params, key);
        let signed = |name: &str| {
            let key = KeyPair::generate().unwrap();
            let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
            (params.signed_by(&key, &issuer).unwrap(), key)
        };
        let dir = std::env::temp_dir().join(format!("edgeplane-tls-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let (server, server_key) = signed("localhost");
        let files = TlsFiles {
            certificate: dir.join("server.pem"),
            key: dir.join("server.key"),
            client_authorities: Some(dir.join("clients.pem")),
        };
        std::fs::write(&files.certificate, server.pem()).unwrap();
        std::fs::write(&files.key, server_key.serialize_pem()).unwrap();
        std::fs::write(dir.join("clients.pem"), authority.pem()).unwrap();
        let tls = Tls::read(&files).unwrap();
        std::fs::remove_dir_all(&dir).unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(authority.der().clone()).unwrap();
        let (own, own_key) = signed("peer");
        let builder = || {
            ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
                .with_safe_default_protocol_versions()
                .unwrap()
                .with_root_certificates(roots.clone())
        };
        let own_key = PrivateKeyDer::Pkcs8(own_key.serialize_der().into());
        let known = builder().with_client_auth_cert(vec![own.der().clone()], own_key).unwrap();
        let sha256: [u8; 32] = Sha256::digest(own.der()).into();
        for (config, expected) in [
            (known, Presented::Certificate { sha256 }),
            (builder().with_no_client_auth(), Presented::Nothing),
        ] {
            let (ours, theirs) = tokio::io::duplex(64 << 10);
            let name = ServerName::try_from("localhost").unwrap();
            let connecting = TlsConnector::from(Arc::new(config)).connect(name, theirs);
            let (accepted, connected) = tokio::join!(tls.accept(ours), connecting);
            connected.unwrap();
            assert_eq!(accepted.unwrap().1, expected);
        }
    }
}

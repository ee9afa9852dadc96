//! TLS on the TCP listeners: makes acceptors from certificate files, and says who a client with a
//! certificate is. It accepts no connections itself.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_swap::ArcSwap;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject as _};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{self, RootCertStore, ServerConfig};
use zeroize::Zeroizing;

use super::client_scopes::ClientScopes;
use crate::service::Level;
use crate::session::by::{By, Name};

/// The files that TLS needs, and what client certificates permit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    pub cert: PathBuf,
    pub key: PathBuf,
    /// Clients with a certificate of this authority need no token.
    pub client_ca: Option<PathBuf>,
    pub client_scopes: ClientScopes,
}

#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("{}: {reason}", .path.display())]
    File { path: PathBuf, reason: pem::Error },
    #[error("{}: the file contains no certificate", .0.display())]
    NoCertificate(PathBuf),
    #[error("{}: {reason}", .path.display())]
    Certificate { path: PathBuf, reason: rustls::Error },
    #[error("the certificate and the key cannot be used for TLS: {0}")]
    Rustls(#[from] rustls::Error),
    #[error("the client authority cannot be used: {0}")]
    Authority(#[from] rustls::server::VerifierBuilderError),
}

/// TLS as it is configured now; clones share it.
#[derive(Clone)]
pub(crate) struct Tls {
    config: Arc<ArcSwap<ServerConfig>>,
    client_scopes: ClientScopes,
}

impl Tls {
    pub(crate) fn new(files: &TlsFiles) -> Result<Self, TlsError> {
        let config = files.server_config(&files.read()?)?;
        let config = Arc::new(ArcSwap::from(config));
        Ok(Self { config, client_scopes: files.client_scopes.clone() })
    }

    /// Uses another configuration from the next connection on.
    pub(super) fn replace(&self, config: Arc<ServerConfig>) {
        self.config.store(config);
    }

    /// An acceptor for the next connection.
    pub(super) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(self.config.load_full())
    }

    /// What a client may do by its certificate, and who it is; `None` if it showed none.
    pub(super) fn certified(&self, shown: Option<&[CertificateDer<'_>]>) -> Option<(Level, By)> {
        let certificate = shown?.first()?;
        let name = common_name(certificate);
        let level = self.client_scopes.level(name.as_deref());
        Some((level, By::Certificate(name.as_deref().map(Name::new))))
    }
}

/// The common name of a certificate, the first if it has several.
fn common_name(certificate: &CertificateDer<'_>) -> Option<String> {
    let (_, certificate) = x509_parser::parse_x509_certificate(certificate).ok()?;
    let name = certificate.subject().iter_common_name().next()?;
    name.as_str().ok().map(str::to_owned)
}

/// The content of the files.
pub(super) struct Pem {
    cert: Vec<u8>,
    key: Zeroizing<Vec<u8>>,
    client_ca: Option<Vec<u8>>,
}

impl Pem {
    /// All of it, for a comparison.
    pub(super) fn content(&self) -> Zeroizing<Vec<u8>> {
        let client_ca = self.client_ca.as_deref().unwrap_or_default();
        Zeroizing::new([&self.cert, &self.key[..], client_ca].join(&0))
    }
}

impl TlsFiles {
    pub(super) fn read(&self) -> Result<Pem, TlsError> {
        let read = |path: &Path| {
            std::fs::read(path).map_err(|reason| unreadable(path, pem::Error::Io(reason)))
        };
        Ok(Pem {
            cert: read(&self.cert)?,
            key: Zeroizing::new(read(&self.key)?),
            client_ca: self.client_ca.as_deref().map(read).transpose()?,
        })
    }

    pub(super) fn server_config(&self, pem: &Pem) -> Result<Arc<ServerConfig>, TlsError> {
        let provider = Arc::new(ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()?;
        let builder = match (&self.client_ca, &pem.client_ca) {
            (Some(path), Some(text)) => {
                let mut roots = RootCertStore::empty();
                for certificate in certificates(path, text)? {
                    roots
                        .add(certificate)
                        .map_err(|reason| TlsError::Certificate { path: path.clone(), reason })?;
                }
                // A client without a certificate may have a token; the guard decides.
                let verifier =
                    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
                builder.with_client_cert_verifier(verifier.allow_unauthenticated().build()?)
            }
            (_, None) | (None, _) => builder.with_no_client_auth(),
        };
        let key = PrivateKeyDer::from_pem_slice(&pem.key)
            .map_err(|reason| unreadable(&self.key, reason))?;
        let mut config = builder.with_single_cert(certificates(&self.cert, &pem.cert)?, key)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }
}

fn certificates(path: &Path, text: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let found = CertificateDer::pem_slice_iter(text);
    let found: Vec<_> =
        found.collect::<Result<_, _>>().map_err(|reason| unreadable(path, reason))?;
    if found.is_empty() { Err(TlsError::NoCertificate(path.to_owned())) } else { Ok(found) }
}

fn unreadable(path: &Path, reason: pem::Error) -> TlsError {
    TlsError::File { path: path.to_owned(), reason }
}

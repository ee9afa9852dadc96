//! TLS on the TCP listeners: certificates in, an acceptor out.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject as _};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{self, RootCertStore, ServerConfig};

/// The files that TLS is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    pub cert: PathBuf,
    pub key: PathBuf,
    /// Clients with a certificate of this authority need no token.
    pub client_ca: Option<PathBuf>,
}

#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("{}: {reason}", .path.display())]
    File { path: PathBuf, reason: pem::Error },
    #[error("{}: there is no certificate in it", .0.display())]
    NoCertificate(PathBuf),
    #[error("{}: {reason}", .path.display())]
    Certificate { path: PathBuf, reason: rustls::Error },
    #[error("the certificate and the key do not fit TLS: {0}")]
    Rustls(#[from] rustls::Error),
    #[error("the client authority cannot be used: {0}")]
    Authority(#[from] rustls::server::VerifierBuilderError),
}

pub fn acceptor(files: &TlsFiles) -> Result<TlsAcceptor, TlsError> {
    let provider = Arc::new(ring::default_provider());
    let builder =
        ServerConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions()?;
    let builder = match &files.client_ca {
        None => builder.with_no_client_auth(),
        Some(path) => {
            let mut roots = RootCertStore::empty();
            for certificate in certificates(path)? {
                roots
                    .add(certificate)
                    .map_err(|reason| TlsError::Certificate { path: path.clone(), reason })?;
            }
            // Who shows no certificate may still show a token; the guard decides.
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            builder.with_client_cert_verifier(verifier.allow_unauthenticated().build()?)
        }
    };
    let key = PrivateKeyDer::from_pem_file(&files.key).map_err(|reason| unreadable(&files.key, reason))?;
    let mut config = builder.with_single_cert(certificates(&files.cert)?, key)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let found = CertificateDer::pem_file_iter(path).map_err(|reason| unreadable(path, reason))?;
    let found: Vec<_> = found.collect::<Result<_, _>>().map_err(|reason| unreadable(path, reason))?;
    if found.is_empty() { Err(TlsError::NoCertificate(path.to_owned())) } else { Ok(found) }
}

fn unreadable(path: &Path, reason: pem::Error) -> TlsError {
    TlsError::File { path: path.to_owned(), reason }
}

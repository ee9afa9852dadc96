//! Connects a client to a [`Target`] and adds the credentials to every call. It does not retry.

use std::fmt;
use std::time::Duration;

use http::Uri;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};
use tonic::{Request, Status};

use crate::target::Target;
use crate::v1::coop_client::CoopClient;
use crate::{LEASE_HEADER, MESSAGE_LIMIT};

/// The client that [`connect`] returns.
pub type Client = CoopClient<InterceptedService<Channel, Signature>>;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// A peer that disappeared without closing the connection is detected after the sum of both.
const KEEP_ALIVE: Duration = Duration::from_secs(30);
const KEEP_ALIVE_TIMEOUT: Duration = Duration::from_secs(10);

/// A client's credentials. All of them are optional; a Unix socket needs none.
#[derive(Clone, Default)]
pub struct Credentials {
    /// The bearer token.
    pub token: Option<String>,
    /// The lease to write under, from `AcquireLease`.
    pub lease: Option<String>,
    /// PEM of the authority that signed the server's certificate; default the system's roots.
    pub ca: Option<Vec<u8>>,
    /// PEM of a client certificate and of its key, for servers that require one.
    pub identity: Option<(Vec<u8>, Vec<u8>)>,
}

impl fmt::Debug for Credentials {
    /// Prints which credentials are set, and not their values.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials")
            .field("token", &self.token.is_some())
            .field("lease", &self.lease.is_some())
            .field("ca", &self.ca.is_some())
            .field("identity", &self.identity.is_some())
            .finish()
    }
}

/// The connection failed.
#[derive(Debug)]
pub enum ConnectError {
    /// The token or the lease contains characters that are invalid in a header.
    Credential { name: &'static str },
    /// The server is unreachable or does not speak gRPC.
    Transport { target: Target, source: tonic::transport::Error },
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Credential { name } => {
                write!(f, "the {name} contains characters that are invalid in a header")
            }
            Self::Transport { target, source } => {
                // The innermost error has the cause.
                let mut cause: &dyn std::error::Error = source;
                while let Some(inner) = cause.source() {
                    cause = inner;
                }
                write!(f, "cannot connect to {target}: {cause}")
            }
        }
    }
}

impl std::error::Error for ConnectError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Credential { .. } => None,
            Self::Transport { source, .. } => source.source(),
        }
    }
}

/// Connects, and adds the credentials to every call.
pub async fn connect(target: &Target, credentials: Credentials) -> Result<Client, ConnectError> {
    let signature = Signature::new(&credentials)?;
    let failed = |source| ConnectError::Transport { target: target.clone(), source };
    let channel = endpoint(target, credentials).map_err(failed)?.connect().await.map_err(failed)?;
    Ok(CoopClient::with_interceptor(channel, signature)
        .max_decoding_message_size(MESSAGE_LIMIT)
        .max_encoding_message_size(MESSAGE_LIMIT))
}

fn endpoint(
    target: &Target,
    credentials: Credentials,
) -> Result<Endpoint, tonic::transport::Error> {
    let endpoint = Endpoint::from_shared(target.to_string())?
        .connect_timeout(CONNECT_TIMEOUT)
        .tcp_nodelay(true)
        .http2_keep_alive_interval(KEEP_ALIVE)
        .keep_alive_timeout(KEEP_ALIVE_TIMEOUT)
        .keep_alive_while_idle(true);
    match target {
        Target::Http { .. } => Ok(endpoint),
        // A path has no host, and the server accepts only known hosts.
        Target::Unix { .. } => Ok(endpoint.origin(Uri::from_static("http://localhost"))),
        Target::Https { .. } => endpoint.tls_config(tls(credentials)),
    }
}

fn tls(credentials: Credentials) -> ClientTlsConfig {
    let config = match credentials.ca {
        Some(pem) => ClientTlsConfig::new().ca_certificate(Certificate::from_pem(pem)),
        None => ClientTlsConfig::new().with_native_roots(),
    };
    match credentials.identity {
        Some((certificate, key)) => config.identity(Identity::from_pem(certificate, key)),
        None => config,
    }
}

/// Adds the token and the lease to the metadata of each call.
#[derive(Clone)]
pub struct Signature {
    authorization: Option<MetadataValue<Ascii>>,
    lease: Option<MetadataValue<Ascii>>,
}

impl Signature {
    fn new(credentials: &Credentials) -> Result<Self, ConnectError> {
        let bearer = credentials.token.as_ref().map(|token| format!("Bearer {token}"));
        Ok(Self {
            authorization: secret("token", bearer.as_deref())?,
            lease: secret("lease", credentials.lease.as_deref())?,
        })
    }
}

fn secret(
    name: &'static str,
    text: Option<&str>,
) -> Result<Option<MetadataValue<Ascii>>, ConnectError> {
    let Some(text) = text else { return Ok(None) };
    let mut value = MetadataValue::try_from(text).map_err(|_| ConnectError::Credential { name })?;
    value.set_sensitive(true);
    Ok(Some(value))
}

impl Interceptor for Signature {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        let metadata = request.metadata_mut();
        if let Some(authorization) = &self.authorization {
            metadata.insert("authorization", authorization.clone());
        }
        if let Some(lease) = &self.lease {
            metadata.insert(LEASE_HEADER, lease.clone());
        }
        Ok(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_sent_with_every_call_and_never_printed() {
        let credentials = Credentials {
            token: Some("hunter2".to_owned()),
            lease: Some("lease-7".to_owned()),
            ..Credentials::default()
        };
        assert!(!format!("{credentials:?}").contains("hunter2"));
        let mut signature = Signature::new(&credentials).unwrap();
        let request = signature.call(Request::new(())).unwrap();
        assert_eq!(request.metadata().get("authorization").unwrap(), "Bearer hunter2");
        assert_eq!(request.metadata().get(LEASE_HEADER).unwrap(), "lease-7");
        assert!(!format!("{:?}", request.metadata()).contains("hunter2"));
    }

    #[test]
    fn a_token_that_is_invalid_in_a_header_is_an_error() {
        let credentials = Credentials { token: Some("a\nb".to_owned()), ..Credentials::default() };
        let error = Signature::new(&credentials).err().unwrap();
        assert_eq!(error.to_string(), "the token contains characters that are invalid in a header");
    }

    #[tokio::test]
    async fn a_failed_connection_names_its_cause() {
        let target = Target::parse("/nowhere/coop.sock").unwrap();
        let error = connect(&target, Credentials::default()).await.err().unwrap().to_string();
        assert!(error.starts_with("cannot connect to unix:///nowhere/coop.sock: "), "{error}");
        assert!(error.contains("No such file"), "{error}");
    }
}

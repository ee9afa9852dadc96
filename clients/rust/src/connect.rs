//! A client for a [`Target`], with its credentials on every call. What is called with it, and
//! whether to try again, is the caller's business.

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

/// The client that [`connect`] gives.
pub type Client = CoopClient<InterceptedService<Channel, Signature>>;

/// The largest message either way; coop's own limit.
const MESSAGE_LIMIT: usize = 16 * 1024 * 1024;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// A peer that is gone without a word is noticed after the two together.
const KEEP_ALIVE: Duration = Duration::from_secs(30);
const KEEP_ALIVE_TIMEOUT: Duration = Duration::from_secs(10);

/// What a client shows to be let in. All of it is optional: a Unix socket asks for none.
#[derive(Clone, Default)]
pub struct Credentials {
    /// The bearer token.
    pub token: Option<String>,
    /// The lease to write under, as `AcquireLease` gave it.
    pub lease: Option<String>,
    /// PEM of the authority that signed the server's certificate, where the system has it not.
    pub ca: Option<Vec<u8>>,
    /// PEM of a client certificate and of its key, for servers that ask for one.
    pub identity: Option<(Vec<u8>, Vec<u8>)>,
}

impl fmt::Debug for Credentials {
    /// Says what is there, and keeps it to itself.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials")
            .field("token", &self.token.is_some())
            .field("lease", &self.lease.is_some())
            .field("ca", &self.ca.is_some())
            .field("identity", &self.identity.is_some())
            .finish()
    }
}

/// Why there is no connection.
#[derive(Debug)]
pub enum ConnectError {
    /// The token or the lease has characters that no header can carry.
    Credential { name: &'static str },
    /// Nobody answered there, or not in this language.
    Transport { target: Target, source: tonic::transport::Error },
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Credential { name } => write!(f, "the {name} has characters that a header cannot carry"),
            Self::Transport { target, source } => {
                // The outermost error only says that it is one; the innermost says why.
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

/// Connects, and puts the credentials on every call.
pub async fn connect(target: &Target, credentials: Credentials) -> Result<Client, ConnectError> {
    let signature = Signature::new(&credentials)?;
    let failed = |source| ConnectError::Transport { target: target.clone(), source };
    let channel = endpoint(target, credentials).map_err(failed)?.connect().await.map_err(failed)?;
    Ok(CoopClient::with_interceptor(channel, signature)
        .max_decoding_message_size(MESSAGE_LIMIT)
        .max_encoding_message_size(MESSAGE_LIMIT))
}

fn endpoint(target: &Target, credentials: Credentials) -> Result<Endpoint, tonic::transport::Error> {
    let endpoint = Endpoint::from_shared(target.to_string())?
        .connect_timeout(CONNECT_TIMEOUT)
        .tcp_nodelay(true)
        .http2_keep_alive_interval(KEEP_ALIVE)
        .keep_alive_timeout(KEEP_ALIVE_TIMEOUT)
        .keep_alive_while_idle(true);
    match target {
        Target::Http { .. } => Ok(endpoint),
        // There is no host in a path, and the server must see one it knows.
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

/// Adds `authorization` and `coop-lease` to each call.
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

fn secret(name: &'static str, text: Option<&str>) -> Result<Option<MetadataValue<Ascii>>, ConnectError> {
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
            metadata.insert("coop-lease", lease.clone());
        }
        Ok(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_go_with_every_call_and_into_no_log() {
        let credentials = Credentials {
            token: Some("hunter2".to_owned()),
            lease: Some("lease-7".to_owned()),
            ..Credentials::default()
        };
        assert!(!format!("{credentials:?}").contains("hunter2"));
        let mut signature = Signature::new(&credentials).unwrap();
        let request = signature.call(Request::new(())).unwrap();
        assert_eq!(request.metadata().get("authorization").unwrap(), "Bearer hunter2");
        assert_eq!(request.metadata().get("coop-lease").unwrap(), "lease-7");
        assert!(!format!("{:?}", request.metadata()).contains("hunter2"));
    }

    #[test]
    fn a_token_that_no_header_can_carry_is_refused() {
        let credentials = Credentials { token: Some("a\nb".to_owned()), ..Credentials::default() };
        let error = Signature::new(&credentials).err().unwrap();
        assert_eq!(error.to_string(), "the token has characters that a header cannot carry");
    }

    #[tokio::test]
    async fn nobody_there_is_told_with_the_cause() {
        let target = Target::parse("/nowhere/coop.sock").unwrap();
        let error = connect(&target, Credentials::default()).await.err().unwrap().to_string();
        assert!(error.starts_with("cannot connect to unix:///nowhere/coop.sock: "), "{error}");
        assert!(error.contains("No such file"), "{error}");
    }
}

//! Warns at the start about a configuration that works and protects less than it could. It changes
//! nothing.

use crate::config::Config;

/// Logs a warning for each weakness of the configuration.
pub(super) fn log(config: &Config) {
    let exposed = [config.tcp, config.grpc].into_iter().flatten();
    let exposed = exposed.map(|(host, _)| host).find(|host| !host.is_loopback());
    if let Some(host) = exposed.filter(|_| config.tls.is_none()) {
        tracing::warn!(
            %host,
            "tokens and everything on the screen are sent in clear text beyond this machine; use \
             --tls-cert and --tls-key, or a proxy with TLS"
        );
    }
    let short = config.tokens.short();
    if short > 0 {
        tracing::warn!(
            tokens = short,
            "a token with less than 16 characters can be guessed; `openssl rand -hex 16` makes one"
        );
    }
}

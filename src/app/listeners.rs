//! Everything coop listens on: bound before the child starts, served once the child runs or its
//! launch takes too long.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use tokio::net::TcpListener;

use super::StartError;
use super::session_dir::SessionDir;
use crate::config::Config;
use crate::log::Outlet;
use crate::server::{self, Apps, BindError, Listener, Server, Tls, Transport, UnixSocket};

pub(super) struct Listeners {
    tcp: Option<TcpListener>,
    grpc: Option<TcpListener>,
    health: Option<TcpListener>,
    socket: Option<UnixSocket>,
    /// The session's own socket, for its child.
    private: UnixSocket,
    tls: Option<Tls>,
}

impl Listeners {
    /// Binds all of them before a Unix socket takes its path, so that a coop that cannot start
    /// leaves another coop's socket alone.
    pub(super) fn bind(config: &Config) -> Result<(Self, SessionDir), StartError> {
        let tls = config.tls.as_ref().map(Tls::new).transpose()?;
        let tcp = bind(config.tcp)?;
        let grpc = bind(config.grpc)?;
        let health = bind(config.health)?;
        let mut socket = config.socket.as_deref().map(UnixSocket::bind).transpose()?;
        let (session_dir, mut private) = SessionDir::create(&config.state_dirs)?;
        private.publish()?;
        if let Some(socket) = &mut socket {
            socket.publish()?;
        }
        Ok((Self { tcp, grpc, health, socket, private, tls }, session_dir))
    }

    pub(super) fn tcp_address(&self) -> Option<SocketAddr> {
        self.tcp.as_ref().and_then(|listener| listener.local_addr().ok())
    }

    pub(super) fn tls(&self) -> Option<Tls> {
        self.tls.clone()
    }

    pub(super) fn private_socket(&self) -> &Path {
        self.private.path()
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        let tcp = [&self.tcp, &self.grpc, &self.health];
        1 + tcp.iter().filter(|listener| listener.is_some()).count() + self.socket.iter().count()
    }

    /// Serves on each of them, and announces them on stdout.
    pub(super) fn serve(self, server: &Server, apps: &Apps, stdout: &Outlet) {
        let announce = |kind: &str, listener: &TcpListener| {
            if let Ok(address) = listener.local_addr() {
                stdout.line(&format!("{kind} listening on {address}"));
            }
        };
        if let Some(listener) = self.tcp {
            announce("HTTP", &listener);
            server.serve(Listener::Tcp { listener, tls: self.tls.clone() }, apps.main.clone());
        }
        if let Some(listener) = self.grpc {
            announce("gRPC", &listener);
            server.serve(Listener::Tcp { listener, tls: self.tls }, apps.grpc.clone());
        }
        if let Some(listener) = self.health {
            announce("Health", &listener);
            server.serve(Listener::Health { listener }, apps.health.clone());
        }
        if let Some(socket) = self.socket {
            stdout.line(&format!("Unix socket listening on {}", socket.path().display()));
            let listener = Listener::Unix { socket, transport: Transport::Unix };
            server.serve(listener, apps.main.clone());
        }
        let listener = Listener::Unix { socket: self.private, transport: Transport::Private };
        server.serve(listener, apps.main.clone());
    }
}

fn bind(address: Option<(IpAddr, u16)>) -> Result<Option<TcpListener>, BindError> {
    match address {
        Some((host, port)) => server::tcp(host, port).map(Some),
        None => Ok(None),
    }
}

//! Reads the token file and the TLS files again when they change. A file that cannot be used leaves
//! everything as it was. It knows neither requests nor connections.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::select_all;
use ring::digest;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use tokio_util::task::TaskTracker;
use zeroize::Zeroizing;

use super::secret_file::read_secret_file;
use super::tls::{Pem, Tls, TlsFiles};
use super::tokens::{TokenStore, Tokens};
use crate::service::Closing;
use crate::source::DirWatch;

/// How long the files of one change may take: a certificate and its key are two files, and an
/// editor writes one in several steps.
const SETTLE: Duration = Duration::from_millis(100);

/// The files to follow, and what they configure.
#[derive(Default)]
pub(crate) struct Reload {
    pub tokens: Option<TokenReload>,
    pub tls: Option<TlsReload>,
}

pub(crate) struct TokenReload {
    path: PathBuf,
    /// The tokens that are not from the file.
    fixed: Tokens,
    store: Arc<TokenStore>,
    seen: Seen,
}

pub(crate) struct TlsReload {
    files: TlsFiles,
    tls: Tls,
    seen: Seen,
}

/// What a file was when it was last read: the digest of its content, or why it could not be read.
#[derive(Debug, Default)]
struct Seen(Option<Result<Vec<u8>, String>>);

impl Seen {
    /// Whether this is something else than the last time. The first time it is what coop started
    /// with, unless it has changed since.
    fn changes(&mut self, content: Result<&[u8], String>) -> bool {
        let digest = |bytes| digest::digest(&digest::SHA256, bytes).as_ref().to_vec();
        let now = Some(content.map(digest));
        std::mem::replace(&mut self.0, now.clone()) != now
    }
}

impl TokenReload {
    pub(crate) fn new(path: PathBuf, fixed: Tokens, store: Arc<TokenStore>) -> Self {
        Self { path, fixed, store, seen: Seen::default() }
    }

    fn read(&mut self) {
        let text = read_secret_file(&self.path).map(Zeroizing::new);
        let text = text.map_err(|error| error.to_string());
        if !self.seen.changes(text.as_ref().map(|text| text.as_bytes()).map_err(Clone::clone)) {
            return;
        }
        let tokens = text.and_then(|text| Tokens::parse(&text).map_err(|bad| bad.to_string()));
        let path = self.path.display();
        match tokens {
            Ok(mut tokens) => {
                tokens.extend(self.fixed.clone());
                self.store.replace(tokens);
                tracing::info!(%path, "read the token file");
            }
            Err(reason) => tracing::warn!(
                %path,
                reason,
                "the token file cannot be used; the tokens from before stay valid"
            ),
        }
    }
}

impl TlsReload {
    pub(crate) fn new(files: TlsFiles, tls: Tls) -> Self {
        Self { files, tls, seen: Seen::default() }
    }

    fn read(&mut self) {
        let pem = self.files.read().map_err(|error| error.to_string());
        let content = pem.as_ref().map(Pem::content);
        if !self.seen.changes(content.as_ref().map(|text| &text[..]).map_err(|why| (*why).clone()))
        {
            return;
        }
        let config =
            pem.and_then(|pem| self.files.server_config(&pem).map_err(|error| error.to_string()));
        match config {
            Ok(config) => {
                self.tls.replace(config);
                tracing::info!("read the TLS files");
            }
            Err(reason) => tracing::warn!(
                reason,
                "the TLS files cannot be used; the certificates from before stay in use"
            ),
        }
    }
}

impl Reload {
    /// Reads what has changed.
    fn read(&mut self) {
        if let Some(tokens) = &mut self.tokens {
            tokens.read();
        }
        if let Some(tls) = &mut self.tls {
            tls.read();
        }
    }

    /// The directories of the files. A directory is watched and not a file, because Kubernetes
    /// exchanges the link `..data` beside the file, and an editor renames a new file over the old.
    fn dirs(&self) -> Vec<PathBuf> {
        let tokens = self.tokens.iter().map(|tokens| &tokens.path);
        let tls = self.tls.iter().flat_map(|tls| {
            let TlsFiles { cert, key, client_ca, .. } = &tls.files;
            [cert, key].into_iter().chain(client_ca)
        });
        let mut dirs: Vec<PathBuf> = Vec::new();
        for path in tokens.chain(tls) {
            // Where the path leads now, if it is a link to a file elsewhere.
            let target = path.canonicalize().ok();
            for path in [Some(path), target.as_ref()].into_iter().flatten() {
                let dir = path.parent().unwrap_or(Path::new("")).to_owned();
                if !dirs.contains(&dir) {
                    dirs.push(dir);
                }
            }
        }
        dirs
    }

    /// Follows the files until coop ends.
    pub(crate) async fn run(mut self, tracker: TaskTracker, closing: Closing) {
        if self.tokens.is_none() && self.tls.is_none() {
            return;
        }
        // Files are read on a change only, or every few seconds if the kernel reports no changes.
        let (_polling, poll) = watch::channel(false);
        let mut watches: Vec<DirWatch> = Vec::new();
        loop {
            let dirs = self.dirs();
            watches.resize_with(dirs.len(), || DirWatch::new(poll.clone()));
            // Before the files are read, so that no change between the two is missed.
            for (watch, dir) in watches.iter_mut().zip(&dirs) {
                watch.watch(dir);
            }
            let reading = tracker.spawn_blocking(move || {
                self.read();
                self
            });
            let Ok(read) = reading.await else {
                return tracing::error!("the files of tokens and certificates are not read again");
            };
            self = read;
            let changed = select_all(watches.iter_mut().map(|watch| Box::pin(watch.changed())));
            tokio::select! {
                _ = changed => {}
                () = closing.closed() => return,
            }
            tokio::select! {
                () = sleep_until(Instant::now() + SETTLE) => {}
                () = closing.closed() => return,
            }
        }
    }
}

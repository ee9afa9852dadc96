//! Waits until something changes in a directory, which need not exist yet. It reports only that
//! something changed, never what: the caller reads the directory, and several changes may be
//! reported as one.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use notify::event::{AccessKind, AccessMode, EventKind};
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, timeout_at};

/// How often the caller reads files whose changes the kernel may not report, for example on a
/// network file system.
const POLL: Duration = Duration::from_secs(5);
/// How often the search for a directory starts again because one of its parents appeared or
/// disappeared meanwhile.
const SEARCHES: usize = 8;

/// A watch on one directory.
pub(crate) struct DirWatch {
    /// None if the kernel has no watches left; then only polling is left.
    watcher: Option<RecommendedWatcher>,
    changed: Arc<Notify>,
    /// The directories that the kernel watches.
    watched: Vec<PathBuf>,
    /// Whether to poll for changes that the kernel does not report.
    poll: watch::Receiver<bool>,
}

impl DirWatch {
    pub(crate) fn new(poll: watch::Receiver<bool>) -> Self {
        let changed = Arc::new(Notify::new());
        let notify = Arc::clone(&changed);
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            if event.is_ok_and(|event| !only_read(event.kind)) {
                notify.notify_one();
            }
        });
        if let Err(error) = &watcher {
            tracing::warn!(%error, "files cannot be watched; coop reads them every few seconds");
        }
        Self { watcher: watcher.ok(), changed, watched: Vec::new(), poll }
    }

    /// Watches this directory, or while it does not exist its nearest existing ancestor. Call it
    /// each time before the directory is read.
    ///
    /// The parent is watched too: the kernel reports that a directory itself is gone only after the
    /// last file in it was closed, and coop may have one open.
    pub(crate) fn watch(&mut self, dir: &Path) {
        // A watched directory may have been removed or replaced, and a missing one may have been
        // created before its parent was watched.
        for _ in 0..SEARCHES {
            let nearest = dir.ancestors().find(|at| self.add(at));
            let parent = nearest.and_then(Path::parent).filter(|parent| self.add(parent));
            let watched: Vec<PathBuf> =
                nearest.into_iter().chain(parent).map(Path::to_owned).collect();
            if watched == self.watched {
                return;
            }
            let before = std::mem::replace(&mut self.watched, watched);
            for old in before.iter().filter(|old| !self.watched.contains(old)) {
                if let Some(watcher) = &mut self.watcher {
                    // The watch of a removed directory is gone already.
                    drop(watcher.unwatch(old));
                }
            }
        }
    }

    fn add(&mut self, dir: &Path) -> bool {
        let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
        let watch = |watcher: &mut RecommendedWatcher| {
            watcher.watch(dir, RecursiveMode::NonRecursive).is_ok()
        };
        dir.is_dir() && self.watcher.as_mut().is_some_and(watch)
    }

    /// Waits until something has changed, or it is time to poll.
    pub(crate) async fn changed(&mut self) {
        let unwatched = self.watched.is_empty();
        tokio::select! {
            () = self.changed.notified() => {}
            () = poll_time(&mut self.poll, unwatched) => {}
        }
    }
}

/// Reading a file is not a change, and coop itself reads these files.
fn only_read(kind: EventKind) -> bool {
    match kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => false,
        EventKind::Access(_) => true,
        EventKind::Any
        | EventKind::Create(_)
        | EventKind::Modify(_)
        | EventKind::Remove(_)
        | EventKind::Other => false,
    }
}

/// Waits until it is time to poll; for ever if polling is neither wanted nor needed.
async fn poll_time(wanted: &mut watch::Receiver<bool>, unwatched: bool) {
    loop {
        let wants_poll = *wanted.borrow_and_update();
        let changed = wanted.changed();
        if wants_poll || unwatched {
            match timeout_at(Instant::now() + POLL, changed).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return std::future::pending().await,
                Err(_) => return,
            }
        } else if changed.await.is_err() {
            return std::future::pending().await;
        }
    }
}

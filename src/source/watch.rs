//! Waits until something changes in a directory, whether the directory is there yet or not. It says that it is worth
//! looking again, never what has changed: who looks finds out, and two changes at once are one look.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use notify::event::{AccessKind, AccessMode, EventKind};
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, timeout_at};

/// How long a change may go unnoticed that the kernel does not report, for example on a network file system.
const POLL: Duration = Duration::from_secs(5);
/// Directories that come and go while they are looked for; after that the next change must do.
const AIMS: usize = 8;

/// One directory under watch.
pub struct Watch {
    /// None if the kernel has no watches left to give: then only polling is left.
    watcher: Option<RecommendedWatcher>,
    changed: Arc<Notify>,
    /// The directories under watch.
    aims: Vec<PathBuf>,
    /// Whether somebody wants to hear of unreported changes too.
    poll: watch::Receiver<bool>,
}

impl Watch {
    pub fn new(poll: watch::Receiver<bool>) -> Self {
        let changed = Arc::new(Notify::new());
        let bell = Arc::clone(&changed);
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            if event.is_ok_and(|event| !only_read(event.kind)) {
                bell.notify_one();
            }
        });
        if let Err(error) = &watcher {
            tracing::warn!(%error, "files cannot be watched; coop looks at them every few seconds");
        }
        Self { watcher: watcher.ok(), changed, aims: Vec::new(), poll }
    }

    /// Watches this directory, or as long as it is not there the nearest one above it. To be called before each look.
    ///
    /// The directory above is watched too: the kernel says of a directory itself that it is gone only after the last
    /// file in it was closed, which can be ours.
    pub fn aim(&mut self, dir: &Path) {
        // What is watched may be gone or replaced, and what was missing may have come before its parent was watched.
        for _ in 0..AIMS {
            let near = dir.ancestors().find(|at| self.add(at));
            let above = near.and_then(Path::parent).filter(|above| self.add(above));
            let aims: Vec<PathBuf> = near.into_iter().chain(above).map(Path::to_owned).collect();
            if aims == self.aims {
                return;
            }
            let before = std::mem::replace(&mut self.aims, aims);
            for old in before.iter().filter(|old| !self.aims.contains(old)) {
                if let Some(watcher) = &mut self.watcher {
                    // It is gone by itself if its directory is.
                    drop(watcher.unwatch(old));
                }
            }
        }
    }

    fn add(&mut self, dir: &Path) -> bool {
        let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
        let watch =
            |watcher: &mut RecommendedWatcher| watcher.watch(dir, RecursiveMode::NonRecursive).is_ok();
        dir.is_dir() && self.watcher.as_mut().is_some_and(watch)
    }

    /// Waits until another look is worth it.
    pub async fn stirred(&mut self) {
        let blind = self.aims.is_empty();
        tokio::select! {
            () = self.changed.notified() => {}
            () = polled(&mut self.poll, blind) => {}
        }
    }
}

/// Looking at a file is no change of it, and we look ourselves.
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

/// Waits for the time of the next poll, if anybody wants one.
async fn polled(wanted: &mut watch::Receiver<bool>, blind: bool) {
    loop {
        let now = *wanted.borrow_and_update();
        let turned = wanted.changed();
        if now || blind {
            match timeout_at(Instant::now() + POLL, turned).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return std::future::pending().await,
                Err(_) => return,
            }
        } else if turned.await.is_err() {
            return std::future::pending().await;
        }
    }
}

//! Waits until something changes in a directory, whether the directory is there yet or not. It says that it is worth
//! looking again, never what has changed: who looks finds out, and two changes at once are one look.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::io::Errno;
use tokio::io::unix::AsyncFd;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use crate::pty;

/// How long a change may go unnoticed that the kernel does not report, for example on a network file system.
const POLL: Duration = Duration::from_secs(5);
/// Directories that come and go while they are looked for; after that the next change must do.
const AIMS: usize = 8;

/// One directory under watch.
pub struct Watch {
    /// None if the kernel has no watches left to give: then only polling is left.
    inotify: Option<AsyncFd<OwnedFd>>,
    /// The directories under watch, and the kernel's numbers for them.
    aims: Vec<(PathBuf, i32)>,
    /// Whether somebody wants to hear of unreported changes too.
    poll: watch::Receiver<bool>,
}

impl Watch {
    pub fn new(poll: watch::Receiver<bool>) -> Self {
        let made = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).map_err(std::io::Error::from);
        let inotify = made.and_then(pty::awaitable);
        if let Err(error) = &inotify {
            tracing::warn!(%error, "files cannot be watched; coop looks at them every few seconds");
        }
        Self { inotify: inotify.ok(), aims: Vec::new(), poll }
    }

    /// Watches this directory, or as long as it is not there the nearest one above it. To be called before each look.
    ///
    /// The directory above is watched too: the kernel says of a directory itself that it is gone only after the last
    /// file in it was closed, which can be ours.
    pub fn aim(&mut self, dir: &Path) {
        // What is watched may be gone or replaced, and what was missing may have come before its parent was watched.
        for _ in 0..AIMS {
            let mut aims = Vec::new();
            if let Some((at, number)) = dir.ancestors().find_map(|at| Some((at, self.add(at, at == dir)?))) {
                aims.push((at.to_owned(), number));
                aims.extend(at.parent().and_then(|above| Some((above.to_owned(), self.add(above, false)?))));
            }
            if aims == self.aims {
                return;
            }
            let before = std::mem::replace(&mut self.aims, aims);
            for (_, old) in before {
                if let Some(inotify) = &self.inotify
                    && !self.aims.iter().any(|(_, new)| *new == old)
                {
                    // It is gone by itself if its directory is.
                    let _ = inotify::remove_watch(inotify.get_ref(), old);
                }
            }
        }
    }

    fn add(&self, dir: &Path, whole: bool) -> Option<i32> {
        let coming = WatchFlags::CREATE | WatchFlags::MOVED_TO;
        let going = WatchFlags::DELETE | WatchFlags::MOVED_FROM | WatchFlags::DELETE_SELF;
        let written = if whole { WatchFlags::MODIFY | WatchFlags::CLOSE_WRITE } else { WatchFlags::empty() };
        let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
        // Two names can be one directory, which must not lose the flags that it has by its other name.
        let flags = coming | going | written | WatchFlags::ONLYDIR | WatchFlags::MASK_ADD;
        inotify::add_watch(self.inotify.as_ref()?.get_ref(), dir, flags).ok()
    }

    /// Waits until another look is worth it.
    pub async fn stirred(&mut self) {
        let Self { inotify, aims, poll } = self;
        let reported = async {
            match inotify {
                Some(inotify) => changes(inotify).await,
                None => std::future::pending().await,
            }
        };
        let blind = aims.is_empty();
        tokio::select! {
            () = reported => {}
            () = polled(poll, blind) => {}
        }
    }
}

/// Waits for at least one change, and takes all that there are.
async fn changes(inotify: &AsyncFd<OwnedFd>) {
    let mut events = [0; 4096];
    let mut any = false;
    loop {
        let Ok(mut ready) = inotify.readable().await else { return std::future::pending().await };
        loop {
            match rustix::io::read(ready.get_inner(), &mut events) {
                Ok(count) if count > 0 => any = true,
                Err(Errno::INTR) => {}
                Ok(_) | Err(_) => break,
            }
        }
        ready.clear_ready();
        if any {
            return;
        }
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

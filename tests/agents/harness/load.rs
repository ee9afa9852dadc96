//! Keeps every processor busy while a test runs, so that the agent is slow.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

pub struct Load {
    over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Load {
    pub fn of_all_processors() -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let count = std::thread::available_parallelism().map_or(1, usize::from);
        let spin = |over: Arc<AtomicBool>| {
            move || {
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            }
        };
        let threads = (0..count).map(|_| std::thread::spawn(spin(Arc::clone(&over)))).collect();
        Self { over, threads }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            drop(thread.join());
        }
    }
}

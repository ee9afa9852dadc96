//! The task that looks at another program's terminal again and again and types what it is given in between, one call at a
//! time; and the near end of it, which a session holds instead of a terminal of its own.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

use super::super::child::Exit;
use super::super::master::WindowSize;
use super::super::process::Identity;
use super::super::signal::{Signal, SignalError, signal_foreground_of};
use super::call::Trouble;
use super::picture::Picture;
use super::{Found, Mux};

/// How often the terminal is looked at.
const POLL: Duration = Duration::from_secs(1);
/// When it is looked at after something was typed, so that an echo is seen soon.
const ECHOES: [Duration; 3] =
    [Duration::from_millis(30), Duration::from_millis(120), Duration::from_millis(350)];
/// Things to do that may wait for the one that is being done.
const ORDERS: usize = 32;
/// Pictures that may wait for whoever looks at them; it is not looked again before that.
const NEWS: usize = 4;
/// How long leaving may take.
const FAREWELL: Duration = Duration::from_secs(2);

/// What has been seen.
#[derive(Debug)]
pub enum News {
    /// It looks different, and this draws it.
    Looks { size: WindowSize, paint: Bytes },
    /// A resize was tried, and this came of it.
    Resized(Result<(), String>),
    /// What ran there has ended.
    Gone(Exit),
}

/// Why something was not typed.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    #[error("what runs there has exited")]
    Gone,
    #[error("{host} did not take the input in time; it may still arrive")]
    Slow { host: &'static str },
    #[error("{host} did not take the input: {reason}")]
    Refused { host: &'static str, reason: String },
}

enum Order {
    Write {
        bytes: Bytes,
        taken: oneshot::Sender<Result<usize, WriteError>>,
    },
    Resize(WindowSize),
    /// Something else was done to what runs there.
    Look,
}

/// The near end of another program's terminal.
pub struct Foreign {
    host: &'static str,
    process: Identity,
    orders: mpsc::Sender<Order>,
    news: mpsc::Receiver<News>,
    under_way: Option<UnderWay>,
    /// Ends with this.
    keeper: JoinSet<()>,
}

/// A write that was given to the keeper. It is kept here so that a wait that is cancelled and begun again goes on.
struct UnderWay {
    bytes: Bytes,
    taken: oneshot::Receiver<Result<usize, WriteError>>,
}

impl Found {
    /// Goes on looking, on the runtime this is called on.
    pub fn keep(self) -> Foreign {
        let (orders, ordered) = mpsc::channel(ORDERS);
        let (told, news) = mpsc::channel(NEWS);
        let Self { mux, process, picture, .. } = self;
        let host = mux.name();
        let mut keeper = JoinSet::new();
        keeper.spawn(Keeper { mux, picture, orders: ordered, news: told, troubled: false }.run());
        Foreign { host, process, orders, news, under_way: None, keeper }
    }
}

impl Foreign {
    /// What is seen next; `None` when there will be nothing more. Cancelling loses nothing.
    pub async fn news(&mut self) -> Option<News> {
        self.news.recv().await
    }

    /// What is seen next, or what became of writing these bytes, whichever comes first.
    pub async fn news_or_written(&mut self, bytes: &[u8]) -> Result<Option<News>, Result<usize, WriteError>> {
        let Self { orders, news, under_way, .. } = self;
        tokio::select! {
            news = news.recv() => Ok(news),
            written = write(orders, under_way, bytes) => Err(written),
        }
    }

    /// Asks for a size; what came of it is news. False if too much waits already.
    pub fn resize(&self, size: WindowSize) -> bool {
        self.orders.try_send(Order::Resize(size)).is_ok()
    }

    /// Sends a signal to the foreground process group of that terminal.
    pub fn signal(&self, signal: Signal) -> Result<(), SignalError> {
        signal_foreground_of(self.process, signal)?;
        // If too much waits for this, it will be looked at anyway.
        drop(self.orders.try_send(Order::Look));
        Ok(())
    }

    pub fn host(&self) -> &'static str {
        self.host
    }

    /// Leaves the other program as it was.
    pub async fn leave(self) {
        let Self { orders, news, mut keeper, host, .. } = self;
        // Without anybody who asks or listens the keeper takes its leave.
        drop((orders, news));
        if timeout(FAREWELL, keeper.join_next()).await.is_err() {
            tracing::warn!(host, "did not hear our goodbye");
        }
    }
}

/// Types some of the bytes, and answers how many once the other program has taken them. If it is cancelled, it must be called
/// again with the same bytes, or what was typed meanwhile goes uncounted.
async fn write(
    orders: &mpsc::Sender<Order>,
    under_way: &mut Option<UnderWay>,
    bytes: &[u8],
) -> Result<usize, WriteError> {
    loop {
        let Some(given) = under_way else {
            let room = orders.reserve().await.map_err(|_| WriteError::Gone)?;
            let (taken, answer) = oneshot::channel();
            let bytes = Bytes::copy_from_slice(bytes);
            *under_way = Some(UnderWay { bytes: bytes.clone(), taken: answer });
            room.send(Order::Write { bytes, taken });
            continue;
        };
        let taken = (&mut given.taken).await.unwrap_or(Err(WriteError::Gone));
        let was_this = bytes.starts_with(&given.bytes);
        *under_way = None;
        if was_this {
            return taken;
        }
        // Whoever wanted that has given up on it.
    }
}

struct Keeper {
    mux: Mux,
    /// As it was seen last.
    picture: Picture,
    orders: mpsc::Receiver<Order>,
    news: mpsc::Sender<News>,
    /// The last look failed, and that was logged.
    troubled: bool,
}

/// Nobody listens, or nothing is left to look at.
struct Over;

/// When something is to be seen of what has just been done.
fn soon() -> VecDeque<Instant> {
    ECHOES.iter().map(|echo| Instant::now() + *echo).collect()
}

impl Keeper {
    async fn run(mut self) {
        // The first look was when it was found.
        let mut looks = VecDeque::from([Instant::now() + POLL]);
        while self.step(&mut looks).await.is_ok() {}
        self.mux.leave().await;
    }

    async fn step(&mut self, looks: &mut VecDeque<Instant>) -> Result<(), Over> {
        let next = looks.front().copied().unwrap_or_else(|| Instant::now() + POLL);
        tokio::select! {
            order = self.orders.recv() => match order {
                None => Err(Over),
                Some(Order::Write { bytes, taken }) => {
                    let written = self.mux.write(&bytes).await;
                    *looks = soon();
                    let host = self.mux.name();
                    let gone = matches!(written, Err(Trouble::Gone(_)));
                    drop(taken.send(written.map_err(|trouble| match trouble {
                        Trouble::Gone(_) => WriteError::Gone,
                        Trouble::Slow => WriteError::Slow { host },
                        Trouble::NotInstalled | Trouble::Refused(_) => {
                            WriteError::Refused { host, reason: trouble.to_string() }
                        }
                    })));
                    // A look tells how it ended, if anybody knows.
                    if gone { self.look().await } else { Ok(()) }
                }
                Some(Order::Look) => {
                    *looks = soon();
                    Ok(())
                }
                Some(Order::Resize(size)) => {
                    let asked = self.mux.resize(size).await.map_err(|trouble| trouble.to_string());
                    self.look().await?;
                    let seen = self.picture.size;
                    let came_of_it = asked.and_then(|()| {
                        if seen == size { return Ok(()) }
                        Err(format!("it stays at {}x{}", seen.cols, seen.rows))
                    });
                    self.tell(News::Resized(came_of_it)).await
                }
            },
            () = sleep_until(next) => {
                looks.pop_front();
                let looked = self.look().await;
                if looks.is_empty() {
                    looks.push_back(Instant::now() + POLL);
                }
                looked
            }
        }
    }

    async fn look(&mut self) -> Result<(), Over> {
        match self.mux.look().await {
            Ok(picture) => {
                if std::mem::take(&mut self.troubled) {
                    tracing::info!(host = self.mux.name(), "shows its terminal again");
                }
                if picture == self.picture {
                    return Ok(());
                }
                let paint = picture.paint(Some(&self.picture));
                self.picture = picture;
                self.tell(News::Looks { size: self.picture.size, paint }).await
            }
            Err(Trouble::Gone(exit)) => {
                self.tell(News::Gone(exit)).await?;
                Err(Over)
            }
            Err(trouble @ (Trouble::Slow | Trouble::NotInstalled | Trouble::Refused(_))) => {
                if !std::mem::replace(&mut self.troubled, true) {
                    tracing::warn!(host = self.mux.name(), %trouble, "the screen may be old");
                }
                Ok(())
            }
        }
    }

    async fn tell(&self, news: News) -> Result<(), Over> {
        self.news.send(news).await.map_err(|_| Over)
    }
}

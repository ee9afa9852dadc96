//! The guard process itself: answers coop's requests until coop is gone, and then ends what is
//! left. It must not start a thread, and never waits for coop.

use std::ffi::{CStr, OsString};
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, getppid, kill_process, setsid};

use super::ending;
use super::files::SessionFiles;
use super::message::{Answer, Ask, FoundTree, Reply, Request, Sent, Waited};
use super::socket::Socket;
use crate::os::{self, ProcessIdentity, signal_from_number};
use crate::pty::parent::{self, Parent};

/// The name of the guard in lists of processes. It is not coop's, so that `killall -9 coop` leaves
/// the guard to end the others.
const NAME: &CStr = c"guard";

/// Serves coop until it is gone; returns when nothing is left of it.
pub(super) fn run(mut socket: Socket, coop: Pid) -> io::Result<()> {
    os::close_inherited(&socket)?;
    // Signals for coop's process group are for coop, which decides what they lead to.
    let exits = Exits(os::block_signals()?);
    setsid()?;
    os::name_process(NAME);
    let mut parent = Parent::install()?;
    let mut files = SessionFiles::default();
    // An error means that coop cannot be served any more, as when it is gone.
    drop(serve(&mut socket, &exits, coop, &mut parent, &mut files));
    drop(socket);
    files.remove();
    ending::end_everything(&mut parent, &exits);
    // What has been ended now may have created another pipe meanwhile.
    files.remove();
    Ok(())
}

fn serve(
    socket: &mut Socket,
    exits: &Exits,
    coop: Pid,
    parent: &mut Parent,
    files: &mut SessionFiles,
) -> io::Result<()> {
    loop {
        let (exited, requested) = {
            let mut ready = [
                PollFd::new(&exits.0, PollFlags::IN),
                PollFd::from_borrowed_fd(socket.as_fd(), PollFlags::IN),
            ];
            wait(&mut ready, None)?;
            let [exited, requested] = ready.map(|one| !one.revents().is_empty());
            (exited, requested)
        };
        if exited {
            exits.clear();
            parent.reap_orphans();
            // coop looks for exits when it gets this signal. Once it is gone, the guard has another
            // parent.
            if getppid() == Some(coop) {
                let _ = kill_process(coop, Signal::CHILD);
            }
        }
        if requested {
            let Some((request, descriptor)) = socket.receive::<Request>()? else { return Ok(()) };
            let answer = answer(request, descriptor, parent, files);
            let answer = answer.unwrap_or_else(|error| {
                let errno = Errno::from_io_error(&error).unwrap_or(Errno::INVAL);
                Answer::Failed(errno.raw_os_error())
            });
            socket.send(&Reply { answer: Some(answer) }, None)?;
        }
    }
}

fn answer(
    request: Request,
    descriptor: Option<OwnedFd>,
    parent: &mut Parent,
    files: &mut SessionFiles,
) -> io::Result<Answer> {
    Ok(match request.ask.ok_or(Errno::INVAL)? {
        Ask::Start(start) => {
            let program = start.join(descriptor.ok_or(Errno::BADF)?);
            Answer::Started(parent.start(program)?.as_raw_pid())
        }
        Ask::Wait(pid) => {
            let pid = Pid::from_raw(pid).ok_or(Errno::INVAL)?;
            Answer::Waited(Waited::from(parent.wait(pid)))
        }
        Ask::Tree(tree) => {
            let tree = parent.tree(&tree.other_children)?;
            Answer::Tree(FoundTree::from_iter(tree))
        }
        Ask::HasMember(ask) => Answer::Done(parent::has_member(ask.group, ask.session)?),
        Ask::Send(send) => {
            let process = ProcessIdentity { pid: send.pid, start: send.start };
            let signal = signal_from_number(send.signal).ok_or(Errno::INVAL)?;
            Answer::Sent(Sent::from(process.send(signal)?).into())
        }
        Ask::RemoveAtEnd(path) => {
            files.add(OsString::from_vec(path).into());
            Answer::Done(true)
        }
        Ask::RemoveFiles(_) => {
            files.remove();
            files.forget();
            Answer::Done(true)
        }
    })
}

/// Becomes readable when a child of this process exits.
pub(super) struct Exits(OwnedFd);

impl Exits {
    /// Waits for the next exit, up to a limit.
    pub(super) fn wait(&self, limit: Timespec) {
        // An error leaves nothing to wait for; the caller looks at the processes again.
        drop(wait(&mut [PollFd::new(&self.0, PollFlags::IN)], Some(&limit)));
        self.clear();
    }

    fn clear(&self) {
        let mut signals = [0; 1024];
        while rustix::io::read(&self.0, &mut signals).is_ok_and(|read| read == signals.len()) {}
    }
}

fn wait(ready: &mut [PollFd<'_>], limit: Option<&Timespec>) -> io::Result<()> {
    loop {
        match poll(ready, limit) {
            Ok(_) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}

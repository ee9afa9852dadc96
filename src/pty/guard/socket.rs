//! One end of the socket between coop and its guard process: messages with a length before them,
//! and descriptors beside them. It must not know what a message means.

use std::io::{self, IoSlice, IoSliceMut, Read as _, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use prost::Message;
use rustix::cmsg_space;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

/// The longest message. The kernel refuses longer arguments and environments anyway.
const LIMIT: usize = 64 << 20;

/// The length that stands before a message.
const PREFIX: usize = size_of::<u32>();

pub(super) struct Socket(UnixStream);

impl Socket {
    /// Two ends of one socket. Programs do not inherit them.
    pub(super) fn pair() -> io::Result<(Self, Self)> {
        let (one, other) = UnixStream::pair()?;
        Ok((Self(one), Self(other)))
    }

    /// Lets a read or write that makes no progress for so long fail.
    pub(super) fn set_timeout(&self, timeout: Duration) -> io::Result<()> {
        self.0.set_read_timeout(Some(timeout))?;
        self.0.set_write_timeout(Some(timeout))
    }

    pub(super) fn send(
        &mut self,
        message: &impl Message,
        descriptor: Option<BorrowedFd<'_>>,
    ) -> io::Result<()> {
        let body = message.encode_to_vec();
        let length = u32::try_from(body.len()).ok().filter(|_| body.len() <= LIMIT);
        let length = length.ok_or(io::ErrorKind::ArgumentListTooLong)?.to_be_bytes();
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
        let mut beside = SendAncillaryBuffer::new(&mut space);
        let descriptors: Vec<BorrowedFd<'_>> = descriptor.into_iter().collect();
        if !descriptors.is_empty() {
            beside.push(SendAncillaryMessage::ScmRights(&descriptors));
        }
        let sent = loop {
            let prefix = [IoSlice::new(&length)];
            match sendmsg(&self.0, &prefix, &mut beside, SendFlags::NOSIGNAL) {
                Ok(sent) => break sent,
                Err(rustix::io::Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        };
        self.0.write_all(length.get(sent..).unwrap_or_default())?;
        self.0.write_all(&body)
    }

    /// Waits for the next message; none if the other end is closed.
    pub(super) fn receive<M: Message + Default>(
        &mut self,
    ) -> io::Result<Option<(M, Option<OwnedFd>)>> {
        let mut length = [0; PREFIX];
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
        let mut beside = RecvAncillaryBuffer::new(&mut space);
        let received = loop {
            let mut prefix = [IoSliceMut::new(&mut length)];
            match recvmsg(&self.0, &mut prefix, &mut beside, RecvFlags::CMSG_CLOEXEC) {
                Ok(received) => break received.bytes,
                Err(rustix::io::Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        };
        if received == 0 {
            return Ok(None);
        }
        let mut descriptor = None;
        for message in beside.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                descriptor = descriptors.last().or(descriptor);
            }
        }
        self.0.read_exact(length.get_mut(received..).unwrap_or_default())?;
        let length = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
        if length > LIMIT {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut body = vec![0; length];
        self.0.read_exact(&mut body)?;
        Ok(Some((M::decode(body.as_slice()).map_err(io::Error::other)?, descriptor)))
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

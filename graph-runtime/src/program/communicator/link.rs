//! The connections of a rank to the ranks of other processes, by which they tell each other their events.
//!
//! Events of a rank arrive in the order in which they were put into the queue, under the lock of its world. They are
//! sent without that lock: a rank that waits until another one takes them still takes those of others.

use super::peer::Peer;
use super::rank_event::RankEvent;
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The connections, one to each other rank. Dropping them tells those that this rank has ended.
pub(crate) struct Link {
    queue: Mutex<VecDeque<Vec<u8>>>,
    streams: Mutex<Vec<TcpStream>>,
}

impl Link {
    /// Takes connections to other ranks. `take` gets the events of each, and `None` once there are no more; a rank to
    /// which nothing can be sent within the time has ended.
    pub(crate) fn new(
        connections: Vec<(usize, TcpStream)>,
        timeout: Duration,
        take: impl Fn(usize, Option<RankEvent>) + Clone + Send + 'static,
    ) -> io::Result<Self> {
        let mut streams = Vec::new();
        for (rank, stream) in connections {
            stream.set_nodelay(true)?;
            stream.set_read_timeout(None)?;
            // A time of zero is refused.
            stream.set_write_timeout(Some(timeout.max(Duration::from_millis(1))))?;
            let (mut reader, take) = (stream.try_clone()?, take.clone());
            streams.push(stream);
            let read = move || {
                while let Some(event) = receive(&mut reader) {
                    take(rank, Some(event));
                }
                take(rank, None);
            };
            thread::Builder::new().name(format!("rank {rank}")).spawn(read)?;
        }
        Ok(Self {
            queue: Mutex::default(),
            streams: Mutex::new(streams),
        })
    }

    /// Puts an event into the queue.
    pub(crate) fn put(&self, event: &RankEvent) {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.push_back(event.encode());
    }

    /// Sends all events in the queue.
    pub(crate) fn flush(&self) {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        let next = || self.queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        while let Some(event) = next() {
            let bytes = framed(&event);
            streams.retain_mut(|stream| {
                let is_sent = stream.write_all(&bytes).is_ok();
                if !is_sent {
                    // Its reader finds that too, so that nothing waits for the rank.
                    let _ = stream.shutdown(Shutdown::Both);
                }
                is_sent
            });
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.flush();
        let streams = self.streams.get_mut().unwrap_or_else(PoisonError::into_inner);
        for stream in streams {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

/// Tells a rank that others cannot go on, and why, before there is a link.
pub(crate) fn tell_failure(stream: &mut TcpStream, peer: &Peer) {
    let fail = RankEvent::fail(0, peer); // the group of all ranks
    // If the rank has ended meanwhile, nobody needs to know.
    let _ = stream.write_all(&framed(&fail.encode()));
}

/// The failure that a rank has told before there is a link, or that the rank has ended without a word. Nothing is taken
/// from the connection, on which events may have come.
pub(crate) fn failure_of(rank: usize, stream: &TcpStream) -> Option<Peer> {
    const MOST: usize = 4096;
    let mut bytes = [0; MOST];
    let _ = stream.set_nonblocking(true);
    let peeked = stream.peek(&mut bytes);
    let _ = stream.set_nonblocking(false);
    match peeked {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => None,
        Ok(0) | Err(_) => Some(Peer::new(
            rank,
            format!("rank {rank} has ended before all ranks had met"),
        )),
        Ok(len) => failure_in(&bytes[..len]),
    }
}

/// The failure among whole events at the beginning of these bytes.
fn failure_in(mut bytes: &[u8]) -> Option<Peer> {
    while let Some((len, rest)) = bytes.split_first_chunk() {
        let (event, rest) = rest.split_at_checked(u64::from_le_bytes(*len) as usize)?;
        if let Some(RankEvent::Fail { peer, .. }) = RankEvent::decode(event) {
            return Some(peer);
        }
        bytes = rest;
    }
    None
}

/// An encoded event as it is sent: its length and its bytes.
pub(super) fn framed(event: &[u8]) -> Vec<u8> {
    [&(event.len() as u64).to_le_bytes()[..], event].concat()
}

/// The next event; `None` if the other process has ended or sends something else.
pub(super) fn receive(stream: &mut TcpStream) -> Option<RankEvent> {
    let mut len = [0; 8];
    stream.read_exact(&mut len).ok()?;
    let len = u64::from_le_bytes(len);
    // Memory grows with what comes, not with what is announced.
    let mut bytes = Vec::new();
    stream.take(len).read_to_end(&mut bytes).ok()?;
    RankEvent::decode(&bytes)
}

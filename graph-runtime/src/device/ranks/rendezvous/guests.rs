//! Whoever connects to a rank that listens. Each guest is heard on a thread of its own, so that others who are slow, or
//! silent, do not keep ranks from joining. There is a limit to these threads: the guest that has been silent for the
//! longest time makes room for the next one.

use super::greeting::{Guest, Key, receive};
use std::collections::VecDeque;
use std::io;
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The number of guests that are heard at the same time, besides one for each rank.
const STRANGERS: usize = 64;

/// The guests of a rank. Dropping them closes the connections of those that have said nothing yet.
pub(super) struct Guests {
    key: Key,
    most: usize,
    /// The number of the next guest.
    next: u64,
    /// The guests that are heard, in the order in which they came.
    heard: VecDeque<Hearing>,
    sender: Sender<(u64, io::Result<Guest>)>,
    told: Receiver<(u64, io::Result<Guest>)>,
}

/// A guest that is heard.
struct Hearing {
    number: u64,
    stream: TcpStream,
    thread: JoinHandle<()>,
}

impl Guests {
    /// The guests of a job of so many ranks.
    pub(super) fn new(key: Key, ranks: usize) -> Self {
        let (sender, told) = mpsc::channel();
        Self {
            key,
            most: STRANGERS + ranks,
            next: 0,
            heard: VecDeque::new(),
            sender,
            told,
        }
    }

    /// Hears a guest. If there are too many, the one that came first is sent away: ranks speak at once.
    pub(super) fn hear(&mut self, stream: TcpStream) {
        while self.heard.len() >= self.most
            && let Some(silent) = self.heard.pop_front()
        {
            let _ = silent.stream.shutdown(Shutdown::Both);
            let _ = silent.thread.join();
        }
        let (sender, key, number) = (self.sender.clone(), self.key, self.next);
        // Without a thread, the connection is closed, and its rank tries again.
        let Ok(own) = stream.try_clone() else { return };
        let hear = move || drop(sender.send((number, receive(own, key))));
        if let Ok(thread) = thread::Builder::new().spawn(hear) {
            self.next += 1;
            self.heard.push_back(Hearing { number, stream, thread });
        }
    }

    /// Returns the next guest that has said who it is. Waits for so long.
    pub(super) fn next(&mut self, patience: Duration) -> Option<Guest> {
        let (number, guest) = self.told.recv_timeout(patience).ok()?;
        // One that was sent away has no connection any more.
        let place = self.heard.iter().position(|heard| heard.number == number)?;
        self.heard.remove(place);
        guest.ok()
    }
}

impl Drop for Guests {
    fn drop(&mut self) {
        for silent in self.heard.drain(..) {
            let _ = silent.stream.shutdown(Shutdown::Both);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::greeting::{MAGIC, numbers, read};
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;

    /// The longest time for which the tests wait.
    const PATIENCE: Duration = Duration::from_secs(30);

    #[test]
    fn silent_strangers_make_room() {
        let key = Key::of("secret", "job", 0);
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let mut guests = Guests::new(key, 2);
        let come = |guests: &mut Guests| {
            let stream = TcpStream::connect(address).unwrap();
            guests.hear(listener.accept().unwrap().0);
            stream
        };
        let mut strangers: Vec<TcpStream> = Vec::new();
        for _ in 0..2 * STRANGERS {
            strangers.push(come(&mut guests));
            assert!(guests.heard.len() <= STRANGERS + 2);
        }
        // The first one was sent away, within less time than a silent one has.
        let mut text = Vec::new();
        strangers[0].set_read_timeout(Some(PATIENCE)).unwrap();
        strangers[0].read_to_end(&mut text).unwrap();
        assert!(text.len() <= 16, "it is told nothing but the greeting");
        // A rank is heard beside all others.
        let mut rank = come(&mut guests);
        let [magic, other] = read(&mut rank).unwrap();
        assert_eq!(magic, MAGIC);
        let proof = key.hash(&[other, 7, 1, 2, 4000]);
        rank.write_all(&numbers(&[MAGIC, 7, 1, 2, 4000, proof])).unwrap();
        let guest = loop {
            // Guests that were sent away are told, too.
            if let Some(guest) = guests.next(PATIENCE) {
                break guest;
            }
        };
        assert!(guest.is_known);
        assert_eq!((guest.hello.rank, guest.hello.size, guest.hello.port), (1, 2, 4000));
        // Its connection stays when the others are sent away.
        drop(guests);
        strangers[2 * STRANGERS - 1].set_read_timeout(Some(PATIENCE)).unwrap();
        strangers[2 * STRANGERS - 1].read_to_end(&mut text).unwrap();
        let mut stream = guest.stream;
        stream.write_all(&numbers(&[0])).unwrap();
        assert_eq!(read(&mut rank).unwrap(), [0]);
    }
}

//! How the processes of a job find each other: over TCP, with a time limit for everything.
//!
//! Rank 0 listens at the address and the port that all know, or at one of the ports after that: `torchrun` uses the
//! port itself. The others connect to it, and each tells where it listens. Once all have come, rank 0 tells them where
//! all listen. Then each rank connects to those before it. So there is a connection between each two.
//!
//! On each connection, the one who listens speaks first, so that a rank which meets another program's port goes on to
//! the next. Both sides prove that they are of one job (`greeting.rs`): whoever does not know the secret neither joins,
//! nor keeps others from joining (`guests.rs`).

mod guests;
mod greeting;

use super::launcher::Launched;
use crate::error::{Error, Result, Site};
use crate::program::communicator::link::{failure_of, tell_failure};
use crate::program::communicator::peer::Peer;
use greeting::{Hello, Key, MAGIC, numbers, random, read};
use guests::Guests;
use std::collections::BTreeSet;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The number of ports at which rank 0 may listen.
const PORTS: u16 = 16;
/// The time for which a program on a port may be silent, before a rank tries the next port.
const SILENCE: Duration = Duration::from_millis(500);
/// The longest time that a message of a rank takes that is alive, on a busy machine: only a machine that is gone, and
/// does not close its connections, takes longer.
const DELAY: Duration = Duration::from_secs(60);
/// The time between two attempts.
const PAUSE: Duration = Duration::from_millis(5);

/// The answers of the one who listens.
const WELCOME: u64 = 0;
const OTHER_JOB: u64 = 1;
const OTHER_SIZE: u64 = 2;
const TWICE: u64 = 3;

/// The most bytes of what rank 0 tells all.
const MAX_TABLE: u64 = 1 << 20;

/// A connection to another rank.
type Connection = (usize, TcpStream);

/// Joins all processes. Returns a connection to each other rank.
pub(super) fn join(launched: &Launched, timeout: Duration) -> Result<Vec<Connection>> {
    // Communicators are made in one order by all processes.
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let job = Job {
        launched,
        number: COUNT.fetch_add(1, Ordering::Relaxed),
        timeout,
        deadline: deadline(timeout),
    };
    if launched.rank == 0 { job.lead() } else { job.follow() }
}

/// The job that processes join.
struct Job<'a> {
    launched: &'a Launched,
    /// The number of the communicator in the process.
    number: u64,
    timeout: Duration,
    deadline: Instant,
}

/// The reason why there is no connection yet.
enum Refusal {
    /// Later, or at another port, there may be one.
    Retry(String),
    /// The same; the reason is what the one who listens says.
    Told(String),
    Final(Error),
}

impl Job<'_> {
    /// Rank 0: waits for all others, and tells them where each listens.
    fn lead(&self) -> Result<Vec<Connection>> {
        let listener = self.listen()?;
        let place = listener
            .local_addr()
            .map_or_else(|_| self.place(), |address| address.to_string());
        let mut table = vec![None; self.launched.size];
        let joined = self.accept(&listener, 1..self.launched.size, &[], |hello, address| {
            table[hello.rank] = Some(SocketAddr::new(address, hello.port));
        });
        let (mut streams, missing) = joined?;
        let told = match self.absent(&missing, &place) {
            None => {
                let lines = table
                    .iter()
                    .map(|address| address.map_or(String::new(), |address| address.to_string()));
                (WELCOME, lines.collect::<Vec<_>>().join("\n"))
            }
            Some(ref peer) => (peer.rank as u64, peer.message.clone()),
        };
        for (_, stream) in &mut streams {
            let len = told.1.len() as u64;
            let bytes = [&numbers(&[told.0, len])[..], told.1.as_bytes()].concat();
            // A rank that has ended meanwhile is found by its connection.
            let _ = stream.write_all(&bytes);
        }
        match self.absent(&missing, &place) {
            None => Ok(streams),
            Some(peer) => Err(peer.at(Site::default())),
        }
    }

    /// Other ranks: connect to rank 0, and then to each other.
    fn follow(&self) -> Result<Vec<Connection>> {
        let (mut first, listener) = self.connect(0, || self.ports(), None, &[])?;
        let table = self.read_table(&mut first)?;
        // All have come. For whoever came early, the time until then does not count twice.
        Job {
            deadline: deadline(self.timeout),
            ..*self
        }
        .meet_others(first, &table, &listener)
    }

    /// Ranks other than rank 0 connect to each other. `table` says where each listens. A rank that cannot go on tells
    /// those that it has met, so that none takes its end for the reason.
    fn meet_others(&self, first: TcpStream, table: &[SocketAddr], listener: &TcpListener) -> Result<Vec<Connection>> {
        let mut met = vec![(0, first)];
        let all = self.meet(&mut met, table, listener);
        if let Err(Error::Peer { rank, message, .. }) = &all {
            let peer = Peer::new(*rank, message.clone());
            met.iter_mut().for_each(|(_, stream)| tell_failure(stream, &peer));
        }
        all.map(|()| met)
    }

    fn meet(&self, met: &mut Vec<Connection>, table: &[SocketAddr], listener: &TcpListener) -> Result<()> {
        let Launched { rank, size, .. } = *self.launched;
        for (other, place) in table.iter().enumerate().take(rank).skip(1) {
            let place = || std::iter::once((place.ip().to_string(), place.port()));
            let (stream, _) = self.connect(other, place, Some(listener), met)?;
            met.push((other, stream));
        }
        let (guests, missing) = self.accept(listener, rank + 1..size, met, |_, _| ())?;
        let place = listener
            .local_addr()
            .map_or_else(|_| self.place(), |address| address.to_string());
        if let Some(peer) = self.absent(&missing, &place) {
            return Err(peer.at(Site::default()));
        }
        met.extend(guests);
        Ok(())
    }

    /// The address of rank 0 with each port at which it may listen.
    fn ports(&self) -> impl Iterator<Item = (String, u16)> {
        let Launched { address, port, .. } = self.launched;
        (*port..=port.saturating_add(PORTS - 1)).map(|port| (address.clone(), port))
    }

    /// The address and the first port of rank 0, in words.
    fn place(&self) -> String {
        let Launched { address, port, .. } = self.launched;
        format!("{address}:{port}")
    }

    /// Listens at the first port that is free.
    fn listen(&self) -> Result<TcpListener> {
        let Launched { address, port, .. } = self.launched;
        let mut last = None;
        for port in *port..=port.saturating_add(PORTS - 1) {
            let bound = TcpListener::bind((&**address, port)).or_else(|error| match error.kind() {
                // A name of this machine that others know, and that none of its interfaces has.
                ErrorKind::AddrNotAvailable => TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)),
                _ => Err(error),
            });
            match bound {
                Ok(listener) => return Ok(listener),
                Err(error) => last = Some(error),
            }
        }
        let reason = last.map_or_else(String::new, |error| error.to_string());
        let (place, ports) = (self.place(), PORTS - 1);
        failed(format!(
            "rank 0 cannot listen at {place} (`MASTER_ADDR` and `MASTER_PORT`), nor at the {ports} ports after that: {reason}"
        ))
    }

    /// Waits for these ranks. Returns their connections, and those that have not come in time. Fails if one that was
    /// met before cannot go on.
    fn accept(
        &self,
        listener: &TcpListener,
        ranks: std::ops::Range<usize>,
        met: &[Connection],
        mut came: impl FnMut(Hello, IpAddr),
    ) -> Result<(Vec<Connection>, Vec<usize>)> {
        let mut missing: BTreeSet<usize> = ranks.collect();
        let mut streams = Vec::new();
        let mut guests = Guests::new(self.key(), self.launched.size);
        let set = listener.set_nonblocking(true);
        set.or_else(|error| failed(format!("the port cannot be waited for: {error}")))?;
        while !missing.is_empty() && Instant::now() < self.deadline {
            let patience = match listener.accept() {
                Ok((stream, _)) => {
                    guests.hear(stream);
                    Duration::ZERO
                }
                Err(_) => PAUSE,
            };
            let Some(mut guest) = guests.next(patience) else {
                go_on(met)?;
                continue;
            };
            let hello = guest.hello;
            let answer = match guest.is_known {
                false => OTHER_JOB,
                true if hello.size != self.launched.size => OTHER_SIZE,
                true if missing.contains(&hello.rank) => WELCOME,
                true => TWICE,
            };
            let [own, other] = guest.numbers;
            let proof = self.key().hash(&[other, own, answer]);
            let address = guest.stream.peer_addr();
            let is_told = guest.stream.write_all(&numbers(&[answer, proof])).is_ok();
            if let (WELCOME, true, Ok(address)) = (answer, is_told, address) {
                missing.remove(&hello.rank);
                came(hello, address.ip());
                streams.push((hello.rank, guest.stream));
            }
        }
        Ok((streams, missing.into_iter().collect()))
    }

    /// Connects to a rank, at one of some places. Returns the connection, and the port at which this rank listens: that
    /// is `listener`, or a new one. Fails if a rank that was met before cannot go on.
    fn connect<I: Iterator<Item = (String, u16)>>(
        &self,
        rank: usize,
        places: impl Fn() -> I,
        listener: Option<&TcpListener>,
        met: &[Connection],
    ) -> Result<(TcpStream, TcpListener)> {
        let (mut last, mut told) = (String::new(), None);
        loop {
            for (address, port) in places() {
                match self.try_connect((&address, port), listener) {
                    Ok(connected) => return Ok(connected),
                    Err(Refusal::Final(error)) => return Err(error),
                    Err(Refusal::Retry(reason)) => last = reason,
                    Err(Refusal::Told(reason)) => told = Some(reason),
                }
            }
            go_on(met)?;
            if Instant::now() >= self.deadline {
                let (place, timeout, last) = (self.place(), self.timeout, told.unwrap_or(last));
                let message = format!(
                    "rank {rank} does not answer within {timeout:?} (rank 0 listens at {place}, `MASTER_ADDR` and \
                     `MASTER_PORT`, or at a port after that): {last}"
                );
                return Err(Peer::new(rank, message).at(Site::default()));
            }
            thread::sleep(PAUSE * 4);
        }
    }

    fn try_connect(
        &self,
        (address, port): (&str, u16),
        listener: Option<&TcpListener>,
    ) -> Result<(TcpStream, TcpListener), Refusal> {
        let retry = |error: &dyn std::fmt::Display| Refusal::Retry(format!("{address}:{port}: {error}"));
        let io = |error: io::Error| retry(&error);
        let mut found = (address, port).to_socket_addrs().map_err(io)?;
        let found = found.next().ok_or_else(|| retry(&"the name has no address"))?;
        let mut stream = TcpStream::connect_timeout(&found, self.left().min(Duration::from_secs(2))).map_err(io)?;
        let listener = match listener {
            Some(listener) => listener.try_clone(),
            None => stream.local_addr().and_then(|own| TcpListener::bind((own.ip(), 0))),
        };
        let listener = listener.map_err(io)?;
        let own_port = listener.local_addr().map_err(io)?.port();
        stream.set_read_timeout(Some(SILENCE)).map_err(io)?;
        let [magic, other] = read(&mut stream).map_err(io)?;
        if magic != MAGIC {
            return Err(Refusal::Told(format!(
                "{address}:{port}: another program listens there"
            )));
        }
        let Launched { rank, size, .. } = *self.launched;
        let own = random();
        let said = [rank as u64, size as u64, own_port.into()];
        let proof = self.key().hash(&[&[other, own][..], &said].concat());
        let hello = [&[MAGIC, own][..], &said, &[proof]].concat();
        stream.write_all(&numbers(&hello)).map_err(io)?;
        stream.set_read_timeout(Some(self.left())).map_err(io)?;
        let [answer, proof] = read(&mut stream).map_err(io)?;
        if answer == OTHER_JOB || proof != self.key().hash(&[own, other, answer]) {
            return Err(Refusal::Told(format!(
                "{address}:{port}: there is another job, or one with another `CUDA_GRAPH_SECRET`"
            )));
        }
        let refuse = |message: String| Err(Refusal::Final(Error::Launcher { message }));
        match answer {
            WELCOME => Ok((stream, listener)),
            OTHER_SIZE => refuse(format!(
                "this rank is told that there are {size} processes, and rank 0 another number: the variables of the \
                 launcher differ"
            )),
            _ => refuse(format!(
                "there is another rank {rank}: the launcher has given two processes one number"
            )),
        }
    }

    /// Reads where all ranks listen.
    fn read_table(&self, stream: &mut TcpStream) -> Result<Vec<SocketAddr>> {
        // Rank 0 has begun to wait before it has answered this rank, and always says how that ends.
        let _ = stream.set_read_timeout(Some(
            deadline(self.timeout.saturating_add(DELAY)).saturating_duration_since(Instant::now()),
        ));
        let told = read(stream).and_then(|[rank, len]| {
            let mut text = String::new();
            stream.take(len.min(MAX_TABLE)).read_to_string(&mut text)?;
            match text.len() as u64 == len {
                true => Ok((rank, text)),
                false => Err(ErrorKind::UnexpectedEof.into()),
            }
        });
        let ended = |_| Peer::new(0, "rank 0 has ended before all ranks had come").at(Site::default());
        let (rank, text) = told.map_err(ended)?;
        if rank != WELCOME {
            return Err(Peer::new(rank as usize, text).at(Site::default()));
        }
        let unknown = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
        Ok(text.split('\n').map(|line| line.parse().unwrap_or(unknown)).collect())
    }

    /// The failure that ranks have not come; `None` if all have.
    fn absent(&self, missing: &[usize], place: &str) -> Option<Peer> {
        (!missing.is_empty()).then(|| Peer::late(missing, place, self.timeout))
    }

    /// The time that is left; more than none, which sockets do not take.
    fn left(&self) -> Duration {
        let left = self.deadline.saturating_duration_since(Instant::now());
        left.max(Duration::from_millis(1))
    }

    fn key(&self) -> Key {
        let Launched { secret, job, .. } = self.launched;
        Key::of(secret, job, self.number)
    }
}

/// Fails if one of these ranks tells a failure, or has ended.
fn go_on(met: &[Connection]) -> Result<()> {
    let failed = met.iter().find_map(|(rank, stream)| failure_of(*rank, stream));
    failed.map_or(Ok(()), |peer| Err(peer.at(Site::default())))
}

/// The time after so long a wait that begins now.
fn deadline(timeout: Duration) -> Instant {
    Instant::now() + timeout.min(Duration::from_secs(1 << 30))
}

fn failed<T>(message: String) -> Result<T> {
    Err(Error::Launcher { message })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    /// Rank 1 ends once rank 3 has met it, and before rank 2 does, for which rank 3 waits.
    #[test]
    fn the_rank_that_ends_is_named_and_not_one_that_waits_for_it() {
        let port = TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr());
        let port = port.unwrap().port().min(u16::MAX - PORTS);
        let secret = random().to_string();
        let all = [0, 1, 2, 3].map(|rank| Launched {
            rank,
            size: 4,
            address: "127.0.0.1".to_owned(),
            port,
            job: "ends".to_owned(),
            secret: secret.clone(),
        });
        let [first, second, third, last] = all.each_ref().map(|launched| Job {
            launched,
            number: 0,
            timeout: Duration::from_secs(20),
            deadline: deadline(Duration::from_secs(20)),
        });
        let (ended, has_ended) = mpsc::channel();
        thread::scope(|scope| {
            let first = scope.spawn(move || first.lead());
            scope.spawn(move || {
                let (mut stream, listener) = second.connect(0, || second.ports(), None, &[]).unwrap();
                second.read_table(&mut stream).unwrap();
                second.accept(&listener, 3..4, &[], |_, _| ()).unwrap();
                ended.send(()).unwrap();
            });
            let third = scope.spawn(move || {
                let (mut stream, listener) = third.connect(0, || third.ports(), None, &[]).unwrap();
                let table = third.read_table(&mut stream).unwrap();
                has_ended.recv().unwrap();
                let hurried = Job {
                    deadline: Instant::now(),
                    ..third
                };
                hurried.meet_others(stream, &table, &listener)
            });
            let last = scope.spawn(move || last.follow()).join().unwrap();
            for failed in [last, third.join().unwrap()] {
                assert!(matches!(failed, Err(Error::Peer { rank: 1, .. })), "{failed:?}");
            }
            // Rank 0 has met all, and is told.
            for (rank, stream) in first.join().unwrap().unwrap().iter().filter(|(rank, _)| *rank > 1) {
                assert_eq!(failure_of(*rank, stream).map(|peer| peer.rank), Some(1));
            }
        });
    }
}

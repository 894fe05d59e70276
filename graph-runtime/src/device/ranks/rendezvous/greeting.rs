//! The first words on a connection: who each side is, and the proofs that both know the secret of one job, which are
//! hashes with a key (`SipHash`) of numbers that the other side has chosen.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// The first number on each connection.
pub(super) const MAGIC: u64 = u64::from_le_bytes(*b"cugraph1");

/// The facts that a rank tells of itself.
#[derive(Clone, Copy)]
pub(super) struct Hello {
    pub(super) rank: usize,
    pub(super) size: usize,
    /// The port at which it listens.
    pub(super) port: u16,
}

/// A rank that has connected to this one.
pub(super) struct Guest {
    pub(super) hello: Hello,
    pub(super) stream: TcpStream,
    /// The numbers that both sides have chosen.
    pub(super) numbers: [u64; 2],
    pub(super) is_known: bool,
}

/// The key of a job.
#[derive(Clone, Copy)]
pub(super) struct Key([u64; 2]);

impl Key {
    /// The key of the communicator that has this number in each process of a job.
    pub(super) fn of(secret: &str, job: &str, number: u64) -> Self {
        let half = |number: u64| Key([number, !number]).hash_all(secret.as_bytes(), &[]);
        let key = Key([half(1), half(2)]);
        Key([1, 2].map(|half| key.hash_all(job.as_bytes(), &[number, half])))
    }

    pub(super) fn hash(self, numbers: &[u64]) -> u64 {
        self.hash_all(&[], numbers)
    }

    #[expect(
        deprecated,
        reason = "the algorithm is this one in all versions of the standard library"
    )]
    fn hash_all(self, text: &[u8], all: &[u64]) -> u64 {
        let mut hasher = std::hash::SipHasher::new_with_keys(self.0[0], self.0[1]);
        hasher.write(text);
        hasher.write(&numbers(all));
        hasher.finish()
    }
}

/// Greets a rank that has connected, and hears who it is.
pub(super) fn receive(mut stream: TcpStream, key: Key) -> io::Result<Guest> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    stream.set_write_timeout(Some(Duration::from_secs(5)))?;
    let own = random();
    stream.write_all(&numbers(&[MAGIC, own]))?;
    let [magic, other, rank, size, port, proof] = read(&mut stream)?;
    let port_number = u16::try_from(port).unwrap_or_default();
    let expected = key.hash(&[own, other, rank, size, port]);
    Ok(Guest {
        hello: Hello {
            rank: rank as usize,
            size: size as usize,
            port: port_number,
        },
        stream,
        numbers: [own, other],
        is_known: magic == MAGIC && proof == expected,
    })
}

/// A number that nobody can guess.
pub(super) fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

pub(super) fn numbers(all: &[u64]) -> Vec<u8> {
    all.iter().flat_map(|number| number.to_le_bytes()).collect()
}

pub(super) fn read<const N: usize>(stream: &mut TcpStream) -> io::Result<[u64; N]> {
    let mut numbers = [0; N];
    for number in &mut numbers {
        let mut bytes = [0; 8];
        stream.read_exact(&mut bytes)?;
        *number = u64::from_le_bytes(bytes);
    }
    Ok(numbers)
}

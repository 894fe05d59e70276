//! Communicators of NCCL's, whose ranks are threads of one process: the host carries the data of their collectives.

use crate::code::{Done, fail};
use crate::log;
use crate::work::{Copy, Task};
use half::{bf16, f16};
use std::collections::HashMap;
use std::ops::{Add, Mul};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// `ncclResult_t`
pub(crate) const INVALID_ARGUMENT: u32 = 4;
pub(crate) const INVALID_USAGE: u32 = 5;
pub(crate) const IN_PROGRESS: u32 = 7;

/// The time after which the log tells that a communicator waits for graphs.
const PATIENCE: Duration = Duration::from_secs(5);

/// `ncclUniqueId`
pub(crate) type Id = [u8; 128];

/// A communicator: a rank of a group.
pub(crate) struct Comm {
    group: Arc<Group>,
    pub(crate) rank: usize,
    /// The number of collectives that this rank has run.
    next: AtomicU64,
    is_aborted: AtomicBool,
}

/// The ranks that were given one number.
struct Group {
    ranks: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The number of ranks that have come.
    came: usize,
    /// The collectives that ranks are at, by their numbers.
    rounds: HashMap<u64, Round>,
}

/// The bytes that each rank gives to a collective, with that in words, and the number of ranks that have taken them.
struct Round {
    given: Vec<Option<(String, Arc<[u8]>)>>,
    taken: usize,
}

/// A rank of a group moves memory, or combines that of all: what a node does.
pub(crate) struct Collective {
    pub(crate) comm: Arc<Comm>,
    pub(crate) kind: Kind,
}

pub(crate) enum Kind {
    /// Combines this many numbers of a type by an operation.
    AllReduce {
        from: usize,
        to: usize,
        count: usize,
        number: u32,
        operation: u32,
    },
    ReduceScatter {
        from: usize,
        to: usize,
        count: usize,
        number: u32,
        operation: u32,
    },
    AllGather {
        from: usize,
        to: usize,
        bytes: usize,
    },
    Broadcast {
        from: usize,
        to: usize,
        bytes: usize,
        root: usize,
    },
    /// Addresses, bytes and ranks.
    Exchange {
        sends: Vec<(usize, usize, usize)>,
        receives: Vec<(usize, usize, usize)>,
    },
}

#[derive(Default)]
struct Known {
    last: usize,
    groups: HashMap<Id, Arc<Group>>,
    comms: HashMap<usize, Arc<Comm>>,
}

fn known() -> MutexGuard<'static, Known> {
    static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A number for a group.
pub(crate) fn unique_id() -> Id {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let mut id = [0; 128];
    id[..8].copy_from_slice(&(LAST.fetch_add(1, SeqCst) + 1).to_le_bytes());
    id
}

/// Makes the communicator of a rank. Returns its handle.
pub(crate) fn join(id: Id, rank: usize, ranks: usize) -> Done<usize> {
    let mut known = known();
    let new = || {
        Arc::new(Group {
            ranks,
            state: Mutex::default(),
            changed: Condvar::new(),
        })
    };
    let group = known.groups.entry(id).or_insert_with(new).clone();
    if rank >= ranks || group.ranks != ranks {
        return fail(INVALID_ARGUMENT, format!("there is no rank {rank} of {ranks}"));
    }
    group.state().came += 1;
    known.last += 0x100;
    let handle = known.last;
    let comm = Comm {
        group,
        rank,
        next: AtomicU64::new(0),
        is_aborted: AtomicBool::new(false),
    };
    known.comms.insert(handle, Arc::new(comm));
    Ok(handle)
}

/// A communicator by its handle.
pub(crate) fn comm(handle: usize) -> Done<Arc<Comm>> {
    match known().comms.get(&handle) {
        Some(comm) => Ok(comm.clone()),
        None => fail(INVALID_ARGUMENT, format!("{handle:#x} is no communicator")),
    }
}

/// Frees a communicator when no graph has a collective of it any more, as NCCL does. If it is aborted, its collectives
/// end first.
pub(crate) fn free(handle: usize, aborts: bool) -> Done {
    let comm = comm(handle)?;
    if aborts {
        comm.is_aborted.store(true, SeqCst);
        drop(comm.group.state());
        comm.group.changed.notify_all();
    }
    known().comms.remove(&handle);
    let (begin, mut is_told) = (Instant::now(), false);
    while Arc::strong_count(&comm) > 1 {
        if begin.elapsed() > PATIENCE && !is_told {
            log::tell("a communicator of NCCL's waits for graphs that have its collectives");
            is_told = true;
        }
        thread::sleep(Duration::from_micros(200));
    }
    Ok(())
}

impl Group {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Comm {
    pub(crate) fn size(&self) -> usize {
        self.group.ranks
    }

    /// Whether all ranks have come.
    pub(crate) fn is_ready(&self) -> bool {
        self.group.state().came == self.group.ranks
    }

    /// Gives bytes to a collective, and returns those of all ranks; `None` if the communicator was aborted. Ranks that
    /// run different collectives wait for ever, as they may with NCCL.
    fn meet(&self, what: String, given: Vec<u8>) -> Option<Vec<Arc<[u8]>>> {
        let number = self.next.fetch_add(1, SeqCst);
        let ranks = self.group.ranks;
        let mut state = self.group.state();
        let new = || Round {
            given: vec![None; ranks],
            taken: 0,
        };
        let round = state.rounds.entry(number).or_insert_with(new);
        round.given[self.rank] = Some((what, given.into()));
        self.group.changed.notify_all();
        loop {
            if self.is_aborted.load(SeqCst) {
                return None;
            }
            let round = state.rounds.get_mut(&number)?;
            let all: Option<Vec<(String, Arc<[u8]>)>> = round.given.iter().cloned().collect();
            if let Some(all) = all.filter(|all| all.iter().all(|(what, _)| *what == all[0].0)) {
                round.taken += 1;
                if round.taken == ranks {
                    state.rounds.remove(&number);
                }
                return Some(all.into_iter().map(|(_, given)| given).collect());
            }
            state = self.group.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Reads device memory.
fn read(address: usize, bytes: usize) -> Done<Vec<u8>> {
    let mut found = vec![0_u8; bytes];
    if bytes > 0 {
        Copy::of_bytes(found.as_mut_ptr().expose_provenance(), true, address, false, bytes).run()?;
    }
    Ok(found)
}

/// Writes device memory.
fn write(address: usize, bytes: &[u8]) -> Done {
    match bytes.len() {
        0 => Ok(()),
        len => Copy::of_bytes(address, false, bytes.as_ptr().expose_provenance(), true, len).run(),
    }
}

impl Task for Collective {
    /// Does what the node does. Nothing, if the communicator is aborted meanwhile.
    fn run(&self) -> Done {
        let (comm, rank) = (&self.comm, self.comm.rank);
        match &self.kind {
            Kind::AllReduce {
                from,
                to,
                count,
                number,
                operation,
            } => {
                let given = read(*from, count * size(*number))?;
                match comm.meet(format!("all_reduce {count} {number} {operation}"), given) {
                    Some(all) => {
                        let all: Vec<&[u8]> = all.iter().map(|all| &**all).collect();
                        write(*to, &combine(*number, *operation, &all))
                    }
                    None => Ok(()),
                }
            }
            Kind::ReduceScatter {
                from,
                to,
                count,
                number,
                operation,
            } => {
                let row = count * size(*number);
                let given = read(*from, row * comm.size())?;
                let all = comm.meet(format!("reduce_scatter {count} {number} {operation}"), given);
                let Some(all) = all else { return Ok(()) };
                let rows: Vec<&[u8]> = all.iter().map(|all| &all[rank * row..][..row]).collect();
                write(*to, &combine(*number, *operation, &rows))
            }
            Kind::AllGather { from, to, bytes } => {
                match comm.meet(format!("all_gather {bytes}"), read(*from, *bytes)?) {
                    Some(all) => write(*to, &all.concat()),
                    None => Ok(()),
                }
            }
            Kind::Broadcast { from, to, bytes, root } => {
                let given = if rank == *root {
                    read(*from, *bytes)?
                } else {
                    Vec::new()
                };
                match comm.meet(format!("broadcast {bytes} {root}"), given) {
                    Some(all) => write(*to, &all[*root]),
                    None => Ok(()),
                }
            }
            Kind::Exchange { sends, receives } => {
                let mut given = Vec::new();
                for (address, bytes, peer) in sends {
                    given.extend(peer.to_le_bytes());
                    given.extend(bytes.to_le_bytes());
                    given.extend(read(*address, *bytes)?);
                }
                let Some(all) = comm.meet("exchange".to_owned(), given) else {
                    return Ok(());
                };
                let mut sent: Vec<Vec<Vec<u8>>> = all.iter().map(|all| sent_to(rank, all)).collect();
                for (address, bytes, peer) in receives {
                    if sent[*peer].is_empty() || sent[*peer][0].len() != *bytes {
                        return fail(INVALID_USAGE, "a rank does not send what another one receives");
                    }
                    write(*address, &sent[*peer].remove(0))?;
                }
                Ok(())
            }
        }
    }
}

/// The part for a rank, of all that another one sends.
fn sent_to(rank: usize, mut given: &[u8]) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    while let Some((peer, rest)) = given.split_first_chunk::<8>()
        && let Some((bytes, rest)) = rest.split_first_chunk::<8>()
    {
        let (sent, rest) = rest.split_at(usize::from_le_bytes(*bytes));
        if usize::from_le_bytes(*peer) == rank {
            found.push(sent.to_vec());
        }
        given = rest;
    }
    found
}

/// The bytes of a number of a type (`ncclDataType_t`).
fn size(number: u32) -> usize {
    match number {
        0 | 1 => 1,
        6 | 9 => 2,
        2 | 3 | 7 => 4,
        _ => 8,
    }
}

/// Combines the numbers of all ranks by an operation (`ncclRedOp_t`).
fn combine(number: u32, operation: u32, all: &[&[u8]]) -> Vec<u8> {
    macro_rules! combined {
        ($type:ident, $add:ident, $multiply:ident, $count:expr) => {{
            let two = |a: $type, b: $type| match operation {
                1 => a.$multiply(b),
                2 => a.max(b),
                3 => a.min(b),
                _ => a.$add(b),
            };
            let share = |sum: $type| if operation == 4 { sum / $count } else { sum };
            fold(all, $type::from_le_bytes, two, |all| share(all).to_le_bytes())
        }};
    }
    let ranks = all.len();
    match number {
        0 => combined!(i8, wrapping_add, wrapping_mul, ranks as i8),
        1 => combined!(u8, wrapping_add, wrapping_mul, ranks as u8),
        2 => combined!(i32, wrapping_add, wrapping_mul, ranks as i32),
        3 => combined!(u32, wrapping_add, wrapping_mul, ranks as u32),
        4 => combined!(i64, wrapping_add, wrapping_mul, ranks as i64),
        5 => combined!(u64, wrapping_add, wrapping_mul, ranks as u64),
        6 => combined!(f16, add, mul, f16::from_f64(ranks as f64)),
        7 => combined!(f32, add, mul, ranks as f32),
        8 => combined!(f64, add, mul, ranks as f64),
        _ => combined!(bf16, add, mul, bf16::from_f64(ranks as f64)),
    }
}

/// Combines numbers of so many bytes, each of the first rank's with those of the others, in the order of ranks.
fn fold<T, const BYTES: usize>(
    all: &[&[u8]],
    of: impl Fn([u8; BYTES]) -> T,
    two: impl Fn(T, T) -> T,
    last: impl Fn(T) -> [u8; BYTES],
) -> Vec<u8> {
    let count = all.first().map_or(0, |first| first.len() / BYTES);
    let mut combined = Vec::with_capacity(count * BYTES);
    for index in 0..count {
        let numbers = all
            .iter()
            .map(|part| of(std::array::from_fn(|byte| part[index * BYTES + byte])));
        combined.extend(numbers.reduce(&two).map(&last).into_iter().flatten());
    }
    combined
}

//! Communicators: some ranks, of which each runs the same graphs on a device of its own, and that take part in
//! collectives together. Ranks are threads of one process, or processes. On the emulator, they meet in collectives; on
//! GPUs, their kernels do.
//!
//! `meeting.rs` has the meetings, `meeting/state.rs` what a world knows of them, and `peer.rs` the reasons why one may
//! fail; `rank_event.rs` and `link.rs` tell other processes of them; `seat.rs` has the part that a built graph takes in
//! them; `station.rs` the memory by which kernels meet; `transport.rs` the choice of what carries the data, and
//! `launches.rs` the launches on which ranks agree if that is NCCL; `number.rs` the arithmetic; `call.rs` a collective
//! as data.

pub(crate) mod seat;
pub(crate) mod call;
pub(crate) mod meeting;
pub(crate) mod link;
pub(crate) mod rank_event;
mod transport;
mod launches;
pub(crate) mod station;
pub(crate) mod number;
pub(crate) mod peer;

use crate::error::{Error, Result, Site};
use launches::Launches;
use meeting::{Watched, World};
use peer::Peer;
use rank_event::{Key, Seated};
use station::{Carrier, Elsewhere, RankDevice, Station};
use std::fmt;
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
pub use transport::{CommunicatorOptions, Transport};

/// Some ranks that take part in collectives together: `all_reduce`, `all_gather`, `reduce_scatter`, `broadcast` and
/// `exchange`. Each rank has a communicator of its own, for its device, and builds the same graph with it.
///
/// A clone is another handle to the same. A graph keeps its communicators. If a rank drops all of its handles, with the
/// graphs that keep one, the others get an error instead of waiting for it.
///
/// ```
/// use graph_runtime::{Communicator, Device, GraphBuilder, Reduction};
///
/// let devices = Device::emulators(3);
/// let ranks = Communicator::local(&devices)?;
/// let run = |device: &Device, world: &Communicator| {
///     let mut builder = GraphBuilder::new(device, "Sum");
///     let mut x = builder.device::<[f32; 4]>("x");
///     let set = builder.memset("set", &mut x, world.rank() as f32);
///     let sum = builder.all_reduce("sum", Reduction::Sum, &mut x, world);
///     builder.after(sum, &[set]);
///     let mut graph = builder.build()?;
///     graph.launch()?;
///     assert_eq!(*graph.device(&x)?.read()?, [3.0; 4]); // 0 + 1 + 2
///     Ok::<(), graph_runtime::Error>(())
/// };
/// std::thread::scope(|scope| {
///     let threads = devices.iter().zip(&ranks).map(|(device, world)| scope.spawn(move || run(device, world)));
///     let threads: Vec<_> = threads.collect();
///     threads.into_iter().try_for_each(|thread| thread.join().unwrap())
/// })?;
/// # Ok::<(), graph_runtime::Error>(())
/// ```
#[derive(Clone)]
pub struct Communicator(pub(crate) Arc<Member>);

/// The first bytes that a rank gives when it splits a communicator. Those of a rank that builds a graph are others.
const SPLIT: &[u8] = b"split\n";

/// The card of a GPU whose memory no other process opens.
const NCCL_CARD: &[u8] = b"nccl";

/// The bytes that all ranks have given, in the order of ranks.
pub(crate) type Given = Arc<Vec<Vec<u8>>>;

/// One rank of a communicator.
pub(crate) struct Member {
    pub(crate) world: Arc<World>,
    /// The number of the group, which is the same on all of its ranks.
    pub(crate) group: u64,
    /// The meetings at which the world was split, one after the other. They are the same on all ranks of the world that
    /// have made this communicator.
    pub(crate) splits: Vec<u64>,
    /// The rank in the group.
    pub(crate) rank: usize,
    /// For each rank of the group, its rank in the world that the group is of.
    pub(crate) members: Arc<[usize]>,
    pub(crate) device: Arc<dyn RankDevice>,
    /// The stations of all ranks of the group; none where the host meets for them.
    pub(crate) stations: Arc<[Arc<dyn Station>]>,
    /// What carries the data, if there are stations.
    carrier: Carrier,
    /// The number of meetings of the host so far.
    host_meetings: AtomicU64,
    /// The launches that the ranks have agreed on: only where NCCL carries the data.
    launches: Mutex<Launches>,
}

impl Communicator {
    /// One communicator for each device, which together are a world. At most `sharing` ranks are one GPU.
    pub(crate) fn world(
        devices: Vec<Arc<dyn RankDevice>>,
        (sharing, carrier): (usize, Carrier),
        options: CommunicatorOptions,
    ) -> Result<Vec<Self>> {
        let stations = devices.iter().filter_map(|device| device.station(carrier).transpose());
        let stations: Arc<[Arc<dyn Station>]> = stations.collect::<Result<_>>()?;
        let (world, group) = World::new(devices.len(), sharing, options.timeout, &stations);
        let members: Arc<[usize]> = (0..devices.len()).collect();
        let ranks = devices.into_iter().enumerate();
        let member = |(rank, device)| Member {
            world: world.clone(),
            group,
            splits: Vec::new(),
            rank,
            members: members.clone(),
            device,
            stations: stations.clone(),
            carrier,
            host_meetings: AtomicU64::new(0),
            launches: Mutex::default(),
        };
        let all: Vec<Self> = ranks.map(member).map(|member| Self(Arc::new(member))).collect();
        if let Some(first) = all.first().filter(|first| first.is_by_nccl()) {
            let id = first.0.device.nccl_id()?;
            all.iter().try_for_each(|one| one.0.join(&id))?;
            all.iter().try_for_each(|one| one.0.joined())?;
        }
        Ok(all)
    }

    /// The communicator of a rank that is a process, and has connections to all others, `size` in all. All ranks call
    /// this at the same time. A GPU reaches only those that are on its machine, which is a text, and the second value
    /// of `reach` at most.
    pub(crate) fn of_process(
        device: Arc<dyn RankDevice>,
        (rank, size): (usize, usize),
        connections: Vec<(usize, TcpStream)>,
        (options, transport, reach): (CommunicatorOptions, Transport, (&str, usize)),
    ) -> Result<Self> {
        let stations: Arc<[Arc<dyn Station>]> = Arc::default();
        let (world, group) = World::new(size, 1, options.timeout, &stations);
        let connected = world.connect(connections);
        connected.map_err(|error| Error::Launcher {
            message: format!("a connection to another rank has failed: {error}"),
        })?;
        let bare = Self(Arc::new(Member {
            world,
            group,
            splits: Vec::new(),
            rank,
            members: (0..size).collect(),
            device,
            stations,
            carrier: Carrier::Kernels,
            host_meetings: AtomicU64::new(0),
            launches: Mutex::default(),
        }));
        let (machine, most) = reach;
        let all = bare.agree(transport.given(machine))?;
        let carrier = transport.choose(&all, most).map_err(|peer| peer.at(Site::default()))?;
        let joined = bare.split_to(0, rank, carrier, true);
        if carrier == Carrier::Nccl || transport != Transport::Auto {
            return joined;
        }
        // NCCL carries the data if a rank cannot open the memory of another one.
        let given = joined.as_ref().err().map_or_else(String::new, ToString::to_string);
        let all = match bare.agree(given) {
            Ok(all) => all,
            Err(error) => return joined.and(Err(error)),
        };
        let mut reasons = all.iter().filter(|reason| !reason.is_empty());
        let Some(reason) = reasons.next() else {
            return joined;
        };
        drop(joined);
        let reason = String::from_utf8_lossy(reason);
        let by_nccl = bare.split_to(0, rank, Carrier::Nccl, true);
        by_nccl.map_err(|error| error.after(&reason))
    }

    /// Gives bytes to all ranks, and gets those of all.
    fn agree(&self, given: impl Into<Vec<u8>>) -> Result<Given> {
        let key = Key::Host(self.0.next_host_meeting());
        let all = self.0.meet(key, "`from_env`", given.into());
        all.map_err(|peer| peer.at(Site::default()))
    }

    /// Returns the failure that a kernel of one of these ranks has reported, if there is one.
    pub(crate) fn check(all: &[Self]) -> Result<()> {
        let mut reported = all.iter().filter_map(|communicator| communicator.0.reported());
        reported.next().map_or(Ok(()), Err)
    }

    /// Makes sure, where NCCL carries the data, that all ranks launch the graph next which has this number on all of
    /// them, or profile it: NCCL would take its collectives for those of another graph, whose sizes may be others. So
    /// the ranks meet before each launch of another graph than the one before, and compare how often they have launched
    /// that one. They go on alike: as long as ranks launch one graph, their collectives are the same.
    pub(crate) fn agree_on_launch(&self, number: u64, graph: &str, is_profile: bool) -> Result<(), Peer> {
        if !self.is_by_nccl() {
            return Ok(());
        }
        // The claim of the caller's launch on the station lets no other launch come between. So nobody else waits here.
        let mut last = self.0.launches.lock().unwrap_or_else(PoisonError::into_inner);
        if last.go_on(number, is_profile) {
            return Ok(());
        }
        let given = last.given(number, graph, is_profile);
        let key = Key::Host(self.0.next_host_meeting());
        let all = self
            .0
            .meet(key, &format!("a launch of graph `{graph}`"), given.clone().into_bytes())?;
        let compared = last.compare(&all, &given, graph);
        compared.inspect_err(|peer| self.0.world.fail(self.0.group, peer))?;
        last.begin(number, is_profile);
        Ok(())
    }

    /// Tells the other ranks that a launch of this one has failed, after which it does not come any more.
    pub(crate) fn fail(&self, graph: &str, message: &str) {
        let rank = self.rank();
        let peer = Peer::new(rank, format!("rank {rank} has failed in graph `{graph}`: {message}"));
        self.0.world.fail(self.0.group, &peer);
    }

    /// Whether the two are the same rank of the same group.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.0.is(&other.0)
    }

    /// The number of this rank, from 0.
    pub fn rank(&self) -> usize {
        self.0.rank
    }

    /// The number of ranks.
    pub fn size(&self) -> usize {
        self.0.members.len()
    }

    /// The rank after this one; after the last comes rank 0.
    pub fn next(&self) -> usize {
        (self.rank() + 1) % self.size()
    }

    /// The rank before this one; before rank 0 comes the last.
    pub fn previous(&self) -> usize {
        (self.rank() + self.size() - 1) % self.size()
    }

    /// Makes a communicator of the ranks that give the same `color`, in the order of their `key`s and, if these are
    /// equal, of their ranks. All ranks call it, and wait for each other.
    ///
    /// # Errors
    /// [`Error::Peer`](crate::Error::Peer) if a rank has left, does not come in time or builds a graph instead;
    /// [`Error::Cuda`](crate::Error::Cuda) if a GPU has no memory for it.
    pub fn split(&self, color: usize, key: usize) -> Result<Self> {
        self.split_to(color, key, self.0.carrier, false)
    }

    /// Makes a communicator as [`Communicator::split`] does, or of all ranks, with their stations.
    fn split_to(&self, color: usize, key: usize, carrier: Carrier, is_whole: bool) -> Result<Self> {
        let meeting = self.0.next_host_meeting();
        let splits = match is_whole {
            true => Vec::new(),
            false => self.0.splits.iter().copied().chain([meeting]).collect(),
        };
        let is_of_processes = self.0.world.is_of_processes();
        let mut card = Vec::new();
        if let Some(station) = self.0.device.station(carrier)? {
            if is_of_processes {
                card = match carrier {
                    Carrier::Nccl => NCCL_CARD.to_vec(),
                    Carrier::Kernels => station.card()?,
                };
            }
            self.0.world.bring(self.0.group, meeting, self.0.of_world(), station);
        }
        let given = [SPLIT, &[color, key].map(usize::to_le_bytes).concat(), &card].concat();
        let all = self
            .0
            .meet(Key::Host(meeting), "`split`", given)
            .map_err(|peer| peer.at(Site::default()))?;
        let mut chosen = Vec::new();
        for (rank, given) in all.iter().enumerate() {
            let (other, key, card) = read_split(given).ok_or_else(|| {
                let message = format!("rank {rank} builds a graph while this rank calls `split`");
                Peer::new(rank, message).at(Site::default())
            })?;
            if other != color {
                continue;
            }
            chosen.push((key, rank));
            if is_of_processes && rank != self.rank() {
                let opened = match carrier {
                    Carrier::Nccl if card == NCCL_CARD => Ok(Some(Arc::new(Elsewhere) as _)),
                    _ => self.0.device.open(card),
                };
                let failed = |message| Peer::new(rank, format!("rank {rank} {message}")).at(Site::default());
                if let Some(station) = opened.map_err(failed)? {
                    let world = &self.0.world;
                    world.bring(self.0.group, meeting, self.0.members[rank], station);
                }
            }
        }
        chosen.sort_unstable();
        let members: Arc<[usize]> = chosen.iter().map(|&(_, rank)| self.0.members[rank]).collect();
        let own = chosen.iter().position(|&(_, rank)| rank == self.rank()).unwrap_or(0);
        let (group, stations) = self.0.world.split(self.0.group, meeting, color, &members);
        let split = Self(Arc::new(Member {
            world: self.0.world.clone(),
            group,
            splits,
            rank: own,
            members,
            device: self.0.device.clone(),
            stations,
            carrier,
            host_meetings: AtomicU64::new(0),
            launches: Mutex::default(),
        }));
        if split.is_by_nccl() {
            split.0.join_all()?;
        }
        Ok(split)
    }

    /// Whether NCCL carries the data.
    pub(crate) fn is_by_nccl(&self) -> bool {
        self.0.is_by_nccl()
    }
}

/// The color and the key that a rank gives to a split, and the card of its station; `None` if it does something else.
fn read_split(given: &[u8]) -> Option<(usize, usize, &[u8])> {
    let (color, rest) = given.strip_prefix(SPLIT)?.split_first_chunk()?;
    let (key, card) = rest.split_first_chunk()?;
    Some((usize::from_le_bytes(*color), usize::from_le_bytes(*key), card))
}

impl fmt::Debug for Communicator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let carrier = if self.is_by_nccl() { ", by NCCL" } else { "" };
        write!(f, "Communicator(rank {} of {}{carrier})", self.rank(), self.size())
    }
}

impl Member {
    /// The words for the communicator in comparisons of graphs: the same on all ranks that have made it by the same
    /// calls.
    fn name(&self) -> String {
        match &self.splits[..] {
            [] => "all ranks".to_owned(),
            splits => format!("the ranks of split {splits:?}"),
        }
    }

    /// Whether the two are the same rank of the same group.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.world, &other.world) && self.group == other.group && self.rank == other.rank
    }

    /// The number of the next meeting of the host, which is the same on all ranks that make the same calls.
    pub(crate) fn next_host_meeting(&self) -> u64 {
        self.host_meetings.fetch_add(1, Ordering::Relaxed)
    }

    /// Whether NCCL carries the data.
    pub(crate) fn is_by_nccl(&self) -> bool {
        self.carrier == Carrier::Nccl && !self.stations.is_empty()
    }

    /// Joins the other ranks by NCCL. All ranks of the group do so.
    fn join_all(&self) -> Result<()> {
        let id = match self.rank {
            0 => self
                .device
                .nccl_id()
                .inspect_err(|error| _ = self.fail(&error.to_string()))?,
            _ => Vec::new(),
        };
        let key = Key::Host(self.next_host_meeting());
        let all = self.meet(key, "the beginning of NCCL", id);
        let all = all.map_err(|peer| peer.at(Site::default()))?;
        self.join(&all[0])?;
        self.joined()
    }

    /// Begins to join the other ranks by NCCL, which find each other by `id`.
    fn join(&self, id: &[u8]) -> Result<()> {
        let joined = self.stations[self.rank].join(id, Box::new(Watched::new(self)));
        joined.map_err(|message| self.fail(&message))
    }

    /// Waits until all ranks have joined by NCCL.
    fn joined(&self) -> Result<()> {
        let joined = self.stations[self.rank].joined();
        joined.map_err(|message| self.fail(&message))
    }

    /// Tells all ranks that this one cannot go on. Returns the error, or the one that ranks had before.
    fn fail(&self, message: &str) -> Error {
        let peer = Peer::new(self.rank, format!("rank {} {message}", self.rank));
        self.world.fail(self.group, &peer);
        self.world.broken(self.group).unwrap_or(peer).at(Site::default())
    }

    /// Waits until all ranks of the group are at the same place, and returns what each has given. `what` tells the
    /// place in messages.
    pub(crate) fn meet(&self, key: Key, what: &str, given: Vec<u8>) -> Result<Given, Peer> {
        self.world.meet(self, key, what, given)
    }

    /// The failure that kernels of this rank have reported.
    pub(crate) fn reported(&self) -> Option<Error> {
        let report = self.stations.get(self.rank)?.report()?;
        let peer = self.world.reported(self.group, &report);
        Some(peer.at(Site::graph(&report.graph).at_node(&report.node)))
    }

    /// The reason why the group cannot be used any more.
    pub(crate) fn broken(&self, site: impl FnOnce() -> Site) -> Option<Error> {
        let broken = || Some(self.world.broken(self.group)?.at(site()));
        self.reported().or_else(broken)
    }

    /// The longest time for which a rank waits for the others.
    pub(crate) fn timeout(&self) -> Duration {
        self.world.timeout
    }

    /// The most ranks of the world that are one GPU.
    pub(crate) fn sharing(&self) -> usize {
        self.world.sharing
    }

    /// The group and the rank in it.
    fn seated(&self) -> Seated {
        Seated {
            group: self.group,
            rank: self.rank,
        }
    }

    /// The rank in the world.
    pub(crate) fn of_world(&self) -> usize {
        self.members[self.rank]
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        if let Some(own) = self.stations.get(self.rank) {
            own.end();
        }
        self.world.leave(&self.seated());
    }
}

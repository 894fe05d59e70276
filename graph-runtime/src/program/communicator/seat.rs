//! The part of a built graph in the meetings of its communicators: its ranks compare their plans when they build it,
//! and its launches take turns with those of other graphs.

use super::meeting::World;
use super::peer::{Peer, place};
use super::rank_event::Key;
use super::{Communicator, Given, Member};
use crate::program::communicator::call::{CollectiveCall, Move};
use graph_plan::{Mode, NodeKind};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// One seat for each communicator of a graph. Dropping them tells the other ranks that the graph is gone.
#[derive(Default)]
pub(crate) struct Seats {
    graph: String,
    seats: Vec<Seat>,
}

struct Seat {
    member: Arc<Member>,
    /// The meeting at which all ranks have built the graph.
    joined: OnceLock<u64>,
}

/// A fact about a graph that is the same on all ranks: its name, and the fact in words.
pub(crate) type Line = (String, String);

/// The first word of a plan that ranks compare, or of a failure.
const PLAN: &str = "plan";
const FAILURE: &str = "failure";

impl Seats {
    /// The seats of a graph of this name with these collectives.
    pub(crate) fn new<'a>(graph: &str, calls: impl Iterator<Item = &'a CollectiveCall>) -> Self {
        let mut members: Vec<Arc<Member>> = Vec::new();
        for call in calls {
            let member = &call.communicator.0;
            if !members.iter().any(|known| known.is(member)) {
                members.push(member.clone());
            }
        }
        // All ranks come to the meetings of the groups in one order.
        members.sort_by_key(|member| (Arc::as_ptr(&member.world).addr(), member.splits.clone()));
        let seats = members.into_iter().map(|member| Seat {
            member,
            joined: OnceLock::new(),
        });
        Self {
            graph: graph.to_owned(),
            seats: seats.collect(),
        }
    }

    /// Whether the graph has no communicator.
    pub(crate) fn is_empty(&self) -> bool {
        self.seats.is_empty()
    }

    /// Whether NCCL carries the data of one of its communicators.
    pub(crate) fn is_by_nccl(&self) -> bool {
        self.seats.iter().any(|seat| seat.member.is_by_nccl())
    }

    /// Compares the plan, and what exchanges send and receive, with those of the other ranks. All ranks come to this.
    pub(crate) fn join(&self, plan: &[Line], calls: &[(&str, &CollectiveCall)]) -> Result<(), Peer> {
        for seat in &self.seats {
            let own = calls.iter().filter(|(_, call)| call.communicator.0.is(&seat.member));
            let exchanges: Vec<&(&str, &CollectiveCall)> =
                own.filter(|(_, call)| call.kind == NodeKind::Exchange).collect();
            let text = text(plan, &exchanges);
            let meeting = seat.member.next_host_meeting();
            let what = format!("the building of graph `{}`", self.graph);
            let all = seat.member.meet(Key::Host(meeting), &what, text.into_bytes())?;
            let all: Vec<String> = all
                .iter()
                .map(|text| String::from_utf8_lossy(text).into_owned())
                .collect();
            check_plans(seat.member.rank, &all)?;
            check_exchanges(&all)?;
            let _ = seat.joined.set(meeting);
        }
        Ok(())
    }

    /// The number of the graph, which is the same on all ranks of a communicator.
    pub(crate) fn joined(&self, communicator: &Communicator) -> u64 {
        let seat = self.seats.iter().find(|seat| seat.member.is(&communicator.0));
        seat.and_then(|seat| seat.joined.get()).copied().unwrap_or(u64::MAX)
    }

    /// Waits until all ranks can launch the graph, where their kernels meet: until then, a rank may make calls that
    /// wait for the kernels of others which run on its device.
    pub(crate) fn ready(&self) -> Result<(), Peer> {
        for Seat { member, .. } in self.seats.iter().filter(|seat| !seat.member.stations.is_empty()) {
            let meeting = member.next_host_meeting();
            let what = format!("the first launch of graph `{}`", self.graph);
            member.meet(Key::Host(meeting), &what, Vec::new())?;
        }
        Ok(())
    }

    /// Tells the other ranks, which wait in [`Seats::join`], that this one cannot build the graph.
    pub(crate) fn refuse(&self, message: &str) {
        for seat in self.seats.iter().filter(|seat| seat.joined.get().is_none()) {
            let meeting = seat.member.next_host_meeting();
            let text = format!("{FAILURE}\n{message}");
            seat.member
                .world
                .announce(&seat.member, Key::Host(meeting), "", text.into_bytes());
        }
    }

    /// Meets the other ranks at a node, and returns what each has given.
    pub(crate) fn meet(
        &self,
        communicator: &Communicator,
        (node, name): (usize, &str),
        given: Vec<u8>,
    ) -> Result<Given, Peer> {
        let member = &communicator.0;
        let graph = self.joined(communicator);
        let what = place(&self.graph, name);
        member.meet(Key::Node { graph, node }, &what, given)
    }

    /// Tells the other ranks that a launch of this one has failed at a node.
    pub(crate) fn fail(&self, node: &str, message: &str) {
        self.break_all(&format!("has failed at {}: {message}", place(&self.graph, node)));
    }

    /// Tells the other ranks, which have joined, that this one cannot launch the graph.
    pub(crate) fn give_up(&self, message: &str) {
        self.break_all(&format!("cannot build graph `{}`: {message}", self.graph));
    }

    /// Ends all meetings of the communicators, since this rank has failed.
    fn break_all(&self, message: &str) {
        for Seat { member, .. } in &self.seats {
            let rank = member.rank;
            let peer = Peer::new(rank, format!("rank {rank} {message}"));
            member.world.fail(member.group, &peer);
        }
    }

    /// Puts a launch in line with the other launches of the rank.
    pub(crate) fn line_up(&self) -> Turn {
        // Two launches take all of their numbers one after the other, so that they agree which comes first.
        static ONE: Mutex<()> = Mutex::new(());
        let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let mut turns: Vec<(Arc<World>, usize, u64)> = Vec::new();
        for Seat { member, .. } in &self.seats {
            let (world, rank) = (&member.world, member.of_world());
            if !turns.iter().any(|(known, ..)| Arc::ptr_eq(known, world)) {
                turns.push((world.clone(), rank, world.take_number(rank)));
            }
        }
        Turn(turns)
    }
}

impl Drop for Seats {
    fn drop(&mut self) {
        for Seat { member, joined } in &self.seats {
            if let Some(&graph) = joined.get() {
                member.world.drop_graph(member.seated(), graph);
            }
        }
    }
}

/// The place of a launch in the line of its rank's launches. Dropping it lets the next one run.
pub(crate) struct Turn(Vec<(Arc<World>, usize, u64)>);

impl Turn {
    /// Waits until all launches before this one have ended.
    pub(crate) fn wait(&self) {
        self.0
            .iter()
            .for_each(|(world, rank, number)| world.take_turn(*rank, *number));
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.0
            .iter()
            .for_each(|(world, rank, number)| world.end_turn(*rank, *number));
    }
}

/// A plan and some exchanges as lines of text, in three columns.
fn text(plan: &[Line], exchanges: &[&(&str, &CollectiveCall)]) -> String {
    let clean = |text: &str| text.replace(['\n', '\t'], " ");
    let mut text = format!("{PLAN}\n");
    for (name, fact) in plan {
        let _ = writeln!(text, "{}\t{}", clean(name), clean(fact));
    }
    for (name, call) in exchanges {
        let moves = call.moves.iter().map(|Move { part, mode, peer }| {
            let verb = if *mode == Mode::Read { "send" } else { "recv" };
            format!("{verb} {peer} {}", part.bytes)
        });
        let moves: Vec<String> = moves.collect();
        let _ = writeln!(text, "{}\t\t{}", clean(name), moves.join(","));
    }
    text
}

/// Fails with the first difference of two plans. `rank` is this rank.
fn check_plans(rank: usize, all: &[String]) -> Result<(), Peer> {
    let lines = |text: &str| -> Vec<String> {
        let lines = text.lines().skip(1).filter(|line| !line.contains("\t\t"));
        lines.map(str::to_owned).collect()
    };
    for (other, text) in all.iter().enumerate() {
        if let Some(message) = text.strip_prefix(FAILURE) {
            return Err(Peer::new(
                other,
                format!("rank {other} cannot build it: {}", message.trim()),
            ));
        }
        if !text.starts_with(PLAN) {
            let message = format!("rank {other} calls `split` while this rank builds a graph");
            return Err(Peer::new(other, message));
        }
    }
    let own = lines(&all[rank]);
    for (other, text) in all.iter().enumerate().filter(|(other, _)| *other != rank) {
        let theirs = lines(text);
        if own == theirs {
            continue;
        }
        let count = own.len().max(theirs.len());
        let first = (0..count).find(|&line| own.get(line) != theirs.get(line)).unwrap_or(0);
        let fact = |lines: &[String]| match lines.get(first) {
            Some(line) => line.replacen('\t', " is ", 1),
            None => "there is nothing more".to_owned(),
        };
        let message = format!(
            "rank {other} builds another graph: on rank {rank}, {}; on rank {other}, {}",
            fact(&own),
            fact(&theirs)
        );
        return Err(Peer::new(other, message));
    }
    Ok(())
}

/// A part of an exchange: the rank on the other side, and the number of bytes.
type Side = (usize, usize);

/// An exchange of a rank: its name, and the parts that it sends and receives.
type Sides<'a> = (&'a str, Vec<Side>, Vec<Side>);

/// Fails if what a rank sends in an exchange is not what the other rank receives.
fn check_exchanges(all: &[String]) -> Result<(), Peer> {
    let exchanges: Vec<Vec<Sides<'_>>> = all.iter().map(|text| parse(text)).collect();
    for number in 0..exchanges.first().map_or(0, Vec::len) {
        for from in 0..all.len() {
            for to in 0..all.len() {
                let Some((name, sends, _)) = exchanges[from].get(number) else {
                    continue;
                };
                let Some((_, _, receives)) = exchanges[to].get(number) else {
                    continue;
                };
                let bytes = |sides: &[Side], rank: usize| -> Vec<usize> {
                    let sides = sides.iter().filter(|(peer, _)| *peer == rank);
                    sides.map(|(_, bytes)| *bytes).collect()
                };
                let (sent, received) = (bytes(sends, to), bytes(receives, from));
                if sent != received {
                    let message = format!(
                        "in node `{name}`, rank {from} sends {} to rank {to}, which receives {} from it",
                        listed(&sent),
                        listed(&received)
                    );
                    return Err(Peer::new(to, message));
                }
            }
        }
    }
    Ok(())
}

/// The exchanges of a text: the name, and the parts that are sent and received.
fn parse(text: &str) -> Vec<Sides<'_>> {
    let exchanges = text.lines().filter_map(|line| line.split_once("\t\t"));
    let sides = |moves: &str| {
        let (mut sends, mut receives) = (Vec::new(), Vec::new());
        for one in moves.split(',') {
            let mut words = one.split(' ');
            let verb = words.next();
            let mut number = || words.next().and_then(|word| word.parse().ok());
            if let (Some(peer), Some(bytes)) = (number(), number()) {
                let side = if verb == Some("send") {
                    &mut sends
                } else {
                    &mut receives
                };
                side.push((peer, bytes));
            }
        }
        (sends, receives)
    };
    exchanges
        .map(|(name, moves)| {
            let (sends, receives) = sides(moves);
            (name, sends, receives)
        })
        .collect()
}

/// Numbers of bytes in words.
fn listed(bytes: &[usize]) -> String {
    let bytes: Vec<String> = bytes.iter().map(|bytes| format!("{bytes} bytes")).collect();
    match bytes.is_empty() {
        true => "nothing".to_owned(),
        false => bytes.join(" and "),
    }
}

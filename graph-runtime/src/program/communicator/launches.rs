//! The launches on which ranks agree, where NCCL carries the data: what a rank tells of its
//! launches, and the comparison.

use super::peer::Peer;

/// The first bytes that a rank gives when it launches another graph than before.
const LAUNCH: &str = "launch\n";

/// Launches of one graph in a row: the last ones of a rank.
#[derive(Default)]
pub(super) struct Launches {
    /// The number of the graph, which is the same on all ranks, and whether it is profiled. There is none at first.
    graph: Option<(u64, bool)>,
    count: u64,
}

impl Launches {
    /// Counts one more launch of the graph, if it is the same as before. Returns whether it is.
    pub(super) fn go_on(&mut self, number: u64, is_profile: bool) -> bool {
        let is_same = self.graph == Some((number, is_profile));
        self.count += u64::from(is_same);
        is_same
    }

    /// The words that a rank gives before it launches another graph than before.
    pub(super) fn given(&self, number: u64, graph: &str, is_profile: bool) -> String {
        let doing = if is_profile { "profiles" } else { "launches" };
        format!("{LAUNCH}{number}\n{}\n{doing} graph `{graph}`", self.count)
    }

    /// Compares what all ranks have given with what this one has.
    pub(super) fn compare(&self, all: &[Vec<u8>], given: &str, graph: &str) -> Result<(), Peer> {
        match all.iter().position(|other| other != given.as_bytes()) {
            Some(rank) => Err(Peer::new(rank, other_launch(rank, &all[rank], graph, self.count))),
            None => Ok(()),
        }
    }

    /// Begins to count launches of this graph, with its first one.
    pub(super) fn begin(&mut self, number: u64, is_profile: bool) {
        self.graph = Some((number, is_profile));
        self.count = 1;
    }
}

/// Says in words that another rank does something else than launch this graph, after so many launches of the graph
/// before.
fn other_launch(rank: usize, given: &[u8], graph: &str, count: u64) -> String {
    const RULE: &str = "with NCCL, all ranks launch the graphs that share a communicator in one order";
    let text = String::from_utf8_lossy(given);
    let Some(launch) = text.strip_prefix(LAUNCH) else {
        return format!("rank {rank} builds a graph or calls `split` while this rank launches graph `{graph}`: {RULE}");
    };
    let mut lines = launch.lines().skip(1);
    let (before, doing) = (
        lines.next().unwrap_or(""),
        lines.next().unwrap_or("launches another graph"),
    );
    format!(
        "rank {rank} {doing} after {before} launches of the graph before it, and this rank launches graph `{graph}` \
         after {count}: {RULE}"
    )
}

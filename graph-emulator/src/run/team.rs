//! The blocks of a cluster, which take turns.

use super::block::Block;
use super::round::Round;
use crate::exec::cluster::{PeerMemory, Peers};
use crate::fault::Fault;
use crate::sanitize::global::GlobalSanitizer;
use crate::sanitize::shared::SharedSanitizer;
use crate::state::Context;

/// A cluster of several blocks, which is used for one cluster of a grid after another.
pub(super) struct Team<'a> {
    blocks: Vec<Block<'a>>,
    ended: Vec<bool>,
    /// The shared memory of all blocks, between their turns.
    peers: Option<Peers>,
    /// The checks of the shared memory of all blocks, between their turns.
    sanitizer: Option<Box<SharedSanitizer>>,
}

impl<'a> Team<'a> {
    pub(super) fn new(context: &'a Context<'a>, global: Option<&'a GlobalSanitizer<'a>>) -> Team<'a> {
        let count = context.cluster_blocks();
        let mut blocks: Vec<Block<'a>> = (0..count).map(|_| Block::new(context, global)).collect();
        let (declared, bytes) = blocks
            .first()
            .map_or((0, 0), |block| (block.declared, block.shared.len()));
        let memories = blocks.iter_mut().map(|block| PeerMemory {
            bytes: std::mem::take(&mut block.shared),
            ended: false,
        });
        Team {
            peers: Some(Peers {
                rank: 0,
                memories: memories.collect(),
            }),
            ended: vec![false; count],
            sanitizer: SharedSanitizer::new(context, declared, bytes).map(Box::new),
            blocks,
        }
    }

    /// Begins the cluster whose first block is at `first`.
    pub(super) fn begin(&mut self, first: [u32; 3]) {
        if let Some(sanitizer) = &mut self.sanitizer {
            sanitizer.reset();
        }
        self.ended.fill(false);
        for peer in self.peers.iter_mut().flat_map(|peers| &mut peers.memories) {
            peer.ended = false;
        }
        for rank in 0..self.blocks.len() {
            let [x, y, _] = self.blocks[rank].context.cluster.map(|side| side as usize);
            let within = [rank % x, rank / x % y, rank / x / y];
            let ctaid = [0, 1, 2].map(|axis| first[axis] + within[axis] as u32);
            self.turn(rank, |block| block.begin(ctaid));
        }
    }

    /// Runs the cluster whose first block is at `first` to its end.
    pub(super) fn run(&mut self, first: [u32; 3]) -> Result<(), Box<Fault>> {
        self.begin(first);
        while self.goes_on()? {}
        Ok(())
    }

    /// Gives each block a turn. Returns whether the cluster goes on; one in which no thread can is at fault.
    pub(super) fn goes_on(&mut self) -> Result<bool, Box<Fault>> {
        let mut stuck = true;
        for rank in 0..self.blocks.len() {
            if self.ended[rank] {
                continue;
            }
            let round = self.turn(rank, |block| block.round())?;
            stuck &= round == Round::Stuck;
            if round == Round::Ended {
                self.ended[rank] = true;
                if let Some(peers) = &mut self.peers {
                    peers.memories[rank].ended = true;
                }
            }
            stuck &= !self.meet();
        }
        match self.ended.iter().position(|ended| !ended) {
            None => Ok(false),
            Some(_) if !stuck => Ok(true),
            Some(waiting) => Err(self.blocks[waiting].deadlock()),
        }
    }

    /// Opens the barrier of the cluster if all threads have arrived. Returns whether it did.
    fn meet(&mut self) -> bool {
        let live = || self.blocks.iter().zip(&self.ended).filter(|(_, ended)| !**ended);
        let begun = live().any(|(block, _)| block.barriers.cluster.has_begun());
        let complete =
            begun && live().all(|(block, _)| block.awake && block.barriers.cluster.is_complete(&block.warps));
        if complete {
            for (block, _) in self.blocks.iter_mut().zip(&self.ended).filter(|(_, ended)| !**ended) {
                block.barriers.cluster.open(&mut block.warps);
            }
        }
        complete
    }

    /// Lends the block of this rank all that the blocks share, for a turn.
    fn turn<T>(&mut self, rank: usize, run: impl FnOnce(&mut Block<'a>) -> T) -> T {
        let block = &mut self.blocks[rank];
        let mut peers = self.peers.take();
        if let Some(peers) = &mut peers {
            peers.rank = rank;
            std::mem::swap(&mut peers.memories[rank].bytes, &mut block.shared);
        }
        if let Some(sanitizer) = &mut self.sanitizer {
            sanitizer.enter(rank);
        }
        (block.peers, block.shared_sanitizer) = (peers, self.sanitizer.take());
        let result = run(block);
        (self.peers, self.sanitizer) = (block.peers.take(), block.shared_sanitizer.take());
        if let Some(peers) = &mut self.peers {
            std::mem::swap(&mut peers.memories[rank].bytes, &mut block.shared);
        }
        result
    }
}

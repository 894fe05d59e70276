//! Single accesses of one lane to memory in any space, for instructions that are too rare to need fast ones.

use super::Environment;
use super::check::{aligned, inside};
use super::memory::{read_bytes, write_bytes};
use crate::code::{Space, block_of};
use crate::fault::{FaultKind, Operation};
use crate::memory::view::Region;
use crate::state::Warp;

/// The memory that has the bytes of an access, all of which it permits, and the address in it.
enum Place<'a> {
    Local(u64),
    /// The memory of this block, or of that of this rank.
    Shared(Option<usize>, u64),
    Parameter(u64),
    Global(&'a Region, u64),
}

impl Warp {
    /// Finds 1, 2, 4 or 8 bytes, in one lane.
    fn place<'a>(
        &self,
        env: &Environment<'a>,
        operation: Operation,
        space: Space,
        address: u64,
        bytes: u8,
    ) -> Result<Place<'a>, FaultKind> {
        let (space, at) = space.resolve(address);
        let bytes = bytes.into();
        aligned(operation, at, bytes)?;
        match space {
            Space::Local => {
                inside(operation, "local memory", at, bytes, self.local.len())?;
                Ok(Place::Local(at))
            }
            Space::Shared => {
                let (block, at) = block_of(at);
                let (memory, name) = env.shared_of(block);
                inside(operation, name, at, bytes, memory.len())?;
                Ok(Place::Shared(block, at))
            }
            Space::Param => {
                // Parameters are read-only: for a store, they have no bytes.
                let parameters = env.context.parameters.len();
                let len = if operation == Operation::Load { parameters } else { 0 };
                inside(operation, "the parameters", at, bytes, len)?;
                Ok(Place::Parameter(at))
            }
            Space::Global | Space::Generic => Ok(Place::Global(env.context.view.find(operation, at, bytes)?, at)),
        }
    }

    /// Reads 1, 2, 4 or 8 bytes.
    pub(crate) fn peek(
        &self,
        env: &Environment<'_>,
        lane: usize,
        space: Space,
        address: u64,
        bytes: u8,
    ) -> Result<u64, FaultKind> {
        Ok(match self.place(env, Operation::Load, space, address, bytes)? {
            Place::Local(at) => self.local.load(lane, at, bytes),
            Place::Shared(block, at) => read_bytes(env.shared_of(block).0, at, bytes),
            Place::Parameter(at) => read_bytes(env.context.parameters, at, bytes),
            Place::Global(region, at) => region.storage().load(at, bytes),
        })
    }

    /// Writes 1, 2, 4 or 8 bytes.
    pub(crate) fn poke(
        &mut self,
        env: &mut Environment<'_>,
        lane: usize,
        space: Space,
        address: u64,
        bytes: u8,
        value: u64,
    ) -> Result<(), FaultKind> {
        match self.place(env, Operation::Store, space, address, bytes)? {
            Place::Local(at) => self.local.store(lane, at, bytes, value),
            Place::Shared(block, at) => write_bytes(env.shared_of_mut(block).0, at, bytes, value),
            Place::Parameter(_) => {}
            Place::Global(region, at) => region.storage().store(at, bytes, value),
        }
        Ok(())
    }
}

//! Single accesses of one lane to memory in any space, for instructions that are too rare to need fast ones.

use super::Environment;
use super::check::{aligned, inside};
use super::memory::{read_bytes, write_bytes};
use crate::code::{Space, block_of};
use crate::fault::{FaultKind, Operation};
use crate::state::Warp;

impl Warp {
    /// Reads 1, 2, 4 or 8 bytes.
    pub(crate) fn peek(
        &self,
        env: &Environment<'_>,
        lane: usize,
        space: Space,
        address: u64,
        bytes: u8,
    ) -> Result<u64, FaultKind> {
        let operation = Operation::Load;
        let (space, at) = space.resolve(address);
        aligned(operation, at, bytes.into())?;
        match space {
            Space::Local => {
                inside(operation, "local memory", at, bytes.into(), self.local.len())?;
                Ok(self.local.load(lane, at, bytes))
            }
            Space::Shared => {
                let (block, at) = block_of(at);
                let (memory, name) = env.shared_of(block);
                inside(operation, name, at, bytes.into(), memory.len())?;
                Ok(read_bytes(memory, at, bytes))
            }
            Space::Param => {
                inside(
                    operation,
                    "the parameters",
                    at,
                    bytes.into(),
                    env.context.parameters.len(),
                )?;
                Ok(read_bytes(env.context.parameters, at, bytes))
            }
            Space::Global | Space::Generic => match env.context.view.readable(at, bytes.into()) {
                Some(region) => Ok(region.storage().load(at, bytes)),
                None => Err(env.context.view.explain(operation, at, bytes.into())),
            },
        }
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
        let operation = Operation::Store;
        let (space, at) = space.resolve(address);
        aligned(operation, at, bytes.into())?;
        match space {
            Space::Local => {
                inside(operation, "local memory", at, bytes.into(), self.local.len())?;
                self.local.store(lane, at, bytes, value);
            }
            Space::Shared => {
                let (block, at) = block_of(at);
                let (memory, name) = env.shared_of_mut(block);
                inside(operation, name, at, bytes.into(), memory.len())?;
                write_bytes(memory, at, bytes, value);
            }
            Space::Param => inside(operation, "the parameters", at, bytes.into(), 0)?,
            Space::Global | Space::Generic => match env.context.view.writable(at, bytes.into()) {
                Some(region) => region.storage().store(at, bytes, value),
                None => return Err(env.context.view.explain(operation, at, bytes.into())),
            },
        }
        Ok(())
    }
}

//! Single accesses of one lane to memory in any space: for what is too rare to be fast.

use crate::code::Space;
use crate::exec::address::window;
use crate::exec::memory::{read_bytes, write_bytes};
use crate::exec::{Environment, Warp};
use crate::fault::{FaultKind, Operation};

/// The space that an address lies in, generic ones being sorted, and the address within it.
pub(crate) fn resolve(space: Space, address: u64) -> (Space, u64) {
    match space {
        Space::Generic => {
            let (space, base) = window(address);
            (space, address - base)
        }
        space => (space, address),
    }
}

fn check(operation: Operation, buffer: &str, address: u64, bytes: u8, len: usize) -> Result<(), FaultKind> {
    if address < len as u64 && len as u64 - address >= u64::from(bytes) {
        return Ok(());
    }
    Err(FaultKind::OutOfBounds {
        operation,
        buffer: buffer.into(),
        offset: address as i64,
        bytes: bytes.into(),
        len: len as u64,
    })
}

fn check_alignment(operation: Operation, address: u64, bytes: u8) -> Result<(), FaultKind> {
    if address.is_multiple_of(bytes.into()) {
        return Ok(());
    }
    Err(FaultKind::Misaligned {
        operation,
        address,
        bytes: bytes.into(),
    })
}

impl Warp {
    /// Read 1, 2, 4 or 8 bytes.
    pub(crate) fn peek(
        &self,
        env: &Environment<'_>,
        lane: usize,
        space: Space,
        address: u64,
        bytes: u8,
    ) -> Result<u64, FaultKind> {
        let operation = Operation::Load;
        let (space, at) = resolve(space, address);
        check_alignment(operation, at, bytes)?;
        match space {
            Space::Local => {
                check(operation, "local memory", at, bytes, self.local.len())?;
                Ok(self.local.load(lane, at, bytes))
            }
            Space::Shared => {
                check(operation, "shared memory", at, bytes, env.shared.len())?;
                Ok(read_bytes(env.shared, at, bytes))
            }
            Space::Param => {
                check(operation, "the parameters", at, bytes, env.context.parameters.len())?;
                Ok(read_bytes(env.context.parameters, at, bytes))
            }
            Space::Global | Space::Generic => match env.context.view.readable(at, bytes.into()) {
                Some(region) => Ok(region.storage().load(at, bytes)),
                None => Err(env.context.view.explain(operation, at, bytes.into())),
            },
        }
    }

    /// Write 1, 2, 4 or 8 bytes.
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
        let (space, at) = resolve(space, address);
        check_alignment(operation, at, bytes)?;
        match space {
            Space::Local => {
                check(operation, "local memory", at, bytes, self.local.len())?;
                self.local.store(lane, at, bytes, value);
            }
            Space::Shared => {
                check(operation, "shared memory", at, bytes, env.shared.len())?;
                write_bytes(env.shared, at, bytes, value);
            }
            Space::Param => check(operation, "the parameters", at, bytes, 0)?,
            Space::Global | Space::Generic => match env.context.view.writable(at, bytes.into()) {
                Some(region) => region.storage().store(at, bytes, value),
                None => return Err(env.context.view.explain(operation, at, bytes.into())),
            },
        }
        Ok(())
    }
}

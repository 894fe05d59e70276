//! The text of faults.

use std::fmt;

use super::{Fault, FaultKind, FaultyAccess, Operation};

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Operation::Load => "load",
            Operation::Store => "store",
            Operation::Atomic => "atomic operation",
        })
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let FaultKind::InvalidLaunch(message) = &self.kind {
            return write!(f, "kernel `{}` cannot be launched: {message}", self.kernel);
        }
        if let FaultKind::Unsupported(error) = &self.kind {
            return write!(f, "kernel `{}` cannot run on the emulator: {error}", self.kernel);
        }
        let ([bx, by, bz], [tx, ty, tz]) = (self.block, self.thread);
        write!(
            f,
            "kernel `{}`, block ({bx}, {by}, {bz}), thread ({tx}, {ty}, {tz})",
            self.kernel
        )?;
        if self.line != 0 {
            write!(f, ", PTX line {}", self.line)?;
        }
        if let Some((file, line)) = &self.source {
            write!(f, " ({file}:{line}")?;
            if let Some((file, line)) = self.inlined_at.as_deref() {
                write!(f, ", inlined at {file}:{line}")?;
            }
            f.write_str(")")?;
        }
        write!(f, ": {}", self.kind)
    }
}

impl fmt::Display for FaultyAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FaultyAccess {
            operation,
            buffer,
            offset,
            bytes,
        } = self;
        write!(f, "{operation} of {bytes} bytes at offset {offset} of {buffer}")
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FaultKind::InvalidLaunch(message) => f.write_str(message),
            FaultKind::Unsupported(error) => error.fmt(f),
            FaultKind::OutOfBounds {
                operation,
                buffer,
                offset,
                bytes,
                len,
            } => {
                let end = offset.saturating_add(i64::from(*bytes));
                let beyond = if *offset < 0 {
                    format!("{} before its start", count(offset.unsigned_abs()))
                } else {
                    format!("{} past its end", count((end as u64).saturating_sub(*len)))
                };
                let size = count(*len);
                write!(
                    f,
                    "{operation} of {bytes} bytes at offset {offset} of {buffer}, which has {size}: {beyond}"
                )
            }
            FaultKind::InvalidAddress {
                operation,
                address: 0,
                bytes,
            } => {
                write!(f, "{operation} of {bytes} bytes through a null pointer")
            }
            FaultKind::InvalidAddress {
                operation,
                address,
                bytes,
            } => {
                write!(
                    f,
                    "{operation} of {bytes} bytes at address {address:#x}, where nothing is"
                )
            }
            FaultKind::NotShared {
                operation,
                address,
                bytes,
            } => {
                write!(
                    f,
                    "{operation} of {bytes} bytes at address {address:#x}, which is not in shared memory"
                )
            }
            FaultKind::NotPassed(access) => write!(f, "{access}, which was not passed to the kernel"),
            FaultKind::AtomicOnly(access) => write!(f, "{access}, which was passed for atomic operations only"),
            FaultKind::Mapped(access) => write!(
                f,
                "{access}, which is mapped: only `volatile` and stronger loads and stores of 4 or 8 bytes may meet those of \
                 the host"
            ),
            FaultKind::ReadOnly(access) => write!(f, "{access}, which was passed for reading only"),
            FaultKind::Freed(access) => write!(f, "{access}, which was freed"),
            FaultKind::Misaligned {
                operation,
                address,
                bytes,
            } => {
                write!(f, "{operation} of {bytes} bytes at the misaligned address {address:#x}")
            }
            FaultKind::Uninitialized(access) => write!(f, "{access}, which nothing has written"),
            FaultKind::Race {
                access,
                other: [x, y, z],
                other_block,
                other_operation,
                other_line,
            } => {
                write!(f, "{access} races with a {other_operation} by thread ({x}, {y}, {z})")?;
                if let Some(block) = other_block {
                    write!(f, " of block {block} of the cluster")?;
                }
                write!(f, ", PTX line {other_line}: no barrier is between them")
            }
            FaultKind::Unordered {
                access,
                other,
                other_operation,
            } => {
                let verb = other_operation.verb();
                write!(f, "{access}, which {other} {verb}, and neither comes before the other")
            }
            FaultKind::InvalidFree(address) => write!(f, "`free` of {address:#x}, which `malloc` did not return"),
            FaultKind::Deadlock(who) => write!(f, "deadlock: {who}"),
            FaultKind::DivergentBarrier(who) => write!(f, "divergent barrier: {who}"),
            FaultKind::InvalidBarrier(what) => write!(f, "wrong use of a barrier: {what}"),
            FaultKind::InvalidTexture(what) => write!(f, "wrong use of a texture or surface: {what}"),
            FaultKind::OutsideSurface {
                operation,
                buffer,
                bytes,
                at: [x, y, z],
                sides: [width, height, slices],
            } => write!(
                f,
                "{operation} of {} at ({x}, {y}, {z}) of the surface of {buffer}, which has {width} bytes, {height} rows \
                 and {slices} layers or slices",
                count(u64::from(*bytes))
            ),
            FaultKind::StepLimit(limit) => write!(
                f,
                "the block executed more than {limit} warp instructions, its limit: does a loop never end, or wait for a block \
                 that has not started?"
            ),
            FaultKind::NotFinite => f.write_str("a store of a value that is not finite"),
            FaultKind::Late => f.write_str("the time of the launch was over"),
            FaultKind::Assertion(what) => write!(f, "assertion failed: {what}"),
            FaultKind::Trap => f.write_str("the kernel executed `trap`"),
            FaultKind::StackOverflow => f.write_str("calls are nested too deeply"),
            FaultKind::InvalidTarget(address) => {
                write!(f, "indirect call or branch to {address:#x}, where no target is")
            }
            FaultKind::OutOfMemory => f.write_str("the host has no memory for the block's registers"),
        }
    }
}

impl std::error::Error for Fault {}

/// `1 byte`, `2 bytes`.
fn count(bytes: u64) -> String {
    if bytes == 1 {
        "1 byte".to_owned()
    } else {
        format!("{bytes} bytes")
    }
}

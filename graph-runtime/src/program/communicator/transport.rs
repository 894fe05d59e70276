//! The choice of what carries the data of collectives, and the options of a communicator.

use super::peer::Peer;
use super::station::Carrier;
use std::time::Duration;

/// The way on which the data of collectives goes between GPUs: for
/// [`Communicator::local_by`](crate::Communicator::local_by) and
/// [`Communicator::from_env_by`](crate::Communicator::from_env_by). All ranks ask for the same. Emulated devices need
/// nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Transport {
    /// As [`Transport::PeerMemory`] if all ranks' GPUs reach each other's memory, and as [`Transport::Nccl`] otherwise.
    #[default]
    Auto,
    /// Kernels of this crate, which write into the memory of the other ranks' GPUs. These are in one machine, 32 at
    /// most, and reach each other (NVLink, or PCIe where the machine allows that). Sums are added in the order of
    /// ranks.
    PeerMemory,
    /// NCCL (2.18 or newer), between any GPUs of any hosts, each of which is one rank. It is loaded when a communicator
    /// needs it: from where `LD_LIBRARY_PATH` says, a CUDA toolkit, or the Python package `nvidia-nccl-cu12` or `-cu13`
    /// (which PyTorch brings). Its own variables count, such as `NCCL_SOCKET_IFNAME` and `NCCL_DEBUG`. The order in
    /// which it adds sums is its own.
    ///
    /// The memory of a collective cannot be rebound. In the body of an `if`, a `while` or a `switch`, NCCL before 2.29
    /// needs `NCCL_GRAPH_MIXING_SUPPORT=0` in the environment in which the program starts: else it puts events into
    /// its graphs, and CUDA has no events there.
    Nccl,
}

impl Transport {
    /// The bytes that a rank on this machine gives, so that ranks that are processes choose alike.
    pub(super) fn given(self, machine: &str) -> String {
        format!("{self:?}\n{machine}")
    }

    /// Chooses what carries the data of processes, which is the same on all ranks: `all` is what each has given. A GPU
    /// reaches those of `most` ranks of its machine.
    pub(super) fn choose(self, all: &[Vec<u8>], most: usize) -> Result<Carrier, Peer> {
        let own = self.given("");
        if let Some(other) = all.iter().position(|given| !given.starts_with(own.as_bytes())) {
            let message = format!("rank {other} asks for another transport than `{self:?}`: all ranks ask for one");
            return Err(Peer::new(other, message));
        }
        let is_near = all.len() <= most && all.iter().all(|other| *other == all[0]);
        Ok(match self {
            Transport::Nccl => Carrier::Nccl,
            Transport::Auto if !is_near => Carrier::Nccl,
            Transport::Auto | Transport::PeerMemory => Carrier::Kernels,
        })
    }
}

/// Options of a [`Communicator`](crate::Communicator).
///
/// More fields may come: end literals with `..Default::default()`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommunicatorOptions {
    /// The longest time for which a rank waits for the others, in a collective or while a graph is built. Then it
    /// returns [`Error::Peer`](crate::Error::Peer), which names the node and the rank that is late, and so do all other
    /// ranks: the communicator cannot be used any more. The default is a minute.
    ///
    /// Processes that join wait so long until all have come, and again until they have reached each other. Where rank 0
    /// stops without an end (its machine is gone), they wait a minute more.
    pub timeout: Duration,
}

impl Default for CommunicatorOptions {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(60),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_choose_alike() {
        let all = |given: &[(Transport, &str)]| -> Vec<Vec<u8>> {
            given
                .iter()
                .map(|(transport, machine)| transport.given(machine).into_bytes())
                .collect()
        };
        let near = all(&[(Transport::Auto, "a"), (Transport::Auto, "a")]);
        assert_eq!(Transport::Auto.choose(&near, 2), Ok(Carrier::Kernels));
        assert_eq!(Transport::Auto.choose(&near, 1), Ok(Carrier::Nccl));
        let far = all(&[(Transport::Auto, "a"), (Transport::Auto, "b")]);
        assert_eq!(Transport::Auto.choose(&far, 2), Ok(Carrier::Nccl));
        let mixed = all(&[(Transport::Auto, "a"), (Transport::Nccl, "a")]);
        let told = Transport::Auto.choose(&mixed, 2).expect_err("they differ").message;
        assert!(told.contains("rank 1 asks for another transport than `Auto`"), "{told}");
    }
}

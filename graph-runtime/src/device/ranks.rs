//! Communicators of devices: the ranks of this process, or of the processes that a launcher has started.

use super::Device;
use crate::devices::Backend;
use crate::error::{At, Error, Result, Site};
use crate::ownership::station::{CudaStation, MAX_RANKS};
use crate::program::communicator::peer::Peer;
use crate::program::communicator::station::{RankDevice, Station};
use crate::program::communicator::{Communicator, CommunicatorOptions};
use std::env;
use std::sync::Arc;

/// The reason why there is no communicator of several processes.
const ONE_PROCESS: &str = "ranks are threads of one process in this version: start one process, and make its ranks by `Communicator::local(&devices)`";

/// The variables that launchers set: the rank of a process, and the number of processes. `torchrun`, Slurm, Open MPI,
/// and MPICH.
const LAUNCHERS: [[&str; 2]; 4] = [
    ["RANK", "WORLD_SIZE"],
    ["SLURM_PROCID", "SLURM_NTASKS"],
    ["OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"],
    ["PMI_RANK", "PMI_SIZE"],
];

impl RankDevice for Backend {
    fn station(&self) -> Result<Option<Arc<dyn Station>>> {
        Ok(match self {
            Backend::Cuda(cuda) => Some(Arc::new(CudaStation::new(cuda)?)),
            Backend::Emulator(_) => None,
        })
    }
}

impl Communicator {
    /// Returns one communicator for each device: the ranks are threads of this process. Rank `r` is that of
    /// `devices[r]`.
    ///
    /// GPUs reach each other's memory (NVLink, or PCIe where the machine allows that), and each rank takes 4 MiB of its
    /// own for them. Collectives are kernels, which wait for those of the other ranks.
    ///
    /// One GPU may be several ranks, so that a program can be tried where there are fewer GPUs than ranks. Their
    /// kernels share the GPU then, and calls that wait for all of it (freeing memory, dropping a graph) wait for the
    /// kernels of all ranks: a rank that makes one while another rank waits for its next launch ends in the error of a
    /// rank that is late.
    ///
    /// # Errors
    /// * [`Error::Unsupported`] for GPUs and emulators together, for one emulator twice, and for more than 32 GPUs;
    /// * [`Error::Peer`] if a GPU has no way to the memory of another one;
    /// * [`Error::Cuda`] if there is no memory.
    pub fn local(devices: &[Device]) -> Result<Vec<Self>> {
        Self::local_with(devices, CommunicatorOptions::default())
    }

    /// As [`Communicator::local`], with these options.
    ///
    /// # Errors
    /// As [`Communicator::local`].
    pub fn local_with(devices: &[Device], options: CommunicatorOptions) -> Result<Vec<Self>> {
        check(devices)?;
        let devices = devices.iter().map(|device| {
            let device: Arc<dyn RankDevice> = Arc::new(device.backend.clone());
            device
        });
        Self::world(devices.collect(), options)
    }

    /// Returns the communicator of the processes that `torchrun`, `srun` or `mpirun` has started, one for each device;
    /// without such a launcher, that of this process alone.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for several processes, in this version; as [`Communicator::local`].
    pub fn from_env(device: &Device) -> Result<Self> {
        Self::from_env_with(device, CommunicatorOptions::default())
    }

    /// As [`Communicator::from_env`], with these options.
    ///
    /// # Errors
    /// As [`Communicator::from_env`].
    pub fn from_env_with(device: &Device, options: CommunicatorOptions) -> Result<Self> {
        let number = |variable: &str| env::var(variable).ok()?.trim().parse::<usize>().ok();
        let joined = LAUNCHERS.iter().find_map(|[rank, size]| number(rank).zip(number(size)));
        if joined.is_some_and(|(_, size)| size > 1) {
            return Err(Error::Unsupported {
                site: Site::default(),
                message: ONE_PROCESS,
            });
        }
        let ranks = Self::local_with(std::slice::from_ref(device), options)?;
        ranks.into_iter().next().ok_or_else(|| Error::Unsupported {
            site: Site::default(),
            message: ONE_PROCESS,
        })
    }
}

/// Refuses devices that are no ranks of one world, and lets GPUs reach each other's memory.
fn check(devices: &[Device]) -> Result<()> {
    let unsupported = |message| Error::Unsupported {
        site: Site::default(),
        message,
    };
    for (index, device) in devices.iter().enumerate() {
        device.backend.check()?;
        for (other, earlier) in devices[..index].iter().enumerate() {
            match (&earlier.backend, &device.backend) {
                (Backend::Cuda(_), Backend::Cuda(_)) => {
                    reach((other, earlier), (index, device))?;
                    reach((index, device), (other, earlier))?;
                }
                (Backend::Emulator(_), Backend::Emulator(_)) if !earlier.backend.has_memory_of(&device.backend) => {}
                (Backend::Emulator(_), Backend::Emulator(_)) => {
                    return Err(unsupported(
                        "one device is two ranks: each rank has a device of its own",
                    ));
                }
                (Backend::Cuda(_), Backend::Emulator(_)) | (Backend::Emulator(_), Backend::Cuda(_)) => {
                    return Err(unsupported("ranks of one communicator are all GPUs, or all emulators"));
                }
            }
        }
    }
    if devices.len() > MAX_RANKS && devices.iter().any(|device| !device.is_emulator()) {
        return Err(unsupported("a communicator of GPUs has 32 ranks at most"));
    }
    Ok(())
}

/// Lets kernels of one rank reach the memory of another one.
fn reach((rank, device): (usize, &Device), (peer, other): (usize, &Device)) -> Result<()> {
    let (Backend::Cuda(from), Backend::Cuda(to)) = (&device.backend, &other.backend) else {
        return Ok(());
    };
    if from.reach(to).at(Site::default)? {
        return Ok(());
    }
    let message = format!(
        "rank {rank} ({}, device {}) has no way to the memory of rank {peer} ({}, device {}): `cuDeviceCanAccessPeer` \
         refuses this pair",
        device.name(),
        from.device(),
        other.name(),
        to.device()
    );
    Err(Peer::new(peer, message).at(Site::default()))
}

//! Communicators of devices: the ranks of this process, or of the processes that a launcher has started.

use super::Device;
use crate::devices::Backend;
use crate::error::{Error, Result, Site};
use crate::program::communicator::{Communicator, CommunicatorOptions, NO_NCCL};
use std::any::Any;
use std::env;
use std::sync::Arc;

/// The reason why there is no communicator of several processes.
const ONE_PROCESS: &str = "ranks in several processes need NCCL, which this version does not call yet: start one process, and make its ranks by \
                           `Communicator::local(&Device::emulators(n))`";

/// The variables that launchers set: the rank of a process, and the number of processes. `torchrun`, Slurm, Open MPI,
/// and MPICH.
const LAUNCHERS: [[&str; 2]; 4] = [
    ["RANK", "WORLD_SIZE"],
    ["SLURM_PROCID", "SLURM_NTASKS"],
    ["OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"],
    ["PMI_RANK", "PMI_SIZE"],
];

impl Communicator {
    /// Returns one communicator for each device: the ranks are threads of this process. Rank `r` is that of
    /// `devices[r]`.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for CUDA devices, in this version, and if one device is there twice.
    pub fn local(devices: &[Device]) -> Result<Vec<Self>> {
        Self::local_with(devices, CommunicatorOptions::default())
    }

    /// As [`Communicator::local`], with these options.
    ///
    /// # Errors
    /// As [`Communicator::local`].
    pub fn local_with(devices: &[Device], options: CommunicatorOptions) -> Result<Vec<Self>> {
        let unsupported = |message| Error::Unsupported {
            site: Site::default(),
            message,
        };
        for (index, device) in devices.iter().enumerate() {
            device.backend.check()?;
            if !device.is_emulator() {
                return Err(unsupported(NO_NCCL));
            }
            let mut earlier = devices[..index].iter();
            if earlier.any(|earlier| earlier.backend.has_memory_of(&device.backend)) {
                return Err(unsupported(
                    "one device is two ranks: each rank has a device of its own",
                ));
            }
        }
        let backends = devices.iter().map(|device| {
            let backend: Backend = device.backend.clone();
            let device: Arc<dyn Any + Send + Sync> = Arc::new(backend);
            device
        });
        Ok(Self::world(backends.collect(), options))
    }

    /// Returns the communicator of the processes that `torchrun`, `srun` or `mpirun` has started, one for each device;
    /// without such a launcher, that of this process alone.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for several processes and for CUDA devices, in this version.
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

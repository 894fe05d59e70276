//! Communicators of devices: the ranks of this process, or of the processes that a launcher has started.

mod rendezvous;
mod launcher;

use super::Device;
use crate::devices::Backend;
use crate::error::{At, Error, Result, Site};
use crate::ownership::station::{CudaStation, MAX_RANKS};
use crate::program::communicator::peer::Peer;
use crate::program::communicator::station::{Carrier, RankDevice, Station};
use crate::program::communicator::{Communicator, CommunicatorOptions, Transport};
use launcher::Launched;
use std::sync::Arc;

impl RankDevice for Backend {
    fn station(&self, carrier: Carrier) -> Result<Option<Arc<dyn Station>>> {
        Ok(match (self, carrier) {
            (Backend::Cuda(cuda), Carrier::Kernels) => Some(Arc::new(CudaStation::new(cuda)?)),
            (Backend::Cuda(cuda), Carrier::Nccl) => Some(Arc::new(CudaStation::by_nccl(cuda)?)),
            (Backend::Emulator(_), _) => None,
        })
    }

    fn nccl_id(&self) -> Result<Vec<u8>> {
        CudaStation::nccl_id()
    }

    fn open(&self, card: &[u8]) -> Result<Option<Arc<dyn Station>>, String> {
        match self {
            Backend::Cuda(cuda) => Ok(Some(Arc::new(CudaStation::open(cuda, card)?))),
            Backend::Emulator(_) if card.is_empty() => Ok(None),
            Backend::Emulator(_) => {
                Err("is a GPU, and this rank is an emulator: ranks of one communicator are all the same".to_owned())
            }
        }
    }
}

impl Communicator {
    /// Returns one communicator for each device: the ranks are threads of this process. Rank `r` is that of
    /// `devices[r]`.
    ///
    /// If GPUs reach each other's memory (NVLink, or PCIe where the machine allows that), each rank takes 32 MiB of its
    /// own for them, and collectives are kernels, which wait for those of the other ranks. Otherwise NCCL carries the
    /// data: [`Transport`].
    ///
    /// Without NCCL, one GPU may be several ranks, so that a program can be tried where there are fewer GPUs than
    /// ranks. Their kernels share the GPU then, and calls that wait for all of it (freeing memory, dropping a graph)
    /// wait for the kernels of all ranks: a rank that makes one while another rank waits for its next launch ends in
    /// the error of a rank that is late.
    ///
    /// # Errors
    /// * [`Error::Unsupported`] for GPUs and emulators together, and for one emulator twice;
    /// * [`Error::NoNccl`] if NCCL is needed, and not on this machine;
    /// * [`Error::Peer`] if NCCL fails;
    /// * [`Error::Cuda`] if there is no memory.
    ///
    /// With [`Transport::PeerMemory`] also, in place of the error about NCCL, [`Error::Unsupported`] for more than 32
    /// GPUs, and [`Error::Peer`] if one has no way to the memory of another one.
    pub fn local(devices: &[Device]) -> Result<Vec<Self>> {
        Self::local_with(devices, CommunicatorOptions::default())
    }

    /// As [`Communicator::local`], with these options.
    ///
    /// # Errors
    /// As [`Communicator::local`].
    pub fn local_with(devices: &[Device], options: CommunicatorOptions) -> Result<Vec<Self>> {
        Self::local_by(devices, Transport::Auto, options)
    }

    /// As [`Communicator::local_with`], with this transport.
    ///
    /// # Errors
    /// As [`Communicator::local`], and [`Error::NoNccl`] if NCCL is asked for, and not on this machine.
    pub fn local_by(devices: &[Device], transport: Transport, options: CommunicatorOptions) -> Result<Vec<Self>> {
        check(devices)?;
        let (carrier, reason) = match transport {
            Transport::Nccl => (Carrier::Nccl, None),
            Transport::PeerMemory => reach_all(devices).map(|()| (Carrier::Kernels, None))?,
            Transport::Auto => match reach_all(devices) {
                Ok(()) => (Carrier::Kernels, None),
                Err(reason) => (Carrier::Nccl, Some(reason)),
            },
        };
        let as_rank = |device: &Device| -> Arc<dyn RankDevice> { Arc::new(device.backend.clone()) };
        let all = devices.iter().map(as_rank).collect();
        let world = Self::world(all, (sharing(devices), carrier), options);
        world.map_err(|error| match reason {
            Some(reason) => error.after(&reason.to_string()),
            None => error,
        })
    }

    /// Returns the communicator of the processes that `torchrun`, `srun` or `mpirun` has started, one for each device;
    /// without such a launcher, that of this process alone. All processes call it, as often as each other.
    ///
    /// Rank and number of processes are those of `RANK` and `WORLD_SIZE`, or of the variables of Slurm, Open MPI or
    /// MPICH. Rank 0 listens at `MASTER_ADDR` and `MASTER_PORT`, or the first port after that which is free, and the
    /// others connect to it. If the processes are on one machine, `mpirun` and `srun` need neither. If
    /// `CUDA_GRAPH_SECRET` is set, processes that have another one are refused. (What they tell each other is not
    /// encrypted.)
    ///
    /// The program says which device is this rank's: `Device::cuda` of `LOCAL_RANK`. If all GPUs are on one machine,
    /// and reach each other's memory by the driver's handles for other processes, collectives are kernels. The 32 MiB
    /// that each GPU gives to such a communicator are freed when its process ends. Otherwise NCCL carries the data,
    /// between any hosts: [`Transport`]. Emulated devices meet over the network, wherever they are.
    ///
    /// ```no_run
    /// use graph_runtime::{Communicator, Device};
    ///
    /// let number = |name| std::env::var(name).ok().and_then(|number| number.parse().ok());
    /// let device = Device::cuda(number("LOCAL_RANK").unwrap_or(0))?;
    /// let world = Communicator::from_env(&device)?;
    /// println!("rank {} of {}", world.rank(), world.size());
    /// # Ok::<(), graph_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// * [`Error::Launcher`] if a variable is missing or is no number, or no address or port is free or can be reached;
    /// * [`Error::Peer`] if a rank does not come within [`CommunicatorOptions::timeout`], has left, has a device of
    ///   another kind or asks for another transport, or if NCCL fails;
    /// * [`Error::NoNccl`] if NCCL is needed, and not on this machine;
    /// * [`Error::Cuda`] if there is no memory.
    ///
    /// With [`Transport::PeerMemory`] also [`Error::Peer`] if a GPU's memory cannot be reached.
    pub fn from_env(device: &Device) -> Result<Self> {
        Self::from_env_with(device, CommunicatorOptions::default())
    }

    /// As [`Communicator::from_env`], with these options.
    ///
    /// # Errors
    /// As [`Communicator::from_env`].
    pub fn from_env_with(device: &Device, options: CommunicatorOptions) -> Result<Self> {
        Self::from_env_by(device, Transport::Auto, options)
    }

    /// As [`Communicator::from_env_with`], with this transport.
    ///
    /// # Errors
    /// As [`Communicator::from_env`].
    pub fn from_env_by(device: &Device, transport: Transport, options: CommunicatorOptions) -> Result<Self> {
        device.backend.check()?;
        let launched = Launched::of(|name| std::env::var(name).ok())?;
        let machine = match device.backend {
            Backend::Cuda(_) => CudaStation::machine(),
            Backend::Emulator(_) => String::new(),
        };
        if launched.size > MAX_RANKS && !device.is_emulator() && transport == Transport::PeerMemory {
            return Err(unsupported(TOO_MANY));
        }
        let reach = (&*machine, MAX_RANKS);
        if launched.size == 1 {
            let alone = Self::local_by(std::slice::from_ref(device), transport, options)?;
            return alone
                .into_iter()
                .next()
                .ok_or_else(|| unsupported("there is no device"));
        }
        let connections = rendezvous::join(&launched, options.timeout)?;
        let device = Arc::new(device.backend.clone());
        Self::of_process(
            device,
            (launched.rank, launched.size),
            connections,
            (options, transport, reach),
        )
    }
}

/// The reason why there is no communicator of so many GPUs.
const TOO_MANY: &str = "without NCCL, a communicator of GPUs has 32 ranks at most: ask for `Transport::Nccl`";

fn unsupported(message: &'static str) -> Error {
    Error::Unsupported {
        site: Site::default(),
        message,
    }
}

/// Refuses devices that are no ranks of one world.
fn check(devices: &[Device]) -> Result<()> {
    for (index, device) in devices.iter().enumerate() {
        device.backend.check()?;
        for earlier in &devices[..index] {
            match (&earlier.backend, &device.backend) {
                (Backend::Cuda(_), Backend::Cuda(_)) => {}
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
    Ok(())
}

/// Lets GPUs reach each other's memory.
fn reach_all(devices: &[Device]) -> Result<()> {
    if devices.len() > MAX_RANKS && devices.iter().any(|device| !device.is_emulator()) {
        return Err(unsupported(TOO_MANY));
    }
    for (index, device) in devices.iter().enumerate() {
        for (other, earlier) in devices[..index].iter().enumerate() {
            reach((other, earlier), (index, device))?;
            reach((index, device), (other, earlier))?;
        }
    }
    Ok(())
}

/// The most ranks that are one GPU; 1 at least.
fn sharing(devices: &[Device]) -> usize {
    let gpu = |device: &Device| match &device.backend {
        Backend::Cuda(cuda) => Some(cuda.device()),
        Backend::Emulator(_) => None,
    };
    let of = |own| devices.iter().filter(|other| gpu(other) == Some(own)).count();
    devices.iter().filter_map(gpu).map(of).max().unwrap_or(1)
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

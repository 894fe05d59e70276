//! The facts that a launcher of processes tells in variables of the environment.

use crate::error::{Error, Result};

/// The variables of a launcher.
struct Launcher {
    /// The rank of the process.
    rank: &'static str,
    /// The number of processes: the first of these that is set.
    size: &'static [&'static str],
    /// The numbers of the processes, or of the machines, that tell whether all processes are on this machine: the first
    /// that is set.
    local: &'static [Local],
    /// The values that tell this job from others, together.
    job: &'static [&'static str],
}

/// How a variable tells whether all processes are on one machine.
enum Local {
    /// It is the number of processes on this machine.
    Processes(&'static str),
    /// It is the number of machines.
    Machines(&'static str),
}

/// `torchrun`, Slurm, Open MPI, and MPICH.
const LAUNCHERS: [Launcher; 4] = [
    Launcher {
        rank: "RANK",
        size: &["WORLD_SIZE"],
        local: &[Local::Processes("LOCAL_WORLD_SIZE")],
        job: &["TORCHELASTIC_RUN_ID", "MASTER_PORT"],
    },
    Launcher {
        rank: "SLURM_PROCID",
        size: &["SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"],
        local: &[Local::Machines("SLURM_STEP_NUM_NODES"), Local::Machines("SLURM_NNODES")],
        job: &["SLURM_JOB_ID", "SLURM_STEP_ID"],
    },
    Launcher {
        rank: "OMPI_COMM_WORLD_RANK",
        size: &["OMPI_COMM_WORLD_SIZE"],
        local: &[Local::Processes("OMPI_COMM_WORLD_LOCAL_SIZE")],
        job: &["PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"],
    },
    Launcher {
        rank: "PMI_RANK",
        size: &["PMI_SIZE"],
        local: &[Local::Processes("MPI_LOCALNRANKS")],
        job: &["HYDI_CONTROL_FD", "PMI_PORT"],
    },
];

/// The first port, and the number of ports, of jobs to which no variable gives one.
const PORTS: (u16, u64) = (20_000, 10_000);

/// A process that a launcher has started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Launched {
    pub(super) rank: usize,
    pub(super) size: usize,
    /// The address at which rank 0 listens. Not used if there is one process alone.
    pub(super) address: String,
    /// The first port at which it may listen.
    pub(super) port: u16,
    /// A text that other jobs do not have.
    pub(super) job: String,
    /// The secret that all processes have.
    pub(super) secret: String,
}

impl Launched {
    /// Reads the variables that `get` gets.
    pub(super) fn of(get: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let get = |name: &str| get(name).filter(|value| !value.trim().is_empty());
        let mut launched = Self {
            rank: 0,
            size: 1,
            address: String::new(),
            port: 0,
            job: String::new(),
            secret: get("CUDA_GRAPH_SECRET").unwrap_or_default(),
        };
        let Some(launcher) = LAUNCHERS.iter().find(|launcher| get(launcher.rank).is_some()) else {
            return match get("WORLD_SIZE").filter(|size| size.trim() != "1") {
                Some(size) => failed(format!("`WORLD_SIZE` is {size}, but `RANK` is not set")),
                None => Ok(launched),
            };
        };
        let Some(size) = launcher.size.iter().find(|name| get(name).is_some()) else {
            let (rank, sizes) = (launcher.rank, launcher.size.join("` or `"));
            return failed(format!("`{rank}` is set, but `{sizes}` is not"));
        };
        let number = |name: &str| -> Result<usize> {
            let value = get(name).unwrap_or_default();
            let number = value.trim().parse();
            number.or_else(|_| failed(format!("`{name}` is `{value}`, which is no number")))
        };
        (launched.rank, launched.size) = (number(launcher.rank)?, number(size)?);
        let (rank, count) = (launched.rank, launched.size);
        if rank >= count {
            let name = launcher.rank;
            return failed(format!(
                "`{name}` is {rank}, and `{size}` is {count}: ranks are counted from 0"
            ));
        }
        if count == 1 {
            return Ok(launched);
        }
        let parts: Vec<String> = launcher.job.iter().filter_map(|name| get(name)).collect();
        launched.job = parts.join(".");
        launched.address = match get("MASTER_ADDR") {
            Some(address) => address.trim().to_owned(),
            None if launcher.is_local(get, count) => "127.0.0.1".to_owned(),
            None => {
                return failed(format!(
                    "`MASTER_ADDR` is not set: {count} processes that may be on several machines need the address of the \
                     machine of rank 0"
                ));
            }
        };
        launched.port = match get("MASTER_PORT") {
            Some(port) => {
                let port = port.trim().parse().ok().filter(|port| *port > 0);
                port.map_or_else(|| failed("`MASTER_PORT` is no port: a number from 1 to 65535"), Ok)?
            }
            None if !launched.job.is_empty() => {
                let sum = launched
                    .job
                    .bytes()
                    .fold(0_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
                PORTS.0 + (sum % PORTS.1) as u16
            }
            None => {
                let names = launcher.job.join("`, `");
                return failed(format!(
                    "`MASTER_PORT` is not set, nor is any of `{names}`, which would tell this job from others"
                ));
            }
        };
        Ok(launched)
    }
}

impl Launcher {
    /// Whether all of so many processes are on this machine, as far as is known.
    fn is_local(&self, get: impl Fn(&str) -> Option<String>, size: usize) -> bool {
        let number = |name: &str| get(name)?.trim().parse::<usize>().ok();
        let mut known = self.local.iter().filter_map(|local| match local {
            Local::Processes(name) => Some(number(name)? == size),
            Local::Machines(name) => Some(number(name)? == 1),
        });
        known.next().unwrap_or(false)
    }
}

fn failed<T>(message: impl Into<String>) -> Result<T> {
    let message = message.into();
    Err(Error::Launcher { message })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Result<Launched> {
        Launched::of(|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    fn message(variables: &[(&str, &str)]) -> String {
        of(variables).unwrap_err().to_string()
    }

    #[test]
    fn without_a_launcher_there_is_one_rank() {
        let alone = of(&[]).unwrap();
        assert_eq!((alone.rank, alone.size), (0, 1));
        // In an allocation of Slurm, and in a shell.
        assert_eq!(of(&[("SLURM_NTASKS", "4"), ("WORLD_SIZE", "1")]).unwrap(), alone);
    }

    #[test]
    fn torchrun_tells_all() {
        let torchrun = of(&[
            ("RANK", "1"),
            ("LOCAL_RANK", "1"),
            ("WORLD_SIZE", "2"),
            ("MASTER_ADDR", "localhost"),
            ("MASTER_PORT", "29500"),
            ("CUDA_GRAPH_SECRET", "s"),
        ]);
        let expected = Launched {
            rank: 1,
            size: 2,
            address: "localhost".to_owned(),
            port: 29500,
            job: "29500".to_owned(),
            secret: "s".to_owned(),
        };
        assert_eq!(torchrun.unwrap(), expected);
    }

    #[test]
    fn slurm_and_mpi_need_no_address_on_one_machine() {
        let slurm = |rank, job| {
            let [rank, job] = [rank, job].map(|number: u32| number.to_string());
            let nodes = ("SLURM_STEP_NUM_NODES", "1");
            of(&[
                ("SLURM_PROCID", &rank),
                ("SLURM_NTASKS", "3"),
                nodes,
                ("SLURM_JOB_ID", &job),
            ])
            .unwrap()
        };
        assert_eq!(
            (slurm(2, 77).rank, slurm(2, 77).size, &*slurm(2, 77).address),
            (2, 3, "127.0.0.1")
        );
        assert_eq!(slurm(0, 77).port, slurm(1, 77).port);
        assert_ne!(slurm(0, 77).port, slurm(0, 78).port);
        let mpi = [
            ("OMPI_COMM_WORLD_RANK", "1"),
            ("OMPI_COMM_WORLD_SIZE", "2"),
            ("OMPI_COMM_WORLD_LOCAL_SIZE", "2"),
            ("PMIX_NAMESPACE", "prterun-host-1234@1"),
        ];
        let mpi = of(&mpi).unwrap();
        assert_eq!((mpi.rank, mpi.size, &*mpi.address), (1, 2, "127.0.0.1"));
    }

    #[test]
    fn what_is_missing_or_wrong_is_named() {
        assert_eq!(
            message(&[("WORLD_SIZE", "2")]),
            "`WORLD_SIZE` is 2, but `RANK` is not set"
        );
        assert_eq!(message(&[("RANK", "0")]), "`RANK` is set, but `WORLD_SIZE` is not");
        let both = "`SLURM_PROCID` is set, but `SLURM_STEP_NUM_TASKS` or `SLURM_NTASKS` is not";
        assert_eq!(message(&[("SLURM_PROCID", "0")]), both);
        let word = message(&[("RANK", "zero"), ("WORLD_SIZE", "2")]);
        assert_eq!(word, "`RANK` is `zero`, which is no number");
        let large = message(&[("RANK", "2"), ("WORLD_SIZE", "2")]);
        assert_eq!(large, "`RANK` is 2, and `WORLD_SIZE` is 2: ranks are counted from 0");
        let two = [("RANK", "0"), ("WORLD_SIZE", "2")];
        assert!(
            message(&two).starts_with("`MASTER_ADDR` is not set"),
            "{}",
            message(&two)
        );
        let address = [&two[..], &[("MASTER_ADDR", "127.0.0.1")]].concat();
        assert!(message(&address).starts_with("`MASTER_PORT` is not set"));
        let port = [&address[..], &[("MASTER_PORT", "65536")]].concat();
        assert!(message(&port).starts_with("`MASTER_PORT` is no port"));
    }
}

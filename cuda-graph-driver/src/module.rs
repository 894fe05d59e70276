//! Modules, their functions, and launches of these.

use crate::code::{
    COOPERATIVE_TOO_LARGE, Done, INVALID_CLUSTER_SIZE, INVALID_IMAGE, INVALID_PTX, LAUNCH_FAILED, NO_BINARY_FOR_GPU,
    NOT_SUPPORTED, fail, refuse,
};
use crate::device::{MAX_SHARED, MEMORY, PROCESSORS};
use crate::handle::Handle;
use crate::rules;
use graph_emulator::{Kernel, MAX_TOGETHER, Module};
use std::collections::{BTreeMap, HashMap};
use std::ffi::CString;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// The clusters that run on every such device, and the largest ones.
const PORTABLE_CLUSTER: u32 = 8;
const MAX_CLUSTER: u32 = 16;

/// A module that is loaded into a context.
pub(crate) struct Loaded {
    pub(crate) module: Module,
    pub(crate) context: Handle,
    /// The number of the architecture that its PTX is for.
    pub(crate) architecture: i32,
    /// The functions that were asked for.
    pub(crate) functions: Mutex<HashMap<String, Handle>>,
}

/// A function of a module.
pub(crate) struct Function {
    pub(crate) module: Arc<Loaded>,
    pub(crate) name: String,
    pub(crate) text: CString,
    pub(crate) dynamic: AtomicU32,
    pub(crate) carveout: AtomicI32,
    pub(crate) non_portable: AtomicI32,
}

/// The values of attributes, by their numbers.
pub(crate) type Attributes = BTreeMap<u32, [u8; 64]>;
/// `CU_LAUNCH_ATTRIBUTE_COOPERATIVE`, `CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION`
pub(crate) const COOPERATIVE: u32 = 2;
pub(crate) const CLUSTER: u32 = 4;

/// The arguments of a launch, at addresses that stay.
pub(crate) struct Arguments {
    pub(crate) bytes: Vec<Box<[u8]>>,
    /// Their addresses, as CUDA tells them.
    pub(crate) pointers: Vec<usize>,
}

/// A launch of a function.
#[derive(Clone)]
pub(crate) struct Launch {
    pub(crate) function: Arc<Function>,
    /// The handles that it was given as: of a function and of a kernel.
    pub(crate) handles: [Handle; 2],
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) shared: u32,
    pub(crate) arguments: Arc<Arguments>,
}

impl Arguments {
    pub(crate) fn new(bytes: Vec<Box<[u8]>>) -> Arc<Self> {
        let pointers = bytes.iter().map(|bytes| bytes.as_ptr().expose_provenance()).collect();
        Arc::new(Self { bytes, pointers })
    }
}

/// The number of the architecture that PTX is for: 90 for `.target sm_90a`.
fn architecture(image: &str) -> i32 {
    let target = image
        .split_once(".target")
        .map_or("", |(_, target)| target.trim_start());
    let digits = target
        .trim_start_matches("sm_")
        .split(|letter: char| !letter.is_ascii_digit());
    digits
        .into_iter()
        .next()
        .and_then(|digits| digits.parse().ok())
        .unwrap_or(0)
}

/// Loads an image, which is PTX.
pub(crate) fn load(context: Handle, image: &str) -> Done<Arc<Loaded>> {
    if image.as_bytes().starts_with(b"\x7fELF") || image.as_bytes().starts_with(&[0x50, 0xed]) {
        return fail(NO_BINARY_FOR_GPU, "the image is machine code; only PTX runs here");
    }
    if !image.contains(".version") {
        return fail(INVALID_IMAGE, "the image is no PTX");
    }
    match Module::load(&MEMORY, image) {
        Ok(module) => {
            // The emulator refuses the kernel alone; a GPU's compiler refuses the module.
            let unknown = module.kernels().find_map(|kernel| {
                let refused = kernel.refused()?;
                refused
                    .message
                    .starts_with("unknown instruction")
                    .then(|| refused.to_string())
            });
            if let Some(text) = unknown {
                return rules::INVALID_PTX.refuse_as(text);
            }
            Ok(Arc::new(Loaded {
                module,
                context,
                architecture: architecture(image),
                functions: Mutex::default(),
            }))
        }
        Err(error) => fail(INVALID_PTX, error.to_string()),
    }
}

impl Function {
    pub(crate) fn kernel(&self) -> Done<Kernel<'_>> {
        match self.module.module.kernel(&self.name) {
            Some(kernel) => Ok(kernel),
            None => fail(LAUNCH_FAILED, format!("`{}` is gone", self.name)),
        }
    }

    /// The most threads of a block.
    pub(crate) fn threads(&self) -> Done<u32> {
        let kernel = self.kernel()?;
        let declared = kernel.required_block().or(kernel.max_block());
        Ok(declared.map_or(1024, |[x, y, z]| x.saturating_mul(y).saturating_mul(z).min(1024)))
    }

    /// The blocks of so many threads that a processor runs at the same time.
    pub(crate) fn occupancy(&self, threads: u32, dynamic: usize) -> Done<i32> {
        let shared = self.kernel()?.shared_bytes() as usize + dynamic;
        if threads == 0 || threads > self.threads()? || shared > MAX_SHARED as usize {
            return Ok(0);
        }
        let by_memory = (228 << 10) / (shared + 1024);
        let most = MAX_TOGETHER as usize / PROCESSORS as usize;
        Ok((2048 / threads as usize).min(by_memory).min(most) as i32)
    }
}

impl Launch {
    /// Refuses a launch that the device does not run.
    pub(crate) fn check(&self, attributes: &Attributes) -> Done {
        let kernel = self.function.kernel()?;
        if let Some(error) = kernel.refused() {
            return fail(
                NOT_SUPPORTED,
                format!("kernel `{}` cannot run here: {error}", self.function.name),
            );
        }
        let threads = self
            .block
            .iter()
            .fold(1_u64, |all, &side| all.saturating_mul(side.into()));
        let [x, y, z] = self.grid;
        if self.grid.contains(&0) || self.block.contains(&0) {
            return refuse(format!(
                "grid {:?}, block {:?}: a dimension is 0",
                self.grid, self.block
            ));
        }
        if x > i32::MAX as u32 || y > 65_535 || z > 65_535 || self.block[2] > 64 || threads > 1024 {
            return refuse(format!("grid {:?}, block {:?}: too large", self.grid, self.block));
        }
        if threads > self.function.threads()?.into() {
            return refuse(format!(
                "{threads} threads, but the kernel has {} at most",
                self.function.threads()?
            ));
        }
        if self.shared > self.function.dynamic.load(Relaxed) {
            return refuse(format!(
                "{} bytes of dynamic shared memory were not allowed",
                self.shared
            ));
        }
        let cluster = cluster(attributes).or(kernel.cluster());
        if let Some(cluster) = cluster {
            let blocks = cluster.iter().fold(1_u32, |all, side| all.saturating_mul(*side));
            let most = match self.function.non_portable.load(Relaxed) {
                0 => PORTABLE_CLUSTER,
                _ => MAX_CLUSTER,
            };
            let divides = self
                .grid
                .iter()
                .zip(cluster)
                .all(|(grid, side)| side > 0 && grid.is_multiple_of(side));
            if blocks > most || !divides {
                let grid = self.grid;
                return fail(
                    INVALID_CLUSTER_SIZE,
                    format!("clusters of {cluster:?} in a grid of {grid:?}"),
                );
            }
        }
        if is_set(attributes, COOPERATIVE) {
            let room = self.function.occupancy(threads as u32, self.shared as usize)? as u64 * PROCESSORS as u64;
            let blocks = self
                .grid
                .iter()
                .fold(1_u64, |all, &side| all.saturating_mul(side.into()));
            if blocks > room {
                return fail(
                    COOPERATIVE_TOO_LARGE,
                    format!("{blocks} blocks, but there is room for {room}"),
                );
            }
        }
        Ok(())
    }
}

fn word(value: &[u8; 64], index: usize) -> u32 {
    let bytes = [0, 1, 2, 3].map(|byte| value[4 * index + byte]);
    u32::from_ne_bytes(bytes)
}

/// Whether an attribute is set.
pub(crate) fn is_set(attributes: &Attributes, attribute: u32) -> bool {
    attributes.get(&attribute).is_some_and(|value| word(value, 0) != 0)
}

/// The cluster that attributes ask for.
pub(crate) fn cluster(attributes: &Attributes) -> Option<[u32; 3]> {
    let value = attributes.get(&CLUSTER)?;
    let cluster = [0, 1, 2].map(|index| word(value, index));
    (cluster != [0; 3]).then_some(cluster)
}

//! Launches of kernels, and host functions, on streams.

use super::calls;
use crate::argument::In;
use crate::code::refuse;
use crate::code::{Done, NOT_SUPPORTED, fail};
use crate::handle::Handle;
use crate::module::{Arguments, Attributes, COOPERATIVE, Launch};
use crate::state::{State, state};
use crate::work::{Call, Work};
use std::ffi::c_void;

/// The marks in a list of extra arguments: the end, the arguments' bytes, and their number.
const EXTRA_END: usize = 0;
const EXTRA_BUFFER: usize = 1;
const EXTRA_BYTES: usize = 2;

/// `CUDA_KERNEL_NODE_PARAMS`
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct KernelParams {
    pub(super) function: Handle,
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
    pub(super) shared: u32,
    /// A list of the addresses of the arguments.
    pub(super) arguments: usize,
    /// A list of marks and values.
    pub(super) extra: usize,
    pub(super) kernel: Handle,
    pub(super) context: Handle,
}

/// The parameters before CUDA 12, which have neither a kernel nor a context.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct FunctionParams {
    pub(super) function: Handle,
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
    pub(super) shared: u32,
    pub(super) arguments: usize,
    pub(super) extra: usize,
}

impl From<FunctionParams> for KernelParams {
    fn from(params: FunctionParams) -> Self {
        Self {
            function: params.function,
            grid: params.grid,
            block: params.block,
            shared: params.shared,
            arguments: params.arguments,
            extra: params.extra,
            kernel: 0,
            context: 0,
        }
    }
}

/// `CUlaunchConfig`
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Config {
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    stream: Handle,
    attributes: usize,
    count: u32,
}

/// `CUlaunchAttribute`
#[derive(Clone, Copy)]
#[repr(C)]
struct Attribute {
    id: u32,
    pad: u32,
    value: [u8; 64],
}

/// Reads a launch with its arguments.
pub(super) fn launch(state: &State, params: &KernelParams) -> Done<Launch> {
    let handle = if params.function == 0 {
        params.kernel
    } else {
        params.function
    };
    if handle == 0 {
        return refuse("there is no function");
    }
    let function = state.function(handle)?.clone();
    let kernel = function.kernel()?;
    let declared = kernel.parameters();
    let mut bytes = Vec::with_capacity(declared.len());
    if params.extra != 0 && params.arguments == 0 {
        let (mut buffer, mut size) = (0, 0);
        let marks = In::<usize>::of(params.extra);
        for at in 0..8 {
            let value = || marks.at::<usize>(16 * at + 8).get();
            match marks.at::<usize>(16 * at).get()? {
                EXTRA_END => break,
                EXTRA_BUFFER => buffer = value()?,
                EXTRA_BYTES => size = In::<usize>::of(value()?).get()?,
                _ => return refuse("the extra arguments have a mark that is not known"),
            }
        }
        let mut end = 0_usize;
        for parameter in declared {
            let start = end.next_multiple_of(parameter.align.max(1));
            end = start + parameter.size;
            if end > size {
                return refuse(format!("the arguments have {size} bytes, but parameters end at {end}"));
            }
            bytes.push(In::<u8>::of(buffer).at::<u8>(start).list(parameter.size)?.into());
        }
    } else {
        let pointers = In::<usize>::of(params.arguments).list(declared.len())?;
        for (pointer, parameter) in pointers.iter().zip(declared) {
            bytes.push(In::<u8>::of(*pointer).list(parameter.size)?.into());
        }
    }
    Ok(Launch {
        handles: [params.function, params.kernel],
        grid: params.grid,
        block: params.block,
        shared: params.shared,
        arguments: Arguments::new(bytes),
        function: function.clone(),
    })
}

fn queue(params: &KernelParams, attributes: Attributes, stream: Handle) -> Done {
    let mut state = state();
    let launch = launch(&state, params)?;
    launch.check(&attributes)?;
    state.queue(stream, Work::Kernel(launch), attributes).map(drop)
}

/// A value of an attribute that is one word.
fn one(word: u32) -> [u8; 64] {
    let mut value = [0; 64];
    value[..4].copy_from_slice(&word.to_ne_bytes());
    value
}

fn params(
    function: Handle,
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    arguments: usize,
    extra: usize,
) -> KernelParams {
    KernelParams::from(FunctionParams {
        function,
        grid,
        block,
        shared,
        arguments,
        extra,
    })
}

/// `CUhostFn`
type HostFunction = Option<unsafe extern "C" fn(*mut c_void)>;

fn queue_call(stream: Handle, function: HostFunction, data: usize) -> Done {
    let Some(function) = function else {
        return refuse("the function is null");
    };
    let call = Work::Call(Call { function, data });
    state().queue(stream, call, Attributes::new()).map(drop)
}

calls! {
    Context cuLaunchKernel(
        function: Handle, gx: u32, gy: u32, gz: u32, bx: u32, by: u32, bz: u32, shared: u32, stream: Handle,
        arguments: usize, extra: usize,
    ) {
        queue(&params(function, [gx, gy, gz], [bx, by, bz], shared, arguments, extra), Attributes::new(), stream)
    }
    Context cuLaunchCooperativeKernel(
        function: Handle, gx: u32, gy: u32, gz: u32, bx: u32, by: u32, bz: u32, shared: u32, stream: Handle,
        arguments: usize,
    ) {
        let attributes = Attributes::from([(COOPERATIVE, one(1))]);
        queue(&params(function, [gx, gy, gz], [bx, by, bz], shared, arguments, 0), attributes, stream)
    }
    Context cuLaunchKernelEx(config: In<Config>, function: Handle, arguments: usize, extra: usize) {
        let config = config.get()?;
        let attributes = In::<Attribute>::of(config.attributes).list(config.count as usize)?;
        let attributes = attributes.into_iter().map(|attribute| (attribute.id, attribute.value)).collect();
        let params = params(function, config.grid, config.block, config.shared, arguments, extra);
        queue(&params, attributes, config.stream)
    }
    Context cuLaunchHostFunc(stream: Handle, function: HostFunction, data: usize) {
        queue_call(stream, function, data)
    }
    Context cuLaunchHostFunc_v2(stream: Handle, function: HostFunction, data: usize, waiting: u32) {
        // The stream blocks or spins until the function has ended.
        if waiting > 1 {
            return refuse(format!("there is no way {waiting} to wait for a host function"));
        }
        queue_call(stream, function, data)
    }
    Context cuStreamAddCallback(_stream: Handle, _function: usize, _data: usize, _flags: u32) {
        fail(NOT_SUPPORTED, "cuStreamAddCallback is not supported here; use cuLaunchHostFunc")
    }
}

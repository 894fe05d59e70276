//! Chains of kernels as bare driver calls build them, to compare with.

use graph_runtime::Device;
use graph_runtime::cudarc::driver::{DriverError, sys};
use std::ffi::{CString, c_void};
use std::ptr;

/// A graph of chains of a kernel `advance(data, step)`. Each chain has numbers of its own, one for each thread.
#[derive(Debug)]
pub struct BareChains {
    module: sys::CUmodule,
    stream: sys::CUstream,
    graph: sys::CUgraph,
    exec: sys::CUgraphExec,
    data: sys::CUdeviceptr,
}

/// A driver call, as a `Result`.
macro_rules! driver {
    ($function:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: the context of the device is current. Every handle is one that an earlier call made, which `drop`
        // destroys; handles are null until then. Pointers are to locals and fields that outlive the call.
        unsafe { sys::$function($($argument),*) }.result()
    };
}

impl BareChains {
    /// Builds the graph; `None` if the device is the emulator.
    ///
    /// # Errors
    /// The error of the driver call that failed.
    pub fn new(
        device: &Device,
        ptx: &str,
        chains: usize,
        steps: usize,
        numbers: usize,
    ) -> Result<Option<Self>, DriverError> {
        let Some(context) = device.context() else {
            return Ok(None);
        };
        context.bind_to_thread()?;
        let mut bare = Self {
            module: ptr::null_mut(),
            stream: ptr::null_mut(),
            graph: ptr::null_mut(),
            exec: ptr::null_mut(),
            data: 0,
        };
        bare.build(ptx, chains, steps, numbers)?;
        Ok(Some(bare))
    }

    fn build(&mut self, ptx: &str, chains: usize, steps: usize, numbers: usize) -> Result<(), DriverError> {
        let image = CString::new(ptx).expect("PTX has no zero bytes");
        let bytes = numbers * size_of::<u32>();
        driver!(cuStreamCreate(&mut self.stream, 1))?;
        driver!(cuMemAlloc_v2(&mut self.data, chains * bytes))?;
        driver!(cuMemsetD8Async(self.data, 0, chains * bytes, self.stream))?;
        driver!(cuModuleLoadData(&mut self.module, image.as_ptr().cast()))?;
        let mut function = ptr::null_mut();
        driver!(cuModuleGetFunction(&mut function, self.module, c"advance".as_ptr()))?;
        driver!(cuGraphCreate(&mut self.graph, 0))?;
        for chain in 0..chains {
            let mut before: Option<sys::CUgraphNode> = None;
            for step in 0..steps {
                let (mut data, mut step) = (self.data + (chain * bytes) as u64, step as u32);
                let mut arguments = [(&raw mut data).cast::<c_void>(), (&raw mut step).cast()];
                let params = sys::CUDA_KERNEL_NODE_PARAMS {
                    func: function,
                    gridDimX: 1,
                    gridDimY: 1,
                    gridDimZ: 1,
                    blockDimX: numbers as u32,
                    blockDimY: 1,
                    blockDimZ: 1,
                    sharedMemBytes: 0,
                    kernelParams: arguments.as_mut_ptr(),
                    extra: ptr::null_mut(),
                    kern: ptr::null_mut(),
                    ctx: ptr::null_mut(),
                };
                let mut node = ptr::null_mut();
                let dependencies = before.as_slice();
                driver!(cuGraphAddKernelNode_v2(
                    &mut node,
                    self.graph,
                    dependencies.as_ptr(),
                    dependencies.len(),
                    &params
                ))?;
                before = Some(node);
            }
        }
        let mut params = sys::CUDA_GRAPH_INSTANTIATE_PARAMS {
            flags: 0,
            hUploadStream: ptr::null_mut(),
            hErrNode_out: ptr::null_mut(),
            result_out: sys::CUgraphInstantiateResult::CUDA_GRAPH_INSTANTIATE_SUCCESS,
        };
        driver!(cuGraphInstantiateWithParams(&mut self.exec, self.graph, &mut params))?;
        driver!(cuGraphUpload(self.exec, self.stream))?;
        self.synchronize()
    }

    /// Launches the graph.
    ///
    /// # Errors
    /// The error of the driver call that failed.
    pub fn launch(&mut self) -> Result<(), DriverError> {
        driver!(cuGraphLaunch(self.exec, self.stream))
    }

    /// Waits for all launches.
    ///
    /// # Errors
    /// The error of the driver call that failed.
    pub fn synchronize(&mut self) -> Result<(), DriverError> {
        driver!(cuStreamSynchronize(self.stream))
    }
}

impl Drop for BareChains {
    fn drop(&mut self) {
        // Building may have failed at any call: handles that it did not make are null. A program that ends needs no
        // errors of destroying.
        if !self.exec.is_null() {
            let _ = self.synchronize();
            let _ = driver!(cuGraphExecDestroy(self.exec));
        }
        if !self.graph.is_null() {
            let _ = driver!(cuGraphDestroy(self.graph));
        }
        if !self.module.is_null() {
            let _ = driver!(cuModuleUnload(self.module));
        }
        if self.data != 0 {
            let _ = driver!(cuMemFree_v2(self.data));
        }
        if !self.stream.is_null() {
            let _ = driver!(cuStreamDestroy_v2(self.stream));
        }
    }
}

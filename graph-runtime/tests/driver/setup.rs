//! What calls of the driver need: a context, streams, a module, memory, and graphs.

use graph_runtime::cudarc::driver::{CudaContext, CudaStream, sys};
use std::ffi::{CString, c_void};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Arc;

/// A module with a kernel of one parameter, and a variable.
pub(crate) const PTX: &str = "
.version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 total;
.visible .entry one(.param .u64 data) {
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [data];
    cvta.to.global.u64 %rd2, %rd1;
    st.global.u32 [%rd2], 1;
    ret;
}
.visible .entry endless() {
again:
    bra again;
}
";

/// Makes a call of the driver.
macro_rules! call {
    ($name:ident($($argument:expr),* $(,)?)) => {{
        // SAFETY: the handles live, and the addresses are those of local variables or of memory of the test. Where a
        // test breaks another promise, the driver says so: that is what it asks.
        unsafe { sys::$name($($argument),*) }
    }};
}
pub(crate) use call;

/// A value that a call writes.
macro_rules! made {
    ($name:ident($out:ident $(, $argument:expr)* $(,)?)) => {{
        let mut $out = std::mem::MaybeUninit::zeroed();
        let code = call!($name($out.as_mut_ptr() $(, $argument)*));
        assert_eq!(code, sys::CUresult::CUDA_SUCCESS, stringify!($name));
        // SAFETY: all zeros are a handle or an address, and the call has written another one.
        unsafe { $out.assume_init() }
    }};
}
pub(crate) use made;

pub(crate) struct Setup {
    pub(crate) context: Arc<CudaContext>,
    pub(crate) stream: Arc<CudaStream>,
    pub(crate) other: Arc<CudaStream>,
    pub(crate) module: sys::CUmodule,
    pub(crate) function: sys::CUfunction,
    /// 4096 bytes of the device, and of page-locked memory of the host.
    pub(crate) data: sys::CUdeviceptr,
    pub(crate) host: *mut c_void,
}

impl Setup {
    pub(crate) fn new() -> Self {
        let context = CudaContext::new(0).expect("a CUDA device");
        let (stream, other) = (
            context.new_stream().expect("a stream"),
            context.new_stream().expect("a stream"),
        );
        let text = CString::new(PTX).expect("it has no zero");
        let module = made!(cuModuleLoadData(module, text.as_ptr().cast()));
        let function = made!(cuModuleGetFunction(function, module, c"one".as_ptr()));
        Self {
            stream,
            other,
            module,
            function,
            data: made!(cuMemAlloc_v2(data, 4096)),
            host: made!(cuMemHostAlloc(host, 4096, 0)),
            context,
        }
    }

    pub(crate) fn graph(&self) -> sys::CUgraph {
        made!(cuGraphCreate(graph, 0))
    }

    pub(crate) fn empty(&self, graph: sys::CUgraph) -> sys::CUgraphNode {
        made!(cuGraphAddEmptyNode(node, graph, ptr::null(), 0))
    }

    pub(crate) fn kernel_params(
        &self,
        grid: u32,
        block: u32,
        shared: u32,
        pointers: &mut [*mut c_void; 1],
    ) -> sys::CUDA_KERNEL_NODE_PARAMS {
        sys::CUDA_KERNEL_NODE_PARAMS {
            func: self.function,
            gridDimX: grid,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: block,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: shared,
            kernelParams: pointers.as_mut_ptr(),
            extra: ptr::null_mut(),
            kern: ptr::null_mut(),
            ctx: ptr::null_mut(),
        }
    }

    /// Adds a kernel node of these dimensions.
    pub(crate) fn add_kernel(
        &self,
        graph: sys::CUgraph,
        grid: u32,
        block: u32,
        shared: u32,
    ) -> (sys::CUresult, sys::CUgraphNode) {
        let mut data = self.data;
        let mut pointers = [(&raw mut data).cast::<c_void>()];
        let params = self.kernel_params(grid, block, shared, &mut pointers);
        let mut node = ptr::null_mut();
        let code = call!(cuGraphAddKernelNode_v2(&mut node, graph, ptr::null(), 0, &params));
        (code, node)
    }

    pub(crate) fn kernel(&self, graph: sys::CUgraph) -> sys::CUgraphNode {
        let (code, node) = self.add_kernel(graph, 1, 1, 0);
        assert_eq!(code, sys::CUresult::CUDA_SUCCESS);
        node
    }

    /// A copy of rows of 4 bytes within the device's memory, or from the host's.
    pub(crate) fn copy_params(&self, from_host: bool, rows: usize) -> sys::CUDA_MEMCPY3D {
        // SAFETY: all zeros are a value of it.
        let mut copy: sys::CUDA_MEMCPY3D = unsafe { MaybeUninit::zeroed().assume_init() };
        copy.srcMemoryType = sys::CUmemorytype::CU_MEMORYTYPE_DEVICE;
        copy.srcDevice = self.data;
        if from_host {
            copy.srcMemoryType = sys::CUmemorytype::CU_MEMORYTYPE_HOST;
            copy.srcHost = self.host;
        }
        copy.dstMemoryType = sys::CUmemorytype::CU_MEMORYTYPE_DEVICE;
        copy.dstDevice = self.data + 1024;
        (copy.srcPitch, copy.dstPitch) = (16, 16);
        (copy.WidthInBytes, copy.Height, copy.Depth) = (4, rows, 1);
        copy
    }

    pub(crate) fn copy(&self, graph: sys::CUgraph, from_host: bool, rows: usize) -> sys::CUgraphNode {
        let params = self.copy_params(from_host, rows);
        made!(cuGraphAddMemcpyNode(
            node,
            graph,
            ptr::null(),
            0,
            &params,
            self.context.cu_ctx()
        ))
    }

    pub(crate) fn fill_params(&self, element: u32, rows: usize) -> sys::CUDA_MEMSET_NODE_PARAMS {
        sys::CUDA_MEMSET_NODE_PARAMS {
            dst: self.data,
            pitch: 64,
            value: 1,
            elementSize: element,
            width: 4,
            height: rows,
        }
    }

    pub(crate) fn fill(&self, graph: sys::CUgraph, rows: usize) -> sys::CUgraphNode {
        let params = self.fill_params(4, rows);
        made!(cuGraphAddMemsetNode(
            node,
            graph,
            ptr::null(),
            0,
            &params,
            self.context.cu_ctx()
        ))
    }

    /// Adds a conditional node with a condition that every launch sets to `default`. Returns its first body.
    pub(crate) fn conditional(
        &self,
        graph: sys::CUgraph,
        [kind, size]: [u32; 2],
        default: u32,
    ) -> Result<sys::CUgraph, sys::CUresult> {
        self.conditional_in(graph, graph, [kind, size], default)
    }

    /// As [`Setup::conditional`], in a body of a graph.
    pub(crate) fn conditional_in(
        &self,
        graph: sys::CUgraph,
        body: sys::CUgraph,
        [kind, size]: [u32; 2],
        default: u32,
    ) -> Result<sys::CUgraph, sys::CUresult> {
        let context = self.context.cu_ctx();
        let handle = made!(cuGraphConditionalHandleCreate(handle, graph, context, default, 1));
        let mut params: [u64; 32] = [0; 32];
        (params[0], params[2]) = (13, handle);
        params[3] = u64::from(kind) | u64::from(size) << 32;
        params[5] = context as u64;
        let mut node = ptr::null_mut();
        let code = call!(cuGraphAddNode_v2(
            &mut node,
            body,
            ptr::null(),
            ptr::null(),
            0,
            params.as_mut_ptr().cast()
        ));
        match code {
            sys::CUresult::CUDA_SUCCESS => {
                let bodies = ptr::with_exposed_provenance::<sys::CUgraph>(params[4] as usize);
                // SAFETY: the driver has written the address of a list of bodies.
                Ok(unsafe { *bodies })
            }
            code => Err(code),
        }
    }

    pub(crate) fn exec(&self, graph: sys::CUgraph) -> sys::CUgraphExec {
        made!(cuGraphInstantiateWithFlags(exec, graph, 0))
    }

    /// An executable graph with one node of each kind: a kernel, a copy, a memset and an empty one.
    pub(crate) fn four(&self) -> (sys::CUgraphExec, [sys::CUgraphNode; 4]) {
        let graph = self.graph();
        let nodes = [
            self.kernel(graph),
            self.copy(graph, false, 1),
            self.fill(graph, 1),
            self.empty(graph),
        ];
        (self.exec(graph), nodes)
    }

    pub(crate) fn edge(
        &self,
        graph: sys::CUgraph,
        from: sys::CUgraphNode,
        to: sys::CUgraphNode,
        programmatic: bool,
    ) -> sys::CUresult {
        // SAFETY: all zeros are a plain edge.
        let mut data: sys::CUgraphEdgeData = unsafe { MaybeUninit::zeroed().assume_init() };
        if programmatic {
            (data.from_port, data.type_) = (1, 1);
        }
        call!(cuGraphAddDependencies_v2(graph, &from, &to, &data, 1))
    }

    pub(crate) fn begin(&self, stream: &CudaStream, mode: u32) -> sys::CUresult {
        use sys::CUstreamCaptureMode::{CU_STREAM_CAPTURE_MODE_RELAXED, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL};
        let mode = if mode == 2 {
            CU_STREAM_CAPTURE_MODE_RELAXED
        } else {
            CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
        };
        call!(cuStreamBeginCapture_v2(stream.cu_stream(), mode))
    }

    /// Ends a capture, which gives a graph or not.
    pub(crate) fn end(&self, stream: &CudaStream) -> sys::CUresult {
        let mut graph = ptr::null_mut();
        call!(cuStreamEndCapture(stream.cu_stream(), &mut graph))
    }

    pub(crate) fn event(&self) -> sys::CUevent {
        made!(cuEventCreate(event, 0))
    }
}

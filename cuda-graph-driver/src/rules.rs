//! Refusals of the driver: each rule once, with the call, the condition and the code.
//!
//! This file is compiled into a test of `graph-runtime`, too, which asks the driver of a GPU for each rule: it uses
//! nothing of the library. A rule is `sure` if driver 580 has confirmed it.

/// A rule.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// The name, by which a test asks for it.
    pub name: &'static str,
    /// The call that is refused.
    pub call: &'static str,
    /// The code that it returns.
    pub code: u32,
    /// The condition.
    pub when: &'static str,
    /// Whether driver 580 has confirmed it.
    pub sure: bool,
}

/// Declares rules, and the list of all.
macro_rules! rules {
    ($($name:ident = $call:literal, $code:literal, $sure:ident, $when:literal;)*) => {
        $(
            #[doc = $when]
            pub const $name: Rule = Rule {
                name: stringify!($name),
                call: $call,
                code: $code,
                when: $when,
                sure: rules!(@$sure),
            };
        )*

        /// All rules.
        pub const ALL: &[Rule] = &[$($name),*];
    };
    (@sure) => { true };
    (@unsure) => { false };
}

rules! {
    FOREIGN_DEPENDENCY = "cuGraphAddEmptyNode", 1, sure, "a node is to come after a node of another graph";
    DEPENDENCY_TWICE = "cuGraphAddEmptyNode", 1, sure, "a node is to come after one node twice";
    NODE_IN_BODY = "cuGraphInstantiateWithParams", 1, sure, "a body of a conditional node has a host function or an event";
    CONDITIONAL_IN_CHILD = "cuGraphAddChildGraphNode", 801, sure, "a child graph has a conditional node";
    ALLOCATION_IN_CHILD = "cuGraphAddChildGraphNode", 801, sure, "a child graph allocates memory";
    CONDITIONAL_SIZE = "cuGraphAddNode_v2", 1, sure, "a `while` has two bodies";
    ATTRIBUTE_OF_OTHER = "cuGraphKernelNodeSetAttribute", 1, sure, "the node is no kernel";
    FOREIGN_EDGE = "cuGraphAddDependencies_v2", 1, sure, "an edge is to lead to a node of another graph";
    EDGE_TO_ITSELF = "cuGraphAddDependencies_v2", 1, sure, "an edge is to lead from a node to itself";
    EDGE_TWICE = "cuGraphAddDependencies_v2", 1, sure, "an edge is there already";
    PROGRAMMATIC_BETWEEN_OTHERS = "cuGraphAddDependencies_v2", 1, sure, "a programmatic edge is to lead from or to a node that is no kernel";
    CIRCLE = "cuGraphInstantiateWithParams", 1, sure, "the edges of a graph form a circle";
    UNKNOWN_FLAGS = "cuGraphInstantiateWithParams", 1, sure, "a flag of the instantiation is not known";
    FLAGS_APART = "cuGraphInstantiateWithParams", 1, sure, "launches are to free memory, and the device is to make some";
    NODE_OF_ANOTHER_GRAPH = "cuGraphNodeSetEnabled", 1, sure, "the node is not of the graph that the executable graph was made of";
    ENABLED_OF_OTHER_KINDS = "cuGraphNodeSetEnabled", 1, sure, "a node is to be disabled that is no kernel, copy or memset";
    SET_KERNEL_OF_OTHER = "cuGraphExecKernelNodeSetParams_v2", 1, sure, "the node is no kernel";
    SET_COPY_OF_OTHER = "cuGraphExecMemcpyNodeSetParams", 1, sure, "the node is no copy";
    SET_FILL_OF_OTHER = "cuGraphExecMemsetNodeSetParams", 1, sure, "the node is no memset";
    SET_CALL_OF_OTHER = "cuGraphExecHostNodeSetParams", 1, sure, "the node is no host function";
    SET_COPY_ROWS = "cuGraphExecMemcpyNodeSetParams", 1, sure, "the copy is, or is to become, one of several rows";
    SET_COPY_KIND = "cuGraphExecMemcpyNodeSetParams", 1, sure, "a side of the copy is to be memory of another kind";
    SET_FILL_ROWS = "cuGraphExecMemsetNodeSetParams", 1, sure, "the memset is, or is to become, one of several rows";
    KERNEL_GRID = "cuGraphAddKernelNode_v2", 1, sure, "a dimension of the grid is 0";
    KERNEL_THREADS = "cuGraphAddKernelNode_v2", 1, sure, "a block has more than 1024 threads";
    KERNEL_SHARED = "cuGraphAddKernelNode_v2", 1, sure, "a block has more shared memory than the function was allowed";
    SET_KERNEL_THREADS = "cuGraphExecKernelNodeSetParams_v2", 1, sure, "a block is to have more than 1024 threads";
    FILL_ELEMENT = "cuGraphAddMemsetNode", 1, sure, "an element of a memset has 3 bytes";
    UPDATE_COUNT = "cuGraphExecUpdate_v2", 910, sure, "the other graph has more nodes";
    UPDATE_KIND = "cuGraphExecUpdate_v2", 910, sure, "a node of the other graph is of another kind";
    UPDATE_EDGES = "cuGraphExecUpdate_v2", 910, sure, "the other graph has other edges";
    UPDATE_COPY_KIND = "cuGraphExecUpdate_v2", 910, sure, "a copy of the other graph is of memory of another kind";
    LAUNCH_ON_CAPTURING = "cuGraphLaunch", 900, sure, "the stream is being captured";
    SYNCHRONIZE_CAPTURING = "cuStreamSynchronize", 900, sure, "the stream is being captured";
    QUERY_CAPTURING = "cuStreamQuery", 900, sure, "the stream is being captured";
    ALLOCATE_IN_CAPTURE = "cuMemAlloc_v2", 900, sure, "this thread captures a stream";
    CAPTURE_TWICE = "cuStreamBeginCapture_v2", 401, sure, "the stream is being captured";
    END_WITHOUT_CAPTURE = "cuStreamEndCapture", 401, sure, "the stream is not being captured";
    END_UNJOINED = "cuStreamEndCapture", 904, sure, "work was forked to a stream that was not joined";
    END_ON_OTHER_STREAM = "cuStreamEndCapture", 903, sure, "the capture began on another stream";
    END_INVALID = "cuStreamEndCapture", 901, sure, "a call has made the capture invalid";
    CAPTURE_NULL = "cuStreamBeginCapture_v2", 900, sure, "the stream is the null stream";
    CAPTURE_MODE = "cuStreamBeginCapture_v2", 1, unsure, "there is no such mode";
    ISOLATION = "cuStreamWaitEvent", 905, sure, "a stream that is being captured is to wait for an event from outside";
    MERGE = "cuStreamWaitEvent", 902, sure, "a stream that is being captured is to wait for an event of another capture";
    QUERY_CAPTURED_EVENT = "cuEventQuery", 907, sure, "the event was recorded in a capture";
    FREE_TWICE = "cuMemFree_v2", 1, sure, "the address is not allocated";
    ALLOCATE_NOTHING = "cuMemAlloc_v2", 1, sure, "0 bytes are to be allocated";
    REGISTER_TWICE = "cuMemHostRegister_v2", 712, sure, "the memory is registered already";
    UNREGISTER_UNKNOWN = "cuMemHostUnregister", 713, sure, "the memory is not registered";
    NO_SUCH_FUNCTION = "cuModuleGetFunction", 500, sure, "the module has no such kernel";
    NO_SUCH_VARIABLE = "cuModuleGetGlobal_v2", 500, sure, "the module has no such variable";
    INVALID_PTX = "cuModuleLoadData", 218, sure, "the PTX has an instruction that there is not";
    NO_SUCH_PARAMETER = "cuFuncGetParamInfo", 1, sure, "the function has not so many parameters";
    NO_SUCH_DEVICE = "cuDeviceGet", 101, sure, "there is no such device";
    CHILD_OF_OTHER = "cuGraphChildGraphNodeGetGraph", 1, sure, "the node is no child graph";
    PARAMS_OF_OTHER = "cuGraphMemcpyNodeGetParams", 1, sure, "the node is no copy";
    TEXTURE_ADDRESS = "cuTexObjectCreate", 1, sure, "the address of a texture is no multiple of 512";
    ARRAY_WITHOUT_WIDTH = "cuArray3DCreate_v2", 1, sure, "the array has no width";
    SURFACE_OF_MEMORY = "cuSurfObjectCreate", 1, sure, "a surface is to be made of memory that is no array";
}

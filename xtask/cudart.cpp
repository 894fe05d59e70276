// Compares CUDA's headers with what `graph-runtime/src/driver/graph_api.rs` and `runtime_structs.rs` declare: types of
// functions, and the sizes and offsets of structs that `structs_are_those_of_the_header` there has as numbers.
// `cargo xtask cudart` compiles this with the headers of CUDA 12 and 13, and links nothing.

#include <cstddef>
#include <type_traits>

#include <cuda.h>
#include <cuda_runtime_api.h>

#define FUNCTION(name, ...) static_assert(std::is_same_v<decltype(&name), cudaError_t (*)(__VA_ARGS__)>, #name)
#define SIZE(type, bytes) static_assert(sizeof(type) == bytes, #type)
#define OFFSET(type, field, bytes) static_assert(offsetof(type, field) == bytes, #type "::" #field)
#define ALIKE(ours, theirs) static_assert(int(ours) == int(theirs), #ours)

using Graph = cudaGraph_t;
using Exec = cudaGraphExec_t;
using Node = cudaGraphNode_t;
using Nodes = const cudaGraphNode_t *;
using Data = const cudaGraphEdgeData *;

// Handles are the driver's: the same pointers.
static_assert(std::is_same_v<Graph, CUgraph> && std::is_same_v<Exec, CUgraphExec> && std::is_same_v<Node, CUgraphNode>);
static_assert(std::is_same_v<cudaStream_t, CUstream> && std::is_same_v<cudaEvent_t, CUevent>);
static_assert(std::is_same_v<cudaKernel_t, CUkernel>);

FUNCTION(cudaGraphAddChildGraphNode, Node *, Graph, Nodes, size_t, Graph);
FUNCTION(cudaGraphAddEmptyNode, Node *, Graph, Nodes, size_t);
FUNCTION(cudaGraphAddEventRecordNode, Node *, Graph, Nodes, size_t, cudaEvent_t);
FUNCTION(cudaGraphAddEventWaitNode, Node *, Graph, Nodes, size_t, cudaEvent_t);
FUNCTION(cudaGraphAddHostNode, Node *, Graph, Nodes, size_t, const cudaHostNodeParams *);
FUNCTION(cudaGraphAddKernelNode, Node *, Graph, Nodes, size_t, const cudaKernelNodeParams *);
FUNCTION(cudaGraphAddMemcpyNode, Node *, Graph, Nodes, size_t, const cudaMemcpy3DParms *);
FUNCTION(cudaGraphAddMemsetNode, Node *, Graph, Nodes, size_t, const cudaMemsetParams *);
FUNCTION(cudaGraphChildGraphNodeGetGraph, Node, Graph *);
FUNCTION(cudaGraphConditionalHandleCreate, cudaGraphConditionalHandle *, Graph, unsigned, unsigned);
FUNCTION(cudaGraphCreate, Graph *, unsigned);
FUNCTION(cudaGraphDebugDotPrint, Graph, const char *, unsigned);
FUNCTION(cudaGraphDestroy, Graph);
FUNCTION(cudaGraphExecDestroy, Exec);
FUNCTION(cudaGraphExecHostNodeSetParams, Exec, Node, const cudaHostNodeParams *);
FUNCTION(cudaGraphExecKernelNodeSetParams, Exec, Node, const cudaKernelNodeParams *);
FUNCTION(cudaGraphExecMemcpyNodeSetParams, Exec, Node, const cudaMemcpy3DParms *);
FUNCTION(cudaGraphExecMemsetNodeSetParams, Exec, Node, const cudaMemsetParams *);
FUNCTION(cudaGraphExecUpdate, Exec, Graph, cudaGraphExecUpdateResultInfo *);
FUNCTION(cudaGraphInstantiateWithParams, Exec *, Graph, cudaGraphInstantiateParams *);
FUNCTION(cudaGraphKernelNodeSetAttribute, Node, cudaLaunchAttributeID, const cudaLaunchAttributeValue *);
FUNCTION(cudaGraphLaunch, Exec, cudaStream_t);
FUNCTION(cudaGraphMemcpyNodeSetParams, Node, const cudaMemcpy3DParms *);
FUNCTION(cudaGraphMemsetNodeSetParams, Node, const cudaMemsetParams *);
FUNCTION(cudaGraphNodeSetEnabled, Exec, Node, unsigned);
FUNCTION(cudaGraphUpload, Exec, cudaStream_t);
FUNCTION(cudaRuntimeGetVersion, int *);
FUNCTION(cudaGetLastError, void);
static_assert(std::is_same_v<decltype(&cudaGetErrorName), const char *(*)(cudaError_t)>);
// `RENAMED` in `runtime/library.rs`.
#if CUDART_VERSION >= 13000
FUNCTION(cudaGraphAddDependencies, Graph, Nodes, Nodes, Data, size_t);
FUNCTION(cudaGraphAddNode, Node *, Graph, Nodes, Data, size_t, cudaGraphNodeParams *);
#else
FUNCTION(cudaGraphAddDependencies, Graph, Nodes, Nodes, size_t);
FUNCTION(cudaGraphAddDependencies_v2, Graph, Nodes, Nodes, Data, size_t);
FUNCTION(cudaGraphAddNode_v2, Node *, Graph, Nodes, Data, size_t, cudaGraphNodeParams *);
#endif

SIZE(cudaKernelNodeParams, 56);
OFFSET(cudaKernelNodeParams, gridDim, 8);
OFFSET(cudaKernelNodeParams, blockDim, 20);
OFFSET(cudaKernelNodeParams, sharedMemBytes, 32);
OFFSET(cudaKernelNodeParams, kernelParams, 40);
OFFSET(cudaKernelNodeParams, extra, 48);
SIZE(cudaMemcpy3DParms, 160);
OFFSET(cudaMemcpy3DParms, srcPos, 8);
OFFSET(cudaMemcpy3DParms, srcPtr, 32);
OFFSET(cudaMemcpy3DParms, dstArray, 64);
OFFSET(cudaMemcpy3DParms, dstPos, 72);
OFFSET(cudaMemcpy3DParms, dstPtr, 96);
OFFSET(cudaMemcpy3DParms, extent, 128);
OFFSET(cudaMemcpy3DParms, kind, 152);
OFFSET(cudaPitchedPtr, pitch, 8);
OFFSET(cudaPitchedPtr, xsize, 16);
OFFSET(cudaPitchedPtr, ysize, 24);
ALIKE(cudaMemcpyHostToHost, 0);
ALIKE(cudaMemcpyHostToDevice, 1);
ALIKE(cudaMemcpyDeviceToHost, 2);
ALIKE(cudaMemcpyDeviceToDevice, 3);
SIZE(cudaHostNodeParams, 16);
OFFSET(cudaHostNodeParams, userData, 8);
// The driver's own structs are passed to the runtime.
SIZE(cudaMemsetParams, sizeof(CUDA_MEMSET_NODE_PARAMS));
OFFSET(cudaMemsetParams, value, offsetof(CUDA_MEMSET_NODE_PARAMS, value));
OFFSET(cudaMemsetParams, elementSize, offsetof(CUDA_MEMSET_NODE_PARAMS, elementSize));
OFFSET(cudaMemsetParams, width, offsetof(CUDA_MEMSET_NODE_PARAMS, width));
OFFSET(cudaMemsetParams, height, offsetof(CUDA_MEMSET_NODE_PARAMS, height));
SIZE(cudaGraphInstantiateParams, sizeof(CUDA_GRAPH_INSTANTIATE_PARAMS));
OFFSET(cudaGraphInstantiateParams, errNode_out, offsetof(CUDA_GRAPH_INSTANTIATE_PARAMS, hErrNode_out));
OFFSET(cudaGraphInstantiateParams, result_out, offsetof(CUDA_GRAPH_INSTANTIATE_PARAMS, result_out));
SIZE(cudaGraphExecUpdateResultInfo, sizeof(CUgraphExecUpdateResultInfo));
OFFSET(cudaGraphExecUpdateResultInfo, errorNode, offsetof(CUgraphExecUpdateResultInfo, errorNode));
SIZE(cudaGraphNodeParams, sizeof(CUgraphNodeParams));
OFFSET(cudaGraphNodeParams, conditional, offsetof(CUgraphNodeParams, conditional));
OFFSET(cudaConditionalNodeParams, type, 8);
OFFSET(cudaConditionalNodeParams, size, 12);
OFFSET(cudaConditionalNodeParams, phGraph_out, 16);
ALIKE(cudaGraphNodeTypeConditional, CU_GRAPH_NODE_TYPE_CONDITIONAL);
ALIKE(cudaGraphCondTypeIf, CU_GRAPH_COND_TYPE_IF);
ALIKE(cudaGraphCondTypeWhile, CU_GRAPH_COND_TYPE_WHILE);
SIZE(cudaGraphEdgeData, sizeof(CUgraphEdgeData));
OFFSET(cudaGraphEdgeData, type, offsetof(CUgraphEdgeData, type));
ALIKE(cudaGraphKernelNodePortProgrammatic, CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC);
ALIKE(cudaGraphDependencyTypeProgrammatic, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC);
SIZE(cudaLaunchAttributeValue, sizeof(CUlaunchAttributeValue));
ALIKE(cudaLaunchAttributePriority, CU_LAUNCH_ATTRIBUTE_PRIORITY);
ALIKE(cudaLaunchAttributeClusterDimension, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
ALIKE(cudaLaunchAttributeCooperative, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
ALIKE(cudaGraphDebugDotFlagsVerbose, CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE);
// Errors that are told apart by their numbers.
ALIKE(cudaErrorStreamCaptureUnsupported, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
ALIKE(cudaErrorStreamCaptureInvalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
ALIKE(cudaErrorGraphExecUpdateFailure, CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
ALIKE(cudaErrorNotSupported, CUDA_ERROR_NOT_SUPPORTED);
ALIKE(cudaErrorIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS);
ALIKE(cudaErrorLaunchFailure, CUDA_ERROR_LAUNCH_FAILED);
ALIKE(cudaErrorInvalidValue, CUDA_ERROR_INVALID_VALUE);

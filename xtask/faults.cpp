// Faults of NVIDIA's software that we work around, in bare driver calls. Once a newer version passes, the workaround
// can go. This file is no .cu, since `cargo xtask ptx` compiles those.
//
//   nvcc -x cu -arch=sm_90 -o faults xtask/faults.cpp -lcuda
//
// `backend/cuda/skip.rs`: a launch with a disabled memset node is taken for done before it is. Reads 0 after waiting:
//   ./faults disabled
// `backend/cuda/conditional.rs`: a `while` beside an `if` in the body of another `while` may never end. Most runs find
// a launch that does not:
//   ./faults beside
// `gpu.sh`: compute-sanitizer cannot run some programs. The first of these never ends. The second ends in
// CUDA_ERROR_ILLEGAL_ADDRESS, with 0 errors.
//   compute-sanitizer --tool initcheck ./faults batch
//   for i in 1 2 3 4; do compute-sanitizer --tool memcheck ./faults conditional & done; wait
//
// Seen on an H200 with driver 580.159, and compute-sanitizer 2025.3.1 (CUDA 13.0) and 2026.4.0 (13.5).
#include <cuda.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#include <vector>

#define CHECK(call) check(call, #call)
static void check(CUresult result, const char *call) {
    if (result == CUDA_SUCCESS) return;
    const char *name;
    cuGetErrorName(result, &name);
    printf("%s: %s\n", call, name);
    exit(3);
}

typedef std::vector<CUgraphNode> Nodes;
static CUcontext context;
static CUstream stream;

extern "C" __global__ void set(cudaGraphConditionalHandle handle, const unsigned *flag) { cudaGraphSetConditional(handle, *flag); }
extern "C" __global__ void work(float *a, const float *b) { a[threadIdx.x] = 0.5f * a[threadIdx.x] + b[threadIdx.x]; }

extern "C" __global__ void count_late(unsigned *counter, CUdeviceptr cycles) {
    for (long long began = clock64(); clock64() - began < (long long)cycles;) {}
    *counter += 1;
}

static CUgraphNode fill(CUgraph graph, const Nodes &after, CUdeviceptr to, unsigned value, size_t elements) {
    CUDA_MEMSET_NODE_PARAMS params = {};
    params.dst = to, params.value = value, params.elementSize = 4, params.width = elements, params.height = 1;
    CUgraphNode node;
    CHECK(cuGraphAddMemsetNode(&node, graph, after.data(), after.size(), &params, context));
    return node;
}

static CUgraphNode copy(CUgraph graph, const Nodes &after, CUdeviceptr from, CUdeviceptr to, size_t bytes) {
    CUDA_MEMCPY3D params = {};
    params.srcMemoryType = params.dstMemoryType = CU_MEMORYTYPE_DEVICE, params.srcDevice = from, params.dstDevice = to;
    params.WidthInBytes = bytes, params.Height = params.Depth = 1;
    CUgraphNode node;
    CHECK(cuGraphAddMemcpyNode(&node, graph, after.data(), after.size(), &params, context));
    return node;
}

template <typename A>
static CUgraphNode kernel(CUgraph graph, const Nodes &after, const void *symbol, unsigned threads, A first, CUdeviceptr second) {
    cudaFunction_t function;
    if (cudaGetFuncBySymbol(&function, symbol) != cudaSuccess) exit(4);
    void *arguments[] = {&first, &second};
    CUDA_KERNEL_NODE_PARAMS params = {};
    params.func = function, params.gridDimX = params.gridDimY = params.gridDimZ = params.blockDimY = params.blockDimZ = 1;
    params.blockDimX = threads, params.kernelParams = arguments;
    CUgraphNode node;
    CHECK(cuGraphAddKernelNode(&node, graph, after.data(), after.size(), &params));
    return node;
}

// A conditional node with one body. Its condition is set from a flag; `handle` and `body` are written.
static CUgraphNode conditional(CUgraph graph, const Nodes &after, CUgraphConditionalNodeType type, CUdeviceptr flag,
                               CUgraphConditionalHandle *handle, CUgraph *body) {
    CHECK(cuGraphConditionalHandleCreate(handle, graph, context, 0, 0));
    CUgraphNode begin = kernel(graph, after, (const void *)set, 1, *handle, flag), node;
    CUgraphNodeParams params;
    memset(&params, 0, sizeof params);
    params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL, params.conditional.handle = *handle;
    params.conditional.type = type, params.conditional.size = 1, params.conditional.ctx = context;
    CHECK(cuGraphAddNode(&node, graph, &begin, nullptr, 1, &params));
    *body = params.conditional.phGraph_out[0];
    return node;
}

// A `while` whose condition is the first of five flags, which move by one in each iteration.
static CUgraphNode loop(CUgraph graph, const Nodes &after, CUdeviceptr base, unsigned iterations, unsigned depth) {
    CUdeviceptr flags = base, moved = base + 256, a = base + 512, b = base + 1024;
    CUgraphNode ones = fill(graph, after, flags, 1, 5), zeros = fill(graph, {ones}, flags + 4 * iterations, 0, 5 - iterations);
    CUgraphConditionalHandle handle;
    CUgraph body;
    CUgraphNode node = conditional(graph, {zeros}, CU_GRAPH_COND_TYPE_WHILE, flags, &handle, &body);
    CUgraphNode filled = fill(body, {}, a, 0x3f800000, 32), copied = copy(body, {filled}, a, b, 128);
    CUgraphNode last = kernel(body, {copied}, (const void *)work, 32, a, b);
    if (depth > 0) last = loop(body, {last}, base + 4096, depth, depth - 1);
    CUgraphNode out = copy(body, {last}, flags + 4, moved, 16), back = copy(body, {out}, moved, flags, 16);
    kernel(body, {back}, (const void *)set, 1, handle, flags);
    return node;
}

static void launch(CUgraph graph) {
    CUgraphExec exec;
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 3; i++) CHECK(cuGraphLaunch(exec, stream));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuGraphExecDestroy(exec));
    CHECK(cuGraphDestroy(graph));
}

static void conditionals(unsigned round) {
    std::vector<CUdeviceptr> blocks(20);
    CUgraph graph;
    CHECK(cuGraphCreate(&graph, 0));
    for (CUdeviceptr &block : blocks) {
        CHECK(cuMemAlloc(&block, 10752));
        CHECK(cuMemsetD8Async(block, 0, 10752, stream));
    }
    CHECK(cuStreamSynchronize(stream));
    Nodes last;
    for (size_t i = 0; i < blocks.size(); i++) last = {loop(graph, last, blocks[i], (round + i) % 4, i % 2)};
    launch(graph);
    for (CUdeviceptr block : blocks) CHECK(cuMemFree(block));
}

// A word is set to 5; an operation waits for that and writes 6.
static void batch() {
    CUdeviceptr word;
    CHECK(cuMemAlloc(&word, 4));
    CUgraph graph;
    CHECK(cuGraphCreate(&graph, 0));
    CUgraphNode five = fill(graph, {}, word, 5, 1), node;
    CUstreamBatchMemOpParams operations[2] = {};
    operations[0].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32, operations[0].waitValue.address = word;
    operations[0].waitValue.value = 5, operations[0].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
    operations[1].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32, operations[1].writeValue.address = word;
    operations[1].writeValue.value = 6;
    CUDA_BATCH_MEM_OP_NODE_PARAMS params = {};
    params.ctx = context, params.count = 2, params.paramArray = operations;
    CHECK(cuGraphAddBatchMemOpNode(&node, graph, &five, 1, &params));
    launch(graph);
}

// A kernel counts after a while; a disabled memset stands behind it, and a copy behind that.
static void disabled() {
    CUdeviceptr data;
    CHECK(cuMemAlloc(&data, 4096));
    CHECK(cuMemsetD8Async(data, 0, 4096, stream));
    CUgraph graph;
    CHECK(cuGraphCreate(&graph, 0));
    CUgraphNode before = kernel(graph, {}, (const void *)count_late, 1, data, 600000), middle = fill(graph, {before}, data + 2048, 1, 32);
    copy(graph, {middle}, data, data + 1024, 4);
    CUgraphExec exec;
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    CHECK(cuGraphNodeSetEnabled(exec, middle, 0));
    for (unsigned launches = 1; launches <= 5; launches++) {
        unsigned counted, copied;
        CHECK(cuGraphLaunch(exec, stream));
        CHECK(cuStreamSynchronize(stream));
        CHECK(cuMemcpyDtoH(&counted, data, 4));
        CHECK(cuMemcpyDtoH(&copied, data + 1024, 4));
        printf("%u launches: counted %u, copied %u\n", launches, counted, copied);
    }
}

extern "C" __global__ void count_down(unsigned *flag, CUdeviceptr) { --*flag; }
extern "C" __global__ void take(unsigned *to, CUdeviceptr from) { *to = *(const unsigned *)from; }

// A `while` of two iterations whose body has, side by side: a `while` of one iteration, then of none; a kernel; and an
// `if`. `before` kernels delay the first.
static void beside(unsigned before) {
    CUdeviceptr data;
    CHECK(cuMemAlloc(&data, 16384));
    CHECK(cuMemsetD8(data, 0, 16384));
    CUdeviceptr outer = data, inner = data + 256, choice = data + 512, a = data + 1024, b = a + 1024, c = b + 1024, d = c + 1024, e = d + 1024;
    CUgraph graph, body, nested, chosen;
    CHECK(cuGraphCreate(&graph, 0));
    CUgraphConditionalHandle outer_handle, inner_handle, handle;
    CUgraphNode two = fill(graph, {}, outer, 2, 1), one = fill(graph, {two}, choice, 1, 1);
    conditional(graph, {one}, CU_GRAPH_COND_TYPE_WHILE, outer, &outer_handle, &body);
    const void *work = (const void *)::work;
    CUgraphNode last = kernel(body, {}, (const void *)count_down, 1, outer, a);
    for (unsigned i = 0; i < before; i++) last = kernel(body, {last}, work, 32, a, b);
    CUgraphNode took = kernel(body, {last}, (const void *)take, 1, inner, outer);
    CUgraphNode loop = conditional(body, {took}, CU_GRAPH_COND_TYPE_WHILE, inner, &inner_handle, &nested);
    CUgraphNode down = kernel(nested, {}, (const void *)count_down, 1, inner, a), more = kernel(nested, {down}, work, 32, c, b);
    kernel(nested, {kernel(nested, {more}, work, 32, c, b)}, (const void *)set, 1, inner_handle, inner);
    CUgraphNode lone = kernel(body, {}, work, 32, d, b), early = kernel(body, {}, work, 32, e, b);
    CUgraphNode either = conditional(body, {kernel(body, {early}, work, 32, e, b)}, CU_GRAPH_COND_TYPE_IF, choice, &handle, &chosen);
    CUgraphNode copied = copy(chosen, {}, b, e + 1024, 64), then = kernel(chosen, {copied}, work, 32, e + 1024, b);
    kernel(chosen, {then}, work, 32, e + 2048, b), kernel(chosen, {then}, work, 32, e + 3072, b);
    last = fill(body, {loop, lone, either}, d + 512, 1, 8);
    for (int i = 0; i < 2; i++) last = kernel(body, {last}, work, 32, d, b);
    for (int i = 0; i < 2; i++) last = copy(body, {last}, b, d + 512, 64);
    kernel(body, {fill(body, {last}, d + 768, 1, 8)}, (const void *)set, 1, outer_handle, outer);
    CUgraphExec exec;
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    for (unsigned launches = 1; launches <= 300; launches++) {
        CHECK(cuGraphLaunch(exec, stream));
        for (int wait = 0; launches % 3 == 0 && cuStreamQuery(stream) == CUDA_ERROR_NOT_READY; wait++) {
            if (wait == 1000) printf("%u before: launch %u has not ended for a second\n", before, launches), fflush(stdout), _exit(1);
            usleep(1000);
        }
    }
    printf("%u before: ended\n", before);
}

int main(int count, char **arguments) {
    if (count != 2) return printf("usage: %s disabled|beside|batch|conditional\n", arguments[0]), 2;
    cudaFree(nullptr); // makes the primary context current
    CHECK(cuCtxGetCurrent(&context));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    if (strcmp(arguments[1], "disabled") == 0) disabled();
    else if (strcmp(arguments[1], "beside") == 0) for (unsigned round = 0; round < 24; round++) beside(round % 6);
    else if (strcmp(arguments[1], "batch") == 0) batch();
    else for (unsigned round = 0; round < 100; round++) conditionals(round);
    printf("ended well\n");
}

/* Graph files of graph-runtime: opening, binding memory by name, launching. And graphs that others have captured: what
 * they do, and which of their edges nothing needs.
 *
 * Functions that return an int return 0 if they succeed. After a failure, cuda_graph_error() says why.
 * One thread at a time uses a graph. */
#ifndef CUDA_GRAPH_LOAD_H
#define CUDA_GRAPH_LOAD_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CudaGraph CudaGraph;

/* Opens a file for a device: "cuda:0" or another number, or "emulator", which runs on the CPU. On a GPU, it is for the
 * device's primary context, as CUDA's runtime and PyTorch use it. The kernels of the file are trusted to stay within
 * their memory, as they did in the graph that was saved; everything else is checked. NULL after a failure. */
CudaGraph *cuda_graph_open(const char *device, const char *path);

/* Lets later launches use device memory as the memory of this name. It has as many bytes as in the file, and stays
 * allocated until other memory is bound or the graph is closed. On the emulator it is memory of the host, at a multiple
 * of 4. Other work with the memory is ordered with launches by the caller: on the stream of cuda_graph_launch_on, or
 * by cuda_graph_synchronize. */
int cuda_graph_bind(CudaGraph *graph, const char *name, void *address, size_t bytes);

/* Starts the graph on a stream of its own. */
int cuda_graph_launch(CudaGraph *graph);

/* Starts the graph on a stream of the same context: a CUstream or a cudaStream_t, also the null stream. */
int cuda_graph_launch_on(CudaGraph *graph, void *stream);

/* Waits for all launches, and returns their error. */
int cuda_graph_synchronize(CudaGraph *graph);

/* Wait for all launches, and copy the memory of this name to or from memory of the host, of as many bytes. */
int cuda_graph_read(CudaGraph *graph, const char *name, void *to, size_t bytes);
int cuda_graph_write(CudaGraph *graph, const char *name, const void *from, size_t bytes);

/* Waits for all launches, and frees the graph. NULL is allowed. */
void cuda_graph_close(CudaGraph *graph);

/* Memory that a captured graph uses: its name for texts, its first address, and its size. */
typedef struct {
    const char *name;
    void *address;
    size_t bytes;
} CudaGraphMemory;

/* What was found in a graph. Known nodes are those of which all memory is known that they access. Levels are the nodes
 * on the longest path, as it is and without the edges that nothing needs. Pairs of nodes that nothing orders are proved
 * apart, racing, or it cannot be told. */
typedef struct {
    size_t nodes, known_nodes, edges, unneeded_edges, levels, needed_levels, pairs_apart, racing, cannot_tell;
} CudaGraphLift;

/* Reads a graph (a CUgraph or a cudaGraph_t, as of PyTorch's raw_cuda_graph()), whose context is current and which
 * nobody changes meanwhile. `memory` names allocations, which do not overlap, and which nodes reach by addresses in
 * them alone; the driver looks up others. `ptx` has the texts of modules whose kernels the graph launches; PTX that
 * nvcc has put into the program and into loaded libraries counts, too, if the code that runs was compiled of it. The
 * lists may be NULL if they are empty. If `keep_needed_edges` is not 0, the graph then has only the edges that
 * conflicts need, and is to be instantiated (again): nodes that are not known keep their order with all others.
 * cuda_graph_lift_text() has the findings. */
int cuda_graph_lift(void *graph, const CudaGraphMemory *memory, size_t memories, const char *const *ptx, size_t modules,
                    int keep_needed_edges, CudaGraphLift *result);

/* Makes another graph (a CUgraph) of this thread's last lift: each node with its function, its arguments and its
 * attributes, and the edges as they were read. If `needed_edges` is not 0, it has only those that conflicts need. The
 * caller instantiates and destroys it. The graph that was read stays until then, and as it was; and longer, if it keeps
 * something alive that nodes use. The error names a node that cannot be in two graphs: an allocation, a conditional
 * node. */
int cuda_graph_lift_build(int needed_edges, void **graph);

/* The findings of this thread's last lift, a line each; then the edges that are not needed, and why nodes are not
 * known. It is valid until the next lift of this thread. Never NULL. */
const char *cuda_graph_lift_text(void);

/* The reason of this thread's last failure. It is valid until the next call of this thread. Never NULL. */
const char *cuda_graph_error(void);

#ifdef __cplusplus
}
#endif

#endif

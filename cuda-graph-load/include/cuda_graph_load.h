/* Graph files of graph-runtime: opening, binding memory by name, launching.
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

/* The reason of this thread's last failure. It is valid until the next call of this thread. Never NULL. */
const char *cuda_graph_error(void);

#ifdef __cplusplus
}
#endif

#endif

/* Opens the graph `Scale`, binds an array, launches it twice, and prints what it computed. */
#include "cuda_graph_load.h"
#include <stdio.h>

static int failed(void) {
    printf("error: %s\n", cuda_graph_error());
    return 1;
}

int main(int count, char **arguments) {
    static float data[64], sum;
    if (count < 2) return 2;
    if (cuda_graph_open("emulator", "nowhere.cugraph") != NULL) return 3;
    printf("%s\n", cuda_graph_error());
    CudaGraph *graph = cuda_graph_open("emulator", arguments[1]);
    if (graph == NULL) return failed();
    if (cuda_graph_bind(graph, "data", data, sizeof data - 4) == 0) return 4;
    printf("%s\n", cuda_graph_error());
    for (int i = 0; i < 64; i++) data[i] = (float)i;
    if (cuda_graph_bind(graph, "data", data, sizeof data) != 0) return failed();
    float first = 5;
    if (cuda_graph_write(graph, "first", &first, sizeof first) != 0) return failed();
    for (int i = 0; i < 2; i++)
        if (cuda_graph_launch(graph) != 0) return failed();
    if (cuda_graph_synchronize(graph) != 0) return failed();
    if (cuda_graph_read(graph, "last", &sum, sizeof sum) != 0) return failed();
    printf("%g %g %g\n", data[0], data[1], sum);
    cuda_graph_close(graph);
    return 0;
}

// xtask: source
// Does not compile.
extern "C" __global__ void broken(float *out) {
    out[0] = no_such_name;
}

__device__ inline void put(float *to, float value) {
    *to = value;
}

// Kernels for the tests of driver layers.
#if !defined(DYNAMIC_SHARED)
#define DYNAMIC_SHARED(T, name) extern __shared__ T name[]
#endif

// out[i] = first + i * step: parameters of three sizes, padded as a compiler pads them.
extern "C" __global__ void fill(unsigned long long* out, unsigned count, long long first, short step) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = (unsigned long long)(first + (long long)i * step);
}

// Turns `words` words round, all of them in shared memory at once. One block.
extern "C" __global__ void turn(unsigned* out, const unsigned* in, int words) {
    DYNAMIC_SHARED(unsigned, held);
    for (int i = threadIdx.x; i < words; i += blockDim.x) held[i] = in[i];
    __syncthreads();
    for (int i = threadIdx.x; i < words; i += blockDim.x) out[i] = held[words - 1 - i];
}

// Adds 1 to each word, `times` times over.
extern "C" __global__ void count_up(unsigned* words, unsigned count, int times) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int t = 0; i < count && t < times; t++) words[i] += 1;
}

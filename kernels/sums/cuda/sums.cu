// Pairwise sums on a CUDA device: naive and bitwise (Fujita 2017, 5.1 and 5.3).
//
// Macro K: bits of a number, 1 to 32.
#include "../circuit.hpp"

#ifndef K
#define K 32
#endif

// Adds one pair in each thread.
extern "C" __global__ void sums_naive(const u32* __restrict__ a, const u32* __restrict__ b,
                                      u32* __restrict__ c, u64 count) {
    u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) c[i] = a[i] + b[i];
}

// Adds 32 pairs in each thread: bit i of word j * groups + g is bit j of number 32 g + i, so
// that the lanes of a warp read neighbouring words.
extern "C" __global__ void sums_bitwise(const u32* __restrict__ a, const u32* __restrict__ b,
                                        u32* __restrict__ c, u64 groups) {
    u64 g = u64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (g >= groups) return;
    RippleAdder<u32> add = {0};
#pragma unroll
    for (int j = 0; j < K; j++) c[j * groups + g] = add(a[j * groups + g], b[j * groups + g]);
    if (sum_bits(K) > K) c[K * groups + g] = add.carry;
}

// The order in which all warps of a block of dense.cu go through its work, each by itself.
#pragma once
#include "../../bits.hpp"

// Returns the same number, but hides it from the compiler up to here: it would compute things
// from it long before they are needed, and there are few registers where pairs are.
template <class T>
__device__ __forceinline__ T late(T number) {
#if defined(__CUDA_ARCH__)
    asm volatile("" : "+r"(number));
#endif
    return number;
}

// A pass over the pairs of the span (i, j), in as few registers as can be.
struct Item {
    int i = 0, j = 2;
    u32 state = 0;  // pass << 2 | parity of the number of spans before << 1 | that of items

    __device__ __forceinline__ int width() const { return j - i; }
    __device__ __forceinline__ int pass() const { return int(state >> 2); }
    __device__ __forceinline__ u32 span() const { return state >> 1; }
    __device__ __forceinline__ u32 round() const { return state; }
    __device__ __forceinline__ bool first() const { return j == 2 && !pass(); }
    __device__ __forceinline__ void advance(int length, int passes) {
        state ^= 1;
        if (pass() + 1 < passes) {
            state += 4;
            return;
        }
        state = (state & 3) ^ 2;
        const int w = width();
        if (j++ < length)
            i++;
        else
            i = 0, j = w + 1;
        i = late(i), j = late(j), state = late(state);
    }
};

// A step of a ring that has at most 15 steps.
struct Step {
    u32 state = 0;  // place | parity of how often the ring has been round << 4

    __device__ __forceinline__ int place() const { return int(state & 15); }
    __device__ __forceinline__ u32 round() const { return state >> 4; }
    template <int STEPS>
    __device__ __forceinline__ void advance() {
        state++;
        if (place() == STEPS) state = (state - STEPS) ^ 16;
    }
};

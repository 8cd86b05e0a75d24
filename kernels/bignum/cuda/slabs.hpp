// Batches of numbers, 32 to a slab (layouts.py): each thread has one number, each warp one slab.
#pragma once
#include "../../bits.hpp"

namespace {

constexpr u32 SLAB = 32;

// Bits of the parameter `form`: what a batch is besides its words.
constexpr u32 SINGLE = 1;  // its only number stands for all
constexpr u32 SIGNED = 2;  // it has a mask of the negative ones

// A number in memory. It gives as many words as are asked for; those above its width are zero.
struct Number {
    const u32* at;
    u32 width;
    u32 live;  // all ones; zero where there is no such number: then its words are zero
    bool negative;

    BITS_FN u32 operator[](u32 i) const { return i < width ? at[i * SLAB] & live : 0; }
};

BITS_FN u64 word_of(u64 k, u32 width) { return k / SLAB * width * SLAB + k % SLAB; }

// Returns number k of a batch. Lanes that have none may ask, too, up to the end of their slab.
BITS_FN Number number(const u32* words, const u32* negative, u32 width, u32 form, u64 k,
                      bool live) {
    const u64 at = form & SINGLE ? 0 : k;
    Number n = {words + word_of(at, width), width, live ? ALL : 0, false};
    if (live && form & SIGNED) n.negative = negative[at / SLAB] >> (at % SLAB) & 1;
    return n;
}

// Returns -1, 0 or 1 as the magnitude of a is less than, equal to or greater than b's.
BITS_FN int compare_magnitudes(const Number& a, const Number& b) {
    for (u32 i = a.width < b.width ? b.width : a.width; i-- > 0;) {
        const u32 x = a[i], y = b[i];
        if (x != y) return x < y ? -1 : 1;
    }
    return 0;
}

// Returns the number of words up to the topmost that is not zero.
BITS_FN u32 length(const Number& a) {
    u32 n = a.width;
    while (n > 0 && !a[n - 1]) n--;
    return n;
}

__device__ __forceinline__ u64 thread_index() {
    return u64(blockIdx.x) * blockDim.x + threadIdx.x;
}

// Stores the slab's word of signs, one bit from each lane.
__device__ __forceinline__ void store_signs(u32* negative, u64 k, bool sign) {
    const u32 signs = __ballot_sync(ALL, sign);
    if (k % SLAB == 0) negative[k / SLAB] = signs;
}

}  // namespace

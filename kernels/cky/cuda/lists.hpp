// Lists of rows of shared memory that are to be ORed, as lists.py writes them.
//
// A row is 32 words. A warp works off four lists at a time, with eight lanes for each and four
// words for each lane. A list is one or more vectors of eight 16-bit numbers, and the vectors of
// the four lie side by side. A vector begins with what sink() is told, with LAST set in a list's
// last vector, and SHORT where all of the four have at most three rows in it. Then come seven
// rows; where there are fewer, rows of zeros fill up.
#pragma once
#include "items.hpp"

constexpr u32 LAST = 0x8000, SHORT = 0x4000, RESULT = 0x0FFF;

__device__ __forceinline__ uint4 either(uint4 a, uint4 b) {
    return make_uint4(a.x | b.x, a.y | b.y, a.z | b.z, a.w | b.w);
}

// The part of the rows that a lane has.
struct Column {
    const uint4* rows;
    u32 at;  // bytes from a row's start

    __device__ __forceinline__ Column(const uint4* rows, int lane)
        : rows(rows), at(u32(lane & 7) * 16) {}

    // Return the rows whose numbers are in the low and in the high half. A row has 128
    // bytes: the product with a half takes one instruction, and none of those that the pairs
    // are computed with.
    __device__ __forceinline__ uint4 low(u32 numbers) const {
#if defined(__CUDA_ARCH__)
        return byte(__dp2a_lo(numbers, 0x0080u, at));
#else
        return byte((numbers & 0xFFFF) * 128 + at);
#endif
    }
    __device__ __forceinline__ uint4 high(u32 numbers) const {
#if defined(__CUDA_ARCH__)
        return byte(__dp2a_lo(numbers, 0x8000u, at));
#else
        return byte((numbers >> 16) * 128 + at);
#endif
    }
    __device__ __forceinline__ uint4 byte(u32 offset) const {
        return *reinterpret_cast<const uint4*>(reinterpret_cast<const char*>(rows) + offset);
    }
};

// A warp's share of lists. AHEAD vectors are read before they are needed; so as many are read in
// vain after the last.
template <int AHEAD>
struct Work {
    const uint4* at;
    u32 vectors;
    uint4 ahead[AHEAD];

    __device__ __forceinline__ Work(const uint4* from, u32 vectors) : at(from), vectors(vectors) {
#pragma unroll
        for (int q = 0; q < AHEAD; q++) ahead[q] = at[q * 4];
        at += AHEAD * 4;
    }

    // Calls sink(u32 result, uint4 sum) for each list. Rows of a vector are on their way
    // while those of the one before are ORed.
    template <class Sink>
    __device__ __forceinline__ void run(Column column, Sink sink) {
        if (!vectors) return;
        uint4 few[3], rest[4];
        auto load_few = [&](uint4 v) {
            few[0] = column.high(v.x);
            few[1] = column.low(v.y), few[2] = column.high(v.y);
        };
        auto load_rest = [&](uint4 v) {
            rest[0] = column.low(v.z), rest[1] = column.high(v.z);
            rest[2] = column.low(v.w), rest[3] = column.high(v.w);
        };
        load_few(ahead[0]);
        if (!(ahead[0].x & SHORT)) load_rest(ahead[0]);
        uint4 sum = make_uint4(0, 0, 0, 0);
#pragma unroll 1
        for (;;) {
#pragma unroll
            for (int q = 0; q < AHEAD; q++) {
                const u32 head = ahead[q].x;
                const uint4 next = ahead[(q + 1) % AHEAD];
                ahead[q] = at[q * 4];
                vectors--;
                sum = either(either(sum, few[0]), either(few[1], few[2]));
                if (vectors) load_few(next);
                if (!(head & SHORT))
                    sum = either(either(either(sum, rest[0]), either(rest[1], rest[2])), rest[3]);
                if (vectors && !(next.x & SHORT)) load_rest(next);
                if (head & LAST) sink(head & RESULT, sum), sum = make_uint4(0, 0, 0, 0);
                if (!vectors) return;
            }
            at += AHEAD * 4;
        }
    }
};

// Does the same with few registers, for warps that have pairs: nothing is read ahead, and
// vectors first, first + 4, .. of the program are given by numbers, not by addresses.
template <class Sink>
__device__ __forceinline__ void run_lean(const uint4* program, u32 first, u32 vectors,
                                         Column column, Sink sink) {
    // Keeps the compiler from reading what follows before.
    auto pause = [] {
#if defined(__CUDA_ARCH__)
        asm volatile("" ::: "memory");
#endif
    };
    uint4 sum = make_uint4(0, 0, 0, 0);
#pragma unroll 1
    for (u32 at = first; vectors; vectors--, at = late(at + 4)) {
        const uint2 v = *reinterpret_cast<const uint2*>(program + at);
        sum = either(sum, column.high(v.x));
        sum = either(either(sum, column.low(v.y)), column.high(v.y));
        if (!(v.x & SHORT)) {
            const uint2 rest = reinterpret_cast<const uint2*>(program + late(at))[1];
            pause();
            sum = either(either(sum, column.low(rest.x)), column.high(rest.x));
            pause();
            sum = either(either(sum, column.low(rest.y)), column.high(rest.y));
        }
        if (v.x & LAST) sink(v.x & RESULT, sum), sum = make_uint4(0, 0, 0, 0);
    }
}

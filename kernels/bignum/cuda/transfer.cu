// Moves batches between slabs and numbers in consecutive words, as they cross the bus.
#include "slabs.hpp"

namespace {

constexpr u32 WARPS = 4;  // of a block

// A square of 32 words of each of 32 numbers, which one warp transposes in shared memory.
struct Square {
    u64 slab;
    u32 first;  // the first word
    u32 span;   // lanes that read one number: 32, or less where numbers are shorter
};

__device__ __forceinline__ Square square(u32 width) {
    const u64 unit = thread_index() / SLAB;
    const u64 squares = (width + SLAB - 1) / SLAB;
    u32 span = 1;
    while (span < SLAB && span < width) span *= 2;
    return {unit / squares, u32(unit % squares) * SLAB, span};
}

}  // namespace

// Packs numbers into slabs. Number k has lengths[k] words from starts[k] on or, where ragged is
// 0, `width` words from k * step on. bits: raised to the longest bit length, if it is less.
extern "C" __global__ void __launch_bounds__(WARPS* SLAB)
    slabs_pack(const u32* __restrict__ words, const u64* __restrict__ starts,
               const u64* __restrict__ lengths, u32 ragged, u64 step, u64 count,
               u32* __restrict__ slabs, u32 width, unsigned long long* __restrict__ bits) {
    __shared__ u32 turn[WARPS][SLAB][SLAB + 1];
    auto& tile = turn[threadIdx.x / SLAB];
    const u32 lane = threadIdx.x % SLAB;
    const Square at = square(width);
    if (at.slab * SLAB >= count) return;
    for (u32 row = lane / at.span; row < SLAB; row += SLAB / at.span) {
        const u64 k = at.slab * SLAB + row;
        const u32 column = lane % at.span, i = at.first + column;
        u32 word = 0;
        if (k < count) {
            const u64 start = ragged ? starts[k] : k * step;
            if (i < (ragged ? lengths[k] : width)) word = words[start + i];
        }
        tile[row][column] = word;
    }
    __syncwarp();
    unsigned long long top = 0;
    for (u32 j = 0; j < at.span && at.first + j < width; j++) {
        const u32 word = tile[lane][j];
        slabs[(at.slab * width + at.first + j) * SLAB + lane] = word;
        if (word) top = (unsigned long long)(at.first + j + 1) * 32 - u32(__clz(int(word)));
    }
    for (u32 by = SLAB / 2; by; by /= 2) {
        const auto other = __shfl_xor_sync(ALL, top, by);
        top = top < other ? other : top;
    }
    if (lane == 0 && top > bits[0]) atomicMax(bits, top);
}

// Unpacks number k to `step` words from k * step on; those above its width become zero.
extern "C" __global__ void __launch_bounds__(WARPS* SLAB)
    slabs_unpack(const u32* __restrict__ slabs, u32 width, u64 count, u32* __restrict__ words,
                 u32 step) {
    __shared__ u32 turn[WARPS][SLAB][SLAB + 1];
    auto& tile = turn[threadIdx.x / SLAB];
    const u32 lane = threadIdx.x % SLAB;
    const Square at = square(step);
    if (at.slab * SLAB >= count) return;
    for (u32 j = 0; j < at.span; j++) {
        const u32 i = at.first + j;
        tile[lane][j] = i < width ? slabs[(at.slab * width + i) * SLAB + lane] : 0;
    }
    __syncwarp();
    for (u32 row = lane / at.span; row < SLAB; row += SLAB / at.span) {
        const u64 k = at.slab * SLAB + row;
        const u32 column = lane % at.span, i = at.first + column;
        if (k < count && i < step) words[k * step + i] = tile[row][column];
    }
}

// Copies number k, lengths[k] words from starts[k] on, to the words from places[k] on, and a
// zero word behind it where the number of words is odd. A warp has one number.
extern "C" __global__ void rows_align(const u32* __restrict__ words,
                                      const u64* __restrict__ starts,
                                      const u64* __restrict__ lengths,
                                      const u64* __restrict__ places, u32* __restrict__ aligned,
                                      u64 count) {
    const u64 k = thread_index() / SLAB;
    if (k >= count) return;
    const u64 start = starts[k], length = lengths[k], place = places[k];
    for (u64 i = threadIdx.x % SLAB; i < length + length % 2; i += SLAB)
        aligned[place + i] = i < length ? words[start + i] : 0;
}

// Items in tiles, of which those with a flag are numbered in order. One launch counts those of
// each tile, and its last block adds the tiles up; a later launch numbers the items.
#pragma once
#include "common.hpp"

namespace {

constexpr u32 THREADS = 256, WARPS = THREADS / WARP;
constexpr u32 EACH = 8;  // items of a thread
constexpr u32 TILE = THREADS * EACH;
constexpr u32 TILE_WORDS = TILE / WARP;  // of flags
static_assert(TILE_WORDS <= THREADS, "a thread for each word of flags");

// Returns the sum of the values of the threads before this one; `total` becomes that of all.
// Every thread of the block must call it.
SEMIGROUP_FN u32 block_before(u32 x, u32* shared, u32& total) {
    const u32 lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    u32 sum = x;
    for (u32 by = 1; by < WARP; by *= 2) {
        const u32 below = __shfl_up_sync(ALL, sum, by);
        if (lane >= by) sum += below;
    }
    if (lane == WARP - 1) shared[warp] = sum;
    __syncthreads();
    u32 before = 0;
    total = 0;
    for (u32 w = 0; w < WARPS; w++) {
        before += w < warp ? shared[w] : 0;
        total += shared[w];
    }
    __syncthreads();
    return before + sum - x;
}

// Returns the number of a thread's item j; items of a warp are neighbours.
SEMIGROUP_FN u32 item(u32 j) { return blockIdx.x * TILE + j * THREADS + threadIdx.x; }

// Writes flags of the block's items as words, in shared memory.
SEMIGROUP_FN void set_words(const bool (&flags)[EACH], u32* words) {
#pragma unroll
    for (u32 j = 0; j < EACH; j++) {
        const u32 word = __ballot_sync(ALL, flags[j]);
        if (threadIdx.x % WARP == 0) words[(j * THREADS + threadIdx.x) / WARP] = word;
    }
    __syncthreads();
}

// Counts the flags of a tile. When the last block is done, sums[tile] is the number of flags
// before the tile, and counters[total] that of all.
SEMIGROUP_FN void count_tile(const u32* words, u32* shared, u32* __restrict__ sums, u32* counters,
                          Counter total) {
    __shared__ u32 last;
    const u32 t = threadIdx.x;
    u32 sum;
    block_before(t < TILE_WORDS ? u32(__popc(words[t])) : 0, shared, sum);
    if (t == 0) {
        sums[blockIdx.x] = sum;
        __threadfence();
        last = atomicAdd(counters + TICKET, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    u32 carry = 0;
    for (u32 start = 0; start < gridDim.x; start += THREADS) {
        const u32 i = start + t, x = i < gridDim.x ? __ldcg(sums + i) : 0;
        const u32 before = block_before(x, shared, sum);
        if (i < gridDim.x) sums[i] = carry + before;
        carry += sum;
    }
    if (t == 0) counters[total] = carry, counters[TICKET] = 0;
}

// Numbers items with a flag, from words[] and sums[]: ranks[j] is how many flags there are
// before item(j).
SEMIGROUP_FN void rank_tile(const u32* words, u32* before_words, u32* shared,
                         const u32* __restrict__ sums, u32 (&ranks)[EACH]) {
    const u32 t = threadIdx.x, lane = t % WARP;
    u32 sum;
    const u32 before = block_before(t < TILE_WORDS ? u32(__popc(words[t])) : 0, shared, sum);
    if (t < TILE_WORDS) before_words[t] = sums[blockIdx.x] + before;
    __syncthreads();
#pragma unroll
    for (u32 j = 0; j < EACH; j++) {
        const u32 w = (j * THREADS + t) / WARP;
        ranks[j] = before_words[w] + u32(__popc(words[w] & ((1u << lane) - 1)));
    }
}

}  // namespace

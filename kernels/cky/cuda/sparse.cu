// Charts of groups of strings on a CUDA device, for grammars with few rules for each pair of
// symbols, as those of real languages are.
//
// A block has a group: its LANES words, of 32 strings each. Charts are filled column by column,
// and each column from the bottom up: a cell (r, j) that is final is pushed as right child to
// every cell (i, j) above it: cell (i, j)[A] |= cell (i, r)[B] & x[C] for all rules A → B C and
// all i < r.
//
// Most words of such charts are zero, and are left out: columns after the ends of all strings,
// empty cells, the rules of symbols C that the cell does not have; and of the rows i only those
// are visited where cell (i, r) has B, as a mask of rows tells.
//
// Macros: LANES, 1 to 32, a power of two. THREADS of a block, whole warps. IN_SHARED: the
// cell that is pushed has room in shared memory.
#include "../../bits.hpp"

#if !defined(DYNAMIC_SHARED)
#define DYNAMIC_SHARED(T, name) extern __shared__ T name[]
#endif
#ifndef LANES
#define LANES 1
#endif
#ifndef THREADS
#define THREADS 512
#endif
#ifndef IN_SHARED
#define IN_SHARED 1
#endif

constexpr u32 AHEAD = LANES < 8 ? 2 : 4;  // rows whose words a thread waits for at once

namespace {
// Tells the first lane of a symbol whether any of its lanes says yes, and the other lanes no.
// All lanes of the warp must call it.
__device__ __forceinline__ bool any_lane(bool mine) {
    if (LANES == 1) return mine;
    const u32 lane32 = threadIdx.x % 32, votes = __ballot_sync(ALL, mine);
    return lane32 % LANES == 0 && (votes >> lane32 & (ALL >> (32 - LANES)));
}
}  // namespace

// Fills in charts. rows (groups, length + 1, row_words, symbols): scratch; bit i % 32 of word i
// / 32 of symbol B in column r says whether cell (i, r) has B. units: whether there are unit
// rules; a cell with B has also unit[unit_first[B]] .. unit[unit_first[B + 1] - 1]. Rules, in
// order of C: A and B of each in left, C in right. part (parts): symbols C, some several times,
// with the rules part_first[h] .. part_first[h + 1] - 1. chunk (chunks + 1): the first part of
// each chunk, whose rules have room in shared memory.
extern "C" __global__ void __launch_bounds__(THREADS)
sparse_columns(u32* chart, u32* rows, u32 length, u32 symbols, u32 units,
               const u32* __restrict__ unit_first, const u32* __restrict__ unit, u32 room,
               u32 chunks, const u32* __restrict__ chunk, const u32* __restrict__ part,
               const u32* __restrict__ part_first, const uint2* __restrict__ left,
               const u32* __restrict__ right) {
    DYNAMIC_SHARED(u32, active);  // rules; after `room` of them the cell
    __shared__ u32 found[2];      // active rules of this chunk and the next
    const u32 thread = threadIdx.x, lane = thread % LANES, stride = symbols * LANES;
    const u32 row_words = (length + 31) / 32;
    // The last group has the longest strings, and is taken first.
    const u64 group = gridDim.x - 1 - blockIdx.x;
    chart += group * (u64(length) * (length + 1) / 2) * stride;
    rows += group * (length + 1) * row_words * symbols;
    if (thread < 2) found[thread] = 0;

    for (u32 j = 1; j <= length; j++) {
        u32* const column = chart + u64(j) * (j - 1) / 2 * stride;
        u32* const column_rows = rows + u64(j) * row_words * symbols;
        const u64 above = u64(j - 1) * stride, masks = u64(row_words) * symbols;
        for (u64 t = thread; t < above; t += THREADS) column[t] = 0;
        for (u64 t = thread; t < masks; t += THREADS) column_rows[t] = 0;
        for (u32 r = j; r-- > 0;) {
            u32* const cell = column + u64(r) * stride;
            u32 some = 0;
#if IN_SHARED
            u32* const x = active + room;
            for (u32 t = thread; t < stride; t += THREADS) some |= x[t] = cell[t];
#else
            u32* const x = cell;
            for (u32 t = thread; t < stride; t += THREADS) some |= x[t];
#endif
            if (!__syncthreads_or(some != 0)) {  // this also waits for the zeros above
                if (r == j - 1) break;  // every span that ends here has this token alone as its end
                continue;
            }
            if (units) {
                // Unit rules are closed, so that it does not matter whether a
                // neighbour has added its own.
                for (u32 t = thread; t < stride; t += THREADS) {
                    const u32 w = x[t];
                    if (!w) continue;
                    const u32 s = t / LANES, end = unit_first[s + 1];
                    for (u32 u = unit_first[s]; u < end; u++)
                        atomicOr(x + unit[u] * LANES + lane, w);
                }
                __syncthreads();
            }
            for (u32 from = 0; from < stride; from += THREADS) {
                const u32 t = from + thread, w = t < stride ? x[t] : 0;
                if (IN_SHARED && units && w) cell[t] = w;
                if (any_lane(w != 0))
                    atomicOr(column_rows + r / 32 * symbols + t / LANES, 1u << r % 32);
            }
            if (r == 0) break;

            const u32* const lefts = chart + u64(r) * (r - 1) / 2 * stride + lane;
            const u32* const left_rows = rows + u64(r) * row_words * symbols;
            for (u32 c = 0; c < chunks; c++) {
                const u32 until = chunk[c + 1] * LANES;
                for (u32 from = chunk[c] * LANES; from < until; from += THREADS) {
                    const u32 t = from + thread, h = t / LANES;
                    if (!any_lane(t < until && x[part[h] * LANES + lane])) continue;
                    const u32 end = part_first[h + 1];
                    u32 n = part_first[h], at = atomicAdd(&found[c & 1], end - n);
                    while (n < end) active[at++] = n++;
                }
                __syncthreads();
                const u32 tasks = found[c & 1] * LANES;
                if (thread == 0) found[~c & 1] = 0;
                u32 share = 1;  // how many threads share the rows of a rule
                while (share < 16 && tasks * share * 2 <= THREADS) share *= 2;
                const u32 stripe = ALL / ((1u << share) - 1);
                for (u32 t = thread; t < tasks * share; t += THREADS) {
                    const u32 n = active[t / LANES / share];
                    const u32 q = x[right[n] * LANES + lane];
                    if (!q) continue;
                    const uint2 ab = left[n];
                    const u32* const b = lefts + ab.y * LANES;
                    u32* const a = column + ab.x * LANES + lane;
                    const u32 mine = stripe << t / LANES % share;
                    for (u32 k = 0; k < r; k += 32) {
                        u32 m = left_rows[k / 32 * symbols + ab.y] & mine;
                        while (m) {
                            u64 at[AHEAD];
                            u32 v[AHEAD];
#pragma unroll
                            for (u32 d = 0; d < AHEAD; d++) {
                                at[d] = u64(k + u32(__ffs(int(m))) - 1) * stride;
                                v[d] = m ? b[at[d]] & q : 0;
                                m &= m - 1;
                            }
#pragma unroll
                            for (u32 d = 0; d < AHEAD; d++)
                                if (v[d]) atomicOr(a + at[d], v[d]);
                        }
                    }
                }
                __syncthreads();
            }
            if ((chunks & 1) && thread == 0) found[0] = 0;  // the next cell begins with it
        }
    }
}

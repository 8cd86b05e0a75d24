// Many computations in one launch, each with its own operation and operand lengths.
//
// First, computations are sorted by what they take (pool_sizes, pool_tables, pool_orders), so
// that the teams of a warp have like work, the heaviest first. Then a fixed number of warps take
// them by tickets, reserve room for all results of a ticket at once by a prefix sum (Gusenbauer
// 2015, 3.3 and 3.4; Langer 2015, 3), and write the results there.
//
// Macro KINDS: a bit for each kind of operation that may come.
#include "pool.hpp"

#if !defined(DYNAMIC_SHARED)
#define DYNAMIC_SHARED(T, name) extern __shared__ T name[]
#endif

namespace {

template <u32 T>
TEAM_FN void work(u32 lane, const Results& to, Tally& tally, Kind kind, const Task& task, u32 count,
                  const Room& room, bool in_memory, u32* scratch) {
    Worker<T>{Team<T>(lane), to, tally}.work(kind, task, count, room, in_memory, scratch);
}

}  // namespace

// Clears what must be zero before every run. flags: how many words each of the masks of signs
// has.
extern "C" __global__ void pool_clear(u32* __restrict__ bins, Count* __restrict__ counters,
                                      u32* __restrict__ negative, u32* __restrict__ negative2,
                                      u64 flags) {
    const u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < BINS) bins[i] = 0;
    if (i < COUNTERS) counters[i] = i == ZERO_DIVISOR ? ~Count(0) : 0;
    if (i < flags) negative[i] = negative2[i] = 0;
}

// Writes sizes[i], of computation i: its bin (queue and size class), how many came before it in
// that bin, and the lengths of its operands. Counts in bins. operation: that of all
// computations; if it is negative, operations[i] is that of each.
extern "C" __global__ void __launch_bounds__(SORT_THREADS)
    pool_sizes(const u8* __restrict__ operations, int operation, u64 count, const u32* a_words,
               const u64* a_starts, const u64* a_lengths, const u32* b_words, const u64* b_starts,
               const u64* b_lengths, u32 form, u32 budget, u32 lowest, u32* __restrict__ bins,
               uint4* __restrict__ sizes) {
    __shared__ u32 local[BINS];
    const Batch a = {a_words, a_starts, a_lengths, nullptr, (form & A_SINGLE) != 0, false};
    const Batch b = {b_words, b_starts, b_lengths, nullptr, (form & B_SINGLE) != 0, false};
    for (u32 k = threadIdx.x; k < BINS; k += SORT_THREADS) local[k] = 0;
    __syncthreads();
    const u64 first = u64(blockIdx.x) * SORT_THREADS * SORT_EACH + threadIdx.x;
    uint4 mine[SORT_EACH];
#pragma unroll
    for (u32 j = 0; j < SORT_EACH; j++) {
        const u64 i = first + j * SORT_THREADS;
        if (i >= count) break;
        const u32 m = a.length(i), n = b.length(i);
        const Kind kind = kind_of(operation < 0 ? operations[i] : u32(operation));
        const u32 level = level_of(kind, m, n, budget, lowest);
        const u32 fine = size_class(kind, m, level) * 16 + size_class(kind, n, level);
        const u32 bin = (kind * LEVELS + (LEVELS - 1 - level)) * FINE + (FINE - 1 - fine);
        mine[j] = make_uint4(bin, atomicAdd(local + bin, 1u), m, n);
    }
    __syncthreads();
    for (u32 k = threadIdx.x; k < BINS; k += SORT_THREADS)
        if (local[k]) local[k] = atomicAdd(bins + k, local[k]);
    __syncthreads();
#pragma unroll
    for (u32 j = 0; j < SORT_EACH; j++) {
        const u64 i = first + j * SORT_THREADS;
        if (i >= count) break;
        mine[j].y += local[mine[j].x];
        sizes[i] = mine[j];
    }
}

// Turns the counts in bins into the place of each bin's first computation. tables: for each
// queue the place of its first computation and the number of its first ticket; the ends follow.
// share: how many computations a ticket has, or more where the warp has more teams.
extern "C" __global__ void __launch_bounds__(SCAN_THREADS)
    pool_tables(u32* __restrict__ bins, u32* __restrict__ tables, u32 share) {
    constexpr u32 EACH = BINS / SCAN_THREADS;
    static_assert(BINS % SCAN_THREADS == 0 && FINE % EACH == 0, "whole bins");
    __shared__ u32 sums[SCAN_THREADS];
    const u32 t = threadIdx.x;
    u32 sum = 0;
    for (u32 j = 0; j < EACH; j++) sum += bins[t * EACH + j];
    sums[t] = sum;
    __syncthreads();
    for (u32 by = 1; by < SCAN_THREADS; by *= 2) {
        const u32 below = t >= by ? sums[t - by] : 0;
        __syncthreads();
        sums[t] += below;
        __syncthreads();
    }
    u32 place = sums[t] - sum;
    for (u32 j = 0; j < EACH; j++) {
        const u32 n = bins[t * EACH + j];
        bins[t * EACH + j] = place;
        place += n;
    }
    if (t) return;
    u32 tickets = 0, first = 0;
    for (u32 q = 0; q < QUEUES; q++) {
        const u32 end = sums[(q + 1) * FINE / EACH - 1];
        const u32 teams = WARP / lanes_of(LEVELS - 1 - q % LEVELS);
        const u32 each = teams < share ? share : teams;
        tables[2 * q] = first, tables[2 * q + 1] = tickets;
        tickets += (end - first + each - 1) / each;
        first = end;
    }
    tables[2 * QUEUES] = first, tables[2 * QUEUES + 1] = tickets;
}

// Writes orders[2 k, 2 k + 1] for the k-th computation in the order of work: the first words of
// a and b (64 bits each, the sign in the topmost), their lengths, its index and its operation.
extern "C" __global__ void pool_orders(const u8* __restrict__ operations, int operation, u64 count,
                                       const u64* __restrict__ a_starts,
                                       const u32* __restrict__ a_negative,
                                       const u64* __restrict__ b_starts,
                                       const u32* __restrict__ b_negative, u32 form,
                                       const uint4* __restrict__ sizes,
                                       const u32* __restrict__ places, uint4* __restrict__ orders) {
    const u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const Batch a = {nullptr, a_starts, nullptr, a_negative, (form & A_SINGLE) != 0,
                     (form & A_SIGNED) != 0};
    const Batch b = {nullptr, b_starts, nullptr, b_negative, (form & B_SINGLE) != 0,
                     (form & B_SIGNED) != 0};
    const uint4 size = sizes[i];
    const u64 x = a.place(i), y = b.place(i), at = places[size.x] + size.y;
    orders[2 * at] = make_uint4(u32(x), u32(x >> 32), u32(y), u32(y >> 32));
    orders[2 * at + 1] =
        make_uint4(size.z, size.w, u32(i), operation < 0 ? operations[i] : u32(operation));
}

// Makes all computations. budget: words of shared memory for each warp. counters[ZERO_DIVISOR]
// becomes the first index whose divisor is zero. starts2, lengths2, negative2: of the remainders
// of DIVMOD.
extern "C" __global__ void __launch_bounds__(BLOCK_WARPS* WARP)
    pool_run(const uint4* __restrict__ orders, const u32* __restrict__ tables, u32 share,
             const u32* __restrict__ a_words, const u32* __restrict__ b_words, u32 form,
             u32* __restrict__ words, u64* __restrict__ starts, u64* __restrict__ lengths,
             u32* __restrict__ negative, u64* __restrict__ starts2, u64* __restrict__ lengths2,
             u32* __restrict__ negative2, Count* __restrict__ counters, u32* __restrict__ scratch,
             u32 budget) {
    DYNAMIC_SHARED(u32, shared);
    __shared__ uint4 rows[BLOCK_WARPS][WARP];
    const u32 lane = threadIdx.x % WARP;
    const Results to = {words, lengths, negative, starts2, lengths2, negative2, counters,
                        (form & REMAINDERS) != 0};
    u32* const own = shared + threadIdx.x / WARP * budget;
    Tally tally = {0, 0, 0, 0};
    // Lane q keeps the tables of queue q.
    const u32 q = lane < QUEUES ? lane : QUEUES;
    const u32 my_first = tables[2 * q], my_ticket = tables[2 * q + 1];
    const u32 tickets = __shfl_sync(ALL, my_ticket, 31);
    while (true) {
        u32 ticket = 0;
        if (lane == 0) ticket = u32(atomicAdd(counters + TICKET, Count(1)));
        ticket = __shfl_sync(ALL, ticket, 0);
        if (ticket >= tickets) break;
        const u32 queue = u32(__popc(__ballot_sync(ALL, lane < QUEUES && my_ticket <= ticket))) - 1;
        const u32 level = LEVELS - 1 - queue % LEVELS, teams = WARP / lanes_of(level);
        const u32 each = teams < share ? share : teams;
        const Kind kind = Kind(queue / LEVELS);
        const u32 end = __shfl_sync(ALL, my_first, int(queue + 1));
        const u32 first = __shfl_sync(ALL, my_first, int(queue)) +
                          (ticket - __shfl_sync(ALL, my_ticket, int(queue))) * each;
        const u32 count = end - first < each ? end - first : each;
        Task task = {lane < count, {a_words, 0}, {b_words, 0}, false, false, 0, 0, 0};
        u32 room = 0, sum;
        if (task.live) {
            const uint4* at = orders + 2 * u64(first + lane);
            const uint4 low = at[0], high = at[1];
            const u64 mask = ~u64(0) >> 1;
            task.a = {a_words + ((u64(low.y) << 32 | low.x) & mask), high.x};
            task.b = {b_words + ((u64(low.w) << 32 | low.z) & mask), high.y};
            task.a_sign = low.y >> 31, task.b_sign = low.w >> 31;
            task.index = high.z, task.operation = high.w;
            room = result_room(task.operation, high.x, high.y);
        }
        const u32 before = exclusive_sum(lane, room, sum);
        Count base = 0;
        if (lane == 0) base = atomicAdd(counters + RESERVED, Count(sum));
        task.start = __shfl_sync(ALL, base, 0) + before;
        if (task.live) starts[task.index] = task.start;
        const Room place = {own, rows[threadIdx.x / WARP], 0};
        const bool far = level == IN_MEMORY;
        switch (teams) {
            case 32: work<1>(lane, to, tally, kind, task, count, place, far, scratch); break;
            case 16: work<2>(lane, to, tally, kind, task, count, place, far, scratch); break;
            case 4: work<8>(lane, to, tally, kind, task, count, place, far, scratch); break;
            default: work<32>(lane, to, tally, kind, task, count, place, far, scratch);
        }
    }
    tally.flush(lane, counters, false);
    if (to.remainders) tally.flush(lane, counters, true);
}

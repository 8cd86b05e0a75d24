// Many computations in one launch, each with its own operation and operand lengths.
//
// Computations are sorted by what they take (pool_sizes, pool_tables, pool_orders), so
// that the teams of a warp have like work, the heaviest first. Then warps that stay take
// them by a ticket, reserve room for all results of a ticket at once by a prefix sum
// (Gusenbauer 2015, 3.3 and 3.4; Langer 2015, 3), and write them there.
//
// Macro KINDS: a bit for each kind of operation that may come.
#include "team_gcd.hpp"
#include "team_multiply.hpp"

#ifndef KINDS
#define KINDS 15
#endif
#if !defined(DYNAMIC_SHARED)
#define DYNAMIC_SHARED(T, name) extern __shared__ T name[]
#endif

namespace {

using u8 = unsigned char;
using Count = unsigned long long;  // as the atomics name it

enum Operation : u32 { ADD, SUBTRACT, MULTIPLY, FLOORDIV, MOD, GCD, DIVMOD, COMPARE };
enum Kind : u32 { GCDS, DIVISIONS, PRODUCTS, SUMS };

constexpr u32 BLOCK_WARPS = 2;  // more would need leave to use so much shared memory
constexpr u32 LEVELS = 5;       // teams of 1, 2, 8, 32 lanes, and 32 with the words in memory
constexpr u32 IN_MEMORY = LEVELS - 1;
constexpr u32 FINE = 256;           // sizes told apart in a queue
constexpr u32 QUEUES = 4 * LEVELS;  // a kind and a level each, in the order they are taken
constexpr u32 BINS = QUEUES * FINE;
constexpr u32 SORT_THREADS = 256, SORT_EACH = 8, SCAN_THREADS = 640;

constexpr TEAM_FN bool has(Kind kind) { return KINDS >> kind & 1; }

TEAM_FN Kind kind_of(u32 operation) {
    return operation == MULTIPLY ? PRODUCTS
           : operation == GCD ? GCDS
           : operation == FLOORDIV || operation == MOD || operation == DIVMOD ? DIVISIONS
                                                                             : SUMS;
}

TEAM_FN u32 lanes_of(u32 level) { return level == 0 ? 1 : level == 1 ? 2 : level == 2 ? 8 : 32; }

// What `counters` has; those that all warps meet at lie apart.
enum Counter : u32 {
    TICKET = 0, RESERVED = 16, SCRATCH = 32,
    TOTAL = 48, LONGEST, TOTAL2, LONGEST2, ZERO_DIVISOR, COUNTERS
};

// Bits of `form`: a batch is one number for all, or has signs; remainders are wanted too.
constexpr u32 A_SINGLE = 1, A_SIGNED = 2, B_SINGLE = 4, B_SIGNED = 8, REMAINDERS = 16;

struct Batch {
    const u32* words;
    const u64 *starts, *lengths;
    const u32* negative;
    bool single, with_signs;

    TEAM_FN u32 length(u64 i) const {
        const u64 k = single ? 0 : i;
        return trimmed(words + starts[k], lengths[k]).length;
    }
    // The sign, above the first word.
    TEAM_FN u64 place(u64 i) const {
        const u64 k = single ? 0 : i;
        return starts[k] | (with_signs ? u64(negative[k / 32] >> (k % 32) & 1) << 63 : 0);
    }
};

// A computation, as warps take it: 32 bytes.
struct Order {
    u64 a, b;  // the first word, and the sign in bit 63
    u32 a_length, b_length, index, operation;
};

// Words of shared memory, or of scratch.
TEAM_FN u32 room_of(Kind kind, u32 a, u32 b) {
    if (kind == SUMS) return 0;
    if (kind == PRODUCTS) return (round_up(a, TILE) + round_up(b, TILE)) | 1;  // odd: no two
    return division_room(a, b) | 1;                                            // lanes one bank
}

TEAM_FN u32 level_of(Kind kind, u32 a, u32 b, u32 budget, u32 lowest) {
    if (kind == SUMS) {
        const u32 n = a < b ? b : a, level = n < 4 ? 0 : n < 8 ? 1 : n < 48 ? 2 : 3;
        return level < lowest ? lowest : level;
    }
    const u32 room = room_of(kind, a, b);
    for (u32 level = lowest; level < IN_MEMORY; level++)
        if (u64(room) * (WARP / lanes_of(level)) <= budget) return level;
    return IN_MEMORY;
}

TEAM_FN u32 size_class(Kind kind, u32 n, u32 level) {
    const u32 unit = (kind == SUMS ? 4 : TILE) * lanes_of(level);
    const u32 c = level == IN_MEMORY ? (32 - u32(__clz(int(n)))) / 2 : (n + unit - 1) / unit;
    return c < 15 ? c : 15;
}

// Words reserved for the quotient of lengths a and b, and for all results.
TEAM_FN u32 quotient_room(u32 a, u32 b) {
    const u32 low = b == 1;
    return round_up(a + low < b + low ? 2 : a - b + 2, 4);
}
TEAM_FN u32 result_room(u32 operation, u32 a, u32 b) {
    const u32 less = a < b ? a : b, more = a < b ? b : a;
    switch (operation) {
        case MULTIPLY: return less ? round_up(a + b, 4) : 0;
        case FLOORDIV: return b ? quotient_room(a, b) : 0;
        case MOD: return round_up(b, 4);
        case DIVMOD: return b ? quotient_room(a, b) + round_up(b, 4) : 0;
        case GCD: return round_up(less ? less : more, 4);
        case COMPARE: return 4;
        default: return round_up(more + 1, 4);
    }
}

// The sum of the values of lower lanes, and that of all.
TEAM_FN u32 exclusive_sum(u32 lane, u32 value, u32& sum) {
    u32 x = value;
#pragma unroll
    for (u32 by = 1; by < WARP; by *= 2) {
        const u32 below = __shfl_up_sync(ALL, x, by);
        if (lane >= by) x += below;
    }
    sum = __shfl_sync(ALL, x, 31);
    return x - value;
}

struct Results {
    u32* words;
    u64* lengths;
    u32* negative;
    u64 *starts2, *lengths2;
    u32* negative2;
    Count* counters;
    bool remainders;
};

// Of the results that a lane has written.
struct Tally {
    u64 total, total2;
    u32 longest, longest2;

    TEAM_FN void flush(u32 lane, Count* counters, bool second) {
        u64 sum = second ? total2 : total;
        u32 most = second ? longest2 : longest;
#pragma unroll
        for (u32 by = 1; by < WARP; by *= 2) {
            sum += __shfl_xor_sync(ALL, sum, int(by));
            const u32 other = __shfl_xor_sync(ALL, most, int(by));
            most = most < other ? other : most;
        }
        if (lane || !most) return;
        atomicAdd(counters + (second ? TOTAL2 : TOTAL), Count(sum));
        atomicMax(counters + (second ? LONGEST2 : LONGEST), Count(most));
    }
};

// A team's computation. live: or the ticket has fewer of them than the warp has teams.
struct Task {
    bool live;
    Magnitude a, b;
    bool a_sign, b_sign;
    u32 index, operation;
    u64 start;  // of the result
};

template <u32 T>
struct Worker {
    Team<T> team;
    const Results& to;
    Tally& tally;

    TEAM_FN void note(const Task& task, u32 length, bool sign) const {
        if (!task.live || team.rank) return;
        to.lengths[task.index] = length;
        if (sign && length) atomicOr(to.negative + task.index / 32, 1u << (task.index % 32));
        tally.total += length;
        tally.longest = tally.longest < length ? length : tally.longest;
    }
    TEAM_FN void note_second(const Task& task, u64 start, u32 length, bool sign) const {
        if (!task.live || team.rank) return;
        to.starts2[task.index] = start;
        to.lengths2[task.index] = length;
        if (sign && length) atomicOr(to.negative2 + task.index / 32, 1u << (task.index % 32));
        tally.total2 += length;
        tally.longest2 = tally.longest2 < length ? length : tally.longest2;
    }

    TEAM_FN void sums(const Task& task) const {
        Magnitude a = task.a, b = task.b;
        const u32 n = a.length < b.length ? b.length : a.length;
        const bool compares = task.operation == COMPARE, b_sign = task.b_sign != (task.operation != ADD);
        const bool differ = task.a_sign != b_sign;
        const int order = compare(team, a, b, task.live && differ);
        bool sign = task.a_sign;
        if (differ && order < 0) {
            const Magnitude t = a;
            a = b, b = t, sign = b_sign;
        }
        u32* r = to.words + task.start;
        u32 length = add(team, a, b, differ, r, task.live && !compares ? round_up(n + 1, 4) : 0);
        if (compares) {
            length = differ ? order != 0 : n != 0;
            if (task.live && team.rank == 0) *reinterpret_cast<uint4*>(r) = make_uint4(1, 0, 0, 0);
        }
        note(task, length, sign);
    }

    TEAM_FN void products(const Task& task, const Room& room) const {
        const u32 a = task.a.length, b = task.b.length;
        const u32 a_room = round_up(a, TILE), b_room = round_up(b, TILE);
        const u32 out = a && b ? round_up(a + b, 4) : 0;
        stage(team, task.a, room, 0, a_room);
        stage(team, task.b, room, a_room, b_room);
        __syncwarp();
        const bool all = multiply(team, room.mine(), a_room / TILE, room.mine() + a_room,
                                  b_room / TILE, to.words + task.start, out, a + b - 1);
        note(task, out ? a + b - !all : 0, task.a_sign != task.b_sign);
    }

    TEAM_FN void divisions(const Task& task, const Room& room) const {
        const u32 b = task.b.length;
        if (task.live && !b) atomicMin(to.counters + ZERO_DIVISOR, Count(task.index));
        const bool live = task.live && b, differ = task.a_sign != task.b_sign;
        const Division d = prepare(team, task.a, task.b, room);
        divide(team, d.u, d.m, d.v, d.n, live);
        round_down(team, d.u, d.m, d.v, d.n, live && differ);
        const bool only_rest = task.operation == MOD, both = task.operation == DIVMOD;
        const u32 q_room = live && !only_rest ? round_up(d.m - d.n + 2, 4) : 0;
        const u32 r_room = live && (only_rest || both) ? round_up(b, 4) : 0;
        u32* r = to.words + task.start;
        const u32 q = store(team, d.u + d.n, d.m + 2 - d.n, 0, r, q_room);
        const u32 rest = store(team, d.u + d.low, d.n - d.low, d.shift, r + q_room, r_room);
        note(task, only_rest ? rest : q, only_rest ? task.b_sign : differ);
        if (to.remainders) note_second(task, task.start + q_room, both ? rest : 0, task.b_sign);
    }

    TEAM_FN void gcds(const Task& task, const Room& room) const {
        const bool swap = task.a.length < task.b.length;
        const Magnitude a = swap ? task.b : task.a, b = swap ? task.a : task.b;
        const bool trivial = !b.length;
        const Division d = prepare(team, a, b, room);
        divide(team, d.u, d.m, d.v, d.n, !trivial);
        const u32* g = gcd(team, d.v, d.u, d.n, !trivial);
        const u32 n = trivial ? a.length : b.length;
        const u32 length = store(team, trivial ? d.u : g + d.low, n, d.shift, to.words + task.start,
                                 task.live ? round_up(n, 4) : 0);
        note(task, length, false);
    }

    // All computations of a ticket, `count` of them, one a lane.
    TEAM_FN void work(Kind kind, const Task& mine, u32 count, Room room, bool in_memory,
                      u32* scratch) const {
        const u64 a = reinterpret_cast<u64>(mine.a.at), b = reinterpret_cast<u64>(mine.b.at);
        const u32 flags = mine.a_sign | mine.b_sign << 1 | mine.operation << 2;
        for (u32 first = 0; first < count; first += WARP / T) {
            const u32 from = first + team.lane / T;
            const u32 packed = __shfl_sync(ALL, flags, int(from));
            Task task = {
                from < count,
                {reinterpret_cast<const u32*>(__shfl_sync(ALL, a, int(from))),
                 __shfl_sync(ALL, mine.a.length, int(from))},
                {reinterpret_cast<const u32*>(__shfl_sync(ALL, b, int(from))),
                 __shfl_sync(ALL, mine.b.length, int(from))},
                (packed & 1) != 0, (packed & 2) != 0,
                __shfl_sync(ALL, mine.index, int(from)), packed >> 2,
                __shfl_sync(ALL, mine.start, int(from))};
            if (!task.live) task.a.length = task.b.length = 0;
            if (kind == SUMS) {
                if constexpr (has(SUMS)) sums(task);
                continue;
            }
            if constexpr (KINDS != 1 << SUMS) {
                const u32 words = task.live ? room_of(kind, task.a.length, task.b.length) : 0;
                u32 sum;
                room.offset = exclusive_sum(team.lane, team.rank ? 0 : words, sum);
                room.offset = __shfl_sync(ALL, room.offset, int(team.lane - team.rank));
                if (in_memory) {
                    Count base = 0;
                    if (team.lane == 0) base = atomicAdd(to.counters + SCRATCH, Count(sum));
                    room.words = scratch + __shfl_sync(ALL, base, 0);
                }
                if constexpr (has(PRODUCTS))
                    if (kind == PRODUCTS) products(task, room);
                if constexpr (has(DIVISIONS))
                    if (kind == DIVISIONS) divisions(task, room);
                if constexpr (has(GCDS))
                    if (kind == GCDS) gcds(task, room);
                __syncwarp();  // before the words are used for others
            }
        }
        if (to.remainders && kind != DIVISIONS && team.lane < count) {
            to.starts2[mine.index] = mine.start;
            to.lengths2[mine.index] = 0;
        }
    }
};

}  // namespace

// What must be nought before, for every run. flags: words of either mask of signs.
extern "C" __global__ void pool_clear(u32* __restrict__ bins, Count* __restrict__ counters,
                                      u32* __restrict__ negative, u32* __restrict__ negative2,
                                      u64 flags) {
    const u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < BINS) bins[i] = 0;
    if (i < COUNTERS) counters[i] = i == ZERO_DIVISOR ? ~Count(0) : 0;
    if (i < flags) negative[i] = negative2[i] = 0;
}

// sizes[i]: of computation i the bin (queue and size class), how many came before in
// that, and the lengths of its operands. bins counts. operation: of all of them, or
// operations[i] where it is negative.
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

// bins: from counts to the place of each bin's first. tables: of each queue the place of
// the first computation and the number of the first ticket; the ends follow. share:
// computations of a ticket, or more where the warp has more teams.
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
        const u32 teams = WARP / lanes_of(LEVELS - 1 - q % LEVELS), each = teams < share ? share : teams;
        tables[2 * q] = first, tables[2 * q + 1] = tickets;
        tickets += (end - first + each - 1) / each;
        first = end;
    }
    tables[2 * QUEUES] = first, tables[2 * QUEUES + 1] = tickets;
}

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

// budget: words of shared memory a warp. counters[ZERO_DIVISOR] takes the first index
// whose divisor is nought. starts2, lengths2, negative2: of the remainders of DIVMOD.
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
    // Lane q knows queue q.
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
            const uint4 low = orders[2 * u64(first + lane)], high = orders[2 * u64(first + lane) + 1];
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
        if (level == 0) Worker<1>{Team<1>(lane), to, tally}.work(kind, task, count, place, far, scratch);
        else if (level == 1) Worker<2>{Team<2>(lane), to, tally}.work(kind, task, count, place, far, scratch);
        else if (level == 2) Worker<8>{Team<8>(lane), to, tally}.work(kind, task, count, place, far, scratch);
        else Worker<32>{Team<32>(lane), to, tally}.work(kind, task, count, place, far, scratch);
    }
    tally.flush(lane, counters, false);
    if (to.remainders) tally.flush(lane, counters, true);
}

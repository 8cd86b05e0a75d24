// A computation of the pool: how much room it takes, in which queue it waits, and how a team
// makes it.
//
// Macro KINDS: a bit for each kind of operation that may come.
#pragma once
#include "team_gcd.hpp"
#include "team_multiply.hpp"

#ifndef KINDS
#define KINDS 15
#endif

namespace {

using u8 = unsigned char;
using Count = unsigned long long;  // the type that the atomics take

enum Operation : u32 { ADD, SUBTRACT, MULTIPLY, FLOORDIV, MOD, GCD, DIVMOD, COMPARE };
enum Kind : u32 { GCDS, DIVISIONS, PRODUCTS, SUMS };

constexpr u32 BLOCK_WARPS = 2;  // more would need leave to use so much shared memory
constexpr u32 LEVELS = 5;       // teams of 1, 2, 8, 32 lanes, and 32 with the words in memory
constexpr u32 IN_MEMORY = LEVELS - 1;
constexpr u32 FINE = 256;           // sizes that are told apart in a queue
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

// What `counters` has. Those that all warps use lie far apart.
enum Counter : u32 {
    TICKET = 0, RESERVED = 16, SCRATCH = 32,
    TOTAL = 48, LONGEST, TOTAL2, LONGEST2, ZERO_DIVISOR, COUNTERS
};

// Bits of `form`: a batch is one number for all (SINGLE), or has signs (SIGNED); remainders are
// wanted, too.
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
    // Returns the first word's place, with the sign above it.
    TEAM_FN u64 place(u64 i) const {
        const u64 k = single ? 0 : i;
        return starts[k] | (with_signs ? u64(negative[k / 32] >> (k % 32) & 1) << 63 : 0);
    }
};

// Returns how many words of shared memory, or of scratch, a computation needs.
TEAM_FN u32 room_of(Kind kind, u32 a, u32 b) {
    if (kind == SUMS) return 0;
    if (kind == PRODUCTS) return (round_up(a, TILE) + round_up(b, TILE)) | 1;  // odd: no two lanes
    return division_room(a, b) | 1;                                            // use the same bank
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

// Return how many words are reserved for the quotient of lengths a and b, and for all results.
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

// Returns the sum of the values of lower lanes; `sum` becomes that of all lanes.
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

// What is known of the results that a lane has written.
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

// A team's computation. live: whether there is one, as a ticket may have fewer than the warp has
// teams.
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
        const bool compares = task.operation == COMPARE;
        const bool b_sign = task.b_sign != (task.operation != ADD), differ = task.a_sign != b_sign;
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

    // Makes all computations of a ticket, `count` of them, one for each lane.
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

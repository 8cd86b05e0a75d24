// Charts of many strings for grammars with many rules per pair of symbols: for each span
// the pairs P[B, C] |= left[B] & right[C] over its splits, then all rules once (the
// hoisted form of Fujita 2017, 7.2).
//
// A block has a group of 1024 strings, one word a lane. Its spans come diagonal by
// diagonal, each in passes of one tile of 8 x 8 pairs a warp. While the pairs of one pass
// grow in registers, those of the pass before lie in shared memory as rows of 32 words,
// and lists of rows, made on the host, say which are ORed to what: first to buckets
// (sets of symbols), and after a span's last pass buckets to symbols. In a chart the words
// of four symbols lie side by side, so that a lane reads the symbols of a tile as vectors.
//
// Macros: SYMBOLS of a chart, a multiple of 8, WARPS with tiles, BUCKETS, UNITS whether there
// are unit rules, KEPT vectors of the program if shared memory has a copy of it, else 0.
#include "../bits.hpp"

#ifndef SYMBOLS
#define SYMBOLS 32
#define WARPS 16
#define BUCKETS 32
#define UNITS 1
#define KEPT 0
#endif

#if !defined(DYNAMIC_SHARED)
#define DYNAMIC_SHARED(T, name) extern __shared__ T name[]
#endif

namespace {

constexpr int TILE = 8;
constexpr int CELL = SYMBOLS * 32;          // words
constexpr int PAIRS = TILE * TILE * WARPS;  // rows; then the buckets, then a row of zeros
constexpr int ZERO = PAIRS + BUCKETS;
constexpr int COPY = (ZERO + 1) * 8;  // where in shared memory the program is, in vectors

struct Lists {
    u32 start, quads;
};

// A pass over the pairs of the span (i, j).
struct Item {
    int i, j, pass;

    __device__ __forceinline__ int width() const { return j - i; }
    __device__ __forceinline__ Item next(int length, int passes) const {
        if (pass + 1 < passes) return {i, j, pass + 1};
        if (j < length) return {i + 1, j + 1, 0};
        return {0, j - i + 1, 0};
    }
};

__device__ __forceinline__ u64 cell(int i, int j) { return u64(j * (j - 1) / 2 + i) * CELL; }

// Where in a cell the word of a symbol and lane is.
__device__ __forceinline__ int place(int symbol, int lane) {
    return (symbol & ~3) * 32 + lane * 4 + (symbol & 3);
}

__device__ __forceinline__ uint4 either(uint4 a, uint4 b, uint4 c) {
    return make_uint4(a.x | b.x | c.x, a.y | b.y | c.y, a.z | b.z | c.z, a.w | b.w | c.w);
}

// A warp's share of the lists: ORs of rows. Four lists at a time, eight lanes to each, a
// lane having four words: the lists' vectors of 16-bit numbers lie side by side. The first
// number is what sink() is told, the second the number of rows, the greatest of the four;
// then come the rows, times 8.
struct Work {
    const uint4* at;
    u32 quads;
    uint4 head;

    __device__ __forceinline__ Work(const uint4* program, Lists lists, int lane)
        : at(program + lists.start * 4 + (lane >> 3)), quads(lists.quads) {
        if (!KEPT && quads) head = *at;
    }

    template <class Sink>
    __device__ __forceinline__ void quad(const uint4* column, Sink sink) {
        auto four = [=](uint4 sum, u32 some, u32 others) {
            const uint4 a = column[some & 0xFFFF], b = column[some >> 16];
            const uint4 c = column[others & 0xFFFF], d = column[others >> 16];
            return either(either(sum, a, b), c, d);
        };
        auto two = [=](uint4 sum, u32 which) {
            return either(sum, column[which & 0xFFFF], column[which >> 16]);
        };
        // From global memory the first vector is read ahead; there are few others then.
        const uint4 first = KEPT ? *at : head;
        const int count = int(first.x >> 16);
        const uint4* body = at + 4;
        at += 4 * (1 + (count + 1) / 8);
        quads--;
        if (!KEPT && quads) head = *at;
        uint4 sum = make_uint4(0, 0, 0, 0);
        if (count > 2)
            sum = four(sum, first.y, first.z);
        else if (count > 0)
            sum = two(sum, first.y);
        if (count > 4) sum = two(sum, first.w);
#pragma unroll 1
        for (int rest = count - 6; rest > 0; rest -= 8) {
            const uint4 these = *body;
            body += 4;
            sum = four(sum, these.x, these.y);
            if (rest > 4) sum = four(sum, these.z, these.w);
        }
        sink(first.x & 0xFFFF, sum);
    }
};

// Symbols of a tile, of one lane.
struct Symbols {
    u32 words[TILE];

    __device__ __forceinline__ void load(const u32* from) {
#pragma unroll
        for (int q = 0; q < TILE; q += 4) {
            const uint4 four = *reinterpret_cast<const uint4*>(from + q * 32);
            words[q] = four.x, words[q + 1] = four.y, words[q + 2] = four.z, words[q + 3] = four.w;
        }
    }
};

// Pairs over all splits of a span: left and right are the symbols of the first, the left
// ones in cells (i, i + 1), (i, i + 2), .. and the right ones in cells that follow one
// another. While symbols are on their way, the pairs of the split before are computed.
__device__ __forceinline__ void accumulate(u32 (&pairs)[TILE * TILE], const u32* left,
                                           const u32* right, int i, int splits) {
    Symbols a, b, c, d;
    auto add = [&](const Symbols& x, const Symbols& y) {
#pragma unroll
        for (int q = 0; q < TILE * TILE; q++) pairs[q] |= x.words[q / TILE] & y.words[q % TILE];
    };
    auto load = [&](Symbols& x, Symbols& y) {
        x.load(left);
        y.load(right);
        left += ++i * CELL;
        right += CELL;
    };
    load(a, b);
#pragma unroll
    for (int q = 0; q < TILE * TILE; q++) pairs[q] = 0;
#pragma unroll 1
    for (; splits > 2; splits -= 2) {
        load(c, d);
        add(a, b);
        load(a, b);
        add(c, d);
    }
    if (splits > 1) {
        load(c, d);
        add(a, b);
        add(c, d);
    } else {
        add(a, b);
    }
}

}  // namespace

// chart: uint32 [groups][cells][SYMBOLS / 4][32][4]. heads: the passes' tiles, one a warp,
// as first B | first C << 16; then the Lists of each pass, those that make symbols, and those
// of unit rules, one a warp. vectors: of the program.
extern "C" __global__ void __launch_bounds__(32 * WARPS, 16 / WARPS)
    dense_charts(u32* charts, const u32* __restrict__ heads, const uint4* __restrict__ vectors,
                 int length, int passes) {
    DYNAMIC_SHARED(uint4, rows);
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    u32* const chart = charts + blockIdx.x * cell(0, length + 1);
    if (threadIdx.x < 8) rows[ZERO * 8 + threadIdx.x] = make_uint4(0, 0, 0, 0);
    for (int q = threadIdx.x; q < KEPT * 4; q += 32 * WARPS) rows[COPY + q] = vectors[q];
    const uint4* const program = KEPT ? rows + COPY : vectors;
    __syncthreads();

    const uint4* const column = rows + (lane & 7);
    auto work = [=](int which) {
        const u32* at = heads + passes * WARPS + (which * WARPS + warp) * 2;
        return Work(program, {at[0], at[1]}, lane);
    };
    // To the symbols of a cell.
    auto finish = [=](int which, u64 c) {
        u32* const to = chart + c;
        Work some = work(which);
        while (some.quads)
            some.quad(column, [=](u32 symbol, uint4 sum) {
                if (symbol >= SYMBOLS) return;
                u32* const four = to + place(int(symbol), (lane & 7) * 4);
                four[0] = sum.x, four[4] = sum.y, four[8] = sum.z, four[12] = sum.w;
            });
    };
#if UNITS
    for (int i = 0; i < length; i++) {
        const u64 c = cell(i, i + 1);
        u32* const words = reinterpret_cast<u32*>(rows);
        for (int q = threadIdx.x; q < CELL; q += 32 * WARPS)
            words[q] = chart[c + place(q / 32, q % 32)];
        __syncthreads();
        finish(passes + 1, c);
        __syncthreads();
    }
#endif
    if (length < 2) return;

    u32 pairs[TILE * TILE];
    auto grow = [&](Item item) {
        const u32 tile = heads[item.pass * WARPS + warp];
        const int b = int(tile & 0xFFFF), c = int(tile >> 16);
        accumulate(pairs, chart + cell(item.i, item.i + 1) + b * 32 + lane * 4,
                   chart + cell(item.i + 1, item.j) + c * 32 + lane * 4, item.i,
                   item.width() - 1);
    };
    auto publish = [&] {
        u32* const to = reinterpret_cast<u32*>(rows) + threadIdx.x;
#pragma unroll
        for (int q = 0; q < TILE * TILE; q++) to[q * WARPS * 32] = pairs[q];
    };
    auto alone = [&](Item item) {
        grow(item);
        publish();
        __syncthreads();
    };

    Item item = {0, 2, 0};
    alone(item);
    for (;;) {
        const Item next = item.next(length, passes);
        const bool more = next.width() <= length;
        // The last span alone needs the one just before it.
        const bool waits = next.width() == length && next.pass == 0;
        Work some = work(item.pass);
        auto one = [&] {
            some.quad(column, [=](u32 row, uint4 sum) {
                uint4* const to = rows + row * 8 + (lane & 7);
                const uint4 old = item.pass ? *to : make_uint4(0, 0, 0, 0);
                *to = make_uint4(old.x | sum.x, old.y | sum.y, old.z | sum.z, old.w | sum.w);
            });
        };
        // Half of the warps wait for memory while the others work off their lists.
        while (warp >> 2 & 1 && some.quads) one();
        if (more && !waits) grow(next);
        while (some.quads) one();
        __syncthreads();
        if (item.pass == passes - 1) finish(passes, cell(item.i, item.j));
        if (more && !waits) publish();
        __syncthreads();
        if (!more) return;
        if (waits) alone(next);
        item = next;
    }
}

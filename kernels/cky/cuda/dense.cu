// Charts of many strings, for grammars with many rules per pair of symbols. For each span the
// pairs P[B, C] |= left[B] & right[C] are computed over its splits, and then all rules once (the
// hoisted form of Fujita 2017, 7.2).
//
// A block has a group of 1024 strings, one word a lane. Its spans come diagonal by
// diagonal, each in passes over its pairs: an item is one pass of one span. The warps have
// three tasks, on which they work at the same time:
//
//   The copier, one warp, brings the symbols of the splits to come from the chart to a ring
//     in shared memory. A step of the ring has STEP splits, of each the SLOTS tiles of eight
//     symbols that the pass needs.
//   The tilers, WARPS warps, have a tile of 8 x 8 pairs each. It grows in registers, split by
//     split from the ring, and is then published: written to rows of 32 words.
//   The listers work off lists of rows (lists.hpp), made by the host, that say which are ORed
//     to what: pairs to buckets (sets of symbols), and after a span's last pass buckets to
//     symbols, which go to the chart. Tilers that have computed their tile take a share
//     of the lists of the item before.
//
// For small grammars, with CIRCUIT, a tiler makes symbols from its pairs by code that was
// generated from the rules (circuit.py), and publishes a row for each symbol; the listers then
// only OR the rows of all tilers.
//
// Who waits for whom (gates.hpp):
//
//   full, empty, finished      see ring.hpp
//   published  whoever has lists, for all tilers: the rows of an item are complete
//   freed      tilers, for whoever has lists: the item's rows have been read and can be
//              overwritten; listers: the buckets of the span are complete
//   met        whoever has lists, for all listers: a span's symbols are in the chart, and
//              its buckets can be overwritten
//
// Nobody waits in a circle: the tiles of an item need the lists of the item before in one
// case alone, the span of the whole string, and there tilers see to these lists first.
//
// Macros: those of ring.hpp, WARPS being those with tiles; LISTERS; BUCKETS, rows;
// UNITS whether there are unit rules; KEPT vectors of the program if shared memory has a copy
// of it, else 0; CIRCUIT whether there is generated code, which is WIRES.
#ifndef SYMBOLS
#define SYMBOLS 32
#define WARPS 16
#define LISTERS 3
#define BUCKETS 32
#define UNITS 1
#define SLOTS 8
#define RUNS 2
#define STEP 2
#define DEPTH 3
#define KEPT 0
#define CIRCUIT 0
#define WIRES
#endif

#include "lists.hpp"
#include "ring.hpp"

namespace {

constexpr int SHARES = LISTERS + (CIRCUIT ? 0 : WARPS);  // warps that have lists
constexpr int THREADS = 32 * (LISTERS + 1 + WARPS);
constexpr int AHEAD = KEPT ? 2 : 4;  // vectors, from shared or from global memory

// Shared memory. Rows: what the tilers publish, the buckets, one of zeros. Then, in vectors:
constexpr int ROWS = (CIRCUIT ? SYMBOLS : TILE * TILE) * WARPS;
constexpr int ZERO = ROWS + BUCKETS;
constexpr int RING = (ZERO + 1) * 8;
constexpr int COPY = RING + RING_VECTORS;  // of the program
constexpr int GATES = COPY + KEPT * 4;

#if CIRCUIT
// Computes what a tiler's pairs p make of each symbol. The host has unrolled it: the compiler
// would take far longer.
__device__ __forceinline__ void circuit(int tiler, const u32 (&p)[TILE * TILE], u32* to) {
    constexpr int ROW = WARPS * 32;
    switch (tiler) { WIRES }
}
#endif

// What all warps of a block know.
struct Block {
    uint4* rows;  // shared memory
    u32* chart;
    const u32* heads;  // see dense_charts
    const uint4* program;
    int length, passes, lane;

    __device__ __forceinline__ u64* gate(int which) const {
        return reinterpret_cast<u64*>(rows + GATES) + which;
    }
    __device__ __forceinline__ Ring ring() const {
        return {rows + RING, gate(0), reinterpret_cast<u32*>(gate(Ring::GATES + 3))};
    }
    __device__ __forceinline__ Gate<WARPS> published() const { return {gate(Ring::GATES)}; }
    __device__ __forceinline__ Gate<SHARES> freed() const { return {gate(Ring::GATES + 1)}; }
    __device__ __forceinline__ Gate<LISTERS> met() const { return {gate(Ring::GATES + 2)}; }

    __device__ __forceinline__ void make_gates() const {
        ring().init();
        published().init(), freed().init(), met().init();
        gates_made();
    }

    template <int WANTED>
    __device__ __forceinline__ void come(Gate<WANTED> gate) const {
        __syncwarp();
        if (!lane) gate.come();
    }

    __device__ __forceinline__ bool more(const Item& item) const { return item.width() <= length; }

    // Tells whether an item is of the whole string, whose symbols come from the span just
    // before it.
    __device__ __forceinline__ bool whole(const Item& item) const {
        return item.width() == length && !item.pass();
    }

    // Returns where the warp's lists of a kind are: the first vector and the number of
    // vectors.
    __device__ __forceinline__ uint2 share(int which, int warp) const {
        const int at = late(passes) * (WARPS + RUNS) + (which * (LISTERS + WARPS) + warp) * 2;
        return make_uint2(heads[at], heads[at + 1]);
    }
    __device__ __forceinline__ Work<AHEAD> work(int which, int lister) const {
        const uint2 own = share(which, lister);
        return {program + own.x * 4 + (lane >> 3), own.y};
    }
    // Returns a sink that writes results to rows.
    __device__ __forceinline__ auto to_rows() const {
        return [to = rows + (lane & 7)](u32 row, uint4 sum) { to[row * 8] = sum; };
    }
    // Works off lists whose results are symbols of a cell.
    __device__ __forceinline__ void finish(Work<AHEAD> some, int i, int j) const {
        u32* const to = chart + cell(i, j);
        some.run({rows, lane}, [=, this_lane = lane](u32 symbol, uint4 sum) {
            if (symbol >= SYMBOLS) return;
            u32* const four = to + place(int(symbol), (this_lane & 7) * 4);
            four[0] = sum.x, four[4] = sum.y, four[8] = sum.z, four[12] = sum.w;
        });
        before_copies();
    }

    __device__ __forceinline__ void tile(int tiler) const;
    __device__ __forceinline__ void list(int lister) const;
};

__device__ __forceinline__ void Block::tile(int tiler) const {
    // Takes a share of the lists of the item before.
    auto help = [&](const Item& item) {
        if (CIRCUIT) return;
        const int pass = item.pass() ? item.pass() - 1 : passes - 1;
        const uint2 own = share(pass, LISTERS + tiler);
        published().wait(item.round() - 1);
        met().wait(item.pass() ? item.span() - 1 : item.span());
        run_lean(program, own.x * 4 + (lane >> 3), own.y, {rows, lane}, to_rows());
        come(freed());
    };
    Step step;
    Item item;
    for (; more(item); item.advance(length, passes)) {
        const u32 slots = heads[item.pass() * WARPS + tiler];
        const uint4* const left = rows + RING + (slots & 0xFFFF) * SLOT + lane;
        const uint4* const right = rows + RING + (slots >> 16) * SLOT + lane;
        if (whole(item) && !item.first()) help(item);
        u32 pairs[TILE * TILE];
#pragma unroll
        for (int q = 0; q < TILE * TILE; q++) pairs[q] = 0;
        auto add = [&](int at) {
            Symbols a, b;
            a.load(left + at), b.load(right + at);
#pragma unroll
            for (int q = 0; q < TILE * TILE; q++) pairs[q] |= a.words[q / TILE] & b.words[q % TILE];
        };
#pragma unroll 1
        for (int splits = item.width() - 1; splits > 0; splits -= STEP) {
            const int at = step.place() * (STEP * SPLIT);
            ring().full(step.place()).wait(step.round());
            add(at);
            if (STEP > 1 && splits > 1) add(at + SPLIT);
            come(ring().empty(step.place()));
            step.advance<DEPTH>();
        }
        if (!whole(item) && !item.first()) help(item);
        freed().wait(item.round() - 1);
        u32* const to = reinterpret_cast<u32*>(rows) + tiler * 32 + lane;
#if CIRCUIT
        circuit(tiler, pairs, to);
#else
#pragma unroll
        for (int q = 0; q < TILE * TILE; q++) to[q * WARPS * 32] = pairs[q];
#endif
        come(published());
    }
    help(item);
}

__device__ __forceinline__ void Block::list(int lister) const {
    u32 spans = 0;  // done
    for (Item item; more(item); item.advance(length, passes)) {
#if CIRCUIT
        const auto some = work(0, lister);
        published().wait(item.round());
        finish(some, item.i, item.j);
        come(freed());
#else
        auto some = work(item.pass(), lister);
        published().wait(item.round());
        some.run({rows, lane}, to_rows());
        come(freed());
        if (item.pass() < passes - 1) continue;
        const auto rest = work(passes, lister);
        freed().wait(item.round());
        finish(rest, item.i, item.j);
#endif
        come(met());
        met().wait(item.span());
        spans++;
        if (!lister && !lane) {
            __threadfence_block();
            *ring().finished = spans;
        }
    }
}

}  // namespace

// Fills in charts. chart: uint32 [groups][cells][SYMBOLS / 4][32][4], as Columns.run has it.
// heads: for each pass the slots of each tiler, left | right << 16; for each pass RUNS of tiles
// to be copied; then where the lists of each warp begin and how many vectors they have, first
// the listers', then the tilers': for each pass those of its pairs (not with CIRCUIT), those
// that make symbols, those of units for single tokens. vectors: the program.
extern "C" __global__ void __launch_bounds__(THREADS, 20 / (LISTERS + 1 + WARPS))
    dense_charts(u32* charts, const u32* __restrict__ heads, const uint4* __restrict__ vectors,
                 int length, int passes) {
    DYNAMIC_SHARED(uint4, rows);
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const Block block = {rows,
                         charts + blockIdx.x * cell(0, length + 1),
                         heads,
                         KEPT ? rows + COPY : vectors,
                         length,
                         passes,
                         lane};
    if (!threadIdx.x) block.make_gates();
    if (threadIdx.x < 8) rows[ZERO * 8 + threadIdx.x] = make_uint4(0, 0, 0, 0);
    for (int q = threadIdx.x; q < KEPT * 4; q += THREADS) rows[COPY + q] = vectors[q];
    __syncthreads();
#if UNITS
    for (int i = 0; i < length; i++) {
        const u32* const from = block.chart + cell(i, i + 1);
        u32* const symbols = reinterpret_cast<u32*>(rows);
        for (int q = threadIdx.x; q < CELL; q += THREADS) symbols[q] = from[place(q / 32, q % 32)];
        __syncthreads();
        if (warp < LISTERS) block.finish(block.work(CIRCUIT ? 1 : passes + 1, warp), i, i + 1);
        __syncthreads();
    }
#endif
    if (length < 2) return;
    if (warp < LISTERS)
        block.list(warp);
    else if (warp == LISTERS)
        block.ring().fill(block.chart, heads + passes * WARPS, length, passes, lane);
    else
        block.tile(warp - LISTERS - 1);
}

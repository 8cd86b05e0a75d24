// Charts of many strings, for large grammars with few rules per pair of symbols. As in dense.cu pairs
// P[B, C] |= left[B] & right[C] are computed over the splits of a span, in tiles that grow in
// registers. A warp that has computed its tile ORs each pair at once to the symbols A of the rules
// A -> B C: rows of shared memory, by atomic operations. No pairs are published, no lists of them read.
//
// A block has a group of 1024 strings, one word a lane. Its spans come diagonal by diagonal, each in
// passes over its pairs: an item is one pass of one span. One warp, the copier, brings symbols to a
// ring in shared memory (ring.hpp). The others, WARPS tilers, have a tile of 8 x 8 pairs each. After a
// span's last pass they write its symbols to the chart.
//
// Who waits for whom (gates.hpp):
//
//   full, empty, finished      see ring.hpp
//   complete   tilers, for each other: all rules of the span have been used
//   written    tilers, for each other: the span's symbols are in the chart, its rows can be cleared
//   cleared    tilers, for each other: rows can be used for the next span
//
// Nobody waits in a circle: what tilers wait for at the end of a span they all do in the same order,
// and a span needs no symbols but those of spans before it.
//
// Macros: those of ring.hpp, WARPS being the tilers; UNITS whether there are unit rules; RANKS and
// WORDS of the tables (scatter_plan.py).
#ifndef SYMBOLS
#define SYMBOLS 32
#define WARPS 16
#define UNITS 1
#define SLOTS 8
#define RUNS 2
#define STEP 2
#define DEPTH 3
#define RANKS 1
#define WORDS 64
#endif

#include "ring.hpp"

namespace {

constexpr int THREADS = 32 * (1 + WARPS);
constexpr int PAIRS = TILE * TILE;

// Shared memory, in vectors: a row of 32 words for each symbol and one that nobody reads, the ring,
// the gates.
constexpr int RING = (SYMBOLS + 1) * 8;
constexpr int GATES = RING + RING_VECTORS;
constexpr int STEP_VECTORS = STEP * SPLIT;

// The words of all rows that a lane has.
struct Row {
    char* first;

    // OR a word to the row whose number is in the low or the high half. A row has 128 bytes: the
    // product with a half takes one instruction, and none of those that pairs are computed with.
    __device__ __forceinline__ void low(u32 numbers, u32 word) const {
#if defined(__CUDA_ARCH__)
        join(__dp2a_lo(numbers, 0x0080u, address()), word);
#else
        atomicOr(reinterpret_cast<u32*>(first + (numbers & 0xFFFF) * 128), word);
#endif
    }
    __device__ __forceinline__ void high(u32 numbers, u32 word) const {
#if defined(__CUDA_ARCH__)
        join(__dp2a_lo(numbers, 0x8000u, address()), word);
#else
        atomicOr(reinterpret_cast<u32*>(first + (numbers >> 16) * 128), word);
#endif
    }
#if defined(__CUDA_ARCH__)
    __device__ __forceinline__ u32 address() const { return u32(__cvta_generic_to_shared(first)); }
    __device__ __forceinline__ void join(u32 to, u32 word) const {
        asm volatile("red.shared.or.b32 [%0], %1;" ::"r"(to), "r"(word) : "memory");
    }
#endif
};

// Returns the pair of a number. It is a jump, as registers have no numbers at run time; a switch
// would be six.
__device__ __forceinline__ u32 chosen(const u32 (&pairs)[PAIRS], u32 number) {
#if defined(__CUDA_ARCH__)
    u32 pair;
    asm("{\n"
        "all: .branchtargets p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14, p15, p16, p17, p18, p19, p20, p21, p22, p23, p24, p25, p26, p27, p28, p29, p30, p31, p32, p33, p34, p35, p36, p37, p38, p39, p40, p41, p42, p43, p44, p45, p46, p47, p48, p49, p50, p51, p52, p53, p54, p55, p56, p57, p58, p59, p60, p61, p62, p63;\n"
        "brx.idx.uni %1, all;\n"
        "p0: mov.u32 %0, %2;\n bra.uni found;\n"
        "p1: mov.u32 %0, %3;\n bra.uni found;\n"
        "p2: mov.u32 %0, %4;\n bra.uni found;\n"
        "p3: mov.u32 %0, %5;\n bra.uni found;\n"
        "p4: mov.u32 %0, %6;\n bra.uni found;\n"
        "p5: mov.u32 %0, %7;\n bra.uni found;\n"
        "p6: mov.u32 %0, %8;\n bra.uni found;\n"
        "p7: mov.u32 %0, %9;\n bra.uni found;\n"
        "p8: mov.u32 %0, %10;\n bra.uni found;\n"
        "p9: mov.u32 %0, %11;\n bra.uni found;\n"
        "p10: mov.u32 %0, %12;\n bra.uni found;\n"
        "p11: mov.u32 %0, %13;\n bra.uni found;\n"
        "p12: mov.u32 %0, %14;\n bra.uni found;\n"
        "p13: mov.u32 %0, %15;\n bra.uni found;\n"
        "p14: mov.u32 %0, %16;\n bra.uni found;\n"
        "p15: mov.u32 %0, %17;\n bra.uni found;\n"
        "p16: mov.u32 %0, %18;\n bra.uni found;\n"
        "p17: mov.u32 %0, %19;\n bra.uni found;\n"
        "p18: mov.u32 %0, %20;\n bra.uni found;\n"
        "p19: mov.u32 %0, %21;\n bra.uni found;\n"
        "p20: mov.u32 %0, %22;\n bra.uni found;\n"
        "p21: mov.u32 %0, %23;\n bra.uni found;\n"
        "p22: mov.u32 %0, %24;\n bra.uni found;\n"
        "p23: mov.u32 %0, %25;\n bra.uni found;\n"
        "p24: mov.u32 %0, %26;\n bra.uni found;\n"
        "p25: mov.u32 %0, %27;\n bra.uni found;\n"
        "p26: mov.u32 %0, %28;\n bra.uni found;\n"
        "p27: mov.u32 %0, %29;\n bra.uni found;\n"
        "p28: mov.u32 %0, %30;\n bra.uni found;\n"
        "p29: mov.u32 %0, %31;\n bra.uni found;\n"
        "p30: mov.u32 %0, %32;\n bra.uni found;\n"
        "p31: mov.u32 %0, %33;\n bra.uni found;\n"
        "p32: mov.u32 %0, %34;\n bra.uni found;\n"
        "p33: mov.u32 %0, %35;\n bra.uni found;\n"
        "p34: mov.u32 %0, %36;\n bra.uni found;\n"
        "p35: mov.u32 %0, %37;\n bra.uni found;\n"
        "p36: mov.u32 %0, %38;\n bra.uni found;\n"
        "p37: mov.u32 %0, %39;\n bra.uni found;\n"
        "p38: mov.u32 %0, %40;\n bra.uni found;\n"
        "p39: mov.u32 %0, %41;\n bra.uni found;\n"
        "p40: mov.u32 %0, %42;\n bra.uni found;\n"
        "p41: mov.u32 %0, %43;\n bra.uni found;\n"
        "p42: mov.u32 %0, %44;\n bra.uni found;\n"
        "p43: mov.u32 %0, %45;\n bra.uni found;\n"
        "p44: mov.u32 %0, %46;\n bra.uni found;\n"
        "p45: mov.u32 %0, %47;\n bra.uni found;\n"
        "p46: mov.u32 %0, %48;\n bra.uni found;\n"
        "p47: mov.u32 %0, %49;\n bra.uni found;\n"
        "p48: mov.u32 %0, %50;\n bra.uni found;\n"
        "p49: mov.u32 %0, %51;\n bra.uni found;\n"
        "p50: mov.u32 %0, %52;\n bra.uni found;\n"
        "p51: mov.u32 %0, %53;\n bra.uni found;\n"
        "p52: mov.u32 %0, %54;\n bra.uni found;\n"
        "p53: mov.u32 %0, %55;\n bra.uni found;\n"
        "p54: mov.u32 %0, %56;\n bra.uni found;\n"
        "p55: mov.u32 %0, %57;\n bra.uni found;\n"
        "p56: mov.u32 %0, %58;\n bra.uni found;\n"
        "p57: mov.u32 %0, %59;\n bra.uni found;\n"
        "p58: mov.u32 %0, %60;\n bra.uni found;\n"
        "p59: mov.u32 %0, %61;\n bra.uni found;\n"
        "p60: mov.u32 %0, %62;\n bra.uni found;\n"
        "p61: mov.u32 %0, %63;\n bra.uni found;\n"
        "p62: mov.u32 %0, %64;\n bra.uni found;\n"
        "p63: mov.u32 %0, %65;\n bra.uni found;\n"
        "found:\n}"
        : "=r"(pair)
        : "r"(number), "r"(pairs[0]), "r"(pairs[1]), "r"(pairs[2]), "r"(pairs[3]), "r"(pairs[4]), "r"(pairs[5]), "r"(pairs[6]), "r"(pairs[7]), "r"(pairs[8]), "r"(pairs[9]), "r"(pairs[10]), "r"(pairs[11]), "r"(pairs[12]), "r"(pairs[13]), "r"(pairs[14]), "r"(pairs[15]), "r"(pairs[16]), "r"(pairs[17]), "r"(pairs[18]), "r"(pairs[19]), "r"(pairs[20]), "r"(pairs[21]), "r"(pairs[22]), "r"(pairs[23]), "r"(pairs[24]), "r"(pairs[25]), "r"(pairs[26]), "r"(pairs[27]), "r"(pairs[28]), "r"(pairs[29]), "r"(pairs[30]), "r"(pairs[31]), "r"(pairs[32]), "r"(pairs[33]), "r"(pairs[34]), "r"(pairs[35]), "r"(pairs[36]), "r"(pairs[37]), "r"(pairs[38]), "r"(pairs[39]), "r"(pairs[40]), "r"(pairs[41]), "r"(pairs[42]), "r"(pairs[43]), "r"(pairs[44]), "r"(pairs[45]), "r"(pairs[46]), "r"(pairs[47]), "r"(pairs[48]), "r"(pairs[49]), "r"(pairs[50]), "r"(pairs[51]), "r"(pairs[52]), "r"(pairs[53]), "r"(pairs[54]), "r"(pairs[55]), "r"(pairs[56]), "r"(pairs[57]), "r"(pairs[58]), "r"(pairs[59]), "r"(pairs[60]), "r"(pairs[61]), "r"(pairs[62]), "r"(pairs[63]));
    return pair;
#else
    return pairs[number];
#endif
}

// Has a table read into the cache of the multiprocessor, before it is needed.
__device__ __forceinline__ void warm(const u32* table) {
#if defined(__CUDA_ARCH__)
#pragma unroll
    for (int at = 0; at < WORDS; at += 32)
        asm volatile("prefetch.global.L1 [%0];" ::"l"(table + at));
#endif
}

// ORs pairs to the rows of the symbols that a table has for them.
__device__ __forceinline__ void scatter(const u32* table, const u32 (&pairs)[PAIRS], Row row) {
#pragma unroll
    for (int rank = 0; rank < RANKS; rank++) {
        const uint4* const eights = reinterpret_cast<const uint4*>(table) + rank * 8;
#pragma unroll
        for (int q = 0; q < PAIRS; q += 8) {
            const uint4 eight = eights[q / 8];
            row.low(eight.x, pairs[q]), row.high(eight.x, pairs[q + 1]);
            row.low(eight.y, pairs[q + 2]), row.high(eight.y, pairs[q + 3]);
            row.low(eight.z, pairs[q + 4]), row.high(eight.z, pairs[q + 5]);
            row.low(eight.w, pairs[q + 6]), row.high(eight.w, pairs[q + 7]);
        }
    }
    const u32* rest = table + RANKS * 32;
    const u32 count = *rest;
    u32 entry = *++rest;
#pragma unroll 1
    for (u32 left = count; left; left--) {
        const u32 now = entry;
        entry = *++rest;
        row.low(now, chosen(pairs, now >> 16));
    }
}

// What all warps of a block know.
struct Block {
    uint4* rows;  // shared memory
    u32* chart;
    const u32* heads;  // see scatter_charts
    const u32* tables;
    int length, passes, lane;

    __device__ __forceinline__ u64* gate(int which) const {
        return reinterpret_cast<u64*>(rows + GATES) + which;
    }
    __device__ __forceinline__ Ring ring() const {
        return {rows + RING, gate(0), reinterpret_cast<u32*>(gate(Ring::GATES + 3))};
    }
    __device__ __forceinline__ Gate<WARPS> complete() const { return {gate(Ring::GATES)}; }
    __device__ __forceinline__ Gate<WARPS> written() const { return {gate(Ring::GATES + 1)}; }
    __device__ __forceinline__ Gate<WARPS> cleared() const { return {gate(Ring::GATES + 2)}; }

    __device__ __forceinline__ void make_gates() const {
        ring().init();
        complete().init(), written().init(), cleared().init();
        gates_made();
    }
    __device__ __forceinline__ void come(Gate<WARPS> gate) const {
        __syncwarp();
        if (!lane) gate.come();
    }

    // Writes the symbols that the rows have, and those that unit rules make of them, to a cell: a
    // warp's share of them.
    __device__ __forceinline__ void write(int warp, int warps, int i, int j) const {
        uint4* const to = reinterpret_cast<uint4*>(chart + cell(i, j)) + lane;
        const u32* const from = reinterpret_cast<const u32*>(rows) + lane;
        const u32* const below = heads + passes * (WARPS + RUNS);
        for (int symbol = warp * 4; symbol < SYMBOLS; symbol += warps * 4) {
            u32 words[4];
#pragma unroll
            for (int q = 0; q < 4; q++) {
                words[q] = from[(symbol + q) * 32];
#if UNITS
                for (u32 at = below[symbol + q]; at < below[symbol + q + 1]; at++)
                    words[q] |= from[below[at] * 32];
#endif
            }
            to[symbol * 8] = make_uint4(words[0], words[1], words[2], words[3]);
        }
        before_copies();
    }
    __device__ __forceinline__ void clear(int warp, int warps) const {
        for (int at = warp * 32 + lane; at < SYMBOLS * 8; at += warps * 32)
            rows[at] = make_uint4(0, 0, 0, 0);
    }

    __device__ __forceinline__ void tile(int tiler) const;
};

// Does what a tiler does.
__device__ __forceinline__ void Block::tile(int tiler) const {
    const Row row{reinterpret_cast<char*>(rows) + lane * 4};
    u32 at = RING, door = 0, round = 0;  // of the ring: the place and the gate of the step
    u32 slots = heads[tiler];
    for (Item item; item.width() <= length; item.advance(length, passes)) {
        const u32 left = lane + (slots & 0xFFFF) * SLOT, right = lane + (slots >> 16) * SLOT;
        warm(tables + (item.pass() * WARPS + tiler) * WORDS + lane);
        u32 pairs[PAIRS];
#pragma unroll
        for (int q = 0; q < PAIRS; q++) pairs[q] = 0;
#pragma unroll 1
        for (int splits = item.width() - 1; splits > 0; splits -= STEP) {
            ring().full(door).wait(round);
            const uint4* const here = rows + at;
#pragma unroll
            for (int h = 0; h < STEP; h++)
                if (!h || splits > h) {
                    Symbols a, b;
                    a.load(here + h * SPLIT + left), b.load(here + h * SPLIT + right);
#pragma unroll
                    for (int q = 0; q < PAIRS; q++)
                        pairs[q] |= a.words[q / TILE] & b.words[q % TILE];
                }
            come(ring().empty(door));
            at += STEP_VECTORS, door++;
            if (door == DEPTH) at = RING, door = 0, round ^= 1;
        }
        const bool last = item.pass() == passes - 1;
        slots = heads[(last ? 0 : item.pass() + 1) * WARPS + tiler];
        if (!item.pass()) cleared().wait(item.span() - 1);
        scatter(tables + late((item.pass() * WARPS + tiler) * WORDS), pairs, row);
        if (!last) continue;
        come(complete());
        complete().wait(item.span());
        write(tiler, WARPS, item.i, item.j);
        come(written());
        written().wait(item.span());
        if (!tiler && !lane) {
            __threadfence_block();
            *ring().finished = *ring().finished + 1;
        }
        clear(tiler, WARPS);
        come(cleared());
    }
}

}  // namespace

// Fills in charts. chart: uint32 [groups][cells][SYMBOLS / 4][32][4], as Columns.run has it.
// heads: for each pass the slots of each tiler, left | right << 16; for each pass RUNS of tiles to
// be copied; with UNITS for each symbol where the symbols begin of which unit rules make it, counted
// from here, one more number, and these symbols.
// tables: of each pass and tiler, WORDS each. RANKS times for each of the 64 pairs the row of a symbol
// that it makes, or SYMBOLS, 16 bits each. How many entries the rest has, and these: row | pair << 16.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
    scatter_charts(u32* charts, const u32* __restrict__ heads, const u32* __restrict__ tables,
                   int length, int passes) {
    DYNAMIC_SHARED(uint4, rows);
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const Block block = {rows,   charts + blockIdx.x * cell(0, length + 1),
                         heads,  tables,
                         length, passes,
                         lane};
    if (!threadIdx.x) block.make_gates();
#if UNITS
    for (int i = 0; i < length; i++) {
        const u32* const from = block.chart + cell(i, i + 1);
        u32* const symbols = reinterpret_cast<u32*>(rows);
        for (int q = threadIdx.x; q < CELL; q += THREADS) symbols[q] = from[place(q / 32, q % 32)];
        __syncthreads();
        block.write(warp, 1 + WARPS, i, i + 1);
        __syncthreads();
    }
#endif
    block.clear(warp, 1 + WARPS);
    __syncthreads();
    if (length < 2) return;
    if (warp < WARPS)
        block.tile(warp);
    else
        block.ring().fill(block.chart, heads + passes * WARPS, length, passes, lane);
}

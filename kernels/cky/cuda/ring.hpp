// The ring in shared memory through which a block of dense.cu or scatter.cu reads the symbols of
// spans, and the warp that fills it, the copier.
//
// In a chart the words of four symbols lie side by side, so that a lane reads the symbols of
// a tile as vectors; a tile is 1 KiB, and tiles that follow one another are one copy.
//
// Macros: SYMBOLS of a chart, a multiple of 8; SLOTS, STEP and DEPTH, in steps, of the ring: a step
// has STEP splits, of each the SLOTS tiles of eight symbols that a pass needs; RUNS of tiles that a
// pass copies, 32 at most; WARPS that read the ring.
#pragma once
#include "gates.hpp"
#include "items.hpp"

#if !defined(DYNAMIC_SHARED)
#define DYNAMIC_SHARED(T, name) extern __shared__ T name[]
#endif

constexpr int TILE = 8;
constexpr int CELL = SYMBOLS * 32;  // words
constexpr int SLOT = TILE * 8;      // vectors
constexpr int SPLIT = SLOTS * SLOT;
constexpr int RING_VECTORS = DEPTH * STEP * SPLIT;

__device__ __forceinline__ u64 cell(int i, int j) { return u64(u64(j) * (j - 1) / 2 + i) * CELL; }

// Returns where in a cell the word of a symbol and a lane is.
__device__ __forceinline__ int place(int symbol, int lane) {
    return (symbol & ~3) * 32 + lane * 4 + (symbol & 3);
}

// The symbols of a tile that one lane has.
struct Symbols {
    u32 words[TILE];

    __device__ __forceinline__ void load(const uint4* from) {
#pragma unroll
        for (int q = 0; q < TILE; q += 4) {
            const uint4 four = from[q * 8];
            words[q] = four.x, words[q + 1] = four.y, words[q + 2] = four.z, words[q + 3] = four.w;
        }
    }
};

// Who waits for whom (gates.hpp):
//
//   full       readers, for the copier: a step of the ring can be read
//   empty      the copier, for all readers: they have read a step, it can be overwritten
//   finished   the copier, for who writes symbols: how many spans are in the chart. A number, as it
//              waits for one long past, and a gate can only be asked for its last round.
struct Ring {
    static constexpr int GATES = 2 * DEPTH;

    uint4* steps;
    u64* gates;
    volatile u32* finished;

    __device__ __forceinline__ Gate<RUNS> full(int p) const { return {gates + p}; }
    __device__ __forceinline__ Gate<WARPS> empty(int p) const { return {gates + DEPTH + p}; }
    __device__ __forceinline__ void init() const {
        for (int p = 0; p < DEPTH; p++) full(p).init(), empty(p).init();
        *finished = 0;
    }

    // Does what the copier does. runs: of each pass, RUNS of tiles that follow one another: first
    // tile | right << 7 | first slot << 8 | tiles << 16.
    __device__ __forceinline__ void fill(const u32* chart, const u32* runs, int length, int passes,
                                         int lane) const {
        Step step;
        u32 spans = 0;  // begun
        for (Item item; item.width() <= length; item.advance(length, passes)) {
            if (!item.pass()) {
                // Wait for all spans up to the later of the two inside that are one
                // token shorter.
                while (int(*finished - spans) < item.width() - length) __nanosleep(40);
                spans++;
                __threadfence_block();
                before_copies();
            }
            // Each lane knows a run.
            const u32 own = lane < RUNS ? runs[item.pass() * RUNS + lane] : 0;
            // Returns where a run is in the chart, for the split at k.
            auto source = [&](u32 run, int k) {
                return chart + (run >> 7 & 1 ? cell(k, item.j) : cell(item.i, k)) +
                       (run & 0x7F) * (SLOT * 4);
            };
            for (int k = item.i + 1; k < item.j; k += STEP) {
                empty(step.place()).wait(step.round() - 1);
                const Gate<RUNS> gate = full(step.place());
                uint4* const to = steps + step.place() * (STEP * SPLIT);
                const int splits = item.j - k < STEP ? item.j - k : STEP;
#if BULK_COPIES
                const u32 bytes = (own >> 16) * (SLOT * 16);
                if (lane < RUNS) gate.come_with(splits * bytes);
                for (int h = 0; h < splits; h++)
                    if (bytes)
                        gate.copy(to + h * SPLIT + (own >> 8 & 0xFF) * SLOT, source(own, k + h),
                                  bytes);
#else
                for (int r = 0; r < RUNS; r++) {
                    const u32 run = __shfl_sync(~0u, own, r);
                    uint4* const at = to + (run >> 8 & 0xFF) * SLOT + lane;
                    for (int h = 0; h < splits; h++) {
                        const uint4* from =
                            reinterpret_cast<const uint4*>(source(run, k + h)) + lane;
#pragma unroll 8
                        for (int q = 0; q < int(run >> 16) * SLOT; q += 32)
                            at[h * SPLIT + q] = from[q];
                    }
                }
                __syncwarp();
                if (lane < RUNS) gate.come();
#endif
                step.advance<DEPTH>();
            }
        }
    }
};

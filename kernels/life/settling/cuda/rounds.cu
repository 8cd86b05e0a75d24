// Rounds of a universe that settles: windows are laid over what is due, a thread each.
//
// What is due in a round is marked in a map, a bit for each unit (field.hpp): those units that have a cell
// within four of one that the round before has found to be other than twelve generations ago. All others
// hold the cells of the round's end already. The first FIELDS rounds take all units.
//
// A round has two phases: windows are laid over the units of the map, into a list, and then computed. Blocks
// wait for each other between phases, so that the host looks on only now and then: all of them must have room
// on the device at once, or it is to be launched once for each phase of each round.
//
// Macros: the rule as kernels/life/cuda/rule.hpp takes it; PLANE 1 where cells beyond the edges are dead;
// THREADS of a block; BLOCKS of a multiprocessor; PATIENCE, how many times a block looks for the others.
#include "window.hpp"

#ifndef PLANE
#define PLANE 0
#endif
#ifndef THREADS
#define THREADS 256
#endif
#ifndef BLOCKS
#define BLOCKS 3
#endif
#ifndef PATIENCE
#define PATIENCE 1000000
#endif

namespace {

constexpr u32 LAY = 1, COMPUTE = 2, BOTH = 3;  // phases
constexpr int WARPS = THREADS / 32;
constexpr int WORDS = 8;  // of the map, below each other, that a thread lays windows over at once

// Words of `state`. COUNTS: windows of the rounds that have an even number, and of the others.
enum { ARRIVED, NUMBER, COUNTS, MISSED = COUNTS + 2, STATE };

// Adds one, after all that this block has done, and returns what was there.
__device__ __forceinline__ word64 arrive(word64* count) {
#if defined(__CUDA_ARCH__)
    word64 before;
    asm volatile("atom.add.acq_rel.gpu.global.u64 %0, [%1], 1;" : "=l"(before) : "l"(count) : "memory");
    return before;
#else
    return atomicAdd(count, word64(1));
#endif
}

// Returns a word; what others have done before they wrote it is done for whoever goes on.
__device__ __forceinline__ word64 look(const word64* word) {
#if defined(__CUDA_ARCH__)
    word64 found;
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(found) : "l"(word) : "memory");
    return found;
#else
    return *static_cast<const volatile word64*>(word);
#endif
}

// Waits for all threads of the grid. Returns false where some block has waited for too long, as not all of them
// have room on the device; then all give up.
__device__ bool meet(word64* state) {
    __shared__ u32 missed;
    __syncthreads();
    if (threadIdx.x == 0) {
        missed = 0;
        if (gridDim.x > 1) {
            const word64 all = gridDim.x, wanted = (arrive(state + ARRIVED) / all + 1) * all;
            for (u32 n = 1; look(state + ARRIVED) < wanted; n++) {
                if (n % 1024 == 0 && (n >= PATIENCE || look(state + MISSED))) {
                    state[MISSED] = missed = 1;
                    break;
                }
            }
        }
    }
    __syncthreads();
    return !missed;
}

struct Rounds {
    Shape shape;
    u32* fields;
    u32 *map, *list;
    word64* state;

    __device__ __forceinline__ u32* field(word64 round) const {
        return fields + u32(round % FIELDS) * shape.field_units() * UNIT;
    }

    // --- laying ---------------------------------------------------------------

    // Calls f(unit) for windows over the units of a word of the map; a window stays within the word.
    template <class F>
    __device__ __forceinline__ static void each_window(u32 due, F f) {
        while (due) {
            const int first = __ffs(int(due)) - 1, unit = first < 32 - INNER ? first : 32 - INNER;
            f(unit);
            due &= ~(7u << unit);
        }
    }

    // Lists the windows of a round, and empties the map. all: over all units that there are. Windows below
    // each other come side by side, so that who writes to the bands above and below is near who reads them.
    __device__ void lay(word64 round, bool all) const {
        __shared__ u32 sums[WARPS], base;
        const u32 pitch = u32(shape.map_pitch()), bands = u32(shape.bands());
        const u32 all_of = (bands + WORDS - 1) / WORDS * pitch;
        const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
        for (u32 chunk = blockIdx.x * THREADS; chunk < all_of; chunk += gridDim.x * THREADS) {
            const u32 n = chunk + threadIdx.x, band = n / pitch * WORDS, column = n % pitch;
            u32* const from = map + band * pitch + column;
            u32 due[WORDS];
#pragma unroll
            for (u32 i = 0; i < WORDS; i++) due[i] = n < all_of && band + i < bands ? from[i * pitch] : 0;
#pragma unroll
            for (u32 i = 0; i < WORDS; i++) {
                if (due[i]) from[i * pitch] = 0;
                if (all && n < all_of && band + i < bands) due[i] = inside(int(column) * 32, shape.units());
            }
            u32 count = 0;
#pragma unroll
            for (u32 i = 0; i < WORDS; i++) each_window(due[i], [&](int) { count++; });
            u32 sum = count;
#pragma unroll
            for (int d = 1; d < 32; d *= 2) {
                const u32 before = __shfl_up_sync(ALL, sum, d);
                if (lane >= d) sum += before;
            }
            if (lane == 31) sums[warp] = sum;
            __syncthreads();
            if (threadIdx.x == 0) {
                u32 total = 0;
                for (int w = 0; w < WARPS; w++) {
                    const u32 own = sums[w];
                    sums[w] = total;
                    total += own;
                }
                base = total ? u32(atomicAdd(state + COUNTS + round % 2, word64(total))) : 0;
            }
            __syncthreads();
            u32* to = list + base + sums[warp] + sum - count;
            const u32 first = band << 16 | column * 32;
#pragma unroll
            for (u32 i = 0; i < WORDS; i++) each_window(due[i], [&](int u) { *to++ = first + (i << 16 | u32(u)); });
            __syncthreads();
        }
    }

    // Makes the copies anew that stand beyond the edges of a torus.
    __device__ void copy_edges(u32* field) const {
        const int units = shape.units(), bands = shape.bands(), last = bands - 1;
        const int ragged = shape.width % CELLS != 0, rest = shape.height - last * BAND;
        const int columns = 2 + ragged;
        const int beside = columns * bands * UNIT, all = beside + 4 * units;
        for (int n = blockIdx.x * THREADS + threadIdx.x; n < all; n += gridDim.x * THREADS) {
            int unit, band, i;  // the word of rows 4 i on
            if (n < beside) {
                const int k = n / UNIT % columns;
                unit = k == 0 ? -1 : units - ragged + k - 1;
                band = n / UNIT / columns, i = n % UNIT - 1;
            } else {
                const int k = (n - beside) / units;
                unit = (n - beside) % units;
                band = k == 0 ? 0 : k < 3 ? last : last - 1;
                i = k == 0 ? -1 : k == 1 ? rest / 4 : k == 2 ? (rest + 3) / 4 : OWN;
                if (band < 0 || (k == 3 && rest >= 4)) continue;
            }
            const int x = (unit * CELLS + shape.width) % shape.width;
            u32 word = 0;
#pragma unroll
            for (int r = 0; r < 4; r++) {
                const int y = (band * BAND + 4 * i + r + shape.height) % shape.height;
                word |= cells_at(shape, field, x, y) << 8 * r;
            }
            field[shape.at(band, unit) * UNIT + word_of(i)] = word;
        }
    }

    // --- computing ------------------------------------------------------------

    // Sets bits, and does not wait for it.
    __device__ __forceinline__ static void set(u32* word, u32 bits) {
#if defined(__CUDA_ARCH__)
        asm volatile("red.relaxed.gpu.global.or.b32 [%0], %1;" ::"l"(word), "r"(bits) : "memory");
#else
        atomicOr(word, bits);
#endif
    }

    // Marks up to 32 units from one on.
    __device__ __forceinline__ void mark(int band, int unit, u32 which) const {
        u32* const to = map + word64(band) * shape.map_pitch() + (unit >> 5);
        const int shift = unit & 31;
        if (which << shift) set(to, which << shift);
        if (shift && which >> (32 - shift)) set(to + 1, which >> (32 - shift));
    }

    // Marks all that is near a window at an edge.
    __device__ void mark_around(int band, int unit) const {
        const int units = shape.units(), bands = shape.bands(), last = bands - 1;
        // Up to two across an edge, where the last has few cells.
        const auto columns = [&](int b) {
            for (int u = unit - 1; u <= unit + INNER; u++)
                if (u >= 0 && u < units) mark(b, u, 1);
            if (PLANE) return;
            if (unit == 0) mark(b, units - 1, 1), mark(b, units - 2, 1);
            if (unit + INNER >= units - 1) mark(b, 0, 1);
        };
        for (int b = band - 1; b <= band + 1; b++)
            if (b >= 0 && b <= last) columns(b);
        if (PLANE) return;
        if (band == 0) {
            columns(last);
            if (last > 0) columns(last - 1);
        }
        if (band >= last - 1) columns(0);
    }

    __device__ __forceinline__ bool is_at_edge(u32 place) const {
        const int band = int(place >> 16), unit = int(place & 0xFFFF);
        return band == 0 || band >= shape.bands() - 2 || unit == 0 || unit + INNER + 1 >= shape.units();
    }

    template <bool EDGE>
    __device__ __forceinline__ void visit(word64 round, u32 place) const {
        const int band = int(place >> 16), unit = int(place & 0xFFFF);
        const word64 at = shape.at(band, unit);
        Unit* const from = reinterpret_cast<Unit*>(field(round)) + at;
        Unit* const to = reinterpret_cast<Unit*>(field(round + 1)) + at;
        Window window;
        window.load(from - 1);
        Own now[INNER], was[INNER];
        Edges edges = {ALL, {}};
        if (EDGE) {
            edges.columns = inside(unit * CELLS - STEPS, shape.width);
            edges.rows = {band * BAND - STEPS, shape.height};
        }
        window.advance<EDGE && PLANE>(edges);
#pragma unroll
        for (int s = 0; s < OWN; s++) window.get(s, now[0].words[s], now[1].words[s], now[2].words[s]);
#pragma unroll
        for (int k = 0; k < INNER; k++) was[k].load(to + k);
        u32 any[INNER];
#pragma unroll
        for (int k = 0; k < INNER; k++) {
            any[k] = 0;
#pragma unroll
            for (int s = 0; s < OWN; s++) {
                if (EDGE) {  // what is beyond the edges stays as it is
                    const u32 row = (edges.columns >> (STEPS + CELLS * k) & 255) * 0x01010101u;
                    const u32 four = edges.rows.four(STEPS + 4 * s);
                    const u32 cells = row & ((four & 1) * 255 | (four >> 1 & 1) * 0xFF00u | (four >> 2 & 1) * 0xFF0000u |
                                             (four >> 3 & 1) * 0xFF000000u);
                    now[k].words[s] = was[k].words[s] ^ ((was[k].words[s] ^ now[k].words[s]) & cells);
                }
                any[k] |= now[k].words[s] ^ was[k].words[s];
            }
        }
        if (!(any[0] | any[1] | any[2])) return;
        const int pitch = shape.pitch();
        u32 top[INNER], low[INNER];
#pragma unroll
        for (int k = 0; k < INNER; k++) {
            top[k] = now[k].words[0] ^ was[k].words[0], low[k] = now[k].words[OWN - 1] ^ was[k].words[OWN - 1];
            if (any[k]) now[k].store(to + k);
            if (top[k] && (!EDGE || band > 0)) reinterpret_cast<u32*>(to + k - pitch)[BELOW] = now[k].words[0];
            if (low[k] && (!EDGE || band < shape.bands() - 1))
                reinterpret_cast<u32*>(to + k + pitch)[ABOVE] = now[k].words[OWN - 1];
        }
        if (EDGE && is_at_edge(place)) {
            mark_around(band, unit);
            return;
        }
        mark(band, unit - 1, reached(any[0], any[1], any[2]));
        if (const u32 above = reached(top[0], top[1], top[2])) mark(band - 1, unit - 1, above);
        if (const u32 below = reached(low[0], low[1], low[2])) mark(band + 1, unit - 1, below);
    }

    // Computes the windows of a round. Returns false where there is none.
    __device__ __forceinline__ bool compute(word64 round) const {
        const u32 count = u32(__ldcg(state + COUNTS + round % 2));
        const u32 lane = threadIdx.x & 31, warp = threadIdx.x / 32;
        for (u32 first = (blockIdx.x * WARPS + warp) * 32; first < count; first += gridDim.x * THREADS) {
            // Lanes that have none of their own make another's too.
            const u32 place = __ldcg(list + (first + lane < count ? first + lane : first));
            if (__any_sync(ALL, is_at_edge(place))) {
                visit<true>(round, place);
            } else {
                visit<false>(round, place);
            }
        }
        return count;
    }
};

}  // namespace

#define PARAMETERS u32 *fields, u32 *map, u32 *list, word64 *state, int width, int height

// Moves on by `count` rounds from round `first` on, or fewer: until nothing changes any more, or blocks have missed
// each other. NUMBER tells how many have been made since enter(). phases: BOTH; or one only, of one round.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
rounds(PARAMETERS, unsigned long long first, u32 count, u32 phases) {
    const Rounds rounds{{width, height, !PLANE}, fields, map, list, state};
    const bool one = blockIdx.x == 0 && threadIdx.x == 0;
    if (__ldcg(state + MISSED)) return;
    for (word64 round = first; round < first + count; round++) {
        if (phases & LAY) {
            if (!PLANE) rounds.copy_edges(rounds.field(round));
            rounds.lay(round, round < FIELDS);
        }
        if (phases == BOTH && !meet(state)) return;
        if (phases & COMPUTE) {
            if (one) state[COUNTS + (round + 1) % 2] = 0;
            if (!rounds.compute(round)) return;
        }
        if (phases == BOTH && !meet(state)) return;
        if (phases & COMPUTE && one) state[NUMBER] = round + 1;
    }
}

// Fills all fields from `bands` bands of rows on, from words of 32 cells of which the first are of row `y`, and
// begins at round 0. A thread for each unit.
extern "C" __global__ void __launch_bounds__(256)
enter(PARAMETERS, int first, int bands, const u32* rows, int y, u32 row_words) {
    const Shape shape{width, height, !PLANE};
    const word64 n = word64(blockIdx.x) * 256 + threadIdx.x;
    if (n >= word64(bands) * shape.pitch()) return;
    const int band = first + int(n / shape.pitch()), unit = int(n % shape.pitch()) - BEFORE;
    if (first == 0 && n < STATE) state[n] = 0;
    if (unit >= 0 && unit < shape.map_pitch()) map[word64(band) * shape.map_pitch() + unit] = 0;
    u32 words[UNIT];
#pragma unroll
    for (int i = -1; i <= OWN; i++) {
        u32 word = 0;
#pragma unroll
        for (int r = 0; r < 4; r++) {
            const int row = band * BAND + 4 * i + r;
            if (row >= 0 && row < height && unit >= 0 && unit < shape.units())
                word |= u32(reinterpret_cast<const unsigned char*>(rows + word64(row - y) * row_words)[unit]) << 8 * r;
        }
        words[word_of(i)] = word;
    }
#pragma unroll
    for (int f = 0; f < FIELDS; f++) {
        Unit* const to = reinterpret_cast<Unit*>(fields) + f * shape.field_units() + shape.at(band, unit);
#pragma unroll
        for (int q = 0; q < UNIT / 4; q++)
            to->fours[q] = make_uint4(words[4 * q], words[4 * q + 1], words[4 * q + 2], words[4 * q + 3]);
    }
}

// Writes rows [y, y + count) of a round's beginning as words of 32 cells. A thread for each word of four
// rows, the first a multiple of four.
extern "C" __global__ void __launch_bounds__(256)
leave(PARAMETERS, unsigned long long round, int y, int count, u32* rows, u32 row_words) {
    const Rounds rounds{{width, height, !PLANE}, fields, map, list, state};
    const Shape& shape = rounds.shape;
    const u32* const field = rounds.field(round);
    const word64 n = word64(blockIdx.x) * 256 + threadIdx.x;
    const int fours = (y + count + 3) / 4 - y / 4;
    if (n >= word64(fours) * row_words) return;
    const int first = (y / 4 + int(n / row_words)) * 4, column = int(n % row_words);
    u32 words[4];
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const int unit = 4 * column + k;
        words[k] = unit < shape.units() ? field[shape.at(first / BAND, unit) * UNIT + first % BAND / 4] : 0;
    }
    const u32 cells = inside(32 * column, width);
#pragma unroll
    for (int r = 0; r < 4; r++) {
        const int row = first + r - y;
        u32 word = 0;
#pragma unroll
        for (int k = 0; k < 4; k++) word |= (words[k] >> 8 * r & 255) << 8 * k;
        if (row >= 0 && row < count) rows[word64(row) * row_words + column] = word & cells;
    }
}

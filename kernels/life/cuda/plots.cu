// Life on a universe that stays on the chip: every multiprocessor keeps a plot of it (plot.hpp) for
// thousands of generations, and neighbours exchange what is near their sides every HALO generations.
//
// The universe is cut into `down` rows of `across` plots; plot (i, j) is made by block i across + j. Its own
// cells are those from column starts(j) and row starts(i) of the universe on, up to its neighbours';
// they stand HALO columns and rows from the plot's first. Around them stands a halo, from all eight
// neighbours, of HALO cells: it gets wrong by one a generation, and is set again by an exchange.
//
// Exchange. A block publishes what is near the sides of its own cells in global memory, then releases a
// flag of its own, which counts its exchanges; then it waits for its neighbours' flags to count as many.
// Two copies take turns: a block that writes one again has seen its neighbours publish from the other,
// and so after they have read it.
//
// Blocks wait for one another, so all of them must be on the device at once: the host makes no more of them
// than there are multiprocessors, and starts no two such launches at a time. Should a neighbour not come
// for long, a block says so in state[LATE] and all end; the host then takes nothing from here.
//
// A launch leaves the plots in global memory, published, and the next one goes on from there.
//
// Macros: those of plot.hpp; HALO, at most 30; PATIENCE, how many times a block looks for its neighbours.
#include "panels.hpp"
#include "plot.hpp"

#ifndef HALO
#define HALO 8
#endif
#ifndef PATIENCE
#define PATIENCE 400000
#endif

namespace {

constexpr int HEIGHT = 32 * ROWS;
// Rows of neighbours overlap by up to SPARE more than their halos, as whole rows must be shared out:
// so many more are published.
constexpr int SPARE = 2;
constexpr int LATE = 0, MADE = 1;  // in `state`
constexpr int APART = 32;          // words from one flag to the next

// The first row or column of part n of `parts`.
__device__ __forceinline__ int starts(int n, int parts, int whole) {
    return int((long long)(n) * whole / parts);
}

#if defined(__CUDA_ARCH__)
__device__ __forceinline__ u32 acquire(const u32* flag) {
    u32 value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
    return value;
}
__device__ __forceinline__ void release(u32* flag, u32 value) {
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(flag), "r"(value) : "memory");
}
// What other blocks read or have written goes past the first-level cache.
__device__ __forceinline__ void put(u32* p, u32 value) { __stcg(p, value); }
__device__ __forceinline__ u32 get(const u32* p) { return __ldcg(p); }
#else
__device__ __forceinline__ u32 acquire(const u32* flag) { return *flag; }
__device__ __forceinline__ void release(u32* flag, u32 value) { *flag = value; }
__device__ __forceinline__ void put(u32* p, u32 value) { *p = value; }
__device__ __forceinline__ u32 get(const u32* p) { return *p; }
#endif

// A block's view of where its plot is, and what it exchanges with the plots around it.
struct Exchange {
    int width, across, down, i, j;
    int first, own;        // the column of the universe at which its own cells start, and how many there are
    int spare, spare_up;   // rows more than need be, of this plot and of that above
    u32 *rows, *columns;   // what is published: see publish()
    u32* flags;

    __device__ __forceinline__ int tall(int n, int height) const {
        return starts(n + 1, down, height) - starts(n, down, height);
    }
    __device__ Exchange(int width, int height, int across, int down, u32* rows, u32* columns, u32* flags)
        : width(width), across(across), down(down), i(blockIdx.x / across), j(blockIdx.x % across),
          rows(rows), columns(columns), flags(flags) {
        first = starts(j, across, width), own = starts(j + 1, across, width) - first;
        spare = HEIGHT - 2 * HALO - tall(i, height), spare_up = HEIGHT - 2 * HALO - tall(above(), height);
    }
    __device__ __forceinline__ int above() const { return i ? i - 1 : down - 1; }
    __device__ __forceinline__ int below() const { return i < down - 1 ? i + 1 : 0; }
    __device__ __forceinline__ int left() const { return j ? j - 1 : across - 1; }
    __device__ __forceinline__ int right() const { return j < across - 1 ? j + 1 : 0; }

    // Rows: a word a column of the universe, whose bits are rows of a plot from HALO on, or those
    // that end HALO rows before its last.
    __device__ __forceinline__ u32* row_words(u32 half, int end, int row) const {
        return rows + size_t((half * 2 + end) * down + row) * width;
    }
    // Columns: the words of the HALO columns at one side of a plot's own cells, row by row.
    __device__ __forceinline__ u32* column_words(u32 half, int side, int row, int column) const {
        return columns + size_t((half * across * down + row * across + column) * 2 + side) * ROWS * HALO;
    }

    // Calls f(word, place) for the words of the columns from `start` on that are kept by this
    // thread; those in shared memory are shared out among all threads.
    template <class F>
    __device__ __forceinline__ void side(Plot& plot, int start, F f) const {
        const int x = threadIdx.x * WORDS;
        if (x + WORDS > start && x < start + HALO) {
#pragma unroll
            for (int w = 0; w < WORDS; w++) {
                const int c = x + w - start;
                if (c < 0 || c >= HALO) continue;
#pragma unroll
                for (int r = 0; r < HELD; r++) f(plot.word(r, w), r * HALO + c);
            }
        }
        for (int n = threadIdx.x; n < (ROWS - HELD) * HALO; n += THREADS)
            f(plot.shared_word(HELD + n / HALO, start + n % HALO), HELD * HALO + n);
    }

    __device__ __forceinline__ void publish(Plot& plot, u32 count) const {
        const u32 half = count & 1;
        u32 *top = row_words(half, 0, i), *end = row_words(half, 1, i);
#pragma unroll
        for (int w = 0; w < WORDS; w++) {
            u32 tops = 0, ends = 0;
#pragma unroll
            for (int n = 0; n < HALO + SPARE; n++) {
                const int y = HALO + n, z = HEIGHT - 2 * HALO - SPARE + n;
                if (y < HEIGHT) tops |= (plot.word(y % ROWS, w) >> (y / ROWS) & 1) << n;
                if (z >= 0) ends |= (plot.word((z + ROWS) % ROWS, w) >> (z / ROWS) & 1) << n;
            }
            const int c = int(threadIdx.x) * WORDS + w - HALO;
            if (c >= 0 && c < own) put(top + first + c, tops), put(end + first + c, ends);
        }
        __syncthreads();  // of warps that keep what others share out
        u32* to = column_words(half, 0, i, j);
        side(plot, HALO, [&](u32& word, int n) { put(to + n, word); });
        to = column_words(half, 1, i, j);
        side(plot, own, [&](u32& word, int n) { put(to + n, word); });
        __syncthreads();
        if (threadIdx.x == 0) release(flags + blockIdx.x * APART, count);
    }

    // Waits until all neighbours have published `count` times. Returns whether they have.
    __device__ __forceinline__ bool await(u32 count, u32* state) const {
        __shared__ u32 missing;
        if (threadIdx.x < 32) {
            const int by = threadIdx.x % 9 / 3, bx = threadIdx.x % 3;
            const int row = by == 0 ? above() : by == 1 ? i : below();
            const int column = bx == 0 ? left() : bx == 1 ? j : right();
            const u32* flag = flags + (row * across + column) * APART;
            bool here = false;
#pragma unroll 1
            for (int n = 0; n < PATIENCE; n++) {
                here = __all_sync(ALL, int(acquire(flag) - count) >= 0);
                if (here || (n % 64 == 63 && __any_sync(ALL, acquire(state + LATE)))) break;
            }
            if (threadIdx.x == 0) {
                missing = !here;
                if (!here) release(state + LATE, 1);
            }
        }
        __syncthreads();
        return !missing;
    }

    // Sets the halo to what neighbours have published.
    __device__ __forceinline__ void take(Plot& plot, u32 count) const {
        const u32 half = count & 1;
        if (!PLANE || j) {
            const u32* from = column_words(half, 1, i, left());
            side(plot, 0, [&](u32& word, int n) { word = get(from + n); });
        }
        if (!PLANE || j < across - 1) {
            const u32* from = column_words(half, 0, i, right());
            side(plot, HALO + own, [&](u32& word, int n) { word = get(from + n); });
        }
        __syncthreads();  // the words of the columns are set before bits in them
        const u32 *ends = row_words(half, 1, above()), *tops = row_words(half, 0, below());
        const bool from_above = !PLANE || i, from_below = !PLANE || i < down - 1;
        const int start = first - HALO + int(threadIdx.x) * WORDS;
#pragma unroll
        for (int w = 0; w < WORDS; w++) {
            int x = start + w;
            const bool inside = !PLANE || (x >= 0 && x < width);
            if (x < 0) x += width;
            if (x < 0 || x >= width) x = (x % width + width) % width;
            const u32 upper = inside ? get(ends + x) >> (SPARE - spare_up) : 0;
            const u32 lower = inside ? get(tops + x) >> spare : 0;
#pragma unroll
            for (int n = 0; n < HALO; n++) {
                if (from_above) set(plot, n, w, n, upper);
                if (from_below) set(plot, HEIGHT - HALO + n, w, n, lower);
            }
        }
        __syncthreads();
        plot.show();
    }

    // Sets the cell of row y, in word w of the thread, to bit n.
    __device__ __forceinline__ static void set(Plot& plot, int y, int w, int n, u32 bits) {
        const int b = y / ROWS;
        u32& word = plot.word(y % ROWS, w);
        word = mux(1u << b, b >= n ? bits << (b >= n ? b - n : 0) : bits >> (b >= n ? 0 : n - b), word);
    }
};

}  // namespace

// Moves all plots on by generations, at least 1. cells: the words of each plot, [ROWS][WORDS][THREADS].
extern "C" __global__ void __launch_bounds__(THREADS, 1)
plots(u32* cells, int generations, int width, int height, int across, int down, u32* rows, u32* columns,
      u32* flags, u32* state) {
    DYNAMIC_SHARED(u32, shared);
    const Exchange exchange(width, height, across, down, rows, columns, flags);
    Plot plot(shared, exchange.j == 0, exchange.j == across - 1, exchange.i == 0, exchange.i == down - 1);
    u32* mine = cells + size_t(blockIdx.x) * PLOT_WORDS + threadIdx.x;
    plot.each([&](int r, int w, u32& word) { word = mine[(r * WORDS + w) * THREADS]; });
    u32 count = get(flags + blockIdx.x * APART);
    bool ready = !count;  // the halo is right
    if (ready) {
        __syncthreads();
        plot.show();
    }
    int left = generations;
#pragma unroll 1
    while (left > 0) {
        if (!ready) {
            if (!exchange.await(count, state)) return;
            exchange.take(plot, count);
        }
        ready = false;
        const int n = left < HALO ? left : HALO;
#pragma unroll 1
        for (int g = 0; g < n; g++) plot.step();
        left -= n;
        exchange.publish(plot, ++count);
    }
    plot.each([&](int r, int w, u32& word) { mine[(r * WORDS + w) * THREADS] = word; });
    if (blockIdx.x == 0 && threadIdx.x == 0) state[MADE] += generations;
}

// Sets the plots, with their halos, from a universe in panels, and flags and state to zero. A thread makes
// a word.
extern "C" __global__ void plots_in(const u32* __restrict__ src, u32* __restrict__ cells, int width,
                                    int height, int panels, int useful, int halo, int words, int across,
                                    int down, u32* flags, u32* state) {
    const size_t index = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index < size_t(across * down)) flags[index * APART] = 0;
    if (index < 2) state[index] = 0;
    if (index >= size_t(across * down) * PLOT_WORDS) return;
    const int plot = int(index / PLOT_WORDS), at = int(index % PLOT_WORDS);
    const int r = at / THREADS / WORDS, c = at % THREADS * WORDS + at / THREADS % WORDS;
    const Panels from{width, panels, useful, halo, words};
    int x = starts(plot % across, across, width) - HALO + c;
    int y = starts(plot / across, down, height) - HALO + r;
    u32 word = 0;
    if (!PLANE || (x >= 0 && x < width)) {
        x = (x % width + width) % width;
        const int panel = from.owner(x), from_x = x - from.start(panel);
#pragma unroll 4
        for (int b = 0; b < 32; b++, y += ROWS) {
            if (PLANE && (y < 0 || y >= height)) continue;
            const int row = (y % height + height) % height;
            const size_t at = (size_t(row) * panels + panel) * words + from_x % words;
            word |= (src[at] >> from_x / words & 1) << b;
        }
    }
    cells[index] = word;
}

// Makes panels of the plots. A thread makes a word.
extern "C" __global__ void plots_out(const u32* __restrict__ cells, u32* __restrict__ dst, int width,
                                     int height, int panels, int useful, int halo, int words, int across,
                                     int down) {
    const size_t index = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index >= size_t(height) * panels * words) return;
    const int x = int(index % words), panel = int(index / words % panels);
    const int y = int(index / words / panels);
    const int start = Panels{width, panels, useful, halo, words}.start(panel);
    const int i = int(((long long)(y + 1) * down - 1) / height);
    const int row = y - starts(i, down, height) + HALO;
    const u32* from = cells + size_t(i) * across * PLOT_WORDS + row % ROWS * (WORDS * THREADS);
    u32 word = 0;
    for (int b = 0; b < 32; b++) {
        int column = start + x + words * b;
        if (PLANE && (column < 0 || column >= width)) continue;
        column = (column % width + width) % width;
        const int j = int(((long long)(column + 1) * across - 1) / width);
        const int c = column - starts(j, across, width) + HALO;
        word |= (from[size_t(j) * PLOT_WORDS + c % WORDS * THREADS + c / WORDS] >> (row / ROWS) & 1) << b;
    }
    dst[index] = word;
}

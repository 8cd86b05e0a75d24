// Fujita's ladder of Game of Life implementations (2017, chapter 6) on a torus,
// B3/S23: what Tables 6.1 and 6.2 compare, each rung a kernel. Only benchmarks
// run it; the library's kernel is kernels/life/cuda/life.cu.
//
// Words. Bit j of word w of a row is the cell in column w B + j, B the bits of a
// word, 32 or 64. The width is a multiple of 64, the height anything.
//
// Macros:
//   STEPS    generations t of one launch of a multi-step kernel: 2, 4, 8, 16
//   WARPS    warps of a CUDA block. His blocks are one warp, and so is the default;
//            warps never wait for each other here, but a multiprocessor that holds
//            32 blocks holds only 32 warps of them unless a block has more than one.
//   COLUMNS  1: words of one column of words are adjacent in memory (his Figure 6.1,
//            coalesced where lanes hold consecutive rows); 0: words of one row
//   BYTES    1: multi-step kernels store a slice as whole bytes, for STEPS >= 4;
//            0: they or its bits into a zeroed target
#include "circuits.hpp"

#ifndef STEPS
#define STEPS 8
#endif
#ifndef WARPS
#define WARPS 1
#endif
#ifndef COLUMNS
#define COLUMNS 1
#endif
#ifndef BYTES
#define BYTES 0
#endif

namespace {

static_assert(!BYTES || STEPS % 4 == 0, "a slice is whole bytes where 2 STEPS is");

// Rows next to a row of the torus, and the words next to a word.
__device__ __forceinline__ int wrap(int i, int n) {
    while (i < 0) i += n;
    while (i >= n) i -= n;
    return i;
}

// ---- one generation from global memory ----

// The index of word w of row y.
__device__ __forceinline__ long long place(int w, int y, int words, int height) {
    return COLUMNS ? (long long)w * height + y : (long long)y * words + w;
}

__device__ __forceinline__ Trio<u64> trio_at(const u64* u, int before, int w, int after, int y,
                                             int words, int height) {
    return trio(u[place(before, y, words, height)], u[place(w, y, words, height)],
                u[place(after, y, words, height)]);
}

}  // namespace

// One byte a cell, one thread a cell.
extern "C" __global__ void word_per_cell(const unsigned char* from, unsigned char* to, int width,
                                         int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= width) return;
    int left = x ? x - 1 : width - 1, right = x + 1 < width ? x + 1 : 0;
    const unsigned char* top = from + (long long)wrap(y - 1, height) * width;
    const unsigned char* mid = from + (long long)y * width;
    const unsigned char* low = from + (long long)wrap(y + 1, height) * width;
    int neighbours = top[left] + top[x] + top[right] + mid[left] + mid[right] + low[left] +
                     low[x] + low[right];
    to[(long long)y * width + x] = neighbours == 3 || (neighbours == 2 && mid[x]);
}

// One 64-bit word a thread. Threads run along the adjacent words of memory.
extern "C" __global__ void single_word(const u64* from, u64* to, int words, int height) {
    int fast = blockIdx.x * blockDim.x + threadIdx.x, slow = blockIdx.y;
    int w = COLUMNS ? slow : fast, y = COLUMNS ? fast : slow;
    if (w >= words || y >= height) return;
    int before = wrap(w - 1, words), after = wrap(w + 1, words);
    to[place(w, y, words, height)] =
        life_single(trio_at(from, before, w, after, wrap(y - 1, height), words, height),
                    trio_at(from, before, w, after, y, words, height),
                    trio_at(from, before, w, after, wrap(y + 1, height), words, height));
}

// Two words a thread, in rows 2k and 2k + 1: with COLUMNS, a stride of two words
// from thread to thread.
extern "C" __global__ void double_word(const u64* from, u64* to, int words, int height) {
    int fast = blockIdx.x * blockDim.x + threadIdx.x, slow = blockIdx.y;
    int w = COLUMNS ? slow : fast, y = 2 * (COLUMNS ? fast : slow);
    if (w >= words || y >= height) return;
    int before = wrap(w - 1, words), after = wrap(w + 1, words);
    Two<u64> next =
        life_double(trio_at(from, before, w, after, wrap(y - 1, height), words, height),
                    trio_at(from, before, w, after, y, words, height),
                    trio_at(from, before, w, after, wrap(y + 1, height), words, height),
                    trio_at(from, before, w, after, wrap(y + 2, height), words, height));
    to[place(w, y, words, height)] = next.upper;
    if (y + 1 < height) to[place(w, y + 1, words, height)] = next.lower;
}

// ---- STEPS generations of a D x D block ----
//
// A warp reads a block of D x D cells, D the bits of a word, at any bit offset, and
// computes STEPS generations with no regard to the cells outside. Wrong cells come
// in by one row and column a generation, so that the M x M slice in the middle,
// M = D - 2 STEPS, is right: that is written. What stands for the outside is
// therefore free; zero in shared memory, a lane's own word at the ends of a shuffle.

namespace {

// The M x M slice (blockIdx.x, slice row) of a universe of words of type W.
template <class W>
struct Slice {
    static constexpr int D = 8 * sizeof(W), M = D - 2 * STEPS;
    int words, height;
    int x, y;  // of its first cell

    __device__ __forceinline__ Slice(int words, int height)
        : words(words), height(height), x(blockIdx.x * M),
          y((blockIdx.y * WARPS + threadIdx.y) * M) {}

    // False for the warps past the last row of a last block.
    __device__ __forceinline__ bool any() const { return y < height; }

    // Row r of the D x D block around the slice.
    __device__ __forceinline__ W load(const W* from, int r) const {
        int bit = x - STEPS, row = wrap(y - STEPS + r, height);
        if (bit < 0) bit += words * D;
        int w = bit / D, s = bit % D;
        W value = from[place(w, row, words, height)];
        if (s) {  // the same for all lanes
            int next = w + 1 < words ? w + 1 : 0;
            value = shift_down(from[place(next, row, words, height)], value, s);
        }
        return value;
    }

    // Writes the slice's part of row r of the block. Slices share words. Without
    // BYTES, `to` is zero when the kernel starts, and the slice in which a word's
    // first cell lies clears that word of `spare`, which the next launch writes.
    __device__ __forceinline__ void store(W* to, W* spare, int r, W value) const {
        int row = y - STEPS + r;
        if (r < STEPS || r >= STEPS + M || row >= height) return;
        int n = words * D - x < M ? words * D - x : M;  // a last slice is narrower
        value >>= STEPS;
#if BYTES
        store_bytes(to, row, n, value);
#else
        if (n < D) value &= (W(1) << n) - 1;
        int w = x / D, s = x % D;
        or_into(to + place(w, row, words, height), value << s);
        if (s + n > D) or_into(to + place(w + 1, row, words, height), value >> (D - s));
        int first = (x + D - 1) / D;
        if (first * D < x + n) spare[place(first, row, words, height)] = 0;
#endif
    }

  private:
    static __device__ __forceinline__ void or_into(W* p, W value) {
        if constexpr (sizeof(W) == 8)
            atomicOr(reinterpret_cast<unsigned long long*>(p), (unsigned long long)value);
        else
            atomicOr(reinterpret_cast<unsigned int*>(p), (unsigned int)value);
    }

    // The n low bits of value to columns x to x + n - 1, both multiples of 8, by the
    // widest aligned stores. All lanes take the same branches.
    __device__ __forceinline__ void store_bytes(W* to, int row, int n, W value) const {
        for (int bit = x, left = n; left > 0;) {
            int aligned = bit & -bit & (D - 1);  // 0 at the first bit of a word
            int size = aligned ? aligned : D;
            while (size > left) size >>= 1;
            char* p = reinterpret_cast<char*>(to + place(bit / D, row, words, height)) +
                      bit % D / 8;
            if (size == 64) *reinterpret_cast<u64*>(p) = value;
            else if (size == 32) *reinterpret_cast<u32*>(p) = u32(value);
            else if (size == 16) *reinterpret_cast<unsigned short*>(p) = (unsigned short)value;
            else *reinterpret_cast<unsigned char*>(p) = (unsigned char)value;
            if (size < D) value >>= size;
            bit += size;
            left -= size;
        }
    }
};

// Shared memory rows -1 to D of a block, row r at r + 1.
template <class W>
constexpr int SHARED_ROWS = 8 * sizeof(W) + 2;

// The shift arrangement: 64-bit rows r in 16 banks of that width, every second line
// of 16 turned by one, so that rows 2i + k of 16 neighbouring lanes lie in 16 banks.
// Rows -1 and 64 are one word, in bank 0, where no row of either half warp meets it.
__device__ __forceinline__ int shifted(int r) {
    if (r < 0 || r >= 64) return 64;
    return (r & ~15) | ((r + (r >> 4 & 1)) & 15);
}

}  // namespace

#if STEPS < 16  // or nothing of a 32 x 32 block would be right

// 32 x 32 in shared memory, row `lane` in SINGLE-WORD.
extern "C" __global__ void shared_single32(const u32* from, u32* to, u32* spare, int words,
                                           int height) {
    __shared__ u32 memory[WARPS][SHARED_ROWS<u32>];
    Slice<u32> slice(words, height);
    if (!slice.any()) return;
    int lane = threadIdx.x;
    u32* rows = memory[threadIdx.y] + 1;
    rows[lane] = slice.load(from, lane);
    if (lane == 0) rows[-1] = rows[32] = 0;
    __syncwarp();
#pragma unroll
    for (int t = 0; t < STEPS; t++) {
        u32 next =
            life_single(trio(rows[lane - 1]), trio(rows[lane]), trio(rows[lane + 1]));
        __syncwarp();
        rows[lane] = next;
        __syncwarp();
    }
    slice.store(to, spare, lane, rows[lane]);
}

// 32 x 32 in registers, row `lane` in SINGLE-WORD.
extern "C" __global__ void register_single32(const u32* from, u32* to, u32* spare, int words,
                                             int height) {
    Slice<u32> slice(words, height);
    if (!slice.any()) return;
    int lane = threadIdx.x;
    u32 row = slice.load(from, lane);
#pragma unroll
    for (int t = 0; t < STEPS; t++) {
        u32 top = __shfl_up_sync(ALL, row, 1), low = __shfl_down_sync(ALL, row, 1);
        row = life_single(trio(top), trio(row), trio(low));
    }
    slice.store(to, spare, lane, row);
}

#endif

// 64 x 64 in shared memory, rows lane and lane + 32, each in SINGLE-WORD.
extern "C" __global__ void shared_single64(const u64* from, u64* to, u64* spare, int words,
                                           int height) {
    __shared__ u64 memory[WARPS][SHARED_ROWS<u64>];
    Slice<u64> slice(words, height);
    if (!slice.any()) return;
    int a = threadIdx.x, b = a + 32;
    u64* rows = memory[threadIdx.y] + 1;
    rows[a] = slice.load(from, a);
    rows[b] = slice.load(from, b);
    if (a == 0) rows[-1] = rows[64] = 0;
    __syncwarp();
#pragma unroll
    for (int t = 0; t < STEPS; t++) {
        u64 next_a = life_single(trio(rows[a - 1]), trio(rows[a]), trio(rows[a + 1]));
        u64 next_b = life_single(trio(rows[b - 1]), trio(rows[b]), trio(rows[b + 1]));
        __syncwarp();
        rows[a] = next_a;
        rows[b] = next_b;
        __syncwarp();
    }
    slice.store(to, spare, a, rows[a]);
    slice.store(to, spare, b, rows[b]);
}

// 64 x 64 in shared memory, rows 2 lane and 2 lane + 1 in DOUBLE-WORD.
extern "C" __global__ void shared_double64(const u64* from, u64* to, u64* spare, int words,
                                           int height) {
    __shared__ u64 memory[WARPS][65];
    Slice<u64> slice(words, height);
    if (!slice.any()) return;
    int r = 2 * threadIdx.x;
    u64* rows = memory[threadIdx.y];
    u64 *top = rows + shifted(r - 1), *upper = rows + shifted(r), *lower = rows + shifted(r + 1),
        *low = rows + shifted(r + 2);
    *upper = slice.load(from, r);
    *lower = slice.load(from, r + 1);
    if (r == 0) rows[64] = 0;
    __syncwarp();
#pragma unroll
    for (int t = 0; t < STEPS; t++) {
        Two<u64> next = life_double(trio(*top), trio(*upper), trio(*lower), trio(*low));
        __syncwarp();
        *upper = next.upper;
        *lower = next.lower;
        __syncwarp();
    }
    slice.store(to, spare, r, *upper);
    slice.store(to, spare, r + 1, *lower);
}

// 64 x 64 in registers, rows 2 lane and 2 lane + 1: two words come from other lanes,
// the lower one of the lane before and the upper one of the lane after.
extern "C" __global__ void register_single64(const u64* from, u64* to, u64* spare, int words,
                                             int height) {
    Slice<u64> slice(words, height);
    if (!slice.any()) return;
    int r = 2 * threadIdx.x;
    u64 upper = slice.load(from, r), lower = slice.load(from, r + 1);
#pragma unroll
    for (int t = 0; t < STEPS; t++) {
        u64 top = __shfl_up_sync(ALL, lower, 1), low = __shfl_down_sync(ALL, upper, 1);
        u64 next = life_single(trio(top), trio(upper), trio(lower));
        lower = life_single(trio(upper), trio(lower), trio(low));
        upper = next;
    }
    slice.store(to, spare, r, upper);
    slice.store(to, spare, r + 1, lower);
}

// The same in DOUBLE-WORD: the fastest form of Table 6.2.
extern "C" __global__ void register_double64(const u64* from, u64* to, u64* spare, int words,
                                             int height) {
    Slice<u64> slice(words, height);
    if (!slice.any()) return;
    int r = 2 * threadIdx.x;
    u64 upper = slice.load(from, r), lower = slice.load(from, r + 1);
#pragma unroll
    for (int t = 0; t < STEPS; t++) {
        u64 top = __shfl_up_sync(ALL, lower, 1), low = __shfl_down_sync(ALL, upper, 1);
        Two<u64> next = life_double(trio(top), trio(upper), trio(lower), trio(low));
        upper = next.upper;
        lower = next.lower;
    }
    slice.store(to, spare, r, upper);
    slice.store(to, spare, r + 1, lower);
}

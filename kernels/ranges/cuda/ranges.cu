// Larger than Life on a CUDA device: one generation of cells of a byte each, a band of rows at a
// time.
//
// A count is the sum of differences of sums along rows, one for each run of neighbours. Of a square
// the rows are those of sums over columns, and there is one run; else they are the cells' own.
// Sums along a row begin `reach` columns left of the universe: sum e is that of the columns before
// e - reach, and there are width + 2 reach + 1. Columns and rows outside are those of the
// other side on a torus, else dead.
//
// Macros: STATES of a cell; SQUARE 1 for a square neighbourhood.
#include "../../bits.hpp"

#ifndef STATES
#define STATES 2
#endif
#ifndef SQUARE
#define SQUARE 1
#endif

namespace {

using Cell = unsigned char;
using Column = unsigned short;  // of at most 1001 rows

// Returns n modulo size, 0 or more.
__device__ __forceinline__ int modulo(int n, int size) {
    const int rest = n % size;
    return rest < 0 ? rest + size : rest;
}

constexpr int BLOCK = 256;
constexpr int EACH = 4;  // columns that a thread adds up by itself

#if SQUARE
using Summed = Column;
__device__ __forceinline__ u32 counted(Summed value) { return value; }
#else
using Summed = Cell;
__device__ __forceinline__ u32 counted(Summed value) { return value == 1; }
#endif

}  // namespace

// Sums the live cells of each column over 2 reach + 1 rows, for rows first to first + rows - 1. A
// thread slides down a stretch of a column.
extern "C" __global__ void sum_columns(const Cell* __restrict__ cells, Column* __restrict__ sums,
                                       int width, int height, int reach, int torus, int first,
                                       int rows, int stretch) {
    const int x = blockIdx.x * BLOCK + threadIdx.x;
    if (x >= width) return;
    auto lives = [&](int y) -> u32 {
        if (!torus && (y < 0 || y >= height)) return 0;
        return cells[u64(modulo(y, height)) * width + x] == 1;
    };
    const int begin = int(blockIdx.y) * stretch;
    const int end = begin + stretch < rows ? begin + stretch : rows;
    u32 sum = 0;
    for (int y = first + begin - reach; y < first + begin + reach; y++) sum += lives(y);
    for (int i = begin; i < end; i++) {
        sum += lives(first + i + reach);
        sums[u64(i) * width + x] = Column(sum);
        sum -= lives(first + i - reach);
    }
}

// Makes the sums along one row for each block: along[0] = 0, then one more column each.
extern "C" __global__ void __launch_bounds__(BLOCK)
sum_along(const Summed* __restrict__ values, u32* __restrict__ along, int width, int height, int reach,
          int torus, int first, int rows) {
    __shared__ u32 sums[BLOCK];
    const int t = threadIdx.x, wide = width + 2 * reach;
    const int row = int(blockIdx.x);
    u32* const to = along + u64(row) * u64(wide + 1);
#if SQUARE
    const Summed* const from = values + u64(row) * width;
    const bool outside = false;
#else
    const int y = first - reach + row;
    const bool outside = !torus && (y < 0 || y >= height);
    const Summed* const from = values + (outside ? 0 : u64(modulo(y, height)) * width);
#endif
    if (t == 0) to[0] = 0;
    u32 before = 0;  // the sum of all that previous turns had
    for (int begin = 0; begin < wide; begin += BLOCK * EACH) {
        u32 own[EACH], sum = 0;
        for (int k = 0; k < EACH; k++) {
            const int e = begin + t * EACH + k, x = e - reach;
            u32 value = 0;
            if (e < wide && !outside && (torus || (x >= 0 && x < width)))
                value = counted(from[torus ? modulo(x, width) : x]);
            own[k] = sum += value;
        }
        // Adds up what the threads have: after each turn sums[t] is that of twice as many.
        sums[t] = sum;
        __syncthreads();
        for (int d = 1; d < BLOCK; d *= 2) {
            const u32 more = t >= d ? sums[t - d] : 0;
            __syncthreads();
            sums[t] += more;
            __syncthreads();
        }
        const u32 left = before + sums[t] - sum;
        before += sums[BLOCK - 1];
        for (int k = 0; k < EACH; k++) {
            const int e = begin + t * EACH + k;
            if (e < wide) to[e + 1] = left + own[k];
        }
        __syncthreads();
    }
}

// Makes the cells of the rows of a band. rule: run_count runs of three numbers, then intervals of
// two: of births, then of survivals. without: 1 where a square leaves out the cell itself.
extern "C" __global__ void apply(const Cell* __restrict__ cells, Cell* __restrict__ made,
                                 const u32* __restrict__ along, const int* __restrict__ rule, int width,
                                 int height, int reach, int torus, int first, int rows, int run_count,
                                 int births, int survivals, int without) {
    const int x = blockIdx.x * BLOCK + threadIdx.x, i = int(blockIdx.y);
    if (x >= width) return;
    const u64 pitch = u64(width + 2 * reach + 1), at = u64(first + i) * width + x;
    const u32 state = cells[at];
    u32 count = 0;
    for (int r = 0; r < run_count; r++) {
        const int* const run = rule + 3 * r;
        const u32* const row = along + u64(SQUARE ? i : i + reach + run[0]) * pitch + x + reach;
        count += row[run[2] + 1] - row[run[1]];
    }
    if (without && state == 1) count--;
    u32 next = 0;
    if (state < 2) {
        const int* interval = rule + 3 * run_count + (state ? 2 * births : 0);
        for (int n = state ? survivals : births; n; n--, interval += 2)
            if (count >= u32(interval[0]) && count <= u32(interval[1])) next = 1;
    }
    if (STATES > 2 && state && !next) next = state + 1 < STATES ? state + 1 : 0;
    made[at] = Cell(next);
}

// Life on many small universes at once: each stays in the registers of a block (plot.hpp) for all
// generations of a launch, and meets no other.
//
// A torus is as large as its plot, whose sides meet. A plane is smaller: beyond it the plot has a
// column and a row that are held dead, on either side of it.
//
// Macros: those of plot.hpp, with all rows HELD.
#include "plot.hpp"

// Moves a universe of each block on. src, dst: row-major words of 32 cells, `stride` of them a row, universe
// after universe; padding bits of dst become zero. They may be the same.
extern "C" __global__ void __launch_bounds__(THREADS)
batch(const u32* src, u32* dst, int width, int height, int stride, int generations) {
    DYNAMIC_SHARED(u32, shared);
    u32* cells = shared + Plot::SHARED;  // those of the universe, then the words of the plot
    const size_t mine = size_t(blockIdx.x) * height * stride;
    const int count = height * stride;
    for (int n = threadIdx.x; n < count; n += THREADS) cells[n] = src[mine + n];
    Plot plot(shared, true, true, true, true);
    __syncthreads();
    plot.each([&](int, int, u32& word) { word = 0; });
    const int x = threadIdx.x * WORDS;
#pragma unroll 1
    for (int b = 0; b < 32; b++)
        plot.each([&](int r, int w, u32& word) {
            const int y = b * ROWS + r, column = x + w;
            if (PLANE && (y >= height || column >= width)) return;
            word |= (cells[y * stride + column / 32] >> (column & 31) & 1) << b;
        });
    __syncthreads();
    plot.show();
#pragma unroll 1
    for (int g = 0; g < generations; g++) plot.step();
    plot.each([&](int r, int w, u32& word) { cells[(r * WORDS + w) * THREADS + threadIdx.x] = word; });
    __syncthreads();
    for (int n = threadIdx.x; n < count; n += THREADS) {
        const int y = n / stride, first = n % stride * 32;
        const u32* row = cells + y % ROWS * (WORDS * THREADS);
        u32 word = 0;
        for (int j = 0; j < 32 && first + j < width; j++) {
            const int column = first + j;
            word |= (row[column % WORDS * THREADS + column / WORDS] >> (y / ROWS) & 1) << j;
        }
        dst[mine + n] = word;
    }
}

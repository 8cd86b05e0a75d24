// Cells of a byte each on a CUDA device: from packed bit planes and back.
//
// A universe is `height` rows of `width` bytes, one after the other. A packed row is its bit planes, one
// after the other, each of `stride` words of 32 cells, the first cell in the lowest bit.
#include "../../bits.hpp"

// Makes cells of `rows` packed rows. Each thread makes those of one word of every plane.
extern "C" __global__ void unpack_cells(const u32* __restrict__ packed, unsigned char* __restrict__ cells,
                                        int width, int rows, int stride, int planes) {
    const u64 index = u64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index >= u64(rows) * u64(stride)) return;
    const u64 y = index / stride;
    const int word = int(index % stride);
    const u32* const from = packed + y * u64(planes) * u64(stride) + word;
    unsigned char* const to = cells + y * u64(width);
    for (int bit = 0; bit < 32 && 32 * word + bit < width; bit++) {
        u32 state = 0;
        for (int plane = 0; plane < planes; plane++)
            state |= (from[u64(plane) * stride] >> bit & 1) << plane;
        to[32 * word + bit] = (unsigned char)state;
    }
}

// Packs cells into `rows` rows, as unpack_cells() takes them; padding bits become zero.
extern "C" __global__ void pack_cells(const unsigned char* __restrict__ cells, u32* __restrict__ packed,
                                      int width, int rows, int stride, int planes) {
    const u64 index = u64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index >= u64(rows) * u64(stride)) return;
    const u64 y = index / stride;
    const int word = int(index % stride);
    const unsigned char* const from = cells + y * u64(width);
    u32* const to = packed + y * u64(planes) * u64(stride) + word;
    for (int plane = 0; plane < planes; plane++) {
        u32 bits = 0;
        for (int bit = 0; bit < 32 && 32 * word + bit < width; bit++)
            bits |= u32(from[32 * word + bit] >> plane & 1) << bit;
        to[u64(plane) * stride] = bits;
    }
}

// Rules of tables on a CUDA device: a byte a cell, a thread a cell.
//
// Macros: PAIRS 1 where the rule has tables of pairs of columns; WALK 1 where it has levels to walk
// through in place of columns (kernels/tables/columns.py says what all these are).
#ifndef PAIRS
#define PAIRS 0
#endif
#ifndef WALK
#define WALK 0
#endif

using u8 = unsigned char;
using u32 = unsigned int;
using u64 = unsigned long long;
using s64 = long long;

namespace {

constexpr int FIELD = 21;
constexpr u64 MASK = (u64(1) << FIELD) - 1;

}  // namespace

// Moves `rows` rows of `width` cells on by a generation. On a torus both pairs of edges meet; else
// all outside is in state 0.
extern "C" __global__ void tables_step(const u8* __restrict__ cells, u8* __restrict__ next, s64 width,
                                       s64 rows, int torus, const u32* __restrict__ maps,
                                       const u64* __restrict__ columns, const u32* __restrict__ pairs,
                                       const u8* __restrict__ finals, const u32* __restrict__ walk) {
    const s64 x = s64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (x >= width) return;
    for (s64 y = blockIdx.y; y < rows; y += gridDim.y) {
        const s64 above = y ? y - 1 : rows - 1, below = y + 1 < rows ? y + 1 : 0;
        u64 found[3] = {};
        u32 node = 0;
#pragma unroll
        for (int side = 0; side < 3; side++) {
            s64 near = x + side - 1;
            const bool outside = near < 0 || near >= width;
            near = near < 0 ? width - 1 : near >= width ? 0 : near;
            const bool none = outside && !torus;
            const u32 up = none || (!y && !torus) ? 0 : cells[above * width + near];
            const u32 middle = none ? 0 : cells[y * width + near];
            const u32 down = none || (y + 1 == rows && !torus) ? 0 : cells[below * width + near];
            if (WALK) {
                node = walk[node + up];
                node = walk[node + middle];
                node = walk[node + down];
            } else {
                found[side] = columns[maps[up] + maps[256 + middle] + maps[512 + down]];
            }
        }
        if (WALK) {
            next[y * width + x] = u8(node);
        } else {
            u64 place = (found[0] & MASK) + (found[1] >> FIELD & MASK);
            if (PAIRS) place = pairs[place];
            next[y * width + x] = finals[place + (found[2] >> 2 * FIELD)];
        }
    }
}

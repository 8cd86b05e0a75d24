// Fujita's direct circuit (2017, 7.2 and 7.4): every rule at every split point.
//
// A thread has a word, 32 strings, and computes their chart alone. A block is a warp, and a
// group is its 32 words, side by side. The rules are data: B, C of A → B C are rule[first[A]] ..
// rule[first[A + 1] - 1]. Unit rules, which his circuit does not have: unit_first and unit
// likewise, for the symbols head.
#include "../../bits.hpp"

constexpr u32 LANES = 32;

extern "C" __global__ void __launch_bounds__(LANES)
direct_columns(u32* chart, u32 length, u32 symbols, const u32* __restrict__ first,
               const uint2* __restrict__ rule, u32 heads, const u32* __restrict__ head,
               const u32* __restrict__ unit_first, const u32* __restrict__ unit) {
    const u32 stride = symbols * LANES;
    chart += u64(blockIdx.x) * (u64(length) * (length + 1) / 2) * stride + threadIdx.x;
    auto cell = [=](u32 i, u32 j) { return chart + (u64(j) * (j - 1) / 2 + i) * stride; };

    for (u32 j = 1; j <= length; j++)
        for (u32 i = j; i-- > 0;) {
            u32* const x = cell(i, j);
            if (i < j - 1)
                for (u32 a = 0; a < symbols; a++) x[a * LANES] = 0;
            for (u32 k = i + 1; k < j; k++) {
                const u32 *const l = cell(i, k), *const r = cell(k, j);
                for (u32 a = 0; a < symbols; a++) {
                    u32 sum = 0;
#pragma unroll 8
                    for (u32 n = first[a]; n < first[a + 1]; n++)
                        sum |= l[rule[n].x * LANES] & r[rule[n].y * LANES];
                    x[a * LANES] |= sum;
                }
            }
            for (u32 h = 0; h < heads; h++) {
                u32 sum = x[head[h] * LANES];
                for (u32 u = unit_first[h]; u < unit_first[h + 1]; u++) sum |= x[unit[u] * LANES];
                x[head[h] * LANES] = sum;
            }
        }
}

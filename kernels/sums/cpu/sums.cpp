// Pairwise sums on one CPU level. Compiled once per level, with LEVEL its name and VECTOR its
// register type (bits.hpp). Nothing of the standard library may be instantiated here, or the
// linker could hand AVX-512 code to a machine without it.
#include "sums.hpp"

#include "../circuit.hpp"

namespace {

using std::size_t;
using V = VECTOR;
typedef V Unaligned __attribute__((aligned(4), may_alias));  // anywhere in an array of words
constexpr size_t LANES = sizeof(V) / 4;

void naive(const u32* __restrict a, const u32* __restrict b, u32* __restrict c, size_t count) {
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        *(Unaligned*)(c + i) = *(const Unaligned*)(a + i) + *(const Unaligned*)(b + i);
    for (; i < count; i++) c[i] = a[i] + b[i];
}

// How many words of each plane are added at a time, so that their carries stay in cache. Planes
// lie far apart, often by a power of two: to go up through all of them for one vector after the
// other would use few sets of the cache only.
constexpr size_t PART = 2048;  // words

template <class W>
BITS_FN void add_plane(const u32* a, const u32* b, u32* c, W* carry) {
    typedef W Word __attribute__((aligned(4), may_alias));
    RippleAdder<W> add = {*carry};
    *(Word*)c = add(*(const Word*)a, *(const Word*)b);
    *carry = add.carry;
}

void bitwise_part(const u32* __restrict a, const u32* __restrict b, u32* __restrict c, int k,
                  size_t groups, size_t stride) {
    V carries[PART / LANES] = {};
    u32 rest[LANES] = {};  // carries of the groups that fill no vector
    const size_t vectors = groups / LANES, done = vectors * LANES;
    for (int j = 0; j < k; j++, a += stride, b += stride, c += stride) {
        for (size_t v = 0; v < vectors; v++)
            add_plane(a + v * LANES, b + v * LANES, c + v * LANES, carries + v);
        for (size_t g = done; g < groups; g++) add_plane(a + g, b + g, c + g, rest + (g - done));
    }
    if (sum_bits(k) == k) return;
    for (size_t v = 0; v < vectors; v++) *(Unaligned*)(c + v * LANES) = carries[v];
    for (size_t g = done; g < groups; g++) c[g] = rest[g - done];
}

void bitwise(const u32* a, const u32* b, u32* c, int k, size_t groups, size_t stride) {
    for (size_t g = 0; g < groups; g += PART)
        bitwise_part(a + g, b + g, c + g, k, groups - g < PART ? groups - g : PART, stride);
}

}  // namespace

#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
extern const SumsOps JOIN(sums_, LEVEL);
const SumsOps JOIN(sums_, LEVEL) = {int(sizeof(V)), naive, bitwise};

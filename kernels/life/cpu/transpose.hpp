// Transposes squares of bits in vectors, one in each lane or in each group of bits.
#pragma once
#include "strips.hpp"

namespace {

// Has bit i + J of a and bit i of b change places, for every i whose bit J is 0.
template <int J>
BITS_FN void exchange(V& a, V& b) {
    constexpr u32 mask = J == 16 ? 0x0000ffffu : J == 8 ? 0x00ff00ffu : J == 4 ? 0x0f0f0f0fu
                       : J == 2 ? 0x33333333u : 0x55555555u;
    V t = (a >> J ^ b) & mask;
    b ^= t;
    a ^= t << J;
}

// Transposes the squares of 8 x 8 bits of eight vectors.
BITS_FN void transpose_eight(V* a) {
    V w0 = a[0], w1 = a[1], w2 = a[2], w3 = a[3];
    V w4 = a[4], w5 = a[5], w6 = a[6], w7 = a[7];
    exchange<4>(w0, w4), exchange<4>(w1, w5), exchange<4>(w2, w6), exchange<4>(w3, w7);
    exchange<2>(w0, w2), exchange<2>(w1, w3), exchange<2>(w4, w6), exchange<2>(w5, w7);
    exchange<1>(w0, w1), exchange<1>(w2, w3), exchange<1>(w4, w5), exchange<1>(w6, w7);
    a[0] = w0, a[1] = w1, a[2] = w2, a[3] = w3;
    a[4] = w4, a[5] = w5, a[6] = w6, a[7] = w7;
}

// Transposes the 32 x 32 bits of each lane: bit j of a[i] and bit i of a[j] change places.
void transpose(V* a) {
    for (int i = 0; i < 8; i++) {
        V w0 = a[i], w1 = a[i + 8], w2 = a[i + 16], w3 = a[i + 24];
        exchange<16>(w0, w2), exchange<16>(w1, w3);
        exchange<8>(w0, w1), exchange<8>(w2, w3);
        a[i] = w0, a[i + 8] = w1, a[i + 16] = w2, a[i + 24] = w3;
    }
    for (int i = 0; i < 32; i += 8) transpose_eight(a + i);
}

}  // namespace

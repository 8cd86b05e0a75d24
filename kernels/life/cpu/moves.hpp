// Moves bits about: copies at any bit of packed rows, and the transposition that turns columns into
// strips and back.
#pragma once
#include <cstring>

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

// Transposes the 32 x 32 bits of each lane: bit j of a[i] and bit i of a[j] change places.
void transpose(V* a) {
    for (int i = 0; i < 8; i++) {
        V w0 = a[i], w1 = a[i + 8], w2 = a[i + 16], w3 = a[i + 24];
        exchange<16>(w0, w2), exchange<16>(w1, w3);
        exchange<8>(w0, w1), exchange<8>(w2, w3);
        a[i] = w0, a[i + 8] = w1, a[i + 16] = w2, a[i + 24] = w3;
    }
    for (int i = 0; i < 32; i += 8) {
        V w0 = a[i], w1 = a[i + 1], w2 = a[i + 2], w3 = a[i + 3];
        V w4 = a[i + 4], w5 = a[i + 5], w6 = a[i + 6], w7 = a[i + 7];
        exchange<4>(w0, w4), exchange<4>(w1, w5), exchange<4>(w2, w6), exchange<4>(w3, w7);
        exchange<2>(w0, w2), exchange<2>(w1, w3), exchange<2>(w4, w6), exchange<2>(w5, w7);
        exchange<1>(w0, w1), exchange<1>(w2, w3), exchange<1>(w4, w5), exchange<1>(w6, w7);
        a[i] = w0, a[i + 1] = w1, a[i + 2] = w2, a[i + 3] = w3;
        a[i + 4] = w4, a[i + 5] = w5, a[i + 6] = w6, a[i + 7] = w7;
    }
}

// Returns the 64 bits from `bit` on.
u64 bits_at(const u64* words, i64 bit) {
    const u64* w = words + (bit >> 6);
    int shift = int(bit & 63);
    return shift ? shift_down(w[1], w[0], shift) : w[0];
}

// Sets dst[i] to the 64 bits of src from bit `from` + 64 i on.
void shift_words(u64* dst, const u64* src, i64 from, i64 words) {
    const u64* w = src + (from >> 6);
    const int shift = int(from & 63);
    if (shift == 0) {
        std::memcpy(dst, w, std::size_t(words) * 8);
        return;
    }
    for (i64 i = 0; i < words; i++) dst[i] = shift_down(w[i + 1], w[i], shift);
}

// Copies `count` bits, a word of the target at a time. Reads no source word past the last bit.
void copy_bits(u64* dst, i64 to, const u64* src, i64 from, i64 count) {
    while (count > 0) {
        int skip = int(to & 63), n = int(count < 64 - skip ? count : 64 - skip);
        int shift = int(from & 63);
        u64 value = src[from >> 6] >> shift;
        if (shift && n > 64 - shift) value |= src[(from >> 6) + 1] << (64 - shift);
        u64 mask = (n == 64 ? ~u64(0) : (u64(1) << n) - 1) << skip;
        u64& word = dst[to >> 6];
        word = (word & ~mask) | (value << skip & mask);
        to += n, from += n, count -= n;
        if (!(to & 63) && count >= 64) {  // aligned to the target: whole words
            i64 words = count >> 6;
            shift_words(dst + (to >> 6), src, from, words);
            to += words << 6, from += words << 6, count -= words << 6;
        }
    }
}

}  // namespace

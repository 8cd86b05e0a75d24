// Inverts modulo powers of two, by Newton's iteration: each step doubles the words that are right.
// GMP has no such function; its mpz_invert runs Euclid's algorithm, which takes quadratic time here.
#pragma once
#include <algorithm>
#include <cstring>

#include "batch.hpp"
#include "gmp_calls.hpp"

namespace bignum {

// Tells whether a number, which is not zero, is 2^k or -2^k.
inline bool is_power_of_two(const Number& x) {
    const u64 top = x.words[x.length - 1];
    if (top & (top - 1)) return false;
    for (i64 i = 0; i + 1 < x.length; i++)
        if (x.words[i]) return false;
    return true;
}

// Computes words first .. n - 1 of the product of x, which has nx words, and y, which has ny, nx >=
// ny > 0 and nx <= n; others of r are changed too. r: nx + ny words.
inline void low_product(u64* r, const u64* x, i64 nx, const u64* y, i64 ny, i64 n) {
    constexpr i64 LONG = 16;  // words from which on GMP's whole product takes less time
    if (ny > LONG) {
        gmp().mpn_mul(r, x, nx, y, ny);
        return;
    }
    std::memset(r, 0, std::size_t(n) * 8);
    for (i64 j = 0; j < std::min(ny, n); j++) {
        unsigned __int128 carry = 0;
        const i64 end = std::min(nx, n - j);
        for (i64 i = 0; i < end; i++) {
            carry += (unsigned __int128)x[i] * y[j] + r[i + j];
            r[i + j] = u64(carry);
            carry >>= 64;
        }
        if (j + end < n) r[j + end] = u64(carry);
    }
}

// Returns how many words of scratch inverted_two_adic() needs for a modulus of so many.
inline i64 two_adic_scratch(i64 words) { return 4 * words; }

// Computes r, the inverse of an odd number modulo 2^bits, and returns its length before leading
// zeros are cut off.
inline i64 inverted_two_adic(u64* r, const Number& number, i64 bits, u64* scratch) {
    const i64 n = (bits + 63) / 64, given = std::min(n, number.length);
    u64 *const a = scratch, *const product = scratch + n;
    std::memcpy(a, number.words, std::size_t(given) * 8);
    std::memset(a + given, 0, std::size_t(n - given) * 8);
    if (number.negative) {
        // An odd number's negative has all other bits turned round.
        for (i64 i = 0; i < n; i++) a[i] = ~a[i];
        a[0] |= 1;
    }
    u64 first = 3 * a[0] ^ 2;  // five bits are right
    for (int step = 0; step < 4; step++) first *= 2 - a[0] * first;
    r[0] = first;
    for (i64 known = 1; known < n;) {
        const i64 wanted = std::min(2 * known, n), more = wanted - known;
        // a r is 1 + 2^(64 known) e, and r - 2^(64 known) e r is right in twice as many words.
        low_product(product, a, wanted, r, known, wanted);
        std::memmove(product, product + known, std::size_t(more) * 8);
        u64* const next = product + more;
        low_product(next, r, more, product, more, more);
        bool zero = true;
        for (i64 i = 0; i < more; i++) {
            r[known + i] = zero ? 0 - next[i] : ~next[i];
            zero = zero && !next[i];
        }
        known = wanted;
    }
    if (bits % 64) r[n - 1] &= (u64(1) << bits % 64) - 1;
    return n;
}

}  // namespace bignum

// The greatest common divisor of a pair of numbers: what a thread does in a pass.
//
// Pornin's binary GCD (IACR ePrint 2020/972): the steps of the plain binary algorithm run
// on approximations of a and b that fit registers (their top bits, then their lowest, which
// are exact); the 2x2 matrix that has come of PASS steps is then applied to a and b at once.
// Here the approximations are nested: the steps run on 32 bits, 16 of them and then 15,
// between which the first matrix is applied to approximations of 62 bits.
//
// A number is limbs of 31 bits, so that a pass of 31 steps drops a limb and limbs times
// factors add up in signed 64 bits. The top limb in use is signed, and so is the number: a
// comparison of approximations may be wrong, and its difference below zero.
//
// Why the result is right: b is odd, and a step replaces (a, b) by (a / 2, b), ((a - b) / 2, b)
// or ((b - a) / 2, a), as the parity of a, which is exact, allows. All keep the gcd and an odd
// b, whatever the comparison says. Why it ends: no step makes max(|a|, |b|) greater, and one
// decided rightly halves |a b| at least. The first steps of a pass see the top 16 bits, so they
// are right unless a and b agree in these, and then |a - b| is smaller by 2^15 than both; later
// ones can only be wrong when both numbers have become that much smaller. So with each pass |a b|
// falls, or the greater number does; and numbers below 2^32 are compared exactly.
#pragma once
#include "../../bits.hpp"

namespace {

#if defined(__CUDACC_RTC__)
using s64 = long long;
#else
using s64 = std::int64_t;
#endif
using s32 = int;

constexpr u32 LIMB = 0x7FFFFFFF;  // the 31 bits of a limb
constexpr u32 LANES = 32;

// The leading limbs of both numbers (of their magnitudes; one less in numbers below zero), their
// lowest limbs, and their signs (0 or all ones).
struct Tops {
    u32 ah, al, bh, bl;  // from the topmost limb that is not zero in both; or limbs 1 and 0
    bool many;           // whether there are more limbs than two
    u32 a0, b0;
    u32 sa, sb;
};

// Makes a and b: (f0 a + g0 b) / 2^31 and (f1 a + g1 b) / 2^31.
struct Matrix {
    s32 f0, g0, f1, g1;
};

// Approximations in two limbs of 31 bits. They are exact where both numbers have no more limbs.
struct Pair62 {
    u32 ah, al, bh, bl;
};

__device__ __forceinline__ u32 clamped_left(u32 hi, u32 lo, u32 n) {  // 0 <= n <= 32
    return __funnelshift_lc(lo, hi, n);
}

__device__ __forceinline__ Pair62 approximate(const Tops& t) {
    Pair62 x;
    u32 s = t.many ? __clz(s32(t.ah | t.bh)) - 1 : 0;
    u32 a = (t.a0 ^ t.sa & LIMB) - t.sa, b = (t.b0 ^ t.sb & LIMB) - t.sb;  // magnitudes now
    x.al = a & LIMB;
    x.bl = b & LIMB;
    x.ah = __funnelshift_l(t.al << 1, t.ah, s) + (t.many ? 0 : a >> 31);
    x.bh = __funnelshift_l(t.bl << 1, t.bh, s) + (t.many ? 0 : b >> 31);
    return x;
}

// Makes a step on 32 bits. u and v are the rows of the matrix of magnitudes, 16 bits for each
// entry: the signs of the entries of a row are always opposite, and so are those of the two
// rows.
template <bool DOUBLE>
__device__ __forceinline__ void step(u32& a, u32& b, u32& u, u32& v) {
#if defined(__CUDA_ARCH__)
    asm("{\n\t"
        ".reg .pred odd, less;\n\t"
        ".reg .u32 low;\n\t"
        "and.b32 low, %0, 1;\n\t"
        "setp.ne.u32 odd, low, 0;\n\t"
        "setp.lt.and.u32 less, %0, %1, odd;\n\t"
        "@odd sub.u32 %0, %0, %1;\n\t"
        "@odd add.u32 %2, %2, %3;\n\t"
        "@less add.u32 %1, %1, %0;\n\t"
        "@less neg.s32 %0, %0;\n\t"
        "@less sub.u32 %3, %2, %3;\n\t"
        "}"
        : "+r"(a), "+r"(b), "+r"(u), "+r"(v));
#else
    if (a & 1) {
        const bool less = a < b;
        a -= b;
        u += v;
        if (less) {
            b += a;
            a = 0 - a;
            v = u - v;
        }
    }
#endif
    a >>= 1;
    if (DOUBLE) v += v;
}

template <int STEPS, bool LAST_DOUBLED>
__device__ __forceinline__ void steps(u32 a_hi, u32 a_lo, u32 b_hi, u32 b_lo, u32& u, u32& v) {
    constexpr u32 EXACT = (1u << STEPS) - 1;
    u32 s = __clz(s32(a_hi | b_hi));  // 32 where all of the number is in the low word
    u32 a = mux(EXACT, a_lo, clamped_left(a_hi, a_lo, s));
    u32 b = mux(EXACT, b_lo, clamped_left(b_hi, b_lo, s));
    u = 1;
    v = 1u << 16;
#pragma unroll
    for (int i = 1; i < STEPS; i++) step<true>(a, b, u, v);
    step<LAST_DOUBLED>(a, b, u, v);
}

// Returns a b + c. It is written in PTX, as the compiler likes to extend a factor to 64 bits
// once for all, and then needs four instructions where one would do. It is not mad.wide, as the
// compiler takes that apart.
__device__ __forceinline__ s64 mad_wide(s32 a, s32 b, s64 c) {
#if defined(__CUDA_ARCH__)
    s64 r;
    asm("mul.wide.s32 %0, %1, %2;" : "=l"(r) : "r"(a), "r"(b));
    return r + c;
#else
    return s64(a) * b + c;
#endif
}

// Returns the magnitude of (f a - g b) / 2^16, for factors up to 2^16; `sign` becomes its sign.
__device__ __forceinline__ u64 combine(s32 f, s32 g, const Pair62& x, s32& sign) {
    const s64 low = mad_wide(f, s32(x.al), mad_wide(-g, s32(x.bl), 0));
    const s64 high = mad_wide(f, s32(x.ah), mad_wide(-g, s32(x.bh), 0));
    s64 z = s64((u64(high) << 15) + u64(low >> 16));
    sign = s32(z >> 63);
    return (u64(z) ^ u64(s64(sign))) - u64(s64(sign));
}

__device__ __forceinline__ s32 with_sign(s32 value, s32 sign) { return (value ^ sign) - sign; }

__device__ __forceinline__ Matrix find_matrix(const Pair62& x, u32 sa, u32 sb) {
    u32 u, v;
    steps<16, false>(x.ah >> 1, x.ah << 31 | x.al, x.bh >> 1, x.bh << 31 | x.bl, u, v);
    // The second row is doubled only here: 2^16 would not have fitted.
    s32 f0 = u & 0xFFFF, g0 = u >> 16, f1 = (v & 0xFFFF) << 1, g1 = v >> 16 << 1;
    s32 s0, s1;
    u64 a = combine(f0, g0, x, s0), b = combine(f1, g1, x, s1);
    f0 = with_sign(f0, s0 ^ s32(sa));
    g0 = with_sign(g0, ~s0 ^ s32(sb));
    f1 = with_sign(f1, s1 ^ s32(sa));
    g1 = with_sign(g1, ~s1 ^ s32(sb));
    steps<15, true>(u32(a >> 32), u32(a), u32(b >> 32), u32(b), u, v);
    const u32 p0 = u & 0xFFFF, q0 = u >> 16, p1 = v & 0xFFFF, q1 = v >> 16;
    // The magnitudes of a row's entries sum up to at most 2^31. 2^31 itself becomes -2^31,
    // beside a zero: then the number changes its sign, which does not matter.
    return {s32(p0 * u32(f0) - q0 * u32(f1)), s32(p0 * u32(g0) - q0 * u32(g1)),
            s32(p1 * u32(f0) - q1 * u32(f1)), s32(p1 * u32(g0) - q1 * u32(g1))};
}

// Applies a row of the matrix, limb after limb from the lowest; each call returns the limb
// below.
struct Row {
    s32 f, g;
    s64 carry;
    __device__ __forceinline__ u32 operator()(u32 a, u32 b) {
        const s64 z = mad_wide(f, s32(a), mad_wide(g, s32(b), carry));
        carry = z >> 31;
        return u32(z) & LIMB;
    }
};

// A number in memory as slabs have it: `width` words, LANES apart.
struct Words {
    const u32* at;
    u32 width;
    __device__ __forceinline__ u32 operator[](u32 i) const { return i < width ? at[i * LANES] : 0; }
};

// Both numbers without their common power of two, 2^(32 words + bits). b is odd then, or both
// are zero.
struct Operands {
    Words a, b;
    u32 words, bits;
};

// Takes the common power of two out of both numbers and puts an odd one into b. width: no lane
// has more words.
__device__ __forceinline__ Operands take_twos(Words a, Words b, u32 width) {
    u32 low = 0, words = 0;
    for (u32 i = 0; i < width; i++) {
        if (!low && (low = a[i] | b[i])) words = i;
        if (__all_sync(ALL, low != 0)) break;
    }
    const u32 bits = low ? __ffs(s32(low)) - 1 : 0;
    if (b[words] >> bits & 1) return {a, b, words, bits};
    return {b, a, words, bits};
}

// Writes a result of a slab: its words are put one after the other, from the lowest.
struct Result {
    u32* at;
    u32 width;
    u32 words, bits;  // the power of two by which it is multiplied
    u32 k, last, length;
    __device__ Result(u32* at, u32 width, u32 words, u32 bits)
        : at(at), width(width), words(words), bits(bits), k(0), last(0), length(0) {
        for (u32 i = 0; i < words; i++) at[i * LANES] = 0;
    }
    __device__ __forceinline__ void put(u32 word) {
        const u32 i = k++ + words, value = __funnelshift_l(last, word, bits);
        last = word;
        if (i >= width) return;  // only zeros: no result is longer than its operands
        at[i * LANES] = value;
        if (value) length = 32 * i + 32 - __clz(s32(value));
    }
    __device__ __forceinline__ void fill() {
        while (k + words < width) put(0);
    }
    __device__ __forceinline__ void finish(u32* longest) {
        for (int d = 16; d; d >>= 1) length = max(length, __shfl_xor_sync(ALL, length, d));
        if (threadIdx.x % LANES == 0 && length) atomicMax(longest, length);
    }
};

}  // namespace

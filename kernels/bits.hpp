// Machine words as bundles of bits, and logic on them.
//
// A circuit written on these functions computes as many instances at once as
// the word type W has bits: 32 or 64 in a CUDA lane, 128 to 512 in a CPU
// register (GCC/Clang vector extensions). On CUDA a three-input function is
// one LOP3, on AVX-512 one VPTERNLOG; elsewhere it is spelled in two-input
// operations.
#pragma once
#if !defined(__CUDACC_RTC__)
#include <cstdint>
#endif

#if defined(__CUDACC__)
#define BITS_FN __host__ __device__ __forceinline__
#else
#define BITS_FN inline __attribute__((always_inline))
#endif

#if defined(__AVX512F__) && !defined(__CUDACC__)
#include <immintrin.h>
#endif

namespace {

#if defined(__CUDACC_RTC__)
using u32 = unsigned int;
using u64 = unsigned long long;
#else
using u32 = std::uint32_t;
using u64 = std::uint64_t;
#endif

constexpr u32 ALL = 0xFFFFFFFF;  // a whole word; the mask of all lanes of a warp

// Computes the function of two inputs with the truth table LUT2. A table of three inputs, LUT,
// has the value at (a, b, c) as bit (a << 2 | b << 1 | c): the numbering of lop3.b32 and
// VPTERNLOG, in which a = 0xF0, b = 0xCC and c = 0xAA.
template <int LUT2, class W>
BITS_FN W lut2(W b, W c) {  // bit (b << 1 | c) of LUT2
    constexpr int f = LUT2 & 15;
    if constexpr (f == 0) return b ^ b;
    else if constexpr (f == 1) return ~(b | c);
    else if constexpr (f == 2) return c & ~b;
    else if constexpr (f == 3) return ~b;
    else if constexpr (f == 4) return b & ~c;
    else if constexpr (f == 5) return ~c;
    else if constexpr (f == 6) return b ^ c;
    else if constexpr (f == 7) return ~(b & c);
    else if constexpr (f == 8) return b & c;
    else if constexpr (f == 9) return ~(b ^ c);
    else if constexpr (f == 10) return c;
    else if constexpr (f == 11) return c | ~b;
    else if constexpr (f == 12) return b;
    else if constexpr (f == 13) return b | ~c;
    else if constexpr (f == 14) return b | c;
    else return ~(b ^ b);
}

// Whether one instruction computes any three-input function of W.
template <class W>
struct has_ternary { static constexpr bool value = false; };

template <int LUT, class W>
struct Lut3 {
    static BITS_FN W of(W a, W b, W c) {
        constexpr int f0 = LUT & 15, f1 = LUT >> 4 & 15;  // a = 0, a = 1
        if constexpr (f0 == f1) return lut2<f0>(b, c);
        else if constexpr ((f0 ^ 15) == f1) return a ^ lut2<f0>(b, c);
        else if constexpr (f0 == 0) return a & lut2<f1>(b, c);
        else if constexpr (f1 == 0) return lut2<f0>(b, c) & ~a;
        else if constexpr (f0 == 15) return lut2<f1>(b, c) | ~a;
        else if constexpr (f1 == 15) return a | lut2<f0>(b, c);
        else {
            W lo = lut2<f0>(b, c);
            return lo ^ (a & (lo ^ lut2<f1>(b, c)));
        }
    }
};

#if defined(__CUDA_ARCH__)
template <>
struct has_ternary<u32> { static constexpr bool value = true; };
template <int LUT>
struct Lut3<LUT, u32> {
    static __device__ __forceinline__ u32 of(u32 a, u32 b, u32 c) {
        u32 r;
        asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(a), "r"(b), "r"(c), "n"(LUT));
        return r;
    }
};
template <>
struct has_ternary<u64> { static constexpr bool value = true; };
template <int LUT>
struct Lut3<LUT, u64> {
    static __device__ __forceinline__ u64 of(u64 a, u64 b, u64 c) {
        u32 lo = Lut3<LUT, u32>::of(u32(a), u32(b), u32(c));
        u32 hi = Lut3<LUT, u32>::of(u32(a >> 32), u32(b >> 32), u32(c >> 32));
        return u64(hi) << 32 | lo;
    }
};
#endif

template <int LUT, class W>
BITS_FN W lut3(W a, W b, W c) { return Lut3<LUT, W>::of(a, b, c); }

template <class W>
BITS_FN W xor3(W a, W b, W c) {
    if constexpr (has_ternary<W>::value) return lut3<0x96>(a, b, c);
    else return a ^ b ^ c;
}
template <class W>
BITS_FN W maj3(W a, W b, W c) {
    if constexpr (has_ternary<W>::value) return lut3<0xE8>(a, b, c);
    else return (a & b) | (c & (a ^ b));  // shares a ^ b with xor3
}
// Chooses bit by bit: a where s is one, else b.
template <class W>
BITS_FN W mux(W s, W a, W b) {
    if constexpr (has_ternary<W>::value) return lut3<0xCA>(s, a, b);
    else return b ^ (s & (a ^ b));
}

template <class W>
struct Sum2 { W sum, carry; };

template <class W>
BITS_FN Sum2<W> full_add(W a, W b, W c) { return {xor3(a, b, c), maj3(a, b, c)}; }

// Shift across words: they return a part of the double word (hi, lo) moved by n bits, 0 < n < 32
// (64).
BITS_FN u32 shift_up(u32 hi, u32 lo, int n) {  // the high word of (hi, lo) << n
#if defined(__CUDA_ARCH__)
    return __funnelshift_l(lo, hi, n);
#else
    return hi << n | lo >> (32 - n);
#endif
}
BITS_FN u32 shift_down(u32 hi, u32 lo, int n) {  // the low word of (hi, lo) >> n
#if defined(__CUDA_ARCH__)
    return __funnelshift_r(lo, hi, n);
#else
    return lo >> n | hi << (32 - n);
#endif
}
// Rotates: bit i of the result is bit i - n (modulo 32), 0 <= n < 32.
BITS_FN u32 rotate_up(u32 w, int n) {
#if defined(__CUDA_ARCH__)
    return __funnelshift_l(w, w, n);
#else
    return n ? shift_up(w, w, n) : w;
#endif
}
BITS_FN u64 shift_up(u64 hi, u64 lo, int n) { return hi << n | lo >> (64 - n); }
BITS_FN u64 shift_down(u64 hi, u64 lo, int n) { return lo >> n | hi << (64 - n); }

#if !defined(__CUDACC__)
// CPU registers of 128, 256 and 512 bits, as 32-bit lanes.
typedef u32 v128 __attribute__((vector_size(16)));
typedef u32 v256 __attribute__((vector_size(32)));
typedef u32 v512 __attribute__((vector_size(64)));

#if defined(__AVX512F__)
template <>
struct has_ternary<v512> { static constexpr bool value = true; };
template <int LUT>
struct Lut3<LUT, v512> {
    static BITS_FN v512 of(v512 a, v512 b, v512 c) {
        return (v512)_mm512_ternarylogic_epi32((__m512i)a, (__m512i)b, (__m512i)c, LUT);
    }
};
#endif

// Rotate lanes: lane i of the result is lane i - 1 (up) or i + 1 (down) of v, cyclically.
#if defined(__clang__)
#define BITS_SHUFFLE(V, ...) __builtin_shufflevector(v, v, __VA_ARGS__)
#else
#define BITS_SHUFFLE(V, ...) __builtin_shuffle(v, V{__VA_ARGS__})
#endif
BITS_FN v128 rotate_lanes_up(v128 v) { return BITS_SHUFFLE(v128, 3, 0, 1, 2); }
BITS_FN v128 rotate_lanes_down(v128 v) { return BITS_SHUFFLE(v128, 1, 2, 3, 0); }
BITS_FN v256 rotate_lanes_up(v256 v) { return BITS_SHUFFLE(v256, 7, 0, 1, 2, 3, 4, 5, 6); }
BITS_FN v256 rotate_lanes_down(v256 v) { return BITS_SHUFFLE(v256, 1, 2, 3, 4, 5, 6, 7, 0); }
BITS_FN v512 rotate_lanes_up(v512 v) {
    return BITS_SHUFFLE(v512, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14);
}
BITS_FN v512 rotate_lanes_down(v512 v) {
    return BITS_SHUFFLE(v512, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0);
}
#undef BITS_SHUFFLE
#endif

}  // namespace

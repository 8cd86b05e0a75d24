// CUDA C++ for the host compiler: included before a .cu file, so that the file
// that nvcc compiles also runs where there is no GPU.
//
//     g++ -std=c++17 -x c++ -include cuda_emulation.hpp -shared -fPIC life.cu
//
// This file has the words of the language and its intrinsics; what runs a kernel
// is engine.cpp. README.md says what is not emulated.
#pragma once
// Whatever standard header a kernel may want comes before the macros below,
// which would break some of them.
#include <cassert>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "engine.hpp"

// The attributes of __global__ also mark kernels in the preprocessed text, in
// which build.py looks for them.
#define __global__ __attribute__((noinline, noclone, used))
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
// One block runs at a time, so a static variable is the block's own. All lie in
// one section, which is filled with a pattern before each block.
#define __shared__ static __attribute__((section("emulated_shared")))
// `extern __shared__ T name[];` cannot be said with macros. A kernel says
//     #if !defined(DYNAMIC_SHARED)
//     #define DYNAMIC_SHARED(T, name) extern __shared__ T name[]
//     #endif
// once and DYNAMIC_SHARED(T, name); in the kernel.
#define DYNAMIC_SHARED(T, name) T* const name = reinterpret_cast<T*>(::emulation::dynamic_shared)

static constexpr int warpSize = 32;

// --- vector types, aligned as on the device ---------------------------------

#define EMULATION_VECTORS(type, name, align2, align4)                                   \
    struct name##1 { type x; };                                                         \
    struct alignas(align2) name##2 { type x, y; };                                      \
    struct alignas(align4) name##4 { type x, y, z, w; };                                \
    inline name##1 make_##name##1(type x) { return {x}; }                               \
    inline name##2 make_##name##2(type x, type y) { return {x, y}; }                    \
    inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
EMULATION_VECTORS(signed char, char, 2, 4)
EMULATION_VECTORS(unsigned char, uchar, 2, 4)
EMULATION_VECTORS(short, short, 4, 8)
EMULATION_VECTORS(unsigned short, ushort, 4, 8)
EMULATION_VECTORS(int, int, 8, 16)
EMULATION_VECTORS(unsigned, uint, 8, 16)
EMULATION_VECTORS(long long, longlong, 16, 16)
EMULATION_VECTORS(unsigned long long, ulonglong, 16, 16)
struct int3 { int x, y, z; };
inline int3 make_int3(int x, int y, int z) { return {x, y, z}; }
inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }

// --- warp and block ---------------------------------------------------------

namespace emulation {

template <class T>
inline std::uint64_t to_slot(T value) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "shuffles move 32 or 64 bits");
    std::uint64_t slot = 0;
    std::memcpy(&slot, &value, sizeof value);
    return slot;
}
template <class T>
inline T from_slot(std::uint64_t slot) {
    T value;
    std::memcpy(&value, &slot, sizeof value);
    return value;
}

}  // namespace emulation

// Default arguments say where the call stands.
#define EMULATION_SITE ::emulation::Site site = {__builtin_FILE(), __builtin_LINE()}
#define EMULATION_SHUFFLE(name, op)                                                      \
    template <class T>                                                                   \
    inline T name(unsigned mask, T value, unsigned lane, int width = 32, EMULATION_SITE) { \
        using namespace emulation;                                                       \
        return from_slot<T>(                                                             \
            collective(op, mask, to_slot(value), lane, unsigned(width), site));          \
    }
EMULATION_SHUFFLE(__shfl_sync, Op::shfl)
EMULATION_SHUFFLE(__shfl_up_sync, Op::shfl_up)
EMULATION_SHUFFLE(__shfl_down_sync, Op::shfl_down)
EMULATION_SHUFFLE(__shfl_xor_sync, Op::shfl_xor)

inline unsigned __ballot_sync(unsigned mask, int predicate, EMULATION_SITE) {
    using namespace emulation;
    return unsigned(collective(Op::ballot, mask, unsigned(predicate), 0, 32, site));
}
inline int __any_sync(unsigned mask, int predicate, EMULATION_SITE) {
    using namespace emulation;
    return int(collective(Op::any, mask, unsigned(predicate), 0, 32, site));
}
inline int __all_sync(unsigned mask, int predicate, EMULATION_SITE) {
    using namespace emulation;
    return int(collective(Op::all, mask, unsigned(predicate), 0, 32, site));
}
template <class T>
inline unsigned __match_any_sync(unsigned mask, T value, EMULATION_SITE) {
    using namespace emulation;
    return unsigned(collective(Op::match_any, mask, to_slot(value), 0, 32, site));
}
inline void __syncwarp(unsigned mask = 0xFFFFFFFFu, EMULATION_SITE) {
    using namespace emulation;
    collective(Op::syncwarp, mask, 0, 0, 32, site);
}

inline void __syncthreads(EMULATION_SITE) { emulation::barrier(false, 0, site); }
inline int __syncthreads_count(int p, EMULATION_SITE) { return emulation::barrier(p, 0, site); }
inline int __syncthreads_and(int p, EMULATION_SITE) { return emulation::barrier(p, 1, site); }
inline int __syncthreads_or(int p, EMULATION_SITE) { return emulation::barrier(p, 2, site); }

// One fiber runs at a time: what it wrote is seen by the next.
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}
inline void __nanosleep(unsigned) { emulation::wait(); }
[[noreturn]] inline void __trap(EMULATION_SITE) {
    EMULATION_FAIL("__trap() at %s:%d", site.file, site.line);
}

// --- atomics ----------------------------------------------------------------

namespace emulation {

// The type of the operand follows the pointer's, as in CUDA's overloads.
template <class T>
struct Same { using type = T; };
template <class T>
using Operand = typename Same<T>::type;

template <class T, class F>
inline T update(T* p, F f) {
    maybe_yield();
    const T old = *p;
    *p = f(old);
    return old;
}

}  // namespace emulation

#define EMULATION_ATOMIC(name, expression)                              \
    template <class T>                                                  \
    inline T name(T* p, ::emulation::Operand<T> v) {                    \
        return ::emulation::update(p, [=](T old) { return T(expression); }); \
    }
EMULATION_ATOMIC(atomicAdd, std::is_integral_v<T> ? T(std::uint64_t(old) + std::uint64_t(v))
                                                  : T(old + v))
EMULATION_ATOMIC(atomicSub, std::uint64_t(old) - std::uint64_t(v))
EMULATION_ATOMIC(atomicMin, v < old ? v : old)
EMULATION_ATOMIC(atomicMax, old < v ? v : old)
EMULATION_ATOMIC(atomicAnd, old & v)
EMULATION_ATOMIC(atomicOr, old | v)
EMULATION_ATOMIC(atomicXor, old ^ v)
EMULATION_ATOMIC(atomicExch, ((void)old, v))
template <class T>
inline T atomicCAS(T* p, emulation::Operand<T> compare, emulation::Operand<T> v) {
    return emulation::update(p, [=](T old) { return old == compare ? v : old; });
}

// --- arithmetic -------------------------------------------------------------

inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned n) {
    return unsigned((std::uint64_t(hi) << 32 | lo) << (n & 31) >> 32);
}
inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned n) {
    return unsigned((std::uint64_t(hi) << 32 | lo) >> (n & 31));
}
inline unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned n) {
    return n >= 32 ? lo : __funnelshift_l(lo, hi, n);
}
inline unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned n) {
    return n >= 32 ? hi : __funnelshift_r(lo, hi, n);
}
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x ? __builtin_clz(unsigned(x)) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned __brev(unsigned x) {
    unsigned r = 0;
    for (int i = 0; i < 32; i++) r |= (x >> i & 1) << (31 - i);
    return r;
}
inline unsigned long long __brevll(unsigned long long x) {
    return (unsigned long long)__brev(unsigned(x)) << 32 | __brev(unsigned(x >> 32));
}
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
    const std::uint64_t bytes = std::uint64_t(y) << 32 | x;
    unsigned r = 0;
    for (int i = 0; i < 4; i++) {
        const unsigned s = selector >> (4 * i) & 15;
        unsigned byte = unsigned(bytes >> (8 * (s & 7))) & 255;
        if (s & 8) byte = byte >> 7 ? 255 : 0;  // its sign, repeated
        r |= byte << (8 * i);
    }
    return r;
}
inline unsigned __umulhi(unsigned a, unsigned b) { return unsigned(std::uint64_t(a) * b >> 32); }
inline int __mulhi(int a, int b) { return int(std::int64_t(a) * b >> 32); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
inline long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }

template <class A, class B>
constexpr std::common_type_t<A, B> min(A a, B b) {
    using T = std::common_type_t<A, B>;
    return T(b) < T(a) ? T(b) : T(a);
}
template <class A, class B>
constexpr std::common_type_t<A, B> max(A a, B b) {
    using T = std::common_type_t<A, B>;
    return T(a) < T(b) ? T(b) : T(a);
}

// Loads and stores that hint at a cache.
template <class T>
inline T __ldg(const T* p) { return *p; }
template <class T>
inline T __ldca(const T* p) { return *p; }
template <class T>
inline T __ldcg(const T* p) { return *p; }
template <class T>
inline T __ldcs(const T* p) { return *p; }
template <class T>
inline void __stcg(T* p, emulation::Operand<T> v) { *p = v; }
template <class T>
inline void __stcs(T* p, emulation::Operand<T> v) { *p = v; }
template <class T>
inline void __stwb(T* p, emulation::Operand<T> v) { *p = v; }

// --- what emulated.py asks of the compiled file -----------------------------

namespace emulation {

// A kernel's parameters, two characters each: p8 a pointer, i4 an integer of
// four bytes, ?? what a launch cannot pass.
template <class F>
struct Signature;
template <class... P>
struct Signature<void(P...)> {
    static constexpr char kind(bool pointer, bool integer) {
        return pointer ? 'p' : integer ? 'i' : '?';
    }
    static constexpr char text[] = {
        kind(std::is_pointer_v<P>, std::is_integral_v<P>)..., '/',
        char(std::is_pointer_v<P> || std::is_integral_v<P> ? '0' + sizeof(P) : '?')..., 0};
};

}  // namespace emulation

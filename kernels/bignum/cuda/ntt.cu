// Products of long numbers by number-theoretic transforms modulo p = 2^64 - 2^32 + 1.
//
// A number is a polynomial in 2^16. A transform of N = N1 N2 points is done in two passes over
// memory (Bailey's four steps, without transposing): N1-point transforms down the columns of a
// matrix N1 x N2, multiplication by powers of the N-th root, and N2-point transforms along its
// rows. Every transform runs in shared memory, decimated in frequency forwards and in time
// backwards, so that nothing is ever put in bit order. Products of N <= 2^22 digits have sums
// below N 2^32 < p, and are exact.
//
// blockIdx.y is the number of a product in its batch, all products of which have the same size N.
#include "team.hpp"

#if !defined(DYNAMIC_SHARED)
#define DYNAMIC_SHARED(T, name) extern __shared__ T name[]
#endif

namespace {

constexpr u64 P = 0xFFFFFFFF00000001;
constexpr u64 EPSILON = 0xFFFFFFFF;  // 2^64 mod p
constexpr u32 THREADS = 256;
constexpr u32 ROOT = 11;  // log2 of a table's powers: of the 2^22-th root, or of its 2^11-th power

TEAM_FN u64 add_mod(u64 a, u64 b) {
    const u64 s = a + b;
    return s < a || s >= P ? s - P : s;
}
TEAM_FN u64 sub_mod(u64 a, u64 b) { return a < b ? a - b + P : a - b; }

TEAM_FN u64 mul_mod(u64 a, u64 b) {
#if defined(__CUDA_ARCH__)
    const u64 low = a * b, high = __umul64hi(a, b);
#else
    const unsigned __int128 product = (unsigned __int128)a * b;
    const u64 low = u64(product), high = u64(product >> 64);
#endif
    // 2^96 = -1 and 2^64 = 2^32 - 1
    u64 x = low - (high >> 32);
    if (low < high >> 32) x -= EPSILON;
    const u64 y = (high << 32) - u32(high), s = x + ((high & EPSILON) ? y - (y >> 63 >> 1) : 0);
    const u64 r = s < x ? s + EPSILON : s;
    return r >= P ? r - P : r;
}

// Returns the e-th power of the 2^22-th root of one; e < 2^22.
TEAM_FN u64 power(const u64* __restrict__ roots, u32 e) {
    const u64 coarse = roots[(1 << ROOT) + (e >> ROOT)];
    return e & ((1 << ROOT) - 1) ? mul_mod(coarse, roots[e & ((1 << ROOT) - 1)]) : coarse;
}

// Returns the power of the 2^points_log-th root that a difference is multiplied by.
TEAM_FN u64 turn(const u64* __restrict__ roots, u32 j, u32 half_log, bool back) {
    const u32 e = j << (ROOT - 1 - half_log);
    return roots[(1 << ROOT) + (back && e ? (1 << ROOT) - e : e)];
}

// Transforms 2^n_log points, `apart` columns of them side by side: point i of column c is x[i *
// apart + c]. Forwards the result is in bit-reversed order; backwards the points are taken in
// that order, and the result is multiplied by 2^n_log.
TEAM_FN void transform(u64* x, u32 n_log, u32 apart, const u64* __restrict__ roots, bool back) {
    const u32 pairs = apart << n_log >> 1;
    for (u32 stage = 0; stage < n_log; stage++) {
        const u32 half_log = back ? stage : n_log - 1 - stage, half = 1u << half_log;
        for (u32 t = threadIdx.x; t < pairs; t += THREADS) {
            const u32 b = t / apart, j = b & (half - 1);
            const u32 at = ((b - j) * 2 + j) * apart + t % apart, to = at + half * apart;
            const u64 u = x[at], v = x[to], w = turn(roots, j, half_log, back);
            if (back) {
                const u64 z = mul_mod(v, w);
                x[at] = add_mod(u, z), x[to] = sub_mod(u, z);
            } else {
                x[at] = add_mod(u, v), x[to] = mul_mod(sub_mod(u, v), w);
            }
        }
        __syncthreads();
    }
}

TEAM_FN u32 reversed(u32 i, u32 bits) { return bits ? __brev(i) >> (32 - bits) : 0; }

// What a product is made of: the same structure as in rows.cu.
struct LongPair {
    u64 a, a_length, b, b_length, to, room;
};

TEAM_FN u32 digit(const u32* words, u64 length, u64 n) {
    return n / 2 < length ? words[n / 2] >> (n % 2 * 16) & 0xFFFF : 0;
}

// Two words from about bit 16 n of the sum of points[i] 2^(16 i) on: what points 2 k and 2 k + 1
// add to words k, k + 1 and k + 2.
struct Spread {
    u32 low, middle, high;
};
TEAM_FN Spread spread(const u64* points, u64 count, long long k) {
    if (k < 0 || u64(k) * 2 >= count) return {0, 0, 0};
    const u64 a = points[2 * k], b = points[2 * k + 1];
    const u64 low = a + (b << 16), high = (b >> 48) + (low < a);
    return {u32(low), u32(low >> 32), u32(high)};
}

// Returns word k of the sum and, above it, what it carries over, which is at most two.
TEAM_FN u64 column(const u64* points, u64 count, long long k) {
    return u64(spread(points, count, k).low) + spread(points, count, k - 1).middle +
           spread(points, count, k - 2).high;
}

}  // namespace

// Sets points[j N2 + c] to point j of the transform of column c, in bit-reversed order and
// multiplied by its power of the root. second: take b; else a.
extern "C" __global__ void __launch_bounds__(THREADS)
    ntt_columns(const u32* __restrict__ words, const LongPair* __restrict__ longs, u32 second,
                u32 n1_log, u32 n2_log, u32 apart, const u64* __restrict__ roots,
                u64* __restrict__ points) {
    DYNAMIC_SHARED(u64, x);
    const LongPair item = longs[blockIdx.y];
    const u32* at = words + (second ? item.b : item.a);
    const u64 length = second ? item.b_length : item.a_length;
    const u32 n = apart << n1_log, first = blockIdx.x * apart, n_log = n1_log + n2_log;
    for (u32 t = threadIdx.x; t < n; t += THREADS)
        x[t] = digit(at, length, (u64(t / apart) << n2_log) + first + t % apart);
    __syncthreads();
    transform(x, n1_log, apart, roots, false);
    u64* to = points + (u64(blockIdx.y) << n_log);
    for (u32 t = threadIdx.x; t < n; t += THREADS) {
        const u32 j = t / apart, c = first + t % apart;
        const u32 e = reversed(j, n1_log) * c << (2 * ROOT - n_log);
        to[(u64(j) << n2_log) + c] = mul_mod(x[t], power(roots, e));
    }
}

// Transforms rows of a and b, multiplies them, and transforms back, into a's place. The result
// is multiplied by `scale`, one over the number of points.
extern "C" __global__ void __launch_bounds__(THREADS)
    ntt_rows(u64* __restrict__ a, const u64* __restrict__ b, u32 n1_log, u32 n2_log,
             const u64* __restrict__ roots, u64 scale) {
    DYNAMIC_SHARED(u64, x);
    const u32 n = 1u << n2_log, n_log = n1_log + n2_log, j = blockIdx.x;
    const u64 row = (u64(blockIdx.y) << n_log) + (u64(j) << n2_log);
    u64* const y = x + n;
    for (u32 t = threadIdx.x; t < n; t += THREADS) x[t] = a[row + t], y[t] = b[row + t];
    __syncthreads();
    transform(x, n2_log, 1, roots, false);
    transform(y, n2_log, 1, roots, false);
    for (u32 t = threadIdx.x; t < n; t += THREADS) x[t] = mul_mod(x[t], y[t]);
    __syncthreads();
    transform(x, n2_log, 1, roots, true);
    for (u32 t = threadIdx.x; t < n; t += THREADS) {
        const u32 e = reversed(j, n1_log) * t << (2 * ROOT - n_log);
        const u64 w = power(roots, e ? (1u << 2 * ROOT) - e : 0);
        a[row + t] = mul_mod(mul_mod(x[t], w), scale);
    }
}

// Transforms columns back, in place.
extern "C" __global__ void __launch_bounds__(THREADS)
    ntt_back(u64* __restrict__ points, u32 n1_log, u32 n2_log, u32 apart,
             const u64* __restrict__ roots) {
    DYNAMIC_SHARED(u64, x);
    const u32 n = apart << n1_log, first = blockIdx.x * apart;
    u64* at = points + (u64(blockIdx.y) << (n1_log + n2_log)) + first;
    for (u32 t = threadIdx.x; t < n; t += THREADS)
        x[t] = at[(u64(t / apart) << n2_log) + t % apart];
    __syncthreads();
    transform(x, n1_log, apart, roots, true);
    for (u32 t = threadIdx.x; t < n; t += THREADS)
        at[(u64(t / apart) << n2_log) + t % apart] = x[t];
}

// Writes the words of the sum, without the carries that come into each warp's part of `stretch`
// words. marks[warp] says whether the part makes a carry (1) or would pass one on (2).
extern "C" __global__ void __launch_bounds__(THREADS)
    ntt_words(const u64* __restrict__ points, const LongPair* __restrict__ longs, u32 n_log,
              u32* __restrict__ words, u32 stretch, u32 stretches, u32* __restrict__ marks) {
    const Team<WARP> team(threadIdx.x % WARP);
    const u32 part = (blockIdx.x * THREADS + threadIdx.x) / WARP;
    if (part >= stretches) return;
    const LongPair item = longs[blockIdx.y];
    const u64* at = points + (u64(blockIdx.y) << n_log);
    const u64 count = u64(1) << n_log, begin = u64(part) * stretch;
    u32 carry = 0;
    bool ones = true;
    for (u32 first = 0; first < stretch && begin + first < item.room; first += WARP) {
        const u64 k = begin + first + team.rank;
        const u32 below = u32(column(at, count, (long long)k - 1) >> 32);
        u32 s = u32(column(at, count, (long long)k)) + below;
        s += team.ripple(s < below, s == ALL, carry);
        if (k < item.room) words[item.to + k] = s;
        ones = ones && team.votes(s == ALL) == ALL;
    }
    if (team.rank == 0) marks[u64(blockIdx.y) * stretches + part] = carry | (ones ? 2 : 0);
}

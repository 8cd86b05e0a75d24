// Pairs of numbers in shared or global memory, 32 / TEAM to a warp.
//
// Macros: TEAM threads have a pair together, a power of two, up to 32; CHUNK limbs are read at
// a time, ahead of their use.
#pragma once
#include "gcd.hpp"

#define THREADS 32
#define BLOCKS 1
#ifndef TEAM
#define TEAM 1
#endif
#ifndef CHUNK
#define CHUNK 4
#endif

namespace {

constexpr u32 PAIRS = LANES / TEAM;  // of a warp; lanes i, i + PAIRS, ... are a team

// The limbs of a pair, x of a and y of b; they lie beside those of the warp's other pairs.
struct Limbs {
    uint2* at;
    __device__ __forceinline__ uint2& operator[](int i) const { return at[i * int(PAIRS)]; }
};

__device__ __forceinline__ u32 limb_of(const Words& from, const Operands& shift, u32 i) {
    const u32 bit = 31 * i + shift.bits, j = shift.words + bit / 32;
    return __funnelshift_r(from[j], from[j + 1], bit % 32) & LIMB;
}

// A bit for each thread of the team that has pair 0.
constexpr u32 TEAM_MASK = TEAM == 1 ? 1 : u32(0xFFFFFFFFull / ((1ull << PAIRS) - 1));

// Finds the top limbs of both numbers; lowers n, by whole chunks, while they are only signs. The
// threads of a team look at neighbouring limbs.
__device__ __forceinline__ Tops find_tops(const Limbs& limbs, int& n, bool done) {
    constexpr int STEP = TEAM * CHUNK;
    const u32 own = threadIdx.x % PAIRS;
    const int part = threadIdx.x % LANES / PAIRS;
    Tops t;
    const uint2 top = limbs[n - 1], lowest = limbs[0];
    t.sa = u32(s32(top.x) >> 31);
    t.sb = u32(s32(top.y) >> 31);
    t.a0 = lowest.x;
    t.b0 = lowest.y;
    t.many = false;
    int at = 1, clear = 0;
    bool signs = true;
    for (int base = n; base > 2; base -= TEAM) {
        const int i = base - 1 - part;
        u32 used = 0;
        if (i > 1) {
            const uint2 limb = limbs[i];
            used = ((limb.x ^ t.sa) | (limb.y ^ t.sb)) & LIMB;
        }
        const u32 lanes = __ballot_sync(ALL, used != 0), mine = lanes >> own & TEAM_MASK;
        signs = signs && !lanes;
        if (signs) clear += TEAM;
        if (!t.many && mine) {
            at = base - 1 - (__ffs(s32(mine)) - 1) / int(PAIRS);
            t.many = true;
        }
        if (__all_sync(ALL, t.many || done)) break;
    }
    const uint2 high = limbs[at], low = limbs[at - 1];
    t.ah = (high.x ^ t.sa) & LIMB;
    t.al = (low.x ^ t.sa) & LIMB;
    t.bh = (high.y ^ t.sb) & LIMB;
    t.bl = (low.y ^ t.sb) & LIMB;
    const int drop = min(clear, n - TEAM - STEP) / STEP * STEP;
    if (drop) {
        n -= drop;
        __syncwarp();
        if (part == 0) {
            limbs[n - 1].x |= t.sa & ~LIMB;
            limbs[n - 1].y |= t.sb & ~LIMB;
        }
        __syncwarp();
    }
    return t;
}

// Applies a matrix to both numbers. Each thread of a team has n / TEAM limbs. The lowest limb
// that a thread makes waits for the carries of the others, as its place is at the top of the
// limbs of the thread before.
__device__ __forceinline__ void update(const Limbs& limbs, const Matrix& m, int n) {
    const int part = threadIdx.x % LANES / PAIRS, size = n / TEAM;  // CHUNK * something + 1
    const int start = part * size;
    Row to_a = {m.f0, m.g0, 0}, to_b = {m.f1, m.g1, 0};
    uint2 next[CHUNK];
    const uint2 first = limbs[start];
#pragma unroll
    for (int k = 0; k < CHUNK; k++) next[k] = limbs[start + 1 + k];
    const u32 low_a = to_a(first.x, first.y), low_b = to_b(first.x, first.y);
    for (int i = start; i < start + size - 1; i += CHUNK) {
        uint2 chunk[CHUNK];
        const int ahead = min(i + CHUNK, start + size - 1 - CHUNK);
#pragma unroll
        for (int k = 0; k < CHUNK; k++) {
            chunk[k] = next[k];
            next[k] = limbs[ahead + 1 + k];
        }
#pragma unroll
        for (int k = 0; k < CHUNK; k++) {
            const u32 a = to_a(chunk[k].x, chunk[k].y), b = to_b(chunk[k].x, chunk[k].y);
            limbs[i + k] = make_uint2(a, b);
        }
    }
    const uint2 carry = make_uint2(u32(to_a.carry), u32(to_b.carry));
    if constexpr (TEAM == 1) {
        limbs[n - 1] = carry;
        return;
    }
    const s64 a = s64(low_a) + s32(__shfl_up_sync(ALL, carry.x, PAIRS));
    const s64 b = s64(low_b) + s32(__shfl_up_sync(ALL, carry.y, PAIRS));
    s32 more_a = 0, more_b = 0;  // each is 1, 0 or -1
    if (part) {
        limbs[start - 1] = make_uint2(u32(a) & LIMB, u32(b) & LIMB);
        more_a = s32(a >> 31);
        more_b = s32(b >> 31);
    }
    if (part == TEAM - 1) limbs[n - 1] = carry;
    // All threads go up at the same pace, so that no two change one limb at the same time.
    for (int i = start; __any_sync(ALL, more_a | more_b); i++) {
        __syncwarp();
        if (!(more_a | more_b)) continue;
        const uint2 limb = limbs[i];
        u32 x = limb.x + u32(more_a), y = limb.y + u32(more_b);
        if (i < n - 1) {
            more_a = x >> 31 ? more_a : 0;
            more_b = y >> 31 ? more_b : 0;
            x &= LIMB;
            y &= LIMB;
        } else {
            more_a = more_b = 0;
        }
        limbs[i] = make_uint2(x, y);
    }
    __syncwarp();
}

// A division in memory. 2 * PAIRS * limbs words from `room` on are the warp's own, all lanes of
// which call each function together. limbs: TEAM times a number that is one above a multiple of
// CHUNK.
struct Division {
    Limbs x;
    int limbs, n;
    u32 sign;

    __device__ Division(uint2* room, int limbs)
        : x{room + threadIdx.x % PAIRS}, limbs(limbs), n(0), sign(0) {}

    __device__ __forceinline__ void run(const Operands& operands) {
        for (int i = threadIdx.x % LANES / PAIRS; i < limbs; i += TEAM)
            x[i] = make_uint2(limb_of(operands.a, operands, i), limb_of(operands.b, operands, i));
        __syncwarp();
        n = limbs;
        bool done = false;
        for (;;) {
            const Tops tops = find_tops(x, n, done);
            sign = tops.sb;
            const Pair62 y = approximate(tops);
            const bool perhaps = !done && !(y.ah | y.al);
            if (__any_sync(ALL, perhaps)) {
                u32 any = 0;
                for (int i = 0; i < n; i++) any |= x[i].x;
                done |= perhaps && !any;
                if (__all_sync(ALL, done)) return;
            }
            update(x, find_matrix(y, tops.sa, tops.sb), n);
        }
    }

    // Tells whether the divisor is above its power of two. What is left without that is odd,
    // so that no carry leaves the lowest limb.
    __device__ __forceinline__ bool above_one() const {
        u32 rest = ((x[0].y ^ sign) - sign) & LIMB & ~1u;
        for (int i = 1; i < n; i++) rest |= (x[i].y ^ sign) & LIMB;
        return rest != 0;
    }

    __device__ __forceinline__ void write(Result& result) const {
        // Words are made from one limb after the other; `have` bits of `rest` are
        // waiting.
        u32 rest = 0, have = 0;
        for (int i = 0; i < n; i++) {
            const u32 limb = ((x[i].y ^ sign) - (i ? 0 : sign)) & LIMB;
            rest |= limb << have;
            if (have) {
                result.put(rest);
                rest = limb >> (32 - have);
                have--;
            } else {
                have = 31;
            }
        }
        result.put(rest);
    }
};

}  // namespace

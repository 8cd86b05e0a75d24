// A pair of numbers in the registers of a thread.
//
// Macro WORDS: of the longest number. Registers cannot be indexed: so there is code for every
// number of limbs, in steps, that the numbers may have come down to.
#pragma once
#include "gcd.hpp"

#define THREADS 256
#define BLOCKS (WORDS > 16 ? 2 : 3)
#define TEAM 1

namespace {

constexpr u32 PAIRS = LANES / TEAM;  // of a warp
constexpr int MIN_LIMBS = 3;
constexpr int STRIDE = WORDS > 12 ? 3 : 2;  // limbs from one stage to the next
constexpr int LIMBS = (32 * WORDS + 30) / 31 < MIN_LIMBS ? MIN_LIMBS : (32 * WORDS + 30) / 31;

struct State {
    u32 a[LIMBS], b[LIMBS];
    Tops tops;
    Matrix matrix;
    int n;  // limbs in use, the same in all lanes of a warp: so these do not diverge
    bool done;
};

// The code for one number of limbs, as registers cannot be indexed.
template <int N>
struct Stage {
    static constexpr bool LOWEST = N - STRIDE < MIN_LIMBS;
    static constexpr int WINDOW = N - STRIDE - 2 < 2 ? 2 : N - STRIDE - 2;

    static __device__ __forceinline__ void update(State& s) {
        const Matrix& m = s.matrix;
        Row to_a = {m.f0, m.g0, 0}, to_b = {m.f1, m.g1, 0};
        to_a(s.a[0], s.b[0]);
        to_b(s.a[0], s.b[0]);
#pragma unroll
        for (int i = 1; i < N; i++) {
            const u32 a = to_a(s.a[i], s.b[i]), b = to_b(s.a[i], s.b[i]);
            s.a[i - 1] = a;
            s.b[i - 1] = b;
        }
        s.a[N - 1] = u32(to_a.carry);
        s.b[N - 1] = u32(to_b.carry);
    }

    template <int FROM, int TO>
    static __device__ __forceinline__ void look(const State& s, Tops& t) {
#pragma unroll
        for (int i = FROM; i < TO; i++) {
            if (((s.a[i] ^ t.sa) | (s.b[i] ^ t.sb)) & LIMB) {
                t.ah = s.a[i];
                t.al = s.a[i - 1];
                t.bh = s.b[i];
                t.bl = s.b[i - 1];
                t.many = true;
            }
        }
    }

    static __device__ __forceinline__ void find_tops(State& s) {
        Tops t;
        t.sa = u32(s32(s.a[N - 1]) >> 31);
        t.sb = u32(s32(s.b[N - 1]) >> 31);
        t.a0 = s.a[0];
        t.b0 = s.b[0];
        t.ah = s.a[1];
        t.al = s.a[0];
        t.bh = s.b[1];
        t.bl = s.b[0];
        t.many = false;
        look<WINDOW, N>(s, t);
        if (WINDOW > 2 && __any_sync(ALL, !t.many && !s.done)) {
            Tops low = t;
            look<2, WINDOW>(s, low);
            if (!t.many) t = low;
        }
        t.ah = (t.ah ^ t.sa) & LIMB;
        t.al = (t.al ^ t.sa) & LIMB;
        t.bh = (t.bh ^ t.sb) & LIMB;
        t.bl = (t.bl ^ t.sb) & LIMB;
        if (!LOWEST) {
            u32 used = 0;
#pragma unroll
            for (int i = N - STRIDE; i < N; i++) used |= (s.a[i] ^ t.sa) | (s.b[i] ^ t.sb);
            if (__all_sync(ALL, !(used & LIMB))) {
                s.a[N - STRIDE - 1] |= t.sa & ~LIMB;
                s.b[N - STRIDE - 1] |= t.sb & ~LIMB;
                s.n = N - STRIDE;
            }
        }
        s.tops = t;
    }

    static __device__ __forceinline__ void advance(State& s, bool first) {
        if (s.n == N || LOWEST) {
            if (!first) update(s);
            find_tops(s);
        } else {
            Stage<LOWEST ? N : N - STRIDE>::advance(s, first);
        }
    }
};

__device__ __forceinline__ void load(const Words& from, const Operands& shift, u32* limbs) {
    u32 words[WORDS + 1];
    u32 next = from[shift.words];
#pragma unroll
    for (int i = 0; i < WORDS; i++) {
        const u32 word = next;
        next = from[shift.words + i + 1];
        words[i] = __funnelshift_r(word, next, shift.bits);
    }
    words[WORDS] = 0;
#pragma unroll
    for (int i = 0; i < LIMBS; i++) {
        const int j = 31 * i / 32;
        if (j < WORDS)
            limbs[i] = __funnelshift_r(words[j], words[j + 1], u32(31 * i % 32)) & LIMB;
        else
            limbs[i] = 0;
    }
}

// A division in registers. All lanes of a warp call each function together.
struct Division {
    State s;

    __device__ Division(uint2*, int) {}

    __device__ __forceinline__ void run(const Operands& operands) {
        load(operands.a, operands, s.a);
        load(operands.b, operands, s.b);
        s.n = LIMBS;
        s.done = false;
        for (bool first = true;; first = false) {
            Stage<LIMBS>::advance(s, first);
            const Pair62 x = approximate(s.tops);
            const bool perhaps = !s.done && !(x.ah | x.al);
            if (__any_sync(ALL, perhaps)) {
                u32 any = 0;
#pragma unroll
                for (int i = 0; i < LIMBS; i++)
                    if (i < s.n) any |= s.a[i];
                s.done |= perhaps && !any;
                if (__all_sync(ALL, s.done)) break;
            }
            s.matrix = find_matrix(x, s.tops.sa, s.tops.sb);
        }
        // The magnitude of b.
        u32 carry = s.tops.sb & 1;
#pragma unroll
        for (int i = 0; i < LIMBS; i++) {
            const u32 limb = i < s.n ? ((s.b[i] ^ s.tops.sb) & LIMB) + carry : 0;
            s.b[i] = limb & LIMB;
            carry = limb >> 31;
        }
    }

    // Tells whether the divisor is above its power of two.
    __device__ __forceinline__ bool above_one() const {
        u32 rest = s.b[0] & ~1u;
#pragma unroll
        for (int i = 1; i < LIMBS; i++) rest |= s.b[i];
        return rest != 0;
    }

    __device__ __forceinline__ void write(Result& result) const {
#pragma unroll
        for (int i = 0; i < WORDS; i++) {
            const int j = 32 * i / 31, low = 32 * i % 31;
            result.put(s.b[j] >> low | (j + 1 < LIMBS ? s.b[j + 1] << (31 - low) : 0));
        }
    }
};

}  // namespace

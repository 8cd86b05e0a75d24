// Greatest common divisors of rows of words, in lanes. Compiled as lanes.cpp.
#include "lane_gcd.hpp"

namespace {

using namespace bignum;

constexpr int GROUPS = int(GCD_ROWS / LANES_COUNT);

INLINE i64 padded_limbs(i64 width) { return limbs_for(width) + 2; }

}  // namespace

namespace bignum {

i64 gcd_scratch(i64 width) {
    return LANES * (round_up(width, 8) + 1 + 2 * GROUPS * padded_limbs(width));
}

void gcd_lanes(u64* a, u64* b, i64 width, u64* scratch) {
    V* const words = reinterpret_cast<V*>(scratch);
    V* memory = words + round_up(width, 8) + 1;
    const i64 limbs = limbs_for(width);
    Pairs pairs[GROUPS];
    u64* rows[2 * GROUPS][LANES];
    for (int i = 0; i < 2 * GROUPS; i++) {
        for (int l = 0; l < LANES; l++) rows[i][l] = (i % 2 ? b : a) + (i / 2 * LANES + l) * width;
        gather(words, rows[i], width);
        store(words + width, _mm512_setzero_si512());
        split(memory, limbs, words);
        Pairs& p = pairs[i / 2];
        (i % 2 ? p.b : p.a) = memory;
        p.limbs = limbs;
        // join() reads two limbs past the last.
        for (i64 j = limbs; j < limbs + 2; j++) store(memory + j, _mm512_setzero_si512());
        memory += padded_limbs(width);
    }
    divisors_of<GROUPS>(pairs);
    for (int i = 0; i < GROUPS; i++) {
        join(words, width, pairs[i].b);
        scatter(rows[2 * i + 1], LANES, words, width);
    }
}

}  // namespace bignum

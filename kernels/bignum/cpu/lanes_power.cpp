// Powers modulo odd numbers in lanes, by windows of the exponents' bits. Compiled as lanes.cpp.
#include "gmp_calls.hpp"
#include "lane_montgomery.hpp"

namespace {

using namespace bignum;

constexpr int WIDEST_WINDOW = 6;  // bits

// Returns about a / 2^(52 (used - 3)), from the three uppermost limbs.
INLINE __m512d topmost(const V* a, i64 used) {
    const __m512d base = _mm512_set1_pd(double(i64(1) << BITS));
    __m512d sum = _mm512_setzero_pd();
    for (i64 j = used - 1; j >= used - 3; j--)
        sum = _mm512_fmadd_pd(sum, base, j < 0 ? _mm512_setzero_pd() : _mm512_cvtepu64_pd(load(a + j)));
    return sum;
}

// Computes x = x R modulo m, below 2.75 m, for x below 4 m: some bits at a time, as x 2^s - q m with quotients
// q that may be too small. A quotient is below 2^50 and comes from doubles, wrong by less than 0.75. Made
// smaller by 1, and then rounded down, it leaves at least nothing and less than 2.75 m.
INLINE void times_r(V* x, const Moduli& moduli) {
    constexpr i64 STEP = 48;
    const V* const m = moduli.m;
    const i64 used = moduli.used;
    const __m512d inverse = _mm512_div_pd(_mm512_set1_pd(1), topmost(m, used));
    for (i64 left = BITS * moduli.limbs; left > 0; left -= STEP) {
        const i64 power = i64(1) << (left < STEP ? left : STEP);
        const V times = _mm512_set1_epi64(power);
        const __m512d quotient = _mm512_mul_pd(_mm512_mul_pd(topmost(x, used), inverse),
                                               _mm512_set1_pd(double(power)));
        const V q = _mm512_cvttpd_epu64(
            _mm512_max_pd(_mm512_sub_pd(quotient, _mm512_set1_pd(1)), _mm512_setzero_pd()));
        V carry = zero(), x_high = zero(), m_high = zero();
        for (i64 j = 0; j < used; j++) {
            const V y = load(x + j), z = load(m + j);
            const V plus = _mm512_madd52lo_epu64(x_high, y, times), minus = _mm512_madd52lo_epu64(m_high, z, q);
            x_high = _mm512_madd52hi_epu64(zero(), y, times);
            m_high = _mm512_madd52hi_epu64(zero(), z, q);
            const V sum = _mm512_add_epi64(_mm512_sub_epi64(plus, minus), carry);
            carry = _mm512_srai_epi64(sum, BITS);
            store(x + j, _mm512_and_si512(sum, limb_mask()));
        }
    }
}

// Subtracts m where a number is not below it.
INLINE void subtract_once(V* x, const Moduli& moduli) {
    V borrow = zero();
    for (i64 j = 0; j < moduli.limbs; j++)
        borrow = _mm512_srai_epi64(
            _mm512_add_epi64(_mm512_sub_epi64(load(x + j), load(moduli.m + j)), borrow), BITS);
    const __mmask8 enough = __mmask8(~_mm512_movepi64_mask(borrow));
    borrow = zero();
    for (i64 j = 0; j < moduli.limbs; j++) {
        const V y = load(x + j);
        const V sum = _mm512_add_epi64(_mm512_sub_epi64(y, load(moduli.m + j)), borrow);
        borrow = _mm512_srai_epi64(sum, BITS);
        store(x + j, _mm512_mask_and_epi64(y, enough, sum, limb_mask()));
    }
}

INLINE i64 bits_of(const Number& x) {
    return x.length ? 64 * x.length - __builtin_clzll(x.words[x.length - 1]) : 0;
}

// Returns `window` bits of a number from bit `at` on.
INLINE int digit_of(const Number& x, i64 at, int window) {
    const i64 k = at / 64, s = at % 64;
    u64 bits = k < x.length ? x.words[k] >> s : 0;
    if (s && k + 1 < x.length) bits |= x.words[k + 1] << (64 - s);
    return int(bits & ((u64(1) << window) - 1));
}

// Digits of eight exponents at one place. same: all are equal.
struct Digits {
    V each;
    int first;
    bool same;
};

INLINE Digits digits_of(const Number* exponents, i64 at, int window) {
    alignas(64) i64 each[LANES];
    bool same = true;
    for (int l = 0; l < LANES; l++) {
        each[l] = digit_of(exponents[l], at, window);
        same &= each[l] == each[0];
    }
    return {_mm512_load_si512(each), int(each[0]), same};
}

// How many limbs there are in scratch memory for numbers of so many words.
struct Shape {
    i64 used, limbs;
    int tile;
    explicit Shape(i64 bits) : used(power_limbs(bits)) {
        const i64 count = (used + TILE - 1) / TILE;
        tile = int((used + count - 1) / count);
        limbs = count * tile;
    }
};

// One vector of powers under way. entries: the powers of the base by all digits of a window.
struct Powers {
    Moduli moduli;
    V *result, *entries, *selected;
    const Number* exponents;

    const V* entry(i64 digit) const { return entries + digit * moduli.limbs; }

    // Returns the entry of each lane's digit.
    const V* select(const Digits& digits) {
        if (digits.same) return entry(digits.first);
        const V lanes = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
        const V from = _mm512_add_epi64(
            _mm512_mullo_epi64(digits.each, _mm512_set1_epi64(LANES * moduli.limbs)), lanes);
        for (i64 j = 0; j < moduli.limbs; j++)
            store(selected + j, _mm512_i64gather_epi64(from, entries + j, 8));
        return selected;
    }
};

// How the bits of exponents are taken. same: they are the same number in all lanes.
struct Plan {
    i64 bits;
    int window;
    bool same;
};

INLINE bool same_number(const Number& x, const Number& y) {
    if (x.length != y.length) return false;
    if (x.words == y.words) return true;
    for (i64 k = 0; k < x.length; k++)
        if (x.words[k] != y.words[k]) return false;
    return true;
}

// Chooses the window by which there are the fewest products.
Plan plan_of(const Number* exponents, i64 count) {
    Plan plan = {0, 1, true};
    for (i64 i = 0; i < count; i++) {
        const i64 bits = bits_of(exponents[i]);
        if (bits > plan.bits) plan.bits = bits;
        plan.same &= same_number(exponents[i], exponents[0]);
    }
    i64 least = 0;
    for (int window = 1; window <= WIDEST_WINDOW; window++) {
        i64 products = (i64(1) << window) - 2;
        // Exponents of so few bits may have few that are set, as 65537.
        if (plan.same && plan.bits <= 256)
            for (i64 at = 0; at < plan.bits; at += window) products += digit_of(exponents[0], at, window) != 0;
        else
            products += plan.bits / window;
        if (window == 1 || products < least) {
            least = products;
            plan.window = window;
        }
    }
    return plan;
}

constexpr i64 MOST_GROUPS = POWER_ROWS / LANES_COUNT;

// Vectors of scratch memory for each group of eight.
i64 vectors_for(i64 width) {
    const i64 limbs = Shape(64 * width).limbs + TILE;  // as many as shorter numbers in tiles may have
    return limbs * (2 + 2 + 2 + (i64(1) << WIDEST_WINDOW)) + 8;
}

// Makes the table of powers of one group.
INLINE void fill_entries(Powers& p, const Products& products, const Plan& plan, i64 entries) {
    V* const one = p.entries;
    const i64 limbs = p.moduli.limbs;
    if (!plan.same) {
        for (i64 j = 0; j < limbs; j++) store(one + j, zero());
        store(one, _mm512_set1_epi64(1));
        times_r(one, p.moduli);
    }
    V* const base = p.entries + limbs;
    times_r(base, p.moduli);
    for (i64 k = 2; k < entries; k++) {
        V* const next = p.entries + k * limbs;
        if (k % 2)
            products.multiply(next, next - limbs, base, p.moduli);
        else
            products.square(next, p.entries + k / 2 * limbs, p.moduli);
    }
}

// Raises the bases of all groups, whose moduli and entry 1 are there, and leaves numbers below m.
void raise(Powers* groups, i64 count, const Products& products, const Plan& plan) {
    const int window = plan.window;
    i64 at = (plan.bits + window - 1) / window * window - window;
    for (Powers* p = groups; p < groups + count; p++) {
        fill_entries(*p, products, plan, i64(1) << window);
        const V* const first = p->select(digits_of(p->exponents, at, window));
        for (i64 j = 0; j < p->moduli.limbs; j++) store(p->result + j, load(first + j));
    }
    for (at -= window; at >= 0 && !left(); at -= window) {
        for (int k = 0; k < window; k++)
            for (Powers* p = groups; p < groups + count; p++) products.square(p->result, p->result, p->moduli);
        for (Powers* p = groups; p < groups + count; p++) {
            const Digits digits = digits_of(p->exponents, at, window);
            if (!digits.same || digits.first)
                products.multiply(p->result, p->result, p->select(digits), p->moduli);
        }
    }
    for (Powers* p = groups; p < groups + count; p++) {
        products.divide(p->result, p->result, p->moduli);
        subtract_once(p->result, p->moduli);
    }
}

// Reads eight numbers of mixed lengths as limbs.
INLINE void read_limbs(V* limbs, i64 count, const Number* numbers, i64 width, V* words) {
    gather_mixed(words, numbers, width);
    store(words + width, zero());
    const i64 some = limbs_for(width) < count ? limbs_for(width) : count;
    split(limbs, some, words);
    for (i64 j = some; j < count; j++) store(limbs + j, zero());
}

}  // namespace

namespace bignum {

i64 power_scratch(i64 width) { return LANES * (MOST_GROUPS * vectors_for(width) + round_up(width, 8) + 1); }

void power_lanes(const Number* bases, const Number* exponents, const Number* moduli, u64* const* results,
                 i64 rows, u64* scratch) {
    i64 width = 1, bits = 1;
    for (i64 i = 0; i < rows; i++) {
        if (moduli[i].length > width) width = moduli[i].length;
        if (bits_of(moduli[i]) > bits) bits = bits_of(moduli[i]);
    }
    const Shape shape(bits);
    const Plan plan = plan_of(exponents, rows);
    V* const words = reinterpret_cast<V*>(scratch);
    V* memory = words + round_up(width, 8) + 1;
    Powers groups[MOST_GROUPS];
    const i64 count = (rows + LANES - 1) / LANES;
    for (i64 g = 0; g < count; g++) {
        Powers& p = groups[g];
        p.moduli = {memory, zero(), shape.used, shape.limbs, memory + 2 * shape.limbs + 3};
        p.result = memory + shape.limbs;  // join() reads two limbs past the last, and one more word's
        p.selected = p.moduli.columns + 2 * shape.limbs;
        p.entries = p.selected + shape.limbs;
        p.exponents = exponents + g * LANES;
        memory = p.entries + (shape.limbs << plan.window);
        read_limbs(p.moduli.m, shape.limbs, moduli + g * LANES, width, words);
        p.moduli.inverse = negative_inverse(load(p.moduli.m));
        read_limbs(p.entries + shape.limbs, shape.limbs, bases + g * LANES, width, words);
        for (i64 j = 0; j < 3; j++) store(p.result + shape.limbs + j, zero());
    }
    // Short numbers by turns: what one group waits for, the other computes meanwhile.
    const i64 at_once = shape.limbs > TILE ? 1 : count;
    for (i64 g = 0; g < count; g += at_once) raise(groups + g, at_once, products_of_tile[shape.tile], plan);
    for (i64 g = 0; g < count; g++) {
        i64 lengths[LANES];
        for (int l = 0; l < LANES; l++) lengths[l] = results[g * LANES + l] ? moduli[g * LANES + l].length : 0;
        join(words, width, groups[g].result);
        scatter_mixed(results + g * LANES, lengths, words, width);
    }
}

}  // namespace bignum

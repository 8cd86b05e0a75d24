// Powers of slabs of numbers modulo slabs of numbers on a CUDA device; each lane has one number.
//
// Exponents are taken WINDOW bits at a time from the top, by a table of the lowest powers;
// digits that are zero in all lanes of a warp cost no product. Odd moduli of up to W words go
// through montgomery, where they are in registers (Montgomery, Modular multiplication without
// trial division, 1985; a word of the reduction after each row); all others go through
// by_division. Either leaves the lanes of the other alone, and passes over whole warps of them
// at once. Each warp has memory of its own, and takes one slab after the other.
//
// Macros: WIDTH, the even number W (PART_WORDS is the same).
#include "long.hpp"

namespace {

constexpr u32 W = PART;

WORDS_FN u32 exponent_digit(const Number& e, int at, int window) {
    const u32 pair = __funnelshift_r(word_at(e, at / 32), word_at(e, at / 32 + 1), u32(at % 32));
    return pair & ((1u << window) - 1);
}

// Copies n words of a.
WORDS_FN void copy(u32* to, const u32* a, int n) {
    for (int i = 0; i < n; i++) to[i * STEP] = a[i * STEP];
}

// Writes the result as Python has it, with the sign of m, from the power modulo |m|. Returns
// whether it is negative.
WORDS_FN bool give_out(u32* to, int width, const u32* power, int n, const Number& m) {
    u32 any = 0, borrow = 0;
    for (int i = 0; i < n; i++) any |= power[i * STEP];
    const bool flip = m.negative && any;
    for (int i = 0; i < width; i++) {
        u32 word = i < n ? power[i * STEP] : 0;
        if (flip) {
            const u64 rest = u64(word_at(m, i)) - word - borrow;
            borrow = u32(rest >> 63);
            word = u32(rest);
        }
        to[i * STEP] = word;
    }
    return flip;
}

// Computes u = |a| mod |m|, or |m| less that where a is negative, shifted up. u has room for
// a.width + n words, v is |m| shifted up, of n words, and q has room for a.width.
WORDS_FN void reduce(u32* u, const Number& a, const u32* v, int n, const Shift& shift, u32 length,
                     u32* q) {
    const u32 bits = bit_length(a);
    const int steps = int(most(bits > length ? (bits - length + 31) / 32 : 0));
    shift_up(u, steps + n, a, shift);
    long_reduce(u + steps * STEP, v, n);
    long_divide(u, steps, v, n, q);
    u32 left = 0;
    for (int i = 0; i < n; i++) left |= u[i * STEP];
    if (left && a.negative) long_minus(u, v, u, n);
}

// The sum of the rows of a product, to which multiples of the modulus have been added, so that
// the lowest word became zero each time. As Rows, but with a bit above all words: the sum is
// below twice the modulus, which may have all its bits.
struct Residue {
    static constexpr int P = W / 2;
    u64 x[P], y[P];
    u32 above;

    WORDS_FN void row(const u32 (&a)[W], u32 b, const u32 (&m)[W], u32 inverse) {
        u64 even[P], odd[P];
        const u32 low = add_cc(low_word(y[0]), high_word(x[0]));
#pragma unroll
        for (int j = 0; j < P - 1; j++) odd[j] = madc_cc(a[2 * j + 1], b, x[j + 1]);
        odd[P - 1] = madc_cc(a[W - 1], b, pair_of(0, above));
        above = addc(0, 0);
        even[0] = mad_cc(a[0], b, pair_of(low, high_word(y[0])));
#pragma unroll
        for (int j = 1; j < P; j++) even[j] = madc_cc(a[2 * j], b, y[j]);
        u32 top = addc_cc(high_word(odd[P - 1]), 0);
        above = addc(above, 0);
        odd[P - 1] = pair_of(low_word(odd[P - 1]), top);

        const u32 factor = low_word(even[0]) * inverse;
        y[0] = mad_cc(m[1], factor, odd[0]);
#pragma unroll
        for (int j = 1; j < P; j++) y[j] = madc_cc(m[2 * j + 1], factor, odd[j]);
        above = addc(above, 0);
        x[0] = mad_cc(m[0], factor, even[0]);
#pragma unroll
        for (int j = 1; j < P; j++) x[j] = madc_cc(m[2 * j], factor, even[j]);
        top = addc_cc(high_word(y[P - 1]), 0);
        above = addc(above, 0);
        y[P - 1] = pair_of(low_word(y[P - 1]), top);
    }
};

// Computes a = a b / 2^(32 W) modulo m, where b is in memory; a and b are below m.
WORDS_FN void multiply(u32 (&a)[W], const u32* b, const u32 (&m)[W], u32 inverse) {
    Residue sum;
#pragma unroll
    for (int j = 0; j < Residue::P; j++) sum.x[j] = sum.y[j] = 0;
    sum.above = 0;
    u32 next = b[0], after = b[STEP];
#pragma unroll 2
    for (int i = 0; i < int(W); i++) {
        const u32 now = next;
        next = after;
        if (i + 2 < int(W)) after = b[(i + 2) * STEP];
        sum.row(a, now, m, inverse);
    }
    u32 word[W], less[W];
    word[0] = add_cc(low_word(sum.y[0]), high_word(sum.x[0]));
#pragma unroll
    for (int j = 1; j < Residue::P; j++) {
        word[2 * j - 1] = addc_cc(high_word(sum.y[j - 1]), low_word(sum.x[j]));
        word[2 * j] = addc_cc(low_word(sum.y[j]), high_word(sum.x[j]));
    }
    word[W - 1] = addc_cc(high_word(sum.y[W / 2 - 1]), 0);
    const u32 above = addc(sum.above, 0);
    less[0] = sub_cc(word[0], m[0]);
#pragma unroll
    for (u32 j = 1; j < W; j++) less[j] = subc_cc(word[j], m[j]);
    const bool below = subc(above, 0) >> 31;
#pragma unroll
    for (u32 j = 0; j < W; j++) a[j] = below ? word[j] : less[j];
}

WORDS_FN void store(u32* to, const u32 (&a)[W]) {
#pragma unroll
    for (int j = 0; j < int(W); j++) to[j * STEP] = a[j];
}

}  // namespace

// Computes powers modulo odd moduli of at most W words. scratch: `room` words for each thread,
// at least (2^window + 2) W.
extern "C" __global__ void __launch_bounds__(64)
montgomery(const u32* a_words, const u32* a_negative, u32 a_width, u32 a_form,
           const u32* e_words, const u32* e_negative, u32 e_width, u32 e_form,
           const u32* m_words, const u32* m_negative, u32 m_width, u32 m_form,
           u32* out_words, u32* out_negative, u32 out_width, u32 is_signed,
           int window, u32* scratch, u32 room, u64 count) {
    const int n = int(W);
    const u64 stride = u64(gridDim.x) * blockDim.x;
    u32* const table = scratch + word_of(thread_index(), room);
    u32* const own = table + (n << window) * STEP;
    u32* const shifted = own + n * STEP;
    for (u64 k = thread_index(); k / SLAB * SLAB < count; k += stride) {
        const bool live = k < count;
        const Number a = number(a_words, a_negative, a_width, a_form, k, live);
        const Number e = number(e_words, e_negative, e_width, e_form, k, live);
        const Number m = number(m_words, m_negative, m_width, m_form, k, live);
        const bool odd = word_at(m, 0) & 1;
        if (!__any_sync(ALL, odd)) continue;
        // Where m is even, this lane does the same as the others with a modulus of 1.
        const u32 length = odd ? bit_length(m) : 1;
        const Shift shift(32 * W - length);

        // Needed are 1 and a, times 2^(32 W), modulo m: the division gets that many
        // words more.
        u32 factor[W], modulus[W];
        {
            Divisor<W> divisor;
#pragma unroll
            for (int j = 0; j < n; j++) factor[j] = odd ? shift(m, j) : j + 1 == n ? 1u << 31 : 0;
            divisor.set(factor);
            for (int power = 0; power < 2; power++) {
                const u32 bits = power ? bit_length(a) : 0;
                const int steps = int(most(bits > length ? (bits - length + 31) / 32 : 0));
#pragma unroll
                for (int j = 0; j < n; j++) {
                    const u32 one = j == shift.words ? 1u << shift.bits : 0;
                    factor[j] = power ? shift(a, steps + j) : one;
                }
                divisor.reduce(factor);
                for (int i = steps; i-- > 0;) divisor.digit(factor, shift(a, i));
                u32 left = 0;
#pragma unroll
                for (int j = 0; j < n; j++) left |= factor[j];
                if (power && a.negative && left) divisor.complement(factor);
                for (int i = 0; i < n; i++) divisor.digit(factor, 0);
                store(shifted, factor);
                shift_down(table + power * n * STEP, n, shifted, n, shift);
            }
        }
#pragma unroll
        for (int j = 0; j < n; j++) modulus[j] = odd ? word_at(m, j) : j == 0;
        u32 inverse = modulus[0];  // of -m modulo 2^32; right to 3 bits, then twice as many
        for (int i = 0; i < 4; i++) inverse *= 2 - modulus[0] * inverse;
        inverse = 0 - inverse;

        // All factors come through one place, as that is long: the entries of the table,
        // then squares and digits from the top, and last a 1, which takes the 2^(32 W)
        // away.
        bool filling = window > 1, last = false;
        int entry = 2, squares = 0;
        int at = (int(most(bit_length(e))) + window - 1) / window * window - window;
        load(factor, Long{filling ? table + n * STEP : table, n}, 0);
        while (!last) {
            const u32* by = own;
            if (filling) {
                by = table + n * STEP;
            } else if (squares) {
                squares--;
                store(own, factor);
            } else if (at >= 0) {
                const u32 digit = exponent_digit(e, at, window);
                at -= window;
                squares = at >= 0 ? window : 0;
                if (!__any_sync(ALL, digit != 0)) continue;
                by = table + int(digit) * n * STEP;
            } else {
                last = true;
#pragma unroll
                for (int j = 0; j < n; j++) own[j * STEP] = j == 0;
            }
            multiply(factor, by, modulus, inverse);
            if (filling) {
                store(table + entry++ * n * STEP, factor);
                filling = entry < 1 << window;
                if (!filling) load(factor, Long{table, n}, 0);
            }
        }
        store(own, factor);
        bool negative = false;
        if (odd || !live)
            negative = give_out(out_words + word_of(k, out_width), int(out_width), own, n, m);
        if (is_signed) store_signs(out_negative, k, negative);
    }
}

// Computes powers modulo all other moduli. scratch: `room` words for each thread, at least
// (2^window + 4) n + 2 max(a_width, n), where n = max(m_width, GUIDE).
extern "C" __global__ void __launch_bounds__(64)
by_division(const u32* a_words, const u32* a_negative, u32 a_width, u32 a_form,
            const u32* e_words, const u32* e_negative, u32 e_width, u32 e_form,
            const u32* m_words, const u32* m_negative, u32 m_width, u32 m_form,
            u32* out_words, u32* out_negative, u32 out_width, u32 is_signed,
            int window, u32* scratch, u32 room, u64 count) {
    const int n = max(int(m_width), GUIDE), most_words = max(n, int(a_width));
    const u64 stride = u64(gridDim.x) * blockDim.x;
    u32* const table = scratch + word_of(thread_index(), room);
    u32* const v = table + u64(n << window) * SLAB;
    u32* const power = v + u64(n) * SLAB;
    u32* const shifted = power + u64(n) * SLAB;
    u32* const u = shifted + u64(n) * SLAB;
    u32* const q = u + u64(most_words + n) * SLAB;
    for (u64 k = thread_index(); k / SLAB * SLAB < count; k += stride) {
        const bool live = k < count;
        const Number a = number(a_words, a_negative, a_width, a_form, k, live);
        const Number e = number(e_words, e_negative, e_width, e_form, k, live);
        const Number m = number(m_words, m_negative, m_width, m_form, k, live);
        const bool mine = m_width > W || !(word_at(m, 0) & 1);
        if (!__any_sync(ALL, mine && live)) continue;
        u32 length = bit_length(m);
        const bool none = !length;  // past the last number
        if (none) length = 1;
        const Shift shift(u32(32 * n) - length);
        shift_up(v, n, m, shift);
        if (none) v[(n - 1) * STEP] = 1u << 31;

        for (int i = 0; i < n; i++) table[i * STEP] = i == 0 && length > 1;
        reduce(u, a, v, n, shift, length, q);
        shift_down(table + n * STEP, n, u, n, shift);
        const auto multiply_by = [&](const u32* factor) {  // power = power factor modulo m
            shift_up(shifted, n, Number{power, u32(n), ALL, false}, shift);
            long_multiply(u, shifted, n, factor, n);
            long_divide(u, n, v, n, q);
            shift_down(power, n, u, n, shift);
        };
        copy(power, table + n * STEP, n);
        for (int i = 2; i < 1 << window; i++) {
            multiply_by(table + n * STEP);
            copy(table + i * n * STEP, power, n);
        }
        int at = (int(most(bit_length(e))) + window - 1) / window * window;
        copy(power, table, n);
        for (bool first = true; (at -= window) >= 0; first = false) {
            for (int i = 0; i < window && !first; i++) multiply_by(power);
            const u32 digit = exponent_digit(e, at, window);
            if (__any_sync(ALL, digit != 0)) multiply_by(table + int(digit) * n * STEP);
        }
        if (mine) {
            const bool negative =
                give_out(out_words + word_of(k, out_width), int(out_width), power, n, m);
            if (is_signed && negative) atomicOr(out_negative + k / SLAB, 1u << k % SLAB);
        }
    }
}

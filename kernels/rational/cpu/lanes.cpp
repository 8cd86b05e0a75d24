// Sums and products of rationals in lanes (D. Knuth, The Art of Computer Programming, 4.5.1). Compiled for AVX-512
// with IFMA; nothing of the standard library may be instantiated.
#include "../../bignum/cpu/gmp_calls.hpp"
#include "../../bignum/cpu/lane_gcd.hpp"
#include "../../bignum/cpu/lane_products.hpp"
#include "exact.hpp"
#include "ratios.hpp"

namespace {

using namespace bignum;
using namespace rational;

// The most vectors of divisors that are found together. What one waits for, the others compute meanwhile.
constexpr int MOST = 4;

constexpr i64 WORDS = 2 * WIDEST + 16;  // vectors for what is read, and for the longest results

// Memory for vectors, taken piece by piece.
struct Room {
    V* next;
    V* take(i64 count) {
        V* const here = next;
        next += count;
        return here;
    }
};

// Eight numbers of an operand. negative: in which lanes.
struct Column {
    Limbs x;
    __mmask8 negative;
};

// Reads eight numbers. Past the end there is the last one, once more.
INLINE Column read(const Operand& operand, i64 first, i64 last, Room& room, V* words) {
    const u64* rows[LANES];
    Column column = {{room.take(limbs_for(operand.width) + 2), limbs_for(operand.width)}, 0};
    for (int l = 0; l < LANES; l++) {
        const i64 i = place(operand, first + l < last ? first + l : last - 1);
        rows[l] = operand.words + i * operand.step;
        if (operand.negative && operand.negative[i]) column.negative |= __mmask8(1 << l);
    }
    gather(words, rows, operand.width);
    store(words + operand.width, zero());
    split(column.x.at, column.x.count, words);
    return column;
}

// Writes eight numbers, or those before `last`.
INLINE void write(const Result& out, i64 first, i64 last, Limbs x, __mmask8 negative, V* words, Found& found) {
    u64* rows[LANES];
    const int lanes = last - first < LANES ? int(last - first) : LANES;
    if (lanes <= 0) return;
    for (int l = 0; l < LANES; l++) rows[l] = bignum::room(out, first + (l < lanes ? l : 0));
    const i64 needed = (BITS * x.count + 63) / 64, width = needed < out.step ? needed : out.step;
    x.at[x.count] = x.at[x.count + 1] = x.at[x.count + 2] = zero();
    join(words, width, x.at);
    scatter(rows, lanes, words, width);
    for (int l = 0; l < lanes; l++) finish(out, first + l, width, negative >> l & 1, found);
}

// A greatest common divisor: an odd number times 2^twos.
struct Divisor {
    Limbs odd;
    V twos;
};

// Makes ready the divisor of x and y, of which y is not zero: b is the odd part of y.
INLINE Pairs pair_of(Limbs x, Limbs y, V& twos, Room& room) {
    const i64 count = x.count > y.count ? x.count : y.count;
    const Limbs a = {room.take(count), count}, b = {room.take(count), count};
    copy(a, x);
    copy(b, y);
    const V y_twos = trailing_zeros(y);
    twos = _mm512_min_epu64(trailing_zeros(x), y_twos);
    shift_right(b, y_twos);
    return {a.at, b.at, count};
}

template <int G>
INLINE void find_divisors(Pairs* pairs, Divisor* divisors) {
    divisors_of<G>(pairs);
    for (int i = 0; i < G; i++) divisors[i].odd = {pairs[i].b, pairs[i].limbs};
}

// Returns the divisor of a number and another divisor g. The number modulo the odd part of g, times a power of
// two, has as few limbs as that, but one.
INLINE Divisor common_part(Limbs x, const Divisor& g, Room& room) {
    Divisor h = {g.odd, _mm512_min_epu64(trailing_zeros(x), g.twos)};
    if (is_one(g.odd)) return h;
    const Limbs rest = {room.take(x.count + 1), x.count + 1};
    copy(rest, x);
    const Limbs low = remainder_of(rest, g.odd);
    const i64 count = low.count > g.odd.count ? low.count : g.odd.count;
    const Limbs a = {room.take(count), count}, b = {room.take(count), count};
    copy(a, low);
    copy(b, g.odd);
    Pairs pairs = {a.at, b.at, count};
    divisors_of<1>(&pairs);
    h.odd = {pairs.b, pairs.limbs};
    return h;
}

INLINE void divide(Limbs x, const Divisor& g) {
    shift_right(x, g.twos);
    if (!is_one(g.odd)) divide_exactly(x, g.odd);
}

// Returns a product, with room for two limbs more.
INLINE Limbs multiply(Limbs a, Limbs b, Room& room) {
    if (a.count > b.count) return multiply(b, a, room);
    const Limbs product = {room.take(a.count + b.count + 3), a.count + b.count};
    for (i64 j = 0; j < product.count; j++) store(product.at + j, zero());
    for (i64 t = 0; t < a.count; t += TILE)
        tiles[a.count - t < TILE ? a.count - t : TILE](product.at + t, a.at + t, b.at, b.count);
    carry_over(product);
    return product;
}

// Computes sums of up to G vectors of rows: with g = gcd(d1, d2), n = n1 d2 / g ± n2 d1 / g and h = gcd(n, g), the
// sum is n / h over d1 / g d2 / h.
template <int G>
void add(bool subtract, const Ratios& a, const Ratios& b, Results& out, Room room, i64 first, i64 last) {
    V* const words = room.take(WORDS);
    Column n1[G], d1[G], n2[G], d2[G];
    Pairs pairs[G];
    Divisor g[G];
    for (int i = 0; i < G; i++) {
        const i64 start = first + i * LANES;
        n1[i] = read(a.n, start, last, room, words);
        d1[i] = read(a.d, start, last, room, words);
        n2[i] = read(b.n, start, last, room, words);
        d2[i] = read(b.d, start, last, room, words);
        pairs[i] = pair_of(d1[i].x, d2[i].x, g[i].twos, room);
    }
    find_divisors<G>(pairs, g);
    for (int i = 0; i < G; i++) {
        const i64 start = first + i * LANES;
        const Limbs rest = {room.take(d2[i].x.count), d2[i].x.count};
        copy(rest, d2[i].x);
        divide(d1[i].x, g[i]);
        divide(rest, g[i]);
        const Limbs x = multiply(n1[i].x, rest, room), y = multiply(n2[i].x, d1[i].x, room);
        const __mmask8 other = subtract ? __mmask8(~n2[i].negative) : n2[i].negative;
        __mmask8 negative = n1[i].negative;
        const i64 longer = x.count > y.count ? x.count : y.count;
        const Limbs n = {room.take(longer + 4), longer + 1};
        negative ^= add_signed(n, x, y, __mmask8(negative ^ other));
        const Divisor h = common_part(n, g[i], room);
        divide(n, h);
        divide(d2[i].x, h);
        write(out.n, start, last, n, negative, words, out.found_n);
        write(out.d, start, last, multiply(d1[i].x, d2[i].x, room), 0, words, out.found_d);
    }
}

// Computes products of up to G / 2 vectors of rows: each numerator and the other denominator are divided by what
// they share.
template <int G>
void multiply(const Ratios& a, const Ratios& b, Results& out, Room room, i64 first, i64 last) {
    V* const words = room.take(WORDS);
    Column n[G], d[G];  // of a and b by turns
    Pairs pairs[G];
    Divisor g[G];
    for (int i = 0; i < G; i += 2) {
        const i64 start = first + i / 2 * LANES;
        n[i] = read(a.n, start, last, room, words);
        d[i + 1] = read(a.d, start, last, room, words);
        n[i + 1] = read(b.n, start, last, room, words);
        d[i] = read(b.d, start, last, room, words);
        for (int k = i; k < i + 2; k++) pairs[k] = pair_of(n[k].x, d[k].x, g[k].twos, room);
    }
    find_divisors<G>(pairs, g);
    for (int k = 0; k < G; k++) {
        divide(n[k].x, g[k]);
        divide(d[k].x, g[k]);
    }
    for (int i = 0; i < G; i += 2) {
        const i64 start = first + i / 2 * LANES;
        const __mmask8 negative =
            __mmask8(n[i].negative ^ n[i + 1].negative ^ d[i].negative ^ d[i + 1].negative);
        write(out.n, start, last, multiply(n[i].x, n[i + 1].x, room), negative, words, out.found_n);
        write(out.d, start, last, multiply(d[i].x, d[i + 1].x, room), 0, words, out.found_d);
    }
}

i64 scratch(i64 widest) {
    const i64 limbs = limbs_for(widest) + 4;
    return LANES * (WORDS + MOST * 28 * limbs);
}

void compute(Operation operation, const Ratios& a, const Ratios& b, Results& out, u64* memory, i64 first, i64 last) {
    const Room room = {reinterpret_cast<V*>(memory)};
    const bool product = operation == Operation::MULTIPLY, subtract = operation == Operation::SUBTRACT;
    const i64 vector = product ? LANES / 2 : LANES;  // rows for each vector of divisors
    for (i64 i = first; i < last && !left();) {
        // The rest, where it is short, by fewer vectors.
        const bool many = last - i > 2 * vector;
        const i64 some = (many ? MOST : 2) * vector, end = last - i < some ? last : i + some;
        if (product)
            (many ? multiply<MOST> : multiply<2>)(a, b, out, room, i, end);
        else
            (many ? add<MOST> : add<2>)(subtract, a, b, out, room, i, end);
        i = end;
    }
}

}  // namespace

namespace rational {
const RatioLanes ratio_lanes = {scratch, compute};
}

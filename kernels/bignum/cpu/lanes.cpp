// Products in lanes. Compiled for AVX-512 with IFMA; as in bignum.cpp, nothing of the standard
// library may be instantiated.
#include "lanes.hpp"

#include "lane_products.hpp"

namespace {

using namespace bignum;

// How a product of `a` by `b` words is computed, where `a` is the shorter. Its limbs are padded
// with zeros to whole tiles.
struct Shape {
    i64 a, b, a_limbs, b_limbs;
    int tile;
    i64 words;  // vectors of memory: for words, then limbs of a, limbs of b, columns
};

INLINE Shape shape_of(i64 a, i64 b) {
    Shape s;
    s.a = a;
    s.b = b;
    const i64 limbs = limbs_for(a), count = (limbs + TILE - 1) / TILE;
    s.tile = int((limbs + count - 1) / count);
    s.a_limbs = count * s.tile;
    s.b_limbs = limbs_for(b);
    s.words = round_up(a + b, 8) + 1;
    return s;
}

i64 multiply_scratch(i64 a, i64 b) {
    const i64 limbs = limbs_for(a) + limbs_for(b);
    const i64 padding = limbs / TILE + 1;  // to whole tiles, for these widths and all below
    return LANES * (round_up(a + b, 8) + 1 + 2 * (limbs + padding) + 3);
}

// Splits the `width` words that were gathered into limbs.
INLINE void split_padded(V* limbs, i64 count, i64 padded, V* words, i64 width) {
    store(words + width, _mm512_setzero_si512());
    split(limbs, count, words);
    for (i64 j = count; j < padded; j++) store(limbs + j, _mm512_setzero_si512());
}

// Carries the sums of columns, which become limbs in place, and joins these to words. Returns in
// which lanes any word is not zero.
INLINE __mmask8 carry_columns(V* words, i64 width, V* columns, i64 count) {
    V carry = _mm512_setzero_si512(), any = carry;
    for (i64 j = 0; j < count; j++) {
        const V sum = _mm512_add_epi64(load(columns + j), carry);
        const V limb = _mm512_and_si512(sum, limb_mask());
        carry = _mm512_srli_epi64(sum, BITS);
        any = _mm512_or_si512(any, limb);
        store(columns + j, limb);
    }
    join(words, width, columns);
    return _mm512_test_epi64_mask(any, any);
}

INLINE void prefetch_rows(const Operand& x, i64 i, i64 last) {
    if (i >= last || x.count == 1) return;
    const i64 count = last - i < LANES ? last - i : LANES;
    const u64* row = x.words + i * x.step;
    for (i64 l = 0; l < count; l++, row += x.step)
        for (i64 k = 0; k < x.width; k += 8) __builtin_prefetch(row + k, 0, 2);
}

// Multiplies. A, B: the widths where they are known when this is compiled, else 0.
template <int A, int B>
void multiply_widths(const Operand& a, const Operand& b, const Result& out, u64* scratch, i64 first,
                     i64 last, Found& found) {
    const Shape s = shape_of(A ? A : a.width, B ? B : b.width);
    const i64 width = s.a + s.b, columns_count = s.a_limbs + s.b_limbs;
    V* const words = reinterpret_cast<V*>(scratch);
    V *const x = words + s.words, *const y = x + s.a_limbs, *const columns = y + s.b_limbs;
    V tops = _mm512_setzero_si512();
    for (i64 i = first; i < last; i += LANES) {
        const int lanes = last - i < LANES ? int(last - i) : LANES;
        const u64 *a_rows[LANES], *b_rows[LANES];
        u64* rows[LANES];
        for (int l = 0; l < LANES; l++) {
            const i64 at = l < lanes ? i + l : last - 1;
            a_rows[l] = a.words + place(a, at) * a.step;
            b_rows[l] = b.words + place(b, at) * b.step;
            rows[l] = out.words + at * out.step;
        }
        gather(words, a_rows, s.a);
        split_padded(x, limbs_for(s.a), s.a_limbs, words, s.a);
        gather(words, b_rows, s.b);
        split_padded(y, s.b_limbs, s.b_limbs, words, s.b);
        // The caches fetch the next numbers meanwhile, and the places where results are
        // written.
        prefetch_rows(a, i + LANES, last);
        prefetch_rows(b, i + LANES, last);
        for (int l = 0; l < lanes; l++)
            for (i64 k = 0; k < width; k += 8) __builtin_prefetch(rows[l] + k, 1, 2);
        for (i64 j = 0; j < columns_count + 2; j++) store(columns + j, _mm512_setzero_si512());
        if (A)
            add_tile<A ? int((64 * A + BITS - 1) / BITS) : 1>(columns, x, y, s.b_limbs);
        else
            for (i64 t = 0; t < s.a_limbs; t += s.tile)
                tiles[s.tile](columns + t, x + t, y, s.b_limbs);
        const unsigned nonzero = carry_columns(words, width, columns, columns_count);
        scatter(rows, lanes, words, width);
        tops = _mm512_or_si512(tops, load(words + width - 1));
        if (out.negative) {
            for (int l = 0; l < lanes; l++) {
                const bool differ = (a.negative && a.negative[place(a, i + l)]) !=
                                    (b.negative && b.negative[place(b, i + l)]);
                out.negative[i + l] = differ && (nonzero >> l & 1);
                found.negative |= out.negative[i + l];
            }
        }
    }
    i64 longest = _mm512_test_epi64_mask(tops, tops) ? width : 0;
    if (!longest)
        for (i64 i = first; i < last; i++) {
            const i64 length = trimmed(out.words + i * out.step, width);
            if (length > longest) longest = length;
        }
    if (longest > found.longest) found.longest = longest;
}

using Multiply = void (*)(const Operand&, const Operand&, const Result&, u64*, i64, i64, Found&);
const Multiply equal_widths[] = {multiply_widths<0, 0>, multiply_widths<1, 1>,
                                 multiply_widths<2, 2>, multiply_widths<3, 3>,
                                 multiply_widths<4, 4>, multiply_widths<5, 5>,
                                 multiply_widths<6, 6>, multiply_widths<7, 7>,
                                 multiply_widths<8, 8>};

void multiply(const Operand& a, const Operand& b, const Result& out, u64* scratch, i64 first,
              i64 last, Found& found) {
    if (a.width > b.width) return multiply(b, a, out, scratch, first, last, found);
    const i64 width = a.width == b.width && a.width <= 8 ? a.width : 0;
    equal_widths[width](a, b, out, scratch, first, last, found);
}

void multiply_rows(const Number* a, const Number* b, u64* const* products, i64 a_width,
                   i64 b_width, u64* scratch) {
    if (a_width > b_width)
        return multiply_rows(b, a, products, b_width, a_width, scratch);
    const Shape s = shape_of(a_width, b_width);
    const i64 count = s.a_limbs + s.b_limbs;
    V* const words = reinterpret_cast<V*>(scratch);
    V *const x = words + s.words, *const y = x + s.a_limbs, *const columns = y + s.b_limbs;
    gather_mixed(words, a, s.a);
    split_padded(x, limbs_for(s.a), s.a_limbs, words, s.a);
    gather_mixed(words, b, s.b);
    split_padded(y, s.b_limbs, s.b_limbs, words, s.b);
    for (i64 j = 0; j < count + 2; j++) store(columns + j, _mm512_setzero_si512());
    for (i64 t = 0; t < s.a_limbs; t += s.tile) tiles[s.tile](columns + t, x + t, y, s.b_limbs);
    carry_columns(words, s.a + s.b, columns, count);
    i64 lengths[LANES];
    for (int l = 0; l < LANES; l++) lengths[l] = a[l].length ? a[l].length + b[l].length : 0;
    scatter_mixed(products, lengths, words, s.a + s.b);
}

}  // namespace

namespace bignum {
const Lanes bignum_lanes = {multiply_scratch, multiply,      multiply_rows, gcd_scratch,
                            gcd_lanes,        power_scratch, power_lanes};
}

// What CKY parsing on the CPU does with a cell that is a right child: it ORs the cell's words by
// pairs (A, B), and multiplies these with the cells to its left. For any word type W of
// bits.hpp; a cell is a row of words, one for each symbol.
#pragma once
#include "../../bits.hpp"
#include "cky.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace {

using std::int64_t;
using std::ptrdiff_t;
using std::size_t;
using u16 = std::uint16_t;

template <class W>
BITS_FN W and_or(W sum, W a, W b) {
    if constexpr (has_ternary<W>::value) return lut3<0xF8>(sum, a, b);
    else return sum | (a & b);
}
template <class W>
BITS_FN W or3(W a, W b, W c) {
    if constexpr (has_ternary<W>::value) return lut3<0xFE>(a, b, c);
    else return a | b | c;
}

BITS_FN bool any(u32 w) { return w != 0; }
#if defined(__AVX512F__)
BITS_FN bool any(v512 w) { return _mm512_test_epi64_mask((__m512i)w, (__m512i)w) != 0; }
#endif
#if defined(__AVX2__)
BITS_FN bool any(v256 w) { return !_mm256_testz_si256((__m256i)w, (__m256i)w); }
#endif
#if defined(__SSE4_1__)
BITS_FN bool any(v128 w) { return !_mm_testz_si128((__m128i)w, (__m128i)w); }
#else
BITS_FN bool any(v128 w) { return (w[0] | w[1] | w[2] | w[3]) != 0; }
#endif

template <class W>
BITS_FN W splat(u32 x) { return W{} + x; }
BITS_FN u32 equal(u32 a, u32 b) { return -u32(a == b); }
template <class W>
BITS_FN W equal(W a, W b) { return (W)(a == b); }

// Calls f with 0, 1, .. N - 1 as constants, so that arrays that are indexed by them stay in
// registers.
template <int I>
struct Constant {
    constexpr operator int() const { return I; }
};
template <int N, class F>
BITS_FN void unrolled(const F& f) {
    if constexpr (N > 0) {
        unrolled<N - 1>(f);
        f(Constant<N - 1>{});
    }
}
#define INLINED __attribute__((always_inline))

// `rows` rows of an operand or a result, `stride` words apart.
template <class W>
struct Matrix {
    W* at;
    ptrdiff_t stride;
};

// Calls run.template operator()<R>(first) for tiles of R <= MOST rows, all about equally high.
template <int R, class Run>
BITS_FN void one_tile(int rows, int first, const Run& run) {
    if (rows == R) run.template operator()<R>(first);
    else if constexpr (R > 1) one_tile<R - 1>(rows, first, run);
}
template <int MOST, class Run>
BITS_FN void each_tile(int rows, const Run& run) {
    for (int tiles = (rows + MOST - 1) / MOST, first = 0; tiles > 0; tiles--) {
        const int height = (rows - first + tiles - 1) / tiles;
        one_tile<MOST>(height, first, run);
        first += height;
    }
}

// --- few pairs ---------------------------------------------------------------

// Multiplies the pairs (A, B) of one A for which q is not zero for all strings.
template <class W>
struct PairsOfRow {
    const W* q;
    const u32* left;
    u32 count;
    Matrix<const W> l;
    Matrix<W> t;  // from column A on
    template <int R>
    BITS_FN void operator()(int first) const {
        const W* rows[R];
        W sum[R];
        unrolled<R>([&](auto i) INLINED {
            rows[i] = l.at + (first + i) * l.stride;
            sum[i] = t.at[(first + i) * t.stride];
        });
        for (u32 p = 0; p < count; p++) {
            const W v = q[p];
            const u32 b = left[p];
            unrolled<R>([&](auto i) INLINED { sum[i] = and_or(sum[i], v, rows[i][b]); });
        }
        unrolled<R>([&](auto i) INLINED { t.at[(first + i) * t.stride] = sum[i]; });
    }
};

template <class W, int ARITY>
BITS_FN W rights_of(const W* x, const u32* c) {
    if constexpr (ARITY == 1) return x[c[0]];
    else if constexpr (ARITY == 2) return x[c[0]] | x[c[1]];
    else return or3(x[c[0]], x[c[1]], x[c[2]] | x[c[3]]);
}

// How many entries are looked through at a time.
constexpr u32 SOME = 256;

// Multiplies with the pairs that are not zero. To find these takes no branch, as which ones they
// are is hard to foretell.
template <class W, int ARITY>
void push_rows(const CkyRows& rules, const W* x, Matrix<const W> l, Matrix<W> t, int rows, W* q,
               const volatile bool* cancelled) {
    u32 head[SOME], left[SOME];
    for (u32 e = 0; rows && e < rules.entries && !*cancelled;) {
        u32 count = 0;
        for (const u32 end = rules.entries - e < SOME ? rules.entries : e + SOME; e < end; e++) {
            q[count] = rights_of<W, ARITY>(x, rules.right + size_t(e) * ARITY);
            head[count] = rules.head[e];
            left[count] = rules.left[e];
            count += any(q[count]);
        }
        for (u32 p = 0, end; p < count; p = end) {
            for (end = p + 1; end < count && head[end] == head[p];) end++;
            each_tile<8>(rows, PairsOfRow<W>{q + p, left + p, end - p, l, {t.at + head[p], t.stride}});
        }
    }
}

template <class W, int ARITY>
void push_row(const CkyRows& rules, const W* x, const W* l, W* t) {
    for (u32 e = 0; e < rules.entries; e++) {
        W& sum = t[rules.head[e]];
        sum = and_or(sum, l[rules.left[e]], rights_of<W, ARITY>(x, rules.right + size_t(e) * ARITY));
    }
}

// --- most pairs --------------------------------------------------------------

template <class W>
void make_tables(const CkyMatrix& matrix, const W* x, W* table) {
    for (u32 g = 0; g < matrix.tables; g++) {
        table[0] = W{};
        size_t size = 1;
        for (u32 k = 0; k < matrix.bits[g]; k++, size *= 2, x++) {
            const W bit = *x;
            for (size_t m = 0; m < size; m++) table[size + m] = table[m] | bit;
        }
        table += size;
    }
}

// Walks through the tiles of a matrix in their order.
template <class W>
struct Tiles {
    const W* x;
    W* q;
    const u32* counts;
    const u16 *place, *operand, *more;

    // Returns the word whose number is given times CKY_SCALE.
    template <class T>
    static BITS_FN T& at(T* base, size_t scaled) {
        constexpr size_t SIZE = sizeof(W);
        const size_t bytes = SIZE < CKY_SCALE ? scaled / (CKY_SCALE / SIZE) : scaled * (SIZE / CKY_SCALE);
        return *reinterpret_cast<T*>(reinterpret_cast<size_t>(base) + bytes);
    }
    BITS_FN W or_of(int n) {
        W sum = at(x, operand[0]);
        int k = 1;
        for (; k + 2 <= n; k += 2) sum = or3(sum, at(x, operand[k]), at(x, operand[k + 1]));
        if (k < n) sum |= at(x, operand[k]);
        operand += n;
        return sum;
    }
    template <int N>
    BITS_FN void several() {
        for (u32 n = counts[N]; n; n--) {
            if constexpr (N == 0) at(q, *place++) = W{};
            else at(q, *place++) = or_of(N);
        }
        if constexpr (N < CKY_COUNTS - 2) several<N + 1>();
    }
    __attribute__((noinline)) void next() {
        several<0>();
        for (u32 n = counts[CKY_COUNTS - 1]; n; n--) at(q, *place++) = or_of(*more++);
        counts += CKY_COUNTS;
    }
};

// How many A's, and how many rows at most, have their sums in registers at a time.
template <class W>
struct Registers { static constexpr int as = 2, rows = 5; };
template <>
struct Registers<u32> { static constexpr int as = 1, rows = 4; };
template <>
struct Registers<v512> { static constexpr int as = 4, rows = 6; };

// Computes t[i, a] |= l[i, b] & q[b, a], for AS a's (q's rows have CKY_BLOCK) and R i's.
template <class W, int AS, int R>
__attribute__((noinline)) void product(const W* q, ptrdiff_t bs, const W* l,
                                          ptrdiff_t l_stride, W* t, ptrdiff_t t_stride) {
    W sum[R][AS];
    const W* rows[R];
    W* to = t;
    unrolled<R>([&](auto i) INLINED {
        unrolled<AS>([&](auto a) INLINED { sum[i][a] = to[a]; });
        rows[i] = l;
        l += l_stride, to += t_stride;
    });
    for (ptrdiff_t b = 0; b < bs; b++, q += CKY_BLOCK) {
        W v[AS];
        unrolled<AS>([&](auto a) INLINED { v[a] = q[a]; });
        unrolled<R>([&](auto i) INLINED {
            const W u = rows[i][b];
            unrolled<AS>([&](auto a) INLINED { sum[i][a] = and_or(sum[i][a], u, v[a]); });
        });
    }
    unrolled<R>([&](auto i) INLINED {
        unrolled<AS>([&](auto a) INLINED { t[a] = sum[i][a]; });
        t += t_stride;
    });
}

// Computes the same for words of few strings, and CKY_BLOCK a's: a register has a word of each.
template <int R>
__attribute__((noinline)) void product_of_block(const u32* q, ptrdiff_t bs, const u32* l,
                                                ptrdiff_t l_stride, u32* t, ptrdiff_t t_stride) {
    typedef v256 Words __attribute__((aligned(4), may_alias));
    static_assert(sizeof(v256) == CKY_BLOCK * sizeof(u32));
    v256 sum[R];
    const u32* rows[R];
    u32* to = t;
    unrolled<R>([&](auto i) INLINED {
        sum[i] = *(const Words*)to;
        rows[i] = l;
        l += l_stride, to += t_stride;
    });
    for (ptrdiff_t b = 0; b < bs; b++, q += CKY_BLOCK) {
        const v256 v = *(const Words*)q;
        unrolled<R>([&](auto i) INLINED { sum[i] |= v & rows[i][b]; });
    }
    unrolled<R>([&](auto i) INLINED {
        *(Words*)t = sum[i];
        t += t_stride;
    });
}

// Computes the same for any number of i's, and as <= CKY_BLOCK.
template <class W>
struct Product {
    const W* q;
    int as, bs;
    Matrix<const W> l;
    Matrix<W> t;
    template <int R>
    BITS_FN void operator()(int first) const {
        constexpr int AS = Registers<W>::as;
        const W* const from = l.at + first * l.stride;
        W* const to = t.at + first * t.stride;
        if constexpr (sizeof(W) == sizeof(u32)) {
            if (as == int(CKY_BLOCK))
                return product_of_block<R>(q, bs, from, l.stride, to, t.stride);
        }
        int a = 0;
        for (; a + AS <= as; a += AS) product<W, AS, R>(q + a, bs, from, l.stride, to + a, t.stride);
        for (; a < as; a++) product<W, 1, R>(q + a, bs, from, l.stride, to + a, t.stride);
    }
};
template <class W>
void multiply(const Product<W>& product, int rows) {
    if (product.bs > 0) each_tile<Registers<W>::rows>(rows, product);
}

}  // namespace

// CKY parsing on one CPU level, one bit a string. Compiled once per level, with LEVEL its
// name and VECTOR its register type (bits.hpp); nothing of the standard library may be
// instantiated here, or the linker could hand AVX-512 code to a machine without it.
//
// Column by column, and from the bottom up in each: as soon as the cell (r, j) is final,
// it is taken as the right child of every split at r. With
//   Q[A, B] = OR of cell(r, j)[C] over the rules A -> B C,
// once a cell, a split costs one AND and OR for each pair (A, B), not for each rule:
//   cell(i, j)[A] |= OR over B of cell(i, r)[B] & Q[A, B]   for all i < r.
#include "cky.hpp"

#include "../bits.hpp"

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

// Calls f with 0, 1, .. N - 1 as constants: arrays that are indexed by them are registers.
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

// Calls run.template operator()<R>(first) for tiles of R <= MOST rows, about equally high.
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

// The pairs (A, B) of one A for which q is not zero for all strings.
template <class W>
struct PairsOfRow {
    const W* q;
    const u32* left;
    u32 count;
    Matrix<const W> l;
    Matrix<W> t;  // from A on
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

template <class W, int ARITY>
void push_rows(const CkyRows& rules, const W* x, Matrix<const W> l, Matrix<W> t, int rows, W* q,
               u32* left) {
    if (rows == 0) return;
    for (u32 h = 0; h < rules.heads; h++) {
        u32 count = 0;
        for (u32 e = rules.start[h], end = rules.start[h + 1]; e < end; e++) {
            q[count] = rights_of<W, ARITY>(x, rules.right + size_t(e) * ARITY);
            left[count] = rules.left[e];
            count += any(q[count]);
        }
        if (count)
            each_tile<8>(rows, PairsOfRow<W>{q, left, count, l, {t.at + rules.head[h], t.stride}});
    }
}

template <class W, int ARITY>
void push_row(const CkyRows& rules, const W* x, const W* l, W* t) {
    for (u32 h = 0; h < rules.heads; h++) {
        W sum = t[rules.head[h]];
        for (u32 e = rules.start[h], end = rules.start[h + 1]; e < end; e++)
            sum = and_or(sum, l[rules.left[e]], rights_of<W, ARITY>(x, rules.right + size_t(e) * ARITY));
        t[rules.head[h]] = sum;
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

    // In words, of a number that is multiplied by CKY_SCALE.
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

// How many A's, and at most how many rows, have their sums in registers at a time.
template <class W>
struct Registers { static constexpr int as = 2, rows = sizeof(W) > 4 ? 5 : 2; };
template <>
struct Registers<v512> { static constexpr int as = 4, rows = 6; };

// t[i, a] |= l[i, b] & q[b, a], for AS a's (q's rows have CKY_BLOCK) and R i's.
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

// The same for any number of i's, and as <= CKY_BLOCK.
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
        int a = 0;
        for (; a + AS <= as; a += AS) product<W, AS, R>(q + a, bs, from, l.stride, to + a, t.stride);
        for (; a < as; a++) product<W, 1, R>(q + a, bs, from, l.stride, to + a, t.stride);
    }
};
template <class W>
void multiply(const Product<W>& product, int rows) {
    if (product.bs > 0) each_tile<Registers<W>::rows>(rows, product);
}

// --- a group -----------------------------------------------------------------

template <class W>
struct Parse {
    static constexpr int64_t LANES = sizeof(W) / 4, STRINGS = 32 * LANES;
    static constexpr u32 FEW = 12;  // terminals that are looked for one by one

    const CkyPlan& plan;
    const CkyGroup& group;
    W *chart, *table, *q;
    u32* left;
    W* top;                 // (longest): of what derives the first k tokens
    const u32** start;      // (STRINGS): bit by bit, the strings of all lanes
    int64_t* length;
    static constexpr int64_t AHEAD = 8;
    alignas(64) u32 tokens[AHEAD][STRINGS];

    static size_t chart_words(const CkyPlan& plan, int64_t n) {
        return size_t(n) * plan.single + size_t(n) * size_t(n - 1) / 2 * plan.wide;
    }
    static size_t q_words(const CkyPlan& plan) {
        return plan.dense ? size_t(plan.chunk) * CKY_BLOCK : size_t(plan.longest_row) + 1;
    }
    static size_t lefts(const CkyPlan& plan) {
        return plan.dense ? 0 : (size_t(plan.longest_row) + 16) / 16 * 16;
    }
    static size_t scratch_bytes(const CkyPlan& plan, int64_t n) {
        return sizeof(W) * (chart_words(plan, n) + plan.tables + q_words(plan) + size_t(n)) +
               4 * lefts(plan) + STRINGS * (sizeof(u32*) + sizeof(int64_t)) + 64;
    }

    Parse(const CkyPlan& plan, const CkyGroup& group, void* scratch) : plan(plan), group(group) {
        start = static_cast<const u32**>(scratch);
        length = reinterpret_cast<int64_t*>(start + STRINGS);
        left = reinterpret_cast<u32*>(length + STRINGS);
        chart = reinterpret_cast<W*>(left + lefts(plan));
        table = chart + chart_words(plan, group.longest);
        q = table + plan.tables;
        top = q + q_words(plan);
        for (int64_t p = 0; p < STRINGS; p++) {
            // Bits without a string repeat the first, the shortest.
            const int64_t* from = group.offsets + group.order[p < group.count ? p : 0];
            const int64_t slot = p % 32 * LANES + p / 32;
            start[slot] = group.tokens + from[0];
            length[slot] = from[1] - from[0];
        }
    }

    W* column(int64_t j) const {
        return chart + (j - 1) * (j - 2) / 2 * plan.wide + (j - 1) * plan.single;
    }
    W* cell(int64_t i, int64_t j) const { return column(j) + i * plan.wide; }

    // The next tokens of all strings. Several at once, as strings often lie so far apart
    // that the lines of all of them do not fit into the cache together.
    void fetch(int64_t at) {
        for (int64_t s = 0; s < STRINGS; s++) {
            const u32* from = start[s] + at;
            const int64_t left = length[s] - at;
            if (left >= AHEAD)
                for (int64_t k = 0; k < AHEAD; k++) tokens[k][s] = from[k];
            else
                for (int64_t k = 0; k < AHEAD; k++) tokens[k][s] = k < left ? from[k] : ALL;
        }
    }

    // The cell of one token.
    void read_token(int64_t at, W* cell) {
        if (at % AHEAD == 0) fetch(at);
        const u32* const token = tokens[at % AHEAD];
        for (u32 c = 0; c < plan.single; c++) cell[c] = W{};
        if (plan.terminals <= FEW) {
            for (u32 t = 0; t < plan.terminals; t++) {
                W word = W{};
                for (int b = 0; b < 32; b++) {
                    W of;
                    __builtin_memcpy(&of, token + b * LANES, sizeof(W));
                    word = and_or(word, equal(of, splat<W>(t)), splat<W>(u32(1) << b));
                }
                for (u32 e = plan.lexical_start[t]; e < plan.lexical_start[t + 1]; e++)
                    cell[plan.lexical[e]] |= word;
            }
            return;
        }
        u32* words = reinterpret_cast<u32*>(cell);
        typedef u32 Lane __attribute__((may_alias));
        for (int64_t s = 0; s < STRINGS; s++) {
            if (token[s] >= plan.terminals) continue;
            const u32 bit = u32(1) << s / LANES;
            Lane* lane = words + s % LANES;
            for (u32 e = plan.lexical_start[token[s]]; e < plan.lexical_start[token[s] + 1]; e++)
                lane[plan.lexical[e] * LANES] |= bit;
        }
    }

    static bool is_empty(const W* cell, u32 symbols) {
        constexpr u32 STEP = 16;
        for (u32 a = 0; a < symbols;) {
            W sum = W{};
            for (const u32 end = a + STEP < symbols ? a + STEP : symbols; a < end; a++) sum |= cell[a];
            if (any(sum)) return false;
        }
        return true;
    }

    void close_under_units(W* cell) const {
        for (u32 u = 0; u < plan.below; u++) {
            const W w = cell[plan.unit_right[u]];
            if (!any(w)) continue;
            for (u32 e = plan.unit_start[u]; e < plan.unit_start[u + 1]; e++)
                cell[plan.unit_left[e]] |= w;
        }
    }

    template <int ARITY>
    void push_sparse(const W* x, int kind, int64_t r, int64_t j) {
        const Matrix<W> t{column(j), plan.wide};
        const Matrix<const W> l{column(r), plan.wide};
        if (plan.uniform()) {
            push_rows<W, ARITY>(plan.rows[kind][1], x, l, t, int(r), q, left);
        } else {
            push_rows<W, ARITY>(plan.rows[kind][1], x, l, t, int(r - 1), q, left);
            push_row<W, ARITY>(plan.rows[kind][0], x, cell(r - 1, r), cell(r - 1, j));
        }
    }

    void push_dense(const W* x, int kind, int64_t r, int64_t j) {
        const CkyMatrix& m = plan.matrix[kind];
        if (m.tables) {
            make_tables(m, x, table);
            x = table;
        }
        Tiles<W> tiles{x, q, m.counts, m.place, m.operand, m.more};
        const u32 all = plan.first + plan.wide;  // symbols that any cell holds
        const u32 ends = all > plan.single ? all : plan.single;
        for (u32 a = 0; a < plan.wide; a += CKY_BLOCK) {
            const int as = int(plan.wide - a < CKY_BLOCK ? plan.wide - a : CKY_BLOCK);
            for (u32 b = 0; b < ends; b += plan.chunk) {
                tiles.next();
                const u32 end = b + plan.chunk < ends ? b + plan.chunk : ends;
                const Matrix<W> t{column(j) + a, plan.wide};
                if (plan.uniform()) {
                    multiply<W>({q, as, int(end - b), {column(r) + b, plan.wide}, t}, int(r));
                    continue;
                }
                const u32 from = b < plan.first ? plan.first : b;
                multiply<W>({q + ptrdiff_t(from - b) * CKY_BLOCK, as, int(end) - int(from),
                             {column(r) + from - plan.first, plan.wide}, t}, int(r - 1));
                const u32 to = end < plan.single ? end : plan.single;
                multiply<W>({q, as, int(to) - int(b), {cell(r - 1, r) + b, plan.wide},
                             {t.at + (r - 1) * t.stride, t.stride}}, 1);
            }
        }
    }

    void push(const W* x, int kind, int64_t r, int64_t j) {
        if (r == 0 || is_empty(x, kind ? plan.wide : plan.single)) return;
        if (plan.dense) push_dense(x, kind, r, j);
        else if (plan.arity == 1) push_sparse<1>(x, kind, r, j);
        else if (plan.arity == 2) push_sparse<2>(x, kind, r, j);
        else push_sparse<4>(x, kind, r, j);
    }

    // False if cancelled.
    bool run() {
        for (int64_t j = 1; j <= group.longest; j++) {
            W *const bottom = cell(j - 1, j), *const wide = column(j);
            for (W* w = wide; w < bottom; w++) *w = W{};
            read_token(j - 1, bottom);
            push(bottom, 0, j - 1, j);
            for (int64_t i = j - 2; i >= 0; i--) {
                if (*group.cancelled) return false;
                W* const x = cell(i, j);
                close_under_units(x);
                push(x, 1, i, j);
            }
        }
        return true;
    }

    // The word of a symbol, zero if the cell does not hold it.
    W word(int64_t i, int64_t j, u32 symbol) const {
        const u32 first = i == j - 1 ? 0 : plan.first, n = i == j - 1 ? plan.single : plan.wide;
        return symbol - first < n ? cell(i, j)[symbol - first] : W{};
    }
};

template <class W>
void recognise(const CkyPlan& plan, const CkyGroup& group, u32 symbol, std::int32_t* longest,
               std::uint8_t* accepted, void* scratch) {
    Parse<W> parse(plan, group, scratch);
    if (!parse.run()) return;
    for (int64_t k = 1; k <= group.longest; k++) parse.top[k - 1] = parse.word(0, k, symbol);
    typedef u32 Lane __attribute__((may_alias));
    const Lane* top = reinterpret_cast<const Lane*>(parse.top);
    for (int64_t p = 0; p < group.count; p++) {
        const int64_t s = group.order[p], n = group.offsets[s + 1] - group.offsets[s];
        auto derives = [&](int64_t k) {
            return top[(k - 1) * Parse<W>::LANES + p / 32] >> p % 32 & 1;
        };
        if (accepted) {
            accepted[s] = n > 0 && derives(n);
        } else {
            int64_t k = n;
            while (k > 0 && !derives(k)) k--;
            longest[s] = std::int32_t(k);
        }
    }
}

template <class W>
void chart(const CkyPlan& plan, const CkyGroup& group, u32* words, void* scratch) {
    Parse<W> parse(plan, group, scratch);
    if (!parse.run()) return;
    for (int64_t j = 1; j <= group.longest; j++)
        for (int64_t i = 0; i < j; i++)
            for (u32 a = 0; a < plan.symbols; a++) {
                const W w = parse.word(i, j, a);
                const size_t row = size_t(j * (j - 1) / 2 + i) * plan.symbols + plan.old[a];
                __builtin_memcpy(words + row * Parse<W>::LANES, &w, sizeof(W));
            }
}

template <class W>
constexpr CkyWordOps ops() {
    return {Parse<W>::LANES, Parse<W>::scratch_bytes, recognise<W>, chart<W>};
}

}  // namespace

#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
extern const CkyOps JOIN(cky_, LEVEL);
const CkyOps JOIN(cky_, LEVEL) = {ops<u32>(), ops<VECTOR>()};

// CKY parsing on one CPU level, with a bit for each string. Compiled once per level, with LEVEL
// its name and VECTOR its register type (bits.hpp). Nothing of the standard library may be
// instantiated here, or the linker could hand AVX-512 code to a machine without it.
//
// Charts are filled column by column, and each column from the bottom up: as soon as the cell
// (r, j) is final, it is taken as the right child of every split at r. With
//   Q[A, B] = OR of cell(r, j)[C] over the rules A -> B C,
// once a cell, a split costs one AND and OR for each pair (A, B), not for each rule:
//   cell(i, j)[A] |= OR over B of cell(i, r)[B] & Q[A, B]   for all i < r.
#include "cky.hpp"

#include "products.hpp"

namespace {

template <class W>
struct Parse {
    static constexpr int64_t LANES = sizeof(W) / 4, STRINGS = 32 * LANES;
    static constexpr u32 FEW = 12;  // up to so many terminals are looked for one by one

    const CkyPlan& plan;
    const CkyGroup& group;
    W *chart, *table, *q;
    W* top;                 // (longest): words of the symbol that derives the first k tokens
    const u32** start;      // (STRINGS): where the tokens begin, in the order of the lanes' bits
    int64_t* length;
    static constexpr int64_t AHEAD = 8;
    alignas(64) u32 tokens[AHEAD][STRINGS];

    static size_t chart_words(const CkyPlan& plan, int64_t n) {
        return size_t(n) * plan.single + size_t(n) * size_t(n - 1) / 2 * plan.wide;
    }
    static size_t q_words(const CkyPlan& plan) {
        return plan.dense ? size_t(plan.chunk) * CKY_BLOCK : size_t(SOME);
    }
    static size_t scratch_bytes(const CkyPlan& plan, int64_t n) {
        return sizeof(W) * (chart_words(plan, n) + plan.tables + q_words(plan) + size_t(n)) +
               STRINGS * (sizeof(u32*) + sizeof(int64_t)) + 64;
    }

    Parse(const CkyPlan& plan, const CkyGroup& group, void* scratch) : plan(plan), group(group) {
        start = static_cast<const u32**>(scratch);
        length = reinterpret_cast<int64_t*>(start + STRINGS);
        chart = reinterpret_cast<W*>(length + STRINGS);
        table = chart + chart_words(plan, group.longest);
        q = table + plan.tables;
        top = q + q_words(plan);
        for (int64_t p = 0; p < STRINGS; p++) {
            // Bits without a string have the first string again, which is the
            // shortest.
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

    // Fetches the next tokens of all strings: several at once, as strings often lie so far
    // apart that the lines of all of them do not fit into the cache together.
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

    // Fills in the cell of one token.
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
            push_rows<W, ARITY>(plan.rows[kind][1], x, l, t, int(r), q, group.cancelled);
        } else {
            push_rows<W, ARITY>(plan.rows[kind][1], x, l, t, int(r - 1), q,
                                group.cancelled);
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
        const u32 all = plan.first + plan.wide;  // the symbols that any cell holds
        const u32 ends = all > plan.single ? all : plan.single;
        for (u32 a = 0; a < plan.wide; a += CKY_BLOCK) {
            const int as = int(plan.wide - a < CKY_BLOCK ? plan.wide - a : CKY_BLOCK);
            for (u32 b = 0; b < ends; b += plan.chunk) {
                if (*group.cancelled) return;  // one cell of a large grammar takes long
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

    // Parses; returns false if it was cancelled.
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

    // Returns the word of a symbol, zero if the cell does not hold it.
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
    for (int64_t j = 1; j <= group.longest && !*group.cancelled; j++)
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

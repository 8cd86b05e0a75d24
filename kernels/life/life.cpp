// Life on one CPU level. Compiled once per level, with LEVEL its name and VECTOR its
// register type (bits.hpp); nothing of the standard library may be instantiated here,
// or the linker could hand AVX-512 code to a machine without it.
#include "life.hpp"

#include <cstring>

#include "circuit.hpp"
#include "direct.hpp"

namespace {

using i64 = std::int64_t;
using V = VECTOR;
constexpr int LANES = sizeof(V) / 4;
constexpr int STRIPS = 32 * LANES;  // strip LANES i + l is bit i of lane l

V first_lane() {
    V m{};
    m[0] = ~0u;
    return m;
}
V last_lane() {
    V m{};
    m[LANES - 1] = ~0u;
    return m;
}

// The vector left of column 0 is the last column of each strip's predecessor; the one
// right of the last column is the first of its successor. The strips close to a ring.
BITS_FN V seam_left(V last) {
    V up = rotate_lanes_up(last), m = first_lane();
    return mux(m, up << 1 | up >> 31, up);
}
BITS_FN V seam_right(V first) {
    V down = rotate_lanes_down(first), m = last_lane();
    return mux(m, down >> 1 | down << 31, down);
}

// Rows in cache stand an odd number of vectors apart, or they would meet in few sets.
BITS_FN int pitch_of(int columns) { return columns | 1; }

template <bool FIRST, bool LAST>
BITS_FN RowState<V> state_at(const V* row, int x, int columns) {
    V l = FIRST ? seam_left(row[columns - 1]) : row[x - 1];
    V r = LAST ? seam_right(row[0]) : row[x + 1];
    return row_state(l, row[x], r);
}

// One column of vectors, one generation on: out[y] from in[y - 1] and its neighbours,
// where rows -2 and -1 of `in` are the two rows of `above`: the output lags by a row.
template <bool FIRST, bool LAST, bool MASKED, class Rule>
BITS_FN void column(const Rule& rule, const V* above, const V* in, V* out, int rows, int columns,
                    int x, V mask) {
    const int pitch = pitch_of(columns);
    auto at = [&](const V* row) { return state_at<FIRST, LAST>(row, x, columns); };
    auto put = [&](V* to, V value) { to[x] = MASKED ? value & mask : value; };
    RowState<V> a = at(above), b = at(above + pitch), c;
    int y = 0;
    for (; y + 3 <= rows; y += 3, in += 3 * pitch, out += 3 * pitch) {
        c = at(in);
        put(out, rule(a, b, c));
        a = at(in + pitch);
        put(out + pitch, rule(b, c, a));
        b = at(in + 2 * pitch);
        put(out + 2 * pitch, rule(c, a, b));
    }
    for (; y < rows; y++, in += pitch, out += pitch) {
        c = at(in);
        put(out, rule(a, b, c));
        a = b, b = c;
    }
}

template <bool MASKED, class Rule>
__attribute__((noinline)) void sweep(const Rule& rule, const V* above, const V* in, V* out, int rows, int columns,
           const V* mask) {
    auto m = [&](int x) { return MASKED ? mask[x] : V{}; };
    if (columns == 1) {
        column<true, true, MASKED>(rule, above, in, out, rows, 1, 0, m(0));
        return;
    }
    column<true, false, MASKED>(rule, above, in, out, rows, columns, 0, m(0));
    for (int x = 1; x < columns - 1; x++)
        column<false, false, MASKED>(rule, above, in, out, rows, columns, x, m(x));
    column<false, true, MASKED>(rule, above, in, out, rows, columns, columns - 1, m(columns - 1));
}

template <int J>
BITS_FN void exchange(V& a, V& b) {  // bit i + J of a and bit i of b, for i without J
    constexpr u32 mask = J == 16 ? 0x0000ffffu : J == 8 ? 0x00ff00ffu : J == 4 ? 0x0f0f0f0fu
                       : J == 2 ? 0x33333333u : 0x55555555u;
    V t = (a >> J ^ b) & mask;
    b ^= t;
    a ^= t << J;
}

// Transposes the 32 x 32 bits of each lane: bit j of a[i] and bit i of a[j] change places.
void transpose(V* a) {
    for (int i = 0; i < 8; i++) {
        V w0 = a[i], w1 = a[i + 8], w2 = a[i + 16], w3 = a[i + 24];
        exchange<16>(w0, w2), exchange<16>(w1, w3);
        exchange<8>(w0, w1), exchange<8>(w2, w3);
        a[i] = w0, a[i + 8] = w1, a[i + 16] = w2, a[i + 24] = w3;
    }
    for (int i = 0; i < 32; i += 8) {
        V w0 = a[i], w1 = a[i + 1], w2 = a[i + 2], w3 = a[i + 3];
        V w4 = a[i + 4], w5 = a[i + 5], w6 = a[i + 6], w7 = a[i + 7];
        exchange<4>(w0, w4), exchange<4>(w1, w5), exchange<4>(w2, w6), exchange<4>(w3, w7);
        exchange<2>(w0, w2), exchange<2>(w1, w3), exchange<2>(w4, w6), exchange<2>(w5, w7);
        exchange<1>(w0, w1), exchange<1>(w2, w3), exchange<1>(w4, w5), exchange<1>(w6, w7);
        a[i] = w0, a[i + 1] = w1, a[i + 2] = w2, a[i + 3] = w3;
        a[i + 4] = w4, a[i + 5] = w5, a[i + 6] = w6, a[i + 7] = w7;
    }
}

u64 bits_at(const u64* words, i64 bit) {  // 64 bits from `bit` on
    const u64* w = words + (bit >> 6);
    int shift = int(bit & 63);
    return shift ? shift_down(w[1], w[0], shift) : w[0];
}

// dst[i] = 64 bits of src from bit `from` + 64 i on.
void shift_words(u64* dst, const u64* src, i64 from, i64 words) {
    const u64* w = src + (from >> 6);
    const int shift = int(from & 63);
    if (shift == 0) {
        std::memcpy(dst, w, std::size_t(words) * 8);
        return;
    }
    for (i64 i = 0; i < words; i++) dst[i] = shift_down(w[i + 1], w[i], shift);
}

// Copies bits, a word of the target at a time. Reads no source word past the last bit.
void copy_bits(u64* dst, i64 to, const u64* src, i64 from, i64 count) {
    while (count > 0) {
        int skip = int(to & 63), n = int(count < 64 - skip ? count : 64 - skip);
        int shift = int(from & 63);
        u64 value = src[from >> 6] >> shift;
        if (shift && n > 64 - shift) value |= src[(from >> 6) + 1] << (64 - shift);
        u64 mask = (n == 64 ? ~u64(0) : (u64(1) << n) - 1) << skip;
        u64& word = dst[to >> 6];
        word = (word & ~mask) | (value << skip & mask);
        to += n, from += n, count -= n;
        if (!(to & 63) && count >= 64) {  // aligned to the target: whole words
            i64 words = count >> 6;
            shift_words(dst + (to >> 6), src, from, words);
            to += words << 6, from += words << 6, count -= words << 6;
        }
    }
}

struct Scratch {
    V *a, *b, *above, *mask;
    u64* line;    // one row of a panel, in column order
    u32* strips;  // the same, a strip a word
};

struct Task {
    const LifePass& p;
    Scratch s;
    i64 panel, start;  // column `start` of the universe is column 0 of the panel
    int columns;

    i64 line_bits() const { return i64(STRIPS) * columns; }

    // Row y of the universe, in column order from `start` on.
    void fetch(i64 y) const {
        const i64 w = p.width, n = line_bits();
        if (p.torus) {
            y %= p.height;
            const u64* row = p.src + (y < 0 ? y + p.height : y) * p.stride;
            i64 from = start % w, have = 0;
            if (from < 0) from += w;
            // One period, then doubling: what is there repeats with the width.
            for (i64 period = w < n ? w : n; have < period;) {
                i64 step = w - from < period - have ? w - from : period - have;
                copy_bits(s.line, have, row, from, step);
                have += step, from = 0;
            }
            for (; have < n; ) {
                i64 step = have < n - have ? have : n - have;
                copy_bits(s.line, have, s.line, 0, step);
                have += step;
            }
        } else {
            std::memset(s.line, 0, std::size_t(n / 8));
            if (y < 0 || y >= p.height) return;
            i64 low = start < 0 ? 0 : start, high = start + n < w ? start + n : w;
            if (low < high) copy_bits(s.line, low - start, p.src + y * p.stride, low, high - low);
        }
    }

    void to_vectors(V* row) const {
        const char* bytes = reinterpret_cast<const char*>(s.line);
        const u32* strips = s.strips;
        if (columns == 32) strips = reinterpret_cast<const u32*>(s.line);
        else
            for (int b = 0; b < STRIPS; b++) {
                u64 w;  // 32 bits from any bit on lie within 8 bytes
                std::memcpy(&w, bytes + (b * columns >> 3), 8);
                s.strips[b] = u32(w >> (b * columns & 7));
            }
        alignas(64) V a[32];
        std::memcpy(a, strips, sizeof a);
        transpose(a);
        std::memcpy(row, a, std::size_t(columns) * sizeof(V));
    }

    void to_line(const V* row) const {
        alignas(64) V a[32];
        std::memcpy(a, row, std::size_t(columns) * sizeof(V));
        std::memset(a + columns, 0, std::size_t(32 - columns) * sizeof(V));
        transpose(a);
        if (columns == 32) {
            std::memcpy(s.line, a, sizeof a);
            return;
        }
        std::memcpy(s.strips, a, sizeof a);
        // Eight strips are `columns` whole bytes, so that groups do not wait for each
        // other; what a group writes too much the next one covers.
        char* out = reinterpret_cast<char*>(s.line);
        const int two = 2 * columns, four = 4 * columns;
        for (int g = 0; g < STRIPS / 8; g++, out += columns) {
            const u32* strip = s.strips + 8 * g;
            auto pair = [&](int i) { return strip[i] | u64(strip[i + 1]) << columns; };
            u64 p0 = pair(0), p1 = pair(2), p2 = pair(4), p3 = pair(6);
            if (columns <= 16) {
                u64 q0 = p0 | p1 << two, q1 = p2 | p3 << two;
                u64 words[2] = {q0, q1};
                if (four < 64) words[0] |= q1 << four, words[1] = q1 >> (64 - four);
                std::memcpy(out, words, sizeof words);
            } else {
                u64 low0 = p0 | p1 << two, high0 = p1 >> (64 - two);
                u64 low1 = p2 | p3 << two, high1 = p3 >> (64 - two);
                const int up = four - 64, down = 64 - up;  // 4 to 60
                u64 words[4] = {low0, high0 | low1 << up, low1 >> down | high1 << up,
                                high1 >> down};
                std::memcpy(out, words, sizeof words);
            }
        }
    }

    void store(i64 y, const V* row) const {
        to_line(row);
        i64 first = panel * p.useful, left = p.width - first;
        i64 count = left < p.useful ? left : p.useful;
        u64* out = p.dst + y * p.stride + (first >> 6);
        i64 from = p.halo;
        i64 words = count >> 6;
        shift_words(out, s.line, from, words);
        if (count &= 63) out[words] = bits_at(s.line, from + (words << 6)) & ((u64(1) << count) - 1);
    }

    bool touches_outside() const {
        return !p.torus && (start < 0 || start + line_bits() > p.width);
    }

    void make_mask() const {
        std::memset(s.line, 0, std::size_t(line_bits() / 8));
        i64 low = start < 0 ? 0 : start;
        i64 high = start + line_bits() < p.width ? start + line_bits() : p.width;
        for (i64 c = low; c < high; c++) s.line[(c - start) >> 6] |= u64(1) << ((c - start) & 63);
        to_vectors(s.mask);
    }

    // Rows go through `steps` generations a block at a time. Generation g of a block is
    // g rows further up than generation 0, so that a block needs nothing below it and,
    // of what is above, the last two rows of each generation, which `above` keeps.
    template <bool MASKED, class Rule>
    void run(const Rule& rule, i64 y0, i64 y1) const {
        const int steps = p.steps;
        const i64 pitch = pitch_of(columns);
        const std::size_t row_bytes = std::size_t(pitch) * sizeof(V);
        std::memset(s.above, 0, 2 * std::size_t(steps) * row_bytes);
        for (i64 top = y0 - steps; top < y1 + steps; top += p.block_rows) {
            if (*p.cancelled) return;
            i64 left = y1 + steps - top;
            const int rows = int(left < p.block_rows ? left : p.block_rows);
            for (int i = 0; i < rows; i++) {
                fetch(top + i);
                to_vectors(s.a + i * pitch);
            }
            V *in = s.a, *out = s.b;
            int g = 0;
            for (; g < steps; g++) {
                V* above = s.above + 2 * g * pitch;
                // Row top - g - 1 + i comes out; those above y0 - (steps - g - 1) serve nothing.
                bool needed = top - g - 2 + rows >= y0 - (steps - g - 1);
                if (needed) sweep<MASKED>(rule, above, in, out, rows, columns, s.mask);
                if (rows >= 2) {
                    std::memcpy(above, in + (rows - 2) * pitch, 2 * row_bytes);
                } else {
                    std::memcpy(above, above + pitch, row_bytes);
                    std::memcpy(above + pitch, in, row_bytes);
                }
                if (!needed) break;
                if (!p.torus)
                    for (int i = 0; i < rows; i++) {
                        i64 y = top - g - 1 + i;
                        if (y < 0 || y >= p.height) std::memset(out + i * pitch, 0, row_bytes);
                    }
                V* t = in;
                in = out, out = t;
            }
            if (g < steps) continue;
            for (int i = 0; i < rows; i++) {
                i64 y = top - steps + i;
                if (y >= y0 && y < y1) store(y, in + i * pitch);
            }
        }
    }

    template <class Rule>
    void run(const Rule& rule, i64 y0, i64 y1) const {
        if (touches_outside()) {
            make_mask();
            run<true>(rule, y0, y1);
        } else {
            run<false>(rule, y0, y1);
        }
    }
};

struct Layout {
    std::size_t block, above, mask, line, strips;
    explicit Layout(const LifePass& p)
        : block(std::size_t(p.block_rows) * std::size_t(pitch_of(p.columns)) * sizeof(V)),
          above(2 * std::size_t(p.steps) * std::size_t(pitch_of(p.columns)) * sizeof(V)),
          mask(std::size_t(p.columns) * sizeof(V)),
          line((std::size_t(STRIPS) * std::size_t(p.columns) / 8 + 32 + 63) / 64 * 64),
          strips(STRIPS * 4) {}
};

std::size_t row_bytes(const LifePass& p) { return std::size_t(p.stride) * 8; }

std::size_t scratch_bytes(const LifePass& p) {
    if (p.direct()) return row_bytes(p);
    Layout n(p);
    return 2 * n.block + n.above + n.mask + n.line + n.strips;
}

// Well-known rules that are compiled in; any other is looked up as it runs, at less
// than half of their speed.
#define KNOWN_RULES(RULE)                                                              \
    RULE("36", "23") RULE("3678", "34678") RULE("2", "") RULE("1357", "1357")          \
    RULE("3", "012345678") RULE("3", "12345") RULE("36", "125") RULE("35678", "5678")  \
    RULE("368", "245") RULE("4678", "35678") RULE("34", "34")

constexpr u32 counts(const char* digits) {
    u32 set = 0;
    for (; *digits; digits++) set |= 1u << (*digits - '0');
    return set;
}

DynamicRule<V> dynamic_rule(const LifePass& p) {
    DynamicRule<V> rule;
    V none{};
    for (int n = 0; n < 9; n++) {
        rule.born[n] = p.birth >> n & 1 ? ~none : none;
        rule.kept[n] = p.survival >> n & 1 ? ~none : none;
    }
    return rule;
}

template <class Runner>
void with_rule(const LifePass& p, const Runner& runner, i64 y0, i64 y1) {
    if (p.birth == counts("3") && p.survival == counts("23")) return runner.run(Conway{}, y0, y1);
#define TRY(b, s)                                         \
    if (p.birth == counts(b) && p.survival == counts(s))  \
        return runner.run(StaticRule<rule_table(counts(b), counts(s))>{}, y0, y1);
    KNOWN_RULES(TRY)
#undef TRY
    runner.run(dynamic_rule(p), y0, y1);
}

void run_task(const LifePass& p, i64 index, void* scratch) {
    i64 panel = index % p.panels, y0 = index / p.panels * p.band_rows;
    i64 y1 = y0 + p.band_rows < p.height ? y0 + p.band_rows : p.height;
    if (p.direct()) {
        if (!p.torus) std::memset(scratch, 0, row_bytes(p));
        return with_rule(p, Direct<V>{p, static_cast<const u64*>(scratch)}, y0, y1);
    }
    Layout n(p);
    char* at = static_cast<char*>(scratch);
    Scratch s;
    auto take = [&](std::size_t bytes) {
        char* here = at;
        at += bytes;
        return here;
    };
    s.a = reinterpret_cast<V*>(take(n.block));
    s.b = reinterpret_cast<V*>(take(n.block));
    s.above = reinterpret_cast<V*>(take(n.above));
    s.mask = reinterpret_cast<V*>(take(n.mask));
    s.line = reinterpret_cast<u64*>(take(n.line));
    s.strips = reinterpret_cast<u32*>(take(n.strips));
    with_rule(p, Task{p, s, panel, panel * p.useful - p.halo, p.columns}, y0, y1);
}

}  // namespace

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
extern const LifeOps JOIN(life_, LEVEL);
const LifeOps JOIN(life_, LEVEL) = {int(sizeof(V)), scratch_bytes, run_task};

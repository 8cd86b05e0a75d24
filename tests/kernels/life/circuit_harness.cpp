// The circuits of kernels/life/circuit.hpp and the functions that they rest on, over all
// 512 neighbourhoods. Prints a line for each wrong result and ends with their number.
// RULES(R) names a few rules as R(birth, survival); VECTOR is the register type.
#include <cstdio>
#include <cstring>
#include <utility>

#include "life/circuit.hpp"
#include "life/known.hpp"

namespace {

long wrong = 0;

void fail(const char* what, unsigned birth, unsigned survival, int at) {
    if (wrong++ < 20) std::printf("%s: birth %u, survival %u: %d\n", what, birth, survival, at);
}

// Neighbourhood n has cell i (row i / 3, column i % 3) alive where bit i of n is one.
int alive(int n, int i) { return n >> i & 1; }
int total(int n) { return __builtin_popcount(unsigned(n)); }
int neighbours(int n) { return total(n) - alive(n, 4); }
int next_state(int n, unsigned birth, unsigned survival) {
    return (alive(n, 4) ? survival : birth) >> neighbours(n) & 1;
}

template <class W>
constexpr int BITS = 8 * int(sizeof(W));

// Words of which bit b is f(b).
template <class W, class F>
W word_of(F f) {
    W w;
    unsigned char bytes[sizeof(W)] = {};
    for (int b = 0; b < BITS<W>; b++) bytes[b / 8] |= (unsigned char)(f(b) << b % 8);
    std::memcpy(&w, bytes, sizeof w);
    return w;
}
template <class W>
int bit_of(const W& w, int b) {
    unsigned char bytes[sizeof(W)];
    std::memcpy(bytes, &w, sizeof w);
    return bytes[b / 8] >> b % 8 & 1;
}

template <class W>
struct Rows { RowState<W> top, mid, low; };

// All neighbourhoods, the first at the lowest bit of the first word.
template <class W>
struct Everything {
    static constexpr int PARTS = 512 / BITS<W>;
    Rows<W> rows[PARTS];
    Everything() {
        for (int p = 0; p < PARTS; p++) {
            W c[9];
            for (int i = 0; i < 9; i++)
                c[i] = word_of<W>([&](int b) { return alive(p * BITS<W> + b, i); });
            rows[p] = {row_state(c[0], c[1], c[2]), row_state(c[3], c[4], c[5]),
                       row_state(c[6], c[7], c[8])};
        }
    }
};

template <class W, class Rule>
void check_rule(const char* what, const Everything<W>& all, const Rule& rule, unsigned birth,
                unsigned survival) {
    for (int p = 0; p < Everything<W>::PARTS; p++) {
        const Rows<W>& r = all.rows[p];
        W expected = word_of<W>(
            [&](int b) { return next_state(p * BITS<W> + b, birth, survival); });
        W found = rule(r.top, r.mid, r.low);
        if (!std::memcmp(&found, &expected, sizeof found)) continue;
        for (int b = 0; b < BITS<W>; b++)
            if (bit_of(found, b) != bit_of(expected, b))
                fail(what, birth, survival, p * BITS<W> + b);
    }
}

template <class W>
DynamicRule<W> dynamic_rule(unsigned birth, unsigned survival) {
    DynamicRule<W> rule;
    for (int n = 0; n < 9; n++) {
        rule.born[n] = word_of<W>([&](int) { return birth >> n & 1; });
        rule.kept[n] = word_of<W>([&](int) { return survival >> n & 1; });
    }
    return rule;
}

template <class W>
void check_total(const Everything<W>& all) {
    for (int p = 0; p < Everything<W>::PARTS; p++) {
        const Rows<W>& r = all.rows[p];
        Total<W> t = total_of(r.top, r.mid, r.low);
        for (int b = 0; b < BITS<W>; b++) {
            int n = p * BITS<W> + b, x = bit_of(r.top.x, b), m = bit_of(r.top.m, b);
            if (x + 2 * m != total(n & 7)) fail("row_state", 0, 0, n);
            int sum = bit_of(t.t0, b) + 2 * bit_of(t.t1, b) + 4 * bit_of(t.t2, b) +
                      8 * bit_of(t.t3, b);
            if (sum != total(n)) fail("total_of", 0, 0, n);
        }
    }
}

// All the functions of three and of two bits, and those with names.
template <class W, int... LUT>
void check_luts(std::integer_sequence<int, LUT...>) {
    W a = word_of<W>([](int b) { return b >> 2 & 1; });
    W b = word_of<W>([](int i) { return i >> 1 & 1; });
    W c = word_of<W>([](int i) { return i & 1; });
    auto check = [](const char* what, W found, int lut) {
        for (int i = 0; i < BITS<W>; i++)
            if (bit_of(found, i) != (lut >> (i & 7) & 1)) fail(what, unsigned(lut), 0, i);
    };
    (check("lut3", lut3<LUT>(a, b, c), LUT), ...);
    (check("lut2", lut2<LUT & 15>(b, c), (LUT & 15) * 17), ...);
    check("xor3", xor3(a, b, c), 0x96);
    check("maj3", maj3(a, b, c), 0xE8);
    check("mux", mux(a, b, c), 0xCA);
    Sum2<W> sum = full_add(a, b, c);
    check("full_add", sum.sum, 0x96);
    check("full_add", sum.carry, 0xE8);
}

// The set of the counts that digits name.
unsigned digits(const char* text) {
    unsigned set = 0;
    for (; *text; text++) set |= 1u << (*text - '0');
    return set;
}

template <class W>
void check_word() {
    static const Everything<W> all;
    check_luts<W>(std::make_integer_sequence<int, 256>());
    check_total(all);
    check_rule("Conway", all, Conway(), 8, 12);
#define R(birth, survival)                                                                       \
    check_rule("StaticRule", all, StaticRule<rule_table(birth, survival)>(), birth, survival);  \
    check_rule("DynamicRule", all, dynamic_rule<W>(birth, survival), birth, survival);
    RULES(R)
#undef R
#define R(born, kept, Known) check_rule("known " #Known, all, Known(), digits(born), digits(kept));
    KNOWN_RULES(R)
#undef R
}

// What StaticRule makes of its table, for all rules: they are too many to compile.
int by_leaves(u32 table, int sum, int cell) {
    const u32 low4 = table & 255, high4 = table >> 8 & 255, last = table >> 16 & 15;
    const int t0 = sum & 1, t1 = sum >> 1 & 1, t2 = sum >> 2 & 1, t3 = sum >> 3;
    const int y = int((t2 ? high4 : low4) >> (t1 << 2 | t0 << 1 | cell) & 1);
    return t3 ? int(last >> (t0 << 1 | cell) & 1) : y;
}

void check_all_rules() {
    static const Everything<u64> all;
    u64 by_count[9][2][8] = {};  // the neighbourhoods, by neighbours and by cell
    for (int n = 0; n < 512; n++)
        by_count[neighbours(n)][alive(n, 4)][n / 64] |= u64(1) << n % 64;
    for (unsigned birth = 0; birth < 512; birth++)
        for (unsigned survival = 0; survival < 512; survival++) {
            const DynamicRule<u64> rule = dynamic_rule<u64>(birth, survival);
            for (int p = 0; p < 8; p++) {
                u64 expected = 0;
                for (int n = 0; n < 9; n++) {
                    if (birth >> n & 1) expected |= by_count[n][0][p];
                    if (survival >> n & 1) expected |= by_count[n][1][p];
                }
                const Rows<u64>& r = all.rows[p];
                if (rule(r.top, r.mid, r.low) != expected)
                    fail("DynamicRule, all rules", birth, survival, p);
            }
            const u32 table = rule_table(birth, survival);
            if (table >> 20) fail("rule_table", birth, survival, 20);
            for (int n = 0; n < 9; n++) {
                if (by_leaves(table, n, 0) != int(birth >> n & 1))
                    fail("leaves, born", birth, survival, n);
                if (by_leaves(table, n + 1, 1) != int(survival >> n & 1))
                    fail("leaves, kept", birth, survival, n);
            }
        }
}

}  // namespace

int main() {
    check_word<u64>();
    check_word<VECTOR>();
    check_all_rules();
    std::printf("ternary %d, wrong %ld\n", int(has_ternary<VECTOR>::value), wrong);
}

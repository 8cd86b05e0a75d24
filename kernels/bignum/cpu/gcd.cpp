// Greatest common divisors of batches: in lanes where the CPU has them, else by GMP.
#include <nanobind/stl/string.h>

#include <algorithm>

#include "mpz.hpp"

namespace bignum {
namespace {

// How many numbers are looked at together, so that those of about the same length share lanes.
constexpr i64 WINDOW = 512;
// The fewest pairs that go into lanes: fewer leave too many lanes empty.
constexpr i64 LEAST = 4;
// How many words the lengths of a pair may differ by; if by more, the longer number is divided
// first.
constexpr i64 APART = 2;

void by_gmp(const Number& x, const Number& y, const Result& out, i64 i, OwnMpz& divisor,
            Found& found) {
    const Mpz a = mpz_of(x), b = mpz_of(y);
    gmp().mpz_gcd(&divisor.value, &a, &b);
    store(out, i, divisor, found);
}

i64 trailing_zeros(const Number& x) {
    i64 i = 0;
    while (!x.words[i]) i++;
    return 64 * i + __builtin_ctzll(x.words[i]);
}

// Which pair it is, and how many words its numbers have once they are about equally long.
struct Pair {
    i64 index, length;
};

// Scratch memory of a part: what the lanes need, GCD_ROWS rows for each of a and b, and what a
// division leaves.
struct Memory {
    u64 *lanes, *a, *b, *quotient, *remainder;
};

struct Work {
    const Operand &a, &b;
    const Lanes* lanes;  // or null
    i64 widest;          // of the numbers
    i64 lane_width;      // of those that may go into lanes

    Work(const Batch& x, const Batch& y, const Lanes* lanes_)
        : a(x.view),
          b(y.view),
          lanes(lanes_),
          widest(std::max(x.view.width, y.view.width)),
          lane_width(std::min(widest, LANES_WIDEST)) {}

    i64 scratch() const {
        if (!lanes) return 0;
        return lanes->gcd_scratch(lane_width) + (2 * GCD_ROWS + 1) * lane_width + widest + 1;
    }
    Memory memory(u64* scratch) const {
        Memory m;
        m.lanes = scratch;
        m.a = m.lanes + lanes->gcd_scratch(lane_width);
        m.b = m.a + GCD_ROWS * lane_width;
        m.remainder = m.b + GCD_ROWS * lane_width;
        m.quotient = m.remainder + lane_width;
        return m;
    }
};

// Writes x without its factors of two into a row of `width` words.
void put_odd(u64* row, i64 width, const Number& x) {
    const i64 length = x.length ? shifted(row, {x.words, x.length, false}, -trailing_zeros(x)) : 0;
    std::fill(row + length, row + width, u64(0));
}

// Computes the divisors of up to GCD_ROWS pairs in lanes. An odd number beside a zero needs no
// step.
void in_lanes(const Work& work, const Memory& memory, const Pair* pairs, i64 count,
              const Result& out, Found& found) {
    i64 width = 1, twos[GCD_ROWS];
    for (i64 k = 0; k < count; k++) width = std::max(width, pairs[k].length);
    for (i64 k = 0; k < GCD_ROWS; k++) {
        u64 *a_row = memory.a + k * width, *b_row = memory.b + k * width;
        if (k >= count) {
            std::fill(a_row, a_row + width, u64(0));
            std::fill(b_row, b_row + width, u64(0));
            b_row[0] = 1;
            continue;
        }
        Number x = number(work.a, pairs[k].index), y = number(work.b, pairs[k].index);
        if (x.length < y.length) std::swap(x, y);
        twos[k] = std::min(trailing_zeros(x), trailing_zeros(y));
        if (x.length > y.length + APART) {
            gmp().mpn_tdiv_qr(memory.quotient, memory.remainder, 0, x.words, x.length, y.words,
                              y.length);
            x = {memory.remainder, trimmed(memory.remainder, y.length), false};
        }
        put_odd(a_row, width, x);
        put_odd(b_row, width, y);
    }
    work.lanes->gcd(memory.a, memory.b, width, memory.lanes);
    for (i64 k = 0; k < count; k++) {
        const u64* row = memory.b + k * width;
        const Number odd = {row, trimmed(row, width), false};
        const i64 i = pairs[k].index;
        finish(out, i, shifted(room(out, i), odd, twos[k]), false, found);
    }
}

void gcd_part(const Work& work, const Result& out, u64* scratch, i64 first, i64 last,
              Found& found) {
    OwnMpz divisor;
    if (!work.lanes) {
        for (i64 i = first; i < last; i++)
            by_gmp(number(work.a, i), number(work.b, i), out, i, divisor, found);
        return;
    }
    const Memory memory = work.memory(scratch);
    for (i64 start = first; start < last; start += WINDOW) {
        Pair pairs[WINDOW];
        i64 count = 0;
        for (i64 i = start; i < std::min(start + WINDOW, last); i++) {
            const Number x = number(work.a, i), y = number(work.b, i);
            const i64 least = std::min(x.length, y.length), most = std::max(x.length, y.length);
            const i64 length = most > least + APART ? least : most;
            if (least && length <= work.lane_width)
                pairs[count++] = {i, length};
            else
                by_gmp(x, y, out, i, divisor, found);
        }
        std::sort(pairs, pairs + count, [](const Pair& x, const Pair& y) {
            return x.length != y.length ? x.length < y.length : x.index < y.index;
        });
        for (i64 k = 0; k < count; k += GCD_ROWS) {
            const i64 together = std::min(GCD_ROWS, count - k);
            if (together >= LEAST) {
                in_lanes(work, memory, pairs + k, together, out, found);
                continue;
            }
            for (i64 j = k; j < count; j++) {
                const i64 i = pairs[j].index;
                by_gmp(number(work.a, i), number(work.b, i), out, i, divisor, found);
            }
        }
    }
}

nb::tuple gcd(const std::string& level, nb::handle left, nb::handle right, int threads) {
    need_gmp();
    const Batch a(left), b(right);
    check_length(a);
    check_length(b);
    const i64 count = common_count({a.view.count, b.view.count});
    const bool dense = a.dense() && b.dense();
    check_gmp_memory(double(a.view.width + b.view.width), count, threads);
    auto bound = [&](i64 i) {
        const i64 x = a.trimmed_length(i), y = b.trimmed_length(i);
        return x && y ? std::min(x, y) : std::max(x, y);
    };
    // A divisor is longer than the shorter operand only where that is zero.
    i64 width = std::min(a.width(), b.width());
    if (dense && a.width() != b.width())
        for (i64 i = 0; i < count; i++) width = std::max(width, bound(i));
    Output out = make_output(count, dense, width, false, bound);
    const Work work(a, b, lanes_of(level));
    return out.numbers(for_each_part(
        count, dense, threads, work.scratch(),
        [&](i64 i) {
            const double x = double(std::min(a.length(i), b.length(i)));
            return 50 + x * (50 + 2 * std::min(x, 500.0)) +
                   division_cost(a.length(i), b.length(i));
        },
        [&](i64 first, i64 last, u64* scratch, Found& found) {
            gcd_part(work, out.view, scratch, first, last, found);
        }));
}

}  // namespace

void bind_gcd(nb::module_& m) {
    m.def("bignum_gcd", &gcd, nb::arg("level"), nb::arg("a"), nb::arg("b"), nb::arg("threads"),
          "gcd(a, b).");
}

}  // namespace bignum

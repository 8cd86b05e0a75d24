// Products of batches: in lanes where the CPU has them and the numbers suit them, else by GMP.
#include <nanobind/stl/string.h>

#include <algorithm>

#include "batch.hpp"
#include "bind.hpp"

namespace bignum {
namespace {

// The fewest pairs that go into lanes: fewer leave too many lanes empty.
constexpr i64 LEAST = 6;

bool suits_lanes(const Batch& a, const Batch& b, i64 count) {
    const i64 least = std::min(a.width(), b.width()), most = std::max(a.width(), b.width());
    return a.dense() && b.dense() && count >= LEAST && least >= 1 && most <= LANES_WIDEST;
}

bool signs(const Batch& x) { return x.view.negative; }

double product_cost(i64 x, i64 y) {
    const double least = double(std::min(x, y)), most = double(std::max(x, y));
    return 10 + 0.3 * most * least / (1 + least / 256);
}

// Mixed lengths go into lanes, too: of a window of numbers, those of similar lengths together.
constexpr i64 WINDOW = 2048, BUCKET = 128;
// The shortest numbers that go into lanes: products of shorter ones take less time than moving
// them there.
constexpr i64 SHORTEST = 6;

struct Pair {
    i64 index;
    int shorter, longer;  // words, at most LANES_WIDEST
};

// Sorts by counting: comparisons would take a fifth of the time of the products.
void sort_by(int Pair::*key, Pair* pairs, i64 count) {
    Pair sorted[WINDOW];
    int starts[LANES_WIDEST + 2] = {};
    for (i64 k = 0; k < count; k++) starts[pairs[k].*key + 1]++;
    for (i64 n = 0; n <= LANES_WIDEST; n++) starts[n + 1] += starts[n];
    for (i64 k = 0; k < count; k++) sorted[starts[pairs[k].*key]++] = pairs[k];
    std::copy(sorted, sorted + count, pairs);
}

struct Mixed {
    const BignumOps& ops;
    const Lanes& lanes;
    const Operand &a, &b;
    i64 a_width, b_width;  // of the shorter and the longer rows at most

    Mixed(const BignumOps& ops_, const Lanes& lanes_, const Batch& x, const Batch& y)
        : ops(ops_),
          lanes(lanes_),
          a(x.view),
          b(y.view),
          a_width(std::min({x.view.width, y.view.width, LANES_WIDEST})),
          b_width(std::min(std::max(x.view.width, y.view.width), LANES_WIDEST)) {}

    i64 scratch() const {
        return lanes.multiply_scratch(a_width, b_width);
    }
    void part(const Result& out, u64* scratch, i64 first, i64 last, Found& found) const;

private:
    void alone(const Result& out, i64 i, Found& found) const {
        ops.multiply(a, b, gmp(), out, i, i + 1, found);
    }
    void prefetch(const Pair* pairs, i64 count, const Result& out) const;
    void together(const Pair* pairs, i64 count, const Result& out, u64* scratch,
                  Found& found) const;
};

// Multiplies up to LANES_COUNT pairs.
void Mixed::together(const Pair* pairs, i64 count, const Result& out, u64* scratch,
                     Found& found) const {
    Number x[LANES_COUNT] = {}, y[LANES_COUNT] = {};
    u64* rows[LANES_COUNT] = {};
    int shorter = 0, longer = 0;
    for (i64 k = 0; k < count; k++) {
        x[k] = number(a, pairs[k].index);
        y[k] = number(b, pairs[k].index);
        if (x[k].length > y[k].length) std::swap(x[k], y[k]);
        rows[k] = room(out, pairs[k].index);
        shorter = std::max(shorter, pairs[k].shorter);
        longer = std::max(longer, pairs[k].longer);
    }
    lanes.multiply_rows(x, y, rows, shorter, longer, scratch);
    for (i64 k = 0; k < count; k++)
        finish(out, pairs[k].index, pairs[k].shorter + pairs[k].longer,
               x[k].negative != y[k].negative, found);
}

// Lets the caches fetch what comes next: after sorting it lies anywhere.
void Mixed::prefetch(const Pair* pairs, i64 count, const Result& out) const {
    for (i64 k = 0; k < count; k++) {
        const Number x = number(a, pairs[k].index), y = number(b, pairs[k].index);
        const u64* product = room(out, pairs[k].index);
        for (i64 j = 0; j < x.length; j += 8) __builtin_prefetch(x.words + j, 0, 2);
        for (i64 j = 0; j < y.length; j += 8) __builtin_prefetch(y.words + j, 0, 2);
        for (i64 j = 0; j < x.length + y.length; j += 8) __builtin_prefetch(product + j, 1, 2);
    }
}

void Mixed::part(const Result& out, u64* scratch, i64 first, i64 last, Found& found) const {
    for (i64 start = first; start < last; start += WINDOW) {
        Pair pairs[WINDOW];
        i64 count = 0;
        for (i64 i = start; i < std::min(start + WINDOW, last); i++) {
            const i64 x = number(a, i).length, y = number(b, i).length;
            if (std::min(x, y) >= SHORTEST && std::max(x, y) <= LANES_WIDEST)
                pairs[count++] = {i, int(std::min(x, y)), int(std::max(x, y))};
            else
                alone(out, i, found);
        }
        sort_by(&Pair::longer, pairs, count);
        for (i64 k = 0; k < count; k += BUCKET)
            sort_by(&Pair::shorter, pairs + k, std::min(BUCKET, count - k));
        for (i64 k = 0; k < count; k += LANES_COUNT) {
            const i64 some = std::min(LANES_COUNT, count - k), next = k + some;
            prefetch(pairs + next, std::min(LANES_COUNT, count - next), out);
            if (some >= LEAST)
                together(pairs + k, some, out, scratch, found);
            else
                for (i64 j = k; j < count; j++) alone(out, pairs[j].index, found);
        }
    }
}

nb::tuple multiply(const std::string& level, nb::handle left, nb::handle right, int threads) {
    need_gmp();
    const BignumOps& ops = ops_of(level);
    const Batch a(left), b(right);
    const i64 count = common_count({a.view.count, b.view.count});
    const bool dense = a.dense() && b.dense();
    check_gmp_memory(double(a.view.width + b.view.width), count, threads);
    Output out = make_output(count, dense, a.width() + b.width(), signs(a) || signs(b),
                             [&](i64 i) { return a.length(i) + b.length(i); });
    const Lanes* lanes = lanes_of(level);
    auto cost = [&](i64 i) { return product_cost(a.length(i), b.length(i)); };
    if (lanes && suits_lanes(a, b, count))
        return out.numbers(for_each_part(
            count, true, threads, lanes->multiply_scratch(a.width(), b.width()), cost,
            [&](i64 first, i64 last, u64* scratch, Found& found) {
                lanes->multiply(a.view, b.view, out.view, scratch, first, last, found);
            }));
    if (lanes && !dense && count >= LEAST) {
        const Mixed mixed(ops, *lanes, a, b);
        return out.numbers(for_each_part(count, false, threads, mixed.scratch(), cost,
                                         [&](i64 first, i64 last, u64* scratch, Found& found) {
                                             mixed.part(out.view, scratch, first, last, found);
                                         }));
    }
    return out.numbers(for_each_part(count, dense, threads, 0, cost,
                                     [&](i64 first, i64 last, u64*, Found& found) {
                                         ops.multiply(a.view, b.view, gmp(), out.view, first, last,
                                                      found);
                                     }));
}

// Computes products in lanes, some at a time, and then the sums.
void multiply_add_lanes(const BignumOps& ops, const Lanes& lanes, const Operand& a,
                        const Operand& b, const Operand& c, bool tight, const Result& out,
                        i64 at_once, u64* scratch, i64 first, i64 last, Found& found) {
    const i64 width = a.width + b.width;
    bool minus[256];
    u64* const memory = scratch + at_once * width;
    for (i64 i = first; i < last; i += at_once) {
        const i64 count = std::min(at_once, last - i);
        const Result products = {scratch, nullptr, nullptr, count, width, minus};
        const Operand xy = {scratch, nullptr, nullptr, count, width, width, minus};
        Result sums = out;
        sums.words += i * out.step;
        if (sums.negative) sums.negative += i;
        Found ignored;
        lanes.multiply(part_of(a, i, count), part_of(b, i, count), products, memory, 0, count,
                       ignored);
        ops.add(xy, part_of(c, i, count), false, tight, sums, 0, count, found);
    }
}

nb::tuple multiply_add(const std::string& level, nb::handle left, nb::handle right,
                       nb::handle added, int threads) {
    need_gmp();
    const BignumOps& ops = ops_of(level);
    const Batch a(left), b(right), c(added);
    const i64 count = common_count({a.view.count, b.view.count, c.view.count});
    const bool dense = a.dense() && b.dense() && c.dense();
    check_gmp_memory(double(a.view.width + b.view.width), count, threads);
    // (A - 1) (B - 1) + C - 1 < A B, unless C is larger than both.
    auto bound = [](i64 x, i64 y, i64 z) {
        return z <= std::max(x, y) ? x + y : std::max(x + y, z) + 1;
    };
    const i64 width = bound(a.width(), b.width(), c.width());
    const bool tight = width == a.width() + b.width();
    Output out =
        make_output(count, dense, width, signs(a) || signs(b) || signs(c),
                    [&](i64 i) { return bound(a.length(i), b.length(i), c.length(i)); });
    const Lanes* lanes = dense && suits_lanes(a, b, count) ? lanes_of(level) : nullptr;
    const i64 room = a.view.width + b.view.width;
    const i64 at_once = std::clamp<i64>(4096 / (room + 1) / GRAIN * GRAIN, GRAIN, 256);
    return out.numbers(for_each_part(
        count, dense, threads,
        lanes ? at_once * room + lanes->multiply_scratch(a.width(), b.width()) : room,
        [&](i64 i) { return product_cost(a.length(i), b.length(i)) + double(c.length(i)); },
        [&](i64 first, i64 last, u64* scratch, Found& found) {
            if (lanes)
                multiply_add_lanes(ops, *lanes, a.view, b.view, c.view, tight, out.view, at_once,
                                   scratch, first, last, found);
            else
                ops.multiply_add(a.view, b.view, c.view, gmp(), out.view, scratch, first, last,
                                 found);
        }));
}

}  // namespace

void bind_products(nb::module_& m) {
    m.def("bignum_multiply", &multiply, nb::arg("level"), nb::arg("a"), nb::arg("b"),
          nb::arg("threads"), "a * b.");
    m.def("bignum_multiply_add", &multiply_add, nb::arg("level"), nb::arg("a"), nb::arg("b"),
          nb::arg("c"), nb::arg("threads"), "a * b + c.");
}

}  // namespace bignum

// Finds the functions of a CPU level, and binds sums of batches. Each bound function takes
// objects with the attributes of kernels.bignum.numbers.Numbers and returns the arguments of a
// new one.
#include "../../levels.hpp"
#include "bind.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <string>

#include "batch.hpp"
#include "lanes.hpp"

LEVELS_OF(bignum::BignumOps, bignum)

namespace bignum {
namespace {

}  // namespace

const BignumOps& ops_of(const std::string& name) { return ops_at(bignum_levels, name); }

const BignumOps& best_ops() {
    static const BignumOps& best = [] () -> const BignumOps& {
        const Level<BignumOps>* found = bignum_levels;
        for (const auto& level : bignum_levels)
            if (supported(level.name)) found = &level;
        return *found->ops;
    }();
    return best;
}

const Lanes* lanes_of(const std::string& level) {
#if defined(HAVE_LANES)
    if (level == "v4" && __builtin_cpu_supports("avx512ifma")) return &bignum_lanes;
#else
    (void)level;
#endif
    return nullptr;
}

namespace {

bool signs(const Batch& x) { return x.view.negative; }

nb::tuple add(const std::string& level, nb::handle left, nb::handle right, bool subtract,
              int threads) {
    const BignumOps& ops = ops_of(level);
    const Batch a(left), b(right);
    const i64 count = common_count({a.view.count, b.view.count});
    const bool dense = a.dense() && b.dense(), minus = signs(a) || signs(b) || subtract;
    const i64 width = std::max(a.width(), b.width());
    auto cost = [&](i64 i) { return 5 + 1.2 * double(std::max(a.length(i), b.length(i))); };
    auto run = [&](bool tight, Output& out, i64 numbers) {
        std::atomic<bool> overflow{false};
        return for_each_part(numbers, dense, threads, 0, cost,
                             [&](i64 first, i64 last, u64*, Found& found) {
                                 if (overflow) return;
                                 ops.add(a.view, b.view, subtract, tight, out.view, first, last,
                                         found);
                                 if (found.overflow) overflow = true;
                             });
    };
    // Sums seldom have more words than their operands, unless the operands fill their words:
    // then one of the first few does.
    const i64 few = std::min<i64>(count, 64);
    if (dense && width) {
        Output probe(few, width, minus);
        if (!run(true, probe, few).overflow) {
            Output out(count, width, minus);
            const Found found = run(true, out, count);
            if (!found.overflow) return out.numbers(found);
        }
    }
    Output out = make_output(count, dense, width + 1, minus, [&](i64 i) {
        return std::max(a.length(i), b.length(i)) + 1;
    });
    return out.numbers(run(false, out, count));
}

nb::tuple sum(const std::string& level, nb::handle numbers, int threads) {
    const BignumOps& ops = ops_of(level);
    const Batch a(numbers);
    const i64 width = a.view.width + 1;  // there are fewer than 2^64 numbers
    const Parts parts = cut_parts(a.view.count, a.dense(), threads,
                                  [&](i64 i) { return 5 + 0.7 * double(a.length(i)); });
    check_memory(2 * double(width) * double(parts.count()));
    // For each part there are two sums: of the positive numbers and of the negative ones.
    std::vector<u64> sums(std::size_t(2 * width * parts.count()));
    run_parts(parts, threads, 0, [&](i64 part, i64 first, i64 last, u64*, Found&) {
        ops.sum(a.view, sums.data() + 2 * width * part, width, first, last);
    });
    Operand positive = {sums.data(), nullptr, nullptr, parts.count(), 2 * width, width, nullptr};
    Operand negative = positive;
    negative.words += width;
    std::vector<u64> totals(std::size_t(4 * width));
    ops.sum(positive, totals.data(), width, 0, parts.count());
    ops.sum(negative, totals.data() + 2 * width, width, 0, parts.count());
    const Operand plus = {totals.data(), nullptr, nullptr, 1, 0, width, nullptr};
    const Operand minus = {totals.data() + 2 * width, nullptr, nullptr, 1, 0, width, nullptr};
    Output out(1, width + 1, true);
    Found found;
    ops.add(plus, minus, true, false, out.view, 0, 1, found);
    return out.numbers(found);
}

}  // namespace
}  // namespace bignum

void bind_bignum(nanobind::module_& m) {
    using namespace bignum;
    m.def("bignum_add", &add, nb::arg("level"), nb::arg("a"), nb::arg("b"), nb::arg("subtract"),
          nb::arg("threads"), "a + b, or a - b.");
    m.def("bignum_sum", &sum, nb::arg("level"), nb::arg("a"), nb::arg("threads"),
          "The sum of all numbers of the batch, as a batch of one.");
    bind_products(m);
    bind_moves(m);
    bind_gmp(m);
    bind_powers(m);
    bind_gcd(m);
    bind_convert(m);
    bind_text(m);
}

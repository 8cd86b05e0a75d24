// Binds sums and products of rationals in lanes.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <atomic>

#include "../../bignum/cpu/batch.hpp"
#include "../../bignum/cpu/bind.hpp"
#include "ratios.hpp"

namespace {

using namespace bignum;
using rational::Operation;

const rational::RatioLanes* lanes_at(const std::string& level) {
#if defined(HAVE_LANES)
    if (lanes_of(level)) return &rational::ratio_lanes;
#else
    (void)level;
#endif
    return nullptr;
}

Operation operation_named(const std::string& name) {
    if (name == "add") return Operation::ADD;
    if (name == "subtract") return Operation::SUBTRACT;
    if (name == "multiply") return Operation::MULTIPLY;
    throw nb::value_error(("no operation " + name).c_str());
}

// Raises ValueError where a denominator is zero, or negative where that may not be.
void need_denominators(const Batch& d, bool signs) {
    const Signals signals;
    for (i64 i = 0; i < d.view.count; i++) {
        signals.at(std::size_t(i));
        const Number x = number(d.view, i);
        if (!x.length) throw nb::value_error("a denominator is zero");
        if (x.negative && !signs) throw nb::value_error("denominators of sums are not negative");
    }
}

// Returns the numerators and denominators, or None where lanes cannot have them.
nb::object combine(const std::string& level, const std::string& name, nb::handle n1, nb::handle d1, nb::handle n2,
                   nb::handle d2, int threads) {
    const Operation operation = operation_named(name);
    const Batch a(n1), b(d1), c(n2), d(d2);
    const i64 count = common_count({a.view.count, b.view.count, c.view.count, d.view.count});
    i64 widest = 1;
    bool dense = true;
    for (const Batch* x : {&a, &b, &c, &d}) {
        widest = std::max(widest, x->view.width);
        dense &= x->dense();
    }
    const bool product = operation == Operation::MULTIPLY;
    for (const Batch* x : {&b, &d}) need_denominators(*x, product);
    const rational::RatioLanes* lanes = lanes_at(level);
    if (!lanes || !dense || widest > (product ? rational::WIDEST : rational::WIDEST_IN_SUMS)) return nb::none();
    const i64 n_width = product
                            ? a.width() + c.width()
                            : std::max(a.width() + d.width(), c.width() + b.width()) + 1;
    const Output n(count, n_width, true), denominators(count, b.width() + d.width(), false);
    std::atomic<i64> longest{0};  // of the denominators
    const Found found = for_each_part(
        count, true, threads, lanes->scratch(widest),
        [&](i64) { return 50 + 30 * double(widest) + 4 * double(widest) * double(widest); },
        [&](i64 first, i64 last, u64* scratch, Found& part) {
            rational::Results out = {n.view, denominators.view, {}, {}};
            lanes->compute(operation, {a.view, b.view}, {c.view, d.view}, out, scratch, first, last);
            part = out.found_n;
            for (i64 now = longest; now < out.found_d.longest;)
                longest.compare_exchange_weak(now, out.found_d.longest);
        });
    Found below;
    below.longest = longest;
    return nb::make_tuple(n.numbers(found), denominators.numbers(below));
}

}  // namespace

void bind_rational(nb::module_& m) {
    m.def("rational_combine", &combine, nb::arg("level"), nb::arg("operation"), nb::arg("n1"), nb::arg("d1"),
          nb::arg("n2"), nb::arg("d2"), nb::arg("threads"),
          "The numerators and denominators of sums, differences or products of rationals in lowest terms; None where "
          "numbers are too long, their lengths mixed, or the CPU or level has no lanes.");
}

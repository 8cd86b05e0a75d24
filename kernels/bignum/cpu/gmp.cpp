// Computes with GMP, number by number.
#include <dlfcn.h>

#include <nanobind/stl/string.h>

#include <cstring>

#include "batch.hpp"
#include "bind.hpp"
#include "gmp_calls.hpp"
#include "mpz.hpp"
#include "two_adic.hpp"

namespace bignum {
namespace {

Gmp calls;  // the library's functions, in such a way that calls can be left
bool is_loaded = false;

// Finds GMP's functions through a library that is linked to it. Returns why it cannot be used,
// or "".
std::string load_gmp(const std::string& path) {
    if (is_loaded) return "";
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) return dlerror();
    // The library is never closed: its functions are used to the end.
    const auto* bits = static_cast<const int*>(dlsym(library, "__gmp_bits_per_limb"));
    if (!bits || *bits != 64) return "no GMP with words of 64 bits in " + path;
    Gmp found;
#define RESOLVE(result, name, arguments)                                                 \
    found.name = reinterpret_cast<result(*) arguments>(dlsym(library, "__g" #name));     \
    if (!found.name) return "no " #name " in " + path;
    BIGNUM_GMP(RESOLVE)
#undef RESOLVE
    // In a build of GMP with nails a word would not hold all of 2^64 - 1.
    Limb ones;
    const unsigned char digits[16] = {15, 15, 15, 15, 15, 15, 15, 15,
                                      15, 15, 15, 15, 15, 15, 15, 15};
    if (found.mpn_set_str(&ones, digits, 16, 16) != 1 || ~ones)
        return "GMP with nails in " + path;
    calls = leavable(found);
    is_loaded = true;
    return "";
}

// Computes r += 1 in place and returns its length.
i64 increment(u64* r, i64 length) {
    for (i64 i = 0; i < length; i++)
        if (++r[i]) return length;
    r[length] = 1;
    return length + 1;
}

// Lengths of a quotient and a remainder.
struct Lengths {
    i64 quotient, remainder;
};

// Divides x by y, which is not zero, and rounds down; returns the lengths of both results.
Lengths divide(u64* q, u64* r, const Number& x, const Number& y) {
    Lengths n = {0, x.length};
    if (x.length < y.length) {
        if (x.length) std::memcpy(r, x.words, std::size_t(x.length) * 8);
    } else {
        gmp().mpn_tdiv_qr(q, r, 0, x.words, x.length, y.words, y.length);
        n = {trimmed(q, x.length - y.length + 1), trimmed(r, y.length)};
    }
    if (x.negative != y.negative && n.remainder) {
        n.quotient = increment(q, n.quotient);
        subtract_from(r, n.remainder, y);
        n.remainder = y.length;
    }
    return n;
}

nb::tuple divide_batches(nb::handle left, nb::handle right, bool want_quotient,
                         bool want_remainder, int threads) {
    need_gmp();
    const Batch a(left), b(right);
    const i64 count = common_count({a.view.count, b.view.count});
    const bool dense = a.dense() && b.dense(), signs = a.view.negative || b.view.negative;
    check_gmp_memory(double(a.view.width + b.view.width), count, threads);
    i64 shortest = b.view.width;
    const Signals signals;
    for (i64 i = 0; i < b.view.count; i++) {
        signals.at(std::size_t(i));
        const i64 length = b.trimmed_length(i);
        if (!length) throw nb::value_error("division by zero");
        shortest = std::min(shortest, length);
    }
    auto quotient_bound = [&](i64 x, i64 y) { return std::max<i64>(x - y + 1, 0) + signs; };
    auto remainder_bound = [&](i64 x, i64 y) { return signs ? y : std::min(x, y); };
    const i64 widest = a.view.width + 2;
    const i64 quotient_scratch = want_quotient ? 0 : widest;
    const i64 scratch = quotient_scratch + (want_remainder ? 0 : b.view.width);
    std::optional<Output> q, r;
    if (want_quotient)
        q = make_output(count, dense, quotient_bound(a.width(), shortest), signs,
                        [&](i64 i) { return quotient_bound(a.length(i), b.trimmed_length(i)); });
    if (want_remainder)
        r = make_output(count, dense, remainder_bound(a.width(), b.width()), signs,
                        [&](i64 i) { return remainder_bound(a.length(i), b.length(i)); });
    std::atomic<i64> longest{0};  // of the remainders
    std::atomic<bool> negative{false};
    const Found found = for_each_part(
        count, dense, threads, scratch,
        [&](i64 i) { return division_cost(a.length(i), b.length(i)); },
        [&](i64 first, i64 last, u64* memory, Found& quotients) {
            Found remainders;
            for (i64 i = first; i < last; i++) {
                const Number x = number(a.view, i), y = number(b.view, i);
                const Lengths n = divide(q ? room(q->view, i) : memory,
                                         r ? room(r->view, i) : memory + quotient_scratch, x, y);
                if (q) finish(q->view, i, n.quotient, x.negative != y.negative, quotients);
                if (r) finish(r->view, i, n.remainder, y.negative, remainders);
            }
            for (i64 now = longest; now < remainders.longest;)
                longest.compare_exchange_weak(now, remainders.longest);
            if (remainders.negative) negative = true;
        });
    Found remainders;
    remainders.longest = longest;
    remainders.negative = negative;
    if (!r) return q->numbers(found);
    if (!q) return r->numbers(remainders);
    return nb::make_tuple(q->numbers(found), r->numbers(remainders));
}

nb::tuple divmod(nb::handle a, nb::handle b, int threads) {
    return divide_batches(a, b, true, true, threads);
}
nb::tuple floordiv(nb::handle a, nb::handle b, int threads) {
    return divide_batches(a, b, true, false, threads);
}
nb::tuple mod(nb::handle a, nb::handle b, int threads) {
    return divide_batches(a, b, false, true, threads);
}

nb::tuple isqrt(nb::handle numbers, int threads) {
    need_gmp();
    const Batch a(numbers);
    check_gmp_memory(double(a.view.width), a.view.count, threads);
    auto bound = [&](i64 i) { return (a.length(i) + 1) / 2; };
    Output out = make_output(a.view.count, a.dense(), (a.view.width + 1) / 2, false, bound);
    return out.numbers(for_each_part(
        a.view.count, a.dense(), threads, 0,
        [&](i64 i) { return 30 + division_cost(a.length(i), (a.length(i) + 1) / 2); },
        [&](i64 first, i64 last, u64*, Found& found) {
            for (i64 i = first; i < last; i++) {
                const Number x = number(a.view, i);
                if (x.length) gmp().mpn_sqrtrem(room(out.view, i), nullptr, x.words, x.length);
                finish(out.view, i, (x.length + 1) / 2, false, found);
            }
        }));
}

// Computes the inverse of x modulo |m|, and returns its length; -1 where there is none.
i64 inverse_of(const Number& x, const Number& m, u64* r, u64* scratch, OwnMpz& inverse) {
    if (m.length == 1 && m.words[0] == 1) return 0;  // modulo 1 all are 0
    if (is_power_of_two(m)) {
        if (!x.length || x.words[0] % 2 == 0) return -1;
        const i64 bits = 64 * (m.length - 1) + __builtin_ctzll(m.words[m.length - 1]);
        return trimmed(r, inverted_two_adic(r, x, bits, scratch));
    }
    const Mpz a = mpz_of(x), z = mpz_of({m.words, m.length, false});
    if (!gmp().mpz_invert(&inverse.value, &a, &z)) return -1;
    const i64 length = inverse.length();
    if (length) std::memcpy(r, inverse.value.words, std::size_t(length) * 8);
    return length;
}

// Returns inverses modulo m, with the signs of pow(a, -1, m), or the first index that has none.
nb::object invert(nb::handle numbers, nb::handle moduli, int threads) {
    need_gmp();
    const Batch a(numbers), m(moduli);
    for (const Batch* x : {&a, &m}) check_length(*x);
    const i64 count = common_count({a.view.count, m.view.count});
    check_gmp_memory(4 * double(std::max(a.view.width, m.view.width)), count, threads);
    i64 scratch = 0;
    const Signals signals;
    for (i64 i = 0; i < m.view.count; i++) {
        signals.at(std::size_t(i));
        const Number modulus = number(m.view, i);
        if (!modulus.length) throw nb::value_error("a modulus is zero");
        if (is_power_of_two(modulus)) scratch = std::max(scratch, two_adic_scratch(modulus.length));
    }
    Output out = make_output(count, m.dense(), m.width(), m.view.negative,
                             [&](i64 i) { return m.length(i); });
    std::atomic<i64> first_without{count};
    const Found found = for_each_part(
        count, a.dense() && m.dense(), threads, scratch,
        [&](i64 i) {
            const double n = double(m.length(i));
            return 300 + division_cost(a.length(i), m.length(i)) + 300 * n + 10 * n * n / (1 + n / 256);
        },
        [&](i64 first, i64 last, u64* memory, Found& part) {
            OwnMpz inverse;
            for (i64 i = first; i < last && i < first_without; i++) {
                const Number x = number(a.view, i), modulus = number(m.view, i);
                u64* const r = room(out.view, i);
                const i64 length = inverse_of(x, modulus, r, memory, inverse);
                if (length < 0) {
                    for (i64 now = first_without;
                         i < now && !first_without.compare_exchange_weak(now, i);) {}
                    return;
                }
                const bool negative = modulus.negative && length;
                if (negative) subtract_from(r, length, modulus);
                finish(out.view, i, negative ? modulus.length : length, modulus.negative, part);
            }
        });
    if (first_without < count) return nb::int_(i64(first_without));
    return out.numbers(found);
}

nb::tuple power(nb::handle base, Array<i64> exponents, int threads) {
    need_gmp();
    const Batch a(base);
    check_length(a);
    checks::require_aligned(exponents);
    const i64 count = common_count({a.view.count, i64(exponents.size())});
    auto exponent = [&](i64 i) { return exponents.data()[exponents.size() == 1 ? 0 : i]; };
    std::vector<i64> bounds = each_count(count);
    std::fill(bounds.begin(), bounds.end(), 1);
    const Signals signals;
    i64 most = 0;
    for (i64 i = 0; i < count; i++) {
        signals.at(std::size_t(i));
        if (exponent(i) < 0) throw nb::value_error("an exponent is negative");
        const Number x = number(a.view, i);
        if (!exponent(i) || !x.length || (x.length == 1 && x.words[0] == 1)) continue;
        const i64 bits = 64 * x.length - __builtin_clzll(x.words[x.length - 1]);
        const auto words = (__int128)bits * exponent(i) / 64 + 1;
        bounds[std::size_t(i)] = i64(std::min<__int128>(words, TOO_MANY));
        most = std::max(most, bounds[std::size_t(i)]);
    }
    check_gmp_memory(double(most), count, threads);
    if (most >= (i64(1) << 31)) throw nb::value_error("a power of over 2^37 bits");
    Output out(bounds, a.dense(), a.view.negative);
    return out.numbers(for_each_part(
        count, false, threads, 0,
        [&](i64 i) {
            const double n = double(bounds[std::size_t(i)]);
            return 100 + n * n / (1 + n / 256);
        },
        [&](i64 first, i64 last, u64*, Found& found) {
            OwnMpz result;
            for (i64 i = first; i < last; i++) {
                const Number x = number(a.view, i);
                // Every power of 0, 1 and -1 is the same for all exponents of
                // one parity.
                const bool unit = x.length <= 1 && (!x.length || x.words[0] == 1);
                const i64 e = exponent(i);
                const Mpz b = mpz_of(x);
                gmp().mpz_pow_ui(&result.value, &b, (unsigned long)(unit && e > 2 ? 2 - e % 2 : e));
                store(out.view, i, result, found);
            }
        }));
}

}  // namespace

void need_gmp() {
    if (!is_loaded) throw std::runtime_error("GMP is not loaded");
}

const Gmp& gmp() { return calls; }

void bind_gmp(nb::module_& m) {
    m.def("bignum_load_gmp", &load_gmp, nb::arg("path"),
          "Why GMP cannot be used, or ''. path: of a library that is linked to it.");
    m.def("bignum_divmod", &divmod, nb::arg("a"), nb::arg("b"), nb::arg("threads"),
          "Floor quotients and remainders: a pair of batches.");
    m.def("bignum_floordiv", &floordiv, nb::arg("a"), nb::arg("b"), nb::arg("threads"),
          "Floor quotients.");
    m.def("bignum_mod", &mod, nb::arg("a"), nb::arg("b"), nb::arg("threads"),
          "Remainders with the divisor's sign.");
    m.def("bignum_isqrt", &isqrt, nb::arg("a"), nb::arg("threads"), "floor(sqrt(a)).");
    m.def("bignum_invert", &invert, nb::arg("a"), nb::arg("moduli"), nb::arg("threads"),
          "pow(a, -1, moduli), or the first index at which there is no inverse.");
    m.def("bignum_power", &power, nb::arg("a"), nb::arg("exponents"), nb::arg("threads"),
          "a[i] ** exponents[i], exponents of int64.");
}

}  // namespace bignum

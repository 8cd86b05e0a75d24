// Powers of batches modulo numbers: in lanes where the CPU has them and the moduli are odd, else by GMP.
#include <nanobind/stl/string.h>

#include <algorithm>

#include "mpz.hpp"

namespace bignum {
namespace {

// The fewest powers that go into lanes: fewer leave too many lanes empty.
constexpr i64 LEAST = 2;
// The longest moduli for lanes, in words.
constexpr i64 WIDEST = LANES_WIDEST;
// The most numbers that are looked at together, so that those of about the same length share lanes.
constexpr i64 WINDOW = 512;
// How many times as long GMP takes for a power as the lanes do, roughly.
constexpr double GAIN = 6;

i64 bits_of(const Number& x) {
    return x.length ? 64 * x.length - __builtin_clzll(x.words[x.length - 1]) : 0;
}

// Makes r, a power's remainder of so many words, what Python has it: not negative, or with the modulus' sign.
// opposite: the power is negative. Returns the length.
i64 with_sign(u64* r, i64 length, const Number& modulus, bool opposite) {
    if (!length || opposite == modulus.negative) return length;
    subtract_from(r, length, modulus);
    return modulus.length;
}

struct Work {
    const Operand &a, &e, &m;
    const Lanes* lanes;  // or null
    i64 widest;          // of the moduli that may go into lanes

    Work(const Batch& base, const Batch& exponents, const Batch& moduli, const Lanes* given)
        : a(base.view),
          e(exponents.view),
          m(moduli.view),
          lanes(given),
          widest(std::clamp<i64>(moduli.view.width, 1, WIDEST)) {}

    // Returns the words for the lanes, for what is left of each base, and for a quotient.
    i64 scratch() const {
        return lanes ? lanes->power_scratch(widest) + POWER_ROWS * widest + a.width + 1 : 0;
    }
    void by_gmp(const Result& out, i64 i, OwnMpz& power, Found& found) const;
    void together(const i64* indices, i64 count, const Result& out, u64* scratch, Found& found) const;
};

void Work::by_gmp(const Result& out, i64 i, OwnMpz& power, Found& found) const {
    const Number modulus = number(m, i);
    const Mpz x = mpz_of(number(a, i)), y = mpz_of(number(e, i));
    const Mpz z = mpz_of({modulus.words, modulus.length, false});
    gmp().mpz_powm(&power.value, &x, &y, &z);
    u64* r = room(out, i);
    if (power.length()) std::memcpy(r, power.value.words, std::size_t(power.length()) * 8);
    // GMP's remainder is not negative, whatever the base is.
    finish(out, i, with_sign(r, power.length(), modulus, false), modulus.negative, found);
}

// Computes up to POWER_ROWS powers in lanes, whose moduli have the same number of limbs.
void Work::together(const i64* indices, i64 count, const Result& out, u64* scratch, Found& found) const {
    u64* const rest = scratch + lanes->power_scratch(widest);
    u64* const quotient = rest + POWER_ROWS * widest;
    Number bases[POWER_ROWS], exponents[POWER_ROWS], moduli[POWER_ROWS];
    u64* results[POWER_ROWS] = {};
    for (i64 k = 0; k < POWER_ROWS; k++) {
        if (k >= count) {
            bases[k] = bases[0], exponents[k] = exponents[0], moduli[k] = moduli[0];
            continue;
        }
        const i64 i = indices[k];
        Number x = number(a, i);
        exponents[k] = number(e, i);
        moduli[k] = number(m, i);
        results[k] = room(out, i);
        if (x.length > moduli[k].length || bits_of(x) > bits_of(moduli[k]) + 1) {
            u64* const remainder = rest + k * widest;
            gmp().mpn_tdiv_qr(quotient, remainder, 0, x.words, x.length, moduli[k].words, moduli[k].length);
            x = {remainder, trimmed(remainder, moduli[k].length), false};
        }
        bases[k] = x;
    }
    lanes->power(bases, exponents, moduli, results, count, scratch);
    for (i64 k = 0; k < count; k++) {
        const i64 i = indices[k];
        const bool odd = exponents[k].length && exponents[k].words[0] & 1;
        const i64 length = trimmed(results[k], moduli[k].length);
        finish(out, i, with_sign(results[k], length, moduli[k], odd && number(a, i).negative),
               moduli[k].negative, found);
    }
}

struct Row {
    i64 limbs, exponent, index;
    bool operator<(const Row& other) const {
        return limbs != other.limbs         ? limbs < other.limbs
               : exponent != other.exponent ? exponent < other.exponent
                                            : index < other.index;
    }
};

void powers_part(const Work& work, const Result& out, u64* scratch, i64 first, i64 last, Found& found) {
    OwnMpz power;
    for (i64 start = first; start < last && !left(); start += WINDOW) {
        Row rows[WINDOW];
        i64 count = 0;
        for (i64 i = start; i < std::min(start + WINDOW, last); i++) {
            const Number modulus = number(work.m, i), exponent = number(work.e, i);
            if (work.lanes && modulus.words[0] & 1 && modulus.length <= work.widest && exponent.length)
                rows[count++] = {power_limbs(bits_of(modulus)), exponent.length, i};
            else
                work.by_gmp(out, i, power, found);
        }
        std::sort(rows, rows + count);
        for (i64 k = 0; k < count && !left();) {
            i64 indices[POWER_ROWS], some = 0;
            while (some < POWER_ROWS && k + some < count && rows[k + some].limbs == rows[k].limbs) {
                indices[some] = rows[k + some].index;
                some++;
            }
            k += some;
            if (some >= LEAST)
                work.together(indices, some, out, scratch, found);
            else
                for (i64 j = 0; j < some; j++) work.by_gmp(out, indices[j], power, found);
        }
    }
}

nb::tuple powmod(const std::string& level, nb::handle base, nb::handle exponents, nb::handle moduli,
                 int threads) {
    need_gmp();
    const Batch a(base), e(exponents), m(moduli);
    for (const Batch* x : {&a, &e, &m}) check_length(*x);
    const i64 count = common_count({a.view.count, e.view.count, m.view.count});
    check_gmp_memory(double(std::max(a.view.width, 2 * m.view.width)), count, threads);
    const Signals signals;
    for (i64 i = 0; i < m.view.count; i++) {
        signals.at(std::size_t(i));
        if (!m.trimmed_length(i)) throw nb::value_error("a modulus is zero");
    }
    for (i64 i = 0; e.view.negative && i < e.view.count; i++) {
        signals.at(std::size_t(i));
        if (number(e.view, i).negative) throw nb::value_error("an exponent is negative");
    }
    Output out = make_output(count, m.dense(), m.width(), m.view.negative,
                             [&](i64 i) { return m.length(i); });
    const Work work(a, e, m, count >= LEAST ? lanes_of(level) : nullptr);
    const bool uniform = a.dense() && e.dense() && m.dense();
    auto cost = [&](i64 i) {
        const double n = double(m.length(i));
        const double products = 80 * double(e.length(i)) * (10 + n * n / (1 + n / 256));
        return 200 + division_cost(a.length(i), m.length(i)) +
               products / (work.lanes && m.length(i) <= WIDEST ? GAIN : 1);
    };
    // Threads are given blocks of numbers, so that lanes are full: of different numbers more, so that
    // some are alike.
    const i64 most = uniform ? POWER_ROWS : WINDOW;
    const i64 share = count / (4 * i64(std::max(threads, 1))) / POWER_ROWS * POWER_ROWS;
    const i64 block = work.lanes ? std::clamp(share, POWER_ROWS, most) : 1;
    return out.numbers(for_each_part(
        (count + block - 1) / block, uniform, threads, work.scratch(),
        [&](i64 n) {
            double sum = 0;
            if (uniform) return cost(0) * double(block);
            for (i64 i = n * block; i < std::min(count, (n + 1) * block); i++) sum += cost(i);
            return sum;
        },
        [&](i64 first, i64 last, u64* scratch, Found& found) {
            powers_part(work, out.view, scratch, first * block, std::min(count, last * block), found);
        }));
}

}  // namespace

void bind_powers(nb::module_& m) {
    m.def("bignum_powmod", &powmod, nb::arg("level"), nb::arg("a"), nb::arg("exponents"), nb::arg("moduli"),
          nb::arg("threads"), "pow(a, exponents, moduli).");
}

}  // namespace bignum

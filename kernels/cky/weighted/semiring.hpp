// Numbers in which weights are multiplied and added, for the CPU and CUDA.
//
// A semiring has Value, what a chart holds, and Sum, which collects products of two values.
// value() makes a Value of a Sum; result() makes a Result, what callers get. CONSTANTS: how many
// words of() takes. semirings.py names these structs; SEMIRINGS, below, are those of the CPU.
// Products and sums of floats are made in the same order and rounded the same way everywhere:
// they are not contracted into fused operations.
#pragma once
#include "../../bits.hpp"

namespace {

// Loaded and stored as a whole on a GPU; on the CPU arrays have the alignment that numpy gives
// them.
#if defined(__CUDACC__)
#define WHOLE(bytes) alignas(bytes)
#else
#define WHOLE(bytes)
#endif

#if defined(__CUDACC__)
#define UNROLL _Pragma("unroll")
#else
#define UNROLL
#endif

#if defined(__CUDA_ARCH__)
BITS_FN double times(double x, double y) { return __dmul_rn(x, y); }
BITS_FN double plus(double x, double y) { return __dadd_rn(x, y); }
#else
BITS_FN double times(double x, double y) { return x * y; }
BITS_FN double plus(double x, double y) { return x + y; }
#endif

constexpr double RADIX = 0x1p960, SHRINK = 0x1p-960;
constexpr double LEAST = 0x1p-480, MOST = 0x1p480;

// A float with an exponent of its own: mantissa * RADIX^exponent, with the mantissa in [LEAST,
// MOST), or zero (with exponent zero), as Fukushima's X-numbers (2012). In a Sum the mantissa is
// in about [LEAST^2, MOST^2): of numbers whose exponents differ by three, the lesser changes
// nothing.
struct WHOLE(16) ScaledNumber {
    double mantissa;
    int exponent;
};

BITS_FN double shrunk(double mantissa, int by) {  // by: 1 or 2
    mantissa = times(mantissa, SHRINK);
    return by == 2 ? times(mantissa, SHRINK) : mantissa;
}

template <bool MAXIMA>
struct Scaled {
    using Value = ScaledNumber;
    using Sum = ScaledNumber;
    using Result = ScaledNumber;
    static constexpr u32 CONSTANTS = 0;

    BITS_FN static Scaled of(const u32*) { return {}; }
    BITS_FN static Sum zero() { return {0.0, 0}; }
    BITS_FN static bool is_zero(const Value& x) { return x.mantissa == 0.0; }
    BITS_FN static bool empty(const Sum& x) { return x.mantissa == 0.0; }

    BITS_FN void add(Sum& sum, const Value& x, const Value& y) const {
        const double m = times(x.mantissa, y.mantissa);
        const int e = x.exponent + y.exponent;
        if (e == sum.exponent) {
            if (MAXIMA) sum.mantissa = m > sum.mantissa ? m : sum.mantissa;
            else sum.mantissa = plus(sum.mantissa, m);
            return;
        }
        if (m == 0.0) return;
        const int above = sum.exponent - e;
        if (sum.mantissa == 0.0 || above < -2) {
            sum = {m, e};
        } else if (above > 0) {
            if (above > 2) return;
            const double other = shrunk(m, above);
            if (!MAXIMA) sum.mantissa = plus(sum.mantissa, other);
            else if (other > sum.mantissa) sum = {m, e};
        } else {
            const double other = shrunk(sum.mantissa, -above);
            if (!MAXIMA) sum = {plus(m, other), e};
            else if (m > other) sum = {m, e};
        }
    }
    BITS_FN Value value(const Sum& sum, bool&) const {
        if (sum.mantissa >= MOST) return {times(sum.mantissa, SHRINK), sum.exponent + 1};
        if (sum.mantissa == 0.0) return zero();
        if (sum.mantissa < LEAST) return {times(sum.mantissa, RADIX), sum.exponent - 1};
        return sum;
    }
    BITS_FN Result result(const Value& x) const { return x; }
};

// The same numbers while all exponents are zero; value() tells when one is not.
template <bool MAXIMA>
struct Plain {
    using Value = double;
    using Sum = double;
    using Result = ScaledNumber;
    static constexpr u32 CONSTANTS = 0;

    BITS_FN static Plain of(const u32*) { return {}; }
    BITS_FN static Sum zero() { return 0.0; }
    BITS_FN static bool is_zero(Value x) { return x == 0.0; }
    BITS_FN static bool empty(Sum x) { return x == 0.0; }

    BITS_FN void add(Sum& sum, Value x, Value y) const {
        const double m = times(x, y);
        if (MAXIMA) sum = m > sum ? m : sum;
        else sum = plus(sum, m);
    }
    BITS_FN Value value(Sum sum, bool& outside) const {
        outside |= sum != 0.0 && !(sum >= LEAST && sum < MOST);
        return sum;
    }
    BITS_FN Result result(Value x) const { return {x, 0}; }
};

// Residues modulo COUNT primes between 2^30 and 2^31, times 2^32 (Montgomery 1985). A Sum is
// kept below p^2.
template <int COUNT>
struct Residues {
    struct WHOLE(4 * COUNT) Value {
        u32 at[COUNT];
    };
    struct WHOLE(COUNT < 4 ? 8 * COUNT : 16) Sum {
        u64 at[COUNT];
    };
    using Result = Value;
    static constexpr u32 CONSTANTS = 2 * COUNT;

    u32 primes[COUNT], inverses[COUNT];  // the latter of -p modulo 2^32
    u64 squares[COUNT];

    // Takes the primes, and then the inverses.
    BITS_FN static Residues of(const u32* constants) {
        Residues ring;
        UNROLL
        for (int i = 0; i < COUNT; i++) {
            ring.primes[i] = constants[i];
            ring.inverses[i] = constants[COUNT + i];
            ring.squares[i] = u64(constants[i]) * constants[i];
        }
        return ring;
    }
    BITS_FN static Sum zero() { return Sum{}; }
    // Tells whether a value is zero modulo all primes, and so adds nothing. One that is zero
    // only modulo some may be added: it adds nothing there.
    BITS_FN static bool is_zero(const Value& x) {
        u32 any = 0;
        UNROLL
        for (int i = 0; i < COUNT; i++) any |= x.at[i];
        return !any;
    }
    BITS_FN static bool empty(const Sum& x) {
        u64 any = 0;
        UNROLL
        for (int i = 0; i < COUNT; i++) any |= x.at[i];
        return !any;
    }
    BITS_FN void add(Sum& sum, const Value& x, const Value& y) const {
        UNROLL
        for (int i = 0; i < COUNT; i++) {
            const u64 more = sum.at[i] + u64(x.at[i]) * y.at[i], less = more - squares[i];
            sum.at[i] = less < more ? less : more;
        }
    }
    BITS_FN u32 reduce(u64 x, int i) const {  // x / 2^32 for x < p^2
        const u64 multiple = u64(u32(x) * inverses[i]) * primes[i];
        const u32 high = u32((x + multiple) >> 32), less = high - primes[i];
        return less < high ? less : high;
    }
    BITS_FN Value value(const Sum& sum, bool&) const {
        Value x;
        UNROLL
        for (int i = 0; i < COUNT; i++) x.at[i] = reduce(sum.at[i], i);
        return x;
    }
    BITS_FN Result result(const Value& x) const {
        Value plain;
        UNROLL
        for (int i = 0; i < COUNT; i++) plain.at[i] = reduce(x.at[i], i);
        return plain;
    }
};

// Whole numbers modulo 2^64, as unsigned words wrap.
struct Wrapping {
    using Value = u64;
    using Sum = u64;
    using Result = u64;
    static constexpr u32 CONSTANTS = 0;

    BITS_FN static Wrapping of(const u32*) { return {}; }
    BITS_FN static Sum zero() { return 0; }
    BITS_FN static bool is_zero(Value x) { return !x; }
    BITS_FN static bool empty(Sum x) { return !x; }
    BITS_FN void add(Sum& sum, Value x, Value y) const { sum += x * y; }
    BITS_FN Value value(Sum sum, bool&) const { return sum; }
    BITS_FN Result result(Value x) const { return x; }
};

}  // namespace

#define SEMIRINGS(EACH)                                                               \
    EACH(Plain<false>) EACH(Plain<true>) EACH(Scaled<false>) EACH(Scaled<true>)       \
    EACH(Residues<2>) EACH(Residues<8>) EACH(Wrapping)

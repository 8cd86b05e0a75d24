// Carry-free additions on one CPU level. Compiled once per level, with LEVEL its name. Nothing
// of the standard library may be instantiated here (sums.cpp says why). The loops are plain, and
// the compiler makes vectors of them.
#include "redundant.hpp"

#include "../digits.hpp"

namespace {

using std::size_t;
__extension__ typedef __int128 i128;

template <class U>
struct Signed;
template <>
struct Signed<std::uint16_t> { using type = std::int16_t; };
template <>
struct Signed<std::uint32_t> { using type = std::int32_t; };
template <>
struct Signed<std::uint64_t> { using type = std::int64_t; };

// Gives the moved sums of two digits (digits.hpp) where both operands have digits. The structs
// below are for places where one of them, or both, have ended.
template <class U>
struct Both {
    const U *x, *y;
    bool subtract;
    BITS_FN U operator()(size_t i) const {
        return Digits<U>::moved(U(subtract ? x[i] - y[i] : x[i] + y[i]));
    }
};
template <class U>
struct OnlyX {
    const U* x;
    BITS_FN U operator()(size_t i) const { return Digits<U>::moved(x[i]); }
};
template <class U>
struct OnlyY {
    const U* y;
    bool subtract;
    BITS_FN U operator()(size_t i) const { return Digits<U>::moved(U(subtract ? -y[i] : y[i])); }
};
template <class U>
struct Neither {
    BITS_FN U operator()(size_t) const { return Digits<U>::NOTHING; }
};

// Writes digits first..last, for all of which `sum` has the sums. below: the moved sum before
// the first. Returns that of the last one. Sums are taken before digits are written, so that z
// may be an operand.
template <class U, class Sum>
U run(Sum sum, U below, U* z, size_t first, size_t last) {
    constexpr size_t PART = 4096 / sizeof(U);
    U sums[PART];
    for (; first < last; first += PART) {
        const size_t n = last - first < PART ? last - first : PART;
        for (size_t i = 0; i < n; i++) sums[i] = sum(first + i);
        z[first] = Digits<U>::digit(sums[0], below);
        for (size_t i = 1; i < n; i++) z[first + i] = Digits<U>::digit(sums[i], sums[i - 1]);
        below = sums[n - 1];
    }
    return below;
}

template <class U>
u64 below(const void* x, size_t nx, const void* y, size_t ny, bool subtract, size_t first) {
    if (!first) return Digits<U>::NOTHING;
    const size_t i = first - 1;
    const U a = i < nx ? static_cast<const U*>(x)[i] : U(0);
    const U b = i < ny ? static_cast<const U*>(y)[i] : U(0);
    return Digits<U>::moved(U(subtract ? a - b : a + b));
}

template <class U>
void add(const void* x_digits, size_t nx, const void* y_digits, size_t ny, bool subtract,
         void* result, size_t first, size_t last, u64 before) {
    const U *x = static_cast<const U*>(x_digits), *y = static_cast<const U*>(y_digits);
    U *z = static_cast<U*>(result), under = U(before);
    const size_t shorter = nx < ny ? nx : ny, longer = nx < ny ? ny : nx;
    size_t end = shorter < last ? shorter : last;
    // There are two loops, instead of a branch in one.
    if (subtract) under = run<U>(Both<U>{x, y, true}, under, z, first, end);
    else under = run<U>(Both<U>{x, y, false}, under, z, first, end);
    if (first < end) first = end;
    end = longer < last ? longer : last;
    if (nx > ny) under = run<U>(OnlyX<U>{x}, under, z, first, end);
    else under = run<U>(OnlyY<U>{y, subtract}, under, z, first, end);
    if (first < end) first = end;
    run<U>(Neither<U>{}, under, z, first, last);
}

// Takes the bits of the 32 digits of a group out of words; all shifts are constants.
template <class U>
BITS_FN void unpack(const u64* words, U* bits) {
    using D = Digits<U>;
#pragma GCC unroll 32
    for (int j = 0; j < int(REDUNDANT_GROUP); j++) {
        const int at = j * D::LOG, w = at / 64, r = at % 64;
        u64 from = words[w] >> r;
        if (r + D::LOG > 64) from |= words[w + 1] << (64 - r);
        bits[j] = U(from) & D::MASK;
    }
}

constexpr size_t TILE = 32;  // groups whose places stay in the cache

template <class U>
void sum(const u64* numbers, size_t width, size_t count, size_t positive, void* result,
         size_t first, size_t last) {
    using D = Digits<U>;
    constexpr size_t G = REDUNDANT_GROUP, WORDS = D::LOG / 2;
    U* z = static_cast<U*>(result);
    // There are places for a tile and for the group below it, for what comes up from that;
    // below the first group there is nothing.
    static_assert(G >= 2, "a digit takes from two places below it");
    U rest[(TILE + 1) * G], up[(TILE + 1) * G];  // of Places, apart, so that vectors fit
    for (; first < last; first += TILE) {
        const size_t groups = last - first < TILE ? last - first : TILE;
        for (size_t i = 0; i < (groups + 1) * G; i++)
            rest[i] = Place<U>::empty().rest, up[i] = Place<U>::empty().up;
        for (size_t n = 0; n < count; n++) {
            const u64* number = numbers + n * width;
            for (size_t g = first ? 0 : 1; g <= groups; g++) {
                const size_t start = (first + g - 1) * WORDS;
                if (start >= width) break;
                u64 part[WORDS];
                const u64* words = number + start;
                if (width - start < WORDS) {
                    for (size_t i = 0; i < WORDS; i++) part[i] = start + i < width ? words[i] : 0;
                    words = part;
                }
                U bits[G];
                unpack<U>(words, bits);
                U *to_rest = rest + g * G, *to_up = up + g * G;
                const bool plus = n < positive;
                for (size_t i = 0; i < G; i++) {
                    Place<U> place = {to_rest[i], to_up[i]};
                    if (plus) place.add(bits[i]);
                    else place.subtract(bits[i]);
                    to_rest[i] = place.rest, to_up[i] = place.up;
                }
            }
        }
        auto low = [&](size_t i) { return Place<U>{rest[i], up[i]}.low(); };
        U below = D::moved(U(low(G - 1) + up[G - 2]));
        for (size_t i = G; i < (groups + 1) * G; i++) {
            const U here = D::moved(U(low(i) + up[i - 1]));
            z[(first - 1) * G + i] = D::digit(here, below);
            below = here;
        }
    }
}

template <class U>
u64 normalise(const void* digits, size_t first, size_t last, u64 carried, u64* words) {
    using D = Digits<U>;
    using S = typename Signed<U>::type;
    const U* x = static_cast<const U*>(digits) + first * REDUNDANT_GROUP;
    words += first * (D::LOG / 2);
    // This comes from the next word on; at the end of a group it is no more than a digit.
    i128 sum = std::int64_t(carried);
    for (size_t g = first; g < last; g++, x += REDUNDANT_GROUP) {
#pragma GCC unroll 32
        for (int j = 0; j < int(REDUNDANT_GROUP); j++) {
            const int r = j * D::LOG % 64;
            sum += i128(S(x[j])) * (i128(1) << r);
            if (r + D::LOG >= 64) {
                *words++ = u64(sum);
                sum >>= 64;
            }
        }
    }
    return u64(sum);
}

template <class U>
constexpr RedundantWordOps ops() {
    return {Digits<U>::LOG, below<U>, add<U>, sum<U>, normalise<U>};
}

}  // namespace

#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
extern const RedundantOps JOIN(redundant_, LEVEL);
const RedundantOps JOIN(redundant_, LEVEL) = {
    {ops<std::uint16_t>(), ops<std::uint32_t>(), ops<std::uint64_t>()}};

// Copies, shifts and compares batches. All of it is bound by memory, and so the same on every
// CPU level.
#include <cstring>

#include "batch.hpp"
#include "bind.hpp"

namespace bignum {
namespace {

constexpr i64 MOST_BITS = i64(1) << 62;

double copy_cost(i64 length) { return 5 + 0.7 * double(length); }

enum class Sign { keep, flip, drop };

void copy(const Result& out, i64 i, const Number& x, Sign sign, Found& found) {
    if (x.length) std::memcpy(room(out, i), x.words, std::size_t(x.length) * 8);
    const bool negative = sign == Sign::keep ? x.negative : sign == Sign::flip && !x.negative;
    finish(out, i, x.length, negative, found);
}

nb::tuple resigned(nb::handle numbers, Sign sign, int threads) {
    const Batch a(numbers);
    const bool signs = sign == Sign::flip || (sign == Sign::keep && a.view.negative);
    Output out = make_output(a.view.count, a.dense(), a.view.width, signs,
                             [&](i64 i) { return a.length(i); });
    return out.numbers(for_each_part(
        a.view.count, a.dense(), threads, 0, [&](i64 i) { return copy_cost(a.length(i)); },
        [&](i64 first, i64 last, u64*, Found& found) {
            for (i64 i = first; i < last; i++)
                copy(out.view, i, number(a.view, i), sign, found);
        }));
}

nb::tuple negate(nb::handle a, int threads) { return resigned(a, Sign::flip, threads); }
nb::tuple absolute(nb::handle a, int threads) { return resigned(a, Sign::drop, threads); }

// Computes r = x modulo 2^bits, never negative, and returns its length, of which the topmost words
// may be zero. Writes no more words than that.
i64 low_of(u64* r, const Number& x, i64 bits) {
    const i64 words = (bits - 1) / 64 + 1, length = std::min(x.length, words);
    const u64 top = ~u64(0) >> (words * 64 - bits);
    if (!x.negative) {
        if (length) std::memcpy(r, x.words, std::size_t(length) * 8);
        if (length == words) r[words - 1] &= top;
        return length;
    }
    bool carry = true;
    for (i64 i = 0; i < words; i++) {
        r[i] = ~(i < length ? x.words[i] : 0) + carry;
        carry = carry && !r[i];
    }
    r[words - 1] &= top;
    return words;
}

nb::tuple low_bits(nb::handle numbers, i64 bits, int threads) {
    if (bits < 1 || bits > MOST_BITS) throw nb::value_error("bits: 1 to 2^62");
    const Batch a(numbers);
    const i64 words = (bits - 1) / 64 + 1;
    auto bound = [&](i64 i) {
        const bool negative = a.view.negative && a.view.negative[place(a.view, i)];
        return negative ? words : std::min(a.length(i), words);
    };
    // Else a few negative numbers would make room for as many words everywhere.
    const bool dense = a.dense() && (!a.view.negative || words <= 2 * a.view.width);
    const i64 width = a.view.negative ? words : std::min(a.view.width, words);
    Output out = make_output(a.view.count, dense, width, false, bound);
    return out.numbers(for_each_part(
        a.view.count, dense, threads, 0, [&](i64 i) { return copy_cost(bound(i)); },
        [&](i64 first, i64 last, u64*, Found& found) {
            for (i64 i = first; i < last; i++)
                finish(out.view, i, low_of(room(out.view, i), number(a.view, i), bits), false,
                       found);
        }));
}

nb::tuple select(Array<bool> mask, nb::handle left, nb::handle right, int threads) {
    const Batch a(left), b(right);
    const i64 count = common_count({i64(mask.size()), a.view.count, b.view.count});
    const i64 wide = std::max(a.width(), b.width()), narrow = std::min(a.width(), b.width());
    // Else one long number would make room for as long a one everywhere.
    const bool dense = a.dense() && b.dense() && (wide <= 8 || wide <= 2 * narrow);
    const bool whole = mask.size() == 1;
    auto chosen = [&](i64 i) -> const Batch& { return mask.data()[whole ? 0 : i] ? a : b; };
    Output out = make_output(count, dense, wide, a.view.negative || b.view.negative,
                             [&](i64 i) { return chosen(i).length(i); });
    return out.numbers(for_each_part(
        count, dense, threads, 0,
        [&](i64 i) { return copy_cost(std::max(a.length(i), b.length(i))); },
        [&](i64 first, i64 last, u64*, Found& found) {
            for (i64 i = first; i < last; i++)
                copy(out.view, i, number(chosen(i).view, i), Sign::keep, found);
        }));
}

nb::tuple concatenate(nb::list batches, int threads) {
    std::vector<Batch> parts;
    bool dense = true, signs = false;
    std::vector<i64> bounds;
    const Signals signals;
    for (nb::handle numbers : batches) {
        const Batch& x = parts.emplace_back(numbers);
        dense = dense && x.dense();
        signs |= x.view.negative != nullptr;
        check_memory(2 * (double(bounds.size()) + double(x.view.count)));
        for (i64 i = 0; i < x.view.count; i++) {
            signals.at(std::size_t(i));
            bounds.push_back(x.length(i));
        }
    }
    Output out(bounds, dense, signs);
    Found all;
    i64 offset = 0;
    for (const Batch& x : parts) {
        const Found found = for_each_part(
            x.view.count, x.dense(), threads, 0, [&](i64 i) { return copy_cost(x.length(i)); },
            [&](i64 first, i64 last, u64*, Found& part) {
                for (i64 i = first; i < last; i++)
                    copy(out.view, offset + i, number(x.view, i), Sign::keep, part);
            });
        all.longest = std::max(all.longest, found.longest);
        all.negative |= found.negative;
        offset += x.view.count;
    }
    return out.numbers(all);
}

// Returns how many words x << by has at most.
i64 shifted_bound(i64 length, bool negative, i64 by) {
    if (!length) return 0;
    if (by >= 0) return std::min(TOO_MANY, length + by / 64 + 1);
    return std::max<i64>(length + by / 64, 0) + negative;  // by / 64 rounds towards 0
}

nb::tuple shift(nb::handle numbers, Array<i64> counts, int threads) {
    const Batch a(numbers);
    checks::require_aligned(counts);
    const i64 count = common_count({a.view.count, i64(counts.size())});
    const bool whole = counts.size() == 1;
    auto by = [&](i64 i) { return counts.data()[whole ? 0 : i]; };
    auto bound = [&](i64 i) {
        return shifted_bound(a.trimmed_length(i), a.view.negative, by(i));
    };
    std::vector<i64> bounds = each_count(count);
    const Signals signals;
    for (i64 i = 0; i < count; i++) {
        signals.at(std::size_t(i));
        bounds[std::size_t(i)] = bound(i);
    }
    Output out(bounds, a.dense(), a.view.negative);
    return out.numbers(for_each_part(
        count, false, threads, 0, [&](i64 i) { return copy_cost(bounds[std::size_t(i)]); },
        [&](i64 first, i64 last, u64*, Found& found) {
            for (i64 i = first; i < last; i++) {
                const Number x = number(a.view, i);
                finish(out.view, i, shifted(room(out.view, i), x, by(i)), x.negative, found);
            }
        }));
}

int compared(const Number& x, const Number& y) {
    if (x.negative != y.negative) return x.negative ? -1 : 1;
    const int more = x.negative ? -1 : 1;
    if (x.length != y.length) return x.length > y.length ? more : -more;
    for (i64 i = x.length; i--;)
        if (x.words[i] != y.words[i]) return x.words[i] > y.words[i] ? more : -more;
    return 0;
}

nb::object compare(nb::handle left, nb::handle right, int threads) {
    const Batch a(left), b(right);
    const i64 count = common_count({a.view.count, b.view.count});
    Fresh<std::int8_t> out(count);
    for_each_part(
        count, true, threads, 0,
        [&](i64) { return 10 + 0.5 * double(std::max(a.view.width, b.view.width)); },
        [&](i64 first, i64 last, u64*, Found&) {
            for (i64 i = first; i < last; i++)
                out.data[i] = std::int8_t(compared(number(a.view, i), number(b.view, i)));
        });
    return out.array;
}

nb::object sign(nb::handle numbers, int threads) {
    const Batch a(numbers);
    Fresh<std::int8_t> out(a.view.count);
    for_each_part(
        a.view.count, true, threads, 0, [&](i64) { return 5 + 0.3 * double(a.view.width); },
        [&](i64 first, i64 last, u64*, Found&) {
            for (i64 i = first; i < last; i++) {
                const Number x = number(a.view, i);
                out.data[i] = x.negative ? -1 : x.length > 0;
            }
        });
    return out.array;
}

nb::object bit_length(nb::handle numbers, int threads) {
    const Batch a(numbers);
    Fresh<i64> out(a.view.count);
    for_each_part(
        a.view.count, true, threads, 0, [&](i64) { return 5 + 0.3 * double(a.view.width); },
        [&](i64 first, i64 last, u64*, Found&) {
            for (i64 i = first; i < last; i++) {
                const Number x = number(a.view, i);
                out.data[i] =
                    x.length ? 64 * x.length - __builtin_clzll(x.words[x.length - 1]) : 0;
            }
        });
    return out.array;
}

}  // namespace

i64 shifted(u64* r, const Number& x, i64 by) {
    if (!x.length) return 0;
    if (by >= 0) {
        const i64 words = by / 64;
        const int bits = int(by % 64);
        std::memset(r, 0, std::size_t(words) * 8);
        if (!bits) {
            std::memcpy(r + words, x.words, std::size_t(x.length) * 8);
            return words + x.length;
        }
        u64 below = 0;
        for (i64 i = 0; i < x.length; i++) {
            r[words + i] = x.words[i] << bits | below >> (64 - bits);
            below = x.words[i];
        }
        below >>= 64 - bits;
        if (!below) return words + x.length;
        r[words + x.length] = below;
        return words + x.length + 1;
    }
    // -(by + 1) cannot overflow, where -by can.
    const u64 right = u64(-(by + 1)) + 1;
    const i64 words = i64(std::min<u64>(right / 64, u64(x.length)));
    const int bits = int(right % 64);
    const i64 length = x.length - words;
    u64 lost = 0;
    if (x.negative) {
        for (i64 i = 0; i < words && !lost; i++) lost = x.words[i];
        if (length && bits) lost |= x.words[words] << (64 - bits);
    }
    for (i64 i = 0; i < length; i++) {
        const u64 above = i + 1 < length ? x.words[words + i + 1] : 0;
        r[i] = bits ? x.words[words + i] >> bits | above << (64 - bits) : x.words[words + i];
    }
    if (!lost) return length;
    // Rounding down takes a negative number further from zero.
    for (i64 i = 0; i < length; i++)
        if (++r[i]) return length;
    r[length] = 1;
    return length + 1;
}

void bind_moves(nb::module_& m) {
    m.def("bignum_negate", &negate, nb::arg("a"), nb::arg("threads"), "-a.");
    m.def("bignum_absolute", &absolute, nb::arg("a"), nb::arg("threads"), "abs(a).");
    m.def("bignum_low_bits", &low_bits, nb::arg("a"), nb::arg("bits"), nb::arg("threads"),
          "a modulo 2^bits, never negative.");
    m.def("bignum_select", &select, nb::arg("mask"), nb::arg("a"), nb::arg("b"),
          nb::arg("threads"), "a[i] where mask[i], bool, else b[i].");
    m.def("bignum_concatenate", &concatenate, nb::arg("batches"), nb::arg("threads"),
          "The numbers of all batches of a list, one batch after the other.");
    m.def("bignum_shift", &shift, nb::arg("a"), nb::arg("counts"), nb::arg("threads"),
          "floor(a[i] * 2^counts[i]), counts of int64.");
    m.def("bignum_compare", &compare, nb::arg("a"), nb::arg("b"), nb::arg("threads"),
          "int8: -1, 0 or 1 as a is less than, equal to or greater than b.");
    m.def("bignum_sign", &sign, nb::arg("a"), nb::arg("threads"), "int8: -1, 0 or 1.");
    m.def("bignum_bit_length", &bit_length, nb::arg("a"), nb::arg("threads"), "int64.");
}

}  // namespace bignum

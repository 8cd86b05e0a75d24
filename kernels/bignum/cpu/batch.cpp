#include "batch.hpp"

#include "arenas.hpp"
#include "bind.hpp"

#include <new>

namespace bignum {

namespace {

// The most numbers, and the most words of each: up to these no sum or product below leaves 64
// bits.
constexpr i64 MOST = i64(1) << 40;

template <class T>
Array<T> member(nb::handle numbers, const char* name) {
    return nb::cast<Array<T>>(numbers.attr(name), false);
}

template <class T>
std::optional<Array<T>> optional_member(nb::handle numbers, const char* name) {
    nb::object value = numbers.attr(name);
    if (value.is_none()) return std::nullopt;
    return nb::cast<Array<T>>(value, false);
}

}  // namespace

void check_memory(double words) {
    checks::need_memory(8 * words, [] {
        drop_blocks();
        drop_arenas();
    });
}

std::vector<i64> each_count(i64 count) {
    check_memory(double(count));
    return std::vector<i64>(std::size_t(count), 0);
}

void check_gmp_memory(double words, i64 count, int threads) {
    // GMP's Fourier transforms take about four times what they multiply, and calls that take
    // long are made on copies (gmp_calls.cpp).
    check_memory(7 * words * double(std::min<i64>(count, threads)));
}

Batch::Batch(nb::handle numbers)
    : words(member<u64>(numbers, "words")),
      starts(optional_member<i64>(numbers, "starts")),
      lengths(optional_member<i64>(numbers, "lengths")),
      negative(optional_member<bool>(numbers, "negative")) {
    const i64 count = nb::cast<i64>(numbers.attr("count"));
    const i64 width = nb::cast<i64>(numbers.attr("width"));
    const i64 step = nb::cast<i64>(numbers.attr("step"));
    const i64 size = i64(words.size());
    const std::size_t entries = std::size_t(count);
    checks::require_aligned(words);
    if (starts) checks::require_aligned(*starts);
    if (lengths) checks::require_aligned(*lengths);
    const Signals signals;
    bool fits = count >= 0 && width >= 0 && step >= 0 && count <= MOST && width <= MOST &&
                step <= MOST && bool(starts) == bool(lengths) &&
                (!negative || negative->size() == entries);
    if (fits && starts) {
        fits = starts->size() == entries && lengths->size() == entries;
        const i64 *from = starts->data(), *length = lengths->data();
        for (i64 i = 0; fits && i < count; i++) {
            signals.at(std::size_t(i));
            fits = from[i] >= 0 && length[i] >= 0 && length[i] <= width && from[i] <= size &&
                   length[i] <= size - from[i];
        }
    } else if (fits && count && width) {
        fits = (__int128)(count - 1) * step + width <= size;
    }
    if (!fits) throw nb::value_error("the arrays of a batch contradict each other");
    view = {words.data(),
            starts ? starts->data() : nullptr,
            lengths ? lengths->data() : nullptr,
            count,
            step,
            width,
            negative ? negative->data() : nullptr};
}

i64 common_count(std::initializer_list<i64> counts) {
    i64 common = 1;
    for (i64 count : counts) {
        if (count == 1) continue;
        if (common != 1 && count != common)
            throw nb::value_error("operands have the same count, or 1");
        common = count;
    }
    return common;
}

void Output::take_dense(i64 count, i64 width, bool signs) {
    check_memory(double(count) * double(width));
    words = Fresh<u64>(count * width);
    view = {words.data, nullptr, nullptr, count, width, nullptr};
    if (signs) negative = Fresh<bool>(count);
    view.negative = negative.data;
}

Output::Output(i64 count, i64 width, bool signs) { take_dense(count, width, signs); }

Output::Output(const std::vector<i64>& bounds, bool dense, bool signs) {
    const i64 count = i64(bounds.size());
    double total = 0;
    i64 longest = 0;
    for (i64 bound : bounds) {
        total += double(bound);
        longest = std::max(longest, bound);
    }
    if (dense && double(count) * double(longest) <= 1.5 * total) {
        take_dense(count, longest, signs);
        return;
    }
    check_memory(total);
    starts = Fresh<i64>(count);
    lengths = Fresh<i64>(count);
    if (signs) negative = Fresh<bool>(count);
    i64 start = 0;
    for (i64 i = 0; i < count; i++) {
        starts.data[i] = start;
        start += bounds[std::size_t(i)];
    }
    words = Fresh<u64>(start);
    view = {words.data, starts.data, lengths.data, count, 0, negative.data};
}

nb::tuple Output::numbers(const Found& found) const {
    const nb::object none = nb::none();
    return nb::make_tuple(words.array, view.count, found.longest, view.step,
                          view.lengths ? starts.array : none, view.lengths ? lengths.array : none,
                          found.negative ? negative.array : none);
}

}  // namespace bignum

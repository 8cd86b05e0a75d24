// What lies between Python's Numbers and the loops over them: operands, results, and parts of
// about equal work for the threads.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "../../tasks.hpp"
#include "gmp_calls.hpp"
#include "bignum.hpp"
#include "blocks.hpp"

namespace bignum {

namespace nb = nanobind;

template <class T>
using Array = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

constexpr i64 TOO_MANY = i64(1) << 60;  // words; more than that counts as this many

// Raises MemoryError, which tells the bytes, where there is no room for so many words.
void check_memory(double words);

// Returns a zero for each of so many numbers. Raises MemoryError.
std::vector<i64> each_count(i64 count);

// An array of its own, which is not initialised. Up to SLACK bytes past its end may be written to. Raises
// MemoryError.
template <class T>
struct Fresh {
    static constexpr std::size_t SLACK = 16;
    T* data = nullptr;
    nb::object array;

    Fresh() = default;
    explicit Fresh(i64 count) {
        check_memory(double(count) * double(sizeof(T)) / 8);
        data = static_cast<T*>(take_block(std::size_t(count) * sizeof(T) + SLACK));
        if (!data) throw std::bad_alloc();
        const std::size_t shape[1] = {std::size_t(count)};
        nb::capsule owner(data, [](void* block) noexcept { give_block(block); });
        array = nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, 1, shape, owner));
    }
};

// An operand and what keeps it alive. Raises ValueError if its arrays contradict each other.
struct Batch {
    Operand view{};
    Array<u64> words;
    std::optional<Array<i64>> starts, lengths;
    std::optional<Array<bool>> negative;

    explicit Batch(nb::handle numbers);

    bool dense() const { return !view.starts; }
    bool single() const { return view.count == 1; }
    // Returns an upper bound of the length of number i.
    i64 length(i64 i) const { return view.starts ? view.lengths[place(view, i)] : view.width; }
    i64 trimmed_length(i64 i) const { return number(view, i).length; }
    // Returns an upper bound of all lengths; of the only number, if there is but one.
    i64 width() const { return single() ? length(0) : view.width; }
};

// Computes r = floor(x * 2^by) and returns its length. Writes no word that the result does not
// need.
i64 shifted(u64* r, const Number& x, i64 by);

// Returns the count of operands that must all have the same one, or 1. Raises ValueError.
i64 common_count(std::initializer_list<i64> counts);

// A result: the arrays of a Numbers.
class Output {
public:
    Result view{};

    // Makes room for a dense result, of `width` words for each number.
    Output(i64 count, i64 width, bool signs);
    // Makes room for a ragged result, of bounds[i] words for number i; for a dense one if
    // `dense`, where that wastes at most a third.
    Output(const std::vector<i64>& bounds, bool dense, bool signs);

    // Returns the arguments of Numbers.
    nb::tuple numbers(const Found& found) const;

private:
    Fresh<u64> words;
    Fresh<i64> starts, lengths;
    Fresh<bool> negative;

    void take_dense(i64 count, i64 width, bool signs);
};

template <class Bound>
Output make_output(i64 count, bool dense, i64 width, bool signs, Bound bound) {
    if (dense) return Output(count, width, signs);
    std::vector<i64> bounds = each_count(count);
    const Signals signals;
    for (i64 i = 0; i < count; i++) {
        signals.at(std::size_t(i));
        bounds[std::size_t(i)] = bound(i);
    }
    return Output(bounds, false, signs);
}

// Where [0, count) is cut into parts. brief: all the work is over before a thread has started.
struct Parts {
    std::vector<i64> cuts;
    bool brief;
    i64 count() const { return i64(cuts.size()) - 1; }
};

// Parts of a uniform batch are multiples of this, which suits loops that take several numbers at
// a time.
constexpr i64 GRAIN = 8;

// Cuts [0, count) into parts that cost about the same, several for each thread. cost(i): of
// number i, roughly, in ns. uniform: all cost as much as number 0.
template <class Cost>
Parts cut_parts(i64 count, bool uniform, int threads, Cost cost) {
    threads = checks::threads_of(threads);
    const Signals signals;
    double total = 0;
    if (uniform && count)
        total = cost(0) * double(count);
    else
        for (i64 i = 0; i < count; i++) {
            signals.at(std::size_t(i));
            total += cost(i);
        }
    Parts parts = {{0}, total <= 1e5};
    if (!parts.brief) {
        const double aim = std::clamp(total / (8 * threads), 5e4, 5e6);
        if (uniform) {
            // What takes long is shared out one by one: no loop takes several such at a time.
            const i64 some = i64(std::min(aim / cost(0), 1e15));
            const i64 part = some ? (some / GRAIN + 1) * GRAIN : 1;
            for (i64 i = part; i < count; i += part) parts.cuts.push_back(i);
        } else {
            double sum = 0;
            for (i64 i = 0; i + 1 < count; i++) {
                signals.at(std::size_t(i));
                if ((sum += cost(i)) >= aim) {
                    parts.cuts.push_back(i + 1);
                    sum = 0;
                }
            }
        }
    }
    parts.cuts.push_back(count);
    return parts;
}

// Calls body(part, first, last, scratch, found) for the parts, without the GIL, and merges what
// was found. Raises what a signal handler raised.
template <class Body>
Found run_parts(const Parts& parts, int threads, i64 scratch_words, Body body) {
    std::vector<Found> found(std::size_t(parts.count()), Found());
    auto run = [&](i64 part, void* scratch) {
        const std::size_t p = std::size_t(part);
        body(part, parts.cuts[p], parts.cuts[p + 1], static_cast<u64*>(scratch), found[p]);
    };
    check_memory(double(scratch_words) * double(std::min<i64>(threads, parts.count())));
    const std::size_t scratch_bytes = std::size_t(scratch_words + 8) * 8;
    if (parts.brief) {
        Scratch scratch = aligned_scratch(scratch_bytes);
        nb::gil_scoped_release release;
        run(0, scratch.get());
    } else {
        volatile bool cancelled = false;
        run_tasks(parts.count(), threads, scratch_bytes, cancelled, [&](i64 part, void* scratch) {
            const Leaving leaving(&cancelled);
            run(part, scratch);
        });
    }
    Found all;
    for (const Found& one : found) {
        all.longest = std::max(all.longest, one.longest);
        all.negative |= one.negative;
        all.overflow |= one.overflow;
    }
    return all;
}

template <class Cost, class Body>
Found for_each_part(i64 count, bool uniform, int threads, i64 scratch_words, Cost cost, Body body) {
    return run_parts(cut_parts(count, uniform, threads, cost), threads, scratch_words,
                     [&](i64, i64 first, i64 last, u64* scratch, Found& found) {
                         body(first, last, scratch, found);
                     });
}

}  // namespace bignum

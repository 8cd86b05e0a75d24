// Binds text of run lengths to Python; kernels.runs calls it.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <cstring>
#include <memory>
#include <optional>

#include "../../tasks.hpp"
#include "runs.hpp"

namespace nb = nanobind;

namespace {

using std::int64_t;

using States = nb::ndarray<int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Words = nb::ndarray<std::uint64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using ConstWords = nb::ndarray<const std::uint64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

bool fits(const runs::State& s) {
    const auto within = [](int64_t value, int64_t most) { return value >= 0 && value <= most; };
    bool good = within(s.count, 999'999'999'999'999'999) && within(s.digits, runs::MOST_DIGITS);
    // Neither coordinate can be beyond what all counts add up to.
    good = good && within(s.cells, runs::MOST_CELLS) && within(s.x, s.cells) && within(s.y, s.cells);
    return good;
}

nb::tuple walk_text(nb::bytes text, int64_t first, int64_t last, States states,
               std::optional<Words> words, int64_t width, int64_t left, int64_t top) {
    if (first < 0 || first > last || last > int64_t(text.size()))
        throw nb::value_error("a piece lies within its text");
    if (states.shape(0) != runs::FIELDS) throw nb::value_error("a state has another length");
    checks::require_aligned(states);
    runs::State state;
    std::memcpy(&state, states.data(), sizeof state);
    if (!fits(state)) throw nb::value_error("no text leads to this state");
    runs::Canvas canvas = {};
    if (words) {
        checks::require_aligned(*words);
        const std::size_t stride = words->shape(1);
        if (left < 0 || top < 0 || width < 1 || std::uint64_t(width) > 64 * std::uint64_t(stride))
            throw nb::value_error("cells lie outside of the words");
        canvas = {words->data(), int64_t(stride), left, top, width, int64_t(words->shape(0))};
        if (!canvas.height) throw nb::value_error("there must be a row of words");
    }
    int64_t at = first;
    runs::Fault fault = runs::NONE;
    // Where a signal ends it, the state stays as it was: cells that are set already may be
    // set again.
    run_in_steps(std::size_t(last - first), std::size_t(1) << 20, [&](std::size_t, std::size_t to) {
        if (fault == runs::NONE)
            fault = runs::walk(text.c_str(), at, first + int64_t(to), state, canvas, at);
    });
    std::memcpy(states.data(), &state, sizeof state);
    return nb::make_tuple(int(fault), at);
}

nb::bytes write_rows(ConstWords words, int64_t left, int64_t width, States pens) {
    const std::size_t rows = words.shape(0), stride = words.shape(1);
    if (left < 0 || width < 1 || stride > (std::uint64_t(1) << 50) ||
        left > int64_t(64 * stride) || width > int64_t(64 * stride) - left)
        throw nb::value_error("columns lie outside of the words");
    checks::require_aligned(words, pens);
    if (pens.shape(0) != 2) throw nb::value_error("a pen has another length");
    runs::Pen pen = {pens.data()[0], pens.data()[1]};
    if (pen.rows < 0 || pen.rows > runs::MOST_CELLS || pen.line < 0 || pen.line > runs::LINE)
        throw nb::value_error("nothing written leads to this pen");
    const std::size_t room = runs::most_text(stride, rows);
    const std::unique_ptr<char[]> held(new char[room]);
    char* const out = held.get();
    constexpr std::size_t PART = std::size_t(1) << 14;  // words
    std::size_t size = 0;
    runs::Place place = {};
    run_in_steps(rows * (stride + 1), PART, [&](std::size_t, std::size_t) {
        size += runs::write(words.data(), int64_t(stride), int64_t(rows), left, width, pen, place,
                            int64_t(PART), out + size);
    });
    pens.data()[0] = pen.rows, pens.data()[1] = pen.line;
    return nb::bytes(out, size);
}

}  // namespace

void bind_runs(nb::module_& m) {
    m.attr("RUNS_FIELDS") = runs::FIELDS;
    m.def("runs_walk", &walk_text, nb::arg("text"), nb::arg("first"), nb::arg("last"),
          nb::arg("state").noconvert(), nb::arg("words").noconvert().none(), nb::arg("width"),
          nb::arg("left"), nb::arg("top"),
          "Reads text[first:last] as run lengths, sets live cells in words, and returns why and "
          "where it ended.");
    m.def("runs_write", &write_rows, nb::arg("words").noconvert(), nb::arg("left"), nb::arg("width"),
          nb::arg("pen").noconvert(),
          "Rows of packed words as text of run lengths, columns [left, left + width).");
}

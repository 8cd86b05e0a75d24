// The compiled CPU backend as a Python module: chooses the CPU level, spreads tasks
// over threads. Big integers have a file of their own, bignum/host/bind.cpp.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <vector>

#include "cells/cells.hpp"
#include "life/life.hpp"
#include "sums/sums.hpp"
#include "tasks.hpp"

namespace nb = nanobind;

void bind_bignum(nb::module_& m);
void bind_cky(nb::module_& m);
void bind_cky_text(nb::module_& m);
void bind_cky_weighted(nb::module_& m);
void bind_redundant(nb::module_& m);
void bind_transf(nb::module_& m);
void bind_transf_graphs(nb::module_& m);

// levels.inc, made by CMake, names each level built: LEVEL(v2) LEVEL(v3) ...
#define LEVEL(name)                     \
    extern const LifeOps life_##name;   \
    extern const SumsOps sums_##name;   \
    extern const CellsOps cells_##name;
#include "levels.inc"
#undef LEVEL

namespace {

struct Level {
    const char* name;
    const LifeOps* life;
    const SumsOps* sums;
    const CellsOps* cells;
};
const Level levels[] = {
#define LEVEL(name) {#name, &life_##name, &sums_##name, &cells_##name},
#include "levels.inc"
#undef LEVEL
};

using Words = nb::ndarray<std::uint64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using ConstWords = nb::ndarray<const std::uint64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Whether the pass was made to its end: what `stopped` says can break it off.
bool life_pass(const std::string& level, ConstWords src, Words dst, std::int64_t width, bool torus,
               unsigned birth, unsigned survival, int steps, std::int64_t panels,
               std::int64_t useful, int columns, int halo, std::int64_t band_rows, int block_rows,
               int threads, nb::object stopped) {
    const LifeOps& ops = *level_named(levels, level).life;
    const std::int64_t height = std::int64_t(src.shape(0)), stride = std::int64_t(src.shape(1));
    const std::int64_t reach = std::int64_t(ops.vector_bytes) * 8 * columns;
    bool closed = torus && halo == 0 && panels == 1 && reach == width;
    bool direct = columns == 0 && steps == 1 && panels == 1 && halo == 0;
    if (src.shape(0) != dst.shape(0) || src.shape(1) != dst.shape(1) || height < 1 || width < 1 ||
        stride != (width + 63) / 64 || src.data() == dst.data() || birth > 511 || survival > 511 ||
        steps < 1 || panels < 1 || useful < 1 || useful % 64 || panels * useful < width ||
        (panels - 1) * useful >= width || columns < 0 || columns > 32 || band_rows < 1 ||
        block_rows < 1 || threads < 1 ||
        !(direct || closed || (halo >= steps && useful + 2 * halo <= reach)))
        throw nb::value_error("parameters of a pass contradict each other");
    volatile bool cancelled = false;
    LifePass pass{src.data(), dst.data(), width, height,  stride, torus,     birth,      survival,
                  steps,      panels,     useful, columns, halo,   band_rows, block_rows, &cancelled};
    run_tasks(life_tasks(pass), threads, ops.scratch_bytes(pass), cancelled,
              [&](std::int64_t i, void* scratch) { ops.run_task(pass, i, scratch); },
              stopped.is_none() ? nullptr : stopped.ptr());
    return !cancelled;
}

using Batch = nb::ndarray<nb::ro>;
using Result = nb::ndarray<>;

template <class Array>
std::uint32_t* batch_words(const Array& array, std::size_t dimensions) {
    bool fits = array.dtype() == nb::dtype<std::uint32_t>() && array.ndim() == dimensions &&
                array.device_type() == nb::device::cpu::value;
    std::int64_t stride = 1;
    for (std::size_t i = dimensions; fits && i-- > 0; stride *= std::int64_t(array.shape(i)))
        fits = array.shape(i) <= 1 || array.stride(i) == stride;
    if (!fits) throw nb::value_error("arrays must be of uint32, C-contiguous, and as documented");
    return static_cast<std::uint32_t*>(const_cast<void*>(static_cast<const void*>(array.data())));
}

void check_operand(const Batch& x, const Result& out, bool same_shape) {
    const char *from = static_cast<const char*>(x.data()), *to = static_cast<char*>(out.data());
    if (!same_shape) throw nb::value_error("the shapes of the arrays contradict each other");
    if (x.size() && from < to + out.nbytes() && to < from + x.nbytes())
        throw nb::value_error("the result overlaps an operand");
}

// Calls run(first, count) for parts of [0, count), one a thread. A part is a multiple of
// PART, because parts of a few kilobytes are over before a thread has started.
template <class Run>
void run_parts(std::size_t count, int threads, Run run) {
    constexpr std::size_t PART = 4096;
    if (threads < 1) throw nb::value_error("at least one thread must work");
    std::size_t part = (count / std::size_t(threads) / PART + 1) * PART;
    if (count <= part) {
        nb::gil_scoped_release release;
        run(std::size_t(0), count);
        return;
    }
    volatile bool cancelled = false;
    run_tasks(std::int64_t((count + part - 1) / part), threads, 64, cancelled,
              [&](std::int64_t i, void*) {
                  std::size_t first = std::size_t(i) * part, left = count - first;
                  run(first, left < part ? left : part);
              });
}

void sums_naive(const std::string& level, Batch a, Batch b, Result out, int threads) {
    const SumsOps& ops = *level_named(levels, level).sums;
    const std::uint32_t *x = batch_words(a, 1), *y = batch_words(b, 1);
    std::uint32_t* z = batch_words(out, 1);
    for (const Batch& operand : {a, b})
        check_operand(operand, out, operand.shape(0) == out.shape(0));
    run_parts(out.shape(0), threads, [&](std::size_t first, std::size_t count) {
        ops.naive(x + first, y + first, z + first, count);
    });
}

void sums_bitwise(const std::string& level, Batch a, Batch b, Result out, int threads) {
    const SumsOps& ops = *level_named(levels, level).sums;
    const std::uint32_t *x = batch_words(a, 2), *y = batch_words(b, 2);
    std::uint32_t* z = batch_words(out, 2);
    const std::size_t k = a.shape(0), groups = a.shape(1);
    if (k < 1 || k > 32) throw nb::value_error("there must be 1 to 32 planes");
    for (const Batch& operand : {a, b})
        check_operand(operand, out, operand.shape(0) == k && operand.shape(1) == groups &&
                                        out.shape(0) == (k < 32 ? k + 1 : 32) &&
                                        out.shape(1) == groups);
    run_parts(groups, threads, [&](std::size_t first, std::size_t count) {
        ops.bitwise(x + first, y + first, z + first, int(k), count, groups);
    });
}

// Rows of packed words at any distance from each other.
template <class Word, class Array>
CellsBlock<Word> cells_block(const Array& words, std::uint64_t y0, std::uint64_t w0) {
    if (words.dtype() != nb::dtype<std::uint64_t>() || words.ndim() != 2 ||
        words.device_type() != nb::device::cpu::value ||
        (words.size() && words.shape(1) > 1 && words.stride(1) != 1) ||
        reinterpret_cast<std::uintptr_t>(words.data()) % sizeof(Word))
        throw nb::value_error("words must be of uint64, aligned, each row contiguous");
    return {static_cast<Word*>(words.data()), words.shape(0), words.shape(1),
            std::ptrdiff_t(words.stride(0)), y0, w0};
}

void cells_fill_soup(const std::string& level, Result words, std::uint64_t y0, std::uint64_t w0,
                     std::uint64_t digits, std::uint64_t key) {
    const CellsOps& ops = *level_named(levels, level).cells;
    const auto block = cells_block<std::uint64_t>(words, y0, w0);
    if (digits >> 32 && digits != std::uint64_t(1) << 32)
        throw nb::value_error("digits must be 0 to 2^32");
    nb::gil_scoped_release release;
    ops.fill_soup(block, digits, key);
}

nb::tuple cells_survey(const std::string& level, Batch words, std::uint64_t y0, std::uint64_t w0,
                       std::optional<Result> counts) {
    const CellsOps& ops = *level_named(levels, level).cells;
    const auto block = cells_block<const std::uint64_t>(words, y0, w0);
    std::uint8_t* bytes = nullptr;
    if (counts) {
        const std::int64_t across = std::int64_t(8 * block.count);
        if (counts->dtype() != nb::dtype<std::uint8_t>() || counts->ndim() != 2 ||
            counts->device_type() != nb::device::cpu::value ||
            counts->shape(0) != (block.rows + 7) / 8 || counts->shape(1) != 8 * block.count ||
            (counts->size() && ((counts->shape(0) > 1 && counts->stride(0) != across) ||
                                counts->stride(1) != 1)))
            throw nb::value_error("counts must be of uint8, (ceil(rows / 8), 8 * count), contiguous");
        bytes = static_cast<std::uint8_t*>(counts->data());
    }
    CellsSurvey found;
    {
        nb::gil_scoped_release release;
        found = ops.survey(block, bytes);
    }
    return nb::make_tuple(found.population, found.low, found.high);
}

void cells_densities(const std::string& level, Batch words, std::uint64_t first, int scale,
                     Result levels) {
    const CellsOps& ops = *level_named(::levels, level).cells;
    const auto block = cells_block<const std::uint64_t>(words, 0, 0);
    if (levels.dtype() != nb::dtype<std::uint8_t>() || levels.ndim() != 2 ||
        levels.device_type() != nb::device::cpu::value || scale < 1 || scale > 3 ||
        levels.shape(0) != block.rows >> scale || block.rows % (std::size_t(1) << scale) ||
        first > 64 * block.count || levels.shape(1) > (64 * block.count - first) >> scale ||
        (levels.size() && ((levels.shape(0) > 1 &&
                            levels.stride(0) != std::int64_t(levels.shape(1))) ||
                           (levels.shape(1) > 1 && levels.stride(1) != 1))))
        throw nb::value_error("levels must be of uint8, a byte for each whole block, contiguous");
    if (!levels.size()) return;
    nb::gil_scoped_release release;
    const std::size_t columns = levels.shape(1);
    const Scratch scratch = aligned_scratch(((columns << scale) + 63) / 64 * 8 * (8 >> scale));
    ops.densities(block, first, scale, columns, static_cast<std::uint8_t*>(levels.data()),
                  static_cast<std::uint64_t*>(scratch.get()));
}

// Of one value for each block, contiguous.
template <class Value, class Array>
Value* each_block(const Array& array, std::size_t rows, std::size_t columns, const char* name) {
    if (array.dtype() != nb::dtype<std::remove_const_t<Value>>() || array.ndim() != 2 ||
        array.device_type() != nb::device::cpu::value || array.shape(0) != rows ||
        array.shape(1) != columns ||
        (array.size() && ((rows > 1 && array.stride(0) != std::int64_t(columns)) ||
                          (columns > 1 && array.stride(1) != 1))))
        throw nb::value_error((std::string(name) + " must have a value for each block").c_str());
    return static_cast<Value*>(array.data());
}

void cells_ages(const std::string& level, Batch words, std::uint64_t first, int scale,
                std::optional<Batch> known, std::optional<Batch> before, std::uint16_t passed,
                Batch shades, Result counts, Result levels) {
    const CellsOps& ops = *level_named(::levels, level).cells;
    CellsAges ages = {};
    ages.block = cells_block<const std::uint64_t>(words, 0, 0);
    if (scale < 0 || scale > 3 || counts.ndim() != 2 || known.has_value() != before.has_value())
        throw nb::value_error("no blocks, or only half of what was known");
    const std::size_t rows = ((ages.block.rows - 1) >> scale) + 1, columns = counts.shape(1);
    const std::size_t across = 64 * ages.block.count;
    if (!ages.block.rows || first > across ||
        columns > (across - first + (std::size_t(1) << scale) - 1) >> scale)
        throw nb::value_error("blocks leave the words");
    ages.counts = each_block<std::uint16_t>(counts, rows, columns, "counts");
    ages.levels = each_block<std::uint8_t>(levels, rows, columns, "levels");
    if (known) {
        const auto other = cells_block<const std::uint64_t>(*known, 0, 0);
        if (other.rows != ages.block.rows || other.count != ages.block.count)
            throw nb::value_error("known must have the shape of words");
        ages.known = other.words, ages.known_stride = other.stride;
        ages.before = each_block<const std::uint16_t>(*before, rows, columns, "before");
    }
    if (shades.dtype() != nb::dtype<std::uint8_t>() || shades.ndim() != 1 ||
        shades.device_type() != nb::device::cpu::value || shades.stride(0) != 1 ||
        shades.shape(0) < 2 || shades.shape(0) > 65536)
        throw nb::value_error("shades must be of uint8, 2 to 65536, contiguous");
    ages.shades = static_cast<const std::uint8_t*>(shades.data());
    ages.oldest = std::uint16_t(shades.shape(0) - 1);
    ages.first = first, ages.columns = columns, ages.scale = scale, ages.passed = passed;
    nb::gil_scoped_release release;
    const Scratch scratch = aligned_scratch(2 * (columns + 64));
    ages.scratch = static_cast<std::uint8_t*>(scratch.get());
    ops.ages(ages);
}

std::vector<std::string> available_levels() {
    std::vector<std::string> names;
    for (const Level& level : levels)
        if (supported(level.name)) names.push_back(level.name);
    return names;
}

int vector_bits(const std::string& level) { return 8 * level_named(levels, level).life->vector_bytes; }

}  // namespace

NB_MODULE(_cpu, m) {
    m.doc() = "Compiled CPU kernels; see kernels.cpu for what calls them.";
    m.attr("compiler") = __VERSION__;
    m.def("levels", &available_levels, "CPU levels that this build and CPU have, slowest first.");
    m.def("vector_bits", &vector_bits, nb::arg("level"));
    m.def("life_pass", &life_pass, nb::arg("level"), nb::arg("src"), nb::arg("dst").noconvert(),
          nb::arg("width"), nb::arg("torus"), nb::arg("birth"), nb::arg("survival"),
          nb::arg("steps"), nb::arg("panels"), nb::arg("useful"), nb::arg("columns"),
          nb::arg("halo"), nb::arg("band_rows"), nb::arg("block_rows"), nb::arg("threads"),
          nb::arg("stopped") = nb::none(),
          "One pass of Life: dst = src after `steps` generations (life.hpp has the parameters). "
          "stopped(), if given, is asked 100 times a second; where it is true the pass is broken "
          "off, dst is undefined, and False is returned.");
    m.def("sums_naive", &sums_naive, nb::arg("level"), nb::arg("a").noconvert(),
          nb::arg("b").noconvert(), nb::arg("out").noconvert(), nb::arg("threads"),
          "out[i] = a[i] + b[i] (mod 2^32), of uint32 (count).");
    m.def("sums_bitwise", &sums_bitwise, nb::arg("level"), nb::arg("a_planes").noconvert(),
          nb::arg("b_planes").noconvert(), nb::arg("out_planes").noconvert(), nb::arg("threads"),
          "Bit planes (min(k + 1, 32), groups) of the sums of bit planes (k, groups), uint32.");
    m.def("cells_fill_soup", &cells_fill_soup, nb::arg("level"), nb::arg("words").noconvert(),
          nb::arg("y0"), nb::arg("w0"), nb::arg("digits"), nb::arg("key"),
          "Overwrites words, uint64 (rows, count), with the soup from word w0 of row y0 on.");
    m.def("cells_survey", &cells_survey, nb::arg("level"), nb::arg("words").noconvert(),
          nb::arg("y0"), nb::arg("w0"), nb::arg("counts").noconvert().none(),
          "Population of words, and low and high half of what they add to the digest's sum.");
    m.def("cells_densities", &cells_densities, nb::arg("level"), nb::arg("words").noconvert(),
          nb::arg("first"), nb::arg("scale"), nb::arg("levels").noconvert(),
          "Levels of whole blocks of 2^scale x 2^scale cells, from bit `first` of the rows on.");
    m.def("cells_ages", &cells_ages, nb::arg("level"), nb::arg("words").noconvert(),
          nb::arg("first"), nb::arg("scale"), nb::arg("known").noconvert().none(),
          nb::arg("before").noconvert().none(), nb::arg("passed"), nb::arg("shades").noconvert(),
          nb::arg("counts").noconvert(), nb::arg("levels").noconvert(),
          "Ages of blocks of 2^scale x 2^scale cells, and how bright they are.");
    bind_bignum(m);
    bind_cky(m);
    bind_cky_text(m);
    bind_cky_weighted(m);
    bind_redundant(m);
    bind_transf(m);
    bind_transf_graphs(m);
}

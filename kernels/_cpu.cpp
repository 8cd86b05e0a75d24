// The compiled CPU backend as a Python module: it chooses the CPU level and spreads tasks over
// threads. Larger engines are bound in files of their own, such as bignum/cpu/bind.cpp.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "cells/cpu/cells.hpp"
#include "life/circuits/cpu/circuit.hpp"
#include "life/cpu/life.hpp"
#include "sums/cpu/sums.hpp"
#include "levels.hpp"
#include "tasks.hpp"

namespace nb = nanobind;

void bind_ageing(nb::module_& m);
void bind_bignum(nb::module_& m);
void bind_cells_climb(nb::module_& m);
void bind_cky(nb::module_& m);
void bind_cky_text(nb::module_& m);
void bind_cky_weighted(nb::module_& m);
void bind_hashlife(nb::module_& m);
void bind_ranges(nb::module_& m);
void bind_rational(nb::module_& m);
void bind_redundant(nb::module_& m);
void bind_runs(nb::module_& m);
void bind_semigroups(nb::module_& m);
void bind_semigroup_graphs(nb::module_& m);
void bind_tables(nb::module_& m);
void bind_settling(nb::module_& m);
void bind_folded(nb::module_& m);
void bind_tiles(nb::module_& m);

LEVELS_OF(LifeOps, life)
LEVELS_OF(SumsOps, sums)
LEVELS_OF(CellsOps, cells)

namespace {

using Words = nb::ndarray<std::uint64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using ConstWords = nb::ndarray<const std::uint64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Makes one pass; returns false where `stopped` broke it off.
bool life_pass(const std::string& level, ConstWords src, Words dst, std::int64_t width, bool torus,
               unsigned birth, unsigned survival, int steps, std::int64_t panels,
               std::int64_t useful, int columns, int halo, std::int64_t band_rows, int block_rows,
               int threads, nb::object stopped, const circuits::Circuit* circuit, std::int64_t edge) {
    const LifeOps& ops = ops_at(life_levels, level);
    const std::int64_t height = std::int64_t(src.shape(0)), stride = std::int64_t(src.shape(1));
    checks::require_aligned(src, dst);
    volatile bool cancelled = false;
    const LifeCircuit code = circuit ? circuit->code(ops.vector_bytes) : LifeCircuit{};
    LifePass pass{src.data(), dst.data(), width,     height,     stride,
                  torus,      birth,      survival,  steps,      panels,
                  useful,     columns,    halo,      std::min(band_rows, height), block_rows,
                  &cancelled, circuit ? &code : nullptr, edge};
    if (src.shape(0) != dst.shape(0) || src.shape(1) != dst.shape(1) || birth > 511 ||
        survival > 511 || threads < 1 || checks::overlap(src, dst) || !life_fits(pass, ops.vector_bytes) ||
        stride != (width + 63) / 64)
        throw nb::value_error("parameters of a pass contradict each other");
    run_tasks(life_tasks(pass), checks::threads_of(threads), ops.scratch_bytes(pass), cancelled,
              [&](std::int64_t i, void* scratch) { ops.run_task(pass, i, scratch); },
              stopped.is_none() ? nullptr : stopped.ptr());
    return !cancelled;
}

using Batch = nb::ndarray<nb::ro>;
using Result = nb::ndarray<>;

template <class Array>
std::uint32_t* batch_words(const Array& array, std::size_t dimensions) {
    const bool fits = array.dtype() == nb::dtype<std::uint32_t>() && array.ndim() == dimensions &&
                      array.device_type() == nb::device::cpu::value && checks::contiguous(array) &&
                      checks::aligned(array);
    if (!fits) throw nb::value_error("arrays must be of uint32, C-contiguous, and as documented");
    return static_cast<std::uint32_t*>(const_cast<void*>(static_cast<const void*>(array.data())));
}

void check_operand(const Batch& x, const Result& out, bool same_shape) {
    checks::require(same_shape, "the shapes of the arrays contradict each other");
    checks::require_apart(out, x);
}

// Calls run(first, count) for parts of [0, count): one for each thread, or several where that
// would take long. A part is a multiple of PART, because parts of a few kilobytes are over
// before a thread has started.
template <class Run>
void run_parts(std::size_t count, int threads, Run run) {
    constexpr std::size_t PART = 4096, MOST = 64 * PART;
    threads = checks::threads_of(threads);
    const std::size_t part = std::min((count / std::size_t(threads) / PART + 1) * PART, MOST);
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
    const SumsOps& ops = ops_at(sums_levels, level);
    const std::uint32_t *x = batch_words(a, 1), *y = batch_words(b, 1);
    std::uint32_t* z = batch_words(out, 1);
    for (const Batch& operand : {a, b})
        check_operand(operand, out, operand.shape(0) == out.shape(0));
    run_parts(out.shape(0), threads, [&](std::size_t first, std::size_t count) {
        ops.naive(x + first, y + first, z + first, count);
    });
}

void sums_bitwise(const std::string& level, Batch a, Batch b, Result out, int threads) {
    const SumsOps& ops = ops_at(sums_levels, level);
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

// Makes a block of rows of packed words, which may lie at any distance from each other. Raises
// ValueError for any other array.
template <class Word, class Array>
CellsBlock<Word> cells_block(const Array& words, std::uint64_t y0, std::uint64_t w0) {
    if (words.dtype() != nb::dtype<std::uint64_t>() || words.ndim() != 2 ||
        words.device_type() != nb::device::cpu::value ||
        (words.size() && words.shape(1) > 1 && words.stride(1) != 1) || !checks::aligned(words) ||
        words.shape(0) >> 56 || words.shape(1) >> 48)
        throw nb::value_error("words must be of uint64, aligned, each row contiguous");
    return {static_cast<Word*>(words.data()), words.shape(0), words.shape(1),
            std::ptrdiff_t(words.stride(0)), y0, w0};
}

// Calls work(band, first row, first word, last word + 1) for bands of rows, so that none takes
// long. The number of a band's rows is a multiple of 8 but for the last one. A band has its
// rows' words all; where rows are long, work() is called several times, for the next range of
// their words each time.
template <class Word, class Work>
void each_band(const CellsBlock<Word>& block, Work work) {
    constexpr std::size_t MOST = 1 << 18;  // words, about: they take some milliseconds
    constexpr std::size_t WIDEST = MOST / 8;
    const std::size_t across = (block.count + WIDEST - 1) / WIDEST;
    const std::size_t rows = (MOST / (block.count + 1) / 8 + 1) * 8;
    const std::size_t bands = (block.rows + rows - 1) / rows;
    run_in_steps(bands * across, 1, [&](std::size_t i, std::size_t) {
        const std::size_t first = i / across * rows, word = i % across * WIDEST;
        CellsBlock<Word> band = block;
        band.words += std::ptrdiff_t(first) * block.stride;
        band.rows = std::min(rows, block.rows - first);
        band.y0 += first;
        work(band, first, word, std::min(word + WIDEST, block.count));
    });
}

// Returns a band without the words before `first` and from `last` on.
template <class Word>
CellsBlock<Word> narrowed(CellsBlock<Word> band, std::size_t first, std::size_t last) {
    band.words += first;
    band.w0 += first;
    band.count = last - first;
    return band;
}

// The blocks that begin within words [from, to) of a row: `first` to `last` - 1 of its `columns`
// blocks, the first of which begins at bit `bit`.
struct Columns {
    std::size_t first, last;

    Columns(std::size_t from, std::size_t to, std::size_t bit, int scale, std::size_t columns)
        : first(at(from, bit, scale, columns)), last(at(to, bit, scale, columns)) {}

private:
    static std::size_t at(std::size_t word, std::size_t bit, int scale, std::size_t columns) {
        if (64 * word <= bit) return 0;
        const std::size_t side = std::size_t(1) << scale;
        return std::min((64 * word - bit + side - 1) >> scale, columns);
    }
};

void cells_fill_soup(const std::string& level, Result words, std::uint64_t y0, std::uint64_t w0,
                     std::uint64_t digits, std::uint64_t key) {
    const CellsOps& ops = ops_at(cells_levels, level);
    const auto block = cells_block<std::uint64_t>(words, y0, w0);
    if (digits >> 32 && digits != std::uint64_t(1) << 32)
        throw nb::value_error("digits must be 0 to 2^32");
    each_band(block, [&](const CellsBlock<std::uint64_t>& band, std::size_t, std::size_t from,
                         std::size_t to) { ops.fill_soup(narrowed(band, from, to), digits, key); });
}

nb::tuple cells_survey(const std::string& level, Batch words, std::uint64_t y0, std::uint64_t w0,
                       std::optional<Result> counts) {
    const CellsOps& ops = ops_at(cells_levels, level);
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
    CellsSurvey found{};
    each_band(block, [&](const CellsBlock<const std::uint64_t>& band, std::size_t first,
                         std::size_t from, std::size_t to) {
        const CellsSurvey part =
            ops.survey(narrowed(band, from, to),
                       bytes ? bytes + first * block.count + 8 * from : nullptr, 8 * block.count);
        found.population += part.population;
        found.low += part.low;
        found.high += part.high + (found.low < part.low);
    });
    return nb::make_tuple(found.population, found.low, found.high);
}

void cells_densities(const std::string& level, Batch words, std::uint64_t first, int scale,
                     Result levels) {
    const CellsOps& ops = ops_at(cells_levels, level);
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
    const std::size_t columns = levels.shape(1);
    const Scratch scratch = aligned_scratch(((columns << scale) + 63) / 64 * 8 * (8 >> scale));
    each_band(block, [&](const CellsBlock<const std::uint64_t>& band, std::size_t row,
                         std::size_t from, std::size_t to) {
        const Columns part(from, to, first, scale, columns);
        if (part.first == part.last) return;
        ops.densities(band, first + (part.first << scale), scale, part.last - part.first,
                      static_cast<std::uint8_t*>(levels.data()) + (row >> scale) * columns +
                          part.first,
                      columns, static_cast<std::uint64_t*>(scratch.get()));
    });
}

// Returns the data of an array that has one value for each block, contiguous.
template <class Value, class Array>
Value* each_block(const Array& array, std::size_t rows, std::size_t columns, const char* name) {
    if (array.dtype() != nb::dtype<std::remove_const_t<Value>>() || array.ndim() != 2 ||
        array.device_type() != nb::device::cpu::value || array.shape(0) != rows ||
        array.shape(1) != columns || !checks::aligned(array) ||
        (array.size() && ((rows > 1 && array.stride(0) != std::int64_t(columns)) ||
                          (columns > 1 && array.stride(1) != 1))))
        throw nb::value_error((std::string(name) + " must have a value for each block").c_str());
    return static_cast<Value*>(array.data());
}

void cells_ages(const std::string& level, Batch words, std::uint64_t first, int scale,
                std::optional<Batch> known, std::optional<Batch> before, std::uint16_t passed,
                Batch shades, Result counts, Result levels) {
    const CellsOps& ops = ops_at(cells_levels, level);
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
        shades.device_type() != nb::device::cpu::value || shades.shape(0) < 2 ||
        shades.stride(0) != 1 || shades.shape(0) > 65536)
        throw nb::value_error("shades must be of uint8, 2 to 65536, contiguous");
    ages.shades = static_cast<const std::uint8_t*>(shades.data());
    ages.oldest = std::uint16_t(shades.shape(0) - 1);
    ages.first = first, ages.columns = columns, ages.scale = scale, ages.passed = passed;
    const Scratch scratch = aligned_scratch(2 * (columns + 64));
    ages.scratch = static_cast<std::uint8_t*>(scratch.get());
    ages.across = columns;
    each_band(ages.block, [&](const CellsBlock<const std::uint64_t>& band, std::size_t row,
                              std::size_t from, std::size_t to) {
        const Columns those(from, to, first, scale, columns);
        if (those.first == those.last) return;
        CellsAges part = ages;
        const std::size_t skipped = (row >> scale) * columns + those.first;
        part.block = band;
        part.first += those.first << scale;
        part.columns = those.last - those.first;
        if (known) {
            part.known += std::ptrdiff_t(row) * ages.known_stride;
            part.before += skipped;
        }
        part.counts += skipped;
        part.levels += skipped;
        ops.ages(part);
    });
}

std::vector<std::string> available_levels() {
    std::vector<std::string> names;
    for (const auto& level : life_levels)
        if (supported(level.name)) names.push_back(level.name);
    return names;
}

int vector_bits(const std::string& level) { return 8 * ops_at(life_levels, level).vector_bytes; }

}  // namespace

NB_MODULE(_cpu, m) {
    m.doc() = "Compiled CPU kernels, called by the engines that are beside their sources.";
    m.attr("compiler") = __VERSION__;
    m.def("levels", &available_levels, "CPU levels that this build and CPU have, slowest first.");
    m.def("vector_bits", &vector_bits, nb::arg("level"));
    m.def("life_pass", &life_pass, nb::arg("level"), nb::arg("src"), nb::arg("dst").noconvert(),
          nb::arg("width"), nb::arg("torus"), nb::arg("birth"), nb::arg("survival"),
          nb::arg("steps"), nb::arg("panels"), nb::arg("useful"), nb::arg("columns"),
          nb::arg("halo"), nb::arg("band_rows"), nb::arg("block_rows"), nb::arg("threads"),
          nb::arg("stopped") = nb::none(), nb::arg("circuit") = nb::none(), nb::arg("edge") = 0,
          "One pass of Life: dst = src after `steps` generations (life.hpp has the parameters). "
          "stopped(), if given, is asked 100 times a second; where it is true the pass is broken "
          "off, dst is undefined, and False is returned. A circuit takes the place of birth and "
          "survival.");
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
    bind_ageing(m);
    bind_bignum(m);
    bind_cells_climb(m);
    bind_circuits(m);
    bind_cky(m);
    bind_cky_text(m);
    bind_cky_weighted(m);
    bind_hashlife(m);
    bind_ranges(m);
    bind_rational(m);
    bind_redundant(m);
    bind_runs(m);
    bind_semigroups(m);
    bind_semigroup_graphs(m);
    bind_tables(m);
    bind_settling(m);
    bind_folded(m);
    bind_tiles(m);
}

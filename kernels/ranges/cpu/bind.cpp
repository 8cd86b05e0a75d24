// Binds Larger than Life on the CPU to Python; kernels.ranges.cpu.engine calls it.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdlib>
#include <string>
#include <tuple>
#include <vector>

#include "../../levels.hpp"
#include "../../tasks.hpp"
#include "ranges.hpp"

namespace nb = nanobind;

LEVELS_OF(RangeOps, ranges)

namespace {

using std::int64_t;

using Cells = nb::ndarray<std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using ConstCells = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Runs = std::vector<std::tuple<int, int, int>>;
using Intervals = std::vector<std::tuple<std::uint32_t, std::uint32_t>>;

constexpr int FARTHEST = 500;  // rows and columns
constexpr int64_t LONGEST = int64_t(1) << 40;  // cells along a side

std::vector<RangeCounts> counts_of(const Intervals& intervals) {
    std::vector<RangeCounts> counts;
    for (const auto& [least, greatest] : intervals) {
        checks::require(least <= greatest, "the counts of a rule begin behind their end");
        counts.push_back({least, greatest - least});
    }
    return counts;
}

void ranges_step(const std::string& level, ConstCells src, Cells dst, bool torus, const Runs& runs,
                 int radius, bool middle, const Intervals& birth, const Intervals& survival,
                 int states, int64_t columns, int64_t rows, int threads) {
    const RangeOps& ops = ops_at(ranges_levels, level);
    const int64_t height = int64_t(src.shape(0)), width = int64_t(src.shape(1));
    checks::require(height >= 1 && width >= 1 && height <= LONGEST && width <= LONGEST &&
                        dst.shape(0) == src.shape(0) && dst.shape(1) == src.shape(1),
                    "cells and what becomes of them are arrays of one shape");
    checks::require_apart(dst, src);
    checks::require(states >= 2 && states <= 256, "cells have 2 to 256 states");
    checks::require(radius >= 0 && radius <= FARTHEST && columns >= 1 && rows >= 1,
                    "a strip has columns and rows, and a neighbourhood an end");
    checks::require(threads >= 1, "at least one thread must work");
    std::vector<RangeRun> list;
    std::uint64_t most = 0;
    int reach = radius;
    for (const auto& [row, first, last] : runs) {
        checks::require(std::abs(int64_t(row)) <= FARTHEST && first >= -FARTHEST && first <= last &&
                            last <= FARTHEST,
                        "a run of neighbours is too far away, or ends before it begins");
        list.push_back({row, first, last});
        most += std::uint64_t(last - first + 1);
        for (const int far : {std::abs(row), -first, last}) reach = far > reach ? far : reach;
    }
    const int side = 2 * FARTHEST + 1;
    checks::require(most <= std::uint64_t(side) * side, "a neighbour is counted twice");
    if (radius) most = std::uint64_t(2 * radius + 1) * std::uint64_t(2 * radius + 1);
    const auto born = counts_of(birth), kept = counts_of(survival);
    for (const auto& counts : {born, kept})
        for (const RangeCounts& c : counts)
            checks::require(std::uint64_t(c.least) + c.span <= most, "a count of more than there are");
    if (columns > width) columns = width;
    if (rows > height) rows = height;
    volatile bool cancelled = false;
    const RangePass pass = {src.data(), dst.data(), width, height, torus, states, reach, radius, middle,
                            list.data(), int(list.size()), born.data(), kept.data(), int(born.size()),
                            int(kept.size()), std::uint32_t(most), columns, rows, &cancelled};
    run_tasks(range_tasks(pass), threads, ops.scratch_bytes(pass), cancelled,
              [&](int64_t task, void* scratch) { ops.run_task(pass, task, scratch); });
}

}  // namespace

void bind_ranges(nb::module_& m) {
    m.def("ranges_step", &ranges_step, nb::arg("level"), nb::arg("src").noconvert(),
          nb::arg("dst").noconvert(), nb::arg("torus"), nb::arg("runs"), nb::arg("radius"),
          nb::arg("middle"), nb::arg("birth"), nb::arg("survival"), nb::arg("states"),
          nb::arg("columns"), nb::arg("rows"), nb::arg("threads"),
          "Make one generation of cells, uint8 (rows, columns), of a rule of Larger than Life. runs: "
          "(row, first column, last column) of neighbours; radius: of a square, where they are one, "
          "else 0; middle: whether the cell itself is in it. birth, survival: intervals of counts.");
}

// Binds a step up a pyramid of densities to Python; kernels.cells.contract calls it.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <optional>
#include <string>

#include "../../levels.hpp"
#include "../../tasks.hpp"
#include "cells.hpp"

namespace nb = nanobind;

LEVELS_OF(CellsOps, cells)

namespace {

using Live = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;
using Bytes = nb::ndarray<std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Above = nb::ndarray<nb::ndim<2>, nb::c_contig, nb::device::cpu>;

constexpr int LEAST = 3, MOST = 12;
constexpr std::size_t AT_ONCE = 1 << 20;  // blocks, about: they take less than a millisecond

nb::dlpack::dtype type_of(int scale) {
    return scale == 3 ? nb::dtype<std::uint8_t>()
         : scale < 8  ? nb::dtype<std::uint16_t>()
                      : nb::dtype<std::uint32_t>();
}

// Raises ValueError where a contiguous result shares memory with rows that may lie apart.
template <class Array>
void require_apart(const Array& result, const Live& live) {
    const std::size_t rows = live.shape(0);
    const std::size_t between = rows > 1 ? std::size_t(live.stride(0)) * (rows - 1) : 0;
    const auto from = reinterpret_cast<std::uintptr_t>(live.data());
    const auto to = reinterpret_cast<std::uintptr_t>(result.data());
    const std::size_t bytes = (between + live.shape(1)) * live.itemsize();
    checks::require(to >= from + bytes || from >= to + result.nbytes(),
                    "a result overlaps another array");
}

void cells_climb(const std::string& level, Live live, int scale, Bytes made,
                 std::optional<Above> above) {
    const CellsOps& ops = ops_at(cells_levels, level);
    const std::size_t rows = live.shape(0), columns = live.shape(1);
    checks::require(scale >= LEAST && scale <= MOST, "a scale is 3 to 12");
    checks::require(live.dtype() == type_of(scale) && checks::aligned(live) &&
                        (!live.size() || ((columns < 2 || live.stride(1) == 1) &&
                                          (rows < 2 || live.stride(0) >= std::int64_t(columns)))),
                    "live must be of the narrowest type that holds a block's cells, rows in order");
    checks::require(made.shape(0) == rows && made.shape(1) == columns,
                    "levels must have a byte for each block");
    checks::require(!above || (above->dtype() == type_of(scale + 1) && checks::aligned(*above) &&
                               above->shape(0) == rows / 2 + rows % 2 &&
                               above->shape(1) == columns / 2 + columns % 2),
                    "above must have a number for each block of twice the side");
    if (!live.size()) return;
    require_apart(made, live);
    if (above) {
        require_apart(*above, live);
        checks::require_apart(*above, made);
    }
    const auto bytes = [&](const void* data, std::ptrdiff_t row) {
        const std::ptrdiff_t bytes = live.stride(0) * std::ptrdiff_t(live.itemsize());
        return static_cast<const std::uint8_t*>(data) + row * bytes;
    };
    const std::size_t step = (AT_ONCE / columns + 1) * 2;
    run_in_steps(rows, step, [&](std::size_t first, std::size_t last) {
        void* to = nullptr;
        if (above)
            to = static_cast<std::uint8_t*>(above->data()) +
                 first / 2 * above->shape(1) * above->itemsize();
        ops.climb({bytes(live.data(), std::ptrdiff_t(first)), last - first, columns,
                   std::ptrdiff_t(live.stride(0)), scale, made.data() + first * columns, to});
    });
}

}  // namespace

void bind_cells_climb(nb::module_& m) {
    m.def("cells_climb", &cells_climb, nb::arg("level"), nb::arg("live").noconvert(),
          nb::arg("scale"), nb::arg("levels").noconvert(), nb::arg("above").noconvert().none(),
          "Levels of blocks of 2^scale x 2^scale cells from the live cells of each, and the live "
          "cells of blocks of twice the side.");
}

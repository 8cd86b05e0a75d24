// The leaves of a HashLife tree, 32 x 32 cells, and the step that all others are made of.
#pragma once
#include <cstdint>

#include "../../../life/cpu/nine_cells.hpp"

namespace hashlife {

constexpr int LEAF_LEVEL = 5;          // a square of level n has 2^n x 2^n cells
constexpr int LEAF_ROWS = 32;          // words of a leaf: bit b of word r is the cell (b, r)
constexpr int LONGEST_LEAF_STEP = 16;  // generations

// What each CPU level exports.
struct LeafOps {
    int vector_bytes;
    // Moves four leaves, a square of 64 x 64 cells, on by 0 to 16 generations and writes the
    // 32 x 32 cells in its middle to `out`, which may be none of the four.
    void (*advance)(const std::uint32_t* const four[4], int generations, const NineCellRule& rule,
                    std::uint32_t* out);
};

}  // namespace hashlife

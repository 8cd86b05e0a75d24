// Trees made of cells that come from elsewhere.
#pragma once
#include <cstddef>
#include <cstdint>

#include "tree.hpp"

namespace hashlife {

constexpr int SQUARE_LEVEL = 6;  // 64 x 64 cells

enum class Edited { made, stopped, no_memory, contradiction };

// Sets all cells of `count` squares: square i has the columns from 64 places[2 i] on and the rows
// from 64 places[2 i + 1] on; bit b of word squares[64 i + r] is the cell in its row r and column b.
// A contradiction: two squares of one place. The tree stays as it was unless this returns made.
Edited put(Tree& tree, const std::int64_t* places, const std::uint64_t* squares, std::size_t count);

// Makes a universe of a list of squares, of which the first is none and the last the root. Square i
// has level levels[i], from 3 on; one of level 3 has the cells of leaves[i], bit 8 y + x, others have
// the children four[4 i] to four[4 i + 3], each before i in the list or 0, where it is empty.
// A contradiction: any other list, or a root below level 6.
Edited build(Tree& tree, const std::uint8_t* levels, const std::int64_t* four,
             const std::uint64_t* leaves, std::size_t count);

// Moves all cells down by a row, or up by one.
Edited move_a_row(Tree& tree, bool down);

}  // namespace hashlife

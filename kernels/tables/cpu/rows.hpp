// The next states of the cells of a row of a tile.
#pragma once
#include <cstdint>

namespace tables {

constexpr int STATES = 256;
constexpr int FIELD = 21;  // bits of each of the three numbers of a column
constexpr std::int64_t SIDE = 64;  // cells of a row of a tile

// A rule as tables of columns (kernels/tables/columns.py makes them), as plain memory. Three cells above
// each other are a column: columns[up[a] + middle[b] + down[c]] has three numbers for it, those that
// it counts with as the left one, the one in the middle and the right one of three.
struct Tables {
    const std::uint32_t *up, *middle, *down;
    const std::uint64_t* columns;  // left | centre << FIELD | right << 2 FIELD
    const std::uint32_t* pairs;    // of left + centre, if not null
    const std::uint8_t* finals;    // of left + centre + right, or pairs[...] + right
    // Of rules whose columns are too many: nine levels, one after the other. An entry is the place
    // in it of the node of the next level, or the next state.
    const std::uint32_t* walk;
    // Of rules without pairs, if their numbers fit, else null: columns by their cells' states, from the
    // uppermost on (a << bits | b) << bits | c, as left | centre << centre_at | right << right_at.
    const std::uint32_t* by_states;
    int bits, centre_at, right_at;
    // Of rules of so few states, columns and finals that vectors hold these as bytes, else null: what a
    // state adds as the upper, middle and lower cell (16 each), and the left, middle and right numbers
    // of columns (16 column_parts each). finals have 16 final_parts.
    const std::uint8_t *few_states, *few_columns;
    int column_parts, final_parts;
};

// The marks of a tile and its neighbours: of each, a word for each of its rows. It has so many columns and
// rows; in the words of those left of it the last column is bit left_at, and above_at is the last row of
// those above it. `rows_beside`: the rows in or beside which there are marks, perhaps elsewhere.
struct Near {
    const std::uint64_t* marks[3][3];
    std::uint64_t rows_beside;
    std::int64_t columns, rows, left_at, above_at;
};

// Rows of a tile to compute, those in the bits of `rows`. from, to, known: its first cell, in this
// generation, in the next one, and in that which it is compared with (which may be what `to` has so far). Rows
// are `stride` bytes apart; what lies within SIDE + 1 bytes of their ends is read.
struct Work {
    const std::uint8_t* from;
    std::uint8_t* to;
    const std::uint8_t* known;
    std::int64_t stride, columns;
    std::uint64_t rows;
    const std::uint64_t* wanted;  // of each row, in which columns
    std::uint64_t* changed;       // set for all SIDE rows: where the next state is not the known one
};

// Returns in which rows something changed.
using NextRows = std::uint64_t (*)(const Tables&, const Work&);

// What each CPU level exports, as `extern const RowOps table_rows_LEVEL`.
struct RowOps {
    // Sets `wanted` for rows: the columns in which a cell may change. Returns in which rows there are some;
    // of others nothing may be set. corners: whether a cell's neighbours at the corners matter to it.
    std::uint64_t (*find)(const Near&, bool corners, std::uint64_t* wanted);
    // The way that is quickest for a rule here.
    NextRows (*best)(const Tables&);
};

}  // namespace tables

// Universes that stay in the caches of the cores for many generations: folded.
//
// A universe is cut into pieces, which are rows that follow each other. A piece is cut into as many bands
// of rows as a vector has lanes of 32 bits, and across into 32 strips: bit i of lane l of the vector at
// column x and row y is the cell at column x of strip i and row y of band l. So all neighbours of a
// vector's cells are in the vectors around it; across a strip's edge they are in the next bit, across
// a band's in the next lane.
//
// Where the width is no multiple of 32 the first strips are one column longer than the others. What these
// have in the last column is a copy of the next strip's first one, so that it is right of their last cells;
// it is renewed after each generation.
//
// One piece may be a whole universe. Of several each has a halo of rows of those above and below it,
// which is renewed when as many generations have been made as it has rows.
#pragma once
#include <cstddef>
#include <cstdint>

namespace folded {

using std::int64_t;
using std::uint32_t;
using std::uint64_t;

constexpr int STRIPS = 32;

// What all pieces have in common. columns: of vectors, as many as the longest strips have. longest: how many
// strips are so long; others have one column less. torus: whether the left edge meets the right one. wraps: whether there is one piece, whose upper edge meets its lower one. halo: rows that
// pieces have of each other, and generations after which these are renewed.
struct Form {
    int64_t columns, halo;
    int longest;
    bool torus, wraps;
    uint32_t birth, survival;

    bool is_ragged() const { return longest < STRIPS; }
    // Returns the bits of those strips that have one column less.
    uint32_t shorter() const { return is_ragged() ? ~uint32_t(0) << longest : 0; }
    // Returns the place of a strip's first cell in a row.
    int64_t start(int strip) const { return strip * columns - (strip > longest ? strip - longest : 0); }
};

// A piece. The vectors of a column follow each other. Beyond its upper and lower edge all is dead, unless
// the universe wraps. Its own rows are those from `above` on.
struct Piece {
    void* cells[2];          // of now, and of a generation before
    int64_t rows;            // of each of its bands
    int64_t first, own;      // its own rows: where they are in the universe, and how many
    int64_t above;           // rows of halo above them; below are what is left
    uint32_t *top, *bottom;  // its first and last rows, as many as a halo has, a word a column; or null

    // Vectors from one column to the next: an odd number, or they would meet in few sets of a cache.
    int64_t pitch() const { return rows | 1; }
};

// Rows of packed cells: uint64 (height, stride).
struct Rows {
    uint64_t* words;
    int64_t stride;
};

// What each CPU level exports, as `extern const folded::Ops folded_LEVEL`.
struct Ops {
    int vector_bytes;
    // Return the bytes of memory that fold() and unfold() need, aligned as vectors are.
    std::size_t (*scratch_bytes)(int64_t columns);
    // Take a piece's own rows from a universe, with halos of dead cells, and write them to one.
    void (*fold)(const Form&, const Piece&, const Rows&, void* scratch);
    void (*unfold)(const Form&, const Piece&, const Rows&, void* scratch);
    // Write a piece's first and last rows to `top` and `bottom`, and take its halos from what its
    // neighbours wrote there; null where there is no neighbour.
    void (*show)(const Form&, const Piece&);
    void (*renew)(const Form&, const Piece&, const uint32_t* above, const uint32_t* below);
    // Moves a piece on. The two arrays of its cells change places for each generation.
    void (*advance)(const Form&, Piece&, int64_t generations);
};

}  // namespace folded

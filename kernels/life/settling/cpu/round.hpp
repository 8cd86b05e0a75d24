// A round of a universe that settles: four generations, computed only where something differs from what
// was there twelve generations ago, or is near to what does.
//
// Cells lie in three fields: those of now, of four generations ago and of eight. A round reads the first
// and writes over what is twelve generations old once it is done. A block of 4 x 4 cells that is as it was
// twelve generations ago, as are the eight around it, will be as it was eight generations ago: as it stands
// in the field that is written. All others are computed, in windows of 64 x 64 cells, of which 56 x 56 are
// right after four generations, or of half the height, of which 56 x 24 are.
#pragma once
#include <cstddef>
#include <cstdint>

#include "../../cpu/nine_cells.hpp"

namespace settling {

using std::int64_t;
using std::uint64_t;

constexpr int STEPS = 4;    // generations of a round, and cells along a block
constexpr int FIELDS = 3;
constexpr int BLOCKS = 14;  // along a window, beside one at either end that is its halo
constexpr int LOW = 6;      // rows of them in a window of half the height, which are right
constexpr int LEAST = 128;  // cells along a side

// How cells lie in a field: in columns of words, a word for 64 cells beside each other, so that the rows
// of a window follow each other. Around them are copies of what lies across the edges of a torus, and
// nothing on a plane: 4 rows above and 60 below, a column of words to the left, and as many cells to the
// right.
struct Shape {
    int64_t width, height;
    bool torus;

    static constexpr int64_t ABOVE = STEPS, BELOW = 64 - STEPS;
    int64_t columns() const { return (width + 63) / 64; }
    int64_t blocks_across() const { return (width + STEPS - 1) / STEPS; }
    int64_t blocks_down() const { return (height + STEPS - 1) / STEPS; }
    // Words from one column to the next: whole vectors, and no power of two, of which few fit a cache.
    int64_t pitch() const { return (ABOVE + height + BELOW + 7) / 8 * 8 + 8; }
    std::size_t size() const { return std::size_t((columns() + 2) * pitch()); }
    // Where the word of a column, from -1 on, and a row, from -ABOVE on, stands.
    int64_t at(int64_t column, int64_t row) const { return (column + 1) * pitch() + row + ABOVE; }
};

// Where a window is: the first block of its inner part, which is in an odd column or in column -1, and how
// many rows of blocks it is to find: it has half the height if they are no more than LOW.
struct Place {
    int64_t column, row;
    int rows;
};

// The first of 16 x 16 blocks.
struct Part {
    int64_t row, column;
};

// A list that grows by what is called, which says whether there was memory for it.
template <class T>
struct List {
    T* data;
    std::size_t count, room;
    void* owner;
    bool (*grow)(List&);
    bool failed;

    void push(const T& item) {
        if (count == room && !grow(*this)) failed = true;
        else data[count++] = item;
    }
};

// Which of a window's inner blocks differ from twelve generations ago: a bit each of those in a row of blocks,
// and rows from that above the inner ones to that below.
struct alignas(32) Changes {
    std::uint16_t rows[BLOCKS + 2];
    bool any;
};

struct Round {
    const Shape& shape;
    const NineCellRule& rule;
    const uint64_t* from;  // fields
    uint64_t* to;
};

// The windows of a band that a round took, and what they found.
struct Found {
    const Place* places;
    const Changes* changes;
    std::size_t count;
};

// A band: rows of blocks from `first` to before `last`.
struct Band {
    int64_t first, last;
    // Blocks that must be computed, a bit each, in columns of words, as cells lie in a field; none between
    // rounds. There is a column of nothing to the left and two to the right, and rows of nothing above and below.
    uint64_t* due;

    static constexpr int64_t BEYOND = 16;
    int64_t pitch() const { return last - first + 2 * BEYOND; }
    static std::size_t size(const Shape& shape, int64_t rows) {
        return std::size_t(((shape.blocks_across() + 63) / 64 + 3) * (rows + 2 * BEYOND));
    }
    uint64_t* word(int64_t column, int64_t row) const { return due + (column + 1) * pitch() + row - first + BEYOND; }
};

struct Ops {
    int vector_bytes;  // of circuits
    // Makes the windows of a round of all blocks of a band.
    void (*take_all)(const Shape&, const Band&, List<Place>& places);
    // Makes those of the blocks that changed in the round before, or are near to those: which, some bands
    // tell. edges: scratch.
    void (*take)(const Shape&, const Band&, const Found* near, std::size_t count, List<Place>& places,
                 List<Part>& edges);
    // Computes windows. No two threads may write to the same rows.
    void (*visit)(const Round&, const Place* places, std::size_t count, Changes* changes);
    // Sets the copies beyond the edges of a torus of rows `first` to before `last`, if they are near the
    // cells of the columns of words from `left` to `right`.
    void (*copy_edges)(const Shape&, uint64_t* field, int64_t left, int64_t right, int64_t first, int64_t last);
};

}  // namespace settling

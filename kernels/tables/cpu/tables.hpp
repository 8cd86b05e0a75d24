// Universes of cells of up to 256 states, whose rule is a table of nine cells. A byte holds a cell.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "../../team.hpp"

namespace tables {

constexpr int STATES = 256;
constexpr int FIELD = 21;  // bits of each of the three numbers of a column

// A rule as tables of columns (kernels/tables/columns.py makes them). Three cells above each other
// are a column: columns[up[a] + middle[b] + down[c]] has three numbers for it, those that it
// counts with as the left one, the one in the middle and the right one of three.
struct Rule {
    int states = 0;
    bool corners = true;  // whether cells at the corners matter
    bool stays_empty = true;
    std::uint32_t up[STATES] = {}, middle[STATES] = {}, down[STATES] = {};
    std::vector<std::uint64_t> columns;  // left | centre << FIELD | right << 2 FIELD
    std::vector<std::uint32_t> pairs;    // of left + centre, if not empty
    std::vector<std::uint8_t> finals;    // of left + centre + right, or pairs[...] + right
    // Of rules whose columns are too many: nine levels, one after the other. An entry is the place
    // in it of the node of the next level, or the next state.
    std::vector<std::uint32_t> walk;
};

// The columns of a row of a tile are the bits of a word.
constexpr std::int64_t SIDE = 64;

struct Freed {
    void operator()(void* memory) const { std::free(memory); }
};
template <class T>
using Zeroed = std::unique_ptr<T[], Freed>;

// A torus, or a rectangle with cells of state 0 around it. Only cells near which something changed
// in the generation before are computed. It starts with all cells in state 0.
//
// Invariants: a and b are the cells of this generation and of that before, with a ring of cells
// around them. A cell beside which nothing is marked has in b what it will be in the next one.
class Universe {
public:
    Universe(const Rule& rule, std::int64_t width, std::int64_t height, bool torus, int threads);

    static std::size_t bytes(std::int64_t width, std::int64_t height);

    // Makes generations until there are enough or stopped(), asked by this thread, is true;
    // then the generation that was under way is as if it had not begun.
    void step(std::uint64_t generations, const std::function<bool()>& stopped);

    // Sets and gives rows of cells, (rows, planes, words). Threads may do so at once with
    // different rows. put() returns false, and stops, at a state that the rule does not have.
    bool put(std::int64_t y, std::int64_t rows, const std::uint64_t* words);
    void get(std::int64_t y, std::int64_t rows, std::uint64_t* words) const;

    const Rule rule;
    const std::int64_t width, height;
    const bool torus;
    const int planes;
    std::uint64_t generation = 0;

private:
    struct Place {
        std::int64_t tx, ty, columns, rows;
    };
    // The marks of a tile and its neighbours: of each, a word for each row.
    struct Around {
        const std::uint64_t* rows[3][3];
        std::uint64_t some[3][3];  // which rows have a mark
        std::int64_t left_columns, above_rows;
    };

    std::int64_t index(std::int64_t tx, std::int64_t ty) const;
    Place place(std::int64_t tile) const;
    Around around(const Place& at) const;
    std::uint64_t wide(const Around& near, int dy, std::int64_t y, std::int64_t columns) const;
    std::uint64_t marks(const Around& near, const Place& at, std::int64_t y) const;
    bool marked(int turn, std::int64_t tile) const;
    void mark_all();
    void find_marked();
    void spread();
    void wake(std::int64_t tx, std::int64_t ty);
    void begin_twos();
    bool generate(const std::function<bool()>& stopped);
    void move(std::int64_t tile);
    template <class Next>
    void move_with(std::int64_t tile, const Next& next);
    void mirror(std::uint8_t* cells, std::int64_t y, std::int64_t x, std::int64_t columns) const;
    void mark_row(std::int64_t y, const std::vector<std::uint64_t>& changed);

    const std::int64_t across, down, stride;  // tiles, tiles, bytes
    Zeroed<std::uint8_t> a, b;
    // Of each tile, by the generation's parity: the cells that it changed, which rows have some, and
    // the generation + 1 for which that holds.
    Zeroed<std::uint64_t> changes[2], some_rows[2], stamps[2];
    // Tiles to compute: those that have the number of the wave in `woken`.
    Zeroed<std::uint64_t> woken;
    std::uint64_t wave = 0;
    std::vector<std::int64_t> awake, changed;
    bool touched = false;  // by put()
    // Marks say what differs from two generations before, in place of one, from when on most of
    // what changes comes back in two: so that costs nothing either.
    bool by_twos = false;
    bool carried = false;  // marks of put() stay for another generation
    bool looking = false;  // whether this generation counts what would be marked
    std::atomic<std::int64_t> changed_once{0}, changed_twice{0};
    std::mutex marking;
    Team team;
    const int threads;
};

}  // namespace tables

// Universes of cells of up to 256 states, whose rule is a table of nine cells. A byte holds a cell.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "../../team.hpp"
#include "rows.hpp"

namespace tables {

// A rule as the tables that rows.hpp describes.
struct Rule {
    int states = 0;
    bool corners = true;  // whether cells at the corners matter
    bool stays_empty = true;
    std::uint32_t up[STATES] = {}, middle[STATES] = {}, down[STATES] = {};
    std::vector<std::uint64_t> columns;
    std::vector<std::uint32_t> pairs;
    std::vector<std::uint8_t> finals;
    std::vector<std::uint32_t> walk;
    // What follows from these, made by prepare().
    std::vector<std::uint32_t> by_states;
    std::vector<std::uint8_t> few_states, few_columns;
    Tables tables = {};

    void prepare();
};

inline int bits_of(int states) {
    int bits = 0;
    while ((1 << bits) < states) bits++;
    return bits;
}

struct Freed {
    void operator()(void* memory) const { std::free(memory); }
};
template <class T>
using Zeroed = std::unique_ptr<T[], Freed>;

template <class T>
Zeroed<T> zeroed(std::size_t count) {
    Zeroed<T> memory(static_cast<T*>(std::calloc(count ? count : 1, sizeof(T))));
    if (!memory) throw std::bad_alloc();
    return memory;
}

inline std::int64_t up_to(std::int64_t cells) { return (cells + SIDE - 1) / SIDE; }

inline std::uint64_t first_bits(std::int64_t count) {
    return count == 64 ? ~std::uint64_t(0) : (std::uint64_t(1) << count) - 1;
}

constexpr std::size_t SLACK = 2 * SIDE;  // bytes behind the cells, as rows are read beyond their ends
constexpr int LONGEST_PERIOD = 16;  // generations
// Bytes of cells of earlier generations, beside two, that periods above 2 may take.
constexpr std::size_t EARLIER = std::size_t(160) << 20;

// A torus, or a rectangle with cells of state 0 around it. Only cells near which something changed
// in the generation before are computed. It starts with all cells in state 0.
//
// Where most of what changes comes back in some generations, a period, only cells near which
// something differs from as many generations before are computed: what repeats itself costs nothing.
//
// Invariants: `kept` has the cells of `size` generations, this one and those before, each with a ring
// of cells around them: as many as the period has, but at least two. A cell beside which nothing is
// marked has in the oldest of them what it will be in the next one. A row of one generation stands
// beside that row of the next, so that fewer pages of memory are touched.
class Universe {
public:
    // The rule is prepared here. ops: of the level that computes.
    Universe(Rule rule, const RowOps& ops, std::int64_t width, std::int64_t height, bool torus,
             int threads);

    static std::size_t bytes(std::int64_t width, std::int64_t height);

    // Makes generations until there are enough or stopped(), asked by this thread, is true;
    // then the generation that was under way is as if it had not begun.
    void step(std::uint64_t generations, const std::function<bool()>& stopped);

    // Sets and gives rows of cells, (rows, planes, words). Threads may do so at once with
    // different rows. put() returns false, and stops, at a state that the rule does not have.
    bool put(std::int64_t y, std::int64_t rows, const std::uint64_t* words);
    void get(std::int64_t y, std::int64_t rows, std::uint64_t* words) const;

    Rule rule;
    const std::int64_t width, height;
    const bool torus;
    const int planes;
    std::uint64_t generation = 0;

private:
    struct Place {
        std::int64_t tx, ty, columns, rows;
    };
    std::int64_t index(std::int64_t tx, std::int64_t ty) const;
    Place place(std::int64_t tile) const;
    Near near(const Place& at) const;
    bool marked(int turn, std::int64_t tile) const;
    bool touched_ever(std::int64_t tile) const { return stamps[0][tile] || stamps[1][tile]; }
    std::uint8_t* of(std::size_t place) const { return kept.get() + std::int64_t(place % size) * (width + 2); }
    std::uint8_t* now() const { return of(current); }
    std::uint8_t* oldest() const { return of(current + 1); }
    std::uint8_t* before() const { return of(current + size - 1); }
    static Zeroed<std::uint8_t> room(std::int64_t width, std::int64_t height, std::size_t size);
    void mark_all();
    void mark_changed();
    void find_marked();
    void spread();
    void wake(std::int64_t tx, std::int64_t ty);
    void look();
    void choose_rows();
    int best_period() const;
    void begin_period(int wanted);
    void copy_touched(const std::uint8_t* from, std::uint8_t* to, std::int64_t to_stride) const;
    bool generate(const std::function<bool()>& stopped);
    void move(std::int64_t tile);
    void mirror(std::uint8_t* cells, std::int64_t y, std::int64_t x, std::int64_t columns) const;
    void mark_row(std::int64_t y, const std::vector<std::uint64_t>& changed);

    decltype(RowOps::find) const find;
    const NextRows next_rows;
    const std::int64_t across, down;  // tiles
    Zeroed<std::uint8_t> kept;
    std::size_t size = 2, current = 0;  // the generations in `kept`, and the place there of this one
    std::int64_t stride;  // bytes from a row to the next one of the same generation
    // Of each tile, by the generation's parity: the cells that it changed, which rows have some, and
    // the generation + 1 for which that holds.
    Zeroed<std::uint64_t> changes[2], some_rows[2], stamps[2];
    // Tiles to compute: those that have the number of the wave in `woken`.
    Zeroed<std::uint64_t> woken;
    std::uint64_t wave = 0;
    std::vector<std::int64_t> awake, changed;
    bool touched = false;  // by put()
    // Marks say what differs from so many generations before.
    int period = 1;
    // Generations until `kept` has all of a period: so long marks are of all that changed since this
    // began, as what was kept then stands for each generation before it.
    int filling = 0;
    int carried = 0;  // generations for which marks stay after a put(), until no kept one is older
    // Rows of tiles that are kept, generation by generation, to find a period.
    struct Row {
        std::int64_t start, columns;
    };
    std::vector<Row> sampled;
    std::vector<std::uint8_t> samples;  // (generations, rows, SIDE)
    std::size_t window = 0;  // which number of generations is looked at
    std::uint64_t next_look = 1, pause = 0;
    std::mutex marking;
    Team team;
    const int threads;
};

}  // namespace tables

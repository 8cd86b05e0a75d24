// A universe of tiles: rounds that visit only tiles in which, or beside which, something is other
// than a cycle ago; and what is read and written between them.
//
// What differs from a cycle ago spreads by a cell each generation at most, so that a round changes only
// tiles that differ or have such a difference near them. All other tiles hold the cells of the round's
// end already: those of a cycle ago. Of tiles beside such differences only those are visited that a
// cell came near, in this round or a cycle ago: the others have the same neighbours as then. When cells
// have been set, what was before is forgotten (restart()).
#pragma once
#include <atomic>
#include <functional>
#include <vector>

#include "../../../team.hpp"
#include "gliders.hpp"
#include "store.hpp"

namespace tiles {

constexpr int SQUARE = 64;  // cells along the squares that are put and read
constexpr std::uint64_t OWN = (std::uint64_t(1) << SIDE) - 1;  // the columns of a tile

// The tile that a column or a row of cells is in.
constexpr std::int64_t tile_of(std::int64_t cell) { return (cell >= 0 ? cell : cell - SIDE + 1) / SIDE; }

constexpr std::int64_t square_of(std::int64_t cell) { return cell >> 6; }

// Tiles, or squares, from (x0, y0) to (x1, y1).
struct Range {
    std::int64_t x0, y0, x1, y1;
};

struct Box {
    bool empty;
    std::int64_t left, top, right, bottom;  // cells, the last ones included
};

class Plane {
public:
    // Says whether to stop; asked often, and by the calling thread.
    using Ask = std::function<bool()>;

    // table: what the rule says of all squares of nine cells.
    Plane(const Ops& ops, const NineCellRule& rule, const circuits::Table& table, std::size_t most, int threads)
        : ops(ops), rule(rule), threads(threads), gliders(table), most(most),
          store(cycle, most), team(threads) {
        make_room(1);
    }

    // Moves on by generations, or by fewer if it is told to stop. Raises bad_alloc at a whole
    // generation; moved() tells which.
    void step(std::uint64_t generations, const Ask& ask);

    std::uint64_t moved() const { return done + std::uint64_t(within); }
    // Whether every period() generations from here bring back what is there.
    bool settled() const {
        return !edited && number > whole && current.empty() && hollow.empty() && flying.empty();
    }
    std::size_t nbytes() const { return store.nbytes(); }

    // Sets squares of 64 x 64 cells: two places and 64 words each.
    void put(const std::int64_t* places, const std::uint64_t* words, std::size_t count);

    std::uint64_t population() const;
    Box box() const;
    // Writes squares that hold live cells, at most `most` of them, among those of `range`. Goes on
    // from `cursor`, which is 0 at first and NO_MORE at the end.
    static constexpr std::size_t NO_MORE = ~std::size_t(0);
    std::size_t squares(const Range& range, std::size_t& cursor, std::int64_t* places,
                        std::uint64_t* words, std::size_t most) const;
    // Sets bits of rows of `stride` words: cell (x, y) is bit 0 of the first.
    void get(std::int64_t x, std::int64_t y, std::uint64_t* words, std::size_t rows,
             std::size_t stride) const;
    // Adds the live cells of blocks of 2^level cells a side.
    void counts(std::int64_t x, std::int64_t y, int level, double* blocks, std::size_t rows,
                std::size_t columns) const;

private:
    int slot() const { return within ? NOW : cycle.slot(number); }
    std::uint64_t period() const { return std::uint64_t(cycle.period); }
    bool are_far() const { return store.all.size() > 64; }
    bool round(const Ask& ask);
    bool visit(const Round& round, const std::vector<Tile*>& list, std::size_t begin,
               const Ask& ask);
    void list(Tile* tile);
    void pass_on(Tile* tile, bool lives);
    void wake(Tile* tile, unsigned directions);
    void look_at_hollow(const Round& round);
    void leave_hollow(const Round& round);
    void part(int generations);
    void restart();
    void run(std::uint64_t& left, const Ask& ask);
    std::uint64_t skip(std::uint64_t left);
    std::uint64_t alone_for(const Glider& glider, const Tile* home) const;
    template <class Use>
    bool holds_only(const Tile* home, const Glider& glider, Use use) const;
    bool choose_cycle(const Ask& ask);
    std::size_t would_go_on() const;
    void take_samples();
    bool repeats() const;
    bool change(const Cycle& to, const Ask& ask);
    void flatten();
    void take_off();
    void land(std::size_t which);
    void land_all();
    void watch(std::uint64_t generation);
    void free_idle();
    void make_room(std::size_t tiles);
    Tile* make(std::int64_t x, std::int64_t y);
    void rest(Tile* tile);
    template <class Use>
    void each(const Range& range, Use use) const;

    const Ops& ops;
    const NineCellRule rule;
    const int threads;
    const Gliders gliders;
    const std::size_t most;  // bytes
    Cycle cycle = LONG;
    Store store;
    Team team;
    // Tiles that differ from a cycle ago, and so are visited in the next round, and in the one
    // after that (or, in part(), just some); those of them in which nothing lives, and which are only
    // visited where something may enter them; and those that may be freed.
    std::vector<Tile*> current, next, hollow, next_hollow, idle;
    std::vector<Visited> visited;
    // Gliders that are in no tile, only while step() runs; tiles that each may take when it is put back;
    // and the generations that one must fly for to be worth it.
    std::vector<Glider> flying;
    static constexpr std::size_t TILES_EACH = 4;
    static constexpr std::uint64_t LEAST_FLIGHT = 20;
    std::uint64_t watched = ~std::uint64_t(0);  // the generation up to which all of them are alone
    std::uint64_t number = 1;  // of the round that comes next
    // Of so many tiles the cells of a long cycle do not lie in cache. The short one is quicker then, though
    // its rounds are shorter, unless most of those that it would visit repeat themselves within the long one.
    static constexpr std::size_t LARGE = 2048;
    struct Sample {
        std::int64_t x, y;
        std::uint64_t cells[SIDE];
    };
    std::vector<Sample> samples;
    std::uint64_t sampled = 0, keep_until = 0;  // rounds: of the samples; for which the long cycle is kept
    bool stopped = false;      // the call of step() that runs was told to stop
    bool edited = false;       // cells have been set since the last round
    std::uint64_t whole = 0;   // the round that visits all tiles
    std::uint64_t done = 0;    // generations in rounds
    int within = 0;            // generations beyond these: the cells are those of slot NOW
};

}  // namespace tiles

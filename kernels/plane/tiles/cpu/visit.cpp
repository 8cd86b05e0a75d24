// Visits to tiles, on one CPU level. Compiled once per level, with LEVEL its name and VECTOR its
// register type (bits.hpp); nothing of the standard library may be instantiated here, or the linker
// could hand AVX-512 code to a machine without it.
#include "../../../life/circuit.hpp"
#include "../../../life/cpu/rules.hpp"
#include "reach.hpp"
#include "window.hpp"

namespace {

using tiles::Round;
using tiles::Visited;
using V = VECTOR;

// One generation of a window, in place.
template <class View, class Rule>
BITS_FN void advance(const Rule& rule, View& view) {
    constexpr int COUNT = View::COUNT;
    const auto state = [](V v) { return row_state(View::left(v), v, View::right(v)); };
    const RowState<V> end = state(view.rows[COUNT - 1]), start = state(view.rows[0]);
    RowState<V> above{View::lanes_up(end.x), View::lanes_up(end.m), V{}, V{}, V{}}, own = start;
#pragma GCC unroll 8
    for (int k = 0; k < COUNT; k++) {
        RowState<V> below = k + 1 < COUNT - 1    ? state(view.rows[k + 1])
                            : k + 1 < COUNT ? end
                                            : start;
        if (k + 1 == COUNT) below.x = View::lanes_down(below.x), below.m = View::lanes_down(below.m);
        view.rows[k] = rule(above, own, below);
        above = own, own = below;
    }
}

// The neighbours beside which a cell lived that is in rows `first` and `last`, or in any (`all`), of
// which columns `left` and `right` count.
BITS_FN unsigned sides(u64 first, u64 last, u64 all, int left, int right) {
    constexpr u64 OWN = 0x0000FFFFFFFF0000;
    const auto bit = [](u64 row, int c) { return unsigned(row >> c & 1); };
    return bit(first, left) << tiles::NW | unsigned((first & OWN) != 0) << tiles::N |
           bit(first, right) << tiles::NE | bit(all, left) << tiles::W |
           bit(all, right) << tiles::E | bit(last, left) << tiles::SW |
           unsigned((last & OWN) != 0) << tiles::S | bit(last, right) << tiles::SE;
}

// Moves windows on that do not depend on each other: the processor computes what it can of each while
// it waits for the other.
template <class Rule, class... Views>
BITS_FN void run(const Rule& rule, int steps, Views&... views) {
    (views.note(), ...);
    for (int g = 0; g < steps; g++) {
        (advance(rule, views), ...);
        (views.note(), ...);  // the last ones, too: they may lie in a tile that is not there yet
    }
}

// Keeps what a visit has found.
BITS_FN Visited finish(const Round& round, Tile& tile, const Window<V>& window, const Seen& seen) {
    const unsigned entered = sides(seen.above, seen.below, seen.all, 15, 48);
    const Stored stored = window.store(tile.cells(round.to));
    if (round.partial()) return {false, true, (unsigned char)without(tile, entered)};
    const u64 next = round.number + 1;
    if (stored.changed) tile.changed[next & 1] = next << 4 | stored.changed;
    const unsigned lived = sides(seen.first, seen.last, seen.all, 16, 47);
    const unsigned wake = woken(tile, round, lived | tile.border[round.from], entered);
    tile.border[round.from] = (unsigned char)lived;
    tile.set_hollow(round.to, !stored.lives);
    return {stored.changed != 0, stored.lives, (unsigned char)wake};
}

struct Visits {
    const Round& round;
    Tile* const* tiles;
    std::size_t count;
    Visited* visited;

    template <class Rule>
    void run(const Rule& rule) const {
        Halves<V> halves;
        for (std::size_t i = 0; i < count; i++) {
            if (i + 6 < count) __builtin_prefetch(tiles[i + 6]);
            if (i + 3 < count) fetch(*tiles[i + 3]);
            Window<V> window;
            window.load(*tiles[i], round.from);
            if (window.empty()) visited[i] = finish(round, *tiles[i], window, Seen{});
            else if (!halves.take(window, i)) whole(rule, window, i);
            else if (halves.full()) run_halves(rule, halves);
        }
        if (halves.any()) run_halves(rule, halves);
    }

    template <class Rule>
    BITS_FN void whole(const Rule& rule, Window<V>& window, std::size_t i) const {
        ::run(rule, round.steps, window);
        visited[i] = finish(round, *tiles[i], window, window.noted());
    }

    template <class Rule>
    __attribute__((noinline)) void again(const Rule& rule, std::size_t i) const {
        Window<V> window;
        window.load(*tiles[i], round.from);
        whole(rule, window, i);
    }

    template <class Rule, class Two>
    BITS_FN void run_halves(const Rule& rule, Two& halves) const {
        if constexpr (Two::exist) {
            ::run(rule, round.steps, halves.windows[0], halves.windows[1]);
            for (int n = 0; n < halves.count; n++) {
                Window<V> window;
                const std::size_t i = halves.tiles[n];
                if (!halves.windows[n].is_open()) {
                    again(rule, i);
                    continue;
                }
                halves.windows[n].give(window, halves.lanes[n]);
                visited[i] = finish(round, *tiles[i], window, window.noted());
            }
            halves.count = 0;
        }
    }

    // Has what a visit reads come into cache.
    void fetch(const Tile& tile) const {
        const auto both = [](const u32* cells) {
            __builtin_prefetch(cells), __builtin_prefetch(cells + 16);
        };
        both(tile.cells(round.from)), both(tile.cells(round.to));
        __builtin_prefetch(tile.changed);
        for (const Tile* near : tile.near) both(near->cells(round.from));
    }
};

void visit_all(const Round& round, Tile* const* tiles, std::size_t count, Visited* visited) {
    with_rule<V>(round.birth, round.survival, Visits{round, tiles, count, visited});
}

tiles::Life survey(const u32* cells) {
    tiles::Life life{0, 0, 0};
    for (int r = 0; r < tiles::SIDE; r++) {
        const u32 row = cells[tiles::place(r)];
        life.population += u32(__builtin_popcount(row));
        life.columns |= row;
        life.rows |= u32(row != 0) << r;
    }
    return life;
}

}  // namespace

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
extern const tiles::Ops JOIN(tiles_, LEVEL);
const tiles::Ops JOIN(tiles_, LEVEL) = {visit_all, survey};

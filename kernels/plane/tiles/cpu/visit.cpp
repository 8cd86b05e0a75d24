// Visits to tiles, on one CPU level. Compiled once per level, with LEVEL its name and VECTOR its
// register type (bits.hpp); nothing of the standard library may be instantiated here, or the linker
// could hand AVX-512 code to a machine without it.
#include "../../../life/circuit.hpp"
#include "../../../life/cpu/rules.hpp"
#include "../../../life/cpu/circuit_square.hpp"
#include "reach.hpp"
#include "window.hpp"

// What this level calls `name`.
#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)
#define NAMED(name) JOIN(name, LEVEL)
extern const LifeOps NAMED(life);

namespace {

using tiles::Round;
using tiles::Visited;
using V = VECTOR;

// Moves a window on by a generation.
template <class Rule>
BITS_FN void advance(const Rule& rule, Window<V>& view) {
    advance_rows<V>(rule, view.rows);
}

BITS_FN void advance(const CircuitSquare<V>& square, Window<V>& view) { square.advance(view.rows); }

// The neighbours beside which a cell lived that is in rows `first` and `last`, or in any (`all`), of
// which columns `left` and `right` count.
BITS_FN unsigned sides(u64 first, u64 last, u64 all, int left, int right) {
    const auto bit = [](u64 row, int c) { return unsigned(row >> c & 1); };
    return bit(first, left) << tiles::NW | unsigned((first & OWN) != 0) << tiles::N |
           bit(first, right) << tiles::NE | bit(all, left) << tiles::W |
           bit(all, right) << tiles::E | bit(last, left) << tiles::SW |
           unsigned((last & OWN) != 0) << tiles::S | bit(last, right) << tiles::SE;
}

// Keeps what a visit has found.
BITS_FN Visited finish(const Round& round, Tile& tile, const Window<V>& window, const Seen& seen) {
    const unsigned entered = sides(seen.above, seen.below, seen.all, FIRST - 1, LAST + 1);
    const Stored stored = window.store(tile.cells(round.to));
    if (round.partial()) return {false, true, (unsigned char)without(tile, entered)};
    if (stored.changed) tile.set_changed(round.number + 1, stored.reach);
    const unsigned lived = sides(seen.first, seen.last, seen.all, FIRST, LAST);
    const unsigned wake = woken(tile, round, lived | tile.border[round.from], entered);
    tile.border[round.from] = (unsigned char)lived;
    tile.set_hollow(round.to, !stored.lives);
    return {stored.changed, stored.lives, (unsigned char)wake};
}

struct Visits {
    const Round& round;
    Tile* const* tiles;
    std::size_t count;
    Visited* visited;

    // Visits some tiles together: all windows are loaded, then computed, then stored, so that what one
    // tile waits for does not hold up the others.
    template <class Rule>
    void run(const Rule& rule) const {
        constexpr std::size_t TOGETHER = 8;
        Window<V> windows[TOGETHER];
        for (std::size_t begin = 0; begin < count; begin += TOGETHER) {
            const std::size_t some = begin + TOGETHER < count ? TOGETHER : count - begin;
            for (std::size_t i = 0; i < some; i++) windows[i].load(*tiles[begin + i], round.from);
            if (round.far)
                for (std::size_t i = begin + some; i < begin + some + TOGETHER && i < count; i++) fetch(*tiles[i]);
            for (std::size_t i = 0; i < some; i++) {
                Window<V> window = windows[i];
                if (window.empty()) continue;
                window.note();
                for (int g = 0; g < round.steps; g++) {
                    advance(rule, window);
                    window.note();  // the last ones, too: they may lie in a tile that is not there yet
                }
                windows[i] = window;
            }
            for (std::size_t i = 0; i < some; i++)
                visited[begin + i] = finish(round, *tiles[begin + i], windows[i], windows[i].noted());
        }
    }

    // Has what a visit reads come into cache.
    void fetch(const Tile& tile) const {
        const auto lines = [](const u64* cells, int from, int to) {
            for (int r = from; r < to; r += 8) __builtin_prefetch(cells + r);
        };
        constexpr int SIDE = tiles::SIDE;
        const auto near = [&](int d) { return tile.near[d]->cells(round.from); };
        lines(tile.cells(round.from), 0, SIDE), lines(tile.cells(round.to), 0, SIDE);
        lines(near(tiles::W), 0, SIDE), lines(near(tiles::E), 0, SIDE);
        for (int d = tiles::NW; d <= tiles::NE; d++) lines(near(d), SIDE - 8, SIDE);
        for (int d = tiles::SW; d <= tiles::SE; d++) lines(near(d), 0, 8);
    }
};

void visit_all(const Round& round, Tile* const* tiles, std::size_t count, Visited* visited) {
    const Visits visits{round, tiles, count, visited};
    const NineCellRule& rule = round.rule;
    if (!rule.has_circuit()) return with_rule<V>(rule.birth, rule.survival, visits);
    using Square = CircuitSquare<V>;
    void* const memory = __builtin_alloca_with_align(Square::bytes(rule.circuit), 8 * sizeof(V));
    visits.run(Square(rule.circuit, NAMED(life), memory));
}

tiles::Life survey(const u64* cells) {
    tiles::Life life{0, 0, 0};
    for (int r = 0; r < tiles::SIDE; r++) {
        const u64 row = cells[r];
        life.population += u32(__builtin_popcountll(row));
        life.columns |= row;
        life.rows |= u64(row != 0) << r;
    }
    return life;
}

tiles::Shore shore(const u64* cells) {
    using tiles::HALO, tiles::SIDE;
    u64 first = 0, middle = 0, last = 0;
    for (int r = 0; r < HALO; r++) first |= cells[r];
    for (int r = HALO; r < SIDE - HALO; r++) middle |= cells[r];
    for (int r = SIDE - HALO; r < SIDE; r++) last |= cells[r];
    const u64 all = first | middle | last;
    constexpr u64 LEFT = (u64(1) << HALO) - 1, RIGHT = LEFT << (SIDE - HALO);
    const auto bit = [](u64 found, int d) { return unsigned(found != 0) << d; };
    return {all != 0, bit(first & LEFT, tiles::NW) | bit(first, tiles::N) | bit(first & RIGHT, tiles::NE) |
                          bit(all & LEFT, tiles::W) | bit(all & RIGHT, tiles::E) | bit(last & LEFT, tiles::SW) |
                          bit(last, tiles::S) | bit(last & RIGHT, tiles::SE)};
}

}  // namespace

extern const tiles::Ops NAMED(tiles);
const tiles::Ops NAMED(tiles) = {int(sizeof(V)), visit_all, survey, shore};

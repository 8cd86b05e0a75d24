#include "plane.hpp"

#include <algorithm>
#include <cstring>

namespace tiles {

using std::int64_t;
using std::size_t;
using std::uint64_t;

void Plane::make_room(size_t tiles) {
    store.reserve(tiles);
    for (std::vector<Tile*>* list : {&current, &next, &hollow, &next_hollow, &idle}) list->reserve(store.room());
    visited.resize(store.room());
}

Tile* Plane::make(int64_t x, int64_t y) {
    // All lists have room for every tile, so that nothing but this ever lacks memory.
    const size_t wanted = store.all.size() + 1 + TILES_EACH * flying.size();
    if (wanted > visited.size()) make_room(wanted);
    return store.make(x, y);
}

void Plane::rest(Tile* tile) {
    if (tile->idle) return;
    tile->idle = true;
    idle.push_back(tile);
}

// Visits the tiles of a list from `begin` on. Returns false where it was told to stop, which it asks
// once it has taken longer than a moment.
bool Plane::visit(const Round& round, const std::vector<Tile*>& list, size_t begin, const Ask& ask) {
    constexpr size_t PART = 64, SHARED = 256, MOMENT = 1 << 16;  // tiles; the last, 10 milliseconds
    const size_t end = list.size();
    if (end - begin <= PART) {
        ops.visit(round, list.data() + begin, end - begin, visited.data() + begin);
        return true;
    }
    std::atomic<size_t> from{begin};
    std::atomic<bool> stopped{false};
    const auto work = [&](int thread) {
        size_t done = 0;
        for (size_t i; !stopped && (i = from.fetch_add(PART)) < end; done += PART) {
            ops.visit(round, list.data() + i, std::min(PART, end - i), visited.data() + i);
            if (thread == 0 && done > MOMENT && ask && ask()) stopped = true;
        }
    };
    if (threads > 1 && end - begin >= SHARED) team.run(work);
    else work(0);
    return !stopped;
}

// Has a tile be visited in this round.
void Plane::list(Tile* tile) {
    if (tile->listed >= number) return;
    tile->listed = number;
    current.push_back(tile);
}

// Has a tile that differs from a cycle ago be looked at in the next round.
void Plane::pass_on(Tile* tile, bool lives) {
    if (lives) {
        tile->listed = number + 1;
        next.push_back(tile);
    } else {
        tile->waiting = number + 1;
        next_hollow.push_back(tile);
    }
}

void Plane::wake(Tile* tile, unsigned directions) {
    for (; directions; directions &= directions - 1) {
        const int d = __builtin_ctz(directions);
        Tile* const other = tile->near[d];
        list(other == &nothing ? make(tile->x + DX[d], tile->y + DY[d]) : other);
    }
}

// Lists those of the tiles in which nothing lives any more that something may enter unseen, from a
// tile that is not visited, as it does what it did a cycle ago; and those that had life at their
// border then, for which such a tile may do otherwise now. The others wait.
void Plane::look_at_hollow(const Round& round) {
    for (Tile* tile : hollow) {
        const bool had_life = tile->border[round.from] != 0;
        bool needed = false;
        for (int d = 0; d < 8 && !needed; d++) {
            const Tile& other = *tile->near[d];
            if (other.listed >= number || other.waits(round)) continue;
            needed = had_life || other.border[round.from] >> (7 - d) & 1;
        }
        if (needed) list(tile);
    }
}

// Has those that nothing has entered go on as they are.
void Plane::leave_hollow(const Round& round) {
    for (Tile* tile : hollow) {
        if (tile->listed >= number) continue;
        tile->border[round.from] = 0;
        if (tile->is_hollow(round.to)) {
            rest(tile);
            continue;
        }
        std::uint64_t* const cells = tile->cells(round.to);
        tile->set_changed(number + 1, ops.shore(cells).near);
        std::memset(cells, 0, SLOT_BYTES);
        tile->set_hollow(round.to, true);
        pass_on(tile, false);
    }
}

// Moves on by a round. Returns false where it was told to stop; then nothing has been done.
bool Plane::round(const Ask& ask) {
    const Round round{number, cycle.slot(number), cycle.slot(number + 1), cycle.length(number), rule, are_far()};
    next.clear();
    next_hollow.clear();
    try {
        if (number == whole) {
            hollow.clear();
            for (Tile* tile : store.all) list(tile);
        }
        look_at_hollow(round);
        for (size_t begin = 0; begin < current.size();) {
            const size_t end = current.size();
            if (!visit(round, current, begin, ask)) {
                restart();
                return false;
            }
            for (size_t i = begin; i < end; i++) {
                const Visited found = visited[i];
                if (found.changes) pass_on(current[i], found.lives);
                else if (!found.lives) rest(current[i]);
                wake(current[i], found.wake);
            }
            begin = end;
        }
    } catch (const std::bad_alloc&) {
        restart();
        throw;
    }
    leave_hollow(round);
    current.swap(next);
    hollow.swap(next_hollow);
    // Those woken come last each time; in their order in memory they have neighbours in common.
    if (number % 16 == 0) std::sort(current.begin(), current.end(), std::less<Tile*>());
    number++;
    done += uint64_t(round.steps);
    within = 0;
    free_idle();
    return true;
}

// Goes on to some generations beyond the last round, beside what the next round begins with.
void Plane::part(int generations) {
    const int before = within;
    const auto to = [&](int steps) {
        const Round round{number, cycle.slot(number), NOW, steps, rule, are_far()};
        next = store.all;
        for (size_t begin = 0; begin < next.size();) {
            const size_t end = next.size();
            visit(round, next, begin, nullptr);
            for (size_t i = begin; i < end; i++)
                for (unsigned wake = visited[i].wake; wake; wake &= wake - 1) {
                    const int d = __builtin_ctz(wake);
                    if (next[i]->near[d] != &nothing) continue;
                    Tile* const made = make(next[i]->x + DX[d], next[i]->y + DY[d]);
                    next.push_back(made);
                    rest(made);
                }
            begin = end;
        }
    };
    try {
        to(generations);
        within = generations;
    } catch (const std::bad_alloc&) {
        if (before) to(before);  // as it was: for that there was room
        throw;
    }
}

// Lets time go by while nothing changes but where gliders are. Returns the generations.
uint64_t Plane::skip(uint64_t left) {
    if (edited || number <= whole || !current.empty() || !hollow.empty()) return 0;
    if (!flying.empty()) left = std::min(left, watched - std::min(watched, done));
    const uint64_t again = left / period() * period();
    if (again) done += again, within = 0;
    return again;
}

// Makes whole rounds as long as there are generations left for them, or until it is told to stop.
void Plane::run(uint64_t& left, const Ask& ask) {
    constexpr uint64_t FOR_LONG = 4 * 60;  // generations for which gliders are taken out of their tiles
    for (unsigned i = 1;; i++) {
        left -= skip(left);
        const uint64_t steps = uint64_t(cycle.length(number));
        if (left < steps) return;
        if (number % SLOTS == 0 && left >= FOR_LONG && number > whole && !within) take_off();
        if (!flying.empty()) watch(done + steps);
        // Looking at the clock takes as long as some visits to a tile.
        if ((i % 8 == 0 && ask()) || !round(ask)) {
            stopped = true;
            return;
        }
        left -= steps;
        if (!choose_cycle(ask)) {
            stopped = true;
            return;
        }
    }
}

void Plane::step(uint64_t generations, const Ask& ask) {
    uint64_t left = generations + uint64_t(within);
    if (left >= uint64_t(cycle.length(number)) && edited) restart();
    stopped = false;
    try {
        run(left, ask);
    } catch (const std::bad_alloc&) {
        land_all();
        throw;
    }
    land_all();
    if (!stopped && int(left) != within) {
        if (left) part(int(left));
        within = int(left);
    }
}

// Begins anew with what is there, as if nothing had lived until now. Out of nothing it cannot have
// come: the round that would bring it back visits all tiles.
void Plane::restart() {
    const int from = cycle.slot(number);
    current.clear();
    hollow.clear();
    edited = false;
    whole = number + uint64_t(cycle.slots) - 1;
    for (Tile* tile : store.all) {
        std::memset(tile->border, 0, sizeof tile->border);
        for (int slot = 0; slot < cycle.slots; slot++)
            if (slot != from) std::memset(tile->cells(slot), 0, SLOT_BYTES);
        const Shore shore = ops.shore(tile->cells(from));
        tile->changed[number & 1] = tile->changed[(number + 1) & 1] = 0;
        tile->hollow = ALL_SLOTS;
        tile->listed = tile->waiting = 0;
        if (shore.lives) {
            tile->set_changed(number, shore.near);
            tile->set_hollow(from, false);
            list(tile);
        }
        else rest(tile);
    }
}

void Plane::free_idle() {
    for (Tile* tile : idle) {
        tile->idle = false;
        bool lives = !tile->is_empty() || tile->has_changed(number);
        for (std::uint8_t border : tile->border) lives = lives || border;
        if (!lives) store.free(tile);
    }
    idle.clear();
}

// Makes the cells within a round those that a round begins with.
void Plane::flatten() {
    if (!within) return;
    for (Tile* tile : store.all)
        std::memcpy(tile->cells(cycle.slot(number)), tile->cells(NOW), SLOT_BYTES);
    done += uint64_t(within);
    within = 0;
    edited = true;
}

void Plane::put(const int64_t* places, const uint64_t* words, size_t count) {
    // Calls use() with the place of each tile that shares cells with a square, the square's rows, and
    // its top-left cell, counted from that of the tile.
    const auto each_tile = [&](auto use) {
        for (size_t n = 0; n < count; n++) {
            const int64_t x = places[2 * n] * SQUARE, y = places[2 * n + 1] * SQUARE;
            for (int64_t j = tile_of(y); j <= tile_of(y + SQUARE - 1); j++)
                for (int64_t i = tile_of(x); i <= tile_of(x + SQUARE - 1); i++)
                    use(i, j, words + SQUARE * n, int(x - i * SIDE), int(y - j * SIDE));
        }
    };
    // Calls use() with the rows of a tile that a square has: the row, its cells, and which these are.
    const auto each_row = [](const uint64_t* square, int left, int top, auto use) {
        const auto moved = [&](uint64_t row) { return (left < 0 ? row >> -left : row << left) & OWN; };
        for (int r = std::max(top, 0); r < std::min(top + SQUARE, SIDE); r++)
            use(r, moved(square[r - top]), moved(~uint64_t(0)));
    };
    struct Place {
        int64_t y, x;
        bool operator<(const Place& other) const { return y < other.y || (y == other.y && x < other.x); }
        bool operator==(const Place& other) const { return y == other.y && x == other.x; }
    };
    std::vector<Place> wanted;
    each_tile([&](int64_t i, int64_t j, const uint64_t* square, int left, int top) {
        uint64_t any = 0;
        each_row(square, left, top, [&](int, uint64_t cells, uint64_t) { any |= cells; });
        if (any && store.find(i, j) == &nothing) wanted.push_back({j, i});
    });
    std::sort(wanted.begin(), wanted.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    const size_t tiles = store.all.size() + wanted.size();
    if (tiles >= LARGE && store.all.size() < LARGE && cycle.slots != SHORT.slots) {
        // So many are seldom at rest at first.
        flatten();
        change(SHORT, nullptr);
    }
    make_room(tiles);
    for (const Place& place : wanted) make(place.x, place.y);
    flatten();
    edited = true, keep_until = 0;
    const int to = cycle.slot(number);
    each_tile([&](int64_t i, int64_t j, const uint64_t* square, int left, int top) {
        Tile* const tile = store.find(i, j);
        if (tile == &nothing) return;
        each_row(square, left, top, [&](int r, uint64_t cells, uint64_t these) {
            uint64_t& row = tile->cells(to)[r];
            row = (row & ~these) | cells;
        });
    });
}

}  // namespace tiles

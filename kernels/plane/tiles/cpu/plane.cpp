#include "plane.hpp"

#include <algorithm>
#include <cstring>

namespace tiles {

using std::int64_t;
using std::size_t;
using std::uint64_t;

namespace {

// The quadrants in which something lives.
unsigned quadrants_of(const std::uint32_t* cells) {
    std::uint32_t upper = 0, lower = 0;
    for (int r = 0; r < SIDE; r++) (r < SIDE / 2 ? upper : lower) |= cells[place(r)];
    return unsigned((upper & 0xFFFF) != 0) | unsigned(upper >> 16 != 0) << 1 |
           unsigned((lower & 0xFFFF) != 0) << 2 | unsigned(lower >> 16 != 0) << 3;
}

}  // namespace

void Plane::make_room(size_t tiles) {
    store.reserve(tiles);
    for (std::vector<Tile*>* list : {&current, &next, &hollow, &next_hollow, &idle}) list->reserve(store.room());
    visited.resize(store.room());
}

Tile* Plane::make(int64_t x, int64_t y) {
    // All lists have room for every tile, so that nothing but this ever lacks memory.
    if (store.all.size() + 1 > visited.size()) make_room(store.all.size() + 1);
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

// Has a tile that differs from SLOTS rounds ago be looked at in the next round.
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
// tile that is not visited, as it does what it did SLOTS rounds ago; and those that had life at their
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
        std::uint32_t* const cells = tile->cells(round.to);
        tile->changed[(number + 1) & 1] = (number + 1) << 4 | quadrants_of(cells);
        std::memset(cells, 0, SLOT_BYTES);
        tile->set_hollow(round.to, true);
        pass_on(tile, false);
    }
}

// Moves on by a round. Returns false where it was told to stop; then nothing has been done.
bool Plane::round(const Ask& ask) {
    const Round round{number, int(number % SLOTS), int((number + 1) % SLOTS), ROUND, birth, survival};
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
    done += ROUND;
    within = 0;
    free_idle();
    return true;
}

// Goes on to some generations beyond the last round, beside what the next round begins with.
void Plane::part(int generations) {
    const int before = within;
    const auto to = [&](int steps) {
        const Round round{number, int(number % SLOTS), NOW, steps, birth, survival};
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

void Plane::step(uint64_t generations, const Ask& ask) {
    const uint64_t all = generations + uint64_t(within);
    uint64_t rounds = all / ROUND;
    const int left = int(all % ROUND);
    if (rounds && edited) restart();
    for (unsigned i = 0; rounds; i++, rounds--) {
        if (settled()) {
            number += rounds % SLOTS;
            done += rounds * ROUND;
            within = 0;
            break;
        }
        // Looking at the clock takes as long as some visits to a tile.
        if (i % 8 == 7 && ask()) return;
        if (!round(ask)) return;
    }
    if (left != within) {
        if (left) part(left);
        within = left;
    }
}

// Begins anew with what is there, as if nothing had lived until now. Out of nothing it cannot have
// come: the round that would bring it back visits all tiles.
void Plane::restart() {
    const int from = int(number % SLOTS);
    current.clear();
    hollow.clear();
    edited = false;
    whole = number + SLOTS - 1;
    for (Tile* tile : store.all) {
        std::memset(tile->border, 0, sizeof tile->border);
        for (int slot = 0; slot < SLOTS; slot++)
            if (slot != from) std::memset(tile->cells(slot), 0, SLOT_BYTES);
        const unsigned lives = quadrants_of(tile->cells(from));
        tile->changed[number & 1] = number << 4 | lives;
        tile->changed[(number + 1) & 1] = 0;
        tile->hollow = lives ? std::uint8_t((1 << SLOTS) - 1 - (1 << from)) : (1 << SLOTS) - 1;
        tile->listed = tile->waiting = 0;
        if (lives) list(tile);
        else rest(tile);
    }
}

void Plane::free_idle() {
    for (Tile* tile : idle) {
        tile->idle = false;
        bool lives = tile->hollow != (1 << SLOTS) - 1 || tile->quadrants(number);
        for (std::uint8_t border : tile->border) lives = lives || border;
        if (!lives) store.free(tile);
    }
    idle.clear();
}

void Plane::put(const int64_t* places, const uint64_t* words, size_t count) {
    constexpr int SQUARE = 2 * SIDE;
    const auto each_tile = [&](auto use) {
        for (size_t n = 0; n < count; n++)
            for (int part = 0; part < 4; part++) {
                const int shift = part & 1 ? SIDE : 0;
                std::uint32_t rows[SIDE], any = 0;
                for (int r = 0; r < SIDE; r++)
                    any |= rows[r] = std::uint32_t(words[SQUARE * n + size_t(r + SIDE * (part / 2))] >> shift);
                const int64_t x = 2 * places[2 * n] + (part & 1), y = 2 * places[2 * n + 1] + part / 2;
                Tile* const tile = store.find(x, y);
                if (any || tile != &nothing) use(tile, x, y, rows);
            }
    };
    size_t wanted = store.all.size();
    each_tile([&](Tile* tile, int64_t, int64_t, const std::uint32_t*) { wanted += tile == &nothing; });
    make_room(wanted);
    const int to = int(number % SLOTS);
    if (within) {
        for (Tile* tile : store.all)
            std::memcpy(tile->cells(to), tile->cells(NOW), SLOT_BYTES);
        done += uint64_t(within);
        within = 0;
    }
    edited = true;
    each_tile([&](Tile* tile, int64_t x, int64_t y, const std::uint32_t* rows) {
        if (tile == &nothing) tile = make(x, y);
        for (int r = 0; r < SIDE; r++) tile->cells(to)[place(r)] = rows[r];
    });
}

}  // namespace tiles

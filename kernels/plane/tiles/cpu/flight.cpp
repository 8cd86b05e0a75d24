// Lone gliders are taken out of their tiles while they fly, and put back before anything comes near
// them or is read: with what their tiles would have held in all slots, so that rounds go on as if they
// had been there.
#include <algorithm>
#include <cstring>

#include "plane.hpp"

namespace tiles {

using std::int64_t;
using std::size_t;
using std::uint64_t;

namespace {

constexpr int64_t APART = 12;      // cells that gliders keep from all else
constexpr int64_t FAR_OUT = int64_t(1) << 60;  // cells from the origin: beyond that none is taken out

// How many cells lie between a glider's box and the cells from (left, top) to (right, bottom), along the
// axis along which there are more; none if there are fewer.
int64_t gap_to(const Placed& box, int64_t left, int64_t top, int64_t right, int64_t bottom) {
    const int64_t across = std::max(left - box.x - 3, box.x - right - 1);
    const int64_t down = std::max(top - box.y - 3, box.y - bottom - 1);
    return std::max(std::max(across, down), int64_t(0));
}

// For how many generations nothing that begins so many cells from a glider comes near it: what lives
// spreads by a cell a generation, and the glider flies by one in four.
int64_t until_met(int64_t gap) { return (gap - APART) * 4 / 5; }

// Row r of a tile with the glider's cells.
uint64_t row_of(const Placed& glider, const Tile& tile, int r) {
    const int64_t y = tile.y * SIDE + r - glider.y, left = glider.x - tile.x * SIDE;
    if (y < 0 || y > 2 || left <= -3 || left >= SIDE) return 0;
    const uint64_t cells = glider.cells[y];
    return (left < 0 ? cells >> -left : cells << left) & OWN;
}

}  // namespace

// How long nothing else comes near a glider that flies, in generations; 0 if that is not long enough.
uint64_t Plane::alone_for(const Glider& glider, const Tile* home) const {
    const Placed box = gliders.at(glider, done);
    const auto away = [](int64_t n) { return n < 0 ? -n : n; };
    int64_t least = std::max(away(box.x), away(box.y));
    if (least >= FAR_OUT) return 0;
    least = 4 * (FAR_OUT - least) / 5;
    for (const Tile* tile : store.all) {
        if (home && away(tile->x - home->x) <= 1 && away(tile->y - home->y) <= 1) continue;
        const int64_t x = tile->x * SIDE, y = tile->y * SIDE;
        least = std::min(least, until_met(gap_to(box, x, y, x + SIDE - 1, y + SIDE - 1)));
        if (least < int64_t(LEAST_FLIGHT)) return 0;
    }
    for (const Glider& other : flying) {
        if (&other == &glider) continue;
        const Placed its = gliders.at(other, done);
        const int64_t gap = gap_to(box, its.x, its.y, its.x + 2, its.y + 2) - APART;
        // Two that fly the same way stay as far apart as they are.
        if (gap < 0 || other.dx != glider.dx || other.dy != glider.dy) least = std::min(least, 2 * gap);
    }
    return uint64_t(std::max(least, int64_t(0)));
}

// Whether a tile and those around it hold nothing but a glider in all slots. Calls use() with each.
template <class Use>
bool Plane::holds_only(const Tile* home, const Glider& glider, Use use) const {
    uint64_t generation = done;
    for (int back = 0; back < cycle.slots; back++) {
        if (back) generation -= uint64_t(cycle.length(number - uint64_t(back)));
        const Placed placed = gliders.at(glider, generation);
        const int slot = cycle.slot(number - uint64_t(back));
        for (int d = -1; d < 8; d++) {
            const Tile* const tile = d < 0 ? home : home->near[d];
            if (tile->is_hollow(slot) && !(placed.x + 2 >= tile->x * SIDE && placed.x < tile->x * SIDE + SIDE &&
                                           placed.y + 2 >= tile->y * SIDE && placed.y < tile->y * SIDE + SIDE))
                continue;
            if (tile == &nothing) continue;
            const uint64_t* const cells = tile->cells(slot);
            for (int r = 0; r < SIDE; r++)
                if (cells[r] != row_of(placed, *tile, r)) return false;
        }
    }
    use(const_cast<Tile*>(home));
    for (Tile* tile : home->near)
        if (tile != &nothing) use(tile);
    return true;
}

// Takes lone gliders out of their tiles.
void Plane::take_off() {
    constexpr size_t MOST_TILES = 2048, MOST = 256, AT_ONCE = 64;
    if (store.all.size() > MOST_TILES || !idle.empty()) return;
    Tile* homes[AT_ONCE];
    Glider found[AT_ONCE];
    size_t count = 0;
    const int slot = cycle.slot(number);
    for (Tile* tile : current) {
        if (tile->is_hollow(slot)) continue;
        const Life life = ops.survey(tile->cells(slot));
        if (life.population != 5) continue;
        const int left = __builtin_ctzll(life.columns), top = __builtin_ctzll(life.rows);
        if (life.columns >> left > 7 || life.rows >> top > 7 || top > SIDE - 3) continue;
        const uint64_t* const rows = tile->cells(slot) + top;
        const Placed box{tile->x * SIDE + left, tile->y * SIDE + top,
                         {unsigned(rows[0] >> left), unsigned(rows[1] >> left), unsigned(rows[2] >> left)}};
        if (!gliders.find(box, done, found[count])) continue;
        homes[count] = tile;
        if (++count == AT_ONCE) break;
    }
    for (size_t i = 0; i < count && flying.size() < MOST; i++) {
        Glider& glider = found[i];
        const uint64_t alone = alone_for(glider, homes[i]);
        if (alone < LEAST_FLIGHT) continue;
        Tile* gone[9];
        size_t tiles = 0;
        try {
            flying.reserve(flying.size() + 1);
            const size_t wanted = store.all.size() + TILES_EACH * (flying.size() + 1);
            if (wanted > visited.size()) make_room(wanted);
        } catch (const std::bad_alloc&) {
            return;
        }
        if (!holds_only(homes[i], glider, [&](Tile* tile) { gone[tiles++] = tile; })) continue;
        const auto goes = [&](const Tile* tile) { return std::find(gone, gone + tiles, tile) != gone + tiles; };
        // What came to their borders within a round must be nothing to a tile that stays.
        const auto is_needed = [&](const Tile* tile) {
            const auto stays = [&](const Tile* near) { return near != &nothing && !goes(near); };
            return std::any_of(tile->border, tile->border + SLOTS, [](unsigned char b) { return b != 0; }) &&
                   std::any_of(tile->near, tile->near + 8, stays);
        };
        if (std::any_of(gone, gone + tiles, is_needed)) continue;
        for (std::vector<Tile*>* list : {&current, &hollow})
            list->erase(std::remove_if(list->begin(), list->end(), goes), list->end());
        for (size_t n = 0; n < tiles; n++) {
            for (int s = 0; s < cycle.slots; s++) std::memset(gone[n]->cells(s), 0, SLOT_BYTES);
            store.free(gone[n]);
        }
        glider.alone = done + alone;
        flying.push_back(glider);
        watched = std::min(watched, glider.alone);
    }
}

// Puts a glider back where it is, and was.
void Plane::land(size_t which) {
    const Glider glider = flying[which];
    flying[which] = flying.back();
    flying.pop_back();
    uint64_t generation = done;
    for (int back = 0; back <= cycle.slots; back++) generation -= back ? uint64_t(cycle.length(number - uint64_t(back))) : 0;
    const Placed last = gliders.at(glider, done), first = gliders.at(glider, generation);
    const int64_t left = std::min(first.x, last.x) - 2, right = std::max(first.x, last.x) + 4;
    const int64_t top = std::min(first.y, last.y) - 2, bottom = std::max(first.y, last.y) + 4;
    for (int64_t y = tile_of(top); y <= tile_of(bottom); y++)
        for (int64_t x = tile_of(left); x <= tile_of(right); x++) {
            Tile* tile = store.find(x, y);
            if (tile == &nothing) tile = make(x, y);
            generation = done;
            for (int back = 0; back < cycle.slots; back++) {
                if (back) generation -= uint64_t(cycle.length(number - uint64_t(back)));
                const Placed placed = gliders.at(glider, generation);
                const int slot = cycle.slot(number - uint64_t(back));
                uint64_t any = 0;
                for (int r = 0; r < SIDE; r++) {
                    const uint64_t row = row_of(placed, *tile, r);
                    tile->cells(slot)[r] |= row, any |= row;
                }
                if (any) tile->set_hollow(slot, false);
            }
            // All that it may have touched.
            std::memset(tile->border, 0xFF, sizeof tile->border);
            tile->set_changed(number, 0xFF);
            list(tile);
        }
    // It may now meet something, and all that comes of it.
    for (Glider& other : flying) {
        const int64_t met = until_met(gap_to(gliders.at(other, done), left, top, right, bottom));
        other.alone = std::min(other.alone, done + uint64_t(std::max(met, int64_t(0))));
        watched = std::min(watched, other.alone);
    }
}

void Plane::land_all() {
    while (!flying.empty()) land(flying.size() - 1);
}

// Puts back gliders that would not be alone up to a generation.
void Plane::watch(uint64_t generation) {
    while (watched < generation) {
        watched = ~uint64_t(0);
        for (size_t i = 0; i < flying.size();) {
            if (flying[i].alone < generation) {
                const uint64_t alone = alone_for(flying[i], nullptr);
                if (alone < LEAST_FLIGHT) {
                    land(i);
                    continue;
                }
                flying[i].alone = done + alone;
            }
            watched = std::min(watched, flying[i++].alone);
        }
    }
}

}  // namespace tiles

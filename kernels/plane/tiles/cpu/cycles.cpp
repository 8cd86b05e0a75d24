// Which cycle a plane has: the long one, or, of many tiles, the short one while hardly any of those at rest
// need more.
#include <algorithm>
#include <cstring>

#include "plane.hpp"

namespace tiles {

using std::size_t;
using std::uint64_t;

// Changes to the other cycle if that is likely to be quicker. Returns false where it was told to stop.
bool Plane::choose_cycle(const Ask& ask) {
    constexpr uint64_t OFTEN = 64, LATER = 1024;  // rounds
    const size_t all = store.all.size();
    if (cycle.slots == SHORT.slots) {
        const bool often = number % OFTEN == 0;
        if (often) take_samples();
        const bool known = number == sampled + uint64_t(LONG.period / SHORT.length(0)) && repeats();
        if (!known && !(often && all < LARGE / 4)) return true;
        keep_until = number + LATER;
        return change(LONG, ask);
    }
    // After a change all tiles are visited twice, which should not take longer than what goes on anyway.
    constexpr size_t AT_REST = 64;
    if (all < LARGE || number % OFTEN || number < std::max(keep_until, whole + OFTEN) || current.size() < all / AT_REST)
        return true;
    return would_go_on() > current.size() / 4 || change(SHORT, ask);
}

// About how many of the tiles at rest would not be at rest in a short cycle.
size_t Plane::would_go_on() const {
    constexpr size_t MOST = 256;
    const size_t every = store.all.size() / MOST + 1;
    uint64_t six = number - 1;  // the last round of six generations
    while (cycle.length(six) != 6) six--;
    // Twenty generations lie between now and three rounds ago. What has period 5, 10 or 20 is taken for shorter.
    const int before[] = {cycle.slot(six), cycle.slot(number - 3)}, after[] = {cycle.slot(six + 1), cycle.slot(number)};
    size_t found = 0;
    for (size_t i = 0; i < store.all.size(); i += every) {
        const Tile* const tile = store.all[i];
        if (tile->listed >= number || tile->waiting >= number) continue;
        bool repeats = false;
        for (int n = 0; n < 2 && !repeats; n++)
            repeats = !std::memcmp(tile->cells(before[n]), tile->cells(after[n]), SLOT_BYTES);
        found += !repeats;
    }
    return found * every;
}

// Notes the cells of some of the tiles that change.
void Plane::take_samples() {
    constexpr size_t MOST = 64;
    samples.clear();
    sampled = number;
    const size_t every = current.size() / MOST + 1;
    try {
        samples.reserve(MOST);
    } catch (const std::bad_alloc&) {
        return;
    }
    for (size_t i = 0; i < current.size(); i += every) {
        Sample sample{current[i]->x, current[i]->y, {}};
        std::memcpy(sample.cells, current[i]->cells(slot()), SLOT_BYTES);
        samples.push_back(sample);
    }
}

// Whether most of the tiles that were noted are again as they were.
bool Plane::repeats() const {
    size_t same = 0;
    for (const Sample& sample : samples)
        same += !std::memcmp(store.find(sample.x, sample.y)->cells(slot()), sample.cells, SLOT_BYTES);
    return 2 * same > samples.size();
}

// Puts all tiles into slots of another cycle, and begins anew. Does nothing where there is no memory for
// that. Returns false where it was told to stop, then having done nothing, too.
bool Plane::change(const Cycle& to, const Ask& ask) {
    constexpr size_t SOME = 4096;  // tiles between questions
    land_all();
    try {
        if (store.nbytes() > most) return true;
        Store other(to, most - store.nbytes());
        other.reserve(std::max(store.all.size(), size_t(1)));
        // Those in a row lie beside each other in memory.
        std::vector<Tile*> in_order = store.all;
        std::sort(in_order.begin(), in_order.end(),
                  [](const Tile* a, const Tile* b) { return a->y < b->y || (a->y == b->y && a->x < b->x); });
        for (size_t i = 0; i < in_order.size(); i++) {
            const Tile* const tile = in_order[i];
            std::memcpy(other.make(tile->x, tile->y)->cells(to.slot(number)), tile->cells(slot()), SLOT_BYTES);
            if (i % SOME == SOME - 1 && ask && ask()) return false;
        }
        for (std::vector<Tile*>* list : {&current, &next, &hollow, &next_hollow, &idle}) list->reserve(other.room());
        visited.resize(other.room());
        other.most = most;
        store = std::move(other);
    } catch (const std::bad_alloc&) {
        return true;
    }
    cycle = to;
    current.clear(), hollow.clear(), idle.clear();
    restart();
    return true;
}

}  // namespace tiles

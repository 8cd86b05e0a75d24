// In how many generations most of what changes comes back, and the way from one period to another.
#include <algorithm>
#include <cstring>

#include "tables.hpp"

namespace tables {

using std::int64_t;
using std::size_t;
using std::uint64_t;
using std::uint8_t;

namespace {

// Generations that are looked at, first few: what blinks is dense, and slow until that is known.
constexpr size_t WINDOWS[] = {4, 12, 24};
constexpr size_t COMPARED = 2;  // the last of them are compared with those before
constexpr size_t ROWS = 32;     // of tiles that are looked at
constexpr size_t FEW = 12;      // rows: where fewer changed, nothing is to be gained
constexpr int64_t WORTH = 64;  // cells that are marked in these: with fewer, nothing is to be gained
constexpr uint64_t SOON = 64, LATE = 1024;  // generations between two looks

int64_t differing(const uint8_t* one, const uint8_t* other) {
    int64_t count = 0;
    for (int64_t x = 0; x < SIDE; x++) count += one[x] != other[x];
    return count;
}

}  // namespace

// Keeps some rows of this generation, and at the end of a window takes the best period.
void Universe::look() {
    if (filling) return;
    if (samples.empty()) choose_rows();
    if (sampled.size() < FEW) {
        pause = std::min(LATE, std::max(SOON, 2 * pause));
        next_look = generation + pause;
        return;
    }
    const size_t size = samples.size(), each = sampled.size() * size_t(SIDE);
    samples.resize(size + each);
    for (size_t i = 0; i < sampled.size(); i++)
        std::memcpy(&samples[size + i * size_t(SIDE)], now() + sampled[i].start, size_t(sampled[i].columns));
    if (samples.size() < WINDOWS[window] * each) return;
    const int best = best_period();
    samples.clear();
    const bool last = window + 1 == std::size(WINDOWS);
    if (best != period) {
        begin_period(best);
        pause = SOON;
    } else {
        pause = !last ? 0 : std::min(LATE, std::max(SOON, 2 * pause));
    }
    if (!last) window++;
    next_look = generation + pause;
}

// Chooses some of the rows of tiles in which something changed in this generation.
void Universe::choose_rows() {
    std::vector<Row> rows;
    for (int64_t tile = 0; tile < across * down; tile++) {
        if (!touched_ever(tile)) continue;
        const Place at = place(tile);
        for (int64_t y = 0; y < at.rows; y++) {
            const int64_t start = (SIDE * at.ty + y + 1) * stride + SIDE * at.tx + 1;
            if (std::memcmp(now() + start, before() + start, size_t(at.columns)) != 0)
                rows.push_back({start, at.columns});
        }
    }
    sampled.clear();
    const size_t count = std::min(rows.size(), ROWS);
    for (size_t i = 0; i < count; i++) sampled.push_back(rows[i * rows.size() / count]);
}

// The period by which fewest cells would be marked: the present one, if no other is much better.
int Universe::best_period() const {
    const size_t rows = sampled.size(), count = samples.size() / (rows * size_t(SIDE));
    const auto marks = [&](size_t span) {
        int64_t found = 0;
        for (size_t t = count - COMPARED; t < count; t++)
            for (size_t i = 0; i < rows; i++)
                found += differing(&samples[(t * rows + i) * size_t(SIDE)],
                                   &samples[((t - span) * rows + i) * size_t(SIDE)]);
        return found;
    };
    const size_t cells = size_t(width + 2) * size_t(height + 2);
    const size_t most = std::max<size_t>(2, 1 + EARLIER / (2 * cells));  // see bytes()
    const size_t longest = std::min({size_t(LONGEST_PERIOD), count - COMPARED, most});
    if (size_t(period) > longest) return period;  // a window is too short to judge it
    const int64_t present = marks(size_t(period));
    if (present < WORTH) return period;
    int best = period;
    int64_t least = present * 2 / 3;
    for (size_t span = 1; span <= longest; span++) {
        const int64_t found = int(span) == period ? present : marks(span);
        // A longer one keeps more, and takes longer to begin.
        if (found < least - least / 8) best = int(span), least = found;
    }
    return best;
}

// Marks from now on what differs from `wanted` generations before. Nothing is known of these yet: as
// long as that lasts, `filling`, this generation stands for them, and marks stay. A cell beside which
// nothing has changed since is what it is now; at the end all that is kept has been made.
void Universe::begin_period(int wanted) {
    const size_t needed = size_t(std::max(2, wanted));
    Zeroed<uint8_t> other;
    try {
        if (needed != size) other = room(width, height, needed);
    } catch (const std::bad_alloc&) {
        return;  // the present one serves as well
    }
    mark_changed();
    if (needed == size) {
        if (wanted > 1) copy_touched(now(), oldest(), stride);
    } else {
        const int64_t row = width + 2, other_stride = row * int64_t(needed);
        for (size_t i = 0; i < needed; i++) {
            const bool old = wanted == 1 && i == 1;  // of the generation before, whose marks there are
            copy_touched(old ? before() : now(), other.get() + row * int64_t(i), other_stride);
        }
        kept = std::move(other), size = needed, stride = other_stride, current = 0;
    }
    period = wanted;
    carried = 0;
    filling = wanted > 1 ? wanted : 0;
}

// Marks what changed in this generation.
void Universe::mark_changed() {
    const int turn = int(generation & 1);
    changed.clear();
    for (int64_t tile = 0; tile < across * down; tile++) {
        if (!touched_ever(tile)) continue;
        const Place at = place(tile);
        uint64_t some = 0;
        for (int64_t y = 0; y < at.rows; y++) {
            const int64_t start = (SIDE * at.ty + y + 1) * stride + SIDE * at.tx + 1;
            const uint8_t *const cells = now() + start, *const old = before() + start;
            uint64_t found = 0;
            if (std::memcmp(cells, old, size_t(at.columns)) != 0)
                for (int64_t x = 0; x < at.columns; x++) found |= uint64_t(cells[x] != old[x]) << x;
            changes[turn][tile * SIDE + y] = found;
            some |= uint64_t(found != 0) << y;
        }
        for (int64_t y = at.rows; y < SIDE; y++) changes[turn][tile * SIDE + y] = 0;
        some_rows[turn][tile] = some;
        stamps[turn][tile] = generation + 1;
        if (some) changed.push_back(tile);
    }
}

// Copies one generation. Of a plane, only where it may not be empty.
void Universe::copy_touched(const uint8_t* from, uint8_t* to, int64_t to_stride) const {
    for (int64_t ty = 0; ty < down; ty++) {
        int64_t first = torus ? 0 : across, last = torus ? across - 1 : -1;
        for (int64_t tx = 0; !torus && tx < across; tx++)
            if (touched_ever(ty * across + tx)) first = std::min(first, tx), last = tx;
        if (first > last) continue;
        const int64_t begin = SIDE * first, end = std::min(width, SIDE * (last + 1)) + 2;
        const int64_t bottom = std::min(height, SIDE * (ty + 1)) + 2;
        for (int64_t y = SIDE * ty; y < bottom; y++)
            std::memcpy(to + y * to_stride + begin, from + y * stride + begin, size_t(end - begin));
    }
}

}  // namespace tables

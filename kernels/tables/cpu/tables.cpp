#include "tables.hpp"

#include <algorithm>
#include <cstring>

namespace tables {

namespace {

using std::int64_t;
using std::size_t;
using std::uint32_t;
using std::uint64_t;
using std::uint8_t;

constexpr uint64_t MASK = (uint64_t(1) << FIELD) - 1;
constexpr size_t ALONE = 64;  // tiles that one thread moves on sooner than several
const uint64_t NOTHING[SIDE] = {};

int bits_of(int states) {
    int bits = 0;
    while ((1 << bits) < states) bits++;
    return bits;
}

// The next states of cells, by columns: those of cells beside each other share them.
template <bool PAIRS>
struct ByColumns {
    const Rule& rule;

    uint64_t column(const uint8_t* above, const uint8_t* cells, const uint8_t* below, int64_t x) const {
        return rule.columns[rule.up[above[x]] + rule.middle[cells[x]] + rule.down[below[x]]];
    }
    void run(const uint8_t* above, const uint8_t* cells, const uint8_t* below,
             const uint8_t* before, uint8_t* out, int64_t first, int64_t last, uint64_t& changed) const {
        const uint8_t* const finals = rule.finals.data();
        const uint32_t* const pairs = rule.pairs.data();
        uint64_t left = column(above, cells, below, first - 1), centre = column(above, cells, below, first);
        for (int64_t x = first; x < last; x++) {
            const uint64_t right = column(above, cells, below, x + 1);
            size_t i = (left & MASK) + (centre >> FIELD & MASK);
            if (PAIRS) i = pairs[i];
            const uint8_t next = finals[i + (right >> 2 * FIELD)];
            changed |= uint64_t(next != before[x]) << x;
            out[x] = next;
            left = centre;
            centre = right;
        }
    }
};

// The same by a path through nine levels.
struct ByWalk {
    const Rule& rule;

    void run(const uint8_t* above, const uint8_t* cells, const uint8_t* below,
             const uint8_t* before, uint8_t* out, int64_t first, int64_t last, uint64_t& changed) const {
        const uint32_t* const walk = rule.walk.data();
        for (int64_t x = first; x < last; x++) {
            uint32_t i = 0;
            for (int64_t near = x - 1; near <= x + 1; near++) {
                i = walk[i + above[near]];
                i = walk[i + cells[near]];
                i = walk[i + below[near]];
            }
            changed |= uint64_t(i != before[x]) << x;
            out[x] = uint8_t(i);
        }
    }
};

}  // namespace

Universe::Universe(const Rule& rule, int64_t width, int64_t height, bool torus, int threads)
    : rule(rule), width(width), height(height), torus(torus), planes(bits_of(rule.states)),
      across(up_to(width)), down(up_to(height)), stride(width + 2), team(threads), threads(threads) {
    while (kept.size() < 2) kept.push_back(zeroed<uint8_t>(size_t(stride) * size_t(height + 2)));
    const size_t tiles = size_t(across) * size_t(down);
    for (int turn : {0, 1}) {
        changes[turn] = zeroed<uint64_t>(tiles * SIDE);
        some_rows[turn] = zeroed<uint64_t>(tiles);
        stamps[turn] = zeroed<uint64_t>(tiles);
    }
    woken = zeroed<uint64_t>(tiles);
    if (!rule.stays_empty) mark_all();
}

size_t Universe::bytes(int64_t width, int64_t height) {
    const size_t tiles = size_t(up_to(width)) * size_t(up_to(height));
    const size_t cells = size_t(width + 2) * size_t(height + 2);
    const size_t earlier = std::min(EARLIER, (LONGEST_PERIOD - 2) * cells);
    return 2 * cells + earlier + tiles * (2 * SIDE + 7) * sizeof(uint64_t) + (1 << 16);
}

int64_t Universe::index(int64_t tx, int64_t ty) const {
    if (torus) {
        tx = tx < 0 ? across - 1 : tx == across ? 0 : tx;
        ty = ty < 0 ? down - 1 : ty == down ? 0 : ty;
    } else if (tx < 0 || ty < 0 || tx == across || ty == down) {
        return -1;
    }
    return ty * across + tx;
}

Universe::Place Universe::place(int64_t tile) const {
    const int64_t tx = tile % across, ty = tile / across;
    return {tx, ty, std::min(SIDE, width - SIDE * tx), std::min(SIDE, height - SIDE * ty)};
}

bool Universe::marked(int turn, int64_t tile) const {
    return stamps[turn][tile] == generation + 1 && some_rows[turn][tile];
}

void Universe::mark_all() {
    const int turn = int(generation & 1);
    for (int64_t tile = 0; tile < across * down; tile++) {
        const Place at = place(tile);
        for (int64_t y = 0; y < at.rows; y++) changes[turn][tile * SIDE + y] = first_bits(at.columns);
        some_rows[turn][tile] = first_bits(at.rows);
        stamps[turn][tile] = generation + 1;
    }
    touched = true;
}

// Finds the tiles that are marked, after put() has marked some.
void Universe::find_marked() {
    changed.clear();
    for (int64_t tile = 0; tile < across * down; tile++)
        if (marked(int(generation & 1), tile)) changed.push_back(tile);
    touched = false;
}

void Universe::wake(int64_t tx, int64_t ty) {
    const int64_t tile = index(tx, ty);
    if (tile < 0 || woken[tile] == wave) return;
    woken[tile] = wave;
    awake.push_back(tile);
}

// Wakes the tiles in which a cell may change: those that changed, and those beside which one did.
void Universe::spread() {
    const int turn = int(generation & 1);
    awake.clear();
    wave++;
    for (int64_t tile : changed) {
        const Place at = place(tile);
        const uint64_t rows = some_rows[turn][tile];
        uint64_t columns = 0;
        for (uint64_t left = rows; left; left &= left - 1)
            columns |= changes[turn][tile * SIDE + __builtin_ctzll(left)];
        for (int dy = -1; dy <= 1; dy++) {
            if (dy < 0 && !(rows & 1)) continue;
            if (dy > 0 && !(rows >> (at.rows - 1))) continue;
            if (columns & 1) wake(at.tx - 1, at.ty + dy);
            wake(at.tx, at.ty + dy);
            if (columns >> (at.columns - 1)) wake(at.tx + 1, at.ty + dy);
        }
    }
}

Universe::Around Universe::around(const Place& at) const {
    const int turn = int(generation & 1);
    Around near;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            const int64_t tile = index(at.tx + dx, at.ty + dy);
            const bool some = tile >= 0 && marked(turn, tile);
            near.rows[dy + 1][dx + 1] = some ? &changes[turn][tile * SIDE] : NOTHING;
            near.some[dy + 1][dx + 1] = some ? some_rows[turn][tile] : 0;
        }
    const int64_t before = at.tx ? at.tx - 1 : across - 1, over = at.ty ? at.ty - 1 : down - 1;
    near.left_columns = std::min(SIDE, width - SIDE * before);
    near.above_rows = std::min(SIDE, height - SIDE * over);
    return near;
}

// The columns of a tile, in row y of a tile of its row of tiles, beside which a cell changed.
uint64_t Universe::wide(const Around& near, int dy, int64_t y, int64_t columns) const {
    const auto& rows = near.rows[dy + 1];
    const uint64_t cells = rows[1][y];
    return cells | cells << 1 | cells >> 1 | (rows[0][y] >> (near.left_columns - 1) & 1) |
           (rows[2][y] & 1) << (columns - 1);
}

// The columns of row y in which a cell may change.
uint64_t Universe::marks(const Around& near, const Place& at, int64_t y) const {
    const bool first = y == 0, last = y + 1 == at.rows;
    const int over = first ? -1 : 0, under = last ? 1 : 0;
    const int64_t above = first ? near.above_rows - 1 : y - 1, below = last ? 0 : y + 1;
    uint64_t found = wide(near, 0, y, at.columns);
    if (rule.corners)
        found |= wide(near, over, above, at.columns) | wide(near, under, below, at.columns);
    else
        found |= near.rows[over + 1][1][above] | near.rows[under + 1][1][below];
    return found & first_bits(at.columns);
}

template <class Next>
void Universe::move_with(int64_t tile, const Next& next) {
    const Place at = place(tile);
    const Around near = around(at);
    const int turn = int(generation & 1) ^ 1;
    uint64_t* const changed_rows = &changes[turn][tile * SIDE];
    // A generation that was broken off, and then made again, keeps the marks that it has made.
    const bool again = stamps[turn][tile] == generation + 2;
    if (!again) std::memset(changed_rows, 0, SIDE * sizeof(uint64_t));
    const bool keep = again || carried || filling > 1;
    uint64_t rows = near.some[1][0] | near.some[1][1] | near.some[1][2];
    rows |= rows << 1 | rows >> 1;
    const uint64_t over = near.some[0][0] | near.some[0][1] | near.some[0][2];
    const uint64_t under = near.some[2][0] | near.some[2][1] | near.some[2][2];
    rows |= (over >> (near.above_rows - 1) & 1) | (under & 1) << (at.rows - 1);
    rows &= first_bits(at.rows);
    uint64_t some = again ? some_rows[turn][tile] : 0;
    const uint8_t *const from = now(), *const known = period > 1 && filling <= 1 ? oldest() : from;
    uint8_t* const to = oldest();
    const bool edge = torus && (!at.tx || !at.ty || at.tx + 1 == across || at.ty + 1 == down);
    for (; rows; rows &= rows - 1) {
        const int64_t y = __builtin_ctzll(rows);
        uint64_t left = marks(near, at, y);
        // A cell alone between others costs nothing: its columns are looked up for them.
        left |= left << 1 & left >> 1;
        const int64_t start = (SIDE * at.ty + y + 1) * stride + SIDE * at.tx + 1;
        const uint8_t* const cells = from + start;
        uint64_t found = 0;
        while (left) {
            const int64_t first = __builtin_ctzll(left);
            const uint64_t gaps = ~(left >> first);
            const int64_t last = gaps ? first + __builtin_ctzll(gaps) : SIDE;
            next.run(cells - stride, cells, cells + stride, known + start, to + start, first, last, found);
            left &= last == SIDE ? 0 : ~uint64_t(0) << last;
        }
        if (keep) found |= near.rows[1][1][y] * (carried || filling > 1) | changed_rows[y];
        changed_rows[y] = found;
        some |= uint64_t(found != 0) << y;
        if (edge) mirror(to, SIDE * at.ty + y, SIDE * at.tx, at.columns);
    }
    some_rows[turn][tile] = some;
    stamps[turn][tile] = generation + 2;
}

void Universe::move(int64_t tile) {
    if (!rule.walk.empty())
        move_with(tile, ByWalk{rule});
    else if (!rule.pairs.empty())
        move_with(tile, ByColumns<true>{rule});
    else
        move_with(tile, ByColumns<false>{rule});
}

// Copies cells of a row to where they stand in the ring around a torus.
void Universe::mirror(uint8_t* cells, int64_t y, int64_t x, int64_t columns) const {
    uint8_t* const row = cells + (y + 1) * stride + 1;
    const auto copy = [&](uint8_t* to) {
        if (to != row) std::memcpy(to + x, row + x, size_t(columns));
        if (x == 0) to[width] = row[0];
        if (x + columns == width) to[-1] = row[width - 1];
    };
    copy(row);
    if (y == 0) copy(cells + (height + 1) * stride + 1);
    if (y + 1 == height) copy(cells + 1);
}

// Moves on by one generation. False where it was stopped.
bool Universe::generate(const std::function<bool()>& stopped) {
    if (touched) {
        find_marked();
        carried = period - 1;
    }
    spread();
    std::atomic<bool> over{false};
    if (threads == 1 || awake.size() < ALONE) {
        for (size_t i = 0; i < awake.size(); i++) {
            if (i % 32 == 31 && stopped()) return false;
            move(awake[i]);
        }
    } else {
        std::atomic<size_t> next{0};
        team.run([&](int thread) {
            for (size_t first; (first = next.fetch_add(16)) < awake.size() && !over;) {
                if (!thread && stopped()) over = true;
                for (size_t i = first; i < std::min(awake.size(), first + 16); i++) move(awake[i]);
            }
        });
        if (over) return false;
    }
    const int turn = int(generation & 1) ^ 1;
    changed.clear();
    for (int64_t tile : awake)
        if (some_rows[turn][tile]) changed.push_back(tile);
    current = (current + 1) % kept.size();
    generation++;
    if (carried) carried--;
    if (filling) filling--;
    return true;
}

void Universe::step(uint64_t generations, const std::function<bool()>& stopped) {
    for (uint64_t made = 0; made < generations; made++) {
        if (changed.empty() && !touched) {  // all is as it was, or as it was a period ago
            const uint64_t rest = generations - made;
            current = (current + rest) % kept.size();
            generation += rest;
            filling = 0;
            samples.clear();
            return;
        }
        if (made % 16 == 15 && stopped()) return;
        if (!generate(stopped)) return;
        if (generation >= next_look) look();
    }
}

}  // namespace tables

#include "tables.hpp"

#include <algorithm>
#include <cstring>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace tables {

namespace {

using std::int64_t;
using std::size_t;
using std::uint32_t;
using std::uint64_t;
using std::uint8_t;

constexpr size_t ALONE = 64;  // tiles that one thread moves on sooner than several
const uint64_t NOTHING[SIDE] = {};

// Memory of which a page has been touched is had sooner in few large pages than in many small ones.
void prefer_large_pages([[maybe_unused]] uint8_t* memory, [[maybe_unused]] size_t bytes) {
#if defined(__linux__)
    constexpr std::uintptr_t LARGE = 2 << 20;
    const auto first = (reinterpret_cast<std::uintptr_t>(memory) + LARGE - 1) / LARGE * LARGE;
    const auto end = (reinterpret_cast<std::uintptr_t>(memory) + bytes) / LARGE * LARGE;
    if (first < end) madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
#endif
}

}  // namespace

Universe::Universe(Rule given, const RowOps& ops, int64_t width, int64_t height, bool torus, int threads)
    : rule(std::move(given)), width(width), height(height), torus(torus), planes(bits_of(rule.states)),
      find(ops.find), next_rows((rule.prepare(), ops.best(rule.tables))), across(up_to(width)),
      down(up_to(height)), kept(room(width, height, 2)), stride(2 * (width + 2)), team(threads), threads(threads) {
    const size_t tiles = size_t(across) * size_t(down);
    for (int turn : {0, 1}) {
        changes[turn] = zeroed<uint64_t>(tiles * SIDE);
        some_rows[turn] = zeroed<uint64_t>(tiles);
        stamps[turn] = zeroed<uint64_t>(tiles);
    }
    woken = zeroed<uint64_t>(tiles);
    if (!rule.stays_empty) mark_all();
}

// Returns memory for so many generations, all dead.
Zeroed<uint8_t> Universe::room(int64_t width, int64_t height, size_t size) {
    const size_t bytes = size * size_t(width + 2) * size_t(height + 2) + SLACK;
    Zeroed<uint8_t> memory = zeroed<uint8_t>(bytes);
    prefer_large_pages(memory.get(), bytes);
    return memory;
}

size_t Universe::bytes(int64_t width, int64_t height) {
    const size_t tiles = size_t(up_to(width)) * size_t(up_to(height));
    const size_t cells = size_t(width + 2) * size_t(height + 2);
    // Where the period becomes another one, there are those of both.
    const size_t earlier = std::min(EARLIER, (2 * LONGEST_PERIOD - 2) * cells);
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

Near Universe::near(const Place& at) const {
    const int turn = int(generation & 1);
    Near found;
    uint64_t some[3] = {};  // in which rows there are marks, of the tiles above, beside and below
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            const int64_t tile = index(at.tx + dx, at.ty + dy);
            const bool is_marked = tile >= 0 && marked(turn, tile);
            found.marks[dy + 1][dx + 1] = is_marked ? &changes[turn][tile * SIDE] : NOTHING;
            if (is_marked) some[dy + 1] |= some_rows[turn][tile];
        }
    const int64_t before = at.tx ? at.tx - 1 : across - 1, over = at.ty ? at.ty - 1 : down - 1;
    found.columns = at.columns, found.rows = at.rows;
    found.left_at = std::min(SIDE, width - SIDE * before) - 1;
    found.above_at = std::min(SIDE, height - SIDE * over) - 1;
    const uint64_t beside = (some[0] >> found.above_at & 1) | (some[2] & 1) << (at.rows - 1);
    found.rows_beside = (some[1] | some[1] << 1 | some[1] >> 1 | beside) & first_bits(at.rows);
    return found;
}

// Moves the marked cells of a tile on.
void Universe::move(int64_t tile) {
    const Place at = place(tile);
    const Near around = near(at);
    const int turn = int(generation & 1) ^ 1;
    const int64_t start = (SIDE * at.ty + 1) * stride + SIDE * at.tx + 1;
    const uint8_t *const from = now(), *const known = period > 1 && filling <= 1 ? oldest() : from;
    uint8_t* const to = oldest();
    uint64_t wanted[SIDE], found[SIDE];
    // A generation that was broken off, and then made again, keeps the marks that it has made.
    const bool again = stamps[turn][tile] == generation + 2, stay = carried || filling > 1;
    uint64_t* const made = &changes[turn][tile * SIDE];
    const uint64_t rows = find(around, rule.corners, wanted);
    const Work work = {from + start, to + start, known + start, stride, at.columns, rows, wanted,
                       again ? found : made};
    uint64_t some = next_rows(rule.tables, work);
    if (again) {
        for (int64_t y = 0; y < SIDE; y++) made[y] |= found[y];
        some |= some_rows[turn][tile];
    }
    if (stay) {
        for (int64_t y = 0; y < at.rows; y++) {
            made[y] |= around.marks[1][1][y];
            some |= uint64_t(made[y] != 0) << y;
        }
    }
    some_rows[turn][tile] = some;
    stamps[turn][tile] = generation + 2;
    if (torus && (!at.tx || !at.ty || at.tx + 1 == across || at.ty + 1 == down))
        for (uint64_t left = rows; left; left &= left - 1)
            mirror(to, SIDE * at.ty + __builtin_ctzll(left), SIDE * at.tx, at.columns);
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
    current = (current + 1) % size;
    generation++;
    if (carried) carried--;
    if (filling) filling--;
    return true;
}

void Universe::step(uint64_t generations, const std::function<bool()>& stopped) {
    for (uint64_t made = 0; made < generations; made++) {
        if (changed.empty() && !touched) {  // all is as it was, or as it was a period ago
            const uint64_t rest = generations - made;
            current = (current + rest) % size;
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

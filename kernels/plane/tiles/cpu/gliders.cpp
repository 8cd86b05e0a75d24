#include "gliders.hpp"

#include <algorithm>

namespace tiles {

namespace {

constexpr int ROOM = 10;  // cells along a square in which a glider can fly for four generations

struct Field {
    unsigned rows[ROOM]{};
    bool lives(int x, int y) const { return x >= 0 && y >= 0 && x < ROOM && y < ROOM && (rows[y] >> x & 1); }
    bool operator==(const Field& other) const { return std::equal(rows, rows + ROOM, other.rows); }
};

Field next(const Field& field, const circuits::Table& table) {
    Field found;
    for (int y = 0; y < ROOM; y++)
        for (int x = 0; x < ROOM; x++) {
            int square = 0;
            for (int j = -1; j <= 1; j++)
                for (int i = -1; i <= 1; i++) square = square << 1 | field.lives(x + i, y + j);
            found.rows[y] |= unsigned(table.at(square)) << x;
        }
    return found;
}

// A glider in the middle of a field, moved from there.
Field field_of(const Placed& glider, int x, int y) {
    constexpr int START = 3;
    Field field;
    for (int r = 0; r < 3; r++) field.rows[START + int(glider.y) + y + r] = glider.cells[r] << (START + int(glider.x) + x);
    return field;
}

// The box of a direction of flight, from that of one that flies to the right and down.
unsigned cell(const unsigned (&cells)[3], int dx, int dy, int x, int y) {
    return cells[dy > 0 ? y : 2 - y] >> (dx > 0 ? x : 2 - x) & 1;
}

}  // namespace

Gliders::Gliders(const circuits::Table& table) {
    // Of one that flies to the right and down.
    constexpr unsigned SHAPES[PHASES][3] = {{2, 4, 7}, {5, 6, 2}, {4, 5, 6}, {1, 6, 3}};
    constexpr int OFFSETS[PHASES][2] = {{0, 0}, {0, 1}, {0, 1}, {1, 1}};
    for (signed char& index : known) index = -1;
    for (int way = 0; way < WAYS; way++) {
        View* const phases = views + way * PHASES;
        const int dx = way & 1 ? 1 : -1, dy = way & 2 ? 1 : -1;
        for (int p = 0; p < PHASES; p++) {
            phases[p] = {dx, dy, {dx * OFFSETS[p][0], dy * OFFSETS[p][1], {0, 0, 0}}};
            for (int y = 0; y < 3; y++)
                for (int x = 0; x < 3; x++) phases[p].placed.cells[y] |= cell(SHAPES[p], dx, dy, x, y) << x;
        }
        bool flies = true;
        for (int p = 0; p < PHASES; p++) {
            const bool last = p + 1 == PHASES;
            const Field wanted = last ? field_of(phases[0].placed, dx, dy) : field_of(phases[p + 1].placed, 0, 0);
            flies = flies && next(field_of(phases[p].placed, 0, 0), table) == wanted;
        }
        for (int p = 0; flies && p < PHASES; p++) known[code_of(phases[p].placed)] = (signed char)(way * PHASES + p);
    }
}

Placed Gliders::at(const Glider& glider, std::uint64_t generation) const {
    const std::int64_t past = std::int64_t(generation - glider.generation);
    Placed placed = views[(int(glider.dx > 0) | int(glider.dy > 0) << 1) * PHASES + int(past & (PHASES - 1))].placed;
    const std::int64_t moved = past >> 2;  // downwards, as it may be negative
    placed.x += glider.x + glider.dx * moved, placed.y += glider.y + glider.dy * moved;
    return placed;
}

bool Gliders::find(const Placed& cells, std::uint64_t generation, Glider& found) const {
    const int index = known[code_of(cells)];
    if (index < 0) return false;
    const View& view = views[index];
    found = {cells.x - view.placed.x, cells.y - view.placed.y, generation - std::uint64_t(index % PHASES),
             view.dx, view.dy, 0};
    return true;
}

}  // namespace tiles

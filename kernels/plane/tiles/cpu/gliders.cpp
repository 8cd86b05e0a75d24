#include "gliders.hpp"

namespace tiles {

namespace {

constexpr int ROOM = 10;  // cells along a square in which a glider can fly for four generations

struct Field {
    unsigned rows[ROOM]{};
    bool lives(int x, int y) const { return x >= 0 && y >= 0 && x < ROOM && y < ROOM && (rows[y] >> x & 1); }
};

Field next(const Field& field, std::uint32_t birth, std::uint32_t survival) {
    Field found;
    for (int y = 0; y < ROOM; y++)
        for (int x = 0; x < ROOM; x++) {
            int near = 0;
            for (int j = -1; j <= 1; j++)
                for (int i = -1; i <= 1; i++) near += (i || j) && field.lives(x + i, y + j);
            found.rows[y] |= ((field.lives(x, y) ? survival : birth) >> near & 1) << x;
        }
    return found;
}

// The box of a direction of flight, from that of one that flies to the right and down.
unsigned cell(const unsigned (&cells)[3], int dx, int dy, int x, int y) {
    return cells[dy > 0 ? y : 2 - y] >> (dx > 0 ? x : 2 - x) & 1;
}

}  // namespace

Gliders::Gliders(std::uint32_t birth, std::uint32_t survival) {
    struct Phase {
        unsigned cells[3];
        int x, y;  // how far its box is from that of phase 0
    };
    Phase phases[PHASES];  // of one that flies to the right and down
    bool exist = true;
    constexpr unsigned SHAPES[PHASES][3] = {{2, 4, 7}, {5, 6, 2}, {4, 5, 6}, {1, 6, 3}};
    constexpr int OFFSETS[PHASES + 1][2] = {{0, 0}, {0, 1}, {0, 1}, {1, 1}, {1, 1}};
    constexpr int START = 3;
    Field field;
    for (int p = 0; p <= PHASES; p++) {
        const int s = p % PHASES;
        Field wanted;
        for (int y = 0; y < 3; y++) wanted.rows[START + OFFSETS[p][1] + y] = SHAPES[s][y] << (START + OFFSETS[p][0]);
        if (p == 0) field = wanted;
        for (int y = 0; y < ROOM; y++) exist = exist && field.rows[y] == wanted.rows[y];
        if (p < PHASES) phases[p] = {{SHAPES[p][0], SHAPES[p][1], SHAPES[p][2]}, OFFSETS[p][0], OFFSETS[p][1]};
        field = next(field, birth, survival);
    }
    for (signed char& index : known) index = -1;
    for (int way = 0; exist && way < WAYS; way++)
        for (int p = 0; p < PHASES; p++) {
            const Phase& phase = phases[p];
            View& view = views[way * PHASES + p];
            view.dx = way & 1 ? 1 : -1, view.dy = way & 2 ? 1 : -1;
            view.placed = {view.dx * phase.x, view.dy * phase.y, {0, 0, 0}};
            for (int y = 0; y < 3; y++)
                for (int x = 0; x < 3; x++)
                    view.placed.cells[y] |= cell(phase.cells, view.dx, view.dy, x, y) << x;
            known[code_of(view.placed)] = (signed char)(way * PHASES + p);
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

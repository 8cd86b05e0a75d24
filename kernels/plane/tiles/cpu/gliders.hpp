// Gliders that fly alone, and are moved on without being computed.
#pragma once
#include <cstdint>

#include "../../../life/circuits/cpu/search.hpp"

namespace tiles {

// A glider that has been seen. It fills a box of 3 x 3 cells, with five of them.
struct Glider {
    std::int64_t x, y;         // the top-left cell of the box, when it was in phase 0
    std::uint64_t generation;  // at which that was
    int dx, dy;                // where it flies to: one cell every PHASES generations
    std::uint64_t alone;       // nothing comes near it up to this generation
};

struct Placed {
    std::int64_t x, y;   // the top-left cell of the box
    unsigned cells[3];   // its rows, the left column in bit 0
};

// What gliders look like under a rule: those of Life, and of their four directions those in which the rule
// moves them as Life does.
class Gliders {
public:
    static constexpr int PHASES = 4;

    // table: the next state of each of the 512 squares of nine cells.
    explicit Gliders(const circuits::Table& table);

    // Where a glider is at a generation, which may lie before it was seen.
    Placed at(const Glider& glider, std::uint64_t generation) const;

    // Recognizes a glider by its box. Returns false if these cells are none.
    bool find(const Placed& cells, std::uint64_t generation, Glider& found) const;

private:
    static constexpr int WAYS = 4;
    struct View {
        int dx, dy;
        Placed placed;  // where its box is, counted from that of phase 0
    };
    static unsigned code_of(const Placed& placed) {
        return (placed.cells[0] & 7) | (placed.cells[1] & 7) << 3 | (placed.cells[2] & 7) << 6;
    }

    View views[WAYS * PHASES];  // by direction and phase
    signed char known[512];     // which of them a box is; -1 for none
};

}  // namespace tiles

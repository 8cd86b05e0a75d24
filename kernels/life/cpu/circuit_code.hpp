// What passes on the CPU know of a circuit that is found at run time: its operations as an interpreter
// takes them, and native code for the same, where there is some.
#pragma once
#include <cstddef>
#include <cstdint>

// A part of a row as circuits take it: its cells, their left and right neighbours, and the sums of
// the three, each as at most MOST vectors one after the other. `sums` is an array of x, then one of
// m, then, where they do not stand beside the cells, one of l and one of r. PITCH is an odd number,
// so that arrays meet in few sets of a cache.
struct CircuitRow {
    static constexpr int MOST = 32, PITCH = 35;
    // The arrays of x, m, c, l, r, in vectors from the start. Where neighbours stand beside the
    // cells, l and r are one before and one after c[0].
    static constexpr int X = 0, M = PITCH, C = 2 * PITCH + 1, L = 3 * PITCH, R = 4 * PITCH;
    static constexpr int VECTORS = 5 * PITCH;
};

// Where the inputs of a circuit stand: vectors from the start of a row, for l, c, r, x, m.
inline constexpr int CIRCUIT_BESIDE[5] = {CircuitRow::C - 1, CircuitRow::C, CircuitRow::C + 1,
                                          CircuitRow::X, CircuitRow::M};
inline constexpr int CIRCUIT_APART[5] = {CircuitRow::L, CircuitRow::C, CircuitRow::R, CircuitRow::X,
                                         CircuitRow::M};

// Computes some vectors of a row from the row above, the row itself and the one below.
using CircuitRows = void (*)(const void* const rows[3], void* out, std::int64_t vectors);

// One operation, numbered as circuits/cpu/search.hpp does; its result goes to a slot. An operand from
// 16 on is what stands in slot operand - 16.
struct CircuitStep {
    std::uint8_t lut, in[3], slot;
};

struct LifeCircuit {
    const CircuitStep* steps;
    int count, slots;
    // Native code for vectors of 512 bits, with neighbours beside the cells, and apart; or null.
    CircuitRows beside, apart;
};

// A rule of two states and nine cells, as what is compiled for each CPU level takes it.
#pragma once
#include <cstdint>

#include "circuit_code.hpp"

struct NineCellRule {
    std::uint32_t birth, survival;  // bit n: for n live neighbours of eight
    LifeCircuit circuit;            // in place of these, if it has operations

    bool has_circuit() const { return circuit.count > 0; }
};

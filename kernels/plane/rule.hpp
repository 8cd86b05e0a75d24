// The rule of an unbounded plane, as what is compiled for each CPU level takes it.
#pragma once
#include <cstdint>

#include "../life/cpu/circuit_code.hpp"

struct PlaneRule {
    std::uint32_t birth, survival;  // bit n: for n live neighbours of eight
    LifeCircuit circuit;            // in place of these, if it has operations

    bool has_circuit() const { return circuit.count > 0; }
};

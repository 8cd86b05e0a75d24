// The rule of an unbounded plane as Python gives it.
#pragma once
#include "../checks.hpp"
#include "../life/circuits/cpu/circuit.hpp"
#include "../life/cpu/nine_cells.hpp"

struct BoundRule {
    NineCellRule plane;
    circuits::Table table;  // the next state of each of the 512 squares of nine cells

    // circuit: in place of the counts, or null; it must live as long as `plane` is used. Raises
    // ValueError for counts that are none, and for a rule by which empty space comes alive.
    BoundRule(unsigned birth, unsigned survival, const circuits::Circuit* circuit, int vector_bytes)
        : plane{birth, survival, circuit ? circuit->code(vector_bytes) : LifeCircuit{}},
          table(circuit ? circuit->table() : table_of(birth, survival)) {
        checks::require(birth <= 511 && survival <= 511 && !table.at(0), "no rule of an unbounded plane");
    }

private:
    static circuits::Table table_of(unsigned birth, unsigned survival) {
        circuits::Table table{};
        for (int square = 0; square < 512; square++) {
            const int centre = square >> 4 & 1, near = __builtin_popcount(unsigned(square)) - centre;
            table.words[square >> 6] |= circuits::u64((centre ? survival : birth) >> near & 1) << (square & 63);
        }
        return table;
    }
};

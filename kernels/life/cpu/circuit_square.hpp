// A square of 64 x 64 cells (lanes.hpp), or what has fewer rows, moved on by a circuit which is found at run time.
#pragma once
#include <cstddef>

#include "lanes.hpp"
#include "life.hpp"

namespace {

template <class V, int COUNT = Lanes<V>::VECTORS>
class CircuitSquare {
public:
    // Returns the bytes of memory that it needs, from a multiple of sizeof(V) on.
    static std::size_t bytes(const LifeCircuit& circuit) {
        return sizeof(V) * std::size_t(PARTS + (circuit.apart ? 0 : COUNT * (circuit.slots + 1)));
    }

    // ops: of the level that V is of.
    CircuitSquare(const LifeCircuit& circuit, const LifeOps& ops, void* memory)
        : circuit_(circuit), ops_(ops), parts_(static_cast<V*>(memory) + 1), scratch_(parts_ + PARTS - 1) {
        if (!circuit.apart) __builtin_memset(scratch_, 0, sizeof(V) * COUNT);
    }

    // Moves the COUNT vectors of a square on by a generation.
    BITS_FN void advance(V* rows) const {
        V *const x = parts_ + CircuitRow::X, *const m = parts_ + CircuitRow::M, *const c = parts_ + CircuitRow::C;
        V *const l = parts_ + CircuitRow::L, *const r = parts_ + CircuitRow::R;
        for (int k = 0; k < COUNT; k++) {
            const RowState<V> s = row_state(Lanes<V>::left(rows[k]), rows[k], Lanes<V>::right(rows[k]));
            l[k] = s.l, c[k] = s.c, r[k] = s.r, x[k] = s.x, m[k] = s.m;
        }
        V* const parts[5] = {l, c, r, x, m};
        for (V* part : parts) {
            part[-1] = Lanes<V>::up(part[COUNT - 1]);
            part[COUNT] = Lanes<V>::down(part[0]);
        }
        const void* const three[3] = {parts_ - 1, parts_, parts_ + 1};
        if (circuit_.apart) circuit_.apart(three, rows, COUNT);
        else ops_.carry_out(circuit_, three, rows, COUNT, scratch_);
    }

private:
    static_assert(COUNT <= CircuitRow::MOST && COUNT + 2 <= CircuitRow::PITCH,
                  "a part of a row has room for a vector more at either end");
    static constexpr int PARTS = CircuitRow::VECTORS + 2;

    const LifeCircuit& circuit_;
    const LifeOps& ops_;
    V *const parts_, *const scratch_;
};

}  // namespace

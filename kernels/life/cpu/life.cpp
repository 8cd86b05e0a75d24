// Life on one CPU level: a rule is chosen, and a task carried out. Compiled once per level, with LEVEL
// its name and VECTOR its register type (bits.hpp); nothing of the standard library may be
// instantiated here or in the headers, or the linker could hand AVX-512 code to a machine without it.
#include "life.hpp"

#include <cstring>

#include "../circuit.hpp"
#include "direct.hpp"
#include "panel.hpp"
#include "rows.hpp"
#include "rules.hpp"

namespace {

// Returns the bytes from one packed row to the next.
std::size_t row_bytes(const LifePass& p) { return std::size_t(p.stride) * 8; }

// Returns the bytes of scratch memory that a task of this pass needs.
std::size_t scratch_bytes(const LifePass& p) {
    const std::size_t circuit = p.circuit ? CircuitRule::bytes(*p.circuit) : 0;
    if (p.direct()) return circuit + row_bytes(p);
    return circuit + Layout(p, pitch_of(p.columns)).all();
}

// Runs the rows y0 to y1 - 1 straight, by the rule that it is given.
struct Straight {
    const Direct<V>& direct;
    i64 y0, y1;
    template <class Rule>
    void run(const Rule& rule) const { direct.run(rule, y0, y1); }
};

// Does so by strips.
struct Strips {
    const Task& task;
    i64 y0, y1;
    template <class Rule>
    void run(const Rule& rule) const { task.run(OneBit<Rule>{rule}, y0, y1); }
};

// Carries out task `index`: one panel of one band.
void run_task(const LifePass& p, i64 index, void* scratch) {
    const i64 panel = index % p.panels;
    const LifeRows rows(p, index);
    const i64 y0 = rows.first, y1 = rows.last;
    char* at = static_cast<char*>(scratch);
    if (p.circuit) at += CircuitRule::bytes(*p.circuit);
    if (p.direct()) {
        if (!p.torus) std::memset(at, 0, row_bytes(p));
        const Direct<V> direct{p, reinterpret_cast<const u64*>(at)};
        if (!p.circuit) return with_rule<V>(p.birth, p.survival, Straight{direct, y0, y1});
        const CircuitRule rule = CircuitRule::in(*p.circuit, scratch);
        return DirectCircuit{direct, rule}.run(y0, y1);
    }
    const Scratch s = Layout(p, pitch_of(p.columns)).of(at);
    const Task task{p, s, panel, panel * p.useful - p.halo, p.columns};
    if (!p.circuit) return with_rule<V>(p.birth, p.survival, Strips{task, y0, y1});
    const CircuitRule rule = CircuitRule::in(*p.circuit, scratch);
    task.run(CircuitCells{{rule}}, y0, y1);
}

// Carries out a circuit whose inputs stand apart, as LifeOps says.
void carry_out_apart(const LifeCircuit& circuit, const void* const three[3], void* out, i64 vectors, void* scratch) {
    V* const zeros = static_cast<V*>(scratch);
    carry_out(circuit, three, CIRCUIT_APART, static_cast<V*>(out), vectors, zeros + vectors, vectors, zeros);
}

}  // namespace

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
extern const LifeOps JOIN(life_, LEVEL);
const LifeOps JOIN(life_, LEVEL) = {int(sizeof(V)), scratch_bytes, run_task, carry_out_apart};

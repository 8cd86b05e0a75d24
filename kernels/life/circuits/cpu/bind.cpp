// Binds circuits to Python, for kernels.life.circuits.
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstring>

#include "../../../levels.hpp"
#include "../../../tasks.hpp"
#include "circuit.hpp"
#include "net.hpp"

namespace nb = nanobind;

namespace circuits {

Circuit::Circuit(const Ops& ops, bool native) {
    checks::require(!ops.empty() && ops.size() <= MOST, "a circuit has 1 to 4000 operations");
    const int signals = INPUTS + int(ops.size());
    std::vector<int> last(std::size_t(signals), -1), slot(std::size_t(signals), -1), spare;
    for (int i = 0; i < int(ops.size()); i++) {
        const Op& op = ops[std::size_t(i)];
        checks::require(op.lut >= 0 && op.lut < 256, "an operation has a table of 8 bits");
        for (int operand : op.in) {
            checks::require(operand >= 0 && operand < INPUTS + i,
                            "operands of an operation come before it");
            last[std::size_t(operand)] = i;
        }
    }
    for (int i = 0; i < int(ops.size()); i++) {
        const Op& op = ops[std::size_t(i)];
        CircuitStep step{std::uint8_t(op.lut), {}, 0};
        for (int k = 0; k < 3; k++) {
            const int s = op.in[k];
            step.in[k] = std::uint8_t(s < INPUTS ? s : INPUTS + slot[std::size_t(s)]);
        }
        for (int s : op.in)
            if (s >= INPUTS && last[std::size_t(s)] == i) {
                last[std::size_t(s)] = -1;  // once, though it is an operand twice
                spare.push_back(slot[std::size_t(s)]);
            }
        if (spare.empty()) spare.push_back(slots_++);
        checks::require(slots_ <= 256 - INPUTS, "too many results of a circuit are needed at once");
        slot[std::size_t(INPUTS + i)] = spare.back();
        step.slot = std::uint8_t(spare.back());
        spare.pop_back();
        steps_.push_back(step);
    }
    Net net;
    for (const Op& op : ops) net.add(op.lut, op.in[0], op.in[1], op.in[2]);
    table_ = net.value.back();
    if (native && supported("v4")) {
        beside_ = std::make_unique<Native>(ops, CIRCUIT_BESIDE);
        apart_ = std::make_unique<Native>(ops, CIRCUIT_APART);
    }
}

LifeCircuit Circuit::code(int vector_bytes) const {
    const bool fits = native() && vector_bytes == 64;
    return {steps_.data(), int(steps_.size()), slots_, fits ? beside_->function() : nullptr,
            fits ? apart_->function() : nullptr};
}

namespace {

using Numbers = std::array<int, 4>;  // an operation's table and operands

Ops ops_of(const std::vector<Numbers>& numbers) {
    Ops ops;
    for (const Numbers& n : numbers) ops.push_back({n[0], {n[1], n[2], n[3]}});
    return ops;
}

std::vector<Numbers> found(nb::bytes table, std::uint32_t inputs, int moves, std::uint64_t seed) {
    Table function;
    checks::require(table.size() == sizeof function, "a table of nine cells has 64 bytes");
    checks::require(moves >= 0 && moves <= 1'000'000, "moves are 0 to 1000000");
    std::memcpy(&function, table.c_str(), sizeof function);
    Ops ops;
    {
        nb::gil_scoped_release release;
        ops = search(function, inputs, moves, seed);
    }
    std::vector<Numbers> numbers;
    for (const Op& op : ops) numbers.push_back({op.lut, op.in[0], op.in[1], op.in[2]});
    return numbers;
}

}  // namespace

}  // namespace circuits

void bind_circuits(nb::module_& m) {
    m.def("circuit_search", &circuits::found, nb::arg("table"), nb::arg("inputs"),
          nb::arg("moves"), nb::arg("seed"),
          "Operations (lut, a, b, c) of a function of nine cells, whose table is of 64 bytes, the "
          "lowest first; none where the inputs do not suffice. life/circuits/cpu/search.hpp says "
          "what signals, inputs, moves and the seed are.");
    nb::class_<circuits::Circuit>(m, "LifeCircuit", "A circuit for life_pass().")
        .def("__init__",
             [](circuits::Circuit* self, const std::vector<circuits::Numbers>& ops, bool native) {
                 new (self) circuits::Circuit(circuits::ops_of(ops), native);
             },
             nb::arg("ops"), nb::arg("native"))
        .def("native", &circuits::Circuit::native, "Tell whether it is native code.");
}

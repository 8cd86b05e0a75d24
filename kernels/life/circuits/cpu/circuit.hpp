// A circuit as Python hands it to passes.
#pragma once
#include <nanobind/nanobind.h>

#include <memory>
#include <vector>

#include "native.hpp"
#include "search.hpp"

namespace circuits {

class Circuit {
public:
    static constexpr int MOST = 4000;  // operations

    // Raises ValueError for operations that are none, and where too many results are kept at once.
    // native: whether code for this CPU is to be made, where that can be done.
    Circuit(const Ops& ops, bool native);

    bool native() const { return beside_ && beside_->function() && apart_->function(); }

    // The function that it computes.
    const Table& table() const { return table_; }

    // Returns what passes by vectors of so many bytes take.
    LifeCircuit code(int vector_bytes) const;

private:
    Table table_;
    int slots_ = 0;
    std::vector<CircuitStep> steps_;
    std::unique_ptr<Native> beside_, apart_;
};

}  // namespace circuits

void bind_circuits(nanobind::module_& m);

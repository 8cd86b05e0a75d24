// The CPU backend of Life: one pass of `steps` generations over packed rows.
#pragma once
#include <cstddef>
#include <cstdint>

#include "circuit_code.hpp"

// How a pass is cut up. A universe of `height` rows of `stride` 64-bit words is cut into
// `panels` of `useful` columns (a multiple of 64) and bands of `band_rows` rows; one panel of
// one band is a task. In cache a row of a panel is `columns` vectors: column c of the panel is
// bit c / columns (in strip order) of vector c % columns, so that horizontal neighbours are
// neighbouring vectors. `halo` columns on either side are computed, too, and thrown away; it is
// 0 where the panel is a whole torus, which closes on itself. With no columns it is one
// generation straight on the rows (direct.hpp), in a single panel.
struct LifePass {
    const std::uint64_t* src;
    std::uint64_t* dst;
    std::int64_t width, height, stride;
    bool torus;
    std::uint32_t birth, survival;
    const LifeCircuit* circuit;  // the rule in place of `birth` and `survival`, or null
    int steps;
    std::int64_t panels, useful;
    int columns, halo;
    std::int64_t band_rows;
    int block_rows;
    const volatile bool* cancelled;

    bool direct() const { return columns == 0; }
};

inline std::int64_t life_tasks(const LifePass& p) {
    return p.panels * ((p.height + p.band_rows - 1) / p.band_rows);
}

// What each CPU level exports, as `extern const LifeOps life_LEVEL`.
struct LifeOps {
    int vector_bytes;
    std::size_t (*scratch_bytes)(const LifePass&);
    void (*run_task)(const LifePass&, std::int64_t task, void* scratch);  // scratch: 64-aligned
};

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
// 0 where the panel is a whole torus, which closes on itself. The first and last `edge` rows are only
// read: no row of `dst` is written for them. With no columns it is one
// generation straight on the rows (direct.hpp), in a single panel.
struct LifePass {
    const std::uint64_t* src;
    std::uint64_t* dst;
    std::int64_t width, height, stride;
    bool torus;
    std::uint32_t birth, survival;
    int steps;
    std::int64_t panels, useful;
    int columns, halo;
    std::int64_t band_rows;
    int block_rows;
    const volatile bool* cancelled;
    const LifeCircuit* circuit = nullptr;  // the rule in place of `birth` and `survival`, or null
    std::int64_t edge = 0;

    bool direct() const { return columns == 0; }
};

inline std::int64_t life_tasks(const LifePass& p) {
    return p.panels * ((p.height - 2 * p.edge + p.band_rows - 1) / p.band_rows);
}

// The rows of a task's band: `first` to `last` - 1.
struct LifeRows {
    std::int64_t first, last;

    LifeRows(const LifePass& p, std::int64_t task) : first(p.edge + task / p.panels * p.band_rows) {
        const std::int64_t left = p.height - p.edge - first;
        last = first + (left < p.band_rows ? left : p.band_rows);
    }
};

// Tells whether a pass is cut up as said above, by vectors of so many bytes, and its numbers are so
// small that no sum or product of them leaves 64 bits: a plan has at most 128 steps.
inline bool life_fits(const LifePass& p, int vector_bytes) {
    constexpr int MOST = 1 << 20;
    constexpr std::int64_t WIDEST = std::int64_t(1) << 56;
    if (p.width < 1 || p.width > WIDEST || p.height < 1 || p.height > WIDEST || p.panels > WIDEST ||
        p.useful < 1 || p.useful > WIDEST || p.columns < 0 || p.columns > 32 || p.halo < 0 ||
        p.halo > MOST || p.steps < 1 || p.steps > MOST || p.block_rows < 1 || p.block_rows > MOST ||
        p.edge < 0 || p.edge > (p.height - 1) / 2 || p.band_rows < 1 || p.useful % 64 || (p.width - 1) / p.useful != p.panels - 1)
        return false;
    const std::int64_t reach = std::int64_t(vector_bytes) * 8 * p.columns;
    if (p.direct()) return p.steps == 1 && p.panels == 1 && p.halo == 0;
    const bool closed = p.torus && p.halo == 0 && p.panels == 1 && reach == p.width;
    return closed || (p.halo >= p.steps && p.useful + 2 * p.halo <= reach);
}

// What each CPU level exports, as `extern const LifeOps life_LEVEL`.
struct LifeOps {
    int vector_bytes;
    std::size_t (*scratch_bytes)(const LifePass&);
    void (*run_task)(const LifePass&, std::int64_t task, void* scratch);  // scratch: 64-aligned
    // Does what circuit.apart does, where there is no native code. scratch: 1 + circuit.slots times so
    // many vectors, aligned as those are, of which the first ones are zero.
    void (*carry_out)(const LifeCircuit& circuit, const void* const rows[3], void* out, std::int64_t vectors,
                      void* scratch);
};

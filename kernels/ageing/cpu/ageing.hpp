// The CPU backend of ageing cells: one pass of `steps` generations over packed rows.
#pragma once
#include "../../life/cpu/life.hpp"

// A pass as of Life, which is also cut up in the same way, over rows of several bit planes: `stride`
// is that of a whole row of cells, of all `planes`.
struct AgeingPass {
    LifePass pass;
    int states;

    std::int64_t plane_words() const { return (pass.width + 63) / 64; }
};

inline int ageing_planes(int states) {
    int planes = 0;
    for (int last = states - 1; last; last >>= 1) planes++;
    return planes;
}

// What each CPU level exports, as `extern const AgeingOps ageing_LEVEL`.
struct AgeingOps {
    int vector_bytes;
    std::size_t (*scratch_bytes)(const AgeingPass&);
    void (*run_task)(const AgeingPass&, std::int64_t task, void* scratch);  // scratch: 64-aligned
};

// The CPU backend of Larger than Life: one generation of cells of a byte each.
#pragma once
#include <cstddef>
#include <cstdint>

// A run of neighbours in one row, relative to the cell: columns first to last.
struct RangeRun { std::int32_t row, first, last; };
// Counts from `least` on, `span` more at most.
struct RangeCounts { std::uint32_t least, span; };

// One generation of `height` rows of `width` cells. reach: of the neighbourhood. radius: of a square
// one, else 0, where runs say what it is. Tasks are strips of `columns` columns by bands of
// `rows` rows, strip by strip.
struct RangePass {
    const std::uint8_t* src;
    std::uint8_t* dst;
    std::int64_t width, height;
    bool torus;
    int states, reach, radius;
    bool middle;
    const RangeRun* runs;
    int run_count;
    const RangeCounts *birth, *survival;
    int birth_count, survival_count;
    std::uint32_t most;  // neighbours
    std::int64_t columns, rows;
    const volatile bool* cancelled;
};

inline std::int64_t range_tasks(const RangePass& p) {
    return ((p.width + p.columns - 1) / p.columns) * ((p.height + p.rows - 1) / p.rows);
}

// What each CPU level exports, as `extern const RangeOps ranges_LEVEL`.
struct RangeOps {
    std::size_t (*scratch_bytes)(const RangePass&);
    void (*run_task)(const RangePass&, std::int64_t task, void* scratch);  // scratch: 64-aligned
};

// The CPU backend of the pairwise sums.
#pragma once
#include <cstddef>
#include <cstdint>

// What each CPU level exports, as `extern const SumsOps sums_LEVEL`. Arrays need the
// alignment of their elements only. The result may not overlap the operands.
struct SumsOps {
    int vector_bytes;
    // Computes c[i] = a[i] + b[i] (mod 2^32).
    void (*naive)(const std::uint32_t* a, const std::uint32_t* b, std::uint32_t* c,
                  std::size_t count);
    // Adds bit-sliced numbers of k bits, 1 <= k <= 32: bit i of word j * stride + g is bit j
    // of number 32 g + i, g < groups <= stride. Writes min(k + 1, 32) planes. Threads may
    // share a batch: each takes a range of groups, by offset pointers.
    void (*bitwise)(const std::uint32_t* a, const std::uint32_t* b, std::uint32_t* c, int k,
                    std::size_t groups, std::size_t stride);
};

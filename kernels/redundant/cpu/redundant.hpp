// The CPU backend of carry-free additions.
#pragma once
#include <cstddef>
#include <cstdint>

// Digits are words of 16, 32 or 64 bits (digits.hpp), in groups of 32: in binary a group is LOG
// / 2 words of 64 bits.
constexpr std::size_t REDUNDANT_GROUP = 32;

// The operations on digits of one size of words. Arrays need the alignment of their elements;
// results may not overlap operands, but z may be x. Threads may share a result by ranges.
struct RedundantWordOps {
    int log;  // of the base
    // Returns what add() must know of the digits before `first`; to be asked before any of z
    // is written.
    std::uint64_t (*below)(const void* x, std::size_t x_digits, const void* y,
                           std::size_t y_digits, bool subtract, std::size_t first);
    // Writes digits first..last of z = x + y, or x - y. x and y have any number of digits.
    void (*add)(const void* x, std::size_t x_digits, const void* y, std::size_t y_digits,
                bool subtract, void* z, std::size_t first, std::size_t last, std::uint64_t below);
    // Writes groups first..last of the sum of `positive` numbers in binary less the others.
    // The numbers, `count` of them and at most base / 2, have `width` words each, one after
    // the other.
    void (*sum)(const std::uint64_t* numbers, std::size_t width, std::size_t count,
                std::size_t positive, void* z, std::size_t first, std::size_t last);
    // Turns groups first..last of a number into binary, words first * log / 2 and so on.
    // Returns what is carried over to the next group, which after the last one is the
    // topmost word, in two's complement.
    std::uint64_t (*normalise)(const void* x, std::size_t first, std::size_t last,
                               std::uint64_t carried, std::uint64_t* words);
};

// What each CPU level exports, as `extern const RedundantOps redundant_LEVEL`.
struct RedundantOps {
    RedundantWordOps words[3];  // of 16, 32 and 64 bits
};

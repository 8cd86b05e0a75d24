// The steps of an enumeration that are compiled for each CPU level; enumeration.hpp calls them.
//
// Words and numbers are those of kernels.transformations.contract. A product u·g with u = f·s is deduced
// if s·g = r has a lesser word than that of s and g: it is f·r, which is f·prefix(r), a number
// q on the left graph, times last(r). q is at most u, and where it is u, last(r) is less than
// g: so products that are taken in order never wait for later ones.
#pragma once
#include <cstddef>
#include <cstdint>

struct SemigroupPair {
    std::uint32_t a, b;
};

struct SemigroupGraph {
    std::uint32_t letters;
    SemigroupPair* begin;  // (first, suffix) of each number
    SemigroupPair* end;    // (prefix, last)
    std::uint32_t* right;
    std::uint32_t* left;
};

// The products of parents that are listed as they cannot be deduced yet, and what they need.
// Products are numbered from 0, parent by parent.
struct SemigroupFound {
    std::uint32_t* product;  // those to be computed,
    std::uint32_t* rest;     // and s·g of each
    std::uint32_t* later;    // those that are deduced from products of the same batch,
    std::uint64_t* source;   // and from which ones: their places in `right`
    std::uint32_t computed, waiting;
    bool contradiction;  // the tables that the enumeration went on from are wrong
};

constexpr std::uint32_t SEMIGROUP_BLOCK = 1024, SEMIGROUP_SHIFT = 4;  // hashing.py

struct SemigroupOps {
    // Deduces the products of numbers first .. last - 1, of a batch that begins at `from`,
    // where it can, and lists the others. left_known: how many numbers have their row of
    // `left`.
    void (*classify)(const SemigroupGraph&, std::uint32_t from, std::uint32_t first,
                     std::uint32_t last, std::uint32_t left_known, SemigroupFound& found);
    // Fills in rows first .. last - 1 of `left`, whose level ends at `end`. Returns whether
    // all was well.
    bool (*left)(const SemigroupGraph&, std::uint32_t first, std::uint32_t last, std::uint32_t end);
    // Composes y[i] = g[x[i]], for images of 1, 2 and 4 bytes; y may be x.
    void (*compose[3])(const void* g, const void* x, void* y, std::size_t count);
    // Does the same for 2 bytes, faster on some CPUs; or null. Reads 2 bytes behind g.
    void (*gather)(const void* g, const void* x, void* y, std::size_t count);
    // Adds the hash of blocks of a row, the first of which is number `block`, to sum[2].
    void (*hash)(const std::uint32_t* key, const std::uint64_t* factors, const void* row,
                 std::size_t bytes, std::size_t block, std::uint64_t* sum);
};

// What the enumeration of semigroups does on one CPU level; enumeration.hpp calls it.
//
// Words and numbers are those of kernels.transf.engine. A product u·g with u = f·s is deduced
// if s·g = r has a lesser word than that of s and g: it is f·r, which is f·prefix(r), a number
// q on the left graph, times last(r). q is at most u, and where it is u, last(r) is less than
// g: so products that are taken in order never wait for later ones.
#pragma once
#include <cstddef>
#include <cstdint>

struct TransfPair {
    std::uint32_t a, b;
};

struct TransfGraph {
    std::uint32_t letters;
    TransfPair* begin;  // (first, suffix) of each number
    TransfPair* end;    // (prefix, last)
    std::uint32_t* right;
    std::uint32_t* left;
};

// What products of parents need that cannot be deduced yet. Products are numbered from 0,
// parent by parent.
struct TransfFound {
    std::uint32_t* product;  // those to be computed,
    std::uint32_t* rest;     // and s·g of each
    std::uint32_t* later;    // those that are deduced from products of the same batch,
    std::uint64_t* source;   // and which, in `right`
    std::uint32_t computed, waiting;
    bool contradiction;  // the tables that the enumeration went on from are wrong
};

constexpr std::uint32_t TRANSF_BLOCK = 1024, TRANSF_SHIFT = 4;  // hashing.py

struct TransfOps {
    // Deduces products of numbers first .. last - 1, of a batch that begins at `from`, where it
    // can, and lists the others. left_known: those whose row of `left` there is.
    void (*classify)(const TransfGraph&, std::uint32_t from, std::uint32_t first,
                     std::uint32_t last, std::uint32_t left_known, TransfFound& found);
    // Rows first .. last - 1 of `left`, whose level ends at `end`. Returns whether all was well.
    bool (*left)(const TransfGraph&, std::uint32_t first, std::uint32_t last, std::uint32_t end);
    // y[i] = g[x[i]] for images of 1, 2 and 4 bytes; y may be x.
    void (*compose[3])(const void* g, const void* x, void* y, std::size_t count);
    // The same for 2 bytes, faster on some CPUs, or null. Reads 2 bytes behind g.
    void (*gather)(const void* g, const void* x, void* y, std::size_t count);
    // Adds the hash of blocks, the first of which is number `block`, of a row to sum[2].
    void (*hash)(const std::uint32_t* key, const std::uint64_t* factors, const void* row,
                 std::size_t bytes, std::size_t block, std::uint64_t* sum);
};

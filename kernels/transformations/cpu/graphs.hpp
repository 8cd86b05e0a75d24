// Reads facts off Cayley graphs and words, for kernels/transformations/graphs.py.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace semigroups {

// Edge g of node u leads to edges[u * letters + g], a number below `bound`.
struct Graph {
    const std::uint32_t* edges;
    std::size_t nodes, letters;
    std::size_t bound;
};

// The words of elements. That of w, 0 being empty, is letter[w] and then the word of rest[w] or,
// if it is read from its end, the word of rest[w] and then letter[w]. rest[w] is less than w.
struct Words {
    const std::uint32_t *letter, *rest;
};

// All functions throw std::invalid_argument where arrays contradict each other, and
// std::bad_alloc. Those that take long end, with results of no use, once `cancelled` is true.

// Finds classes of nodes that are reached from each other; classes[nodes] are numbered by their
// first members.
void strong_components(const Graph& graph, std::uint32_t* classes, const volatile bool& cancelled);

// Find the least equivalence above two, and the greatest below them. a and b name the class of
// each member by numbers below count.
void join(const std::uint32_t* a, const std::uint32_t* b, std::size_t count, std::uint32_t* classes,
          const volatile bool& cancelled);
void meet(const std::uint32_t* a, const std::uint32_t* b, std::size_t count, std::uint32_t* classes,
          const volatile bool& cancelled);

// Appends each e of [first, end) with e e = e. classes may be null.
void idempotents(const Graph& right, const Words& words, const std::uint32_t* classes,
                 std::size_t first, std::size_t end, std::vector<std::uint32_t>& found,
                 const volatile bool& cancelled);

// Sets result[k] to where the word of word[k] leads from start[k].
void trace(const Graph& graph, const Words& words, const std::uint32_t* start,
           const std::uint32_t* word, std::size_t count, std::uint32_t* result,
           const volatile bool& cancelled);

// Writes the letters of numbers[k] to letters[offsets[k]] … letters[offsets[k + 1] - 1].
void spell(const Words& words, const std::uint32_t* numbers, const std::int64_t* offsets,
           std::size_t count, std::uint32_t* letters, const volatile bool& cancelled);

// Returns the rules u g = r that hold without following from others, in order of u and g: for
// each its place u * letters + g in the graph.
std::vector<std::uint64_t> rules(const Graph& right, const std::uint32_t* suffix,
                                 const volatile bool& cancelled);

}  // namespace semigroups

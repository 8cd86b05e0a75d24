// What is read off Cayley graphs and words; see kernels/transf/graphs.py for what calls it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace transf {

// Edge g of node u leads to edges[u * letters + g], a number below `bound`.
struct Graph {
    const std::uint32_t* edges;
    std::size_t nodes, letters;
    std::size_t bound;
};

// The word of w, 0 being empty, is letter[w] and then the word of rest[w], or, read from its
// end, the other way round. rest[w] is less than w.
struct Words {
    const std::uint32_t *letter, *rest;
};

// All functions throw std::invalid_argument where arrays contradict each other, and
// std::bad_alloc. Long ones end, with results of no use, once `cancelled` is true.

// Nodes that are reached from each other; classes[nodes] are numbered by their first members.
void strong_components(const Graph& graph, std::uint32_t* classes, const volatile bool& cancelled);

// The least equivalence above two, and the greatest below; a and b name the class of each by
// numbers below count.
void join(const std::uint32_t* a, const std::uint32_t* b, std::size_t count, std::uint32_t* classes);
void meet(const std::uint32_t* a, const std::uint32_t* b, std::size_t count, std::uint32_t* classes);

// Appends the e of [first, end) with e e = e. classes may be null.
void idempotents(const Graph& right, const Words& words, const std::uint32_t* classes,
                 std::size_t first, std::size_t end, std::vector<std::uint32_t>& found);

// result[k] = where the word of word[k] leads from start[k].
void trace(const Graph& graph, const Words& words, const std::uint32_t* start,
           const std::uint32_t* word, std::size_t count, std::uint32_t* result);

// Writes the letters of numbers[k] to letters[offsets[k]] … letters[offsets[k + 1] - 1].
void spell(const Words& words, const std::uint32_t* numbers, const std::int64_t* offsets,
           std::size_t count, std::uint32_t* letters);

// The rules u g = r that hold without being made of others, in order of u, g: of each its
// place u * letters + g in the graph.
std::vector<std::uint64_t> rules(const Graph& right, const std::uint32_t* suffix);

}  // namespace transf

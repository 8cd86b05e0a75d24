#include "graphs.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>

namespace semigroups {

namespace {

using std::size_t;
using std::uint32_t;
using std::uint64_t;

constexpr uint32_t NONE = ~uint32_t(0);

[[noreturn]] void fail(const char* what) { throw std::invalid_argument(what); }
[[noreturn]] void fail_edge() { fail("the graph leads to what is not there"); }

// Returns memory that nobody has written to.
std::unique_ptr<uint32_t[]> numbers(size_t count) {
    return std::unique_ptr<uint32_t[]>(new uint32_t[count]);
}

size_t bound_of(const uint32_t* labels, size_t count) {
    uint32_t most = 0;
    for (size_t i = 0; i < count; i++) most = std::max(most, labels[i]);
    if (count && most >= count) fail("a class leads to what is not there");
    return count ? size_t(most) + 1 : 0;
}

// Traces under way, many at a time, so that their reads of memory overlap: no step of one waits
// for another's, and no branch depends on what was read.
struct Traces {
    static constexpr size_t MOST = 512;
    uint32_t name[MOST], place[MOST], word[MOST];
    size_t count = 0;

    void step(const Graph& graph, const Words& words) {
        uint32_t letter[MOST];
        bool bad = false;
        for (size_t k = 0; k < count; k++) {
            const uint32_t w = word[k];
            letter[k] = words.letter[w];
            word[k] = words.rest[w];
            bad |= letter[k] >= graph.letters || word[k] >= w;
        }
        if (bad) fail("a word does not end");
        for (size_t k = 0; k < count; k++) {
            place[k] = graph.edges[place[k] * graph.letters + letter[k]];
            bad |= place[k] >= graph.bound;
        }
        if (bad) fail_edge();
    }

    // Keeps those for which keep(name, place, whether the word has ended) is true.
    template <class Keep>
    void filter(Keep keep) {
        size_t kept = 0;
        for (size_t k = 0; k < count; k++) {
            const uint32_t n = name[k], p = place[k], w = word[k];
            name[kept] = n;
            place[kept] = p;
            word[kept] = w;
            kept += size_t(keep(n, p, w == 0));
        }
        count = kept;
    }
};

// Names classes anew, by their first members. of() gives the old number of each, below `bound`.
template <class Of>
void number(uint32_t* classes, size_t count, uint32_t* names, size_t bound, Of of) {
    std::fill_n(names, bound, NONE);
    uint32_t found = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t& name = names[of(classes[i])];
        if (name == NONE) name = found++;
        classes[i] = name;
    }
}

// A node on the path of the search, its next edge, and when the node was seen.
struct Step {
    uint32_t node, edge, seen;
};

}  // namespace

// The algorithm is Pearce's (A space-efficient algorithm for finding strongly connected
// components, 2016), with stacks of its own. An entry of `low` is 0 before its node is seen,
// then the least time at which a node was seen that it is known to reach, and in the end the
// name of its component. Names count down from the number of nodes, and so are greater than any
// time.
void strong_components(const Graph& graph, uint32_t* low, const volatile bool& cancelled) {
    const size_t nodes = graph.nodes, letters = graph.letters;
    std::fill_n(low, nodes, 0u);
    const auto open = numbers(nodes);  // nodes that were left before their components were complete
    size_t opened = 0;
    uint32_t clock = 0, name = uint32_t(nodes);
    std::vector<Step> path;
    const auto enter = [&](uint32_t node) {
        const uint32_t* edges = graph.edges + node * letters;
        bool bad = false;
        for (size_t g = 0; g < letters; g++) bad |= edges[g] >= nodes;
        if (bad) fail_edge();
        // Fetches what the search will come to soon: it waits for memory more than for
        // anything else.
        for (size_t g = 0; g < letters; g++) {
            const uint32_t* next = graph.edges + edges[g] * letters;
            __builtin_prefetch(low + edges[g]);
            __builtin_prefetch(next);
            __builtin_prefetch(next + letters - 1);
        }
        low[node] = ++clock;
        path.push_back({node, 0, clock});
    };
    for (size_t root = 0; root < nodes && !cancelled; root++) {
        if (low[root]) continue;
        enter(uint32_t(root));
        while (!path.empty() && !cancelled) {
            const auto [node, first, seen] = path.back();
            const uint32_t* edges = graph.edges + node * letters;
            uint32_t least = low[node], edge = first, reached;
            for (; edge < letters && (reached = low[edges[edge]]) != 0; edge++)
                least = std::min(least, reached);
            low[node] = least;
            if (edge < letters) {
                path.back().edge = edge;
                enter(edges[edge]);
                continue;
            }
            path.pop_back();
            if (least < seen) {
                open[opened++] = node;
                continue;
            }
            // This node is the first that was seen of its component, which is now
            // complete. All nodes seen since are in it, or in components that were
            // completed before, so that their times are free again.
            low[node] = name;
            for (; opened && low[open[opened - 1]] >= seen; opened--) low[open[opened - 1]] = name;
            name--;
            clock = seen - 1;
        }
    }
    if (cancelled) return;
    number(low, nodes, open.get(), nodes - name, [=](uint32_t each) { return nodes - each; });
}

void join(const uint32_t* a, const uint32_t* b, size_t count, uint32_t* classes,
          const volatile bool& cancelled) {
    const size_t size_a = bound_of(a, count), size_b = bound_of(b, count);
    const auto parent = numbers(size_a), met = numbers(size_b);  // met: a class of a
    for (size_t x = 0; x < size_a; x++) parent[x] = uint32_t(x);
    std::fill_n(met.get(), size_b, NONE);
    const auto root = [&](uint32_t x) {
        for (; parent[x] != x; x = parent[x]) parent[x] = parent[parent[x]];
        return x;
    };
    for (size_t i = 0; i < count && !cancelled; i++) {
        uint32_t& other = met[b[i]];
        if (other == NONE) other = a[i];
        if (other == a[i]) continue;
        const uint32_t x = root(a[i]), y = root(other);
        parent[std::max(x, y)] = std::min(x, y);
    }
    for (size_t i = 0; i < count && !cancelled; i++) classes[i] = root(a[i]);
    if (cancelled) return;
    number(classes, count, parent.get(), size_a, [](uint32_t each) { return each; });
}

void meet(const uint32_t* a, const uint32_t* b, size_t count, uint32_t* classes,
          const volatile bool& cancelled) {
    const size_t size_a = bound_of(a, count), size_b = bound_of(b, count);
    // The members by their classes of a, those of each class in order.
    const auto order = numbers(count), ends = numbers(size_a);
    std::fill_n(ends.get(), size_a, 0u);
    for (size_t i = 0; i < count && !cancelled; i++) ends[a[i]]++;
    if (cancelled) return;
    for (size_t x = 0, sum = 0; x < size_a; x++) ends[x] = uint32_t(sum += ends[x]);
    for (size_t i = count; i-- > 0 && !cancelled;) order[--ends[a[i]]] = uint32_t(i);
    // The class of a that each class of b has last met, and the first member that both have.
    const auto met = numbers(size_b), member = numbers(size_b);
    std::fill_n(met.get(), size_b, NONE);
    for (size_t k = 0; k < count; k++) {
        if (cancelled) return;
        const uint32_t i = order[k];
        if (met[b[i]] != a[i]) met[b[i]] = a[i], member[b[i]] = i;
        classes[i] = member[b[i]];
    }
    uint32_t found = 0;
    for (size_t i = 0; i < count && !cancelled; i++)
        classes[i] = classes[i] == i ? found++ : classes[classes[i]];
}

void idempotents(const Graph& right, const Words& words, const uint32_t* classes, size_t first,
                 size_t end, std::vector<uint32_t>& found, const volatile bool& cancelled) {
    Traces traces;
    for (; first < end && !cancelled; first += Traces::MOST) {
        const size_t count = traces.count = std::min(end - first, Traces::MOST);
        bool idempotent[Traces::MOST] = {};
        for (size_t k = 0; k < count; k++)
            traces.name[k] = traces.place[k] = traces.word[k] = uint32_t(first + k);
        if (first == 0) {
            idempotent[0] = true;
            traces.filter([](uint32_t, uint32_t, bool ended) { return !ended; });
        }
        while (traces.count && !cancelled) {
            traces.step(right, words);
            traces.filter([&](uint32_t e, uint32_t place, bool ended) {
                idempotent[e - first] |= ended & (place == e);
                return !ended & (!classes || classes[place] == classes[e]);
            });
        }
        for (size_t k = 0; k < count; k++)
            if (idempotent[k]) found.push_back(uint32_t(first + k));
    }
}

void trace(const Graph& graph, const Words& words, const uint32_t* start, const uint32_t* word,
           size_t count, uint32_t* result, const volatile bool& cancelled) {
    Traces traces;
    for (size_t done = 0; done < count && !cancelled; done += Traces::MOST) {
        traces.count = std::min(count - done, Traces::MOST);
        uint32_t* const results = result + done;
        for (size_t k = 0; k < traces.count; k++) {
            traces.name[k] = uint32_t(k);
            results[k] = traces.place[k] = start[done + k];
            traces.word[k] = word[done + k];
        }
        traces.filter([](uint32_t, uint32_t, bool ended) { return !ended; });
        while (traces.count && !cancelled) {
            traces.step(graph, words);
            traces.filter([&](uint32_t k, uint32_t place, bool ended) {
                results[k] = place;
                return !ended;
            });
        }
    }
}

void spell(const Words& words, const uint32_t* numbers, const std::int64_t* offsets, size_t count,
           uint32_t* letters, const volatile bool& cancelled) {
    constexpr size_t MOST = 64;  // at a time, as in Traces
    uint32_t word[MOST];
    uint32_t* place[MOST];
    uint32_t* end[MOST];
    for (size_t done = 0; done < count; done += MOST) {
        size_t left = std::min(count - done, MOST);
        for (size_t k = 0; k < left; k++) {
            word[k] = numbers[done + k];
            place[k] = letters + offsets[done + k];
            end[k] = letters + offsets[done + k + 1];
        }
        while (left && !cancelled) {
            size_t kept = 0;
            for (size_t k = 0; k < left; k++) {
                const uint32_t w = word[k];
                if ((w == 0) != (place[k] == end[k])) fail("a word is not of its level");
                if (w == 0) continue;
                const uint32_t rest = words.rest[w];
                if (rest >= w) fail("a word does not end");
                *place[k] = words.letter[w];
                word[kept] = rest;
                place[kept] = place[k] + 1;
                end[kept++] = end[k];
            }
            left = kept;
        }
    }
}

std::vector<uint64_t> rules(const Graph& right, const uint32_t* suffix,
                            const volatile bool& cancelled) {
    const size_t nodes = right.nodes, letters = right.letters;
    // Whether each edge is one of the tree: then it is the first that leads to its number,
    // and these numbers follow on each other.
    std::vector<uint64_t> tree(nodes * letters / 64 + 2);
    const auto bits = [&](size_t place) {
        const size_t i = place / 64, shift = place % 64;
        return tree[i] >> shift | tree[i + 1] << 1 << (63 - shift);
    };
    std::vector<uint64_t> found;
    uint32_t next = 1;
    for (size_t u = 0; u < nodes && !cancelled; u++) {
        if (u && suffix[u] >= u) fail("a word does not end");
        for (size_t g = 0; g < letters; g += 64) {
            const size_t count = std::min(letters - g, size_t(64)), place = u * letters + g;
            const uint32_t* edges = right.edges + place;
            uint64_t own = 0;
            bool bad = false;
            for (size_t k = 0; k < count; k++) {
                const bool is_new = edges[k] == next;
                own |= uint64_t(is_new) << k;
                next += is_new;
                bad |= edges[k] >= right.bound;
            }
            if (bad) fail_edge();
            tree[place / 64] |= own << place % 64;
            tree[place / 64 + 1] |= own >> 1 >> (63 - place % 64);
            const uint64_t all = ~uint64_t(0) >> (64 - count);
            uint64_t chosen = (u ? bits(suffix[u] * letters + g) : all) & all & ~own;
            for (; chosen; chosen &= chosen - 1)
                found.push_back(place + size_t(__builtin_ctzll(chosen)));
        }
    }
    return found;
}

}  // namespace semigroups

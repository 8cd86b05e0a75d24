// Circuits with the values of all their signals, and what fits a place in them.
#pragma once
#include <array>
#include <vector>

#include "search.hpp"

namespace circuits {

// Numbers that look random, the same in each run.
class Random {
public:
    explicit Random(u64 seed) : state_(88172645463325252ull + seed * 0x9E3779B97F4A7C15ull) {
        if (!state_) state_ = 1;
    }
    int below(int n) {
        state_ ^= state_ << 13, state_ ^= state_ >> 7, state_ ^= state_ << 17;
        return int((state_ >> 11) % u64(n));
    }

private:
    u64 state_;
};

Table lut3(int lut, const Table& a, const Table& b, const Table& c);

// A circuit with the value of each of its signals.
struct Net {
    std::vector<Table> value;
    Ops ops;
    int output = 0;

    Net();
    int size() const { return int(ops.size()); }
    int signals() const { return int(value.size()); }
    const Op& op(int signal) const { return ops[std::size_t(signal - INPUTS)]; }
    Op& op(int signal) { return ops[std::size_t(signal - INPUTS)]; }

    // Appends an operation; returns its signal.
    int add(int lut, int a, int b, int c);
    // Keeps what the output needs, operands first, and computes all values anew.
    void clean();
};

struct Triple {
    int a, b, c, lut;
};

// Finds the triples of signals of which a three-input operation has the value one at `on` and zero
// at `off`. Most triples are refused by a few pairs of squares, one of `on` and one of `off`: at
// least one of the three signals must tell them apart. What a triple that gets further cannot tell
// apart is one more such pair.
class Matcher {
public:
    explicit Matcher(Random& random) : random_(random) {}

    // Returns at most `most` triples of the signals in `from`.
    const std::vector<Triple>& triples(const std::vector<Table>& value, const std::vector<int>& from,
                                       const Table& on, const Table& off, std::size_t most);

private:
    void start(const Table& on, const Table& off);
    void add_pair(int p, int q);

    Random& random_;
    const std::vector<Table>* value_ = nullptr;
    const std::vector<int>* from_ = nullptr;
    std::vector<u64> apart_;  // of each signal, which of the last 64 pairs it tells apart
    u64 all_ = 0;
    int pairs_ = 0;
    std::vector<Triple> found_;
};

}  // namespace circuits

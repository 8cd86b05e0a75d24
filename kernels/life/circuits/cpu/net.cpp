#include "net.hpp"

#include <utility>

namespace circuits {

namespace {

std::array<Table, INPUTS> input_values() {
    std::array<Table, INPUTS> values{};
    for (int square = 0; square < 512; square++)
        for (int row = 0; row < 3; row++) {
            const int cells = square >> (6 - 3 * row) & 7;
            const int l = cells >> 2, c = cells >> 1 & 1, r = cells & 1;
            const int of_row[5] = {l, c, r, l ^ c ^ r, (l + c + r) >> 1};
            for (int k = 0; k < 5; k++)
                values[std::size_t(1 + 5 * row + k)].words[square >> 6] |= u64(of_row[k]) << (square & 63);
        }
    return values;
}

// The squares in which (a, b, c) has the value k, as a word of a table.
u64 part(int k, u64 a, u64 b, u64 c) { return (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c); }

// Returns the table of the operation on (a, b, c) that is one at `on` and zero at `off`, or -1 and
// two squares that it would have to tell apart.
int fit(const Table& on, const Table& off, const Table& a, const Table& b, const Table& c, int& p,
        int& q) {
    int lut = 0;
    for (int k = 0; k < 8; k++) {
        const Table cells = each_word([&](int i) { return part(k, a.words[i], b.words[i], c.words[i]); });
        const bool ones = (cells & on).any();
        if (ones && (cells & off).any()) {
            p = (cells & on).first(), q = (cells & off).first();
            return -1;
        }
        lut |= int(ones) << k;
    }
    return lut;
}

}  // namespace

int Table::first() const {
    for (int i = 0; i < 8; i++)
        if (words[i]) return 64 * i + __builtin_ctzll(words[i]);
    return -1;
}

Table lut3(int lut, const Table& a, const Table& b, const Table& c) {
    return each_word([&](int i) {
        u64 word = 0;
        for (int k = 0; k < 8; k++)
            if (lut >> k & 1) word |= part(k, a.words[i], b.words[i], c.words[i]);
        return word;
    });
}

Net::Net() {
    static const auto values = input_values();
    value.assign(values.begin(), values.end());
}

int Net::add(int lut, int a, int b, int c) {
    ops.push_back({lut & 255, {a, b, c}});
    value.push_back(lut3(lut, value[std::size_t(a)], value[std::size_t(b)], value[std::size_t(c)]));
    return signals() - 1;
}

void Net::clean() {
    std::vector<int> renamed(std::size_t(signals()), -1);
    for (int i = 0; i < INPUTS; i++) renamed[std::size_t(i)] = i;
    Net kept;
    std::vector<std::pair<int, int>> path{{output, 0}};  // signals, and their next operand
    while (!path.empty()) {
        auto& [signal, next] = path.back();
        if (renamed[std::size_t(signal)] >= 0) {
            path.pop_back();
        } else if (next < 3) {
            const int operand = op(signal).in[next++];
            if (renamed[std::size_t(operand)] < 0) path.emplace_back(operand, 0);
        } else {
            const Op& o = op(signal);
            auto now = [&](int k) { return renamed[std::size_t(o.in[k])]; };
            renamed[std::size_t(signal)] = kept.add(o.lut, now(0), now(1), now(2));
            path.pop_back();
        }
    }
    kept.output = renamed[std::size_t(output)];
    *this = std::move(kept);
}

void Matcher::add_pair(int p, int q) {
    const u64 bit = u64(1) << pairs_++ % 64;
    all_ |= bit;
    for (std::size_t i = 0; i < apart_.size(); i++) {
        const Table& value = (*value_)[std::size_t((*from_)[i])];
        apart_[i] = value.at(p) != value.at(q) ? apart_[i] | bit : apart_[i] & ~bit;
    }
}

// Pairs that differ in few cells are told apart by few signals, and so refuse most.
void Matcher::start(const Table& on, const Table& off) {
    std::vector<int> ones, zeros;
    for (int square = 0; square < 512; square++) {
        if (on.at(square)) ones.push_back(square);
        if (off.at(square)) zeros.push_back(square);
    }
    if (ones.empty() || zeros.empty()) return;
    for (int pair = 0; pair < 24; pair++) {
        const int p = ones[std::size_t(random_.below(int(ones.size())))];
        int best = -1, least = 10;
        for (int t = 0; t < 8; t++) {
            const int q = zeros[std::size_t(random_.below(int(zeros.size())))];
            const int different = __builtin_popcount(unsigned(p ^ q));
            if (different < least) least = different, best = q;
        }
        add_pair(p, best);
    }
}

const std::vector<Triple>& Matcher::triples(const std::vector<Table>& value,
                                            const std::vector<int>& from, const Table& on,
                                            const Table& off, std::size_t most) {
    found_.clear();
    value_ = &value, from_ = &from, all_ = 0, pairs_ = 0;
    const std::size_t n = from.size();
    apart_.assign(n, 0);
    start(on, off);
    auto table = [&](std::size_t i) -> const Table& { return value[std::size_t(from[i])]; };
    for (std::size_t i = 0; i < n; i++)
        for (std::size_t j = i + 1; j < n; j++) {
            u64 two = apart_[i] | apart_[j];
            for (std::size_t k = j + 1; k < n; k++) {
                if ((two | apart_[k]) != all_) continue;
                int p = 0, q = 0;
                const int lut = fit(on, off, table(i), table(j), table(k), p, q);
                if (lut < 0) {
                    add_pair(p, q);
                    two = apart_[i] | apart_[j];
                    continue;
                }
                found_.push_back({from[i], from[j], from[k], lut});
                if (found_.size() >= most) return found_;
            }
        }
    return found_;
}

}  // namespace circuits

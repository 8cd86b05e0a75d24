#include "census.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace hashlife {

std::uint64_t Census::small(Id id) {
    if (is_leaf(id)) {
        std::uint64_t count = 0;
        for (int r = 0; r < LEAF_ROWS; r++) count += std::uint64_t(__builtin_popcount(tree_.rows(id)[r]));
        return count;
    }
    if (tree_.is_empty(id)) return 0;
    if (const std::uint64_t known = small_[id]) return known - 1;
    tree_.look();
    std::uint64_t count = 0;
    for (int i = 0; i < 4; i++) count += small(tree_.children(id)[i]);
    small_[id] = count + 1;
    return count;
}

Count Census::population(Id id) {
    Count count{};
    if (tree_.is_empty(id)) return count;
    if (tree_.level(id) <= SMALL) {
        count[0] = small(id);
        return count;
    }
    if (const Count* known = large_.get(id)) return *known;
    tree_.look();
    for (int i = 0; i < 4; i++) {
        const Count part = population(tree_.children(id)[i]);
        unsigned __int128 carry = 0;
        for (std::size_t j = 0; j < count.size(); j++) {
            carry += static_cast<unsigned __int128>(count[j]) + part[j];
            count[j] = std::uint64_t(carry);
            carry >>= 64;
        }
    }
    large_.put(id, count);
    return count;
}

double Census::about(Id id) {
    const Count count = population(id);
    double sum = 0;
    for (std::size_t j = count.size(); j-- > 0;) sum = std::ldexp(sum, 64) + double(count[j]);
    return sum;
}

namespace {

// The children on a side, and those opposite.
constexpr int NEAR[4][2] = {{0, 2}, {1, 3}, {0, 1}, {2, 3}};
constexpr int FAR[4][2] = {{1, 3}, {0, 2}, {2, 3}, {0, 1}};

void add_children(Tree& tree, const std::vector<Id>& from, const int (&which)[2],
                  std::vector<Id>& to) {
    to.clear();
    for (Id id : from) {
        tree.look();
        for (int i : which) {
            const Id child = tree.children(id)[i];
            if (!tree.is_empty(child)) to.push_back(child);
        }
    }
    std::sort(to.begin(), to.end());
    to.erase(std::unique(to.begin(), to.end()), to.end());
}

}  // namespace

std::vector<std::uint8_t> distance_bits(Tree& tree, Side side) {
    const int s = int(side);
    std::vector<std::uint8_t> bits;
    std::vector<Id> front = {tree.root()}, next;
    for (int level = tree.root_level(); level > LEAF_LEVEL; level--) {
        add_children(tree, front, NEAR[s], next);
        const bool far = next.empty();
        if (far) add_children(tree, front, FAR[s], next);
        bits.push_back(far);
        front.swap(next);
    }
    int least = LEAF_ROWS;
    for (Id id : front) {
        const std::uint32_t* rows = tree.rows(id);
        std::uint32_t columns = 0, used = 0;  // which columns, and which rows, hold live cells
        for (int r = 0; r < LEAF_ROWS; r++) columns |= rows[r], used |= std::uint32_t(rows[r] != 0) << r;
        const std::uint32_t line = side == Side::west || side == Side::east ? columns : used;
        const bool low = side == Side::west || side == Side::north;
        least = std::min(least, low ? __builtin_ctz(line) : __builtin_clz(line));
    }
    for (int b = LEAF_LEVEL; b-- > 0;) bits.push_back(std::uint8_t(least >> b & 1));
    return bits;
}

namespace {

class Lister {
public:
    explicit Lister(Tree& tree) : tree_(tree), numbers_(tree) {}
    Listing list() {
        find_leaves(tree_.root());
        add(tree_.root());
        return std::move(listing_);
    }

private:
    void find_leaves(Id id) {
        if (tree_.is_empty(id) || numbers_[id]) return;
        tree_.look();
        if (!is_leaf(id)) {
            numbers_[id] = SEEN;
            for (int i = 0; i < 4; i++) find_leaves(tree_.children(id)[i]);
            return;
        }
        listing_.leaves.push_back(id);
        numbers_[id] = std::uint32_t(listing_.leaves.size());
    }
    std::uint32_t add(Id id) {
        if (tree_.is_empty(id)) return 0;
        if (const std::uint32_t number = numbers_[id]; number != SEEN) return number;
        tree_.look();
        std::array<std::uint32_t, 4> four{};
        for (int i = 0; i < 4; i++) four[std::size_t(i)] = add(tree_.children(id)[i]);
        listing_.four.push_back(four);
        listing_.levels.push_back(std::uint8_t(tree_.level(id)));
        const auto number = std::uint32_t(listing_.leaves.size() + listing_.four.size());
        numbers_[id] = number;
        return number;
    }

    static constexpr std::uint32_t SEEN = ~std::uint32_t(0);
    Tree& tree_;
    Listing listing_;
    BySquare<std::uint32_t> numbers_;  // 0: not seen
};

}  // namespace

Listing list(Tree& tree) { return Lister(tree).list(); }

}  // namespace hashlife

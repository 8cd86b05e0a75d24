// First circuits are grown by decisions: a signal is chosen by whose value the function falls into
// two that come nearest to three-input operations, and so on. Then operations are replaced, one
// at a time, by others that need no more beside them, in whatever differs from them only where
// the output does not notice; that leads to smaller circuits sooner or later.
#include "search.hpp"

#include <algorithm>
#include <utility>

#include "net.hpp"

namespace circuits {

namespace {

constexpr int FIRST = 8, ROUNDS = 4;  // circuits at first; after each round the better half is left
constexpr std::size_t MOST_TRIPLES = 400;  // among which a move chooses

class Grower {
public:
    Grower(std::uint32_t inputs, u64 seed) : random_(seed) {
        for (int i = 0; i < INPUTS; i++)
            if (i == 0 || inputs >> i & 1) pool_.push_back(i);
        deciding_.assign(pool_.begin() + 1, pool_.end());
        auto offer = [&](int lut, int a, int b, int c) {
            for (int s : {a, b, c})
                if (s && !(inputs >> s & 1)) return;
            deciding_.push_back(net.add(lut, a, b, c));
            pool_.push_back(deciding_.back());
        };
        // Sums of all nine cells, and of those above and below, and beside the middle.
        offer(0x96, x(0), x(2), x(1)), offer(0xE8, x(0), x(2), x(1));
        offer(0x96, m(0), m(2), m(1)), offer(0xE8, m(0), m(2), m(1));
        offer(0x66, 0, cell(1, 0), cell(1, 2)), offer(0x88, 0, cell(1, 0), cell(1, 2));
        offer(0x66, 0, cell(0, 1), cell(2, 1)), offer(0x88, 0, cell(0, 1), cell(2, 1));
    }

    // Makes the output of the circuit the function; returns whether that can be done.
    bool grow(const Table& function) {
        net.output = grow(function, ~Table{});
        if (net.output < 0) return false;
        net.clean();
        return true;
    }

    Net net;

private:
    static int cell(int row, int k) { return 1 + 5 * row + k; }
    static int x(int row) { return cell(row, 3); }
    static int m(int row) { return cell(row, 4); }

    const Table& value(int signal) const { return net.value[std::size_t(signal)]; }

    // Returns in how many squares the best operation on two deciding signals errs.
    int errors(const Table& on, const Table& off) const {
        int best = std::min(on.count(), off.count());
        for (std::size_t i = 0; i < deciding_.size() && best; i++) {
            const Table& a = value(deciding_[i]);
            const Table ones[2] = {on & ~a, on & a}, zeros[2] = {off & ~a, off & a};
            const int one[2] = {ones[0].count(), ones[1].count()};
            const int zero[2] = {zeros[0].count(), zeros[1].count()};
            for (std::size_t j = i + 1; j < deciding_.size(); j++) {
                const Table& b = value(deciding_[j]);
                int wrong = 0;
                for (int k = 0; k < 2; k++) {
                    const int there = (ones[k] & b).count(), not_there = (zeros[k] & b).count();
                    wrong += std::min(there, not_there) + std::min(one[k] - there, zero[k] - not_there);
                }
                best = std::min(best, wrong);
            }
        }
        return best;
    }

    int added(int lut, int a, int b, int c) {
        pool_.push_back(net.add(lut, a, b, c));
        return pool_.back();
    }

    // Returns a signal that is the function wherever `care` is one, or -1 where none can be.
    int grow(const Table& function, const Table& care) {
        const Table on = function & care, off = ~function & care;
        if (!off.any()) return on.any() ? added(255, 0, 0, 0) : 0;
        for (int signal : pool_)
            if (!((value(signal) ^ function) & care).any()) return signal;
        const auto& found = matcher_.triples(net.value, pool_, on, off, 1);
        if (!found.empty()) return added(found[0].lut, found[0].a, found[0].b, found[0].c);
        int least = -1, split = -1;
        for (int signal : deciding_) {
            const Table& v = value(signal);
            if (!(care & v).any() || !(care & ~v).any()) continue;
            // Where signals do equally well, chance decides.
            const int cost =
                4 * (errors(on & v, off & v) + errors(on & ~v, off & ~v)) + random_.below(4);
            if (split < 0 || cost < least) least = cost, split = signal;
        }
        if (split < 0) return -1;
        const Table v = value(split);
        const int there = grow(function, care & v);
        const int elsewhere = there < 0 ? -1 : grow(function, care & ~v);
        return elsewhere < 0 ? -1 : added(0xCA, split, there, elsewhere);
    }

    Random random_;
    Matcher matcher_{random_};
    std::vector<int> pool_, deciding_;
};

class Improver {
public:
    Improver(Net& net, std::uint32_t inputs, u64 seed) : net(net), inputs_(inputs), random_(seed) {}

    void run(int moves) {
        for (int i = 0; i < moves && net.size() > 1; i++) visit(INPUTS + random_.below(net.size()));
    }

private:
    // Marks what depends on a signal, and returns the squares in which the output does.
    Table cares_for(int signal) {
        depends_.assign(std::size_t(net.signals()), false);
        flipped_ = net.value;
        auto flipped = [&](int s) -> Table& { return flipped_[std::size_t(s)]; };
        depends_[std::size_t(signal)] = true;
        flipped(signal) = ~flipped(signal);
        for (int s = signal + 1; s < net.signals(); s++) {
            const auto& [lut, in] = net.op(s);
            if (!depends_[std::size_t(in[0])] && !depends_[std::size_t(in[1])] &&
                !depends_[std::size_t(in[2])])
                continue;
            depends_[std::size_t(s)] = true;
            flipped(s) = lut3(lut, flipped(in[0]), flipped(in[1]), flipped(in[2]));
        }
        return flipped(net.output) ^ net.value[std::size_t(net.output)];
    }

    // Has all operations take another signal, or its opposite, in place of one.
    void substitute(int signal, int other, bool opposite) {
        for (auto& op : net.ops)
            for (int k = 0; k < 3; k++) {
                if (op.in[k] != signal) continue;
                op.in[k] = other;
                if (!opposite) continue;
                int lut = 0;
                for (int i = 0; i < 8; i++) lut |= (op.lut >> (i ^ 4 >> k) & 1) << i;
                op.lut = lut;
            }
        net.clean();
    }

    // Drops a use of a signal; returns the number of operations that nothing uses any more.
    int release(int signal) {
        if (--uses_[std::size_t(signal)] || signal < INPUTS) return 0;
        int freed = 1;
        for (int operand : net.op(signal).in) freed += release(operand);
        return freed;
    }
    int take(int signal) {  // the reverse
        if (uses_[std::size_t(signal)]++ || signal < INPUTS) return 0;
        int taken = 1;
        for (int operand : net.op(signal).in) taken += take(operand);
        return taken;
    }

    // Replaces an operation where that costs nothing.
    void visit(int signal) {
        const Table care = cares_for(signal);
        const Table function = net.value[std::size_t(signal)];
        const Table on = function & care, off = ~function & care;
        std::vector<int> others;
        for (int s = 0; s < net.signals(); s++) {
            const bool allowed = s == 0 || s >= INPUTS || (inputs_ >> s & 1);
            if (allowed && !depends_[std::size_t(s)]) others.push_back(s);
        }
        if (signal != net.output)
            for (int s : others) {
                const Table different = (net.value[std::size_t(s)] ^ function) & care;
                const bool opposite = !(different ^ care).any();
                if (opposite || !different.any()) return substitute(signal, s, opposite);
            }
        if (!on.any() || !off.any()) return;
        // Which triples are found first is to be chance.
        for (std::size_t i = others.size(); i > 1; i--)
            std::swap(others[i - 1], others[std::size_t(random_.below(int(i)))]);
        choose(signal, matcher_.triples(net.value, others, on, off, MOST_TRIPLES));
    }

    // Replaces an operation by that of the triples which needs least beside it.
    void choose(int signal, const std::vector<Triple>& triples) {
        uses_.assign(std::size_t(net.signals()), 0);
        for (const auto& op : net.ops)
            for (int operand : op.in) uses_[std::size_t(operand)]++;
        uses_[std::size_t(net.output)]++;
        int least = 0;
        for (int operand : net.op(signal).in) least += release(operand);
        std::vector<const Triple*> best;
        for (const Triple& t : triples) {
            const int cost = take(t.a) + take(t.b) + take(t.c);
            release(t.a), release(t.b), release(t.c);
            if (cost < least) least = cost, best.clear();
            if (cost == least) best.push_back(&t);
        }
        if (best.empty()) return;
        const Triple& t = *best[std::size_t(random_.below(int(best.size())))];
        net.op(signal) = {t.lut, {t.a, t.b, t.c}};
        net.clean();
    }

    Net& net;
    std::uint32_t inputs_;
    Random random_;
    Matcher matcher_{random_};
    std::vector<bool> depends_;
    std::vector<Table> flipped_;
    std::vector<int> uses_;
};

}  // namespace

Ops search(const Table& function, std::uint32_t inputs, int moves, u64 seed) {
    std::vector<Net> nets;
    for (int i = 0; i < FIRST; i++) {
        Grower grower(inputs, seed * FIRST + u64(i));
        if (!grower.grow(function)) return {};
        Net& net = nets.emplace_back(std::move(grower.net));
        if (net.output < INPUTS) net.output = net.add(0xF0, net.output, 0, 0);
    }
    auto smaller = [](const Net& a, const Net& b) { return a.size() < b.size(); };
    for (int left = FIRST; left; left /= 2) {
        std::stable_sort(nets.begin(), nets.end(), smaller);
        nets.resize(std::size_t(left));
        for (Net& net : nets) Improver(net, inputs, seed + u64(left)).run(moves / (ROUNDS * left));
    }
    nets[0].clean();
    return nets[0].ops;
}

}  // namespace circuits

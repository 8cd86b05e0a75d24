// Windows of a universe that settles, on one CPU level. Compiled once per level, with LEVEL its name and
// VECTOR its register type (bits.hpp); nothing of the standard library may be instantiated here, or the
// linker could hand AVX-512 code to a machine without it.
#include "../../cpu/circuit_square.hpp"
#include "../../cpu/rules.hpp"
#include "band.hpp"
#include "window.hpp"

// What this level calls `name`.
#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)
#define NAMED(name) JOIN(name, LEVEL)
extern const LifeOps NAMED(life);

namespace {

using settling::Round;
using V = VECTOR;

constexpr int INNER = BLOCKS * STEPS;  // cells of a window that are right
constexpr u64 INNER_COLUMNS = (~u64(0) >> (64 - INNER)) << STEPS;

// The first `count` bits of a word.
BITS_FN u64 low_bits(i64 count) { return count ? ~u64(0) >> (64 - count) : 0; }

void copy_edges(const Shape& shape, u64* field, i64 left, i64 right, i64 first, i64 last) {
    const i64 columns = shape.columns(), height = shape.height;
    const int rest = int(shape.width & 63);
    const auto word = [&](i64 column) { return field + shape.at(column, 0); };
    if (left <= 0) {
        // The first 64 cells of a row follow its last.
        const u64* const from = word(0);
        u64 *const end = word(columns - 1), *const beyond = word(columns);
        for (i64 y = first; y < last; y++) {
            if (rest) end[y] = (end[y] & low_bits(rest)) | from[y] << rest;
            beyond[y] = rest ? from[y] >> (64 - rest) : from[y];
        }
    }
    if (right >= columns - 2) {
        u64* const before = word(-1);
        const u64 *const end = word(columns - 1), *const near = word(columns - 2);
        for (i64 y = first; y < last; y++)
            before[y] = rest ? near[y] >> rest | (end[y] & low_bits(rest)) << (64 - rest) : end[y];
    }
    const bool is_first = left <= 0, is_last = right >= columns - 2;
    const auto rows = [&](i64 begin, i64 end, i64 by) {
        if (begin >= end) return;
        const auto copy = [&](i64 column) {
            __builtin_memcpy(word(column) + begin + by, word(column) + begin, std::size_t(end - begin) * 8);
        };
        for (i64 column = left < 0 ? 0 : left; column <= right && column < columns; column++) copy(column);
        if (is_last) copy(-1);
        if (is_first && right < columns - 1) copy(columns - 1);
        if (is_first || right >= columns) copy(columns);
    };
    rows(first, last < Shape::BELOW ? last : Shape::BELOW, height);
    rows(first > height - Shape::ABOVE ? first : height - Shape::ABOVE, last, -height);
}

// The top-left cell of a window.
BITS_FN i64 left_of(const Place& place) { return (place.column - 1) * STEPS; }
BITS_FN i64 top_of(const Place& place) { return (place.row - 1) * STEPS; }

// Moves a window on by a generation.
template <int ROWS, class Rule>
BITS_FN void advance(const Rule& rule, Window<V, ROWS>& window) {
    advance_rows<V, Window<V, ROWS>::COUNT>(rule, window.rows);
}
template <int ROWS>
BITS_FN void advance(const CircuitSquare<V, Window<V, ROWS>::COUNT>& square, Window<V, ROWS>& window) {
    square.advance(window.rows);
}

constexpr int TOGETHER = 8;

// Some windows of a round, of so many rows.
template <int ROWS>
struct Windows {
    const Round& round;
    const Place* places;
    Changes* changes;
    const std::size_t* which;
    int count;

    using Own = Window<V, ROWS>;
    using Moves = ::Moves<V, ROWS>;

    // Computes them together: all are loaded, then computed, then stored, so that what one waits for does
    // not hold up the others.
    template <class Rule>
    void run(const Rule& rule) const {
        Own windows[TOGETHER];
        for (int i = 0; i < count; i++) Moves::load(windows[i], span(place(i), round.from));
        for (int i = 0; i < count; i++) {
            const bool cut = !round.shape.torus && !is_inside(place(i));
            Own window = windows[i];
            for (int g = 0; g < STEPS; g++) {
                advance<ROWS>(rule, window);
                if (cut) keep_inside(window, place(i));
            }
            windows[i] = window;
        }
        for (int i = 0; i < count; i++) finish(windows[i], place(i), changes[which[i]]);
    }

    BITS_FN const Place& place(int i) const { return places[which[i]]; }

    bool is_inside(const Place& place) const {
        return left_of(place) >= 0 && top_of(place) >= 0 && left_of(place) + 64 <= round.shape.width &&
               top_of(place) + ROWS <= round.shape.height;
    }

    // Where the cells of a window stand in a field. What is read is not written.
    BITS_FN Span span(const Place& place, const u64* field) const {
        u64* const left = const_cast<u64*>(field) + round.shape.at(left_of(place) >> 6, top_of(place));
        return {left, left + round.shape.pitch(), int(left_of(place) & 63)};
    }

    // Those of 64 columns, or rows, from one on that are in the universe.
    static u64 inside(i64 from, i64 size) {
        u64 all = ~u64(0);
        if (from < 0) all <<= -from;
        if (from + 64 > size) all &= ~u64(0) >> (from + 64 - size);
        return all;
    }

    // Takes away what is beyond the edges of a plane.
    void keep_inside(Own& window, const Place& place) const {
        const u64 columns = inside(left_of(place), round.shape.width), rows = inside(top_of(place), round.shape.height);
        u64 words[ROWS];
        __builtin_memcpy(words, window.rows, sizeof words);
        for (int r = 0; r < ROWS; r++) words[Own::at(r)] &= rows >> r & 1 ? columns : 0;
        __builtin_memcpy(window.rows, words, sizeof words);
    }

    // Writes the cells of a window, and notes in which blocks they are other than before.
    BITS_FN void finish(const Own& window, const Place& place, Changes& found) const {
        const Inner inner{INNER_COLUMNS & inside(left_of(place), round.shape.width),
                          low_bits(STEPS * place.rows) << STEPS & inside(top_of(place), round.shape.height)};
        Moves::write(window, span(place, round.to), inner, found);
        if (found.any && round.shape.torus) renew_edges(place);
    }

    // Copies what it has written to where it is found beyond the edges.
    BITS_FN void renew_edges(const Place& place) const {
        const Shape& shape = round.shape;
        const i64 left = left_of(place) >> 6, right = left + 1, first = STEPS * place.row;
        const i64 end = first + STEPS * place.rows, last = end < shape.height ? end : shape.height;
        if (left < 1 || right >= shape.columns() - 2 || first < Shape::BELOW || last > shape.height - Shape::ABOVE)
            copy_edges(shape, round.to, left, right, first, last);
    }
};

// Windows of one height that wait: the first are computed when the lines of those behind them are on their
// way into cache.
template <int ROWS>
struct Waiting {
    const Round& round;
    const Place* places;
    Changes* changes;
    void* memory;  // of circuits
    std::size_t which[2 * TOGETHER];
    int count = 0;

    BITS_FN void add(std::size_t i) {
        fetch(places[i]);
        which[count++] = i;
        if (count < 2 * TOGETHER) return;
        run(TOGETHER);
        __builtin_memcpy(which, which + TOGETHER, sizeof which / 2);
        count = TOGETHER;
    }
    void finish() {
        for (int i = 0; i < count; i += TOGETHER) run(count - i < TOGETHER ? count - i : TOGETHER, i);
    }

private:
    using Square = CircuitSquare<V, Window<V, ROWS>::COUNT>;

    void run(int some, int from = 0) const {
        const Windows<ROWS> windows{round, places, changes, which + from, some};
        const NineCellRule& rule = round.rule;
        if (memory) windows.run(Square(rule.circuit, NAMED(life), memory));
        else with_rule<V>(rule.birth, rule.survival, windows);
    }

    // Has what a window reads come into cache.
    BITS_FN void fetch(const Place& place) const {
        const i64 at = round.shape.at(left_of(place) >> 6, top_of(place)), pitch = round.shape.pitch();
        const u64* const fields[2] = {round.from, round.to};
        for (const u64* const field : fields)
            for (int r = 0; r <= ROWS; r += 8)
                __builtin_prefetch(field + at + r), __builtin_prefetch(field + at + pitch + r);
    }
};

void visit(const Round& round, const Place* places, std::size_t count, Changes* changes) {
    const LifeCircuit& circuit = round.rule.circuit;
    void* const memory = round.rule.has_circuit()
                             ? __builtin_alloca_with_align(CircuitSquare<V>::bytes(circuit), 8 * sizeof(V))
                             : nullptr;
    Waiting<64> high{round, places, changes, memory, {}};
    Waiting<32> low{round, places, changes, memory, {}};
    for (std::size_t i = 0; i < count; i++)
        if (places[i].rows > LOW) high.add(i);
        else low.add(i);
    high.finish();
    low.finish();
}

}  // namespace

extern const settling::Ops NAMED(settling);
const settling::Ops NAMED(settling) = {sizeof(V), take_all, take, visit, copy_edges};

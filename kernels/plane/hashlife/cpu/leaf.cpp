// The step of leaves, compiled once per CPU level. A row of 64 cells is a 64-bit lane of a vector;
// what lies outside is wrong from the first generation on, by a row and a column more in each of
// them, and never reaches the middle.
#include "leaf.hpp"

#include "../../../life/circuit.hpp"
#include "../../../life/cpu/life.hpp"
#include "../../../life/cpu/circuit_square.hpp"

// What this level calls `name`.
#define NAMED2(name, level) name##_##level
#define NAMED1(name, level) NAMED2(name, level)
#define NAMED(name) NAMED1(name, LEVEL)
extern const LifeOps NAMED(life);

namespace {

typedef u64 w128 __attribute__((vector_size(16)));
typedef u64 w256 __attribute__((vector_size(32)));
typedef u64 w512 __attribute__((vector_size(64)));

template <class V> struct WideOf;
template <> struct WideOf<v128> { using type = w128; };
template <> struct WideOf<v256> { using type = w256; };
template <> struct WideOf<v512> { using type = w512; };

using V = VECTOR;               // the type that logic is defined on
using Wide = WideOf<V>::type;   // the same register as lanes of 64 bits
constexpr int LANES = int(sizeof(V) / 8);
constexpr int COUNT = 64 / LANES;  // vectors of a square

#if defined(__clang__)
#define PICK(W, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define PICK(W, ...) __builtin_shuffle(a, b, W{__VA_ARGS__})
#endif
// The lanes of the pair (a, b) from the last of a on, and from the second of a on.
BITS_FN w128 last_on(w128 a, w128 b) { return PICK(w128, 1, 2); }
BITS_FN w128 second_on(w128 a, w128 b) { return PICK(w128, 1, 2); }
BITS_FN w256 last_on(w256 a, w256 b) { return PICK(w256, 3, 4, 5, 6); }
BITS_FN w256 second_on(w256 a, w256 b) { return PICK(w256, 1, 2, 3, 4); }
BITS_FN w512 last_on(w512 a, w512 b) { return PICK(w512, 7, 8, 9, 10, 11, 12, 13, 14); }
BITS_FN w512 second_on(w512 a, w512 b) { return PICK(w512, 1, 2, 3, 4, 5, 6, 7, 8); }
#undef PICK

// The rows one above those of `at`, and one below.
BITS_FN V rows_above(V before, V at) { return (V)last_on((Wide)before, (Wide)at); }
BITS_FN V rows_below(V at, V after) { return (V)second_on((Wide)at, (Wide)after); }

// One generation of the vectors FIRST to COUNT - 1 - FIRST.
template <int FIRST, class Rule>
BITS_FN void generation(V* rows, const Rule& rule) {
    constexpr int LAST = COUNT - 1 - FIRST;
    RowState<V> state[COUNT];
#pragma GCC unroll 64
    for (int i = FIRST; i <= LAST; i++) {
        const Wide w = (Wide)rows[i];
        state[i] = row_state((V)(w << 1), rows[i], (V)(w >> 1));
    }
#pragma GCC unroll 64
    for (int i = FIRST; i <= LAST; i++) {
        const RowState<V>&before = state[i > FIRST ? i - 1 : LAST], &at = state[i];
        const RowState<V>& after = state[i < LAST ? i + 1 : FIRST];
        RowState<V> top = at, low = at;
        top.x = rows_above(before.x, at.x), top.m = rows_above(before.m, at.m);
        low.x = rows_below(at.x, after.x), low.m = rows_below(at.m, after.m);
        rows[i] = rule(top, at, low);
    }
}

template <class Rule>
void steps(V* rows, int generations, const Rule& rule) {
    // Eight rows at either end are of no use once there are at most eight generations to go.
    for (; generations > 8; generations--) generation<0>(rows, rule);
    for (; generations > 0; generations--) generation<COUNT / 8>(rows, rule);
}

BITS_FN V ones(bool set) { return V{} - u32(set); }

// The rows of four leaves, west and east side by side. place(r): where row r goes.
template <class Place>
BITS_FN void join_rows(const std::uint32_t* const four[4], u64* to, Place place) {
    for (int half = 0; half < 2; half++) {
        const std::uint32_t *left = four[2 * half], *right = four[2 * half + 1];
        for (int r = 0; r < 32; r++) to[place(32 * half + r)] = left[r] | u64(right[r]) << 32;
    }
}

void by_circuit(const std::uint32_t* const four[4], int generations, const LifeCircuit& circuit, std::uint32_t* out) {
    using Square = CircuitSquare<V>;
    alignas(64) u64 wide[64];
    V rows[COUNT];
    join_rows(four, wide, Lanes<V>::at);
    __builtin_memcpy(rows, wide, sizeof rows);
    const Square square(circuit, NAMED(life), __builtin_alloca_with_align(Square::bytes(circuit), 8 * sizeof(V)));
    for (; generations > 0; generations--) square.advance(rows);
    __builtin_memcpy(wide, rows, sizeof rows);
    for (int r = 0; r < 32; r++) out[r] = std::uint32_t(wide[Lanes<V>::at(16 + r)] >> 16);
}

void advance(const std::uint32_t* const four[4], int generations, const NineCellRule& rule, std::uint32_t* out) {
    if (rule.has_circuit()) return by_circuit(four, generations, rule.circuit, out);
    alignas(64) u64 wide[64];
    join_rows(four, wide, [](int r) { return r; });
    V rows[COUNT];
    for (int i = 0; i < COUNT; i++) rows[i] = reinterpret_cast<const V*>(wide)[i];
    if (rule.birth == 1 << 3 && rule.survival == (1 << 2 | 1 << 3)) {
        steps(rows, generations, Conway());
    } else {
        DynamicRule<V> counts;
        for (int n = 0; n < 9; n++) {
            counts.born[n] = ones(rule.birth >> n & 1);
            counts.kept[n] = ones(rule.survival >> n & 1);
        }
        steps(rows, generations, counts);
    }
    for (int i = 0; i < COUNT; i++) reinterpret_cast<V*>(wide)[i] = rows[i];
    for (int r = 0; r < 32; r++) out[r] = std::uint32_t(wide[16 + r] >> 16);
}

}  // namespace

extern const hashlife::LeafOps NAMED(hashlife_leaf);
const hashlife::LeafOps NAMED(hashlife_leaf) = {int(sizeof(V)), advance};

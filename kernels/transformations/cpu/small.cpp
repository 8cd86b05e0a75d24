// Small semigroups on one CPU level. Compiled once per level, with LEVEL its name. Nothing of the
// standard library may be instantiated here, see enumerate.cpp.
#include "small.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace {

using u8 = std::uint8_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using std::size_t;

// A row of PIECES times 16 bytes.
template <int PIECES>
struct Row {
#if defined(__x86_64__)
    __m128i piece[PIECES];

    static Row at(const u8* from) {
        Row row;
        for (int i = 0; i < PIECES; i++)
            row.piece[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from) + i);
        return row;
    }
    void put(u8* to) const {
        for (int i = 0; i < PIECES; i++)
            _mm_storeu_si128(reinterpret_cast<__m128i*>(to) + i, piece[i]);
    }
    // Returns the row that sends i to g[x[i]].
    static Row product(const Row& x, const Row& g) {
        Row y;
        if constexpr (PIECES > 4) {
            // Shuffles would be more than there are points.
            u8 images[16 * PIECES], points[16 * PIECES];
            g.put(images), x.put(points);
            for (u8& point : points) point = images[point];
            y = at(points);
        } else if constexpr (PIECES == 1) {
            y.piece[0] = _mm_shuffle_epi8(g.piece[0], x.piece[0]);
        } else {
            const __m128i saturate = _mm_set1_epi8(0x70);
            for (int i = 0; i < PIECES; i++) {
                y.piece[i] = _mm_setzero_si128();
                // Of points that another piece of g has, the shuffle makes 0: their number there
                // is 128 or more.
                for (int k = 0; k < PIECES; k++) {
                    const __m128i from_here = _mm_sub_epi8(x.piece[i], _mm_set1_epi8(char(16 * k)));
                    const __m128i places = _mm_adds_epu8(from_here, saturate);
                    y.piece[i] = _mm_or_si128(y.piece[i], _mm_shuffle_epi8(g.piece[k], places));
                }
            }
        }
        return y;
    }
    bool operator==(const Row& other) const {
        __m128i same = _mm_cmpeq_epi8(piece[0], other.piece[0]);
        for (int i = 1; i < PIECES; i++)
            same = _mm_and_si128(same, _mm_cmpeq_epi8(piece[i], other.piece[i]));
        return _mm_movemask_epi8(same) == 0xFFFF;
    }
#else
    u8 piece[PIECES][16];

    static Row at(const u8* from) {
        Row row;
        __builtin_memcpy(row.piece, from, sizeof row.piece);
        return row;
    }
    void put(u8* to) const { __builtin_memcpy(to, piece, sizeof piece); }
    static Row product(const Row& x, const Row& g) {
        Row y;
        const u8 *const images = &g.piece[0][0], *const points = &x.piece[0][0];
        for (int i = 0; i < 16 * PIECES; i++) (&y.piece[0][0])[i] = images[points[i]];
        return y;
    }
    bool operator==(const Row& other) const {
        return __builtin_memcmp(piece, other.piece, sizeof piece) == 0;
    }
#endif

    u64 hash() const {
        u64 result = 0;
        for (int i = 0; i < PIECES; i++) {
            u64 halves[2];
            __builtin_memcpy(halves, &piece[i], 16);
            const auto product = static_cast<unsigned __int128>(halves[0] ^ 0xA0761D6478BD642F ^ result) *
                                 (halves[1] ^ 0xE7037ED1A0B428DB);
            result = u64(product) ^ u64(product >> 64);
        }
        return result;
    }
};

// Sets the images of a row: those given, then points that stay where they are.
void pad(const u8* images, u32 degree, u8* row) {
    const u32 stride = u32(small_stride(degree));
    for (u32 i = 0; i < degree; i++) row[i] = images[i];
    for (u32 i = degree; i < stride; i++) row[i] = u8(i);
}

// Finds numbers by their rows: open addressing, in as many of the slots as are needed so far.
template <int PIECES>
class Finder {
    using R = Row<PIECES>;

public:
    // begin: the first number that is an element.
    Finder(const SmallSpace& space, u32 begin) : space(space), begin(begin) {
        fill(small_slots(space.size), space.size);
    }

    // Returns the number of a row, or NONE and the slot where it is to be put.
    u32 find(const R& row, u32& slot) const {
        for (slot = u32(row.hash()) & mask; const u32 entry = space.slots[slot];
             slot = (slot + 1) & mask)
            if (R::at(space.rows + size_t(entry - 1) * sizeof(R)) == row) return entry - 1;
        return NONE;
    }
    // Puts the next number, whose row is there, into the slot that find() gave.
    void put(u32 slot, u32 number) {
        space.slots[slot] = number + 1;
        if (number > mask / 2) fill(4 * (mask + 1), number + 1);
    }
    static constexpr u32 NONE = 0xFFFFFFFF;

private:
    // Begins anew with so many slots, and the numbers before `end`.
    void fill(u32 count, u32 end) {
        const u32 most = small_slots(space.most);
        mask = (count < most ? count : most) - 1;
        __builtin_memset(space.slots, 0, (mask + 1) * size_t(4));
        for (u32 e = begin; e < end; e++) {
            u32 slot;
            find(R::at(space.rows + size_t(e) * sizeof(R)), slot);
            space.slots[slot] = e + 1;
        }
    }

    const SmallSpace& space;
    const u32 begin;
    u32 mask;
};

// Begins with the empty word.
template <int PIECES>
void begin_rows(const SmallProblem& p, SmallSpace& space) {
    constexpr size_t STRIDE = 16 * PIECES;
    constexpr u32 NONE = Finder<PIECES>::NONE;
    for (u32 g = 0; g < p.letters; g++)
        pad(p.generators + size_t(g) * p.degree, p.degree, space.generators + g * STRIDE);
    for (u32 i = 0; i < STRIDE; i++) space.rows[i] = u8(i);
    space.graph.begin[0] = space.graph.end[0] = {NONE, NONE};
    space.starts[0] = 0, space.starts[1] = 1;
    space.size = 1, space.levels = 2, space.expanded = space.computed = 0;
}

// Makes the products of the numbers first .. last - 1, of one level, with generators on the left.
void make_left(SemigroupGraph& graph, u32 first, u32 last) {
    const u32 m = graph.letters;
    for (u32 e = first; e < last; e++) {
        const SemigroupPair end = graph.end[e];
        for (u32 g = 0; g < m; g++)
            graph.left[size_t(e) * m + g] =
                e ? graph.right[size_t(graph.left[size_t(end.a) * m + g]) * m + end.b]
                  : graph.right[g];
    }
}

template <int PIECES>
SmallStatus enumerate_rows(const SmallProblem& p, SmallSpace& space, u32 limit,
                           const volatile bool& stop) {
    using R = Row<PIECES>;
    constexpr u32 NONE = Finder<PIECES>::NONE;
    if (!space.size) begin_rows<PIECES>(p, space);
    const u32 m = p.letters;
    SemigroupGraph& graph = space.graph;
    Finder<PIECES> finder(space, p.monoid ? 0 : 1);
    u32 size = space.size, computed = space.computed;
    for (u32 u = space.expanded; u < size;) {
        if (stop) return SmallStatus::stopped;
        if (size > limit) return SmallStatus::many;
        if (space.most - size < m) {
            space.size = size, space.expanded = u, space.computed = computed;
            return SmallStatus::full;
        }
        const SemigroupPair word = graph.begin[u];
        const R row = R::at(space.rows + size_t(u) * sizeof(R));
        for (u32 g = 0; g < m; g++) {
            u32& product = graph.right[size_t(u) * m + g];
            u32 rest = 0;
            if (u) {
                rest = graph.right[size_t(word.b) * m + g];
                const SemigroupPair end = graph.end[rest];
                if (rest == 0) {
                    product = graph.right[word.a];
                    continue;
                }
                if (end.a != word.b || end.b != g) {
                    const u32 q = graph.left[size_t(end.a) * m + word.a];
                    product = graph.right[size_t(q) * m + end.b];
                    continue;
                }
            }
            computed++;
            const R made = R::product(row, R::at(space.generators + g * sizeof(R)));
            u32 slot;
            product = finder.find(made, slot);
            if (product != NONE) continue;
            product = size;
            made.put(space.rows + size_t(size) * sizeof(R));
            graph.begin[size] = u ? SemigroupPair{word.a, rest} : SemigroupPair{g, 0};
            graph.end[size] = {u, g};
            finder.put(slot, size++);
        }
        if (++u < space.starts[space.levels - 1]) continue;
        make_left(graph, space.starts[space.levels - 2], u);
        if (size > u) space.starts[space.levels++] = size;
    }
    space.size = space.expanded = size, space.computed = computed;
    return SmallStatus::done;
}

template <int PIECES>
u32 idempotent_rows(const SmallProblem& p, const SmallSpace& space) {
    using R = Row<PIECES>;
    u32 count = 0;
    for (u32 e = p.monoid ? 0 : 1; e < space.size; e++) {
        const R row = R::at(space.rows + size_t(e) * sizeof(R));
        count += R::product(row, row) == row;
    }
    return count;
}

SmallStatus enumerate(const SmallProblem& p, SmallSpace& space, u32 limit,
                      const volatile bool& stop) {
    switch (small_stride(p.degree) / 16) {
        case 1: return enumerate_rows<1>(p, space, limit, stop);
        case 2: return enumerate_rows<2>(p, space, limit, stop);
        case 3: return enumerate_rows<3>(p, space, limit, stop);
        case 4: return enumerate_rows<4>(p, space, limit, stop);
        case 8: return enumerate_rows<8>(p, space, limit, stop);
        default: return enumerate_rows<16>(p, space, limit, stop);
    }
}

u32 idempotents(const SmallProblem& p, const SmallSpace& space) {
    switch (small_stride(p.degree) / 16) {
        case 1: return idempotent_rows<1>(p, space);
        case 2: return idempotent_rows<2>(p, space);
        case 3: return idempotent_rows<3>(p, space);
        case 4: return idempotent_rows<4>(p, space);
        case 8: return idempotent_rows<8>(p, space);
        default: return idempotent_rows<16>(p, space);
    }
}

}  // namespace

#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
extern const SmallOps JOIN(small_semigroups_, LEVEL);
const SmallOps JOIN(small_semigroups_, LEVEL) = {enumerate, idempotents};

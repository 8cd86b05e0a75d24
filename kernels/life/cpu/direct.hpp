// One generation straight on packed rows: nothing is turned into strips (panel.hpp), so that a
// single generation costs little more than to read and to write the cells.
#pragma once
#include <cstring>

#include "../circuit.hpp"
#include "life.hpp"

namespace {

// Writes a whole cache line, at a multiple of 64 bytes, past the caches: what stands there is
// not read first. Shorter vectors are written as usual, as parts of lines would only be slower.
template <class V>
BITS_FN void stream(u64* to, V v) {
#if defined(__AVX512F__)
    if constexpr (sizeof v == 64) return _mm512_stream_si512((__m512i*)to, (__m512i)v);
#endif
    std::memcpy(to, &v, sizeof v);
}
BITS_FN void end_of_stream() {  // from here on other threads see what was written
#if defined(__AVX512F__)
    _mm_sfence();
#endif
}

template <class V>
struct Direct {
    using i64 = std::int64_t;
    typedef u64 W __attribute__((vector_size(sizeof(V))));  // as words of a row
    static constexpr int WORDS = sizeof(V) / 8;
    static constexpr int ROWS = 4;  // rows at a time, whose row sums are made once
    static constexpr i64 LARGE = i64(32) << 20;  // bytes of a universe that no cache holds

    const LifePass& p;
    const u64* none;  // a row without live cells
    i64 words = (p.width + 63) / 64;
    bool streams = sizeof(V) == 64 && p.height * p.stride * 8 > LARGE &&
                   (std::uintptr_t(p.dst) | std::uintptr_t(p.stride * 8)) % 64 == 0;

    static BITS_FN W load(const u64* at) {
        W w;
        std::memcpy(&w, at, sizeof w);
        return w;
    }

    // Returns the state of the words from `at` on. The words before and after them must be
    // there.
    static BITS_FN RowState<V> state(const u64* at) {
        const W c = load(at), l = c << 1 | load(at - 1) >> 63, r = c >> 1 | load(at + 1) << 63;
        return row_state(V(l), V(c), V(r));
    }

    // Returns the same where some words are not there: those beyond the row, or on the
    // torus's other side.
    RowState<V> state_at_edge(const u64* row, i64 first) const {
        u64 copy[WORDS + 2];
        const int rest = int(p.width & 63);
        for (int k = 0; k < WORDS + 2; k++) {
            const i64 i = first - 1 + k;
            u64 word = i >= 0 && i < words ? row[i] : 0;
            if (p.torus && i == -1) word = row[words - 1] << ((64 - rest) & 63);
            if (p.torus && i == words && !rest) word = row[0];
            if (p.torus && i == words - 1 && rest) word |= (row[0] & 1) << rest;
            copy[k] = word;
        }
        return state(copy + 1);
    }

    const u64* row(i64 y) const {
        if (p.torus) y = y < 0 ? y + p.height : y >= p.height ? y - p.height : y;
        return y < 0 || y >= p.height ? none : p.src + y * p.stride;
    }

    template <int N, bool EDGE, class Rule>
    BITS_FN void cells(const Rule& rule, const u64* const* in, u64* out, i64 first) const {
        auto at = [&](const u64* row) {
            return EDGE ? state_at_edge(row, first) : state(row + first);
        };
        RowState<V> a = at(in[0]), b = at(in[1]), c;
        for (int i = 0; i < N; i++) {
            c = at(in[i + 2]);
            const V next = rule(a, b, c);
            u64* to = out + i * p.stride + first;
            if (EDGE) {
                u64 made[WORDS];
                std::memcpy(made, &next, sizeof next);
                const i64 left = words - first, count = left < WORDS ? left : WORDS;
                if (left <= WORDS && (p.width & 63)) made[left - 1] &= (u64(1) << (p.width & 63)) - 1;
                std::memcpy(to, made, std::size_t(count) * 8);
            } else if (streams) {
                stream(to, next);
            } else {
                std::memcpy(to, &next, sizeof next);
            }
            a = b, b = c;
        }
    }

    template <int N, class Rule>
    void rows(const Rule& rule, i64 y) const {
        const u64* in[N + 2];
        for (int i = 0; i < N + 2; i++) in[i] = row(y - 1 + i);
        u64* out = p.dst + y * p.stride;
        cells<N, true>(rule, in, out, 0);
        i64 first = WORDS;
        for (; first + WORDS < words; first += WORDS) cells<N, false>(rule, in, out, first);
        if (first < words) cells<N, true>(rule, in, out, first);
    }

    template <class Rule>
    void run(const Rule& rule, i64 y, i64 y1) const {
        for (; y + ROWS <= y1; y += ROWS) {
            if (*p.cancelled) break;
            rows<ROWS>(rule, y);
        }
        for (; y < y1 && !*p.cancelled; y++) rows<1>(rule, y);
        end_of_stream();
    }
};

}  // namespace

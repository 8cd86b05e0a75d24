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

    // Makes the states of `count` rows, as state() does, where some words are not there: those
    // beyond the row, or on the torus's other side. No rule is in it: it is compiled once.
    __attribute__((noinline)) void states_at_edge(const u64* const* rows, int count, i64 first,
                                                  RowState<V>* states) const {
        const int rest = int(p.width & 63);
        for (int r = 0; r < count; r++) {
            const u64* row = rows[r];
            u64 copy[WORDS + 2];
            for (int k = 0; k < WORDS + 2; k++) {
                const i64 i = first - 1 + k;
                u64 word = i >= 0 && i < words ? row[i] : 0;
                if (p.torus && i == -1) word = row[words - 1] << ((64 - rest) & 63);
                if (p.torus && i == words && !rest) word = row[0];
                if (p.torus && i == words - 1 && rest) word |= (row[0] & 1) << rest;
                copy[k] = word;
            }
            states[r] = state(copy + 1);
        }
    }

    const u64* row(i64 y) const {
        if (p.torus) y = y < 0 ? y + p.height : y >= p.height ? y - p.height : y;
        return y < 0 || y >= p.height ? none : p.src + y * p.stride;
    }

    // Makes the words from `first` on of as many rows, of which in[0] is the one above.
    template <int COUNT, class Rule>
    void edge(const Rule& rule, const u64* const* in, u64* out, i64 first) const {
        RowState<V> states[COUNT + 2];
        states_at_edge(in, COUNT + 2, first, states);
        const i64 left = words - first, count = left < WORDS ? left : WORDS;
        for (int i = 0; i < COUNT; i++) {
            const V next = rule(states[i], states[i + 1], states[i + 2]);
            u64 made[WORDS];
            std::memcpy(made, &next, sizeof next);
            if (left <= WORDS && (p.width & 63)) made[left - 1] &= (u64(1) << (p.width & 63)) - 1;
            std::memcpy(out + i * p.stride + first, made, std::size_t(count) * 8);
        }
    }

    // Does so for words that have others on both sides.
    template <int COUNT, class Rule>
    BITS_FN void cells(const Rule& rule, const u64* const* in, u64* out, i64 first) const {
        RowState<V> a = state(in[0] + first), b = state(in[1] + first), c;
        for (int i = 0; i < COUNT; i++) {
            c = state(in[i + 2] + first);
            const V next = rule(a, b, c);
            u64* to = out + i * p.stride + first;
            if (streams) {
                stream(to, next);
            } else {
                std::memcpy(to, &next, sizeof next);
            }
            a = b, b = c;
        }
    }

    template <int COUNT, class Rule>
    void rows(const Rule& rule, i64 y) const {
        const u64* in[COUNT + 2];
        for (int i = 0; i < COUNT + 2; i++) in[i] = row(y - 1 + i);
        u64* out = p.dst + y * p.stride;
        edge<COUNT>(rule, in, out, 0);
        i64 first = WORDS;
        for (; first + WORDS < words; first += WORDS) cells<COUNT>(rule, in, out, first);
        if (first < words) edge<COUNT>(rule, in, out, first);
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

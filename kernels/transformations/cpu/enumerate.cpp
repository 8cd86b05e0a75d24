// Products of semigroups on one CPU level. Compiled once per level, with LEVEL its name. Nothing
// of the standard library may be instantiated here, or the linker could hand AVX-512 code to a
// machine without it.
//
// Graphs are far larger than caches, and each deduced product reads three places, each of which
// depends on the one before. So products go through their reads in stages of STEP, each stage
// asking for what the next one reads: many cache misses are under way at once.
#include "enumerate.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using std::size_t;

constexpr u32 STEP = 256;

inline void soon(const void* at) { __builtin_prefetch(at); }

void classify(const SemigroupGraph& graph, u32 from, u32 first, u32 last, u32 left_known,
              SemigroupFound& found) {
    const u32 m = graph.letters;
    const SemigroupPair* const ends = graph.end;
    u32 parent[STEP], suffix[STEP], letter[STEP], before[STEP], edge[STEP];
    u64 place[STEP];
    found.computed = found.waiting = 0;
    found.contradiction = false;
    u32 u = first, g = 0;
    if (u == 0) {
        for (; g < m; g++) {
            found.product[found.computed] = g;
            found.rest[found.computed++] = 0;
        }
        u = 1, g = 0;
    }
    while (u < last) {
        u32 n = 0;
        while (u < last && n < STEP) {
            const SemigroupPair begin = graph.begin[u];
            if (g == 0 && u + 8 < last) soon(graph.right + u64(graph.begin[u + 8].b) * m);
            const u32* const row = graph.right + u64(begin.b) * m;
            for (; g < m && n < STEP; g++, n++) {
                parent[n] = u, suffix[n] = begin.b, letter[n] = g, before[n] = begin.a;
                edge[n] = row[g];
                soon(ends + edge[n]);
            }
            if (g == m) u++, g = 0;
        }
        u32 kept = 0;  // products that may be deduced; parent and letter move down
        for (u32 i = 0; i < n; i++) {
            const u32 r = edge[i];
            const SemigroupPair end = ends[r];
            const u32 product = (parent[i] - from) * m + letter[i];
            if (r != 0 && end.a == suffix[i] && end.b == letter[i]) {
                found.product[found.computed] = product;
                found.rest[found.computed++] = r;
                continue;
            }
            const bool empty = r == 0;
            if (!empty && end.a >= left_known) {
                found.contradiction = true;
                return;
            }
            // For the empty word the place is that of generator f, which is product
            // f of number 0.
            const u64 at = empty ? ~u64(0) : u64(end.a) * m + before[i];
            if (!empty) soon(graph.left + at);
            place[kept] = at, edge[kept] = empty ? before[i] : end.b;
            parent[kept] = parent[i], letter[kept] = letter[i];
            kept++;
        }
        for (u32 i = 0; i < kept; i++) {
            const u32 q = place[i] == ~u64(0) ? 0 : graph.left[place[i]];
            place[i] = u64(q) * m + edge[i];
            if (q < from) {
                soon(graph.right + place[i]);
            } else {
                if (place[i] >= u64(parent[i]) * m + letter[i]) {
                    found.contradiction = true;
                    return;
                }
                found.later[found.waiting] = (parent[i] - from) * m + letter[i];
                found.source[found.waiting++] = place[i];
                place[i] = 0;  // any place that can be read
            }
        }
        for (u32 i = 0; i < kept; i++)
            graph.right[u64(parent[i]) * m + letter[i]] = graph.right[place[i]];
    }
}

bool left(const SemigroupGraph& graph, u32 first, u32 last, u32 end) {
    const u32 m = graph.letters;
    u64 place[STEP];
    u64 to = u64(first) * m;
    u32 u = first, g = 0;
    if (u == 0) {
        for (; g < m; g++) graph.left[to++] = graph.right[g];
        u = 1, g = 0;
    }
    while (u < last) {
        u32 n = 0;
        while (u < last && n < STEP) {
            const SemigroupPair word = graph.end[u];
            const u32* const row = graph.left + u64(word.a) * m;
            for (; g < m && n < STEP; g++, n++) {
                if (row[g] >= end) return false;
                place[n] = u64(row[g]) * m + word.b;
                soon(graph.right + place[n]);
            }
            if (g == m) u++, g = 0;
        }
        for (u32 i = 0; i < n; i++) graph.left[to++] = graph.right[place[i]];
    }
    return true;
}

template <class T>
void compose(const void* map, const void* from, void* to, size_t count) {
    const T *g = static_cast<const T*>(map), *x = static_cast<const T*>(from);
    T* y = static_cast<T*>(to);
    size_t i = 0;
    // Eight at a time, as the compiler must assume that y may be x.
    for (; i + 8 <= count; i += 8) {
        const T a = g[x[i]], b = g[x[i + 1]], c = g[x[i + 2]], d = g[x[i + 3]];
        const T e = g[x[i + 4]], f = g[x[i + 5]], h = g[x[i + 6]], k = g[x[i + 7]];
        y[i] = a, y[i + 1] = b, y[i + 2] = c, y[i + 3] = d;
        y[i + 4] = e, y[i + 5] = f, y[i + 6] = h, y[i + 7] = k;
    }
    for (; i < count; i++) y[i] = g[x[i]];
}

#if defined(__AVX512F__)
// Composes, on CPUs that gather as fast as they load. Reads 2 bytes behind g.
void gather(const void* map, const void* from, void* to, size_t count) {
    const std::uint16_t *g = static_cast<const std::uint16_t*>(map);
    const std::uint16_t *x = static_cast<const std::uint16_t*>(from);
    std::uint16_t* y = static_cast<std::uint16_t*>(to);
    size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        const __m256i* const at = reinterpret_cast<const __m256i*>(x + i);
        const __m512i places = _mm512_cvtepu16_epi32(_mm256_loadu_si256(at));
        const __m512i images = _mm512_i32gather_epi32(places, g, 2);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(y + i), _mm512_cvtepi32_epi16(images));
    }
    for (; i < count; i++) y[i] = g[x[i]];
}
#else
constexpr decltype(&compose<std::uint16_t>) gather = nullptr;
#endif

// Computes both halves of the hash function NH of one block; bytes is a multiple of 16.
#if defined(__AVX512F__)
inline __m512i multiplied(__m512i words) {
    return _mm512_mul_epu32(words, _mm512_srli_epi64(words, 32));
}
void block_hash(const u32* key, const char* row, size_t bytes, u64* sum) {
    __m512i low = _mm512_setzero_si512(), high = low;
    size_t at = 0;
    for (; at + 64 <= bytes; at += 64) {
        const __m512i words = _mm512_loadu_si512(row + at);
        const u32* const k = key + at / 4;
        low = _mm512_add_epi64(low, multiplied(_mm512_add_epi32(words, _mm512_loadu_si512(k))));
        high = _mm512_add_epi64(
            high, multiplied(_mm512_add_epi32(words, _mm512_loadu_si512(k + SEMIGROUP_SHIFT))));
    }
    if (at < bytes) {
        const __mmask16 mask = __mmask16((1u << (bytes - at) / 4) - 1);
        const __m512i words = _mm512_maskz_loadu_epi32(mask, row + at);
        const u32* const k = key + at / 4;
        const __m512i k0 = _mm512_maskz_loadu_epi32(mask, k);
        const __m512i k1 = _mm512_maskz_loadu_epi32(mask, k + SEMIGROUP_SHIFT);
        low = _mm512_add_epi64(low, multiplied(_mm512_add_epi32(words, k0)));
        high = _mm512_add_epi64(high, multiplied(_mm512_add_epi32(words, k1)));
    }
    u64 parts[16];
    _mm512_storeu_si512(parts, low), _mm512_storeu_si512(parts + 8, high);
    sum[0] = sum[1] = 0;
    for (u32 i = 0; i < 8; i++) sum[0] += parts[i], sum[1] += parts[8 + i];
}
#elif defined(__x86_64__)
inline __m128i multiplied(__m128i words) {
    return _mm_mul_epu32(words, _mm_srli_epi64(words, 32));
}
inline __m128i loaded(const void* at) { return _mm_loadu_si128(static_cast<const __m128i*>(at)); }
void block_hash(const u32* key, const char* row, size_t bytes, u64* sum) {
    __m128i low = _mm_setzero_si128(), high = low;
    for (size_t at = 0; at < bytes; at += 16) {
        const __m128i words = loaded(row + at);
        const u32* const k = key + at / 4;
        low = _mm_add_epi64(low, multiplied(_mm_add_epi32(words, loaded(k))));
        high = _mm_add_epi64(high, multiplied(_mm_add_epi32(words, loaded(k + SEMIGROUP_SHIFT))));
    }
    u64 parts[4];
    _mm_storeu_si128(reinterpret_cast<__m128i*>(parts), low);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(parts + 2), high);
    sum[0] = parts[0] + parts[1], sum[1] = parts[2] + parts[3];
}
#else
void block_hash(const u32* key, const char* row, size_t bytes, u64* sum) {
    sum[0] = sum[1] = 0;
    for (size_t j = 0; j < bytes / 4; j += 2) {
        u32 w[2];
        __builtin_memcpy(w, row + 4 * j, 8);
        for (u32 i = 0; i < 2; i++) {
            const u32* const k = key + j + i * SEMIGROUP_SHIFT;
            sum[i] += u64(u32(w[0] + k[0])) * u32(w[1] + k[1]);
        }
    }
}
#endif

void hash(const u32* key, const u64* factors, const void* row, size_t bytes, size_t block,
          u64* sum) {
    const char* at = static_cast<const char*>(row);
    for (; bytes; block++) {
        const size_t part = bytes < 4 * SEMIGROUP_BLOCK ? bytes : 4 * SEMIGROUP_BLOCK;
        u64 halves[2];
        block_hash(key, at, part, halves);
        sum[0] += halves[0] * factors[2 * block];
        sum[1] += halves[1] * factors[2 * block + 1];
        at += part, bytes -= part;
    }
}

}  // namespace

#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
extern const SemigroupOps JOIN(semigroup_, LEVEL);
const SemigroupOps JOIN(semigroup_, LEVEL) = {
    classify, left, {compose<std::uint8_t>, compose<std::uint16_t>, compose<u32>}, gather, hash};

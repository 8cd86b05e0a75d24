// Soups and surveys on one CPU level. Compiled once per level, with LEVEL its name and VECTOR
// its register type (bits.hpp). Nothing of the standard library may be instantiated here, or the
// linker could hand AVX-512 code to a machine without it.
#include "cells.hpp"

#include "../../bits.hpp"
#include "climb.hpp"

namespace {

using std::size_t;
typedef u64 V __attribute__((vector_size(sizeof(VECTOR))));
typedef u64 Unaligned __attribute__((vector_size(sizeof(VECTOR)), aligned(8), may_alias));
typedef u64 Bytes __attribute__((vector_size(sizeof(VECTOR)), aligned(1), may_alias));
constexpr size_t LANES = sizeof(V) / 8;

constexpr u64 GOLDEN = 0x9e3779b97f4a7c15;
constexpr u64 MIX_1 = 0xbf58476d1ce4e5b9, MIX_2 = 0x94d049bb133111eb;
constexpr u64 SOUP_ROW = 0xd1342543de82ef95;
constexpr u64 DIGEST_A = 0x243f6a8885a308d3, DIGEST_B = 0x13198a2e03707344;

BITS_FN V all(u64 value) { return V{} + value; }

// Mixes as splitmix64 does at its end.
BITS_FN u64 mix(u64 z) {
    z = (z ^ z >> 30) * MIX_1;
    z = (z ^ z >> 27) * MIX_2;
    return z ^ z >> 31;
}

// Mixes N vectors, step by step side by side, as each waits long for its products.
template <int N>
BITS_FN void mix_all(V (&z)[N]) {
    for (int k = 0; k < N; k++) z[k] ^= z[k] >> 30;
    for (int k = 0; k < N; k++) z[k] *= all(MIX_1);
    for (int k = 0; k < N; k++) z[k] ^= z[k] >> 27;
    for (int k = 0; k < N; k++) z[k] *= all(MIX_2);
    for (int k = 0; k < N; k++) z[k] ^= z[k] >> 31;
}

// Returns GOLDEN * (w + 1) for the words w, w + 1, ...
BITS_FN V places(u64 w) {
    V v = {};
    for (size_t i = 0; i < LANES; i++) v[i] = GOLDEN * (w + 1 + i);
    return v;
}

BITS_FN V load(const u64* from) { return *(const Unaligned*)from; }
BITS_FN V load_part(const u64* from, size_t count) {  // reads zeros past `count` words
    alignas(V) u64 words[LANES] = {};
    for (size_t i = 0; i < count; i++) words[i] = from[i];
    return *(const Unaligned*)words;
}
BITS_FN void store_part(u64* to, V v, size_t count) {
    for (size_t i = 0; i < count; i++) to[i] = v[i];
}

// Draws N vectors of the soup. state is row + GOLDEN * (w + 1) for the first. Each of the
// `drawn` masks is all ones for a digit 1 and zero for a digit 0.
template <int N>
BITS_FN void draw(V (&acc)[N], V state, const u64* masks, int drawn) {
    V z[N];
    for (int k = 0; k < N; k++) z[k] = state + all(u64(k) * LANES * GOLDEN), acc[k] = V{};
    mix_all(z);
    for (int i = 0; i < drawn; i++) {
        V r[N];
        for (int k = 0; k < N; k++) r[k] = z[k] += all(GOLDEN);
        mix_all(r);
        // The majority of three is the union of two if the third is all ones, and their
        // intersection if it is zero.
        for (int k = 0; k < N; k++)
            acc[k] = (V)maj3((VECTOR)acc[k], (VECTOR)r[k], (VECTOR)all(masks[i]));
    }
}

void fill_soup(const CellsBlock<u64>& block, u64 digits, u64 key) {
    constexpr int N = 4;
    const size_t count = block.count;
    u64 masks[32];
    int drawn = 0;
    if (digits && !(digits >> 32))
        for (int bit = __builtin_ctzll(digits); bit < 32; bit++)
            masks[drawn++] = -(digits >> bit & 1);
    const V first = places(block.w0);
    for (size_t r = 0; r < block.rows; r++) {
        u64* row = block.words + std::ptrdiff_t(r) * block.stride;
        if (!drawn) {
            for (size_t w = 0; w < count; w++) row[w] = digits ? ~u64(0) : 0;
            continue;
        }
        V state = first + all(mix(key ^ ((block.y0 + r) * SOUP_ROW + 1)));
        size_t w = 0;
        for (; w + N * LANES <= count; w += N * LANES, state += N * LANES * GOLDEN) {
            V acc[N];
            draw(acc, state, masks, drawn);
            for (int k = 0; k < N; k++) *(Unaligned*)(row + w + size_t(k) * LANES) = acc[k];
        }
        for (; w < count; w += LANES, state += LANES * GOLDEN) {
            V acc[1];
            draw(acc, state, masks, drawn);
            if (w + LANES <= count) *(Unaligned*)(row + w) = acc[0];
            else store_part(row + w, acc[0], count - w);
        }
    }
}

// Counts the live cells of each byte.
BITS_FN V byte_counts(V x) {
    x -= x >> 1 & all(0x5555555555555555);
    x = (x & all(0x3333333333333333)) + (x >> 2 & all(0x3333333333333333));
    return (x + (x >> 4)) & all(0x0f0f0f0f0f0f0f0f);
}

// Returns the sum of the bytes of each word; no byte is above 64.
BITS_FN V sum_bytes(V x) {
    x = (x & all(0x00ff00ff00ff00ff)) + (x >> 8 & all(0x00ff00ff00ff00ff));
    x += x >> 16;
    return (x + (x >> 32)) & all(0xffff);
}

struct Sums {
    V population, low, high, carries;

    // Adds N words. a and b are the keys of their row and place, before these are mixed for
    // the last time.
    template <int N>
    BITS_FN void add(const V* word, const V (&a)[N], const V (&b)[N]) {
        V keys[2 * N], z[2 * N];
        for (int k = 0; k < N; k++) keys[k] = a[k], keys[N + k] = b[k];
        mix_all(keys);
        for (int k = 0; k < N; k++) z[k] = word[k] ^ keys[k], z[N + k] = word[k] + keys[N + k];
        mix_all(z);
        for (int k = 0; k < N; k++) z[k] += keys[N + k], z[N + k] ^= keys[k];
        mix_all(z);
        for (int k = 0; k < N; k++) {
            const V alive = (V)(word[k] != 0), l = z[k] & alive;
            low += l;
            carries -= (V)(low < l);
            high += z[N + k] & alive;
        }
    }
};

struct RowKeys { u64 a, b; };

constexpr size_t BAND = 8;

// Surveys a vector of columns of a band. part: how many words of the vector there are.
template <bool WHOLE>
BITS_FN void survey_columns(Sums* sums, const u64* words, std::ptrdiff_t stride, size_t rows,
                            const RowKeys* keys, V place, std::uint8_t* counts, size_t part) {
    constexpr int N = 4;  // it divides BAND; rows that are not there are zero
    V word[BAND] = {}, any = {}, live = {};
    for (size_t r = 0; r < rows; r++, words += stride) {
        word[r] = WHOLE ? load(words) : load_part(words, part);
        any |= word[r];
    }
    u64 lanes = 0;
    for (size_t i = 0; i < LANES; i++) lanes |= any[i];
    if (lanes)  // as large universes are mostly empty
        for (size_t r = 0; r < rows; r += N) {
            V a[N], b[N];
            for (int k = 0; k < N; k++) {
                live += byte_counts(word[r + k]);
                a[k] = place + keys[r + k].a, b[k] = place + keys[r + k].b;
            }
            sums->add(word + r, a, b);
        }
    sums->population += sum_bytes(live);
    if (!counts) return;
    if (WHOLE) *(Bytes*)counts = live;
    else {
        alignas(V) std::uint8_t bytes[sizeof(V)];
        *(Bytes*)bytes = live;
        for (size_t i = 0; i < 8 * part; i++) counts[i] = bytes[i];
    }
}

CellsSurvey survey(const CellsBlock<const u64>& block, std::uint8_t* counts, size_t across) {
    const size_t whole = block.count / LANES * LANES;
    const V first = places(block.w0);
    Sums sums = {};
    for (size_t top = 0; top < block.rows; top += BAND) {
        const u64* words = block.words + std::ptrdiff_t(top) * block.stride;
        const size_t rows = block.rows - top < BAND ? block.rows - top : BAND;
        RowKeys keys[BAND] = {};
        for (size_t r = 0; r < rows; r++) {
            const u64 y = block.y0 + top + r;
            keys[r] = {mix(y + DIGEST_A), mix(y + DIGEST_B)};
        }
        V place = first;
        size_t w = 0;
        for (; w < whole; w += LANES, place += LANES * GOLDEN)
            survey_columns<true>(&sums, words + w, block.stride, rows, keys, place,
                                 counts ? counts + 8 * w : nullptr, LANES);
        if (w < block.count)
            survey_columns<false>(&sums, words + w, block.stride, rows, keys, place,
                                  counts ? counts + 8 * w : nullptr, block.count - w);
        if (counts) counts += across;
    }
    CellsSurvey total = {};
    for (size_t i = 0; i < LANES; i++) {
        total.population += sums.population[i];
        total.low += sums.low[i];
        total.high += sums.high[i] + sums.carries[i] + (total.low < sums.low[i]);
    }
    return total;
}

// Counts the live cells of each run of 2^SCALE cells.
template <int SCALE>
BITS_FN u64 run_counts(u64 x) {
    x = (x & 0x5555555555555555) + (x >> 1 & 0x5555555555555555);
    if (SCALE > 1) x = (x & 0x3333333333333333) + (x >> 2 & 0x3333333333333333);
    if (SCALE > 2) x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0f;
    return x;
}

// Computes densities. The sum of a block needs a byte: so the runs of a byte go to as many
// planes, the first to the first, and so on.
template <int SCALE>
void densities_at(const CellsBlock<const u64>& block, size_t first, size_t columns,
                  std::uint8_t* levels, size_t across, u64* planes) {
    constexpr int SIDE = 1 << SCALE, PLANES = 8 >> SCALE;
    constexpr u64 RUN = SCALE == 3 ? 0x7f7f7f7f7f7f7f7f : SCALE == 2 ? 0x0f0f0f0f0f0f0f0f
                                                                     : 0x0303030303030303;
    const size_t count = (columns * SIDE + 63) / 64, shift = first % 64;
    // The word past the last may not exist; then it is not needed.
    const size_t in_two = shift ? block.count - first / 64 - 1 : 0;
    const size_t joined = in_two < count ? in_two : count;
    for (size_t r = 0; r < block.rows >> SCALE; r++, levels += across) {
        for (size_t i = 0; i < PLANES * count; i++) planes[i] = 0;
        // Rows of a large universe lie in pages of their own: the next ones are fetched
        // meanwhile.
        if (r + 1 < block.rows >> SCALE)
            for (size_t k = SIDE; k < 2 * SIDE; k++) {
                const u64* row =
                    block.words + std::ptrdiff_t(r * SIDE + k) * block.stride + first / 64;
                for (size_t i = 0; i < count; i += 8) __builtin_prefetch(row + i);
            }
        for (size_t k = 0; k < SIDE; k++) {
            const u64* row =
                block.words + std::ptrdiff_t(r * SIDE + k) * block.stride + first / 64;
            size_t i = 0;
            auto add = [&](u64 word) {
                const u64 runs = run_counts<SCALE>(word);
                for (int p = 0; p < PLANES; p++)
                    planes[size_t(p) * count + i] += runs >> (p * SIDE) & RUN;
            };
            if (shift)
                for (; i < joined; i++) add(row[i] >> shift | row[i + 1] << (64 - shift));
            for (; i < count; i++) add(row[i] >> shift);
        }
        const std::uint8_t* bytes = reinterpret_cast<const std::uint8_t*>(planes);
        auto level = [](std::uint8_t live) {
            return std::uint8_t((510u * live + SIDE * SIDE) >> (1 + 2 * SCALE));
        };
        const size_t whole = columns / PLANES;
        for (size_t i = 0; i < whole; i++)
            for (size_t p = 0; p < PLANES; p++)
                levels[i * PLANES + p] = level(bytes[p * 8 * count + i]);
        for (size_t c = whole * PLANES; c < columns; c++)
            levels[c] = level(bytes[c % PLANES * 8 * count + c / PLANES]);
    }
}

void densities(const CellsBlock<const u64>& block, size_t first, int scale, size_t columns,
               std::uint8_t* levels, size_t across, u64* scratch) {
    if (scale == 1) densities_at<1>(block, first, columns, levels, across, scratch);
    if (scale == 2) densities_at<2>(block, first, columns, levels, across, scratch);
    if (scale == 3) densities_at<3>(block, first, columns, levels, across, scratch);
}

// Returns word i of a row that begins at bit `shift` of its first word; what is not there is
// dead.
BITS_FN u64 joined(const u64* row, size_t i, size_t count, size_t shift) {
    const u64 low = i < count ? row[i] >> shift : 0;
    return shift && i + 1 < count ? low | row[i + 1] << (64 - shift) : low;
}

// Writes a byte for each block of a word: whether any of its bits is set.
template <int SCALE>
BITS_FN void spread(u64 x, std::uint8_t* to) {
    for (int s = 0; s < SCALE; s++) x |= x >> (1 << s);
    for (int j = 0; j < 64 >> SCALE; j++) to[j] = x >> (j << SCALE) & 1;
}

template <int SCALE>
void ages_at(const CellsAges& a) {
    constexpr size_t SIDE = 1 << SCALE, EACH = 64 >> SCALE;
    const CellsBlock<const u64>& block = a.block;
    const size_t columns = a.columns, words = (columns + EACH - 1) / EACH;
    const size_t start = a.first / 64, shift = a.first % 64;
    const size_t count = block.count > start ? block.count - start : 0;
    std::uint8_t *alive = a.scratch, *born = alive + columns + 64;
    for (size_t r = 0; r * SIDE < block.rows; r++) {
        const size_t rows = block.rows - r * SIDE < SIDE ? block.rows - r * SIDE : SIDE;
        for (size_t i = 0; i < words; i++) {
            u64 now = 0, fresh = 0;
            for (size_t k = 0; k < rows; k++) {
                const std::ptrdiff_t y = std::ptrdiff_t(r * SIDE + k);
                const u64 word = joined(block.words + y * block.stride + start, i, count, shift);
                now |= word;
                if (a.known)
                    fresh |= word &
                             ~joined(a.known + y * a.known_stride + start, i, count, shift);
            }
            spread<SCALE>(now, alive + i * EACH);
            spread<SCALE>(fresh, born + i * EACH);
        }
        const std::uint16_t* before = a.before ? a.before + r * a.across : nullptr;
        std::uint16_t* counts = a.counts + r * a.across;
        std::uint8_t* levels = a.levels + r * a.across;
        if (!before)
            for (size_t c = 0; c < columns; c++) counts[c] = alive[c];
        else
            for (size_t c = 0; c < columns; c++) {
                unsigned older = unsigned(before[c]) + a.passed;
                older = older < a.oldest ? older : a.oldest;
                older = born[c] || !before[c] ? 1 : older;
                counts[c] = std::uint16_t(alive[c] ? older : 0);
            }
        for (size_t c = 0; c < columns; c++) levels[c] = a.shades[counts[c]];
    }
}

void ages(const CellsAges& a) {
    if (a.scale == 0) ages_at<0>(a);
    if (a.scale == 1) ages_at<1>(a);
    if (a.scale == 2) ages_at<2>(a);
    if (a.scale == 3) ages_at<3>(a);
}

}  // namespace

#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
extern const CellsOps JOIN(cells_, LEVEL);
const CellsOps JOIN(cells_, LEVEL) = {fill_soup, survey, densities, ages, climb};

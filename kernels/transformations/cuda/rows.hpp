// Rows of images, in vectors of 16 bytes: those that are stored, and those that are made from
// their words.
//
// Macro ITEM: bytes of an image, 1, 2 or 4.
#pragma once
#include "common.hpp"

namespace {

#if ITEM == 1
using Image = u8;
#elif ITEM == 2
using Image = u16;
#else
using Image = u32;
#endif

constexpr u32 EACH = 16 / ITEM;   // images of a vector
constexpr u32 BLOCK_VECTORS = 256;  // of a block of the hash; see hashing.py
constexpr u32 MASK = ALL >> (32 - 8 * ITEM);

SEMIGROUP_FN void unpack(const uint4& v, u32 (&x)[EACH]) {
    const u32 words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (u32 i = 0; i < EACH; i++) x[i] = words[i * ITEM / 4] >> (i * ITEM % 4 * 8) & MASK;
}

SEMIGROUP_FN uint4 pack(const u32 (&x)[EACH]) {
    u32 words[4] = {0, 0, 0, 0};
#pragma unroll
    for (u32 i = 0; i < EACH; i++) words[i * ITEM / 4] |= x[i] << (i * ITEM % 4 * 8);
    return make_uint4(words[0], words[1], words[2], words[3]);
}

// A generator's images: in global memory (Global), or in shared memory (Shared).
struct Global {
    const Image* images;
    SEMIGROUP_FN u32 operator[](u32 x) const { return __ldg(images + x); }
};
using Shared = const Image*;

// Returns the images of images by a generator; those beyond the row's `width` are zero.
template <class Generator>
SEMIGROUP_FN uint4 apply(const Generator& generator, const uint4& v, u32 at, u32 width) {
    u32 x[EACH];
    unpack(v, x);
#pragma unroll
    for (u32 i = 0; i < EACH; i++) x[i] = generator[x[i]];
    if ((at + 1) * EACH > width) {
#pragma unroll
        for (u32 i = 0; i < EACH; i++)
            if (at * EACH + i >= width) x[i] = 0;
    }
    return pack(x);
}

struct Rows {
    const Image* __restrict__ generators;
    u32 degree, width;
    const uint4* __restrict__ empty;  // the row of the empty word
    const uint2* __restrict__ heads;  // first generator and suffix of each number
    const u32* __restrict__ slots;    // of each number's row, or NONE
    u8* const* __restrict__ segments;  // where slots are, 2^shift in each
    u32 shift;                         // NONE: no rows are stored

    SEMIGROUP_FN u32 vectors() const { return (width + EACH - 1) / EACH; }
    SEMIGROUP_FN uint4* row(u32 slot) const {
        uint4* const segment = reinterpret_cast<uint4*>(segments[slot >> shift]);
        return segment + u64(slot & ((1u << shift) - 1)) * vectors();
    }
    SEMIGROUP_FN Global generator(u32 g) const { return {generators + u64(g) * degree}; }

    SEMIGROUP_FN uint4 by_word(u32 number, u32 at) const {
        uint4 v = empty[at];
        while (number) {
            const uint2 head = heads[number];
            v = apply(generator(head.x), v, at, width);
            number = head.y;
        }
        return v;
    }
    SEMIGROUP_FN u32 slot_of(u32 number) const {
        return number && shift != NONE ? slots[number] : NONE;
    }
    SEMIGROUP_FN uint4 vector(u32 number, u32 at) const {
        const u32 slot = slot_of(number);
        return slot == NONE ? by_word(number, at) : __ldcs(row(slot) + at);
    }
};

}  // namespace

// The parameters of every kernel that reads rows.
#define ROWS_PARAMETERS                                                                       \
    const Image *generators, u32 degree, u32 width, const uint4 *empty, const uint2 *heads,   \
        const u32 *all_slots, u8 *const *segments, u32 shift
#define ROWS {generators, degree, width, empty, heads, all_slots, segments, shift}

// Teams: T lanes of a warp that share one computation, 32 / T teams to a warp. T = 1 is
// Gusenbauer's computation-to-thread mapping, T = 32 is Langer's computation-to-warp.
//
// All lanes of a warp go through all code together; what a team has no use for is masked. Words
// of a number are handed out in turn, T at a time, from the lowest up.
#pragma once
#include "words.hpp"

#if defined(__CUDACC__)
#define TEAM_FN __device__ __forceinline__
#else
#define TEAM_FN inline  // the compiler's choice: on a host much is called that is never quick
#endif

namespace {

constexpr u32 WARP = 32;

// A magnitude in memory; the topmost word is not zero.
struct Magnitude {
    const u32* at;
    u32 length;

    TEAM_FN u32 operator[](u32 i) const { return i < length ? at[i] : 0; }
};

TEAM_FN Magnitude trimmed(const u32* at, u64 length) {
    while (length && !at[length - 1]) length--;
    return {at, u32(length)};
}

constexpr TEAM_FN u32 round_up(u32 x, u32 unit) { return (x + unit - 1) / unit * unit; }

template <u32 T>
struct Team {
    static_assert(T && T <= WARP && (T & (T - 1)) == 0, "a power of two");
    static constexpr u32 TEAMS = WARP / T;
    u32 lane, rank;  // in the warp, in the team

    TEAM_FN explicit Team(u32 lane) : lane(lane), rank(lane % T) {}

    // Tells whether any team of the warp has work: a loop of the warp goes on while it does.
    TEAM_FN static bool any(bool more) { return __any_sync(ALL, more); }

    TEAM_FN static void sync() {
        if (T > 1) __syncwarp();
    }

    // Returns one bit for each lane of the team.
    TEAM_FN u32 votes(bool yes) const {
        if (T == 1) return yes;
        const u32 all = __ballot_sync(ALL, yes);
        return T == WARP ? all : all >> (lane - rank) & ((1u << T % WARP) - 1);
    }

    // Returns the value of lane `from` of the team.
    TEAM_FN static u32 get(u32 value, u32 from) {
        return T == 1 ? value : __shfl_sync(ALL, value, int(from), T);
    }

    TEAM_FN static u32 most(u32 value) {
#pragma unroll
        for (u32 by = T / 2; by; by /= 2) {
            const u32 other = __shfl_xor_sync(ALL, value, int(by));
            value = value < other ? other : value;
        }
        return value;
    }

    // Returns what the lane below holds. The lowest lane gets `carry`, which then becomes
    // the topmost's.
    TEAM_FN u32 up(u32 value, u32& carry) const {
        if (T == 1) {
            const u32 in = carry;
            carry = value;
            return in;
        }
        const u32 below = __shfl_sync(ALL, value, int((rank + T - 1) % T), T);
        const u32 in = rank ? below : carry;
        carry = get(below, 0);
        return in;
    }

    // Returns the carry into every lane's digit. A digit makes one, or passes one on (is all
    // ones), never both; `carry` comes into the lowest and is then what leaves from the
    // topmost. One addition of the masks sends all carries through (Langer 2015, 3.3,
    // without the steps of a scan).
    TEAM_FN u32 ripple(bool makes, bool passes, u32& carry) const {
        if (T == 1) {
            const u32 in = carry;
            carry = makes || (passes && in);
            return in;
        }
        const u64 made = u64(votes(makes)) << 1 | carry, passed = votes(passes);
        const u64 into = (passed + made) ^ passed;
        carry = u32(into >> T & 1);
        return u32(into >> rank & 1);
    }
};

// Returns -1, 0 or 1; `live` is false for teams that do not ask.
template <u32 T>
TEAM_FN int compare(const Team<T>& team, Magnitude a, Magnitude b, bool live) {
    int order = a.length < b.length ? -1 : a.length > b.length;
    for (int top = order || !live ? 0 : int(a.length); team.any(top > 0);) {
        const int i = top - int(T) + int(team.rank);
        const bool in = top > 0 && i >= 0;
        const u32 x = in ? a.at[i] : 0, y = in ? b.at[i] : 0;
        const u32 greater = team.votes(x > y), less = team.votes(x < y);
        order = greater > less ? 1 : greater < less ? -1 : order;  // the topmost bit decides
        top = order ? 0 : top - int(T);
    }
    return order;
}

// Computes r[0, room) = a + b, or a - b, which may not be negative; room is a multiple of four.
// Each lane takes four words at a time. Returns the length.
template <u32 T>
TEAM_FN u32 add(const Team<T>& team, Magnitude a, Magnitude b, bool subtract, u32* r, u32 room) {
    const u32 flip = subtract ? ALL : 0;
    u32 carry = subtract, length = 0;
    for (u32 first = 0; team.any(first < room); first += 4 * T) {
        const u32 i = first + 4 * team.rank;
        u32 x[4], y[4], s[4];
#pragma unroll
        for (u32 j = 0; j < 4; j++) x[j] = a[i + j], y[j] = b[i + j];
        s[0] = add_cc(x[0], y[0] ^ flip);
#pragma unroll
        for (u32 j = 1; j < 4; j++) s[j] = addc_cc(x[j], y[j] ^ flip);
        const bool makes = addc(0, 0);
        const u32 in = team.ripple(makes, (s[0] & s[1] & s[2] & s[3]) == ALL, carry);
        s[0] = add_cc(s[0], in);
#pragma unroll
        for (u32 j = 1; j < 4; j++) s[j] = addc_cc(s[j], 0);
        if (i < room) *reinterpret_cast<uint4*>(r + i) = make_uint4(s[0], s[1], s[2], s[3]);
#pragma unroll
        for (u32 j = 0; j < 4; j++)
            if (i < room && s[j]) length = i + j + 1;
    }
    return team.most(length);
}

// Where a warp's teams work, each from its own `offset` on: in shared memory or, if T is WARP,
// in any memory.
struct Room {
    u32* words;
    uint4* rows;  // WARP of them, in shared memory
    u32 offset;

    TEAM_FN u32* mine() const { return words + offset; }
};

// Sets room[at, at + n) to the number, with zeros above it. All lanes copy the numbers of all
// teams, one after the other: so they read whole cache lines, and several at once.
template <u32 T>
TEAM_FN void stage(const Team<T>& team, Magnitude from, const Room& room, u32 at, u32 n) {
    constexpr u32 TEAMS = WARP / T, AHEAD = TEAMS < 8 ? TEAMS : 8;
    const u64 address = reinterpret_cast<u64>(from.at);
    __syncwarp();
    if (team.rank == 0)
        room.rows[team.lane / T] = make_uint4(u32(address), u32(address >> 32), room.offset + at,
                                              T == WARP ? 0 : from.length << 16 | n);
    __syncwarp();
    for (u32 base = 0; team.any(base < n); base += WARP) {
        const u32 i = base + team.lane;
        for (u32 k = 0; k < TEAMS; k += AHEAD) {
            u32 words[AHEAD], to[AHEAD];
#pragma unroll
            for (u32 j = 0; j < AHEAD; j++) {
                const uint4 row = room.rows[k + j];
                const auto source = reinterpret_cast<const u32*>(u64(row.y) << 32 | row.x);
                const u32 length = T == WARP ? from.length : row.w >> 16;
                const u32 end = T == WARP ? n : row.w & 0xFFFF;
                words[j] = i < length ? source[i] : 0;
                to[j] = i < end ? row.z + i : ALL;
            }
#pragma unroll
            for (u32 j = 0; j < AHEAD; j++)
                if (to[j] != ALL) room.words[to[j]] = words[j];
        }
    }
}

// Sets r[0, room) to from[0, length), shifted down by 0 to 31 bits, with zeros above it; room is
// a multiple of four. Returns the length.
template <u32 T>
TEAM_FN u32 store(const Team<T>& team, const u32* from, u32 length, u32 shift, u32* r, u32 room) {
    u32 found = 0;
    for (u32 v = team.rank; 4 * v < room; v += T) {
        u32 words[4];
#pragma unroll
        for (u32 j = 0; j < 4; j++) {
            const u32 i = 4 * v + j, above = i + 1 < length ? from[i + 1] : 0;
            words[j] = i < length ? __funnelshift_r(from[i], above, shift) : 0;
            if (words[j]) found = i + 1;
        }
        reinterpret_cast<uint4*>(r)[v] = make_uint4(words[0], words[1], words[2], words[3]);
    }
    return team.most(found);
}

// Computes x[0, n) <<= shift, 0 to 31 bits; what leaves at the top is lost.
template <u32 T>
TEAM_FN void shift_up(const Team<T>& team, u32* x, u32 n, u32 shift) {
    for (int top = int(n); team.any(top > 0); top -= int(T)) {
        const int i = top - int(T) + int(team.rank);
        const bool in = top > 0 && i >= 0;
        const u32 word = in ? __funnelshift_l(i ? x[i - 1] : 0, x[i], shift) : 0;
        team.sync();
        if (in) x[i] = word;
        team.sync();
    }
}

}  // namespace

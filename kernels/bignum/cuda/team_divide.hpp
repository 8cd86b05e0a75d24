// Long division, in place (Knuth, The Art of Computer Programming 2, 4.3.1, algorithm D).
#pragma once
#include "team.hpp"

namespace {

// Returns floor((2^96 - 1) / d) - 2^32, for d of two words with the top bit set (Möller and
// Granlund, Improved division by invariant integers, 2011, algorithm 6).
TEAM_FN u32 reciprocal(u32 high, u32 low) {
    u32 v = u32(~u64(0) / high - (u64(1) << 32));
    u32 p = high * v + low;
    if (p < low) {
        v--;
        if (p >= high) v--, p -= high;
        p -= high;
    }
    const u64 t = u64(v) * low;
    p += u32(t >> 32);
    if (p < u32(t >> 32)) {
        v--;
        if (p > high || (p == high && u32(t) >= low)) v--;
    }
    return v;
}

// Returns floor((u2, u1, u0) / (high, low)), which is below 2^32 (algorithm 5 of the same
// paper).
TEAM_FN u32 quotient(u32 u2, u32 u1, u32 u0, u32 high, u32 low, u32 reciprocal) {
    const u64 q = u64(reciprocal) * u2 + (u64(u2) << 32 | u1), d = u64(high) << 32 | low;
    u32 digit = u32(q >> 32);
    u64 r = (u64(u1 - digit * high) << 32 | u0) - u64(digit) * low - d;
    digit++;
    if (u32(r >> 32) >= u32(q)) digit--, r += d;
    if (r >= d) digit++;
    return digit;
}

// Divides u[0, m] by v[0, n): the quotient comes to u[n, m], the remainder to u[0, n).
// Preconditions: 2 <= n <= m, v's top bit is set, u[m - n + 1, m] is less than v.
template <u32 T>
TEAM_FN void divide(const Team<T>& team, u32* u, u32 m, const u32* v, u32 n, bool live) {
    const u32 high = live ? v[n - 1] : 0x80000000u, low = live ? v[n - 2] : 0;
    const u32 inverse = reciprocal(high, low);
    for (int j = live ? int(m - n) : -1; team.any(j >= 0); j--) {
        const bool on = j >= 0;
        u32* at = u + (on ? j : 0);
        u32 q = 0;
        if (on) {
            const u32 u2 = at[n], u1 = at[n - 1];
            q = u2 > high || (u2 == high && u1 >= low)
                    ? ALL : quotient(u2, u1, at[n - 2], high, low, inverse);
        }
        team.sync();
        // u - q v = u + q ~v + q - q 2^(32 (n + 1)), where v has another word, 0, above.
        u32 carry = 0, product = q;
        for (u32 first = 0; team.any(on && first <= n); first += T) {
            const u32 i = first + team.rank;
            const bool in = on && i <= n;
            const u64 t = in ? u64(q) * (i < n ? ~v[i] : ALL) + at[i] : 0;
            u32 s = u32(t);
            const u32 below = team.up(u32(t >> 32), product);
            s += below;
            s += team.ripple(s < below, s == ALL, carry);
            if (T == 1) product += carry, carry = 0;
            if (in) at[i] = s;
        }
        team.sync();
        bool less = on && at[n];
        team.sync();
        while (team.any(less)) {
            q -= less;
            carry = 0;
            for (u32 first = 0; team.any(less && first <= n); first += T) {
                const u32 i = first + team.rank;
                const bool in = less && i <= n;
                const u32 x = in ? at[i] : 0;
                u32 s = x + (in && i < n ? v[i] : 0);
                s += team.ripple(s < x, s == ALL, carry);
                if (in) at[i] = s;
            }
            team.sync();
            less = less && at[n];
            team.sync();
        }
        if (on && team.rank == 0) at[n] = q;
        team.sync();
    }
}

// Rounds towards minus infinity, where the signs differ: changes the quotient u[n, m + 2) and
// the remainder u[0, n). The divisor is v[0, n).
template <u32 T>
TEAM_FN void round_down(const Team<T>& team, u32* u, u32 m, const u32* v, u32 n, bool live) {
    bool rest = false;
    for (u32 i = team.rank; live && i < n; i += T) rest |= u[i] != 0;
    live = team.votes(rest) != 0;
    u32 carry = 1;
    for (u32 first = 0; team.any(live && first < m + 2); first += T) {
        const u32 i = first + team.rank;
        const bool low = live && i < n, high = live && i >= n && i < m + 2;
        const u32 x = low ? ~u[i] : high ? u[i] : 0;
        // Below, v - u is computed, and a carry of 1 comes out of it; above, u + 1.
        u32 s = x + (low ? v[i] : 0);
        s += team.ripple(s < x, s == ALL, carry);
        if (low || high) u[i] = s;
    }
    team.sync();
}

// A division of magnitudes that was made ready: |a| 2^shift is in u[0, m + 2) and |b| 2^shift in
// v[0, n), both above `low` zero words, as the divisor needs two words.
struct Division {
    u32 *u, *v;
    u32 m, n, low, shift;
};

// Returns how many words a division needs.
TEAM_FN u32 division_room(u32 a, u32 b) { return (a < b ? b : a) + b + 8; }

template <u32 T>
TEAM_FN Division prepare(const Team<T>& team, Magnitude a, Magnitude b, const Room& room) {
    Division d;
    d.low = b.length == 1;
    d.n = b.length + d.low;
    d.m = a.length + d.low < d.n ? d.n : a.length + d.low;
    d.u = room.mine(), d.v = d.u + d.m + 2;
    d.shift = b.length ? u32(__clz(int(b.at[b.length - 1]))) : 0;
    stage(team, a, room, d.low, d.m + 2 - d.low);
    stage(team, b, room, d.m + 2 + d.low, d.n - d.low);
    if (d.low && team.rank == 0) d.u[0] = d.v[0] = 0;
    __syncwarp();
    shift_up(team, d.u, d.m + 1, d.shift);
    shift_up(team, d.v, d.n, d.shift);
    return d;
}

}  // namespace

// Greatest common divisors: one division, then Lehmer's steps of about 31 quotient bits.
#pragma once
#include "team_divide.hpp"

namespace {

// One step: x becomes P x - Q y, and y becomes S y - R x.
struct Step {
    u32 p, q, r, s;
    bool crossed;  // x and y change places first
};

// Makes the steps of Euclid's algorithm that the numbers' leading bits x >= y determine, with
// multipliers of 31 bits, and returns them as one step: Collins' condition (Jebelean, A
// double-digit Lehmer-Euclid algorithm, 1995, 2).
TEAM_FN Step simulate(u64 x, u64 y) {
    Step step = {1, 0, 0, 1, false};
    while (y) {
        const u64 q = x / y, r = x - q * y;
        const u64 p = step.p + q * step.r, s = step.q + q * step.s;
        if (q >> 31 || p >> 31 || s >> 31 || r < (p < s ? s : p) ||
            y - r < (p < s ? s : p) + (step.r < step.s ? step.s : step.r))
            break;
        step = {step.s, step.r, u32(s), u32(p), !step.crossed};
        x = y, y = r;
    }
    return step;
}

TEAM_FN u64 gcd64(u64 x, u64 y) {
    if (!x || !y) return x | y;
    const int twos = __ffsll((long long)(x | y)) - 1;
    x >>= __ffsll((long long)x) - 1;
    while (y) {
        y >>= __ffsll((long long)y) - 1;
        if (x > y) {
            const u64 t = x;
            x = y, y = t;
        }
        y -= x;
    }
    return x << twos;
}

TEAM_FN u32 used(const u32* x, u32 n) {
    while (n && !x[n - 1]) n--;
    return n;
}

// Returns the 64 bits of x that begin `shift` bits below the top of word n - 1.
TEAM_FN u64 window(const u32* x, u32 n, u32 shift) {
    const u32 a = x[n - 1], b = n > 1 ? x[n - 2] : 0, c = n > 2 ? x[n - 3] : 0;
    return u64(__funnelshift_l(b, a, shift)) << 32 | __funnelshift_l(c, b, shift);
}

// Computes x = -x, in n words.
template <u32 T>
TEAM_FN void negate(const Team<T>& team, u32* x, u32 n, bool live) {
    u32 carry = 1;
    for (u32 first = 0; team.any(live && first < n); first += T) {
        const u32 i = first + team.rank;
        const bool in = live && i < n;
        u32 s = in ? ~x[i] : 0;
        s += team.ripple(false, s == ALL, carry);
        if (in) x[i] = s;
    }
    team.sync();
}

// Returns m, and sets `words`, so that m q 2^(32 words) is about the largest multiple of q that
// is not above p, the larger number.
TEAM_FN u32 multiple(const u32* p, u32 pn, const u32* q, u32 qn, u32& words) {
    const u32 ps = u32(__clz(int(p[pn - 1]))), qs = u32(__clz(int(q[qn - 1])));
    const u32 by = int(pn * 32 - ps - (qn * 32 - qs));  // how many bits p is longer
    const u64 ratio = (window(p, pn, ps) >> 1) / ((window(q, qn, qs) >> 32) + 1);  // 2^(31 - by)
    words = 0;
    if (by <= 31) {
        const u32 m = u32(ratio >> (31 - by));
        return m ? m : 1;
    }
    words = (by - 31) / 32;
    const u64 m = ratio << (by - 31) % 32;
    if (m >> 32 == 0) return u32(m);
    words++;
    return u32(m >> 32);
}

// Computes the gcd of x[0, n) and y[0, n), n >= 2; both are lost. Returns where it is, in n
// words.
//
// Whatever the multipliers are, the greatest common divisor stays the same, as every step's
// determinant is 1 or -1 and signs do not matter: the multipliers only decide how fast it ends.
template <u32 T>
TEAM_FN u32* gcd(const Team<T>& team, u32* x, u32* y, u32 n, bool live) {
    u32 xn = n, yn = n;
    while (true) {
        if (live) {
            xn = used(x, xn), yn = used(y, yn);
            if (xn < yn || (xn == yn && xn && window(x, xn, 0) < window(y, yn, 0))) {
                u32* t = x;
                x = y, y = t;
                const u32 k = xn;
                xn = yn, yn = k;
            }
        }
        bool more = live && yn;
        const bool last = more && xn <= 2;  // both are below 2^64
        const u64 g = last ? gcd64(u64(x[1]) << 32 | x[0], u64(y[1]) << 32 | y[0]) : 0;
        team.sync();
        if (last) x[0] = u32(g), x[1] = u32(g >> 32);
        more = live = more && !last;
        if (!team.any(more)) break;
        Step step = {1, 0, 0, 1, false};
        u32 words = 0;
        if (more) {
            const u32 shift = u32(__clz(int(x[xn - 1])));
            if (xn <= yn + 2) step = simulate(window(x, xn, shift), window(y, xn, shift));
            if (!step.r) step.q = multiple(x, xn, y, yn, words);
            if (step.crossed) {
                u32* t = x;
                x = y, y = t;
            }
        }
        team.sync();
        // -q y = q ~y + q - q 2^(32 n)
        u32 above_x = step.q, above_y = step.r, carry_x = 0, carry_y = 0, top_x = 0, top_y = 0;
        for (u32 first = 0; team.any(more && first <= xn); first += T) {
            const u32 i = first + team.rank;
            const bool in = more && i < xn;
            const u32 xi = in ? x[i] : 0, yi = in ? y[i] : 0;
            const u32 far = words ? (in && i >= words ? y[i - words] : 0) : yi;
            const u64 tx = in ? u64(step.p) * xi + u64(step.q) * ~far : 0;
            const u64 ty = in ? u64(step.s) * yi + u64(step.r) * ~xi : 0;
            const u32 bx = team.up(u32(tx >> 32), above_x), by = team.up(u32(ty >> 32), above_y);
            u32 sx = u32(tx) + bx, sy = u32(ty) + by;
            sx += team.ripple(sx < bx, sx == ALL, carry_x);
            sy += team.ripple(sy < by, sy == ALL, carry_y);
            if (T == 1) above_x += carry_x, above_y += carry_y, carry_x = carry_y = 0;
            if (i == xn) top_x = sx, top_y = sy;
            if (in) x[i] = sx;
            if (in && step.r) y[i] = sy;
        }
        team.sync();
        top_x = team.get(top_x, xn % T), top_y = team.get(top_y, xn % T);
        yn = xn;
        const bool less_x = more && top_x < step.q, less_y = more && step.r && top_y < step.r;
        if (team.any(less_x)) negate(team, x, xn, less_x);
        if (team.any(less_y)) negate(team, y, xn, less_y);
    }
    return x;
}

}  // namespace

// Passes numbers of batches to GMP as its integers, and takes its results.
#pragma once
#include <cstring>

#include "batch.hpp"
#include "bind.hpp"

namespace bignum {

// Returns GMP's view of a number of a batch, which GMP may only read.
inline Mpz mpz_of(const Number& x) {
    const int length = int(x.length);
    return {length, x.negative ? -length : length, const_cast<u64*>(x.words)};
}

// Integers whose memory GMP has allocated, for the results of a part.
struct OwnMpz {
    Mpz value;
    OwnMpz() { gmp().mpz_init(&value); }
    ~OwnMpz() { gmp().mpz_clear(&value); }
    OwnMpz(const OwnMpz&) = delete;
    OwnMpz& operator=(const OwnMpz&) = delete;
    i64 length() const { return value.size < 0 ? -i64(value.size) : value.size; }
};

inline void store(const Result& out, i64 i, const OwnMpz& x, Found& found) {
    if (x.length()) std::memcpy(room(out, i), x.value.words, std::size_t(x.length()) * 8);
    finish(out, i, x.length(), x.value.size < 0, found);
}

// Computes r = y - r in place, for 0 < r < y.
inline void subtract_from(u64* r, i64 length, const Number& y) {
    bool borrow = false;
    for (i64 i = 0; i < y.length; i++) {
        const u64 low = i < length ? r[i] : 0, less = y.words[i] - low;
        const bool next = y.words[i] < low || less < u64(borrow);
        r[i] = less - borrow;
        borrow = next;
    }
}

// Raises ValueError for numbers that are too long for GMP: its integers have at most 2^31 - 1
// words.
inline void check_length(const Batch& x) {
    if (x.view.width >= (i64(1) << 31)) throw nb::value_error("numbers of over 2^37 bits");
}

// Returns what a division of so many words takes, in ns.
inline double division_cost(i64 x, i64 y) {
    return 20 + (x < y ? 1 : 10 + double(y) * double(x - y + 1) / (1 + double(y) / 256));
}

}  // namespace bignum

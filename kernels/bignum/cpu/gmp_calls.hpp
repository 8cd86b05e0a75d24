// Calls of GMP that can be left. None of its functions can be interrupted, and those of long
// numbers take seconds or hours.
#pragma once
#include "gmp.hpp"

namespace bignum {

// While an object of this class exists, the calls that its thread makes through leavable()
// return soon after `cancelled` has become true. Their results are then of no use, but no longer
// than they may be.
class Leaving {
public:
    explicit Leaving(const volatile bool* cancelled);
    ~Leaving();
    Leaving(const Leaving&) = delete;
    Leaving& operator=(const Leaving&) = delete;
};

// Tells whether this thread's calls are to be left. Loops of the same thread that take long ask
// it.
bool left();

// Returns the functions of a library; calls of those that take long can be left. There is one
// library: a second call replaces the first.
Gmp leavable(const Gmp& library);

}  // namespace bignum

// GMP's functions on words, found at run time in the library that gmpy2 brings, so that nothing
// here needs GMP's headers. The prototypes are those of GMP 5 and later (manual, chapter 8).
#pragma once
#include <cstddef>
#include <cstdint>

namespace bignum {

using Limb = std::uint64_t;
using Size = long;

struct Mpz {  // GMP's mpz_t
    int alloc, size;  // size is negative for a negative number
    Limb* words;
};

#define BIGNUM_GMP(FUNCTION)                                                                      \
    FUNCTION(Limb, mpn_mul, (Limb*, const Limb*, Size, const Limb*, Size))                        \
    FUNCTION(void, mpn_sqr, (Limb*, const Limb*, Size))                                           \
    FUNCTION(void, mpn_tdiv_qr,                                                                   \
             (Limb*, Limb*, Size, const Limb*, Size, const Limb*, Size))                          \
    FUNCTION(Size, mpn_sqrtrem, (Limb*, Limb*, const Limb*, Size))                                \
    FUNCTION(Size, mpn_set_str, (Limb*, const unsigned char*, std::size_t, int))                  \
    FUNCTION(std::size_t, mpn_get_str, (unsigned char*, int, Limb*, Size))                        \
    FUNCTION(void, mpz_init, (Mpz*))                                                              \
    FUNCTION(void, mpz_clear, (Mpz*))                                                             \
    FUNCTION(void, mpz_gcd, (Mpz*, const Mpz*, const Mpz*))                                       \
    FUNCTION(int, mpz_invert, (Mpz*, const Mpz*, const Mpz*))                                      \
    FUNCTION(void, mpz_powm, (Mpz*, const Mpz*, const Mpz*, const Mpz*))                          \
    FUNCTION(void, mpz_pow_ui, (Mpz*, const Mpz*, unsigned long))                                 \
    FUNCTION(void, mpz_set, (Mpz*, const Mpz*))                                                   \
    FUNCTION(void, mpz_mul, (Mpz*, const Mpz*, const Mpz*))                                       \
    FUNCTION(void, mpz_mod, (Mpz*, const Mpz*, const Mpz*))

struct Gmp {
#define FIELD(result, name, arguments) result(*name) arguments;
    BIGNUM_GMP(FIELD)
#undef FIELD
};

}  // namespace bignum

// What binds the compiled kernels of big integers to Python: bind.cpp calls the other files'
// functions.
#pragma once
#include <nanobind/nanobind.h>

#include <string>

#include "lanes.hpp"

namespace bignum {

// Returns GMP's functions, of the library that was loaded. Threads may not raise, so call
// need_gmp() before they start.
const Gmp& gmp();
void need_gmp();  // raises RuntimeError if there is none

// Raises MemoryError where computations would take more memory than there is, as GMP ends the
// process where it gets none. words: of the longest operands and the result of one computation.
// count: of computations, of which as many run at once as there are threads.
void check_gmp_memory(double words, i64 count, int threads);

// Returns the functions of a level. Raises ValueError where the CPU or the build has no such
// level.
const BignumOps& ops_of(const std::string& level);
const BignumOps& best_ops();

// Returns the functions for lanes, or null where the CPU, the build or the level has none.
const Lanes* lanes_of(const std::string& level);

void bind_products(nanobind::module_& m);
void bind_moves(nanobind::module_& m);    // copies, shifts, comparisons
void bind_gmp(nanobind::module_& m);      // what GMP computes number by number
void bind_powers(nanobind::module_& m);  // powers modulo numbers
void bind_gcd(nanobind::module_& m);
void bind_convert(nanobind::module_& m);  // Python's integers
void bind_text(nanobind::module_& m);     // lines of digits

}  // namespace bignum

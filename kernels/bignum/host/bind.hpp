// What binds the compiled kernels of big integers to Python: bind.cpp calls the others.
#pragma once
#include <nanobind/nanobind.h>

#include <string>

#include "lanes.hpp"

namespace bignum {

// Of the library loaded. Threads may not raise: what uses it asks for it first.
const Gmp& gmp();
void need_gmp();  // raises RuntimeError if there is none

// GMP ends the process where it gets no memory: raises MemoryError before, if `words`, those
// of the longest operands and result of a computation, are too many for what it may take
// beside them, for as many computations as run at once.
void check_gmp_memory(double words, i64 count, int threads);

// Raises ValueError where the CPU or the build have no such level.
const BignumOps& ops_of(const std::string& level);

// Null where the CPU, the build or the level have none.
const Lanes* lanes_of(const std::string& level);

void bind_products(nanobind::module_& m);
void bind_moves(nanobind::module_& m);    // copies, shifts, comparisons
void bind_gmp(nanobind::module_& m);      // what GMP computes number by number
void bind_gcd(nanobind::module_& m);
void bind_convert(nanobind::module_& m);  // Python's integers
void bind_text(nanobind::module_& m);     // lines of digits

}  // namespace bignum

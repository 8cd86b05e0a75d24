// What binds the compiled kernels of big integers to Python: bind.cpp calls the others.
#pragma once
#include <nanobind/nanobind.h>

#include "gmp.hpp"

namespace bignum {

// Of the library loaded. Threads may not raise: what uses it asks for it first.
const Gmp& gmp();
void need_gmp();  // raises RuntimeError if there is none

void bind_words(nanobind::module_& m);    // copies, shifts, comparisons
void bind_gmp(nanobind::module_& m);      // what GMP computes number by number
void bind_convert(nanobind::module_& m);  // Python's integers
void bind_text(nanobind::module_& m);     // lines of digits

}  // namespace bignum

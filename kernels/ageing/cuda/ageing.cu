// Ageing cells on a CUDA device: the kernels of Life, of cells that have ages beside being live.
//
// Macros: STATES of the rule, and those of life.cu, but AGES.
#include "../ages.hpp"

#ifndef STATES
#define STATES 3
#endif
#define AGES StaticAges<STATES>

#include "../../life/cuda/life.cu"

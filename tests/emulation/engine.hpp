// What a kernel sees of the engine that runs it.
//
// The engine itself (engine.cpp) is compiled once and linked into every module,
// each of which so has fibers and shared memory of its own.
#pragma once
#include <cstddef>
#include <cstdint>

#pragma GCC visibility push(hidden)

struct uint3 { unsigned x, y, z; };
struct dim3 { unsigned x = 1, y = 1, z = 1; };

// Set by the scheduler before it switches to a thread.
extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;

namespace emulation {

enum class Op { shfl, shfl_up, shfl_down, shfl_xor, ballot, any, all, match_any, syncwarp };
struct Site { const char* file; int line; };

extern char* dynamic_shared;

// What the calling thread gets when all lanes of the mask have come to the same call.
std::uint64_t collective(Op op, unsigned mask, std::uint64_t value, unsigned arg, unsigned width,
                         Site site);
// __syncthreads; what: 0 how many threads gave a true predicate, 1 whether all, 2 whether any.
int barrier(bool predicate, unsigned what, Site site);
// Lets the other threads run.
void wait();
// An atomic operation is a good place for another thread to come in between,
// and a thread that spins on one must let the others run.
void maybe_yield();
// Records the first error, with the thread that met it.
__attribute__((format(printf, 1, 2))) void report(const char* format, ...);
// Leaves the thread for good; a failed launch resumes none.
[[noreturn]] void leave();

#define EMULATION_FAIL(...) (::emulation::report(__VA_ARGS__), ::emulation::leave())

}  // namespace emulation

#pragma GCC visibility pop

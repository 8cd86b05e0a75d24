// What all kernels that enumerate semigroups share.
#pragma once

#if !defined(DYNAMIC_SHARED)
#define DYNAMIC_SHARED(T, name) extern __shared__ T name[]
#endif

#define TRANSF_FN __device__ __forceinline__

namespace {

using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;  // as the atomics name it

constexpr u32 ALL = 0xFFFFFFFFu, WARP = 32;
constexpr u32 NONE = 0xFFFFFFFFu;  // no number, no slot

// TICKET is nought between launches. FREED: rows of products that were there already.
// DIFFERS, BROKEN: whether rows of equal hashes differ, and tables contradict themselves.
enum Counter : u32 { TICKET, COMPUTED, FOUND, FREED, DIFFERS, BROKEN, COUNTERS };

}  // namespace

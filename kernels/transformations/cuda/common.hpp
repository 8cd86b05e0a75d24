// What all kernels that enumerate semigroups share.
#pragma once

#if !defined(DYNAMIC_SHARED)
#define DYNAMIC_SHARED(T, name) extern __shared__ T name[]
#endif

#define SEMIGROUP_FN __device__ __forceinline__

namespace {

using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;  // the type that the atomics take

constexpr u32 ALL = 0xFFFFFFFFu, WARP = 32;
constexpr u32 NONE = 0xFFFFFFFFu;  // no number, no slot

// What is counted. TICKET is zero between launches. FREED: rows of products that were there
// already. DIFFERS, BROKEN: whether rows of equal hashes differ, and whether tables contradict
// themselves.
enum Counter : u32 { TICKET, COMPUTED, FOUND, FREED, DIFFERS, BROKEN, COUNTERS };

}  // namespace

// Finds what a CPU level exports. A file that is compiled once per level exports one constant of a
// structure of functions, whose name ends with the level's: ranges_v2, ranges_v3 and so on.
#pragma once
#include <nanobind/nanobind.h>

#include <cstddef>
#include <string>

// Made by CMake: EACH_LEVEL(DO, ...) stands for DO(v2, ...) DO(v3, ...) and so on, slowest first.
#include "levels.inc"

template <class Ops>
struct Level {
    const char* name;
    const Ops* ops;
};

#define DECLARED_AT(level, Ops, name) extern const Ops name##_##level;
#define NAMED_AT(level, Ops, name) {#level, &name##_##level},

// Declares name_v2, name_v3 and so on, and defines the table name_levels of them.
#define LEVELS_OF(Ops, name)           \
    EACH_LEVEL(DECLARED_AT, Ops, name) \
    static const Level<Ops> name##_levels[] = {EACH_LEVEL(NAMED_AT, Ops, name)};

inline bool supported(const std::string& name) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (name == "v4")
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
    if (name == "v3") return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
    if (name == "v2") return __builtin_cpu_supports("sse4.2");
#endif
    return name == "base";
}

// Returns what the level that a caller names exports. Raises ValueError where the CPU or the build
// have none of that name.
template <class Ops, std::size_t N>
const Ops& ops_at(const Level<Ops> (&levels)[N], const std::string& name) {
    for (const Level<Ops>& level : levels)
        if (name == level.name && supported(name)) return *level.ops;
    throw nanobind::value_error(("this CPU or build has no level " + name).c_str());
}

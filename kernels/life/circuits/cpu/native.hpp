// Native code for a circuit, where the CPU has AVX-512 and the system lets memory be executed.
#pragma once
#include <cstdint>
#include <vector>

#include "../../cpu/circuit_code.hpp"
#include "search.hpp"

namespace circuits {

// Memory with the code of a function; none where native() is null.
class Native {
public:
    Native() = default;
    // Has the code of a circuit whose inputs stand in a CircuitRow as `at` says (circuit_code.hpp).
    Native(const Ops& ops, const int at[5]);
    Native(const Native&) = delete;
    Native& operator=(const Native&) = delete;
    ~Native();

    CircuitRows function() const { return reinterpret_cast<CircuitRows>(memory_); }

private:
    void* memory_ = nullptr;
    std::size_t bytes_ = 0;
};

// Returns the code, for x86-64 with AVX-512 and the calling convention of Unix; nothing where its
// registers do not suffice.
std::vector<std::uint8_t> assemble(const Ops& ops, const int at[5]);

}  // namespace circuits

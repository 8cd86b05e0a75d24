// What runs kernels: fibers.hpp switches between stacks, lanes.hpp runs the
// threads of a block on them, launch.hpp the blocks of a grid. And what the checks
// that are compiled into a kernel call.
#include "launch.hpp"

namespace emulation {

// The checks of -fsanitize=undefined come here: no runtime library is needed,
// and they end the launch. Every check's data begin with the place.
struct CheckData {
    const char* file;
    unsigned line, column;
};
struct TypeMismatchData {
    CheckData place;
    const struct { unsigned short kind, info; char name[1]; }* type;
    unsigned char log_alignment, access;
};

}  // namespace emulation

#define EMULATION_CHECK(name, what)                                                  \
    extern "C" void __ubsan_handle_##name(const ::emulation::CheckData* at) {        \
        EMULATION_FAIL("%s at %s:%u:%u", what, at->file, at->line, at->column);      \
    }
EMULATION_CHECK(shift_out_of_bounds, "shift by too many bits, or of a negative number,")
EMULATION_CHECK(out_of_bounds, "index out of the array's bounds")
EMULATION_CHECK(divrem_overflow, "division by zero or with overflow")
EMULATION_CHECK(load_invalid_value, "load of a value that the type has not")
EMULATION_CHECK(add_overflow, "signed addition overflows")
EMULATION_CHECK(sub_overflow, "signed subtraction overflows")
EMULATION_CHECK(mul_overflow, "signed multiplication overflows")
EMULATION_CHECK(negate_overflow, "signed negation overflows")
EMULATION_CHECK(vla_bound_not_positive, "array of no or negative size")
EMULATION_CHECK(builtin_unreachable, "__builtin_unreachable() was reached")
EMULATION_CHECK(missing_return, "a function ends without its return")
extern "C" void __ubsan_handle_type_mismatch_v1(const ::emulation::TypeMismatchData* data,
                                                std::uintptr_t address) {
    const bool aligned = address % (std::uintptr_t(1) << data->log_alignment) == 0;
    EMULATION_FAIL("%s of %s, address %p, at %s:%u:%u",
                   !address ? "null pointer access"
                   : aligned ? "access outside the object"
                             : "misaligned access",
                   data->type->name, reinterpret_cast<void*>(address), data->place.file,
                   data->place.line, data->place.column);
}

// assert() in a kernel; binds here because all that this file has is hidden.
extern "C" [[noreturn]] void __assert_fail(const char* expression, const char* file, unsigned line,
                                           const char*) noexcept {
    EMULATION_FAIL("assertion %s failed at %s:%u", expression, file, line);
}

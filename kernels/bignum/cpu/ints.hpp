// Python's integers as they lie in memory.
//
// Their digits are read and written where they lie, which is several times as quick as int.to_bytes()
// and int.from_bytes(). How they lie is known from Python's headers, where a build serves one version of
// Python. A build for the stable ABI serves versions that do not exist yet; it reads digits where it
// knows them to lie, and calls the methods in all other versions.
#pragma once
#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstring>

#include "batch.hpp"

namespace bignum {
namespace {

// The magnitude of an integer, the lowest digit first. The integer owns it, or the bytes made of it.
struct Digits {
    const void* digits;  // of 30 bits each in 32; or bytes
    i64 count;
    bool negative;
    bool bytes;
};

// How many digits of an integer take some milliseconds; signals are looked at after so many. They are whole words.
constexpr i64 SOME = i64(1) << 22, SOME_WORDS = SOME / 64 * SHIFT;

#if defined(Py_LIMITED_API)
// An int of CPython 3.12 to 3.14. Bits 0 and 1 of the tag: 0 positive, 1 zero, 2 negative; the number of
// digits from bit 3 on.
struct Layout {
    PyObject head;
    std::uintptr_t tag;
    Digit digits[1];
};
constexpr unsigned long FIRST_KNOWN = 0x030C0000, FIRST_UNKNOWN = 0x030F0000;

Layout* layout_of(PyObject* value) { return reinterpret_cast<Layout*>(value); }

const Digit* digits_in(PyObject* value, i64& count, bool& negative) {
    const Layout* number = layout_of(value);
    count = (number->tag & 3) == 1 ? 0 : i64(number->tag >> 3);
    negative = (number->tag & 3) == 2;
    return number->digits;
}

// Returns an int with room for digits, at least two: shorter ones may be shared, or be kept for others.
PyObject* with_room(i64 count, bool negative) {
    void* memory = PyObject_Malloc(offsetof(Layout, digits) + std::size_t(count) * sizeof(Digit));
    if (!memory) return PyErr_NoMemory();
    layout_of(static_cast<PyObject*>(memory))->tag = std::uintptr_t(count) << 3 | (negative ? 2 : 0);
    return PyObject_Init(static_cast<PyObject*>(memory), &PyLong_Type);
}

Digit* room_of(PyObject* value) { return layout_of(value)->digits; }

// Returns whether an integer lies as Layout says: -(2^70 + 5 * 2^30 + 3).
bool lies_as_known() {
    const nb::object info = nb::steal(PyLong_GetInfo());
    const nb::object value = nb::steal(PyLong_FromString("-400000000140000003", nullptr, 16));
    if (!info.is_valid() || !value.is_valid()) throw nb::python_error();
    if (nb::cast<int>(info.attr("bits_per_digit")) != SHIFT ||
        nb::cast<int>(info.attr("sizeof_digit")) != int(sizeof(Digit)))
        return false;
    const Layout* number = layout_of(value.ptr());
    return number->tag == (3 << 3 | 2) && number->digits[0] == 3 && number->digits[1] == 5 &&
           number->digits[2] == 1 << 10;
}
#else
static_assert(PyLong_SHIFT == SHIFT && sizeof(digit) == sizeof(Digit),
              "Python was built with digits of 15 bits");

const Digit* digits_in(PyObject* value, i64& count, bool& negative) {
    const auto* number = reinterpret_cast<PyLongObject*>(value);
#if PY_VERSION_HEX >= 0x030C0000
    // Bits 0 and 1: 0 positive, 1 zero, 2 negative; the number of digits from bit 3 on.
    const std::uintptr_t tag = number->long_value.lv_tag;
    count = (tag & 3) == 1 ? 0 : i64(tag >> 3);
    negative = (tag & 3) == 2;
    return number->long_value.ob_digit;
#else
    const Py_ssize_t size = Py_SIZE(value);
    count = size < 0 ? -size : size;
    negative = size < 0;
    return number->ob_digit;
#endif
}

#if PY_VERSION_HEX < 0x030E0000
PyObject* with_room(i64 count, bool negative) {
    PyLongObject* value = _PyLong_New(Py_ssize_t(count));
    if (!value) return nullptr;
#if PY_VERSION_HEX >= 0x030C0000
    value->long_value.lv_tag = std::uintptr_t(count) << 3 | (negative ? 2 : 0);
#else
    if (negative) Py_SET_SIZE(value, -Py_ssize_t(count));
#endif
    return reinterpret_cast<PyObject*>(value);
}

Digit* room_of(PyObject* value) {
#if PY_VERSION_HEX >= 0x030C0000
    return reinterpret_cast<PyLongObject*>(value)->long_value.ob_digit;
#else
    return reinterpret_cast<PyLongObject*>(value)->ob_digit;
#endif
}
#endif
#endif

// Writes the digits of a number. Returns false where a handler of signals has raised something.
bool unpack(const BignumOps& ops, Digit* digits, i64 count, Number x) {
    if (x.length == 1) {  // most often so, and over before a call is made
        for (i64 i = 0; i < count; i++) digits[i] = Digit(x.words[0] >> SHIFT * i) & MASK;
        return true;
    }
    for (; count > SOME; count -= SOME, digits += SOME, x.words += SOME_WORDS, x.length -= SOME_WORDS) {
        ops.unpack(digits, SOME, x.words, x.length);
        if (PyErr_CheckSignals() != 0) return false;
    }
    ops.unpack(digits, count, x.words, x.length);
    return true;
}

PyObject* from_digits(const BignumOps& ops, i64 count, const Number& x) {
#if !defined(Py_LIMITED_API) && PY_VERSION_HEX >= 0x030E0000
    void* digits;
    PyLongWriter* writer = PyLongWriter_Create(x.negative, Py_ssize_t(count), &digits);
    if (!writer) return nullptr;
    if (!unpack(ops, static_cast<Digit*>(digits), count, x)) {
        PyLongWriter_Discard(writer);
        return nullptr;
    }
    return PyLongWriter_Finish(writer);
#else
    PyObject* value = with_room(count, x.negative);
    if (!value) return nullptr;
    if (!unpack(ops, room_of(value), count, x)) {
        Py_DECREF(value);
        return nullptr;
    }
    return value;
#endif
}

PyObject* from_bytes(const Number& x) {
    PyObject* value = PyObject_CallMethod(
        reinterpret_cast<PyObject*>(&PyLong_Type), "from_bytes", "Ns",
        PyBytes_FromStringAndSize(reinterpret_cast<const char*>(x.words), Py_ssize_t(8 * x.length)),
        "little");
    if (!value || !x.negative) return value;
    PyObject* negated = PyNumber_Negative(value);
    Py_DECREF(value);
    return negated;
}

// Returns the magnitude through int.to_bytes(), whose result `held` gets. Raises.
Digits bytes_of(PyObject* value, nb::object& held) {
    const nb::int_ number = nb::borrow<nb::int_>(value);
    const bool negative = number < nb::int_(0);
    const nb::object magnitude = nb::steal(PyNumber_Absolute(value));
    if (!magnitude.is_valid()) throw nb::python_error();
    const i64 bits = nb::cast<i64>(magnitude.attr("bit_length")());
    held = magnitude.attr("to_bytes")((bits + 7) / 8, "little");
    return {PyBytes_AsString(held.ptr()), (bits + 7) / 8, negative, true};
}

// Returns whether this process knows how digits lie. Where it does not, they must go by bytes.
bool digits_are_known() {
#if defined(Py_LIMITED_API)
    static const bool known =
        Py_Version >= FIRST_KNOWN && Py_Version < FIRST_UNKNOWN && lies_as_known();
    return known;
#else
    return true;
#endif
}

Digits digits_of(PyObject* value) {
    Digits x = {nullptr, 0, false, false};
    x.digits = digits_in(value, x.count, x.negative);
    return x;
}

// Returns how many words the integer has, without leading zeros.
i64 words_of(const Digits& x) {
    if (!x.count) return 0;
    if (x.bytes) return (x.count + 7) / 8;
    const Digit top = static_cast<const Digit*>(x.digits)[x.count - 1];
    return (SHIFT * (x.count - 1) + 32 - __builtin_clz(top) + 63) / 64;
}

// Writes the words of an integer, `length` as words_of() says, and zeros to at most 16 bytes past them. Raises what
// a handler of signals raised.
void pack(const BignumOps& ops, u64* words, i64 length, const Digits& x) {
    if (x.bytes) {
        if (length) words[length - 1] = 0;
        std::memcpy(words, x.digits, std::size_t(x.count));
        return;
    }
    const auto* digits = static_cast<const Digit*>(x.digits);
    i64 count = x.count;
    for (; count > SOME; count -= SOME, digits += SOME, words += SOME_WORDS, length -= SOME_WORDS) {
        ops.pack(words, SOME_WORDS, digits, SOME);
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
    }
    ops.pack(words, length, digits, count);
}

// Returns a new reference to an int. by_bytes: through int.from_bytes(). Null where it raised.
PyObject* python_int(const BignumOps& ops, const Number& x, bool by_bytes) {
    if (!x.length) return PyLong_FromLong(0);
    const u64 top = x.words[x.length - 1];
    if (x.length == 1 && top <= u64(MASK))
        return PyLong_FromLong(x.negative ? -long(top) : long(top));
    if (by_bytes) return from_bytes(x);
    const i64 bits = 64 * x.length - __builtin_clzll(top);
    return from_digits(ops, (bits + SHIFT - 1) / SHIFT, x);
}

}  // namespace
}  // namespace bignum

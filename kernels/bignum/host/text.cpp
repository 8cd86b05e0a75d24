// Lines of decimal or hexadecimal digits into packed words and back.
#include <cmath>
#include <cstring>

#include "batch.hpp"
#include "bind.hpp"

namespace bignum {
namespace {

struct Line {
    const unsigned char* digits;
    i64 count;
    bool hexadecimal, negative;
};

// 0 to 15, or 16 for what is no digit.
int digit_value(unsigned char c) {
    if (c >= '0' && c <= '9') return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

bool blank(unsigned char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

i64 words_for(const Line& line) {
    if (line.hexadecimal) return (line.count + 15) / 16;
    // log2(10) < 3.3220; GMP wants a word to spare.
    return i64(double(line.count) * (3.3220 / 64)) + 2;
}

double text_cost(i64 length) {
    return 30 + 30 * double(length) * (1 + double(std::min<i64>(length, 2000)) / 30);
}

// Fetches the number of a line. scratch: a byte for each digit.
i64 parse(u64* words, const Line& line, unsigned char* scratch) {
    if (line.hexadecimal) {
        const i64 length = (line.count + 15) / 16;
        for (i64 i = 0; i < length; i++) {
            const i64 end = line.count - 16 * i;
            u64 word = 0;
            for (i64 k = std::max<i64>(end - 16, 0); k < end; k++)
                word = word << 4 | u64(digit_value(line.digits[k]));
            words[i] = word;
        }
        return length;
    }
    for (i64 i = 0; i < line.count; i++) scratch[i] = line.digits[i] - '0';
    return gmp().mpn_set_str(words, scratch, std::size_t(line.count), 10);
}

// The batch, or, for a bad character, a tuple of three: where it is, where its line begins
// (offsets), the number of that line.
nb::tuple from_lines(nb::bytes text, int base, int threads) {
    need_gmp();
    const auto* data = reinterpret_cast<const unsigned char*>(text.c_str());
    const unsigned char* const end = data + text.size();
    std::vector<Line> lines;
    std::vector<i64> bounds;
    i64 row = 0, most_digits = 0;
    bool negative = false;
    for (const unsigned char* begin = data; begin < end;) {
        row++;
        const void* found = std::memchr(begin, '\n', std::size_t(end - begin));
        const unsigned char *stop = found ? static_cast<const unsigned char*>(found) : end,
                            *next = found ? stop + 1 : end, *c = begin;
        while (stop > c && blank(stop[-1])) stop--;
        while (c < stop && blank(*c)) c++;
        if (c < stop && *c != '#') {
            Line line = {nullptr, 0, base == 16, *c == '-'};
            if (*c == '-' || *c == '+') c++;
            if (base != 10 && stop - c >= 2 && c[0] == '0' && (c[1] | 0x20) == 'x') {
                line.hexadecimal = true;
                c += 2;
            }
            line.digits = c;
            const int limit = line.hexadecimal ? 16 : 10;
            while (c < stop && digit_value(*c) < limit) c++;
            if (c < stop || c == line.digits) return nb::make_tuple(c - data, begin - data, row);
            while (line.digits + 1 < c && *line.digits == '0') line.digits++;
            line.count = c - line.digits;
            lines.push_back(line);
            bounds.push_back(words_for(line));
            most_digits = std::max(most_digits, line.count);
            negative |= line.negative;
        }
        begin = next;
    }
    check_gmp_memory(double(most_digits) / 16, i64(lines.size()), threads);
    Output out(bounds, true, negative);
    return out.numbers(for_each_part(
        i64(lines.size()), false, threads, most_digits / 8 + 1,
        [&](i64 i) { return text_cost(bounds[std::size_t(i)]); },
        [&](i64 first, i64 last, u64* scratch, Found& part) {
            for (i64 i = first; i < last; i++) {
                const Line& line = lines[std::size_t(i)];
                auto* bytes = reinterpret_cast<unsigned char*>(scratch);
                const i64 length = parse(room(out.view, i), line, bytes);
                finish(out.view, i, length, line.negative, part);
            }
        }));
}

// Characters that the line of a number of so many words has at most.
i64 line_bound(i64 length, int base) {
    const i64 digits = base == 16 ? 16 * length + 2 : i64(double(length) * 19.2660) + 2;
    return digits + 3;  // sign, a digit of zero, end of line
}

// The line of x, and its length. scratch: x.length + 1 words.
i64 format(char* line, const Number& x, int base, u64* scratch) {
    char* c = line;
    if (x.negative) *c++ = '-';
    if (base == 16) {
        *c++ = '0';
        *c++ = 'x';
    }
    if (!x.length) *c++ = '0';
    if (base == 16 && x.length) {
        int shift = 60 - __builtin_clzll(x.words[x.length - 1]) / 4 * 4;
        for (i64 i = x.length; i--; shift = 60)
            for (; shift >= 0; shift -= 4) *c++ = "0123456789abcdef"[x.words[i] >> shift & 15];
    } else if (x.length) {
        std::memcpy(scratch, x.words, std::size_t(x.length) * 8);
        auto* digits = reinterpret_cast<unsigned char*>(c);
        i64 count = i64(gmp().mpn_get_str(digits, 10, scratch, x.length)), zeros = 0;
        while (zeros + 1 < count && !digits[zeros]) zeros++;
        for (i64 i = zeros; i < count; i++) *c++ = char('0' + digits[i]);
    }
    *c++ = '\n';
    return c - line;
}

nb::bytes to_lines(nb::handle numbers, int base, int threads) {
    need_gmp();
    const Batch a(numbers);
    const i64 count = a.view.count;
    check_gmp_memory(double(a.view.width), count, threads);
    // Each line is written where there is room for it; then they are moved together.
    std::vector<i64> starts(std::size_t(count) + 1, 0), sizes(std::size_t(count), 0);
    for (i64 i = 0; i < count; i++)
        starts[std::size_t(i) + 1] = starts[std::size_t(i)] + line_bound(a.trimmed_length(i), base);
    check_memory(double(starts[std::size_t(count)]) / 8);
    nb::bytes text = nb::steal<nb::bytes>(
        PyBytes_FromStringAndSize(nullptr, Py_ssize_t(starts[std::size_t(count)])));
    if (!text.is_valid()) throw nb::python_error();
    char* lines = PyBytes_AS_STRING(text.ptr());
    for_each_part(
        count, false, threads, a.view.width + 1,
        [&](i64 i) { return text_cost(a.length(i)); },
        [&](i64 first, i64 last, u64* scratch, Found&) {
            for (i64 i = first; i < last; i++)
                sizes[std::size_t(i)] =
                    format(lines + starts[std::size_t(i)], number(a.view, i), base, scratch);
        });
    i64 end = 0;
    for (i64 i = 0; i < count; i++) {
        const i64 size = sizes[std::size_t(i)];
        std::memmove(lines + end, lines + starts[std::size_t(i)], std::size_t(size));
        end += size;
    }
    PyObject* whole = text.release().ptr();
    if (_PyBytes_Resize(&whole, Py_ssize_t(end)) != 0) throw nb::python_error();
    return nb::steal<nb::bytes>(whole);
}

}  // namespace

void bind_text(nb::module_& m) {
    m.def("bignum_from_lines", &from_lines, nb::arg("text"), nb::arg("base"), nb::arg("threads"),
          "A batch of the numbers on the lines, or where a bad character is: its offset, that "
          "of its line, the line's number.");
    m.def("bignum_to_lines", &to_lines, nb::arg("a"), nb::arg("base"), nb::arg("threads"),
          "A line for each number, base 10 or 16.");
}

}  // namespace bignum

#include "text.hpp"

#include <cstring>
#include <stdexcept>

namespace cky {

using std::int64_t;
using std::size_t;
using std::uint32_t;
using std::uint64_t;
using std::uint8_t;

namespace {

uint64_t mixed(uint64_t x) {
    const unsigned __int128 product = (unsigned __int128)x * 0x9E3779B97F4A7C15u;
    return uint64_t(product) ^ uint64_t(product >> 64);
}

uint32_t hash_of(const uint8_t* word, size_t length) {
    uint64_t hash = length + 1, piece;
    for (; length >= 8; word += 8, length -= 8) {
        std::memcpy(&piece, word, 8);
        hash = mixed(hash ^ piece) + 1;
    }
    piece = 0;
    for (size_t i = 0; i < length; i++) piece |= uint64_t(word[i]) << 8 * i;
    return uint32_t(mixed(hash ^ piece) >> 20);
}

// Returns 1 for a blank, else 0, so that they can be summed up.
size_t blank(uint8_t byte) { return size_t(byte == ' ') | size_t(uint8_t(byte - '\t') < 5); }

// Returns how many bytes the character at p has, 0 where there is none (the Unicode Standard,
// table 3-7).
size_t character(const uint8_t* p, const uint8_t* end) {
    const uint8_t lead = *p;
    if (lead < 0x80) return 1;
    const size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (lead < 0xC2 || lead > 0xF4 || size_t(end - p) < length) return 0;
    const uint8_t least = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const uint8_t most = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (p[1] < least || p[1] > most) return 0;
    for (size_t i = 2; i < length; i++)
        if ((p[i] & 0xC0) != 0x80) return 0;
    return length;
}

bool is_ascii(const uint8_t* p, const uint8_t* end) {
    uint64_t any = 0, piece;
    for (; end - p >= 8; p += 8) {
        std::memcpy(&piece, p, 8);
        any |= piece;
    }
    uint8_t last = 0;
    for (; p < end; p++) last |= *p;
    return !(any & 0x8080808080808080u) && last < 0x80;
}

// Returns where the line that begins at p ends, before its newline; next: where the next line
// begins.
const uint8_t* line_end(const uint8_t* p, const uint8_t* end, const uint8_t*& next) {
    const uint8_t* newline = static_cast<const uint8_t*>(std::memchr(p, '\n', size_t(end - p)));
    next = newline ? newline + 1 : end;
    if (!newline) return end;
    return newline > p && newline[-1] == '\r' ? newline - 1 : newline;
}

// Takes a line apart into tokens, and with WRITE writes them. For a bad line `fault` and `where`
// are set.
template <bool WRITE>
struct Line {
    const Coding& coding;
    uint32_t* out;
    const volatile bool& cancelled;
    const uint8_t* where = nullptr;
    int64_t fault = 0;
    size_t tokens = 0;

    void put(uint32_t number, const uint8_t* token) {
        if (number == ABSENT) {
            number = coding.unknown;
            if (number == ABSENT && !fault) {
                fault = UNKNOWN;
                where = token;
            }
        }
        if (WRITE) out[tokens] = number;
        tokens++;
    }

    // Tells whether a line is UTF-8. Nothing may be written of one that is not: it was
    // counted as empty.
    bool valid(const uint8_t* p, const uint8_t* end) {
        while (p < end && !cancelled) {
            const size_t length = character(p, end);
            if (!length) {
                fault = INVALID;
                where = p;
                return false;
            }
            p += length;
        }
        return true;
    }

    void characters(const uint8_t* p, const uint8_t* end) {
        if (is_ascii(p, end)) {
            const size_t length = size_t(end - p);
            if (!WRITE) {
                tokens = length;
                return;
            }
            uint32_t any = 0;
            for (size_t i = 0; i < length; i++) any |= out[i] = coding.ascii[p[i]];
            if (!(any >> 31)) {  // as numbers of words are less than 2^31
                tokens = length;
                return;
            }
        } else if (!valid(p, end)) {
            return;
        }
        while (p < end && !cancelled) {
            const size_t length = character(p, end);
            if (!WRITE) tokens++;
            else put(length == 1 ? coding.ascii[*p] : coding.words.find(p, length), p);
            p += length;
        }
    }

    void spaced(const uint8_t* p, const uint8_t* end) {
        if (!is_ascii(p, end) && !valid(p, end)) return;
        for (;;) {
            while (p < end && blank(*p)) p++;
            if (p == end || cancelled) return;
            const uint8_t* token = p;
            while (p < end && !blank(*p)) p++;
            if (!WRITE) tokens++;
            else put(coding.words.find(token, size_t(p - token)), token);
        }
    }

    void read(const uint8_t* p, const uint8_t* end) {
        coding.chars ? characters(p, end) : spaced(p, end);
    }
};

}  // namespace

Vocabulary::Vocabulary(const std::vector<std::string>& words) {
    size_t size = 16;
    while (size < 2 * words.size()) size *= 2;
    slots_.assign(size, Slot{0, ABSENT, 0, 0});
    for (size_t number = 0; number < words.size(); number++) {
        const std::string& word = words[number];
        const uint8_t* bytes = reinterpret_cast<const uint8_t*>(word.data());
        if (find(bytes, word.size()) != ABSENT)
            throw std::invalid_argument("a word comes twice");
        if (number >> 31 || (bytes_.size() + word.size()) >> 32)
            throw std::invalid_argument("more words than a vocabulary can have");
        const uint32_t hash = hash_of(bytes, word.size());
        size_t place = hash & (size - 1);
        while (slots_[place].number != ABSENT) place = (place + 1) & (size - 1);
        slots_[place] = {hash, uint32_t(number), uint32_t(bytes_.size()), uint32_t(word.size())};
        bytes_ += word;
    }
}

uint32_t Vocabulary::find(const uint8_t* word, size_t length) const {
    const uint32_t hash = hash_of(word, length);
    for (size_t place = hash;; place++) {
        const Slot& slot = slots_[place & (slots_.size() - 1)];
        if (slot.number == ABSENT) return ABSENT;
        if (slot.hash == hash && slot.length == length &&
            !std::memcmp(bytes_.data() + slot.start, word, length))
            return slot.number;
    }
}

Coding::Coding(const Vocabulary& words, bool chars, uint32_t unknown)
    : words(words), chars(chars), unknown(unknown) {
    for (int i = 0; i < 128; i++) {
        const uint8_t byte = uint8_t(i);
        ascii[i] = words.find(&byte, 1);
    }
}

std::vector<Part> cut(const uint8_t* text, size_t size, size_t parts) {
    std::vector<Part> result;
    for (size_t i = 1, begin = 0; begin < size; i++) {
        size_t end = i < parts ? size / parts * i : size;
        if (end <= begin) continue;
        const void* newline = end < size ? std::memchr(text + end, '\n', size - end) : nullptr;
        end = newline ? size_t(static_cast<const uint8_t*>(newline) - text) + 1 : size;
        result.push_back(Part{begin, end});
        begin = end;
    }
    return result;
}

void count(const Coding& coding, const uint8_t* text, Part& part, const volatile bool& cancelled) {
    const uint8_t *p = text + part.begin, *end = text + part.end;
    // These loops have no branches, so that compilers turn them into vector instructions.
    size_t newlines = 0, tokens = 0, returns = 0;
    uint8_t any = 0;
    for (const uint8_t* q = p; q < end; q++) {
        any |= *q;
        newlines += *q == '\n';
    }
    part.lines = newlines + (p < end && end[-1] != '\n');
    if (any < 0x80) {
        if (coding.chars) {
            for (const uint8_t* q = p + 1; q < end; q++) returns += size_t(q[-1] == '\r') & size_t(*q == '\n');
            tokens = size_t(end - p) - newlines - returns;
        } else {
            tokens = p < end && !blank(*p);
            for (const uint8_t* q = p + 1; q < end; q++) tokens += blank(q[-1]) & (1 - blank(*q));
        }
        part.tokens = tokens;
        return;
    }
    for (const uint8_t* next; p < end && !cancelled; p = next) {
        Line<false> line{coding, nullptr, cancelled};
        line.read(p, line_end(p, end, next));
        tokens += line.tokens;
    }
    part.tokens = tokens;
}

void encode(const Coding& coding, const uint8_t* text, Part& part, uint32_t* terminals,
            int64_t* offsets, int64_t* starts, const volatile bool& cancelled) {
    const uint8_t *p = text + part.begin, *end = text + part.end;
    size_t number = part.first_line, token = part.first_token;
    for (const uint8_t* next; p < end && !cancelled; p = next, number++) {
        Line<true> line{coding, terminals + token, cancelled};
        line.read(p, line_end(p, end, next));
        if (line.fault) part.bad.push_back({int64_t(number), line.fault, line.where - text});
        token += line.tokens;
        starts[number] = p - text;
        offsets[number + 1] = int64_t(token);
    }
}

size_t mark(const uint8_t* text, const int64_t* starts, const uint8_t* marks, size_t lines,
            bool shown, uint8_t* out) {
    uint8_t* to = out;
    for (size_t i = 0; i < lines; i++) {
        if (!marks[i]) continue;
        const uint8_t *p = text + starts[i], *next;
        const size_t length = size_t(line_end(p, text + starts[i + 1], next) - p);
        if (shown) {
            *to++ = marks[i];
            *to++ = '\t';
        }
        std::memcpy(to, p, length);
        to += length;
        *to++ = '\n';
    }
    return size_t(to - out);
}

}  // namespace cky

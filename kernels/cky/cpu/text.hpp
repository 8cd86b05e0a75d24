// Turns lines of text into strings of terminals, and marks lines with results; see
// kernels.cky.text.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cky {

constexpr std::uint32_t ABSENT = 0xFFFFFFFF;  // the number of what is not in the vocabulary

// The numbers of words: an exact hash table (open addressing) from their bytes.
class Vocabulary {
  public:
    // Takes the words in order of their numbers. Throws std::invalid_argument where one
    // comes twice.
    explicit Vocabulary(const std::vector<std::string>& words);
    std::uint32_t find(const std::uint8_t* word, std::size_t length) const;

  private:
    struct Slot {
        std::uint32_t hash, number, start, length;
    };
    std::vector<Slot> slots_;  // a power of two, of which at most half are taken
    std::string bytes_;
};

// How lines become tokens. A token is a character, or what stands between blanks (space, tab, \v,
// \f, \r). A line ends with \n or \r\n.
struct Coding {
    const Vocabulary& words;
    bool chars;
    std::uint32_t unknown;     // what an unknown token becomes; ABSENT: it is reported
    std::uint32_t ascii[128];  // characters: the numbers of the first 128

    Coding(const Vocabulary& words, bool chars, std::uint32_t unknown);
};

enum Fault : std::int64_t { UNKNOWN = 1, INVALID = 2 };

// A line with an unknown token, or one that is no UTF-8 and so has no tokens: its number, and
// the byte of the text where the first fault begins.
struct Bad {
    std::int64_t line, fault, where;
};

// Whole lines of a text, which one thread takes.
struct Part {
    std::size_t begin, end;
    std::size_t lines = 0, tokens = 0;            // counted
    std::size_t first_line = 0, first_token = 0;  // sums over the parts before
    std::vector<Bad> bad = {};
};

// Cuts [0, size) into at most so many parts, behind newlines.
std::vector<Part> cut(const std::uint8_t* text, std::size_t size, std::size_t parts);

// Counts lines and tokens. As encode(), it ends with results of no use once `cancelled` is true.
void count(const Coding& coding, const std::uint8_t* text, Part& part,
           const volatile bool& cancelled);

// Writes terminals, offsets (lines + 1) and starts for the lines of a part, into arrays for the
// whole text: offsets[line + 1], the end of a line's tokens, but not offsets[0].
void encode(const Coding& coding, const std::uint8_t* text, Part& part, std::uint32_t* terminals,
            std::int64_t* offsets, std::int64_t* starts, const volatile bool& cancelled);

// Writes the lines whose mark is not 0, each with its mark and a tab before it if `shown`, and
// \n after it. Returns the bytes written, at most size + 3 * lines.
std::size_t mark(const std::uint8_t* text, const std::int64_t* starts, const std::uint8_t* marks,
                 std::size_t lines, bool shown, std::uint8_t* out);

}  // namespace cky

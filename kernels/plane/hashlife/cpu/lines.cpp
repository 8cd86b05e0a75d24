#include "lines.hpp"

namespace hashlife {

namespace {

class Reader {
public:
    Reader(const char* text, std::size_t size, std::size_t start) : text_(text), size_(size), at_(start) {}
    std::size_t at() const { return at_; }
    char peek() const { return at_ < size_ ? text_[at_] : '\n'; }

    // Reads a number of at most so many digits.
    bool number(int digits, std::int64_t& value) {
        const std::size_t first = at_;
        value = 0;
        while (peek() >= '0' && peek() <= '9') {
            if (at_ - first == std::size_t(digits)) return false;
            value = 10 * value + (text_[at_++] - '0');
        }
        return at_ > first;
    }
    bool space() {
        if (peek() != ' ') return false;
        at_++;
        return true;
    }
    bool line_end() {
        if (peek() == '\r') at_++;
        if (peek() != '\n') return false;
        at_ += at_ < size_;
        return true;
    }
    // Reads eight rows of eight cells, bit 8 y + x.
    bool leaf(std::uint64_t& cells) {
        cells = 0;
        for (int x = 0, y = 0;; at_++) {
            const char c = peek();
            if (c == '$') {
                x = 0, y++;
            } else if (c == '.' || c == '*') {
                if (x == 8 || y == 8) return false;
                cells |= std::uint64_t(c == '*') << (8 * y + x++);
            } else {
                return y <= 8;
            }
        }
    }

private:
    const char* text_;
    std::size_t size_, at_;
};

}  // namespace

Lines read_lines(const char* text, std::size_t size, std::size_t start, std::size_t most, int highest,
                 const std::uint8_t* known, std::size_t known_count) {
    Lines found;
    found.end = start;
    const auto level_of = [&](std::size_t i) { return i < known_count ? known[i] : found.levels[i - known_count]; };
    while (found.end < size && found.levels.size() < most) {
        Reader line(text, size, found.end);
        std::int64_t level = 3, four[4] = {};
        std::uint64_t cells = 0;
        const char first = line.peek();
        if (first == '.' || first == '*' || first == '$') {
            if (!line.leaf(cells)) break;
        } else {
            if (!line.number(9, level) || level < 4 || level > highest) break;
            bool good = true;
            const std::size_t count = known_count + found.levels.size();
            for (std::int64_t& child : four) {
                good = good && line.space() && line.number(18, child) && std::size_t(child) < count &&
                       (!child || level_of(std::size_t(child)) == level - 1);
            }
            if (!good) break;
        }
        if (!line.line_end()) break;
        found.levels.push_back(std::uint8_t(level));
        found.children.insert(found.children.end(), four, four + 4);
        found.leaves.push_back(cells);
        found.last = found.end;
        found.end = line.at();
    }
    return found;
}

}  // namespace hashlife

#include "native.hpp"

#include <cstring>
#include <optional>

#if defined(__x86_64__) && (defined(__linux__) || defined(__APPLE__))
#define HAVE_NATIVE
#include <sys/mman.h>
#endif

namespace circuits {

namespace {

using std::uint8_t;

// General registers, by their numbers: those of the rows are loaded from the first argument.
enum { RAX = 0, RDX = 2, RSI = 6, RDI = 7, R8 = 8 };

// A vector in memory: `vectors` from the register `base` on, plus what RAX says.
struct Memory {
    int base, vectors;
};

class Code {
public:
    std::vector<uint8_t> bytes;

    void raw(std::initializer_list<int> some) {
        for (int byte : some) bytes.push_back(uint8_t(byte));
    }
    void word(std::int32_t value) {
        for (int i = 0; i < 4; i++) bytes.push_back(uint8_t(std::uint32_t(value) >> 8 * i));
    }

    // to = lut3(to, b, c), by VPTERNLOGD.
    void ternary(int lut, int to, int b, int c) {
        registers(OF_3A, P66, W0, to, b, c, 0x25);
        raw({lut});
    }
    void ternary(int lut, int to, int b, Memory c) {
        memory(OF_3A, P66, W0, to, b, c, 0x25);
        raw({lut});
    }
    void move(int to, int from) { registers(OF_0F, P66, W1, to, 0, from, 0x6F); }   // VMOVDQA64
    void load(int to, Memory from) { memory(OF_0F, PF3, W1, to, 0, from, 0x6F); }   // VMOVDQU64
    void store(Memory to, int from) { memory(OF_0F, PF3, W1, from, 0, to, 0x7F); }

private:
    enum { OF_0F = 1, OF_3A = 3 };  // the map of opcodes
    enum { P66 = 1, PF3 = 2 };
    enum { W0 = 0, W1 = 1 };

    // The EVEX prefix of an instruction on 512 bits. `b` is its second operand, 0 where it has none.
    void prefix(int map, int p, int w, int to, int b, int x, int base, int opcode) {
        auto inverted = [](int bit) { return ~bit & 1; };
        raw({0x62,
             inverted(to >> 3) << 7 | inverted(x) << 6 | inverted(base) << 5 |
                 inverted(to >> 4) << 4 | map,
             w << 7 | (~b & 15) << 3 | 4 | p, 0x40 | inverted(b >> 4) << 3, opcode});
    }
    void registers(int map, int p, int w, int to, int b, int c, int opcode) {
        prefix(map, p, w, to, b, c >> 4, c >> 3, opcode);
        raw({0xC0 | (to & 7) << 3 | (c & 7)});
    }
    void memory(int map, int p, int w, int to, int b, Memory m, int opcode) {
        prefix(map, p, w, to, b, 0, m.base >> 3, opcode);
        // [base + RAX + 64 vectors]: a displacement of a byte counts in vectors.
        const bool near = m.vectors >= -128 && m.vectors < 128;
        raw({(near ? 0x44 : 0x84) | (to & 7) << 3, RAX << 3 | (m.base & 7)});
        if (near) {
            raw({m.vectors & 255});
        } else {
            word(m.vectors * 64);
        }
    }
};

// Returns the table of an operation whose operand `from[k]` is given as its operand k.
int permuted(int lut, const int from[3]) {
    int result = 0;
    for (int i = 0; i < 8; i++) {
        int at = 0;
        for (int k = 0; k < 3; k++) at |= (i >> (2 - k) & 1) << (2 - from[k]);
        result |= (lut >> at & 1) << i;
    }
    return result;
}

bool depends(int lut, int k) {
    for (int i = 0; i < 8; i++)
        if ((lut >> i & 1) != (lut >> (i ^ 4 >> k) & 1)) return true;
    return false;
}

// Writes the body of the loop: operations on registers, which inputs come to when they are needed.
class Body {
public:
    Body(const Ops& ops, const int at[5], Code& code)
        : ops_(ops), at_(at), code_(code), register_(INPUTS + ops.size(), -1),
          uses_(INPUTS + ops.size(), 0) {
        for (const Op& op : ops)
            for (int k = 0; k < 3; k++) uses_[std::size_t(op.in[k])] += depends(op.lut, k);
    }

    // Returns the register that has the output, or nothing where registers do not suffice.
    std::optional<int> write() {
        for (std::size_t i = 0; i < ops_.size(); i++)
            if (!write(ops_[i], INPUTS + int(i))) return std::nullopt;
        return register_.back();
    }

private:
    static constexpr int REGISTERS = 32;

    bool in_memory(int signal) const { return where(signal) < 0; }
    int where(int signal) const { return register_[std::size_t(signal)]; }
    int left(int signal) const { return uses_[std::size_t(signal)]; }
    Memory address(int signal) const { return {R8 + (signal - 1) / 5, at_[(signal - 1) % 5]}; }

    // Returns a free register, or one with an input that no operand of the current operation is.
    int free_register() {
        int evicted = -1;
        for (int r = 0; r < REGISTERS; r++) {
            if (owner_[r] == NOBODY) return r;
            if (owner_[r] > 0 && owner_[r] < INPUTS && !current(owner_[r])) evicted = r;
        }
        if (evicted >= 0) {
            register_[std::size_t(owner_[evicted])] = -1;
            owner_[evicted] = NOBODY;
        }
        return evicted;
    }
    bool current(int signal) const {
        for (int operand : operands_)
            if (operand == signal) return true;
        return false;
    }
    void set(int signal, int r) { owner_[r] = signal, register_[std::size_t(signal)] = r; }
    bool fetch(int signal) {
        const int r = free_register();
        if (r < 0) return false;
        set(signal, r);
        if (signal == 0) {
            code_.ternary(0, r, r, r);
        } else {
            code_.load(r, address(signal));
        }
        return true;
    }

    bool write(const Op& op, int signal) {
        int from[3], count = 0;
        operands_.clear();
        for (int k = 0; k < 3; k++)
            if (depends(op.lut, k)) {
                from[count++] = k;
                operands_.push_back(op.in[k]);
                uses_[std::size_t(op.in[k])]--;
            }
        const int operands = count;
        for (int k = 0; k < 3; k++)
            if (!depends(op.lut, k)) from[count++] = k;
        // Inputs that are needed again stay in registers; of the others one can be read where it is.
        int last = -1;
        for (int i = 0; i < operands; i++) {
            const int s = operands_[std::size_t(i)];
            if (!in_memory(s)) continue;
            const bool again = left(s) > 0 || s == 0 || operands == 1;
            if (!again && last < 0) {
                last = i;
            } else if (!fetch(s)) {
                return false;
            }
        }
        // The result takes the place of an operand that is needed no more, or of a copy.
        int first = -1;
        for (int i = 0; i < operands; i++)
            if (i != last && left(operands_[std::size_t(i)]) == 0) first = i;
        int to;
        if (first >= 0) {
            to = where(operands_[std::size_t(first)]);
        } else {
            to = free_register();
            if (to < 0) return false;
            for (int i = 0; i < operands && first < 0; i++)
                if (i != last) first = i;
            if (first >= 0) code_.move(to, where(operands_[std::size_t(first)]));
        }
        // The order of VPTERNLOG: the result's place, a register, a register or memory.
        int order[3] = {first < 0 ? 0 : first, -1, -1};
        for (int i = 0; i < 3; i++) {
            if (i == order[0] || i == last) continue;
            (order[1] < 0 ? order[1] : order[2]) = i;
        }
        if (last >= 0) order[2] = last;
        const int chosen[3] = {from[order[0]], from[order[1]], from[order[2]]};
        const int lut = permuted(op.lut, chosen);
        auto source = [&](int i) { return i < operands ? where(operands_[std::size_t(i)]) : to; };
        if (last >= 0) {
            code_.ternary(lut, to, source(order[1]), address(operands_[std::size_t(last)]));
        } else {
            code_.ternary(lut, to, source(order[1]), source(order[2]));
        }
        for (int s : operands_)
            if (left(s) == 0 && !in_memory(s)) {
                owner_[where(s)] = NOBODY;
                register_[std::size_t(s)] = -1;
            }
        set(signal, to);
        return true;
    }

    static constexpr int NOBODY = -1;
    const Ops& ops_;
    const int* at_;
    Code& code_;
    std::vector<int> register_, uses_, operands_;
    int owner_[REGISTERS] = {NOBODY, NOBODY, NOBODY, NOBODY, NOBODY, NOBODY, NOBODY, NOBODY,
                             NOBODY, NOBODY, NOBODY, NOBODY, NOBODY, NOBODY, NOBODY, NOBODY,
                             NOBODY, NOBODY, NOBODY, NOBODY, NOBODY, NOBODY, NOBODY, NOBODY,
                             NOBODY, NOBODY, NOBODY, NOBODY, NOBODY, NOBODY, NOBODY, NOBODY};
};

}  // namespace

// The arguments: rdi the three rows, rsi the result, rdx the number of vectors, at least 1.
std::vector<uint8_t> assemble(const Ops& ops, const int at[5]) {
    Code code;
    code.raw({0x4C, 0x8B, 0x07});        // mov r8, [rdi]
    code.raw({0x4C, 0x8B, 0x4F, 0x08});  // mov r9, [rdi + 8]
    code.raw({0x4C, 0x8B, 0x57, 0x10});  // mov r10, [rdi + 16]
    code.raw({0x48, 0xC1, 0xE2, 0x06});  // shl rdx, 6
    code.raw({0x31, 0xC0});              // xor eax, eax
    const std::size_t loop = code.bytes.size();
    const auto output = Body(ops, at, code).write();
    if (!output) return {};
    code.store({RSI, 0}, *output);
    code.raw({0x48, 0x83, 0xC0, 0x40});  // add rax, 64
    code.raw({0x48, 0x39, 0xD0});        // cmp rax, rdx
    code.raw({0x0F, 0x85});              // jne loop
    code.word(std::int32_t(loop) - std::int32_t(code.bytes.size()) - 4);
    code.raw({0xC5, 0xF8, 0x77});        // vzeroupper
    code.raw({0xC3});                    // ret
    return code.bytes;
}

Native::Native(const Ops& ops, const int at[5]) {
#if defined(HAVE_NATIVE)
    const std::vector<uint8_t> code = assemble(ops, at);
    if (code.empty()) return;
    void* memory = mmap(nullptr, code.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                        -1, 0);
    if (memory == MAP_FAILED) return;
    std::memcpy(memory, code.data(), code.size());
    // Systems that are made fast against attacks refuse this.
    if (mprotect(memory, code.size(), PROT_READ | PROT_EXEC) != 0) {
        munmap(memory, code.size());
        return;
    }
    memory_ = memory, bytes_ = code.size();
#else
    (void)ops, (void)at;
#endif
}

Native::~Native() {
#if defined(HAVE_NATIVE)
    if (memory_) munmap(memory_, bytes_);
#endif
}

}  // namespace circuits

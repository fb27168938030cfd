// Who wrote a byte can be seen from it: its upper half names the writer. What nobody wrote (fresh
// memory of the heap, freed memory, zeros) is in no writer's alphabet.
#pragma once

#include "support/random/rng.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ucdfuzz {

enum Writer : unsigned {
    hostile_0 = 2,
    hostile_1 = 3,
    public_0 = 4, // what an honest peer shows to the hostile ones
    public_1 = 5,
    private_0 = 6, // and what it shows to the other honest one only
    private_1 = 7
};
using Writers = unsigned; // a set
constexpr Writers set_of(Writer writer) {
    return 1u << writer;
}
constexpr Writers hostile_ones = set_of(hostile_0) | set_of(hostile_1);
constexpr Writers anyone_public = hostile_ones | set_of(public_0) | set_of(public_1);
constexpr Writers private_ones = set_of(private_0) | set_of(private_1);

constexpr unsigned char untouched = 0x0d; // what buffers are filled with before they are received

inline bool is_by(unsigned char byte, Writers writers) {
    return (writers >> (byte >> 4) & 1) != 0 && byte >> 4 >= hostile_0;
}

// So many bytes of a writer's.
inline std::string written_by(Writer writer, std::size_t bytes, ucdtest::Rng &rng) {
    std::string text(bytes, '\0');
    std::uint64_t random = rng.bits() | 1;
    for (char &c : text) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        c = static_cast<char>(writer << 4 | random >> 60);
    }
    return text;
}

// "" or what is wrong with bytes that should all be by these writers.
std::string look_for_others(std::string_view bytes, Writers writers, bool may_be_untouched,
                            const char *&finding);

// Memory with guard bytes before and behind.
class Guarded {
public:
    static constexpr std::size_t guard = 64;
    explicit Guarded(std::size_t bytes = 0) : memory_(bytes + 2 * guard, untouched) {}
    unsigned char *data() { return memory_.data() + guard; }
    const unsigned char *data() const { return memory_.data() + guard; }
    std::size_t size() const { return memory_.size() - 2 * guard; }
    std::string_view view() const { return {reinterpret_cast<const char *>(data()), size()}; }
    void fill(const std::string &bytes) { std::copy(bytes.begin(), bytes.end(), data()); }
    bool guards_are_whole() const {
        for (std::size_t i = 0; i < guard; ++i)
            if (memory_[i] != untouched || memory_[memory_.size() - 1 - i] != untouched)
                return false;
        return true;
    }

private:
    std::vector<unsigned char> memory_;
};

// What was found. Names of findings: what they are, not why.
namespace finding {
inline constexpr const char *outside = "write-outside";     // of what was granted
inline constexpr const char *from_heap = "heap-travels";    // a byte that nobody sent
inline constexpr const char *of_others = "private-travels"; // one that was not for this peer
inline constexpr const char *undelivered = "undelivered";   // success without all bytes
inline constexpr const char *behind = "behind-message";     // a receive says that less has come
inline constexpr const char *honest_stuck = "honest-stuck"; // an honest pair does not finish
inline constexpr const char *honest_wrong = "honest-wrong"; // or finishes with something else
inline constexpr const char *stuck = "stuck";               // a request does not end
inline constexpr const char *kept_memory = "kept-memory";   // after endpoints are gone
inline constexpr const char *much_memory = "much-memory";   // that no ledger knows of
inline constexpr const char *over_budget = "over-budget";   // what a ledger says
inline constexpr const char *much_work = "much-work";       // for what was sent
inline constexpr const char *growing = "growing-memory";    // from world to world
} // namespace finding

// Reports one; in the mode that goes on it returns.
void found(const char *what, const std::string &details);
// One after which this process cannot go on.
[[noreturn]] void found_fatal(const char *what, const std::string &details);

} // namespace ucdfuzz

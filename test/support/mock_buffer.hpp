// Buffers in the memories that the mock backend adds, and the moves between them, checked against
// the oracle. The test sees a mirror: set up there, sent to the memory, and fetched back to be
// compared.
#pragma once

#include "support/mock_driver.h"
#include "support/reducing.hpp"
#include "support/subject.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace ucdtest {

enum class Memory { pageable, pinned, managed, device0, device1 };
inline constexpr Memory all_memories[] = {Memory::pageable, Memory::pinned, Memory::managed,
                                          Memory::device0, Memory::device1};
const char *name_of(Memory memory);
bool on_device(Memory memory);
std::string hint_for(Memory memory); // the value of ucd.inbuf and ucd.outbuf
Memory random_memory(Rng &rng);

class MockBuffer : public ImageBuffer {
public:
    MockBuffer(Rng &rng, TouchedRange range, Memory memory);
    ~MockBuffer() override;

    Memory memory() const { return kind_; }
    // What the library is told: the address of displacement 0 in the memory itself.
    void *real_base() const { return real_base_; }

    void send();  // mirror to memory
    void fetch(); // memory to mirror

private:
    Memory kind_;
    std::vector<std::byte> mirror_;
    std::byte *real_ = nullptr;
    void *real_base_ = nullptr;
};

// Hints that are true of two buffers, or none.
class TrueHints {
public:
    // For an op that copy engines may do, perhaps by them.
    TrueHints(Rng &rng, Memory in, Memory out, ucd_op_t op);
    ~TrueHints();
    TrueHints(const TrueHints &) = delete;
    TrueHints &operator=(const TrueHints &) = delete;
    ucd_info_t get() const { return info_; }
    void set(const char *key, const std::string &value);

private:
    ucd_info_t info_ = UCD_INFO__NULL;
};

// Who reaches what, where that can be chosen, and how long devices take.
void random_knobs(Rng &rng);

// A subject in a mock's memory, and bytes of its packed stream in another.
struct MockMove {
    Case &one;
    ucd_op_t op;
    const ReducedSubject &what;
    MockBuffer &laid_out, &packed;
    std::size_t offset, length; // of the stream; whole elements unless op is REPLACE
};

// Makes the expected images, and sends both buffers to their memories.
void set_up_pack(const MockMove &move);
void set_up_unpack(const MockMove &move);
// Fetches both buffers and compares.
void check_result(const MockMove &move);
// All of it, with a call of some form and hints that are true, or none.
// With hints or without; by the engine, or by any.
void check_mock_pack(const MockMove &move, const char *engine = nullptr);
void check_mock_unpack(const MockMove &move, const char *engine = nullptr);

// Moves all of a subject to the start of another, of the same elements unless op is REPLACE. By the
// engine, or by any.
void check_mock_copy(Case &one, ucd_op_t op, const ReducedSubject &source, MockBuffer &in,
                     const ReducedSubject &target, MockBuffer &out, const char *engine = nullptr);

// Options for types that the mock backend can reduce with the op (REPLACE: all).
RecipeOptions mock_options(ucd_op_t op);
ucd_op_t random_mock_op(Rng &rng); // REPLACE half of the time

// Small pools of staging chunks, so that little data fills them. No work may be outstanding.
void use_staging(std::size_t chunk_bytes, unsigned chunks);

// Everything that a test of the mock starts from and leaves behind: no knob turned, no event, chunk
// or outstanding work left. (Plans live as long as types.)
class MockSession {
public:
    MockSession();
    ~MockSession();
    MockSession(const MockSession &) = delete;
    MockSession &operator=(const MockSession &) = delete;
};

} // namespace ucdtest

// The messages of one-sided operations. docs/internals/ucx-engine.md defines their bytes.
#pragma once

#include "common/tokens.h"
#include "engine/version.h"

#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <ucd.h>
#include <ucp/api/ucp.h>

namespace ucd_ucx::rma {

enum class Verb : uint8_t {
    put = 1,
    get = 2,
    accumulate = 3,
    get_accumulate = 4,
    type = 5,      // its data is the flattened type that the target asked for
    answer = 6,    // the operation is done, or refused
    need_type = 7, // the target does not have the type of this content id or index
    answer_with_handle = 8,
    several = 9,       // requests, types and answers, each preceded by its length
    introduction = 10, // of the target's process, for direct access to its windows
    grant = 11,        // of direct access to a window
};

// How an operation ended at the target.
enum class Verdict : uint8_t {
    done = 0,
    no_window = 1,
    out_of_range = 2,
    invalid = 3,
    not_supported = 4,
    no_memory = 5,
    failed = 6, // a call of libucd failed; its status follows
};

// The beginning of every message.
struct Preamble {
    static constexpr std::size_t bytes = 8;
    Verb verb = Verb::put;
    uint8_t first = 0, second = 0; // depend on the verb
    uint32_t number = 0;           // of the operation, at its origin
};

// Identifies a window on one endpoint, whose origin has shown its key there before. 0: none.
using WindowHandle = uint64_t;

// How a request names the target's type.
enum class TypeForm : uint8_t {
    known = 0, // by its index on this endpoint
    name = 1,  // by its content id
    flattened = 2,
};

struct Request {
    static constexpr std::size_t max_bytes_before_type = 48;
    static constexpr uint32_t no_index = UINT32_MAX; // the type is not to be remembered
    Verb verb = Verb::put;
    ucd_op_t op = UCD_OP__REPLACE;
    uint32_t number = 0;
    int64_t displacement = 0;
    uint64_t count = 0;
    bool shows_key = false;
    WindowHandle handle = 0; // if 0, the key is sent instead:
    ContentId window = {};
    TypeForm form = TypeForm::known;
    uint32_t type_index = no_index;
    std::string_view type; // a flattened type, or a content id
};

struct Answer {
    Verdict verdict = Verdict::done;
    uint8_t ucd = UCD_SUCCESS;
    uint32_t number = 0;
    WindowHandle handle = 0;
};

constexpr bool is_request(Verb v) {
    return v >= Verb::put && v <= Verb::get_accumulate;
}
// A single answer.
constexpr bool is_answer(Verb v) {
    return v == Verb::answer || v == Verb::answer_with_handle;
}
constexpr bool fetches(Verb v) {
    return v == Verb::get || v == Verb::get_accumulate;
}
constexpr bool accumulates(Verb v) {
    return v == Verb::accumulate || v == Verb::get_accumulate;
}

// A message as it is sent, without the packed data. Long types have a string of their own.
class Encoded {
public:
    explicit Encoded(const Preamble &preamble, uint8_t version = protocol_version);
    explicit Encoded(const Answer &answer);
    explicit Encoded(const Request &request);
    std::size_t size() const { return fixed_bytes_ + type_.size(); }
    void write(char *to) const {
        // Word by word: the processor forwards what was just written so.
        for (std::size_t at = 0; at < fixed_bytes_; at += sizeof(uint64_t))
            std::memcpy(to + at, &fixed_[at / sizeof(uint64_t)], sizeof(uint64_t));
        if (!type_.empty()) std::memcpy(to + fixed_bytes_, type_.data(), type_.size());
    }
    std::string text() const;

private:
    void put(uint64_t number);
    uint64_t fixed_[Request::max_bytes_before_type / sizeof(uint64_t)]; // little endian
    std::size_t fixed_bytes_ = 0;
    std::string_view type_;
};

// Reads the preamble, also of messages of the other byte order: all its numbers are little-endian.
// A message is malformed if a byte without meaning is not 0.
Reading decode(std::string_view message, Preamble &preamble);
// Reads what follows the preamble. Sets `data` to the bytes behind the request or answer.
bool decode(std::string_view message, const Preamble &preamble, Request &request,
            std::string_view &data);
bool decode(std::string_view message, const Preamble &preamble, Answer &answer,
            std::string_view &data);

// Several requests, types and answers in one message: one preamble for all, then each of them
// preceded by its length. What is behind the first max_bytes_of_several is dropped, because what
// one message causes cannot be divided among calls of progress.
inline constexpr std::size_t length_bytes = 4, max_bytes_of_several = 2048;
void write_length(std::size_t bytes, char *to);
// Takes the next part from `left`; empty if there is none, or if it is cut off.
std::string_view take_part(std::string_view &left);

// If a message is a request of version 2, by itself or as the header of a transfer: its answer in
// that version, "not supported". Origins of version 2 ignore other versions.
std::optional<Encoded> refusal_of_version_2(std::string_view header, std::string_view data);

struct Meaning {
    ucs_status_t status;
    const char *text; // the end of a sentence
};
const Meaning &meaning_of(Verdict verdict);

} // namespace ucd_ucx::rma

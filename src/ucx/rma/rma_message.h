// The messages of one-sided operations. Their bytes: docs/guide/one-sided.md, which this follows.
#pragma once

#include "common/content_id.h"

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
    type = 5,      // the flattened type that the target asked for is the data
    answer = 6,    // the operation is done, or refused
    need_type = 7, // the target does not have the type of that name or index
    answer_with_handle = 8,
    answers = 9, // several of the two kinds, each behind its length
};

// How an operation ended at the target.
enum class Verdict : uint8_t {
    done = 0,
    no_window = 1,
    out_of_range = 2,
    invalid = 3,
    not_supported = 4,
    no_memory = 5,
    failed = 6, // a call of libucd; its status is said too
};

// Begins every message.
struct Preamble {
    static constexpr uint8_t version = 2;
    static constexpr uint8_t big_endian = 128; // with the version: how the sender's data is stored
    static constexpr std::size_t bytes = 8;
    Verb verb = Verb::put;
    uint8_t first = 0, second = 0; // as the verb has it
    uint32_t number = 0;           // the operation's, at its origin
};

// Stands for a window on one endpoint, whose origin has shown its key there. 0: none.
using WindowHandle = uint64_t;

// How a request names the target's type.
enum class TypeForm : uint8_t {
    known = 0, // by the index that the endpoint has for it
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
    WindowHandle handle = 0; // or, if it shows the key:
    ContentId window = {};
    TypeForm form = TypeForm::known;
    uint32_t type_index = no_index;
    std::string_view type; // flattened, or its content id
};

struct Answer {
    Verdict verdict = Verdict::done;
    uint8_t ucd = UCD_SUCCESS;
    uint32_t number = 0;
    WindowHandle handle = 0;
};

bool is_request(Verb verb);
bool is_answer(Verb verb); // one
bool fetches(Verb verb);
bool accumulates(Verb verb);

// A message as it is written: all but the packed data. Long types need a text of their own.
class Encoded {
public:
    explicit Encoded(const Preamble &preamble);
    explicit Encoded(const Answer &answer);
    explicit Encoded(const Request &request);
    std::size_t size() const { return size_ + type_.size(); }
    void write(char *to) const;
    std::string text() const;

private:
    template <class Number>
    void put(Number number);
    char fixed_[Request::max_bytes_before_type];
    std::size_t size_ = 0;
    std::string_view type_;
};

enum class Reading : uint8_t { good, malformed, other_version, other_byte_order };
// Sets `preamble` of a message of the other byte order, too: its numbers are those of any other.
Reading decode(std::string_view message, Preamble &preamble);
// What follows the preamble. Sets `data` to what follows the request or answer.
bool decode(std::string_view message, const Preamble &preamble, Request &request,
            std::string_view &data);
bool decode(std::string_view message, const Preamble &preamble, Answer &answer,
            std::string_view &data);

// Answers that go as one message: the preamble of all of them, then each behind its length.
inline constexpr std::size_t length_bytes = 4;
void write_length(std::size_t bytes, char *to);
// The next of those that are left; empty if there is none, or not the whole of it.
std::string_view take_answer(std::string_view &left);

// A request of version 1, which was the header of a pipeline's active message; and the answer that
// refuses it, as version 1 has it. Empty: it is none.
std::string refusal_of_version_1(std::string_view header);

ucs_status_t status_of(Verdict verdict);
// As a sentence's end.
const char *text_of(Verdict verdict);

} // namespace ucd_ucx::rma

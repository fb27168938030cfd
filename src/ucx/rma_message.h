// What origins and targets say to each other. As bytes: docs/one-sided.md, which this follows.
#pragma once

#include "content_name.h"

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
    need_type = 7, // the target does not have the type of that name
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

// Begins every message, of every version.
struct Preamble {
    static constexpr uint8_t version = 1;
    static constexpr std::size_t bytes = 12;
    Verb verb = Verb::put;
    uint8_t first = 0, second = 0; // as the verb has it
    uint64_t number = 0;           // the operation's, at its origin
};

struct Request {
    static constexpr std::size_t bytes_before_type = 60;
    Verb verb = Verb::put;
    ucd_op_t op = UCD_OP__REPLACE;
    uint64_t number = 0;
    Name window = {};
    int64_t displacement = 0;
    uint64_t count = 0, bytes = 0;
    uint64_t element = 0; // of accumulates; see element_signature
    bool type_is_here = false;
    std::string_view type; // flattened, or its name
};

struct Answer {
    Verdict verdict = Verdict::done;
    int ucd = UCD_SUCCESS;
    uint64_t number = 0;
};

bool is_request(Verb verb);
bool fetches(Verb verb);
bool accumulates(Verb verb);

std::string encode(const Preamble &preamble);
std::string encode(const Request &request);
std::string encode(const Answer &answer);

enum class Reading : uint8_t { good, too_short, other_version };
Reading decode(std::string_view message, Preamble &preamble);
// False: it is malformed. `request.type` is part of the message.
bool decode(std::string_view message, Request &request);
Answer answer_of(const Preamble &preamble);

ucs_status_t status_of(Verdict verdict);

} // namespace ucd_ucx::rma

#include "rma_message.h"

#include <algorithm>

namespace ucd_ucx::rma {
namespace {

constexpr uint8_t form_name = 0, form_flattened = 1;
constexpr uint8_t no_op = 255;

void put_number(std::string &to, uint64_t number) {
    char bytes[8];
    for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(number >> 8 * i);
    to.append(bytes, sizeof bytes);
}

uint64_t number_at(std::string_view from, std::size_t at) {
    uint64_t number = 0;
    for (std::size_t i = 0; i < 8; ++i)
        number |= uint64_t{static_cast<uint8_t>(from[at + i])} << 8 * i;
    return number;
}

} // namespace

bool is_request(Verb verb) {
    return verb >= Verb::put && verb <= Verb::get_accumulate;
}

bool fetches(Verb verb) {
    return verb == Verb::get || verb == Verb::get_accumulate;
}

bool accumulates(Verb verb) {
    return verb == Verb::accumulate || verb == Verb::get_accumulate;
}

std::string encode(const Preamble &preamble) {
    std::string bytes = {static_cast<char>(Preamble::version), static_cast<char>(preamble.verb),
                         static_cast<char>(preamble.first), static_cast<char>(preamble.second)};
    put_number(bytes, preamble.number);
    return bytes;
}

std::string encode(const Request &request) {
    const uint8_t op = request.op < 0 ? no_op : static_cast<uint8_t>(request.op);
    std::string bytes = encode(Preamble{
        request.verb, op, request.type_is_here ? form_flattened : form_name, request.number});
    bytes.reserve(Request::bytes_before_type + request.type.size());
    bytes.append(reinterpret_cast<const char *>(request.window.data()), request.window.size());
    put_number(bytes, static_cast<uint64_t>(request.displacement));
    put_number(bytes, request.count);
    put_number(bytes, request.bytes);
    put_number(bytes, request.element);
    return bytes.append(request.type);
}

std::string encode(const Answer &answer) {
    return encode(Preamble{Verb::answer, static_cast<uint8_t>(answer.verdict),
                           static_cast<uint8_t>(answer.ucd), answer.number});
}

Reading decode(std::string_view message, Preamble &preamble) {
    if (message.size() < Preamble::bytes) return Reading::too_short;
    preamble.verb = static_cast<Verb>(message[1]);
    preamble.first = static_cast<uint8_t>(message[2]);
    preamble.second = static_cast<uint8_t>(message[3]);
    preamble.number = number_at(message, 4);
    const auto version = static_cast<uint8_t>(message[0]);
    return version == Preamble::version ? Reading::good : Reading::other_version;
}

bool decode(std::string_view message, Request &request) {
    Preamble preamble;
    if (decode(message, preamble) != Reading::good || !is_request(preamble.verb) ||
        message.size() < Request::bytes_before_type || preamble.second > form_flattened)
        return false;
    request.verb = preamble.verb;
    const bool reads_only = preamble.first == no_op && preamble.verb == Verb::get_accumulate;
    if (preamble.first > UCD_OP__MINLOC && !reads_only) return false;
    if (!accumulates(preamble.verb) && preamble.first != UCD_OP__REPLACE) return false;
    request.op = reads_only ? -1 : preamble.first;
    request.number = preamble.number;
    std::copy_n(message.begin() + Preamble::bytes, request.window.size(), request.window.begin());
    request.displacement = static_cast<int64_t>(number_at(message, 28));
    request.count = number_at(message, 36);
    request.bytes = number_at(message, 44);
    request.element = number_at(message, 52);
    request.type_is_here = preamble.second == form_flattened;
    request.type = message.substr(Request::bytes_before_type);
    return request.type_is_here || request.type.size() == sizeof(Name);
}

Answer answer_of(const Preamble &preamble) {
    return {static_cast<Verdict>(preamble.first), preamble.second, preamble.number};
}

ucs_status_t status_of(Verdict verdict) {
    switch (verdict) {
    case Verdict::done: return UCS_OK;
    case Verdict::no_window: return UCS_ERR_NO_ELEM;
    case Verdict::out_of_range: return UCS_ERR_OUT_OF_RANGE;
    case Verdict::invalid: return UCS_ERR_INVALID_PARAM;
    case Verdict::not_supported: return UCS_ERR_UNSUPPORTED;
    case Verdict::no_memory: return UCS_ERR_NO_MEMORY;
    case Verdict::failed: break;
    }
    return UCS_ERR_IO_ERROR; // also for what a later version may say
}

} // namespace ucd_ucx::rma

#include "rma/rma_message.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace ucd_ucx::rma {
namespace {

constexpr uint8_t no_op = 255;
// A flag: the window's key follows, not its handle. The TypeForm is in the bits above it.
constexpr uint8_t form_key = 1;

// Numbers are sent in little-endian order.
template <class Number>
Number swapped_if_big_endian(Number number) {
    if constexpr (std::endian::native == std::endian::little || sizeof number == 1) return number;
    Number other;
    const auto *from = reinterpret_cast<const char *>(&number);
    std::reverse_copy(from, from + sizeof number, reinterpret_cast<char *>(&other));
    return other;
}

template <class Number>
Number number_at(std::string_view from, std::size_t at) {
    Number number;
    std::memcpy(&number, from.data() + at, sizeof number);
    return swapped_if_big_endian(number);
}

// Whether the bytes that mean nothing in this kind of message are 0, and none follow that would
// mean nothing. Those of requests and answers are checked with their other fields.
bool is_free_of_waste(std::string_view message, const Preamble &preamble) {
    if (is_request(preamble.verb) || is_answer(preamble.verb)) return true;
    const bool has_number = preamble.verb == Verb::type || preamble.verb == Verb::need_type;
    return preamble.first == 0 && preamble.second == 0 && (has_number || preamble.number == 0) &&
           (preamble.verb != Verb::need_type || message.size() == Preamble::bytes);
}

// In the order of Verdict.
constexpr Meaning meanings[] = {
    {UCS_OK, "nothing is wrong"},
    {UCS_ERR_NO_ELEM, "it has no window with that key"},
    {UCS_ERR_OUT_OF_RANGE, "the target's bytes are not all in the window"},
    {UCS_ERR_INVALID_PARAM,
     "sizes disagree, elements of the target overlap, or the message is damaged"},
    {UCS_ERR_UNSUPPORTED, "it cannot do that to such elements or in that memory"},
    {UCS_ERR_NO_MEMORY, "it has no memory for it"},
    {UCS_ERR_IO_ERROR, "moving the data failed there"}, // also for verdicts of later versions
};

} // namespace

void Encoded::put(uint64_t number) {
    fixed_[fixed_bytes_ / sizeof number] = swapped_if_big_endian(number);
    fixed_bytes_ += sizeof number;
}

Encoded::Encoded(const Preamble &p, uint8_t version) {
    put(first_byte_of(version) | static_cast<uint64_t>(p.verb) << 8 | uint64_t{p.first} << 16 |
        uint64_t{p.second} << 24 | uint64_t{p.number} << 32);
}

Encoded::Encoded(const Answer &answer)
    : Encoded(Preamble{answer.handle == 0 ? Verb::answer : Verb::answer_with_handle,
                       static_cast<uint8_t>(answer.verdict), answer.ucd, answer.number}) {
    if (answer.handle != 0) put(answer.handle);
}

Encoded::Encoded(const Request &request)
    : Encoded(Preamble{request.verb, request.op < 0 ? no_op : static_cast<uint8_t>(request.op),
                       static_cast<uint8_t>((request.shows_key ? form_key : 0) |
                                            static_cast<uint8_t>(request.form) << 1),
                       request.number}) {
    put(static_cast<uint64_t>(request.displacement));
    put(request.count);
    if (request.shows_key) {
        std::memcpy(&fixed_[fixed_bytes_ / sizeof(uint64_t)], request.window.data(),
                    request.window.size());
        fixed_bytes_ += request.window.size();
    } else {
        put(request.handle);
    }
    put(request.type_index | uint64_t{request.type.size()} << 32);
    type_ = request.type;
}

std::string Encoded::text() const {
    // own: the program's type
    std::string all(size(), 0);
    write(all.data());
    return all;
}

Reading decode(std::string_view message, Preamble &preamble) {
    if (message.size() < Preamble::bytes) return Reading::malformed;
    const Reading reading = read_first_byte(static_cast<uint8_t>(message[0]));
    if (reading == Reading::other_version) return reading;
    preamble.verb = static_cast<Verb>(message[1]);
    preamble.first = static_cast<uint8_t>(message[2]);
    preamble.second = static_cast<uint8_t>(message[3]);
    preamble.number = number_at<uint32_t>(message, 4);
    return is_free_of_waste(message, preamble) ? reading : Reading::malformed;
}

bool decode(std::string_view message, const Preamble &preamble, Request &request,
            std::string_view &data) {
    request.verb = preamble.verb;
    request.number = preamble.number;
    const bool reads_only = preamble.first == no_op && preamble.verb == Verb::get_accumulate;
    if (preamble.first > UCD_OP__MINLOC && !reads_only) return false;
    if (!accumulates(preamble.verb) && preamble.first != UCD_OP__REPLACE) return false;
    request.op = reads_only ? -1 : preamble.first;
    request.shows_key = (preamble.second & form_key) != 0;
    const unsigned form = preamble.second >> 1;
    if (form > static_cast<unsigned>(TypeForm::flattened)) return false;
    request.form = static_cast<TypeForm>(form);
    const std::size_t after_window = request.shows_key ? 40 : 32;
    const std::size_t before_type = after_window + 8;
    if (message.size() < before_type) return false;
    request.displacement = number_at<int64_t>(message, 8);
    request.count = number_at<uint64_t>(message, 16);
    if (request.shows_key)
        std::copy_n(message.begin() + 24, request.window.size(), request.window.begin());
    else
        request.handle = number_at<uint64_t>(message, 24);
    request.type_index = number_at<uint32_t>(message, after_window);
    const auto type_bytes = number_at<uint32_t>(message, after_window + 4);
    if (type_bytes > message.size() - before_type) return false;
    request.type = message.substr(before_type, type_bytes);
    data = message.substr(before_type + type_bytes);
    switch (request.form) {
    case TypeForm::known: return type_bytes == 0;
    case TypeForm::name: return type_bytes == sizeof(ContentId);
    case TypeForm::flattened: break;
    }
    return type_bytes > 0;
}

void write_length(std::size_t bytes, char *to) {
    const auto length = swapped_if_big_endian(static_cast<uint32_t>(bytes));
    std::memcpy(to, &length, sizeof length);
    static_assert(sizeof length == length_bytes);
}

std::string_view take_part(std::string_view &left) {
    if (left.size() < length_bytes) return {};
    const std::size_t bytes = number_at<uint32_t>(left, 0);
    left.remove_prefix(length_bytes);
    if (bytes > left.size()) return {};
    const std::string_view one = left.substr(0, bytes);
    left.remove_prefix(bytes);
    return one;
}

bool decode(std::string_view message, const Preamble &preamble, Answer &answer,
            std::string_view &data) {
    answer = {static_cast<Verdict>(preamble.first), preamble.second, preamble.number, 0};
    if (answer.verdict == Verdict::done && answer.ucd != UCD_SUCCESS) return false;
    const std::size_t bytes =
        Preamble::bytes + (preamble.verb == Verb::answer_with_handle ? sizeof(WindowHandle) : 0);
    if (message.size() < bytes) return false;
    if (bytes > Preamble::bytes) answer.handle = number_at<uint64_t>(message, Preamble::bytes);
    data = message.substr(bytes);
    return true;
}

std::optional<Encoded> refusal_of_version_2(std::string_view header, std::string_view data) {
    if (is_transfer_of_version_2(header)) data = header.substr(transfer_header_of_version_2);
    if (data.size() < Preamble::bytes) return std::nullopt;
    const auto version = static_cast<uint8_t>(data[0] & ~big_endian_sender);
    if (version != 2 || !is_request(static_cast<Verb>(data[1]))) return std::nullopt;
    return Encoded({Verb::answer, static_cast<uint8_t>(Verdict::not_supported), UCD_SUCCESS,
                    number_at<uint32_t>(data, 4)},
                   version);
}

const Meaning &meaning_of(Verdict verdict) {
    return meanings[std::min(static_cast<std::size_t>(verdict), std::size(meanings) - 1)];
}

} // namespace ucd_ucx::rma

// The bytes of libucd-ucx's messages, in protocol versions 2 and 3. Written from the protocol's
// description, without the library's sources. The library speaks version 3 and refuses version 2.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ucdtest::wire {

inline constexpr int newest_wire = 3;

// Numbers of 1 to 8 bytes, little-endian. number_at throws std::out_of_range past the end.
void put_number(std::string &text, std::uint64_t number, std::size_t bytes);
std::uint64_t number_at(std::string_view text, std::size_t at, std::size_t bytes);

// In version 3, their numbers begin at 16.
enum Kind : std::uint16_t {
    whole,
    offer,
    opening,
    user_offer,
    chunk,
    withdraw,
    route,
    ring_chunk,
    introduction, // the names of a socket and of a token follow
    direct,       // an offer to read the data where it is
    direct_type,
    decline,
    kinds
};

// Begins every message of a transfer.
struct Header {
    int version = newest_wire;
    std::uint32_t letters = 0; // 0: those of the version
    std::uint16_t kind = whole;
    std::uint16_t status = 0; // of route: see route_status
    std::uint64_t stream = 0;
    std::uint64_t number = 0;
    std::uint64_t total = 0;
    std::uint64_t offset = 0;
    std::uint32_t user_id = 0;
    std::uint32_t user_header = 0; // bytes

    static constexpr std::size_t bytes = 48;
};
std::uint32_t letters_of(int wire);
std::string encode(const Header &header);
// Of version 3. False: it is too short.
bool decode(std::string_view bytes, Header &header);

// What a message of kind `route` offers.
enum Route : unsigned { host_route, ring_route, routes };
// In place of a status: which route, and the set of all that are offered.
constexpr std::uint16_t route_status(unsigned which, unsigned offered = (1 << routes) - 1) {
    return static_cast<std::uint16_t>(which | offered << 8);
}

// In place of a status of decline: 0, or 1 if the type has to be sent again.

// The user header of ring_route and ring_chunk.
inline constexpr std::size_t ring_handle_bytes = 128;
inline constexpr std::size_t ring_place_bytes = ring_handle_bytes + 16;

enum Verb : unsigned {
    put = 1,
    get,
    accumulate,
    get_accumulate,
    type_message,
    answer,
    need_type,
    answer_with_handle,
    answers, // several of them, and of requests
    // For direct access to windows; see docs/internals/ucx-engine.md.
    window_introduction, // the names of a socket and of a token follow
    window_grant,
    verbs
};
inline bool is_request(unsigned verb) {
    return verb >= put && verb <= get_accumulate;
}
enum class TypeForm : unsigned { index, name, flattened };

inline constexpr unsigned no_op = 255;
inline constexpr std::size_t name_bytes = 16;

// A one-sided message without its data.
struct OneSided {
    unsigned verb = put;
    unsigned first = 0;  // op of a request, verdict of an answer
    unsigned second = 0; // UCD_ERR__* of an answer
    std::uint64_t number = 0;
    // Requests. The window's name, or its handle if there is no name.
    std::string window;
    std::uint64_t handle = 0; // also of answer_with_handle
    std::int64_t displacement = 0;
    std::uint64_t count = 0;
    TypeForm form = TypeForm::flattened;
    std::uint32_t index = 0;
    std::string type; // flattened, or its name
};
std::string encode(int wire, const OneSided &message);
// The part that all one-sided messages begin with: verb, first, second and number.
std::string encode_preamble(int wire, const OneSided &message);
inline constexpr std::size_t preamble_bytes = 8;
// False: it is none.
bool decode(int wire, std::string_view bytes, OneSided &message);

// Answers as one message, and such a message as answers. What is behind a wrong length is left out.
std::string join_answers(const std::vector<std::string> &answers);
std::vector<std::string> split_answers(std::string_view message);

} // namespace ucdtest::wire

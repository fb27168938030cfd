// Messages that a test writes by hand, also ones that contradict themselves, in the newest version
// of the protocol. Their bytes are wire.hpp's.
#pragma once

#include "ucx/wire.hpp"

#include <stdexcept>
#include <ucd_ucx_rma.h>

namespace ucdtest::wire {

// Names a transfer.
struct Id {
    std::uint64_t stream = 0, number = 0;
};

// A pipeline's message.
struct Message {
    Kind kind = whole;
    Id id;
    std::uint64_t total = 0, offset = 0;
    std::uint16_t status = 0;
    std::uint32_t user_id = 0;
    std::string user_header;
    int version = newest_wire;

    std::string text() const {
        Header h;
        h.version = version;
        h.kind = kind;
        h.status = status;
        h.stream = id.stream;
        h.number = id.number;
        h.total = total;
        h.offset = offset;
        h.user_id = user_id;
        h.user_header = static_cast<std::uint32_t>(user_header.size());
        return encode(h) + user_header;
    }
};

inline bool is_pipeline(std::string_view message) {
    Header h;
    return decode(message, h) && h.version == newest_wire && h.letters == letters_of(newest_wire);
}

inline Message read_message(const std::string &message) {
    Header h;
    if (!is_pipeline(message) || !decode(message, h))
        throw std::runtime_error("no message of a pipeline");
    Message m;
    m.kind = static_cast<Kind>(h.kind);
    m.status = h.status;
    m.id = {h.stream, h.number};
    m.total = h.total;
    m.offset = h.offset;
    m.user_id = h.user_id;
    m.user_header = message.substr(Header::bytes);
    return m;
}

// A chunk in device memory: a handle, and what part of its memory.
inline std::string ring_place(const std::string &handle, std::uint64_t offset,
                              std::uint64_t bytes) {
    std::string t = handle;
    t.resize(ring_handle_bytes);
    put_number(t, offset, 8);
    put_number(t, bytes, 8);
    return t;
}

// One-sided messages -----------------------------------------------------------------------------

enum Verdict : unsigned {
    done,
    no_window,
    out_of_range,
    invalid,
    not_supported,
    no_memory,
    failed
};

// All of a message that is no request and brings no handle.
inline std::string preamble(unsigned verb, std::uint64_t number, unsigned first = 0,
                            unsigned second = 0) {
    OneSided m;
    m.verb = verb;
    m.first = first;
    m.number = number;
    std::string text = encode_preamble(newest_wire, m);
    text[3] = static_cast<char>(second);
    return text;
}

struct Request {
    unsigned verb = put, op = 0;
    std::uint64_t number = 1;
    std::string window; // the 16 secret bytes of its key
    std::int64_t displacement = 0;
    std::uint64_t count = 1;
    std::string type;         // flattened, or the 16 bytes of its content id
    unsigned index = 0;       // of the type
    bool by_name = false;     // the type by its content id,
    bool is_known = false;    // or by its index
    bool shows_key = true;    // else the handle
    std::uint64_t handle = 0; // of the window
    // Written over what follows from the rest, unless negative.
    int form = -1;
    std::int64_t type_bytes = -1;
    int version = -1;

    std::string text() const {
        OneSided m;
        m.verb = verb;
        m.first = op;
        m.number = number;
        if (shows_key) m.window = window;
        m.handle = handle;
        m.displacement = displacement;
        m.count = count;
        m.index = index;
        m.form = is_known ? TypeForm::index : by_name ? TypeForm::name : TypeForm::flattened;
        m.type = type;
        std::string t = encode(newest_wire, m);
        if (version >= 0) t[0] = static_cast<char>(version);
        if (form >= 0) t[3] = static_cast<char>(form);
        if (type_bytes >= 0) {
            std::string length;
            put_number(length, static_cast<std::uint64_t>(type_bytes), 4);
            t.replace(t.size() - type.size() - length.size(), length.size(), length);
        }
        return t;
    }
};

// A one-sided message that has come.
struct Said {
    unsigned verb = 0, first = 0, second = 0;
    std::uint64_t number = 0;
    std::string rest;        // what follows the preamble, the data among it
    Id transfer;             // of a transfer in chunks, whose data comes later,
    std::uint64_t total = 0; // of so many bytes
    bool is_answer() const { return verb == answer || verb == answer_with_handle; }
    // Of an answer in one message.
    std::string data() const { return rest.substr(verb == answer_with_handle ? 8 : 0); }
    std::uint64_t window_handle() const {
        return verb == answer_with_handle ? number_at(rest, 0, 8) : 0;
    }
};

inline bool is_one_sided(std::string_view message) {
    OneSided m;
    return decode(newest_wire, message, m);
}

inline Said read_said(const std::string &message) {
    OneSided m;
    if (!decode(newest_wire, message, m)) throw std::runtime_error("no one-sided message");
    Said s;
    s.verb = m.verb;
    s.first = m.first;
    s.second = m.second;
    s.number = m.number;
    s.rest = message.substr(preamble_bytes);
    return s;
}

inline std::string window_name(const ucd_ucx_window_key_t &key) {
    return {reinterpret_cast<const char *>(key.bytes) + 8, name_bytes};
}

} // namespace ucdtest::wire

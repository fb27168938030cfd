// Transfers of a strided layout in host memory, for tests of how transfers end.
#pragma once

#include "support/catch.hpp"
#include "ucx/pair.hpp"

#include <algorithm>
#include <span>
#include <stdexcept>

namespace ucdtest {

// Every other int, so that chunks are packed and unpacked.
class Strided {
public:
    // In memory of its own, unless some is given for twice as many ints.
    explicit Strided(std::size_t ints, int *memory = nullptr)
        : own_(memory == nullptr ? 2 * ints : 0),
          memory_(memory == nullptr ? own_.data() : memory, 2 * ints),
          type_(make(static_cast<std::intptr_t>(ints))) {
        for (std::size_t i = 0; i < memory_.size(); ++i) memory_[i] = static_cast<int>(i + 1);
    }
    ~Strided() { (void)ucd_free(&type_); }
    Strided(const Strided &) = delete;
    Strided &operator=(const Strided &) = delete;
    void clear() { std::fill(memory_.begin(), memory_.end(), 0); }
    int *data() { return memory_.data(); }
    ucd_type_t type() const { return type_; }
    std::size_t bytes() const { return memory_.size() / 2 * sizeof(int); }
    // What a receive from another one leaves; the gaps are as clear() made them.
    bool received_from(const Strided &other) const {
        for (std::size_t i = 0; i < memory_.size(); ++i)
            if (memory_[i] != (i % 2 == 0 ? other.memory_[i] : 0)) return false;
        return true;
    }
    bool is_clear() const {
        return std::all_of(memory_.begin(), memory_.end(), [](int i) { return i == 0; });
    }

private:
    static ucd_type_t make(std::intptr_t ints) {
        ucd_type_t type;
        if (ucd_create_vector(ints, 1, 2, UCD_TYPE__INT, UCD_INFO__NULL, &type) != UCD_SUCCESS)
            throw std::runtime_error(ucd_last_error());
        return type;
    }
    std::vector<int> own_;
    std::span<int> memory_;
    ucd_type_t type_;
};

inline int start_send(Side &side, Strided &what, Outcome &o, ucp_tag_t tag = 1) {
    const ucd_ucx_param_t p = o.param();
    const int rc =
        ucd_ucx_send_nbx(side.pipeline, side.ep, what.data(), 1, what.type(), tag, &p, &o.request);
    if (rc == UCD_SUCCESS) o.started();
    return rc;
}

inline int start_receive(Side &side, Strided &what, Outcome &o, ucp_tag_t tag = 1) {
    what.clear();
    const ucd_ucx_param_t p = o.param();
    return ucd_ucx_recv_nbx(side.pipeline, what.data(), 1, what.type(), tag, UINT64_MAX, &p,
                            &o.request);
}

// A whole transfer each way.
inline void check_usable(TwoSides &sides) {
    for (auto [from, to] : {std::pair(&sides.a, &sides.b), std::pair(&sides.b, &sides.a)}) {
        Strided in(5000), out(5000);
        Outcome sent, received;
        REQUIRE(start_receive(*to, out, received, 99) == UCD_SUCCESS);
        REQUIRE(start_send(*from, in, sent, 99) == UCD_SUCCESS);
        sides.until([&] { return sent.done() && received.done(); });
        CHECK(received.result.status == UCS_OK);
        CHECK(out.received_from(in));
    }
}

#define SMALL_CHUNKS                                                                               \
    {                                                                                              \
        {"ucd.ucx.eager", "64"}, {"ucd.ucx.chunk", "1000"}, {                                      \
            "ucd.ucx.depth", "3"                                                                   \
        }                                                                                          \
    }

} // namespace ucdtest

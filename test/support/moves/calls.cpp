#include "support/moves/calls.hpp"

#include <initializer_list>
#include <stdexcept>
#include <utility>

namespace ucdtest {
namespace {

class Hints {
public:
    Hints(std::initializer_list<std::pair<const char *, const char *>> settings) {
        int rc = ucd_info_create(&info_);
        for (const auto &[key, value] : settings) {
            if (rc == UCD_SUCCESS) rc = ucd_info_set(info_, key, value);
        }
        if (rc != UCD_SUCCESS) throw std::runtime_error(ucd_last_error());
    }
    Hints(const Hints &) = delete;
    Hints &operator=(const Hints &) = delete;
    ~Hints() { ucd_info_free(&info_); }

    ucd_info_t get() const { return info_; }

private:
    ucd_info_t info_ = UCD_INFO__NULL;
};

ucd_info_t random_hints(Rng &rng) {
    if (rng.chance(60)) return UCD_INFO__NULL;
    static const Hints hints[] = {
        {{"ucd.gpu", "none"}},
        {{"ucd.inbuf", "host"}, {"ucd.outbuf", "host"}},
        {{"ucd.engine", "auto"}, {"no.such.key", "ignored"}},
        {{"ucd.threads", "2"}},
    };
    return hints[rng.below(std::size(hints))].get();
}

} // namespace

int finish(Rng &rng, ucd_request_t &request) {
    int rc = UCD_SUCCESS;
    switch (rng.below(3)) {
    case 0: rc = ucd_wait(&request); break;
    case 1: rc = ucd_waitall(1, &request); break;
    default:
        for (int completed = 0; rc == UCD_SUCCESS && !completed;) {
            rc = ucd_test(&request, &completed);
        }
    }
    if (request != UCD_REQUEST__NULL) throw std::runtime_error("a finished request is not reset");
    return rc;
}

int call_pack(Rng &rng, const void *inbuf, std::uintptr_t count, ucd_type_t type,
              std::uintptr_t offset, void *outbuf, std::uintptr_t room, std::uintptr_t *actual,
              ucd_op_t op) {
    const ucd_info_t info = random_hints(rng);
    if (rng.chance(70)) {
        return ucd_pack(inbuf, count, type, offset, outbuf, room, actual, info, op);
    }
    ucd_request_t request = UCD_REQUEST__NULL;
    const int rc = ucd_ipack(inbuf, count, type, offset, outbuf, room, actual, info, op, &request);
    return rc == UCD_SUCCESS ? finish(rng, request) : rc;
}

int call_unpack(Rng &rng, const void *inbuf, std::uintptr_t size, void *outbuf,
                std::uintptr_t count, ucd_type_t type, std::uintptr_t offset,
                std::uintptr_t *actual, ucd_op_t op) {
    const ucd_info_t info = random_hints(rng);
    if (rng.chance(70)) {
        return ucd_unpack(inbuf, size, outbuf, count, type, offset, actual, info, op);
    }
    ucd_request_t request = UCD_REQUEST__NULL;
    const int rc =
        ucd_iunpack(inbuf, size, outbuf, count, type, offset, actual, info, op, &request);
    return rc == UCD_SUCCESS ? finish(rng, request) : rc;
}

int call_copy(Rng &rng, const void *inbuf, std::uintptr_t incount, ucd_type_t intype, void *outbuf,
              std::uintptr_t outcount, ucd_type_t outtype, std::uintptr_t *actual, ucd_op_t op) {
    const ucd_info_t info = random_hints(rng);
    if (rng.chance(70)) {
        return ucd_copy(inbuf, incount, intype, outbuf, outcount, outtype, actual, info, op);
    }
    ucd_request_t request = UCD_REQUEST__NULL;
    const int rc =
        ucd_icopy(inbuf, incount, intype, outbuf, outcount, outtype, actual, info, op, &request);
    return rc == UCD_SUCCESS ? finish(rng, request) : rc;
}

} // namespace ucdtest

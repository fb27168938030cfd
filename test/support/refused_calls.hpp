// What the tests need of a vendor whose calls fail when they are to.
#pragma once

#include <ucd.h>

namespace ucdtest {

// The n-th call of the vendor's runtime, or driver, from now on fails, whichever it is. By all
// threads.
void refuse_call(int n);
// From now on, none fails. False if there was no n-th call.
bool stop_refusing();
// The name of the last one that failed so; empty before the first.
const char *refused_call();
// Whether it is one that tells whose memory an address is.
bool tells_of_memory(const char *call);

// Fails the test if the vendor has given out what it has not got back.
void check_all_is_given_back();

// A stream of the first device that is not the library's.
class OwnStream {
public:
    OwnStream();
    ~OwnStream();
    OwnStream(const OwnStream &) = delete;
    OwnStream &operator=(const OwnStream &) = delete;
    ucd_stream_t native() const;
    void synchronise();

private:
    void *stream_ = nullptr;
};

} // namespace ucdtest

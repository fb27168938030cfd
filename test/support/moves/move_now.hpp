// Blocking moves that must succeed. They return how many bytes moved, and throw what the library
// says if they fail.
#pragma once

#include <ucd.h>

#include <cstdint>
#include <stdexcept>

namespace ucdtest {

inline void must_succeed(int rc) {
    if (rc != UCD_SUCCESS) throw std::runtime_error(ucd_last_error());
}

inline std::uintptr_t pack_now(const void *inbuf, std::uintptr_t count, ucd_type_t type,
                               std::uintptr_t offset, void *outbuf, std::uintptr_t room,
                               ucd_info_t info = UCD_INFO__NULL, ucd_op_t op = UCD_OP__REPLACE) {
    std::uintptr_t actual = 0;
    must_succeed(ucd_pack(inbuf, count, type, offset, outbuf, room, &actual, info, op));
    return actual;
}
inline std::uintptr_t unpack_now(const void *inbuf, std::uintptr_t size, void *outbuf,
                                 std::uintptr_t count, ucd_type_t type, std::uintptr_t offset,
                                 ucd_info_t info = UCD_INFO__NULL, ucd_op_t op = UCD_OP__REPLACE) {
    std::uintptr_t actual = 0;
    must_succeed(ucd_unpack(inbuf, size, outbuf, count, type, offset, &actual, info, op));
    return actual;
}
inline std::uintptr_t copy_now(const void *inbuf, std::uintptr_t incount, ucd_type_t intype,
                               void *outbuf, std::uintptr_t outcount, ucd_type_t outtype,
                               ucd_info_t info = UCD_INFO__NULL, ucd_op_t op = UCD_OP__REPLACE) {
    std::uintptr_t actual = 0;
    must_succeed(ucd_copy(inbuf, incount, intype, outbuf, outcount, outtype, &actual, info, op));
    return actual;
}

} // namespace ucdtest

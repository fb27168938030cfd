// UCD as one of those that are measured.
#pragma once

#include "harness/measure.hpp"
#include "shapes/recipe.hpp"

#include <ucd.h>

#include <string>
#include <utility>

namespace bench {

// Throws with what UCD says about its last failure.
[[noreturn]] void fail_in_ucd(int rc);
inline void check_ucd(int rc) {
    if (rc != UCD_SUCCESS) [[unlikely]]
        fail_in_ucd(rc);
}

// UCD is usable as long as this exists.
class UcdSession {
public:
    UcdSession() { check_ucd(ucd_init(UCD_INFO__NULL)); }
    ~UcdSession() { ucd_finalize(); }
    UcdSession(const UcdSession &) = delete;
    UcdSession &operator=(const UcdSession &) = delete;
};

class UcdInfo {
public:
    UcdInfo(const std::string &key, const std::string &value);
    void set(const std::string &key, const std::string &value);
    ~UcdInfo() { ucd_info_free(&info_); }
    UcdInfo(const UcdInfo &) = delete;
    UcdInfo &operator=(const UcdInfo &) = delete;
    ucd_info_t get() const { return info_; }

private:
    ucd_info_t info_ = UCD_INFO__NULL;
};

class UcdType {
public:
    explicit UcdType(const Recipe &recipe);
    explicit UcdType(ucd_type_t type) : type_(type) {} // takes it
    ~UcdType();
    UcdType(UcdType &&other) noexcept : type_(std::exchange(other.type_, UCD_TYPE__NULL)) {}
    UcdType &operator=(UcdType &&other) noexcept {
        std::swap(type_, other.type_);
        return *this;
    }
    ucd_type_t get() const { return type_; }

private:
    ucd_type_t type_ = UCD_TYPE__NULL;
};

// Bytes [offset, offset + bytes) of the packed stream; `packed` is where they are.
struct UcdMove {
    ucd_type_t type;
    char *typed, *packed;
    std::uintptr_t offset, bytes;
    ucd_info_t info = UCD_INFO__NULL;
    ucd_op_t op = UCD_OP__REPLACE;
    std::uintptr_t count = 1;

    void pack() const {
        std::uintptr_t moved;
        check_ucd(ucd_pack(typed, count, type, offset, packed, bytes, &moved, info, op));
    }
    void unpack() const {
        std::uintptr_t moved;
        check_ucd(ucd_unpack(packed, bytes, typed, count, type, offset, &moved, info, op));
    }
    void run(bool packs) const { packs ? pack() : unpack(); }
};

// One object of the type and its packed bytes, as a member of a list.
inline ucd_move_t list_member(bool packs, ucd_type_t type, char *typed, char *packed,
                              std::uintptr_t bytes) {
    ucd_move_t move = UCD_MOVE__INIT;
    move.inbuf = packs ? typed : packed;
    move.outbuf = packs ? packed : typed;
    move.incount = packs ? 1 : bytes;
    move.outcount = packs ? bytes : 1;
    (packs ? move.intype : move.outtype) = type;
    return move;
}

// The move, again and again.
Work ucd_work(const UcdMove &move, bool pack);

} // namespace bench

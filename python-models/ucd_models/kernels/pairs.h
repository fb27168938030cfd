// From the numbers of formats to their types.
#pragma once

#include "host.h"

namespace ucd_models {

// How many elements a thread moves at once, if they lie side by side: 16 bytes of the wider ones.
constexpr int64_t vector_of(int64_t from, int64_t to) {
    return 16 / (from > to ? from : to);
}

template <class From, class To, class Calls>
bool for_pair(Calls calls) {
    if constexpr (__is_same(From, To)) {
        return false;
    } else {
        calls.template convert<From, To>();
        return true;
    }
}

template <class From, class Calls>
bool for_target(Number to, Calls calls) {
    switch (to) {
    case Number::float32: return for_pair<From, Float32>(calls);
    case Number::bfloat16: return for_pair<From, BFloat16>(calls);
    case Number::float16: return for_pair<From, Float16>(calls);
    case Number::e4m3: return for_pair<From, E4M3>(calls);
    case Number::e5m2: return for_pair<From, E5M2>(calls);
    default: return false;
    }
}

// Calls convert<From, To>, or copy<Bits> for elements that stay as they are. False: it has neither.
template <class Calls>
bool for_kind(Number from, Number to, Calls calls) {
    switch (from) {
    case Number::float32: return for_target<Float32>(to, calls);
    case Number::bfloat16: return for_target<BFloat16>(to, calls);
    case Number::float16: return for_target<Float16>(to, calls);
    case Number::e4m3: return for_target<E4M3>(to, calls);
    case Number::e5m2: return for_target<E5M2>(to, calls);
    case Number::bytes1: calls.template copy<uint8_t>(); return true;
    case Number::bytes2: calls.template copy<uint16_t>(); return true;
    case Number::bytes4: calls.template copy<uint32_t>(); return true;
    case Number::bytes8: calls.template copy<uint64_t>(); return true;
    }
    return false;
}

} // namespace ucd_models

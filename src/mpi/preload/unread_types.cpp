#include "preload/unread_types.h"

namespace ucd_mpi {

bool UnreadTypes::add(Handle type) {
    Unread &place = place_of(type);
    Handle there = 0;
    if (!place.type.compare_exchange_strong(there, type, std::memory_order_acq_rel) &&
        there != type)
        return false;
    place.bytes.store(0, std::memory_order_relaxed);
    return true;
}

bool UnreadTypes::remove(Handle type) {
    // Most look-ups miss, and a load costs less than a compare-exchange.
    return contains(type) && place_of(type).type.compare_exchange_strong(
                                 type, 0, std::memory_order_acq_rel, std::memory_order_relaxed);
}

void UnreadTypes::clear() {
    for (Unread &place : types_) place.type.store(0, std::memory_order_release);
}

} // namespace ucd_mpi

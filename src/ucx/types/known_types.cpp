#include "types/known_types.h"

#include <algorithm>
#include <atomic>
#include <iterator>

namespace ucd_ucx {
namespace {

Status flatten(ucd_type_t type, std::string &flattened) {
    uintptr_t bytes;
    UCD_TRY(ucd_ok(ucd_flatten_size(type, &bytes)));
    // own: the program's type, or a predefined one
    flattened.resize(bytes);
    return ucd_ok(ucd_flatten(type, flattened.data(), bytes));
}

// Encodes a predefined type's class, width and alignment; 0 for UCD_TYPE__NULL.
Status element_signature(ucd_type_t element, uint64_t &signature) {
    // A cache by handle: predefined types are small numbers. Threads may compute the same entry
    // twice.
    static std::atomic<uint64_t> known[64];
    const auto handle = reinterpret_cast<uintptr_t>(element);
    const bool keeps = handle < std::size(known);
    signature = keeps ? known[handle].load(std::memory_order_relaxed) : 0;
    if (signature != 0 || element == UCD_TYPE__NULL) return success;
    std::string flattened;
    UCD_TRY(flatten(element, flattened));
    const ContentId id = content_id(flattened.data(), flattened.size());
    for (std::size_t i = 0; i < sizeof signature; ++i) signature |= uint64_t{id[i]} << 8 * i;
    if (keeps) known[handle].store(signature, std::memory_order_relaxed);
    return success;
}

Status look_at(PeerType &type) {
    UCD_TRY(layout_of(1, type.type.get(), type.one));
    if (type.one.element == UCD_TYPE__NULL) return success;
    UCD_TRY(element_signature(type.one.element, type.element));
    uintptr_t bytes;
    UCD_TRY(ucd_ok(ucd_get_size(type.one.element, &bytes)));
    type.element_bytes = bytes;
    return success;
}

constexpr uint64_t expanded = 64 << 10, bytes_of_segment = 16;

// Same, once the layout is known: a box needs no list of segments, and a few segments need a short
// one.
uint64_t bytes_of_known(const ucd_layout_t &layout, uint64_t flattened) {
    const bool plain = layout.contiguous != 0 || layout.box_dims > 0;
    const uint64_t segments = std::min(layout.segments, expanded / bytes_of_segment);
    return TypesOfTarget::bytes_of_type(flattened) - expanded +
           (plain ? 0 : segments * bytes_of_segment);
}

} // namespace

Status PeerType::measure(uint64_t count, const ucd_layout_t *&found) const {
    found = count == 1 ? &one : &last_;
    if (count == 1 || (count > 0 && count == last_count_)) return success;
    last_count_ = 0;
    UCD_TRY(layout_of(count, type.get(), last_));
    last_count_ = count;
    return success;
}

bool PeerType::takes(ucd_op_t op) const {
    int supported = 0; // left so if there is no such op
    (void)ucd_op_is_supported(op, one.element, "seq", &supported);
    return supported != 0;
}

Status TypesOfOrigin::find(ucd_type_t handle, TypePtr &type) {
    type = recent_.find(handle);
    if (type != nullptr) return success;
    auto made = std::make_shared<PeerType>();
    UCD_TRY(made->type.keep(handle));
    UCD_TRY(look_at(*made));
    UCD_TRY(flatten(handle, made->flattened));
    made->cost = sizeof *made + made->flattened.size();
    made->id = content_id(made->flattened.data(), made->flattened.size());
    recent_.add(handle, made);
    type = std::move(made);
    return success;
}

// The limit of a type's memory. A byte of a flattened type may become an object of several dozen
// bytes, both in the type and in its layout (docs/reference/flatten-format.md). The largest factor
// measured is 48.
uint64_t TypesOfTarget::bytes_of_type(uint64_t flattened) {
    constexpr uint64_t fixed = 1 << 10, for_byte = 64;
    return flattened > UINT64_MAX / 2 / for_byte ? UINT64_MAX
                                                 : fixed + expanded + for_byte * flattened;
}

Status TypesOfTarget::learn(std::string_view flattened, Charge charge, TypePtr &type,
                            bool *remembered) {
    // Not make_shared: weak pointers that outlive the type must not keep its memory allocated.
    const std::shared_ptr<PeerType> made(new PeerType);
    UCD_TRY(made->type.unflatten(flattened.data(), flattened.size()));
    UCD_TRY(look_at(*made));
    made->cost = bytes_of_known(made->one, flattened.size());
    made->id = content_id(flattened.data(), flattened.size());
    charge.shrink_to(made->cost);
    made->charge = std::move(charge);
    // It may have come from what is remembered already. Otherwise, types that are being built may
    // have taken the room there.
    const bool is_common = ledger_.is_remembered(made->charge);
    Charge common = is_common ? Charge() : take_remembered(made->cost);
    *remembered = (is_common || common) && recent_.add(made->id, made);
    if (*remembered && common) made->charge = std::move(common);
    type = made;
    return success;
}

void TypesOfTarget::learn(ucp_ep_h from, std::string_view flattened) {
    constexpr uint64_t steps_of_byte = 25; // at most about 0.2 us
    if (!ledger_.may_work(from) || flattened.size() > max_sent ||
        find(content_id(flattened.data(), flattened.size())) != nullptr)
        return;
    const uint64_t bytes = bytes_of_type(flattened.size());
    Charge charge = ledger_.is_possible(bytes, LedgerUse::type)
                        ? ledger_.take(from, bytes, LedgerUse::type)
                        : take_remembered(bytes);
    if (!charge) return;
    ledger_.note_work(from, steps_of_byte * flattened.size());
    TypePtr type;
    bool remembered;
    // If it fails, or is not remembered, offers that name the type are declined.
    (void)learn(flattened, std::move(charge), type, &remembered);
}

} // namespace ucd_ucx

#include "rma_types.h"

#include <atomic>
#include <iterator>

namespace ucd_ucx::rma {
namespace {

Status flatten(ucd_type_t type, std::string &flattened) {
    uintptr_t bytes;
    UCD_UCX_TRY(ucd_ok(ucd_flatten_size(type, &bytes)));
    flattened.resize(bytes);
    return ucd_ok(ucd_flatten(type, flattened.data(), bytes));
}

} // namespace

Status TypesOfOrigin::find(ucd_type_t handle, TypePtr &type) {
    type = recent_.find(handle);
    if (type != nullptr) return success;
    auto made = std::make_shared<KnownType>();
    UCD_UCX_TRY(made->type.keep(handle));
    UCD_UCX_TRY(flatten(handle, made->flattened));
    made->cost = made->flattened.size();
    made->name = name_of(made->flattened.data(), made->flattened.size());
    recent_.add(handle, made);
    type = std::move(made);
    return success;
}

Status TypesOfTarget::learn(std::string_view flattened, TypePtr &type) {
    const Name name = name_of(flattened.data(), flattened.size());
    type = recent_.find(name);
    if (type != nullptr) return success;
    auto made = std::make_shared<KnownType>();
    UCD_UCX_TRY(made->type.unflatten(flattened.data(), flattened.size()));
    made->cost = flattened.size();
    made->name = name;
    recent_.add(name, made);
    type = std::move(made);
    return success;
}

Status element_signature(ucd_type_t element, uint64_t &signature) {
    // By handle: predefined types are small numbers. Each is worked out once, or once by a thread.
    static std::atomic<uint64_t> known[64];
    const auto handle = reinterpret_cast<uintptr_t>(element);
    const bool keeps = handle < std::size(known);
    signature = keeps ? known[handle].load(std::memory_order_relaxed) : 0;
    if (signature != 0 || element == UCD_TYPE__NULL) return success;
    std::string flattened;
    UCD_UCX_TRY(flatten(element, flattened));
    const Name name = name_of(flattened.data(), flattened.size());
    for (std::size_t i = 0; i < sizeof signature; ++i) signature |= uint64_t{name[i]} << 8 * i;
    if (keeps) known[handle].store(signature, std::memory_order_relaxed);
    return success;
}

} // namespace ucd_ucx::rma

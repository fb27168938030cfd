// Converts types to bytes, and bytes to types.

#include "api/api_guard.h"
#include "flatten/reader.h"
#include "flatten/writer.h"
#include "transfer/check.h"
#include "transfer/context.h"

#include <ucd.h>

using namespace ucd;

int ucd_flatten_size(ucd_type_t type, uintptr_t *size) {
    return guard("ucd_flatten_size", [&]() -> Status {
        const Type *t;
        UCD_TRY(find_type(type, t));
        UCD_TRY(check_places_known(*t));
        UCD_TRY(require(size, "size"));
        *size = flatten(*t).size();
        return success;
    });
}

int ucd_flattened_size(const void *flattened, uintptr_t available, uintptr_t *size) {
    return guard("ucd_flattened_size", [&](Context &) -> Status {
        if (available > 0) UCD_TRY(require(flattened, "flattened"));
        UCD_TRY(require(size, "size"));
        uint64_t says;
        UCD_TRY(flattened_size(static_cast<const uint8_t *>(flattened), available, says));
        *size = says;
        return success;
    });
}

int ucd_flatten(ucd_type_t type, void *flattened, uintptr_t flattened_size) {
    return guard("ucd_flatten", [&]() -> Status {
        const Type *t;
        UCD_TRY(find_type(type, t));
        UCD_TRY(check_places_known(*t));
        if (flattened_size > 0) UCD_TRY(require(flattened, "flattened"));
        const std::vector<uint8_t> bytes = flatten(*t);
        if (flattened_size < bytes.size())
            return fail(UCD_ERR__TRUNCATED, "flattened_size is %ju; the type needs %zu bytes",
                        static_cast<uintmax_t>(flattened_size), bytes.size());
        std::memcpy(flattened, bytes.data(), bytes.size());
        return success;
    });
}

int ucd_unflatten(ucd_type_t *newtype, const void *flattened, uintptr_t flattened_size) {
    return guard("ucd_unflatten", [&](Context &) -> Status {
        UCD_TRY(require(newtype, "newtype"));
        if (flattened_size > 0) UCD_TRY(require(flattened, "flattened"));
        TypeOwner type;
        UCD_TRY(unflatten(static_cast<const uint8_t *>(flattened), flattened_size, type));
        *newtype = handle_of(std::move(type));
        return success;
    });
}

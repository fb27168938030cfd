// The typed buffer of one call, and its packed form.
#pragma once

#include "preload/known_type.h"
#include "preload/packed_memory.h"
#include "preload/statistics.h"
#include "preload/tuning.h"

#include <limits>

namespace ucd_mpi {

inline bool is_packing(Call call) {
    return call == Call::Pack || call == Call::Unpack || call == Call::Pack_external ||
           call == Call::Unpack_external;
}

// Empty if the call is left to MPI: it is not worth it, or wrong, or switched off.
class TypedBuffer {
public:
    TypedBuffer() = default;
    template <class Count>
    TypedBuffer(Call call, const void *buffer, Count count, MPI_Datatype datatype,
                Use use = Use::once) {
        KnownType *const known = find_known(datatype);
        if (known == nullptr) return;
        const std::optional<std::uintptr_t> bytes = known->worth_taking(datatype, count, use);
        if (!bytes) return;
        if (!is_packing(call)) {
            const PackedSignature *const signature = known->signature();
            if (signature == nullptr || *bytes > max_sent_bytes ||
                !fits<Count>(count, signature->per_item))
                return;
        }
        call_ = call;
        type_ = KnownTypeRef(known);
        buffer_ = const_cast<void *>(buffer); // what is sent is not written
        count_ = count;
        bytes_ = *bytes;
        known->count_moved(bytes_);
    }

    // Of a type that is taken; the bytes must fit.
    TypedBuffer(Call call, KnownType *known, const void *buffer, MPI_Count count)
        : call_(call), type_(known), buffer_(const_cast<void *>(buffer)), count_(count),
          bytes_(known->size() * static_cast<std::uintptr_t>(count)) {
        known->count_moved(bytes_);
    }

    explicit operator bool() const { return static_cast<bool>(type_); }
    std::uintptr_t bytes() const { return bytes_; }

    // As a message: elements without gaps.
    MPI_Datatype packed_datatype() const { return type_->signature()->datatype; }
    bool packed_is_predefined() const { return !type_->signature()->owned; }
    template <class Count>
    Count packed_count() const {
        return static_cast<Count>(count_ * type_->signature()->per_item);
    }

    const ExternalForm *external() const { return type_->external(); }

    // As a message of as many items, each of the same size and without gaps.
    MPI_Datatype item_datatype() const { return type_->item_datatype(); }

    // Statuses of ucd.h.
    int pack(void *packed) const { return pack(packed, 0, bytes_); }
    // A part of the packed bytes.
    int pack(void *packed, std::uintptr_t offset, std::uintptr_t bytes) const {
        return counted_move(call_, type_->statistics_row(), [&](std::uintptr_t *moved) {
            return ucd_pack(buffer_, static_cast<std::uintptr_t>(count_), type_->type(), offset,
                            packed, bytes, moved, UCD_INFO__NULL, UCD_OP__REPLACE);
        });
    }
    int unpack(const void *packed, std::uintptr_t bytes) const {
        return counted_move(call_, type_->statistics_row(), [&](std::uintptr_t *moved) {
            return ucd_unpack(packed, bytes, buffer_, static_cast<std::uintptr_t>(count_),
                              type_->type(), 0, moved, UCD_INFO__NULL, UCD_OP__REPLACE);
        });
    }

private:
    template <class Count>
    static bool fits(MPI_Count count, MPI_Count per_item) {
        MPI_Count product = 0;
        return !__builtin_mul_overflow(count, per_item, &product) &&
               product <= std::numeric_limits<Count>::max();
    }

    Call call_ = {};
    KnownTypeRef type_;
    void *buffer_ = nullptr;
    MPI_Count count_ = 0;
    std::uintptr_t bytes_ = 0;
};

inline std::uintptr_t received_bytes(const MPI_Status &status) {
    MPI_Count bytes = 0;
    PMPI_Get_elements_x(&status, MPI_BYTE, &bytes);
    return bytes > 0 ? static_cast<std::uintptr_t>(bytes) : 0;
}

} // namespace ucd_mpi

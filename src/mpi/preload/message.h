// The typed buffer of one call, and how its packed form is described to MPI.
#pragma once

#include "preload/device.h"
#include "preload/known_type.h"
#include "preload/packed_memory.h"
#include "preload/settings.h"
#include "preload/statistics.h"
#include "preload/tuning.h"

#include <limits>

namespace ucd_mpi {

inline bool is_packing(Call call) {
    return call == Call::Pack || call == Call::Unpack;
}

// The type of items that must be packed, whether that pays or not. Null if it cannot be converted.
KnownType *find_to_pack(MPI_Datatype datatype, MPI_Count count);

// Items in device memory that this library moves: the route, and the type, which has been
// converted.
struct InDeviceMemory {
    KnownType *known = nullptr;
    DeviceRoute route;
};
// The route is empty if the items are not in device memory, if MPI moves them, or if the arguments
// are invalid. `by_parts`: to or from so many processes.
InDeviceMemory find_on_device(Call call, const void *buffer, MPI_Count count, MPI_Datatype datatype,
                              int by_parts = 1);
// The same for a typed buffer in any memory whose packed form is at `packed`.
InDeviceMemory find_packed_on_device(const void *packed, MPI_Count count, MPI_Datatype datatype);

// Copies between any two memories. Returns a status of ucd.h.
inline int copy_bytes(void *to, const void *from, std::uintptr_t bytes) {
    std::uintptr_t moved = 0;
    return ucd_pack(from, bytes, UCD_TYPE__BYTE, 0, to, bytes, &moved, UCD_INFO__NULL,
                    UCD_OP__REPLACE);
}

// Calls the communicator's error handler for an error that this library found. Returns MPI's error
// code.
int raise_error(MPI_Comm comm, int error = MPI_ERR_OTHER);

// Empty if the call is left to MPI: packing is not worthwhile, the arguments are invalid, or it is
// switched off.
class MessageBuffer {
public:
    MessageBuffer() = default;
    template <class Count>
    MessageBuffer(Call call, const void *buffer, Count count, MPI_Datatype datatype,
                  ExpectedUse use = ExpectedUse::once) {
        if (has_devices()) {
            const InDeviceMemory found = find_on_device(call, buffer, count, datatype);
            if (found.route) take_on_device<Count>(call, found, buffer, count);
            if (found.route || found.route.left_to_mpi) return;
        }
        KnownType *const known = find_known(datatype, count, use);
        if (known == nullptr || count <= 0) return;
        const Sizes &sizes = is_packing(call) ? known->gains().pack : known->gains().message;
        std::uintptr_t bytes = 0;
        if (__builtin_mul_overflow(known->size(), static_cast<std::uintptr_t>(count), &bytes) ||
            !sizes.contain(bytes) || (count == 1 && known->facts().one_is_contiguous) ||
            known->has_no_address(buffer))
            return;
        if (!is_packing(call)) {
            if (!fits<Count>(count, known->signature().per_item)) return;
            signature_ = known->signature();
        }
        call_ = call;
        type_ = KnownTypeRef(known);
        buffer_ = const_cast<void *>(buffer); // a buffer that is sent from is not written
        count_ = count;
        bytes_ = bytes;
    }

    // A typed buffer that will be packed to `packed`, or unpacked from there.
    template <class Count>
    static MessageBuffer packed_at(Call call, const void *packed, const void *buffer, Count count,
                                   MPI_Datatype datatype) {
        MessageBuffer typed(call, buffer, count, datatype);
        if (typed || !has_devices()) return typed;
        const InDeviceMemory found = find_packed_on_device(packed, count, datatype);
        return found.route ? MessageBuffer(call, found.known, buffer, count, found.route)
                           : MessageBuffer();
    }

    // For a type that has been converted. The caller has checked that the number of bytes does not
    // overflow.
    MessageBuffer(Call call, KnownType *known, const void *buffer, MPI_Count count,
                  DeviceRoute route = {})
        : call_(call), type_(known), route_(route), buffer_(const_cast<void *>(buffer)),
          count_(count), bytes_(known->size() * static_cast<std::uintptr_t>(count)) {}

    explicit operator bool() const { return static_cast<bool>(type_); }
    std::uintptr_t bytes() const { return bytes_; }
    // The data is in device memory, and MPI does not move it.
    bool on_device() const { return static_cast<bool>(route_); }
    // For all packed bytes, or none.
    PackedMemory packed_memory() const {
        PackedMemory memory(bytes_, route_);
        if (memory.on_device()) count_on_device(call_);
        return memory;
    }

    // How the packed data is sent as a message: elements without gaps.
    MPI_Datatype packed_datatype() const { return signature_.datatype; }
    bool packed_is_predefined() const { return !signature_.owned; }
    template <class Count>
    Count packed_count() const {
        return static_cast<Count>(count_ * signature_.per_item);
    }

    Call call() const { return call_; }

    // The same as `count` items, each of the same size and without gaps.
    MPI_Datatype item_datatype() const { return type_->item_datatype(); }
    bool item_is_predefined() const { return type_->item_is_predefined(); }

    // These return statuses of ucd.h.
    int pack(void *packed) const { return pack(packed, 0, bytes_); }
    // Packs a range of the packed stream.
    int pack(void *packed, std::uintptr_t offset, std::uintptr_t bytes) const {
        std::uintptr_t moved = 0;
        const int rc = ucd_pack(buffer_, static_cast<std::uintptr_t>(count_), type_->type(), offset,
                                packed, bytes, &moved, UCD_INFO__NULL, UCD_OP__REPLACE);
        count_moved(call_, moved);
        return rc;
    }
    int unpack(const void *packed, std::uintptr_t bytes) const {
        std::uintptr_t moved = 0;
        const int rc = ucd_unpack(packed, bytes, buffer_, static_cast<std::uintptr_t>(count_),
                                  type_->type(), 0, &moved, UCD_INFO__NULL, UCD_OP__REPLACE);
        count_moved(call_, moved);
        return rc;
    }

    // The moves of pack and unpack, for a plan.
    ucd_move_t packing(void *packed, std::uintptr_t offset, std::uintptr_t bytes) const {
        ucd_move_t move = {};
        move.inbuf = buffer_;
        move.incount = static_cast<std::uintptr_t>(count_);
        move.intype = type_->type();
        move.inoffset = offset;
        move.outbuf = packed;
        move.outcount = move.bytes = bytes;
        return move;
    }
    ucd_move_t unpacking(const void *packed, std::uintptr_t bytes) const {
        ucd_move_t move = {};
        move.inbuf = packed;
        move.incount = move.bytes = bytes;
        move.outbuf = buffer_;
        move.outcount = static_cast<std::uintptr_t>(count_);
        move.outtype = type_->type();
        return move;
    }

private:
    template <class Count>
    void take_on_device(Call call, const InDeviceMemory &found, const void *buffer, Count count) {
        signature_ = found.known->signature();
        if (signature_.owned && !schedules_keep_types)
            signature_ = {MPI_BYTE, static_cast<MPI_Count>(found.known->size()), false};
        if (!fits<Count>(count, signature_.per_item))
            signature_ = {found.known->item_datatype(), 1, true};
        if (signature_.datatype == MPI_DATATYPE_NULL) return;
        call_ = call;
        type_ = KnownTypeRef(found.known);
        route_ = found.route;
        buffer_ = const_cast<void *>(buffer);
        count_ = count;
        bytes_ = found.known->size() * static_cast<std::uintptr_t>(count);
    }

    template <class Count>
    static bool fits(MPI_Count count, MPI_Count per_item) {
        MPI_Count product = 0;
        return !__builtin_mul_overflow(count, per_item, &product) &&
               product <= std::numeric_limits<Count>::max();
    }

    Call call_ = {};
    KnownTypeRef type_;
    DeviceRoute route_;
    PackedSignature signature_; // of a message; the type owns its datatype
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

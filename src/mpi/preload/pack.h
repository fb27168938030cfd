// MPI_Pack and MPI_Unpack, also in the external32 form.
#pragma once

#include "preload/message.h"

#include <cstring>

namespace ucd_mpi {

// Whether `bytes` from the position on lie in the buffer. If not, the call is passed to MPI, which
// reports the error.
template <class Count>
bool has_room(Count size, const Count *position, std::uintptr_t bytes) {
    return position != nullptr && *position >= 0 && size >= *position &&
           static_cast<std::uintptr_t>(size) - static_cast<std::uintptr_t>(*position) >= bytes;
}

template <class Next, class Count>
int pack(Call call, Next next, const void *inbuf, Count incount, MPI_Datatype datatype,
         void *outbuf, Count outsize, Count *position, MPI_Comm comm) {
    if (settings().pack && comm != MPI_COMM_NULL && outbuf != nullptr) {
        const auto typed = TypedBuffer::packed_at(call, outbuf, inbuf, incount, datatype);
        if (typed && has_room(outsize, position, typed.bytes())) {
            if (typed.pack(static_cast<char *>(outbuf) + *position) == UCD_SUCCESS) {
                *position = static_cast<Count>(*position + static_cast<Count>(typed.bytes()));
                count_taken(call);
                return MPI_SUCCESS;
            }
            if (typed.device() != nullptr) return raise_error(comm);
        }
    }
    count_passed(call);
    return next(inbuf, incount, datatype, outbuf, outsize, position, comm);
}

template <class Next, class Count>
int unpack(Call call, Next next, const void *inbuf, Count insize, Count *position, void *outbuf,
           Count outcount, MPI_Datatype datatype, MPI_Comm comm) {
    if (settings().pack && comm != MPI_COMM_NULL && inbuf != nullptr) {
        const auto typed = TypedBuffer::packed_at(call, inbuf, outbuf, outcount, datatype);
        if (typed && has_room(insize, position, typed.bytes())) {
            if (typed.unpack(static_cast<const char *>(inbuf) + *position, typed.bytes()) ==
                UCD_SUCCESS) {
                *position = static_cast<Count>(*position + static_cast<Count>(typed.bytes()));
                count_taken(call);
                return MPI_SUCCESS;
            }
            if (typed.device() != nullptr) return raise_error(comm);
        }
    }
    count_passed(call);
    return next(inbuf, insize, position, outbuf, outcount, datatype, comm);
}

inline bool is_external32(const char *datarep) {
    return datarep != nullptr && std::strcmp(datarep, "external32") == 0;
}

// Packs into host memory, since bytes are reversed there.
inline bool pack_reversed(const TypedBuffer &typed, const ExternalForm &form, void *packed) {
    if (typed.device() == nullptr) {
        if (typed.pack(packed) != UCD_SUCCESS) return false;
        form.convert(packed, packed, typed.bytes());
        return true;
    }
    const PackedMemory staged(typed.bytes(), typed.device());
    if (staged.data() == nullptr || typed.pack(staged.data()) != UCD_SUCCESS) return false;
    form.convert(staged.data(), staged.data(), typed.bytes());
    return copy_bytes(packed, staged.data(), typed.bytes()) == UCD_SUCCESS;
}
inline bool unpack_reversed(const TypedBuffer &typed, const ExternalForm &form,
                            const void *packed) {
    const PackedMemory staged(typed.bytes(), typed.device());
    if (staged.data() == nullptr) return false;
    if (typed.device() != nullptr) {
        if (copy_bytes(staged.data(), packed, typed.bytes()) != UCD_SUCCESS) return false;
        packed = staged.data();
    }
    form.convert(staged.data(), packed, typed.bytes());
    return typed.unpack(staged.data(), typed.bytes()) == UCD_SUCCESS;
}

template <class Next, class Count, class Address>
int pack_external(Call call, Next next, const char *datarep, const void *inbuf, Count incount,
                  MPI_Datatype datatype, void *outbuf, Address outsize, Address *position) {
    if (settings().pack && outbuf != nullptr && is_external32(datarep)) {
        const auto typed = TypedBuffer::packed_at(call, outbuf, inbuf, incount, datatype);
        const ExternalForm *const form = typed ? typed.external() : nullptr;
        if (form != nullptr && has_room(outsize, position, typed.bytes())) {
            char *const packed = static_cast<char *>(outbuf) + *position;
            if (pack_reversed(typed, *form, packed)) {
                *position += static_cast<Address>(typed.bytes());
                count_taken(call);
                return MPI_SUCCESS;
            }
            if (typed.device() != nullptr) return raise_error(MPI_COMM_SELF);
        }
    }
    count_passed(call);
    return next(datarep, inbuf, incount, datatype, outbuf, outsize, position);
}

template <class Next, class Count, class Address>
int unpack_external(Call call, Next next, const char *datarep, const void *inbuf, Address insize,
                    Address *position, void *outbuf, Count outcount, MPI_Datatype datatype) {
    if (settings().pack && inbuf != nullptr && is_external32(datarep)) {
        const auto typed = TypedBuffer::packed_at(call, inbuf, outbuf, outcount, datatype);
        const ExternalForm *const form = typed ? typed.external() : nullptr;
        if (form != nullptr && has_room(insize, position, typed.bytes())) {
            if (unpack_reversed(typed, *form, static_cast<const char *>(inbuf) + *position)) {
                *position += static_cast<Address>(typed.bytes());
                count_taken(call);
                return MPI_SUCCESS;
            }
            if (typed.device() != nullptr) return raise_error(MPI_COMM_SELF);
        }
    }
    count_passed(call);
    return next(datarep, inbuf, insize, position, outbuf, outcount, datatype);
}

} // namespace ucd_mpi

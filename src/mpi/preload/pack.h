// MPI_Pack and MPI_Unpack, also in the external32 form.
#pragma once

#include "preload/message.h"

#include <cstring>

namespace ucd_mpi {

// Whether `bytes` from the position on lie in the buffer. If not, MPI says what is wrong.
template <class Count>
bool has_room(Count size, const Count *position, std::uintptr_t bytes) {
    return position != nullptr && *position >= 0 && size >= *position &&
           static_cast<std::uintptr_t>(size) - static_cast<std::uintptr_t>(*position) >= bytes;
}

template <class Next, class Count>
int pack(Call call, Next next, const void *inbuf, Count incount, MPI_Datatype datatype,
         void *outbuf, Count outsize, Count *position, MPI_Comm comm) {
    if (settings().pack && comm != MPI_COMM_NULL && outbuf != nullptr) {
        const TypedBuffer typed(call, inbuf, incount, datatype);
        if (typed && has_room(outsize, position, typed.bytes()) &&
            typed.pack(static_cast<char *>(outbuf) + *position) == UCD_SUCCESS) {
            *position = static_cast<Count>(*position + static_cast<Count>(typed.bytes()));
            count_taken(call);
            return MPI_SUCCESS;
        }
    }
    count_passed(call);
    return next(inbuf, incount, datatype, outbuf, outsize, position, comm);
}

template <class Next, class Count>
int unpack(Call call, Next next, const void *inbuf, Count insize, Count *position, void *outbuf,
           Count outcount, MPI_Datatype datatype, MPI_Comm comm) {
    if (settings().pack && comm != MPI_COMM_NULL && inbuf != nullptr) {
        const TypedBuffer typed(call, outbuf, outcount, datatype);
        if (typed && has_room(insize, position, typed.bytes()) &&
            typed.unpack(static_cast<const char *>(inbuf) + *position, typed.bytes()) ==
                UCD_SUCCESS) {
            *position = static_cast<Count>(*position + static_cast<Count>(typed.bytes()));
            count_taken(call);
            return MPI_SUCCESS;
        }
    }
    count_passed(call);
    return next(inbuf, insize, position, outbuf, outcount, datatype, comm);
}

inline bool is_external32(const char *datarep) {
    return datarep != nullptr && std::strcmp(datarep, "external32") == 0;
}

template <class Next, class Count, class Address>
int pack_external(Call call, Next next, const char *datarep, const void *inbuf, Count incount,
                  MPI_Datatype datatype, void *outbuf, Address outsize, Address *position) {
    if (settings().pack && outbuf != nullptr && is_external32(datarep)) {
        const TypedBuffer typed(call, inbuf, incount, datatype);
        const ExternalForm *const form = typed ? typed.external() : nullptr;
        if (form != nullptr && has_room(outsize, position, typed.bytes())) {
            char *const packed = static_cast<char *>(outbuf) + *position;
            if (typed.pack(packed) == UCD_SUCCESS) {
                form->convert(packed, packed, typed.bytes());
                *position += static_cast<Address>(typed.bytes());
                count_taken(call);
                return MPI_SUCCESS;
            }
        }
    }
    count_passed(call);
    return next(datarep, inbuf, incount, datatype, outbuf, outsize, position);
}

template <class Next, class Count, class Address>
int unpack_external(Call call, Next next, const char *datarep, const void *inbuf, Address insize,
                    Address *position, void *outbuf, Count outcount, MPI_Datatype datatype) {
    if (settings().pack && inbuf != nullptr && is_external32(datarep)) {
        const TypedBuffer typed(call, outbuf, outcount, datatype);
        const ExternalForm *const form = typed ? typed.external() : nullptr;
        if (form != nullptr && has_room(insize, position, typed.bytes())) {
            const PackedMemory packed(typed.bytes());
            if (packed.data() != nullptr) {
                form->convert(packed.data(), static_cast<const char *>(inbuf) + *position,
                              typed.bytes());
                if (typed.unpack(packed.data(), typed.bytes()) == UCD_SUCCESS) {
                    *position += static_cast<Address>(typed.bytes());
                    count_taken(call);
                    return MPI_SUCCESS;
                }
            }
        }
    }
    count_passed(call);
    return next(datarep, inbuf, insize, position, outbuf, outcount, datatype);
}

} // namespace ucd_mpi

// MPI_Pack and MPI_Unpack.
#pragma once

#include "preload/message.h"

namespace ucd_mpi {

// Whether `bytes` from the position on lie in the buffer. If not, the call is passed to MPI, which
// reports the error.
template <class Count>
bool has_room(Count size, const Count *position, std::uintptr_t bytes) {
    return position != nullptr && *position >= 0 && size >= *position &&
           static_cast<std::uintptr_t>(size) - static_cast<std::uintptr_t>(*position) >= bytes;
}

// MPICH packs as much as there is room for, and unpacks what there is, without an error. In device
// memory it would crash.
template <class Count>
bool lacks_room(const MessageBuffer &typed, Count size, const Count *position) {
    return typed.on_device() && position != nullptr && size >= 0 &&
           !has_room(size, position, typed.bytes());
}

template <class Next, class Count>
int pack(Call call, Next next, const void *inbuf, Count incount, MPI_Datatype datatype,
         void *outbuf, Count outsize, Count *position, MPI_Comm comm) {
    if (settings().pack && comm != MPI_COMM_NULL && outbuf != nullptr) {
        const auto typed = MessageBuffer::packed_at(call, outbuf, inbuf, incount, datatype);
        if (lacks_room(typed, outsize, position)) return raise_error(comm, MPI_ERR_TRUNCATE);
        if (typed && has_room(outsize, position, typed.bytes())) {
            if (typed.pack(static_cast<char *>(outbuf) + *position) == UCD_SUCCESS) {
                *position = static_cast<Count>(*position + static_cast<Count>(typed.bytes()));
                count_taken(call);
                return MPI_SUCCESS;
            }
            if (typed.on_device()) return raise_error(comm);
        }
    }
    count_passed(call);
    return next(inbuf, incount, datatype, outbuf, outsize, position, comm);
}

template <class Next, class Count>
int unpack(Call call, Next next, const void *inbuf, Count insize, Count *position, void *outbuf,
           Count outcount, MPI_Datatype datatype, MPI_Comm comm) {
    if (settings().pack && comm != MPI_COMM_NULL && inbuf != nullptr) {
        const auto typed = MessageBuffer::packed_at(call, inbuf, outbuf, outcount, datatype);
        if (lacks_room(typed, insize, position)) return raise_error(comm, MPI_ERR_TRUNCATE);
        if (typed && has_room(insize, position, typed.bytes())) {
            if (typed.unpack(static_cast<const char *>(inbuf) + *position, typed.bytes()) ==
                UCD_SUCCESS) {
                *position = static_cast<Count>(*position + static_cast<Count>(typed.bytes()));
                count_taken(call);
                return MPI_SUCCESS;
            }
            if (typed.on_device()) return raise_error(comm);
        }
    }
    count_passed(call);
    return next(inbuf, insize, position, outbuf, outcount, datatype, comm);
}

} // namespace ucd_mpi

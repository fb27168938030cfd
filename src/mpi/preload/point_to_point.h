// Messages of types that this library packs. Each stays one message with the same elements.
#pragma once

#include "preload/operation.h"

#include <optional>

namespace ucd_mpi {

// Empty if the message is left to MPI.
template <class Count>
MessageBuffer message(Call call, const void *buffer, Count count, MPI_Datatype datatype, int peer,
                      ExpectedUse use = ExpectedUse::once) {
    if (!settings().messages || peer == MPI_PROC_NULL) return {};
    return MessageBuffer(call, buffer, count, datatype, use);
}

// Packs the data of a send. Returns memory without data if that failed; the call is then passed to
// MPI.
inline PackedMemory packed_bytes(const MessageBuffer &typed) {
    PackedMemory packed = typed.packed_memory();
    return packed.data() != nullptr && typed.pack(packed.data()) == UCD_SUCCESS ? std::move(packed)
                                                                                : PackedMemory();
}

template <class Next, class Count>
int blocking_send(Call call, Next next, const void *buf, Count count, MPI_Datatype datatype,
                  int dest, int tag, MPI_Comm comm) {
    if (const MessageBuffer typed = message(call, buf, count, datatype, dest)) {
        if (const PackedMemory packed = packed_bytes(typed); packed.data() != nullptr) {
            count_taken(call);
            return next(packed.data(), typed.packed_count<Count>(), typed.packed_datatype(), dest,
                        tag, comm);
        }
        if (typed.on_device()) return raise_error(comm);
    }
    count_passed(call);
    return next(buf, count, datatype, dest, tag, comm);
}

// Tracks a nonblocking send, unless it is already complete: its request may then be one that MPI
// shares among such sends.
inline void track_send(MPI_Request request, OperationPtr operation) {
    int complete = 0;
    if (PMPI_Request_get_status(request, &complete, MPI_STATUS_IGNORE) != MPI_SUCCESS ||
        complete == 0)
        add_operation(request, std::move(operation));
}

inline OperationPtr new_operation(MessageBuffer &&typed, PackedMemory &&packed, MPI_Comm comm) {
    return OperationPtr(new (std::nothrow) Operation{
        .typed = std::move(typed), .packed = std::move(packed), .comm = comm});
}

// Starts to move packed data. `next(bytes, count, datatype)` calls MPI, and `track(operation)`
// keeps the operation. Nothing was done if there is no memory for it: the result is then empty.
template <class Count, class Next, class Track>
std::optional<int> start_packed(Call call, Next next, Track track, MessageBuffer &typed,
                                PackedMemory packed, MPI_Comm comm) {
    if (packed.data() == nullptr) return std::nullopt;
    OperationPtr operation = new_operation(std::move(typed), std::move(packed), comm);
    if (operation == nullptr) return std::nullopt;
    const MessageBuffer &t = operation->typed;
    const int rc = next(operation->packed.data(), t.packed_count<Count>(), t.packed_datatype());
    if (rc != MPI_SUCCESS) return rc;
    count_taken(call);
    track(std::move(operation));
    return rc;
}

template <class Next, class Count>
int nonblocking_send(Call call, Next next, const void *buf, Count count, MPI_Datatype datatype,
                     int dest, int tag, MPI_Comm comm, MPI_Request *request) {
    progress_freed();
    const auto send = [&](const void *b, Count n, MPI_Datatype d) {
        return next(b, n, d, dest, tag, comm, request);
    };
    if (MessageBuffer typed = message(call, buf, count, datatype, dest)) {
        const auto track = [&](OperationPtr operation) {
            track_send(*request, std::move(operation));
        };
        if (const auto rc =
                start_packed<Count>(call, send, track, typed, packed_bytes(typed), comm))
            return *rc;
        if (typed.on_device()) return raise_error(comm);
    }
    count_passed(call);
    return send(buf, count, datatype);
}

// The data of a send is packed each time the request is started.
template <class Next, class Count>
int persistent(Call call, Next next, bool receives, const void *buf, Count count,
               MPI_Datatype datatype, int peer, int tag, MPI_Comm comm, MPI_Request *request) {
    const auto init = [&](const void *b, Count n, MPI_Datatype d) {
        return next(const_cast<void *>(b), n, d, peer, tag, comm, request);
    };
    if (MessageBuffer typed = message(call, buf, count, datatype, peer, ExpectedUse::again)) {
        const auto track = [&](OperationPtr operation) {
            operation->receives = receives;
            operation->persistent = true;
            operation->active = false;
            add_operation(*request, std::move(operation));
        };
        if (const auto rc =
                start_packed<Count>(call, init, track, typed, typed.packed_memory(), comm))
            return *rc;
        if (typed.on_device()) return raise_error(comm);
    }
    count_passed(call);
    return init(buf, count, datatype);
}

// The receive arguments that the user gave.
template <class Count>
struct ReceivedMessage {
    void *buf;
    Count count;
    MPI_Datatype datatype;
};

// Receives packed bytes and unpacks them. `next(buf, count, datatype, status)` receives.
template <class Count, class Next>
int receive_packed(Call call, Next next, MessageBuffer typed, PackedMemory packed, MPI_Comm comm,
                   MPI_Status *status) {
    count_taken(call);
    Operation operation{
        .typed = std::move(typed), .packed = std::move(packed), .comm = comm, .receives = true};
    MPI_Status own;
    MPI_Status *const used = status == MPI_STATUS_IGNORE ? &own : status;
    const MessageBuffer &t = operation.typed;
    const int rc =
        next(operation.packed.data(), t.packed_count<Count>(), t.packed_datatype(), used);
    progress_freed();
    return rc != MPI_SUCCESS ? rc : deliver(operation, *used);
}

// A blocking receive. `next(buf, count, datatype, status)` receives.
template <class Next, class Count>
int receive_now(Call call, Next next, const ReceivedMessage<Count> &user, MessageBuffer typed,
                MPI_Comm comm, MPI_Status *status) {
    PackedMemory packed = typed.packed_memory();
    if (typed && packed.data() != nullptr)
        return receive_packed<Count>(call, next, std::move(typed), std::move(packed), comm, status);
    if (typed.on_device()) return raise_error(comm);
    count_passed(call);
    const int rc = next(user.buf, user.count, user.datatype, status);
    progress_freed();
    return rc;
}

// `next(buf, count, datatype)` starts to receive, and sets *request.
template <class Next, class Count>
int start_to_receive(Call call, Next next, const ReceivedMessage<Count> &user, MessageBuffer typed,
                     MPI_Comm comm, MPI_Request *request) {
    if (typed) {
        const auto track = [&](OperationPtr operation) {
            operation->receives = true;
            add_operation(*request, std::move(operation));
        };
        if (const auto rc =
                start_packed<Count>(call, next, track, typed, typed.packed_memory(), comm))
            return *rc;
        if (typed.on_device()) return raise_error(comm);
    }
    count_passed(call);
    return next(user.buf, user.count, user.datatype);
}

template <class Next, class Count>
int blocking_receive(Call call, Next next, void *buf, Count count, MPI_Datatype datatype,
                     int source, int tag, MPI_Comm comm, MPI_Status *status) {
    return receive_now(
        call,
        [&](void *b, Count n, MPI_Datatype d, MPI_Status *s) {
            return next(b, n, d, source, tag, comm, s);
        },
        ReceivedMessage<Count>{buf, count, datatype}, message(call, buf, count, datatype, source),
        comm, status);
}

template <class Next, class Count>
int nonblocking_receive(Call call, Next next, void *buf, Count count, MPI_Datatype datatype,
                        int source, int tag, MPI_Comm comm, MPI_Request *request) {
    return start_to_receive(
        call,
        [&](void *b, Count n, MPI_Datatype d) { return next(b, n, d, source, tag, comm, request); },
        ReceivedMessage<Count>{buf, count, datatype}, message(call, buf, count, datatype, source),
        comm, request);
}

// Receives a message that was probed. Its communicator is not known, so errors of this library are
// raised on MPI_COMM_SELF.
template <class Next, class Count>
int matched_receive(Call call, Next next, void *buf, Count count, MPI_Datatype datatype,
                    MPI_Message *matched, MPI_Status *status) {
    return receive_now(
        call,
        [&](void *b, Count n, MPI_Datatype d, MPI_Status *s) { return next(b, n, d, matched, s); },
        ReceivedMessage<Count>{buf, count, datatype},
        message(call, buf, count, datatype, MPI_ANY_SOURCE), MPI_COMM_SELF, status);
}

template <class Next, class Count>
int nonblocking_matched_receive(Call call, Next next, void *buf, Count count, MPI_Datatype datatype,
                                MPI_Message *matched, MPI_Request *request) {
    return start_to_receive(
        call, [&](void *b, Count n, MPI_Datatype d) { return next(b, n, d, matched, request); },
        ReceivedMessage<Count>{buf, count, datatype},
        message(call, buf, count, datatype, MPI_ANY_SOURCE), MPI_COMM_SELF, request);
}

template <class Next, class Count>
int send_receive(Call call, Next next, const void *sendbuf, Count sendcount, MPI_Datatype sendtype,
                 int dest, int sendtag, void *recvbuf, Count recvcount, MPI_Datatype recvtype,
                 int source, int recvtag, MPI_Comm comm, MPI_Status *status) {
    const MessageBuffer sent = message(call, sendbuf, sendcount, sendtype, dest);
    const PackedMemory packed = sent ? packed_bytes(sent) : PackedMemory();
    if (packed.data() != nullptr) {
        sendbuf = packed.data();
        sendcount = sent.packed_count<Count>();
        sendtype = sent.packed_datatype();
    } else if (sent.on_device()) {
        return raise_error(comm);
    }
    Operation received;
    MPI_Status own;
    if (MessageBuffer typed = message(call, recvbuf, recvcount, recvtype, source)) {
        received.packed = typed.packed_memory();
        if (received.packed.data() != nullptr) {
            received.typed = std::move(typed);
            received.comm = comm;
            received.receives = true;
            recvbuf = received.packed.data();
            recvcount = received.typed.packed_count<Count>();
            recvtype = received.typed.packed_datatype();
            if (status == MPI_STATUS_IGNORE) status = &own;
        } else if (typed.on_device()) {
            return raise_error(comm);
        }
    }
    if (packed.data() != nullptr || received.receives)
        count_taken(call);
    else
        count_passed(call);
    const int rc = next(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype,
                        source, recvtag, comm, status);
    progress_freed();
    return rc != MPI_SUCCESS || !received.receives ? rc : deliver(received, *status);
}

template <class Next, class Count>
int replace(Call call, Next next, void *buf, Count count, MPI_Datatype datatype, int dest,
            int sendtag, int source, int recvtag, MPI_Comm comm, MPI_Status *status) {
    const int peer = source != MPI_PROC_NULL ? source : dest;
    if (MessageBuffer typed = message(call, buf, count, datatype, peer)) {
        if (PackedMemory packed = packed_bytes(typed); packed.data() != nullptr) {
            const auto exchange = [&](void *bytes, Count packed_count, MPI_Datatype packed_type,
                                      MPI_Status *used) {
                return next(bytes, packed_count, packed_type, dest, sendtag, source, recvtag, comm,
                            used);
            };
            return receive_packed<Count>(call, exchange, std::move(typed), std::move(packed), comm,
                                         status);
        }
        if (typed.on_device()) return raise_error(comm);
    }
    count_passed(call);
    const int rc = next(buf, count, datatype, dest, sendtag, source, recvtag, comm, status);
    progress_freed();
    return rc;
}

// One side of MPI_Isendrecv. Empty if MPI does not keep the packed type alive, see tuning.h.
template <class Count>
MessageBuffer scheduled_message(Call call, const void *buffer, Count count, MPI_Datatype datatype,
                                int peer) {
    MessageBuffer typed = message(call, buffer, count, datatype, peer);
    if (typed && !schedules_keep_types && !typed.packed_is_predefined()) return {};
    return typed;
}

inline void track_both(MPI_Request request, OperationPtr operation) {
    if (operation->receives)
        add_operation(request, std::move(operation));
    else
        track_send(request, std::move(operation));
}

// MPICH 4.0 does not set the status, so the number of received bytes is unknown. Therefore the
// packed memory starts with the contents of the receive buffer, and all of it is unpacked.
template <class Next, class Count>
int nonblocking_send_receive(Call call, Next next, const void *sendbuf, Count sendcount,
                             MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
                             Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
                             MPI_Comm comm, MPI_Request *request) {
    progress_freed();
    const MessageBuffer sent = scheduled_message(call, sendbuf, sendcount, sendtype, dest);
    MessageBuffer received = scheduled_message(call, recvbuf, recvcount, recvtype, source);
    OperationPtr operation = sent || received ? new_operation({}, {}, comm) : nullptr;
    bool taken = false;
    if (operation != nullptr && sent) operation->also_sent = packed_bytes(sent);
    if (operation != nullptr && operation->also_sent.data() != nullptr) {
        sendbuf = operation->also_sent.data();
        sendcount = sent.packed_count<Count>();
        sendtype = sent.packed_datatype();
        taken = true;
    } else if (sent.on_device()) {
        return raise_error(comm);
    }
    if (operation != nullptr && received) operation->packed = packed_bytes(received);
    if (operation != nullptr && operation->packed.data() != nullptr) {
        recvbuf = operation->packed.data();
        recvcount = received.packed_count<Count>();
        recvtype = received.packed_datatype();
        taken = operation->receives = operation->keeps = true;
        operation->typed = std::move(received);
    } else if (received.on_device()) {
        return raise_error(comm);
    }
    const int rc = next(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype,
                        source, recvtag, comm, request);
    if (!taken) {
        count_passed(call);
    } else if (rc == MPI_SUCCESS) {
        count_taken(call);
        track_both(*request, std::move(operation));
    }
    return rc;
}

template <class Next, class Count>
int nonblocking_replace(Call call, Next next, void *buf, Count count, MPI_Datatype datatype,
                        int dest, int sendtag, int source, int recvtag, MPI_Comm comm,
                        MPI_Request *request) {
    progress_freed();
    const int peer = source != MPI_PROC_NULL ? source : dest;
    const auto exchange = [&](void *b, Count n, MPI_Datatype d) {
        return next(b, n, d, dest, sendtag, source, recvtag, comm, request);
    };
    if (MessageBuffer typed = scheduled_message(call, buf, count, datatype, peer)) {
        const auto track = [&](OperationPtr operation) {
            operation->receives = operation->keeps = source != MPI_PROC_NULL;
            track_both(*request, std::move(operation));
        };
        if (const auto rc =
                start_packed<Count>(call, exchange, track, typed, packed_bytes(typed), comm))
            return *rc;
        if (typed.on_device()) return raise_error(comm);
    }
    count_passed(call);
    return exchange(buf, count, datatype);
}

} // namespace ucd_mpi

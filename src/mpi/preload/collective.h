// Collective calls whose data this library packs. MPI gets the number of items that the user gave,
// each of the same size and with the same basic elements, without gaps. MPI libraries choose
// algorithms by counts and sizes, so the choice is the same on all processes, whichever of them
// pack.
#pragma once

#include "preload/operation.h"
#include "preload/participation.h"

#include <limits>
#include <memory>
#include <tuple>

namespace ucd_mpi {

inline bool may_be_collective(MPI_Datatype datatype) {
    const KnownType *const known = find_known(datatype, 0, ExpectedUse::once);
    return was_committed(datatype) && (known == nullptr || known->gains().collective.most > 0);
}

// Computed with integers, because the buffer may be MPI_BOTTOM.
inline const void *address(const void *buffer, MPI_Count displ) {
    return reinterpret_cast<const void *>(reinterpret_cast<std::uintptr_t>(buffer) +
                                          static_cast<std::uintptr_t>(displ));
}

// The structs below hold the arguments for one side of a call. `route` returns that of data in
// device memory; it is empty if MPI moves the data. `arguments` returns the arguments to pass to
// MPI.

// `count` items for each process, consecutive in the buffer.
template <class Count>
struct EqualBlocks {
    void *buffer;
    Count count;
    MPI_Datatype datatype;

    bool may_be_taken() const { return may_be_collective(datatype); }
    bool worth_packing(int blocks, ExpectedUse use) const {
        BlocksInView in_view(use);
        in_view.add({buffer, count, datatype, blocks});
        return in_view.worth_packing();
    }
    DeviceRoute route(Call call, int blocks) const {
        MPI_Count items = 0;
        if (__builtin_mul_overflow(MPI_Count{count}, blocks, &items)) return {};
        return find_on_device(call, buffer, items, datatype, blocks).route;
    }
    PackedSide packed(Call call, int blocks, DeviceRoute route) const {
        PackedSide side;
        side.blocks = PackedBlocks(call, {{buffer, count, datatype, blocks}}, route);
        return side;
    }
    auto arguments() const { return std::tuple(buffer, count, datatype); }
    auto arguments(const PackedSide &side) const {
        return std::tuple(side.blocks.memory(), count, side.blocks.item_datatype());
    }
};

// A count for each process, and a displacement in items.
template <class Count, class Displ>
struct CountedBlocks {
    void *buffer;
    const Count *counts;
    const Displ *displs;
    MPI_Datatype datatype;

    bool may_be_taken() const {
        return counts != nullptr && displs != nullptr && may_be_collective(datatype);
    }
    bool worth_packing(int blocks, ExpectedUse use) const {
        BlocksInView in_view(use);
        for (int i = 0; i < blocks; ++i) in_view.add({buffer, counts[i], datatype});
        return in_view.worth_packing();
    }
    DeviceRoute route(Call call, int blocks) const {
        if (counts == nullptr || displs == nullptr) return {};
        int first = 0;
        while (first < blocks && counts[first] == 0) ++first;
        MPI_Count lb = 0, extent = 0;
        if (first == blocks || PMPI_Type_get_extent_x(datatype, &lb, &extent) != MPI_SUCCESS)
            return {};
        return find_on_device(call, address(buffer, displs[first] * extent), counts[first],
                              datatype)
            .route;
    }
    PackedSide packed(Call call, int blocks, DeviceRoute route) const {
        MPI_Count lb = 0, extent = 0;
        PackedSide side;
        if (PMPI_Type_get_extent_x(datatype, &lb, &extent) != MPI_SUCCESS) return side;
        std::vector<ProcessBlock> all;
        std::vector<Displ> &packed_displs = side.displs_of<Displ>();
        MPI_Count items = 0;
        for (int i = 0; i < blocks; ++i) {
            all.push_back({address(buffer, displs[i] * extent), counts[i], datatype});
            packed_displs.push_back(static_cast<Displ>(items));
            items += counts[i];
        }
        if (items <= std::numeric_limits<Displ>::max())
            side.blocks = PackedBlocks(call, all, route);
        return side;
    }
    auto arguments() const { return std::tuple(buffer, counts, displs, datatype); }
    auto arguments(const PackedSide &side) const {
        return std::tuple(side.blocks.memory(), counts, side.displs_of<Displ>().data(),
                          side.blocks.item_datatype());
    }
};

// A count, a displacement in bytes and a type for each process.
template <class Count, class Displ>
struct TypedBlocks {
    void *buffer;
    const Count *counts;
    const Displ *displs;
    const MPI_Datatype *datatypes;

    bool may_be_taken() const {
        return counts != nullptr && displs != nullptr && datatypes != nullptr;
    }
    bool worth_packing(int blocks, ExpectedUse use) const {
        BlocksInView in_view(use);
        for (int i = 0; i < blocks; ++i)
            in_view.add({address(buffer, displs[i]), counts[i], datatypes[i]});
        return in_view.worth_packing();
    }
    // Each block is checked, because the blocks may be in different memories.
    DeviceRoute route(Call call, int blocks) const {
        DeviceRoute found;
        for (int i = 0; i < blocks && may_be_taken() && !found; ++i)
            found = find_on_device(call, address(buffer, displs[i]), counts[i], datatypes[i]).route;
        return found;
    }
    PackedSide packed(Call call, int blocks, DeviceRoute route) const {
        PackedSide side;
        std::vector<ProcessBlock> all;
        all.reserve(static_cast<std::size_t>(blocks));
        for (int i = 0; i < blocks; ++i)
            all.push_back({address(buffer, displs[i]), counts[i], datatypes[i]});
        side.blocks = PackedBlocks(call, all, route);
        if (side.blocks.bytes() > std::numeric_limits<Displ>::max()) side.blocks = {};
        if (!side) return side;
        for (int i = 0; i < blocks; ++i) {
            const auto at = static_cast<std::size_t>(i);
            side.displs_of<Displ>().push_back(static_cast<Displ>(side.blocks.offset(at)));
            const MPI_Datatype item = side.blocks.item_datatype(at);
            side.datatypes.push_back(item != MPI_DATATYPE_NULL ? item : datatypes[i]);
        }
        return side;
    }
    auto arguments() const { return std::tuple(buffer, counts, displs, datatypes); }
    auto arguments(const PackedSide &side) const {
        return std::tuple(side.blocks.memory(), counts, side.displs_of<Displ>().data(),
                          side.datatypes.data());
    }
};

template <class Count>
EqualBlocks<Count> blocks(const void *buffer, Count count, MPI_Datatype datatype) {
    return {const_cast<void *>(buffer), count, datatype};
}
template <class Count, class Displ>
CountedBlocks<Count, Displ> blocks(const void *buffer, const Count *counts, const Displ *displs,
                                   MPI_Datatype datatype) {
    return {const_cast<void *>(buffer), counts, displs, datatype};
}
template <class Count, class Displ>
TypedBlocks<Count, Displ> blocks(const void *buffer, const Count *counts, const Displ *displs,
                                 const MPI_Datatype *datatypes) {
    return {const_cast<void *>(buffer), counts, displs, datatypes};
}

// The receiving side of a broadcast: the buffer that the root sends.
template <class Count>
struct SameBlocks : EqualBlocks<Count> {};
template <class Count>
SameBlocks<Count> same_blocks(void *buffer, Count count, MPI_Datatype datatype) {
    return {blocks(buffer, count, datatype)};
}

// The arguments that follow the two sides.
struct Rooted {
    int root;
    MPI_Comm comm;
    auto arguments() const { return std::tuple(root, comm); }
};
struct Unrooted {
    MPI_Comm comm;
    static constexpr int root = MPI_UNDEFINED;
    auto arguments() const { return std::tuple(comm); }
};

// Decides what this library packs for one call, or for each start of a persistent request. Returns
// null if MPI moves all the data.
template <class Send, class Receive>
CollectivePtr collective_data(Call call, Pattern pattern, const Send &send, const Receive &receive,
                              int root, MPI_Comm comm, ExpectedUse use) {
    if (!settings().messages) return nullptr;
    const bool devices = has_devices();
    const bool kept = use == ExpectedUse::once || schedules_keep_types;
    if (!devices && (!has_committed_types() || !kept)) return nullptr;
    // In a broadcast, every process reads the type.
    if (pattern == Pattern::broadcast && !devices && !send.may_be_taken()) return nullptr;
    const Reads reads = arguments_read(pattern, send.buffer, receive.buffer, root, comm);
    const bool may_send = reads.send && send.may_be_taken();
    const bool may_receive = reads.receive && receive.may_be_taken();
    if (!may_send && !may_receive && !devices) return nullptr;
    const std::optional<Participation> p = participation(pattern, send.buffer, comm);
    if (!p) return nullptr;
    const DeviceRoute from = devices && reads.send ? send.route(call, p->sends_to) : DeviceRoute{};
    const DeviceRoute to =
        devices && reads.receive ? receive.route(call, p->receives_from) : DeviceRoute{};
    const bool on_host = kept && !p->alone;
    const bool sends =
        from || (may_send && on_host && !from.left_to_mpi && send.worth_packing(p->sends_to, use));
    const bool receives = to || (may_receive && on_host && !to.left_to_mpi &&
                                 receive.worth_packing(p->receives_from, use));
    if (!sends && !receives) return nullptr;
    auto data = std::make_unique<CollectiveData>();
    if (sends) data->sent = send.packed(call, p->sends_to, from);
    if (receives) data->received = receive.packed(call, p->receives_from, to);
    // MPI reports what is wrong with it.
    if (data->sent.blocks.has_invalid() || data->received.blocks.has_invalid()) return nullptr;
    data->participation = *p;
    data->on_device = from || to;
    data->failed = (from && !data->sent) || (to && !data->received) ||
                   (data->on_device && !kept && !data->has_predefined_items());
    return data->sent || data->received || data->failed ? std::move(data) : nullptr;
}

template <class Send, class Receive>
CollectivePtr pack_collective(Call call, Pattern pattern, const Send &send, const Receive &receive,
                              int root, MPI_Comm comm) {
    CollectivePtr data =
        collective_data(call, pattern, send, receive, root, comm, ExpectedUse::once);
    if (data == nullptr || data->failed || data->pack() == UCD_SUCCESS) return data;
    if (!data->on_device) return nullptr;
    data->failed = true;
    return data;
}

// Calls MPI with the arguments of both sides, or packed data for the sides that `data` has, and the
// rest.
template <class Next, class Send, class Receive, class... Rest>
int pass_on(Next next, const CollectiveData *data, const Send &send, const Receive &receive,
            std::tuple<Rest...> rest) {
    const bool sent = data != nullptr && data->sent, received = data != nullptr && data->received;
    return std::apply(
        next,
        std::tuple_cat(sent ? send.arguments(data->sent) : send.arguments(),
                       received ? receive.arguments(data->received) : receive.arguments(), rest));
}

template <class Next, class Count, class... Rest>
int pass_on(Next next, const CollectiveData *data, const EqualBlocks<Count> &,
            const SameBlocks<Count> &buffer, std::tuple<Rest...> rest) {
    return std::apply(
        next,
        std::tuple_cat(data == nullptr ? buffer.arguments()
                                       : buffer.arguments(data->sent ? data->sent : data->received),
                       rest));
}

// Calls MPI with the user's arguments, or raises the error of data that cannot be moved. Empty, and
// does nothing, if there is packed data. `next(data)` calls MPI; data may be null.
template <class Next>
std::optional<int> without_packing(Call call, Next next, const CollectivePtr &data, MPI_Comm comm) {
    if (data != nullptr && !data->failed) return std::nullopt;
    if (data != nullptr) return raise_error(comm);
    count_passed(call);
    return next(nullptr);
}

template <class Next>
int blocking_collective(Call call, Next next, CollectivePtr data, MPI_Comm comm) {
    if (const auto done = without_packing(call, next, data, comm)) return *done;
    count_taken(call);
    const int rc = next(data.get());
    progress_freed();
    if (rc != MPI_SUCCESS || data->unpack() == UCD_SUCCESS) return rc;
    return raise_error(comm);
}

inline OperationPtr collective_operation(CollectivePtr data, MPI_Comm comm) {
    auto operation = std::make_unique<Operation>();
    operation->comm = comm;
    operation->receives = static_cast<bool>(data->received);
    operation->collective = std::move(data);
    return operation;
}

// If the call is complete at once, its request may be one that MPI shares between operations.
template <class Next>
int nonblocking_collective(Call call, Next next, CollectivePtr data, MPI_Comm comm,
                           MPI_Request *request) {
    progress_freed();
    if (const auto done = without_packing(call, next, data, comm)) return *done;
    OperationPtr operation = collective_operation(std::move(data), comm);
    const int rc = next(operation->collective.get());
    if (rc != MPI_SUCCESS) return rc;
    count_taken(call);
    int complete = 0;
    MPI_Status status;
    if (PMPI_Request_get_status(*request, &complete, &status) == MPI_SUCCESS && complete != 0)
        return deliver(*operation, status);
    add_operation(*request, std::move(operation));
    return rc;
}

// The data is packed each time the request is started.
template <class Next>
int persistent_collective(Call call, Next next, CollectivePtr data, MPI_Comm comm,
                          MPI_Request *request) {
    if (const auto done = without_packing(call, next, data, comm)) return *done;
    OperationPtr operation = collective_operation(std::move(data), comm);
    operation->persistent = true;
    operation->active = false;
    const int rc = next(operation->collective.get());
    if (rc != MPI_SUCCESS) return rc;
    count_taken(call);
    add_operation(*request, std::move(operation));
    return rc;
}

template <class Next, class Send, class Receive, class Where>
int collective(Call call, Next next, Pattern pattern, const Send &send, const Receive &receive,
               const Where &where) {
    return blocking_collective(
        call,
        [&](const CollectiveData *data) {
            return pass_on(next, data, send, receive, where.arguments());
        },
        pack_collective(call, pattern, send, receive, where.root, where.comm), where.comm);
}

template <class Next, class Send, class Receive, class Where>
int collective(Call call, Next next, Pattern pattern, const Send &send, const Receive &receive,
               const Where &where, MPI_Request *request) {
    return nonblocking_collective(
        call,
        [&](const CollectiveData *data) {
            return pass_on(next, data, send, receive,
                           std::tuple_cat(where.arguments(), std::tuple(request)));
        },
        pack_collective(call, pattern, send, receive, where.root, where.comm), where.comm, request);
}

template <class Next, class Send, class Receive, class Where>
int collective_init(Call call, Next next, Pattern pattern, const Send &send, const Receive &receive,
                    const Where &where, MPI_Info info, MPI_Request *request) {
    return persistent_collective(
        call,
        [&](const CollectiveData *data) {
            return pass_on(next, data, send, receive,
                           std::tuple_cat(where.arguments(), std::tuple(info, request)));
        },
        collective_data(call, pattern, send, receive, where.root, where.comm, ExpectedUse::again),
        where.comm, request);
}

} // namespace ucd_mpi

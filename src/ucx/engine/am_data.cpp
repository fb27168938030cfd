#include "engine/am_data.h"

#include "common/generic_datatype.h"
#include "engine/engine.h"
#include "engine/ucx_version.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace ucd_ucx {
namespace {

// The room of a spare message: for the header of a user's message, unless that is extremely long,
// and for one-sided answers that are sent together.
constexpr std::size_t spare_header = 8 << 10, spare_data = 2 << 10;

// A generic datatype with room for data of any length, of which UCX drops each fragment. 0 if there
// is no memory for it.
ucp_datatype_t discarding() {
    static const ucp_generic_dt_ops_t callbacks = {
        .start_pack = [](void *, const void *, std::size_t) -> void * { return nullptr; },
        .start_unpack = [](void *, void *, std::size_t) -> void * { return nullptr; },
        .packed_size = [](void *) -> std::size_t { return SIZE_MAX / 2; },
        .pack = [](void *, std::size_t, void *, std::size_t) -> std::size_t { return 0; },
        .unpack = [](void *, std::size_t, const void *, std::size_t) { return UCS_OK; },
        .finish = [](void *) {},
    };
    static GenericDatatype datatype;
    static const bool is_made = datatype.make(callbacks).ok();
    return is_made ? datatype.handle() : 0;
}

// Drops data that waits at the sender, with UCX's lock of the worker, and without memory for it.
// Receiving nothing of it is enough, but UCX 1.13 then keeps its descriptor for ever, which 1.14
// frees. With 1.13, all of it comes, and is dropped.
void discard(ucp_worker_h worker, void *handle) {
    ucp_request_param_t p = {};
    p.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_DATATYPE;
    p.cb.recv_am = [](void *request, ucs_status_t, std::size_t, void *) {
        ucp_request_free(request);
    };
    p.datatype = is_ucx_1_13() ? discarding() : 0;
    const std::size_t count = p.datatype == 0 ? 0 : 1;
    if (count == 0) p.datatype = ucp_dt_make_contig(1);
    (void)ucp_am_recv_data_nbx(worker, handle, nullptr, count, &p);
}

} // namespace

AmData::AmData(WorkerEngine &engine, ucp_ep_h from, std::string_view header, void *data,
               std::size_t bytes, uint64_t attributes)
    : ep(from), engine_(engine), header_(header), data_(data), data_bytes_(bytes),
      is_rendezvous_((attributes & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0) {
    const bool may_be_held =
        (attributes & (UCP_AM_RECV_ATTR_FLAG_RNDV | UCP_AM_RECV_ATTR_FLAG_DATA)) != 0;
    if (may_be_held && bytes > 0) place_ = DataPlace::holdable;
}

AmData::AmData(WorkerEngine &engine)
    : ep(nullptr), engine_(engine), copy_(new char[spare_data]), room_(spare_data) {
    header_copy_.reserve(spare_header);
}

// Includes the descriptor that UCX needs for a rendezvous with a header.
uint64_t AmData::bytes_to_keep() const {
    constexpr uint64_t descriptor = 256;
    return sizeof(AmData) + header_.size() + (is_rendezvous_ ? descriptor : data_bytes_) +
           (header_.empty() ? 0 : bytes_for_family);
}

std::string_view AmData::data() const {
    if (is_rendezvous_) return {};
    return {static_cast<const char *>(data_), data_bytes_ - missing_};
}

std::unique_ptr<AmData> AmData::kept() {
    std::unique_ptr<AmData> made;
    try {
        made.reset(new AmData(engine_, ep));
        made->take_from(*this);
    } catch (const std::bad_alloc &) {
        made.reset();
    }
    if (made != nullptr && !made->is_cut()) return made;
    std::unique_ptr<AmData> spare = engine_.take_spare();
    if (spare == nullptr || spare->header_copy_.capacity() < header_.size()) return made;
    spare->take_from(*this);
    return spare;
}

// If it throws std::bad_alloc, `lent` has not changed.
void AmData::take_from(AmData &lent) {
    // charged: in Engine::keep, or reserved by a spare message
    header_copy_.assign(lent.header_);
    header_ = header_copy_;
    ep = lent.ep;
    is_rendezvous_ = lent.is_rendezvous_;
    data_bytes_ = lent.data_bytes_;
    if (lent.is_holdable()) {
        data_ = std::exchange(lent.data_, nullptr);
        place_ = DataPlace::held;
        return;
    }
    if (copy_ == nullptr && data_bytes_ > 0) {
        // charged: in Engine::keep
        copy_.reset(new (std::nothrow) char[data_bytes_]);
        room_ = copy_ == nullptr ? 0 : data_bytes_;
    }
    const std::size_t fits = std::min(data_bytes_, room_);
    missing_ = data_bytes_ - fits;
    if (fits > 0) std::memcpy(copy_.get(), lent.data_, fits);
    data_ = copy_.get();
    place_ = DataPlace::copied;
}

void AmData::set_copy(std::string_view data) {
    // charged: by the family, as a part of what it keeps
    copy_.reset(new char[data.size()]);
    std::memcpy(copy_.get(), data.data(), data.size());
    data_ = copy_.get();
    data_bytes_ = data.size();
    place_ = DataPlace::copied;
}

std::unique_ptr<AmData> AmData::take_over() {
    std::unique_ptr<AmData> other(new AmData(engine_, ep));
    other->since = since;
    if (place_ == DataPlace::held || place_ == DataPlace::copied) {
        other->data_ = std::exchange(data_, nullptr);
        other->data_bytes_ = data_bytes_;
        other->copy_ = std::move(copy_);
        other->place_ = place_;
    } else {
        other->set_copy(data());
    }
    return other;
}

std::unique_ptr<AmData> AmData::copy_of(std::string_view part) const {
    std::unique_ptr<AmData> other(new AmData(engine_, ep));
    other->since = since;
    other->set_copy(part);
    return other;
}

void AmData::drop_data() {
    void *const data = std::exchange(data_, nullptr);
    if (data == nullptr || place_ != DataPlace::held) return;
    // In all versions from UCX 1.13 to 1.22, ucp_am_data_release of a rendezvous answers the sender
    // before it locks the worker, and so races with a thread that makes progress.
    if (is_rendezvous_ && engine_.lock.is_needed()) return discard(engine_.worker(), data);
    ucp_am_data_release(engine_.worker(), data);
}

void AmData::on_complete() {
    std::unique_ptr<AmData> message(this);
    if (Family *const family = engine_.family_of(*this); family != nullptr)
        family->take(std::move(message));
}

} // namespace ucd_ucx

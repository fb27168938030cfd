// Batch: many moves in one call, prepared once.
#include "core/batch.h"

#include "core/hints.h"
#include "core/move.h"
#include "core/stream.h"

#include <list>
#include <mutex>
#include <utility>
#include <vector>

namespace ucdpy {

namespace {

class Batch {
public:
    Batch(bool packs, nb::handle members, nb::handle op, nb::object hints)
        : packs_(packs), op_(op_of(op)), hints_(std::move(hints)) {
        for (nb::handle member : nb::iter(members)) add(nb::tuple(nb::borrow(member)), op);
    }

    std::size_t size() const noexcept { return calls_.size(); }

    uintptr_t run_all(nb::handle stream) {
        const Order order = order_of_all(stream);
        if (!order.in_stream)
            for (const PackCall &c : calls_) synchronize_producers(c.side.whole.indices);
        if (order.captured) {
            std::vector<Prepared> members;
            for (const PackCall &c : calls_) members.push_back({c.side.whole, op_, info_});
            check(order.make_capturable(std::move(members)));
        }
        uintptr_t bytes = 0;
        check(run(false, [&] {
            const std::lock_guard lock(mutex_);
            if (order.in_stream) return enqueue(order.native, bytes);
            ucd_request_t request = UCD_REQUEST__NULL;
            const int rc = begin(request, bytes);
            return rc == UCD_SUCCESS ? ucd_wait(&request) : rc;
        }));
        return bytes;
    }

    Request *start(nb::object self) {
        for (const PackCall &c : calls_) {
            synchronize_producers(c.side.view, c.packed);
            synchronize_producers(c.side.whole.indices);
        }
        uintptr_t bytes = 0;
        ucd_request_t request = UCD_REQUEST__NULL;
        check(run(false, [&] {
            const std::lock_guard lock(mutex_);
            return begin(request, bytes);
        }));
        Used used;
        used.owner = std::move(self);
        return new Request(request, bytes, std::move(used));
    }

private:
    void add(const nb::tuple &member, nb::handle op) {
        const std::size_t given = nb::len(member);
        if (given < 2 || given > 4)
            raise(PyExc_TypeError,
                  "a member of a batch is (from, to), (from, to, type) or (from, "
                  "to, type, count); this one has %zu entries",
                  given);
        const nb::object type = given > 2 ? nb::object(member[2]) : nb::none();
        const intptr_t count = given > 3 ? nb::cast<intptr_t>(member[3]) : 1;
        const nb::object array = member[packs_ ? 0 : 1], packed = member[packs_ ? 1 : 0];
        calls_.emplace_back(packs_ ? PackCall::packing : PackCall::unpacking,
                            Side(array, type, count, nb::none(), packs_ ? "src" : "dst"), packed, 0,
                            op, hints_, nb::none());
        const PackCall &c = calls_.back();
        (packs_ ? c.packed : c.side.view).require_writable(packs_ ? "out" : "dst");
        c.require_devices(Notices::no);
        // One info is for all members.
        info_ = calls_.size() == 1 || info_ == c.info ? c.info : UCD_INFO__NULL;
        if (packs_)
            pack_list_.push_back({c.side.view.data,
                                  c.side.whole.count,
                                  c.side.whole.type,
                                  0,
                                  c.packed.data,
                                  c.packed_bytes,
                                  0,
                                  {}});
        else
            unpack_list_.push_back({c.packed.data,
                                    c.packed_bytes,
                                    c.side.view.data,
                                    c.side.whole.count,
                                    c.side.whole.type,
                                    0,
                                    0,
                                    {}});
    }

    // All members are ordered alike: as the first one that is in device memory.
    Order order_of_all(nb::handle stream) {
        for (const PackCall &c : calls_)
            if (c.side.view.backend || c.packed.backend)
                return order_of(c.side.view, c.packed, stream);
        if (!calls_.empty())
            return order_of(calls_.front().side.view, calls_.front().packed, stream);
        return Order();
    }

    int begin(ucd_request_t &request, uintptr_t &bytes) {
        const int rc =
            packs_
                ? ucd_ipack_batch(pack_list_.data(), pack_list_.size(), info_, op_, &request)
                : ucd_iunpack_batch(unpack_list_.data(), unpack_list_.size(), info_, op_, &request);
        bytes = moved();
        return rc;
    }

    int enqueue(ucd_stream_t stream, uintptr_t &bytes) {
        const int rc =
            packs_ ? ucd_pack_batch_stream(pack_list_.data(), pack_list_.size(), info_, op_, stream)
                   : ucd_unpack_batch_stream(unpack_list_.data(), unpack_list_.size(), info_, op_,
                                             stream);
        bytes = moved();
        return rc;
    }

    uintptr_t moved() const {
        uintptr_t bytes = 0;
        for (const ucd_pack_desc_t &d : pack_list_) bytes += d.actual_pack_bytes;
        for (const ucd_unpack_desc_t &d : unpack_list_) bytes += d.actual_unpack_bytes;
        return bytes;
    }

    bool packs_;
    ucd_op_t op_;
    nb::object hints_;
    ucd_info_t info_ = UCD_INFO__NULL;
    std::list<PackCall> calls_; // the arrays stay in use as long as the batch
    std::mutex mutex_;          // libucd writes into the lists
    std::vector<ucd_pack_desc_t> pack_list_;
    std::vector<ucd_unpack_desc_t> unpack_list_;
};

Batch *make(bool packs, nb::handle members, nb::handle op, nb::object hints) {
    return new Batch(packs, members, op, std::move(hints)); // nanobind takes it over
}

} // namespace

void bind_batch(nb::module_ &m) {
    using nb::arg;
    nb::class_<Batch>(m, "Batch",
                      R"(Many moves in one call, prepared once and run as often as wanted.

    pages = ucd.Batch.pack([(view, buffer), ...])
    pages.run()                # moves what the arrays hold now

The arrays stay alive, and of fixed size, as long as the batch. On a device, all members are one
launch. Members are not ordered among each other, so what they write must not overlap.)")
        .def_static(
            "pack",
            [](nb::handle members, nb::handle op, nb::object hints) {
                return make(true, members, op, std::move(hints));
            },
            arg("members"), nb::kw_only(), arg("op").none() = nb::none(),
            arg("hints").none() = nb::none(),
            "A batch that packs. A member is (src, out), (src, out, type) or (src, out, type, "
            "count),\nwhich mean what they mean in pack_into.")
        .def_static(
            "unpack",
            [](nb::handle members, nb::handle op, nb::object hints) {
                return make(false, members, op, std::move(hints));
            },
            arg("members"), nb::kw_only(), arg("op").none() = nb::none(),
            arg("hints").none() = nb::none(),
            "A batch that unpacks. A member is (packed, dst), (packed, dst, type) or (packed, dst, "
            "type,\ncount), which mean what they mean in unpack.")
        .def("__len__", &Batch::size)
        .def("run", &Batch::run_all, nb::kw_only(), arg("stream").none() = nb::none(),
             "Moves all members, and returns the bytes. When the work is done: as pack_into.")
        .def(
            "start", [](nb::object self) { return nb::cast<Batch &>(self).start(self); },
            "As run, but returns a Request and does not wait for the work.");
}

} // namespace ucdpy

// Batch: moves that come again, checked and prepared once. A plan of libucd, and its arrays.
#include "core/batch.h"

#include "core/driver.h"
#include "core/hints.h"
#include "core/move.h"
#include "core/stream.h"

#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ucdpy {

namespace {

// A kind of member. It says which of the two arrays have layouts, and how such a member is written
// in Python.
struct Kind {
    const char *name, *in, *out;
    bool in_is_packed, out_is_packed;
    std::size_t max_entries;
    const char *written;
};
constexpr Kind kinds[] = {
    {"pack", "src", "out", false, true, 4,
     "(src, out), (src, out, type) or (src, out, type, count)"},
    {"unpack", "packed", "dst", true, false, 4,
     "(packed, dst), (packed, dst, type) or (packed, dst, type, count)"},
    {"copy", "src", "dst", false, false, 6,
     "(src, dst), which may be followed by src_type, src_count, dst_type and dst_count"},
};
constexpr const Kind &packs = kinds[0], &unpacks = kinds[1], &copies = kinds[2];

// The way in which the array of one side of a member is read. A rebase reads new arrays in the same
// way.
struct Form {
    std::shared_ptr<const Side> side_of(nb::handle array) const {
        return is_packed ? std::make_shared<const Side>(array, nb::none(), name)
                         : std::make_shared<const Side>(array, type, count, nb::none(), name);
    }
    const char *name;
    bool is_packed;
    nb::object type = nb::none();
    intptr_t count = 1;
};

// The arrays of a member: input and output. Destroyed with the GIL held.
using Sides = std::array<std::shared_ptr<const Side>, 2>;
struct Member {
    std::array<Form, 2> forms;
    Sides sides;
};

// Names the member in what the work raises.
template <class F>
void at_member(std::size_t index, F work) {
    const std::string name = "members[" + std::to_string(index) + "]: ";
    try {
        work();
    } catch (nb::python_error &error) {
        const nb::object raised = nb::borrow(error.value());
        const nb::object said = raised.attr("args");
        if (nb::len(said) == 1 && PyUnicode_Check(nb::object(said[0]).ptr()))
            raised.attr("args") = nb::make_tuple(nb::str(name.c_str()) + nb::object(said[0]));
        throw;
    } catch (const std::bad_cast &) {
        raise(PyExc_TypeError, "%san entry is not of the type that it must be", name.c_str());
    }
}

// entries: the member, of which those from `first` on are its arrays and what they are laid out by.
Member member_of(const Kind &kind, const nb::tuple &entries, std::size_t first) {
    const std::size_t given = nb::len(entries) - first;
    if (given < 2 || given > kind.max_entries)
        raise(PyExc_TypeError, "what a batch is to %s is %s; this member has %zu entries",
              kind.name, kind.written, given);
    Member member{{Form{kind.in, kind.in_is_packed}, Form{kind.out, kind.out_is_packed}}, {}};
    std::size_t next = first + 2;
    for (Form &form : member.forms) {
        if (form.is_packed) continue;
        if (next < first + given) form.type = entries[next++];
        if (next < first + given) form.count = nb::cast<intptr_t>(entries[next++]);
    }
    for (std::size_t i : {0, 1})
        member.sides[i] = member.forms[i].side_of(nb::object(entries[first + i]));
    return member;
}

// Reads a member. Its first entry is the name of its kind.
Member member_of(const nb::tuple &entries) {
    const nb::object name = nb::len(entries) > 0 ? nb::object(entries[0]) : nb::none();
    if (PyUnicode_Check(name.ptr()))
        for (const Kind &kind : kinds)
            if (PyUnicode_CompareWithASCIIString(name.ptr(), kind.name) == 0)
                return member_of(kind, entries, 1);
    raise(PyExc_TypeError, "a member begins with 'pack', 'unpack' or 'copy'; this one with %R",
          name.ptr());
}

void require_usable(const Sides &sides, ucd_info_t info, ucd_op_t op) {
    require_usable(*sides[0], *sides[1], op);
    require_devices(*sides[0], *sides[1], info, Notices::no);
}

bool is_same_layout(const Typed &a, const Typed &b) {
    return a.count == b.count && (a.type == b.type || flattened(a.type) == flattened(b.type));
}

// A batch does the same with an array that replaces another one.
void require_alike(const Side &array, const Side &before) {
    const char *const kind = array.view.backend, *const kind_before = before.view.backend;
    if (array.view.plain_host != before.view.plain_host || !kind != !kind_before ||
        (kind && std::strcmp(kind, kind_before) != 0))
        raise(PyExc_ValueError, "%s is in another kind of memory than the array that it replaces",
              array.what);
    if (before.whole.type == UCD_TYPE__NULL) {
        if (array.whole.count != before.whole.count)
            raise(PyExc_ValueError, "%s has %zu bytes; it must have %zu, as before", array.what,
                  array.whole.count, before.whole.count);
    } else if (!is_same_layout(array.whole, before.whole)) {
        raise(PyExc_ValueError, "%s is laid out otherwise than the array that it replaces",
              array.what);
    }
}

uint64_t elements_of(ucd_type_t type, uintptr_t count) {
    uint64_t elements = 0;
    std::array<ucd_element_run_t, 64> runs;
    for (uintptr_t first = 0, total = 1; first < total;) {
        uintptr_t written = 0;
        check(ucd_get_element_runs(count, type, first, runs.data(), runs.size(), &written, &total));
        for (uintptr_t i = 0; i < written; ++i) elements += runs[i].elements;
        first += written;
    }
    return elements;
}

// Raises Truncated unless both sides have as many bytes, or elements if they are converted.
void require_same_length(const Sides &sides, ucd_op_t op) {
    const Side &in = *sides[0], &out = *sides[1];
    if (in.whole.type == UCD_TYPE__NULL) return require_same_length(out, in, 0);
    if (out.whole.type == UCD_TYPE__NULL) return require_same_length(in, out, 0);
    const bool converts = op == UCD_OP__CONVERT || op == UCD_OP__CONVERT_SAT;
    const auto length = [&](const Side &side) {
        return converts ? elements_of(side.whole.type, side.whole.count) : side.bytes();
    };
    const std::optional<uintptr_t> from = length(in), to = length(out);
    if (!from || !to || *from == *to) return;
    const char *const unit = converts ? " elements" : " bytes";
    const std::string sentence = "dst has " + std::to_string(*to) + unit + ", and src has " +
                                 std::to_string(*from) + "; partial=True moves what both have";
    raise_status(UCD_ERR__TRUNCATED, sentence.c_str());
}

struct FreePlan {
    void operator()(ucd_plan_t plan) const noexcept { (void)ucd_plan_free(&plan); }
};
using PlanHandle = std::unique_ptr<std::remove_pointer_t<ucd_plan_t>, FreePlan>;

class Batch {
public:
    // kind: of all members; nullptr if each begins with the name of its own.
    Batch(const Kind *kind, nb::handle members, nb::handle op, nb::object hints, bool partial)
        : op_(op_of(op)), hints_(std::move(hints)) {
        auto all = std::make_shared<std::vector<Sides>>();
        bool plain_host = true;
        for (nb::handle given : nb::iter(members))
            at_member(all->size(), [&] {
                const nb::tuple entries(nb::borrow(given));
                Member member = kind ? member_of(*kind, entries, 0) : member_of(entries);
                for (const auto &side : member.sides) plain_host = plain_host && side->plain_host();
                forms_.push_back(std::move(member.forms));
                all->push_back(std::move(member.sides));
            });
        info_ = info_of(hints_, plain_host);
        for (std::size_t i = 0; i < all->size(); ++i)
            at_member(i, [&] {
                require_usable((*all)[i], info_, op_);
                if (!partial) require_same_length((*all)[i], op_);
            });
        find_device(*all);
        make_plan(*all, op_);
        is_quick_ = plain_host && bytes_ < quick_bytes;
        sides_ = std::move(all);
    }

    std::size_t size() const noexcept { return forms_.size(); }

    uintptr_t run_all(nb::handle stream, bool wait, bool non_blocking) {
        const auto all = sides_.load();
        const Order order =
            all->empty() ? Order() : order_of(first_on_device(*all), reaches_all_, stream);
        // Streams of several devices do not wait for each other, so the host does.
        const bool between_devices = between_devices_ && order.in_stream && !order.captured;
        if (!order.in_stream || between_devices)
            synchronize_all(*all, stream.is_none() || between_devices);
        if (order.captured) keep_indices(*all, order);
        check(run(is_quick_, [&] {
            const std::lock_guard lock(mutex_);
            int rc = UCD_SUCCESS;
            if (order.in_stream) rc = ucd_plan_start_stream(plan_.get(), order.native);
            if (order.in_stream && (rc == UCD_SUCCESS || !between_devices)) return rc;
            // Also if a device does not reach the other one: through host memory.
            ucd_request_t request = UCD_REQUEST__NULL;
            rc = ucd_plan_start(plan_.get(), &request);
            return rc == UCD_SUCCESS ? ucd_wait(&request) : rc;
        }));
        if (order.in_stream &&
            (wait || (touches_host_ && !non_blocking) || (between_devices && stream.is_none())))
            order.wait(*first_on_device(*all));
        return bytes_;
    }

    Request *start(nb::object self) {
        synchronize_all(*sides_.load(), true);
        ucd_request_t request = UCD_REQUEST__NULL;
        check(run(is_quick_, [&] {
            const std::lock_guard lock(mutex_);
            return ucd_plan_start(plan_.get(), &request);
        }));
        Used used;
        used.owner = std::move(self);
        return new Request(request, bytes_, std::move(used));
    }

    void rebase(nb::handle members, intptr_t first) {
        if (first < 0) raise(PyExc_ValueError, "first is %zd; it must be >= 0", first);
        const auto begin = static_cast<std::size_t>(first);
        const std::vector<Sides> given = replacements(members, begin);
        std::shared_ptr<const std::vector<Sides>> before; // goes with the GIL held
        check(run(is_quick_, [&] {
            const std::lock_guard lock(mutex_);
            before = sides_.load();
            auto after = std::make_shared<std::vector<Sides>>(*before);
            std::vector<const void *> inputs;
            std::vector<void *> outputs;
            for (std::size_t i = 0; i < given.size(); ++i) {
                Sides &sides = (*after)[begin + i];
                for (std::size_t k : {0, 1})
                    if (given[i][k]) sides[k] = given[i][k];
                inputs.push_back(sides[0]->view.data);
                outputs.push_back(sides[1]->view.data);
            }
            const int rc =
                ucd_plan_rebase(plan_.get(), begin, given.size(), inputs.data(), outputs.data());
            if (rc == UCD_SUCCESS) sides_ = std::move(after);
            return rc;
        }));
    }

private:
    void find_device(const std::vector<Sides> &all) {
        for (std::size_t i = 0; i < 2 * all.size() && !on_device_; ++i)
            if (all[i / 2][i % 2]->view.backend) on_device_ = i;
        if (!on_device_) return;
        for (const Sides &sides : all)
            for (const auto &side : sides) {
                touches_host_ = touches_host_ || !side->view.backend;
                between_devices_ = between_devices_ || is_apart(side->view, all);
                for (const auto &list : side->whole.indices)
                    between_devices_ = between_devices_ || is_apart(*list, all);
                reaches_all_ =
                    reaches_all_ && devices_reach(side->view) && devices_reach(side->whole.indices);
            }
    }

    bool is_apart(const View &array, const std::vector<Sides> &all) const {
        return is_of_another_device(array, *first_on_device(all));
    }

    const View *first_on_device(const std::vector<Sides> &all) const {
        return on_device_ ? &all[*on_device_ / 2][*on_device_ % 2]->view : nullptr;
    }

    void make_plan(const std::vector<Sides> &all, ucd_op_t op) {
        std::vector<ucd_move_t> moves;
        for (const auto &[in, out] : all) {
            ucd_move_t move = UCD_MOVE__INIT;
            move.inbuf = in->view.data;
            move.incount = in->whole.count;
            move.intype = in->whole.type;
            move.outbuf = out->view.data;
            move.outcount = out->whole.count;
            move.outtype = out->whole.type;
            moves.push_back(move);
        }
        ucd_plan_t made = UCD_PLAN__NULL;
        check(run(false,
                  [&] { return ucd_plan_create(moves.data(), moves.size(), info_, op, &made); }));
        plan_.reset(made);
        for (const ucd_move_t &move : moves) bytes_ += move.actual_bytes;
    }

    // Waits for what is enqueued for arrays of indices, and with `arrays` for all other arrays.
    static void synchronize_all(const std::vector<Sides> &all, bool arrays) {
        for (const Sides &sides : all) {
            if (arrays) synchronize_producers(sides[0]->view, sides[1]->view);
            for (const auto &side : sides) synchronize_producers(side->whole.indices);
        }
    }

    // A graph keeps what it needs of the plan; the lists of indices are Python's.
    static void keep_indices(const std::vector<Sides> &all, const Order &order) {
        std::vector<Typed> types;
        for (const Sides &sides : all)
            for (const auto &side : sides)
                if (!side->whole.indices.empty()) types.push_back(side->whole);
        if (!types.empty()) driver::keep_with_graph(order.native, std::move(types));
    }

    // The arrays of a rebase; none where one stays.
    std::vector<Sides> replacements(nb::handle members, std::size_t first) const {
        const auto before = sides_.load();
        std::vector<Sides> given;
        for (nb::handle member : nb::iter(members)) {
            const std::size_t index = first + given.size();
            at_member(index, [&] {
                const nb::tuple arrays(nb::borrow(member));
                if (nb::len(arrays) != 2)
                    raise(PyExc_TypeError,
                          "what replaces arrays is (from, to); this one has %zu entries",
                          nb::len(arrays));
                if (index >= size()) raise(PyExc_IndexError, "the batch has %zu members", size());
                Sides fresh, all = (*before)[index];
                for (std::size_t k : {0, 1}) {
                    const nb::object array = arrays[k];
                    if (array.is_none()) continue;
                    fresh[k] = forms_[index][k].side_of(array);
                    require_alike(*fresh[k], *all[k]);
                    all[k] = fresh[k];
                }
                require_usable(all, info_, op_);
                given.push_back(std::move(fresh));
            });
        }
        return given;
    }

    ucd_op_t op_;
    nb::object hints_;
    ucd_info_t info_ = UCD_INFO__NULL; // one for all members
    std::vector<std::array<Form, 2>> forms_;
    std::optional<std::size_t> on_device_; // the first array in device memory: 2 i is the input of
                                           // member i, 2 i + 1 its output
    bool reaches_all_ = true;              // and whether devices reach all arrays
    bool touches_host_ = false;            // some array is no device's
    bool between_devices_ = false;         // some array or list is on another device than the first
    bool is_quick_ = false;
    uintptr_t bytes_ = 0;
    PlanHandle plan_;
    std::mutex mutex_; // a plan is one thread's at a time
    // The arrays in use, of each member. Replaced as a whole: a thread may still read those before.
    std::atomic<std::shared_ptr<const std::vector<Sides>>> sides_;
};

// Binds a batch of which all members are of one kind.
template <const Kind &kind>
void bind_kind(nb::class_<Batch> &batch, const char *text) {
    using nb::arg;
    batch.def_static(
        kind.name,
        [](nb::handle members, nb::handle op, nb::object hints, bool partial) {
            return new Batch(&kind, members, op, std::move(hints), partial); // nanobind's to free
        },
        arg("members"), nb::kw_only(), arg("op").none() = nb::none(),
        arg("hints").none() = nb::none(), arg("partial") = false, text);
}

} // namespace

void bind_batch(nb::module_ &m) {
    using nb::arg;
    nb::class_<Batch> batch(
        m, "Batch",
        R"(Moves that come again: checked and prepared once, and started as often as wanted.

    pages = ucd.Batch.pack([(view, buffer), ...])
    pages.run()                # moves what the arrays hold now
    pages.rebase([(view2, buffer2), ...])

    mixed = ucd.Batch([('unpack', message, view), ('copy', view, other), ('pack', view, answer)])

The arrays stay alive, and of fixed size, as long as the batch has them. On a device, all members are
one launch. Members are not ordered among each other, so what one writes must overlap nothing that
the batch reads or writes. The sides of a member have one length, unless partial=True moves what both
have; else ucd.Truncated is raised. Errors have the member's index.)");
    batch.def(
        "__init__",
        [](Batch *self, nb::handle members, nb::handle op, nb::object hints, bool partial) {
            new (self) Batch(nullptr, members, op, std::move(hints), partial);
        },
        arg("members"), nb::kw_only(), arg("op").none() = nb::none(),
        arg("hints").none() = nb::none(), arg("partial") = false,
        "A batch of members of any kinds. A member is 'pack', 'unpack' or 'copy', and then what a "
        "member\nof Batch.pack, Batch.unpack or Batch.copy is.");
    bind_kind<packs>(batch,
                     "A batch that packs. A member is (src, out), (src, out, type) or (src, out, "
                     "type, count),\nwhich mean what they mean in pack_into.");
    bind_kind<unpacks>(batch,
                       "A batch that unpacks. A member is (packed, dst), (packed, dst, type) or "
                       "(packed, dst, type,\ncount), which mean what they mean in unpack.");
    bind_kind<copies>(batch,
                      "A batch that copies. A member is (src, dst), which may be followed by "
                      "src_type, src_count,\ndst_type and dst_count. They mean what they mean in "
                      "copy_bytes.");
    batch.def("__len__", &Batch::size)
        .def(
            "run", &Batch::run_all, nb::kw_only(), arg("stream").none() = nb::none(),
            arg("wait") = false, arg("non_blocking") = false,
            "Moves all members, and returns the bytes. When the work is done: as pack_into. Raises "
            "InvalidArgument\nif what start() began is not complete.")
        .def(
            "start", [](nb::object self) { return nb::cast<Batch &>(self).start(self); },
            "As run, but returns a Request and does not wait for the work. The batch cannot be "
            "started or rebased\nuntil the request is complete.")
        .def("rebase", &Batch::rebase, arg("members"), arg("first") = 0,
             R"(Gives members, from number first on, other arrays: (from, to) for each of them.

None is an array that stays. An array must be laid out as the one that it replaces, and be in the
same kind of memory. What streams and graphs have of earlier runs goes on with the arrays from
before, which the batch then no longer keeps. If it fails, the batch is as it was.)");
}

} // namespace ucdpy

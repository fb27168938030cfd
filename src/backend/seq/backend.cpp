// The backend for host memory. Everything it launches is complete on return.

#include "implement.h"

#include "host_functions.h"
#include "plan.h"

#include <algorithm>

namespace ucd {
namespace seq {
namespace {

// There is nothing to prepare on the host.
class SeqPreparedLaunch final : public PreparedLaunchOf<SeqPreparedLaunch> {
public:
    explicit SeqPreparedLaunch(MoveList list) : moves(list.begin(), list.end()) {}
    const std::vector<Move> moves;
};

class SeqBackend final : public BackendOf<SeqBackend> {
public:
    const char *name() const { return "seq"; }

    Status probe(BackendState &state) {
        state = state_;
        return success;
    }
    Status inspect(const BackendState *&state) {
        state = &state_;
        return success;
    }

    Status find(const void *, MemoryLocation &) const { return success; }

    bool reaches(int, const MemoryLocation &location) const { return location.host_reachable(); }

    bool supports(Op op, Element element) const {
        if (is_conversion(op)) return has_conversions && is_convertible(element, Element::float32);
        return op == Op::replace || reduce_kernel(op, element) != nullptr;
    }

    Status plan(const Layout &layout, int64_t extent, bool repeated, uint64_t max_bytes,
                Owner<KernelPlan> &plan) const {
        plan = make_owned<SeqPlan>(layout, extent, repeated, max_bytes);
        return success;
    }

    Status launch(int, const MoveList &list, Owner<Event> &) {
        if (list.size() == 1 && is_taken(list.front())) [[likely]] {
            run_move(list.front());
            return success;
        }
        if (!std::all_of(list.begin(), list.end(), is_taken)) return fail_copies();
        for (const Move &move : list) run_move(move);
        return success;
    }

    Status launch_in(const NativeStream &, const MoveList &, const Keep &) { return no_streams(); }

    Status prepare_launch(int, const MoveList &list, Owner<PreparedLaunch> &prepared) {
        if (!std::all_of(list.begin(), list.end(), is_taken)) return fail_copies();
        prepared = make_owned<SeqPreparedLaunch>(list);
        return success;
    }

    Status launch_prepared(const PreparedLaunch &prepared, Owner<Event> &) {
        for (const Move &move : static_cast<const SeqPreparedLaunch &>(prepared).moves)
            run_move(move);
        return success;
    }

    Status launch_prepared_in(const NativeStream &, const PreparedLaunch &, const Keep &) {
        return no_streams();
    }

    Status prepare(const NativeStream &, const Move &) { return no_streams(); }

    Status copy(int, void *to, const void *from, std::size_t bytes, Owner<Event> &) {
        __builtin_memcpy(to, from, bytes);
        return success;
    }

private:
    const BackendState state_{.available = true, .devices = 1, .version = "1", .reason = {}};

    // Whether it is a pack, an unpack, or a conversion between packed bytes.
    static bool is_taken(const Move &move) {
        const bool from = move.from.plan != nullptr, to = move.to.plan != nullptr;
        return is_conversion(move.op) ? !from && !to : from != to;
    }

    static Status fail_copies() {
        return fail(UCD_ERR__NOT_SUPPORTED, "the seq backend does not copy from layout to layout");
    }

    static Status no_streams() {
        return fail(UCD_ERR__NOT_SUPPORTED, "the seq backend has no streams");
    }
};

} // namespace
} // namespace seq

Owner<Backend> create_seq_backend() {
    return make_owned<seq::SeqBackend>();
}

} // namespace ucd

// Moves of data by each family of messages behind one interface, for tests of what holds for all of
// them.
#pragma once

#include "ucx/rma_pair.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace ucdtest {

// How data gets from one side to the other: the first two are transfers, the others one-sided.
enum class Means { tagged, active, put, get, accumulate, get_accumulate };
inline constexpr Means all_means[] = {Means::tagged, Means::active,     Means::put,
                                      Means::get,    Means::accumulate, Means::get_accumulate};
constexpr bool is_one_sided(Means means) {
    return means >= Means::put;
}
const char *to_text(Means means);

// What a move is like.
struct MoveShape {
    std::size_t ints = 10;
    bool device_at_a = false, device_at_b = false;
    bool irregular = false;  // at b: with many ints, a target has to ask for the type
    std::size_t missing = 0; // so many ints fewer at b
    bool late = false;       // a tagged receive is posted after the message has come
};

// Ints with gaps, in host or device memory, and their layout.
class SparseInts {
public:
    SparseInts(std::size_t ints, int first, bool on_device, bool irregular = false);
    ~SparseInts();
    SparseInts(const SparseInts &) = delete;
    SparseInts &operator=(const SparseInts &) = delete;
    void *data() const { return device_ != nullptr ? device_ : const_cast<int *>(memory_.data()); }
    std::size_t bytes() const { return memory_.size() * sizeof(int); }
    ucd_type_t type() const { return type_; }
    const std::vector<int> &first_values() const { return values_; }
    std::vector<int> values() const;
    bool gaps_are_whole() const;

private:
    std::vector<int> read() const;
    std::vector<std::intptr_t> places_;
    std::vector<int> values_, memory_;
    void *device_ = nullptr;
    ucd_type_t type_ = UCD_TYPE__NULL;
};

class FamilyMove;

// Side `a` sends and starts operations, `b` receives and has the windows.
class FamilyPair {
public:
    explicit FamilyPair(
        Means by, std::initializer_list<std::pair<std::string, std::string>> keys = small_chunks,
        ucs_thread_mode_t mode = UCS_THREAD_MODE_SINGLE);

    const Means means;
    Side &a() const { return one_sided_ ? one_sided_->a.side : transfers_->a; }
    Side &b() const { return one_sided_ ? one_sided_->b.side : transfers_->b; }
    void progress_a();
    void progress_b();
    void progress();
    // Until it is true; throws after 30 seconds.
    void until(const std::function<bool()> &condition);
    void lose_endpoint(Side &side, ucs_status_t status);
    void close_endpoint(Side &side);
    void connect();
    // A whole move of a few ints and one of many, with the right result.
    bool is_usable();
    RmaPair *one_sided() const { return one_sided_.get(); }

private:
    friend class FamilyMove;
    static void on_message(void *pair, unsigned, const void *header, std::size_t,
                           ucd_ucx_data_t data, std::uint64_t, ucp_ep_h);
    RmaSide &rma_side(const Side &side) const;

    std::unique_ptr<TwoSides> transfers_;
    std::unique_ptr<RmaPair> one_sided_;
    std::mutex lock_;
    std::map<ucp_tag_t, FamilyMove *> awaited_; // active messages
};

// One move. The memory of both sides and the window are its own.
class FamilyMove {
public:
    FamilyMove(FamilyPair &pair, const MoveShape &shape, ucp_tag_t tag = 1);
    ~FamilyMove(); // if it was started, it is done; makes progress until its window ends
    FamilyMove(const FamilyMove &) = delete;
    FamilyMove &operator=(const FamilyMove &) = delete;

    // As the function of the library returns that starts it at side a.
    int start();
    bool done() const { return first.done() && (is_one_sided(pair_.means) || second.done()); }
    // Of transfers. A receive that has matched no message does not learn that its sender is gone.
    int cancel_send();
    void cancel_receive();
    // The first failure, or UCS_OK.
    const ucd_ucx_result_t &result() const;
    bool is_right() const; // after a success
    bool gaps_are_whole() const;
    bool ends_window(); // false: something uses it

    Outcome first, second; // at side a; of the receive at side b, if it is a transfer

private:
    friend class FamilyPair;
    void forget();
    int receive_active(ucd_ucx_data_t data);
    int start_operation(RmaSide &side);

    FamilyPair &pair_;
    const ucp_tag_t tag_;
    const bool late_;
    SparseInts a_, old_, b_; // old_: what a get_accumulate fetches
    ucd_ucx_window_t window_ = UCD_UCX_WINDOW__NULL;
    ucd_ucx_window_key_t key_ = {};
};

} // namespace ucdtest

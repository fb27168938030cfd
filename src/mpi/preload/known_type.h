// What this library knows of a committed datatype, and how it finds that by the handle.
#pragma once

#include "preload/external.h"
#include "preload/shapes.h"
#include "types/convert.h"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

namespace ucd_mpi {

// Packed data as MPI is given it: `per_item` elements of `datatype`, which has no gaps, for one
// item of the user's type. The basic elements are the same, so signatures match.
struct PackedSignature {
    MPI_Datatype datatype = MPI_DATATYPE_NULL;
    MPI_Count per_item = 0;
    bool owned = false; // the datatype is freed with it
};

// Persistent requests are made to be used again, so their types are read at once.
enum class Use { once, again };

// Made for a committed type when it is used, and shared by its duplicates and by calls that use it.
// The type is converted when enough data was moved with it to pay for that.
class KnownType {
public:
    // `bytes_seen`: moved with the type before.
    explicit KnownType(std::uint64_t bytes_seen) : bytes_seen_(bytes_seen) {}
    KnownType(const KnownType &) = delete;
    KnownType &operator=(const KnownType &) = delete;

    void add_reference() { references_.fetch_add(1, std::memory_order_relaxed); }
    void release();

    // Whether this library moves data of this type. `count` items more are moved now, by whomever.
    bool is_taken(MPI_Datatype datatype, MPI_Count count, Use use);
    // Whether this library should move `count` items, and how many bytes they are; nothing if the
    // MPI library should.
    std::optional<std::uintptr_t> worth_taking(MPI_Datatype datatype, MPI_Count count, Use use);

    // So many bytes are moved here now.
    void count_moved(std::uintptr_t bytes) {
        if (!paid_.load(std::memory_order_relaxed)) [[unlikely]]
            count_until_paid(bytes);
    }

    // False if all collective calls with this type are left to MPI.
    bool may_be_collective() const;

    // Where an item's data is, from the buffer's address on: one byte of it.
    MPI_Aint some_byte(MPI_Datatype datatype) const;
    // Whether the data would be at addresses that nobody has: the buffer is null, and the type has
    // no absolute addresses. Valid once the type is taken.
    bool is_nowhere(const void *buffer) const;
    // For data in a device's memory, which MPI cannot read: converts the type now, so that what
    // follows is valid. False if that cannot be done.
    bool take_anyway(MPI_Datatype datatype);

    // Valid once the type is taken.
    ucd_type_t type() const { return converted_.type; }
    std::uintptr_t size() const { return size_; }
    int statistics_row() const { return statistics_row_; }
    bool one_is_contiguous() const { return one_is_contiguous_; } // but several are not
    bool several_are_contiguous() const { return several_are_contiguous_; }
    // Null if messages of this type are left to MPI.
    const PackedSignature *signature() const;
    // There is always one: if no elements can be named, then it is bytes.
    PackedSignature any_signature() const;
    // One packed item as one MPI item; MPI_DATATYPE_NULL if MPI refuses.
    MPI_Datatype item_datatype();
    bool item_is_predefined() const;
    // Null if MPI has to bring data of this type into the external32 form.
    const ExternalForm *external();

private:
    ~KnownType();
    enum class State : std::uint8_t { fresh, left, taken };
    State read(MPI_Datatype datatype);
    void learn(MPI_Datatype datatype);
    bool is_time_to_read(MPI_Datatype datatype, MPI_Count size, std::uint64_t seen);
    void count_until_paid(std::uintptr_t bytes);
    bool find_layout();
    void find_signature(bool gain);

    std::atomic<State> state_{State::fresh};
    std::atomic<std::uint64_t> bytes_seen_;
    // Whether reading the type has paid, for the types that come after it.
    std::atomic<bool> paid_{false};
    std::uint64_t bytes_to_pay_ = 0;
    std::atomic<Shape> shape_{0}; // 0 until it is asked for
    std::atomic<long> references_{1};
    std::once_flag learned_;
    Converted converted_;
    std::uintptr_t size_ = 0;
    std::uintptr_t mean_segment_ = 0;
    bool one_is_contiguous_ = false, several_are_contiguous_ = false;
    bool gains_in_messages_ = false;
    std::intptr_t low_ = 0; // of one item's data
    int statistics_row_ = 0;
    PackedSignature signature_;
    std::once_flag item_made_;
    MPI_Datatype item_ = MPI_DATATYPE_NULL;
    std::once_flag external_looked_for_;
    std::optional<ExternalForm> external_;
};

// A reference that ends itself; empty for types that are left to MPI.
class KnownTypeRef {
public:
    KnownTypeRef() = default;
    explicit KnownTypeRef(KnownType *known) : known_(known) {
        if (known_ != nullptr) known_->add_reference();
    }
    KnownTypeRef(KnownTypeRef &&other) noexcept : known_(std::exchange(other.known_, nullptr)) {}
    KnownTypeRef &operator=(KnownTypeRef &&other) noexcept {
        std::swap(known_, other.known_);
        return *this;
    }
    ~KnownTypeRef() {
        if (known_ != nullptr) known_->release();
    }
    KnownType *operator->() const { return known_; }
    explicit operator bool() const { return known_ != nullptr; }

private:
    KnownType *known_ = nullptr;
};

// After MPI has committed the datatype.
void remember_committed(MPI_Datatype datatype);

// Before the user frees the datatype. MPI would delete what is known of it when the last request
// that uses it is complete: MPICH gives up its lock for that, while it makes progress, and then
// another thread makes progress too.
void forget_freed(MPI_Datatype datatype);

// After MPI has made a duplicate of a type of which something is known.
void remember_duplicate(MPI_Datatype duplicate);

// MPI has ended, and all types have gone.
void forget_types();

// Whether there are any; false in programs that have no derived types.
bool has_known_types();

// Null for predefined types and for types that were not committed, which MPI refuses.
KnownType *find_known(MPI_Datatype datatype);
// The same for `count` items that are moved now. Null, too, for types that are left to MPI because
// so little was moved with them that nothing should be known of them yet.
KnownType *find_known_to_move(MPI_Datatype datatype, MPI_Count count, Use use);
// Predefined types, too. These are kept for ever.
KnownType *find_known_or_predefined(MPI_Datatype datatype);

} // namespace ucd_mpi

// What this library has learnt about a committed datatype, and the look-up by its handle.
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

// How packed data is described to MPI: `per_item` elements of `datatype`, which has no gaps, for
// each item of the user's type. The basic elements are the same, so type signatures match.
struct PackedSignature {
    MPI_Datatype datatype = MPI_DATATYPE_NULL;
    MPI_Count per_item = 0;
    bool owned = false; // KnownType frees the datatype
};

// `again` is for persistent requests: they are meant to be started many times, so their types are
// read at once.
enum class Use { once, again };

// Made when a committed type is first used, and shared by its duplicates and by calls that use it.
// The type is converted once enough data was moved with it to pay for the conversion.
class KnownType {
public:
    // `bytes_seen` is the number of bytes moved with the type before.
    explicit KnownType(std::uint64_t bytes_seen) : bytes_seen_(bytes_seen) {}
    KnownType(const KnownType &) = delete;
    KnownType &operator=(const KnownType &) = delete;

    void add_reference() { references_.fetch_add(1, std::memory_order_relaxed); }
    void release();

    // Whether this library moves data of this type. `count` more items are about to be moved, by
    // this library or by MPI.
    bool is_taken(MPI_Datatype datatype, MPI_Count count, Use use);
    // The bytes of `count` items if this library should move them; nothing if the MPI library
    // should.
    std::optional<std::uintptr_t> worth_taking(MPI_Datatype datatype, MPI_Count count, Use use);

    // Counts bytes that this library moves.
    void count_moved(std::uintptr_t bytes) {
        if (!paid_.load(std::memory_order_relaxed)) [[unlikely]]
            count_until_paid(bytes);
    }

    // False if all collective calls with this type are left to MPI.
    bool may_be_collective() const;

    // The displacement of one byte of an item's data from the buffer's address.
    MPI_Aint some_byte(MPI_Datatype datatype) const;
    // Whether the data would be at addresses that are never mapped: the buffer is null, and the
    // type has no absolute addresses. Valid once the type is taken.
    bool has_no_address(const void *buffer) const;
    // For data in device memory that MPI cannot read: converts the type now, whether that pays or
    // not. False if the type cannot be converted; otherwise the members below are valid.
    bool take_anyway(MPI_Datatype datatype);

    // Valid once the type is taken.
    ucd_type_t type() const { return converted_.type; }
    std::uintptr_t size() const { return size_; }
    int statistics_row() const { return statistics_row_; }
    bool one_is_contiguous() const { return one_is_contiguous_; } // several may have gaps
    bool several_are_contiguous() const { return several_are_contiguous_; }
    // Null if messages of this type are left to MPI.
    const PackedSignature *signature() const;
    // Never fails: if the elements cannot be described to MPI, the packed data is described as
    // bytes.
    PackedSignature any_signature() const;
    // The MPI type of one packed item; MPI_DATATYPE_NULL if MPI fails to create it.
    MPI_Datatype item_datatype();
    bool item_is_predefined() const;
    // Null if MPI has to convert data of this type to the external32 form.
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
    // Whether reading the type has paid off; later types of its shape are read accordingly.
    std::atomic<bool> paid_{false};
    std::uint64_t bytes_to_pay_ = 0;
    std::atomic<Shape> shape_{0}; // 0 until it is needed
    std::atomic<long> references_{1};
    std::once_flag learned_;
    Converted converted_;
    std::uintptr_t size_ = 0;
    std::uintptr_t mean_segment_ = 0;
    bool one_is_contiguous_ = false, several_are_contiguous_ = false;
    bool gains_in_messages_ = false;
    std::intptr_t low_ = 0; // displacement of the first byte of one item's data
    int statistics_row_ = 0;
    PackedSignature signature_;
    std::once_flag item_made_;
    MPI_Datatype item_ = MPI_DATATYPE_NULL;
    std::once_flag external_looked_for_;
    std::optional<ExternalForm> external_;
};

// An owned reference; empty for types that are left to MPI.
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

// Call after MPI has committed the datatype.
void remember_committed(MPI_Datatype datatype);

// Call before the datatype is freed: deletes the attribute. MPI would otherwise delete it when the
// last request that uses the type completes: while MPICH makes progress, it releases its lock for
// the callback, and then another thread makes progress at the same time.
void forget_freed(MPI_Datatype datatype);

// Call after MPI has duplicated a type that has the attribute.
void remember_duplicate(MPI_Datatype duplicate);

// Call when MPI has ended and all types are gone.
void forget_types();

// Whether any type has been committed; false in programs that have no derived types.
bool has_known_types();

// Null for predefined types and for types that were not committed, for which MPI raises an error.
KnownType *find_known(MPI_Datatype datatype);
// The same for `count` items that are about to be moved. Also null for types that are left to MPI
// because too little data was moved with them so far; no KnownType is made for them yet.
KnownType *find_known_to_move(MPI_Datatype datatype, MPI_Count count, Use use);
// Also finds predefined types. Their entries are never freed.
KnownType *find_known_or_predefined(MPI_Datatype datatype);

} // namespace ucd_mpi

#include "preload/known_type.h"

#include "preload/device.h"
#include "preload/settings.h"
#include "types/contents.h"

#include <array>
#include <climits>
#include <exception>
#include <map>
#include <new>
#include <utility>

namespace ucd_mpi {
namespace {

CommittedHandles::Handle handle_of(MPI_Datatype datatype) {
    return (CommittedHandles::Handle)datatype; // a pointer or an int, depending on the MPI library
}

using Remembered = RememberedType;

int on_duplicate(MPI_Datatype, int, void *, void *value, void *copy, int *flag) {
    static_cast<KnownType *>(value)->add_reference();
    *static_cast<void **>(copy) = value;
    *flag = 1;
    return MPI_SUCCESS;
}

int on_free(MPI_Datatype datatype, int, void *value, void *) {
    committed_handles.change(handle_of(datatype));
    static_cast<KnownType *>(value)->release();
    return MPI_SUCCESS;
}

// MPI_KEYVAL_INVALID until the first type is committed; look-ups then end at once.
std::atomic<int> keyval{MPI_KEYVAL_INVALID};

int make_keyval() {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    int key = keyval.load(std::memory_order_acquire);
    static const bool initialised = ucd_init(UCD_INFO__NULL) == UCD_SUCCESS;
    if (key != MPI_KEYVAL_INVALID || !initialised) return key;
    if (PMPI_Type_create_keyval(on_duplicate, on_free, &key, nullptr) != MPI_SUCCESS)
        return MPI_KEYVAL_INVALID;
    keyval.store(key, std::memory_order_release);
    return key;
}

// Says how many bytes MPI moves of a type before it is read, and how many the smallest call has
// that is taken over.
struct Unread {
    std::uint64_t bytes_before_reading, least;
};
const Unread &unread() {
    static const Unread values = {tuning().bytes_before_reading, tuning().least()};
    return values;
}

void remember(Remembered &slot, KnownType *known) {
    const Sizes messages = known->gains().message;
    slot.known = known;
    slot.size = known->size();
    slot.least = messages.most != 0 ? messages.least : UINT64_MAX;
}

// Counts the numbers in the constructors of a derived type and of the types inside it. A type that
// resizes, duplicates or repeats another one has few numbers itself.
std::uint64_t count_numbers(MPI_Datatype datatype, Envelope envelope) {
    constexpr std::uint64_t few = 16;
    std::uint64_t numbers = envelope.numbers;
    bool is_owned = false;
    while (envelope.types == 1 && envelope.numbers <= few) {
        Contents contents;
        if (read_contents(datatype, contents) != UCD_SUCCESS) break;
        if (is_owned) PMPI_Type_free(&datatype);
        datatype = contents.types.front();
        is_owned =
            read_envelope(datatype, envelope) == UCD_SUCCESS && !is_predefined(envelope.combiner);
        if (!is_owned) break;
        numbers += envelope.numbers;
    }
    if (is_owned) PMPI_Type_free(&datatype);
    return numbers;
}

// Whether the type is one to be read: no predefined one, and none that may be used in memory that
// only MPI reads. Adds what MPI moves before because of the type's lists.
bool count_numbers(Remembered &slot) {
    Envelope envelope;
    if (has_unknown_devices() || read_envelope(slot.datatype, envelope) != UCD_SUCCESS ||
        is_predefined(envelope.combiner)) {
        slot.size = 0;
        return false;
    }
    slot.numbers_counted = true;
    slot.bytes_before_reading += tuning().bytes_for_number * count_numbers(slot.datatype, envelope);
    return true;
}

// How often MPI has ended. Predefined types of Fortran's kinds end with it, and others may get
// their handles.
std::atomic<unsigned> times_ended{0};

// Null if MPI cannot keep the attribute. Does not replace an existing one: other threads may be
// using it.
KnownType *make_known(MPI_Datatype datatype, int key) {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    void *value = nullptr;
    int found = 0;
    if (PMPI_Type_get_attr(datatype, key, &value, &found) != MPI_SUCCESS) return nullptr;
    if (found != 0) return static_cast<KnownType *>(value);
    auto *known = new (std::nothrow) KnownType(datatype);
    committed_handles.add_attribute(handle_of(datatype));
    if (known != nullptr && PMPI_Type_set_attr(datatype, key, known) != MPI_SUCCESS) {
        known->release();
        known = nullptr;
    }
    // Threads that remember the type as unread, and would not delete the attribute, forget it.
    committed_handles.change(handle_of(datatype));
    return known;
}

// True if the type is to be read before `count` more items are moved. If not, their bytes count.
bool is_to_be_read(Remembered &slot, MPI_Count count, ExpectedUse use) {
    std::uint64_t bytes = 0;
    if (count <= 0 || slot.size == 0 ||
        __builtin_mul_overflow(slot.size, static_cast<std::uint64_t>(count), &bytes) ||
        bytes < slot.least)
        return false;
    const auto is_time = [&] {
        return use == ExpectedUse::again || bytes >= slot.bytes_before_reading;
    };
    if (is_time() && (slot.numbers_counted || count_numbers(slot)) && is_time()) return true;
    if (slot.size == 0) return false;
    slot.bytes_before_reading -= bytes;
    return false;
}

// What this thread remembers of a committed type; null if the type was never committed.
Remembered *slot_of(MPI_Datatype datatype) {
    const HandleStamp stamp = committed_handles.stamp(handle_of(datatype));
    return stamp != 0 ? &remembered_type(datatype, stamp) : nullptr;
}

KnownType *known_now(Remembered &slot) {
    slot.size = 0; // not read again if that fails
    KnownType *const known = make_known(slot.datatype, keyval.load(std::memory_order_acquire));
    if (known != nullptr) remember(slot, known);
    slot.stamp = committed_handles.stamp(handle_of(slot.datatype));
    return known;
}

KnownType *find_predefined_type(MPI_Datatype datatype) {
    Envelope envelope;
    // A handle that the program has not set is 0 mostly. MPI would raise the error when it is asked
    // about it, and once more in the call.
    if (datatype == MPI_DATATYPE_NULL || datatype == MPI_Datatype{} ||
        read_envelope(datatype, envelope) != UCD_SUCCESS || !is_predefined(envelope.combiner))
        return nullptr;
    // Never destroyed, because messages may be in progress when the process ends.
    static auto &mutex = *new std::mutex;
    static auto &all = *new std::map<std::pair<unsigned, MPI_Datatype>, KnownType *>;
    const std::lock_guard lock(mutex);
    KnownType *&known = all[{times_ended.load(std::memory_order_relaxed), datatype}];
    if (known == nullptr) known = new KnownType(datatype);
    return known;
}

} // namespace

KnownType::KnownType(MPI_Datatype datatype) {
    try {
        read(datatype);
    } catch (const std::exception &) { // out of memory: left to MPI
        gains_ = {};
        converted_.type.reset();
    }
}

KnownType::~KnownType() {
    if (item_ != MPI_DATATYPE_NULL) PMPI_Type_free(&item_);
    if (signature_.owned) PMPI_Type_free(&signature_.datatype);
}

void KnownType::release() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

void KnownType::read(MPI_Datatype datatype) {
    if (convert(datatype, converted_) != UCD_SUCCESS) return;
    const std::optional<TypeFacts> facts = facts_of(converted_);
    if (!facts) return;
    facts_ = *facts;
    if (!facts_.several_are_contiguous)
        gains_ = tuning().gains(facts_.arrangement, facts_.mean_segment);
    signature_ = signature_of(converted_, facts_.size);
    if (!signature_.same_elements) gains_.message = gains_.collective = {};
}

bool KnownType::has_no_address(const void *buffer) const {
    constexpr std::uintptr_t unmapped = 64 << 10; // at each side of address 0
    return reinterpret_cast<std::uintptr_t>(buffer) + static_cast<std::uintptr_t>(facts_.low) +
               unmapped <
           2 * unmapped;
}

MPI_Datatype KnownType::item_datatype() {
    if (item_is_predefined()) return signature_.datatype;
    std::call_once(item_made_, [&] {
        MPI_Datatype item = MPI_DATATYPE_NULL;
        if (signature_.per_item > INT_MAX ||
            PMPI_Type_contiguous(static_cast<int>(signature_.per_item), signature_.datatype,
                                 &item) != MPI_SUCCESS)
            return;
        if (PMPI_Type_commit(&item) == MPI_SUCCESS)
            item_ = item;
        else
            PMPI_Type_free(&item);
    });
    return item_;
}

// MPI is asked for what costs little. Reading a type takes some microseconds and more for lists;
// so types that are made anew for each message are not read.
void look_up(RememberedType &slot, MPI_Datatype datatype, HandleStamp stamp) {
    // performance only: MPI would say that there is none
    const bool may_have_attribute = committed_handles.may_have_attribute(handle_of(datatype)) &&
                                    (slot.datatype != datatype || slot.without_attribute != stamp);
    slot = {.datatype = datatype, .stamp = stamp};
    const int key = keyval.load(std::memory_order_acquire);
    if (key == MPI_KEYVAL_INVALID || datatype == MPI_DATATYPE_NULL) return;
    void *value = nullptr;
    int found = 0;
    if (may_have_attribute && PMPI_Type_get_attr(datatype, key, &value, &found) != MPI_SUCCESS)
        return;
    MPI_Count size = 0;
    if (found != 0) {
        remember(slot, static_cast<KnownType *>(value));
    } else if (PMPI_Type_size_x(datatype, &size) == MPI_SUCCESS && size > 0) {
        slot.size = static_cast<std::uint64_t>(size);
        slot.bytes_before_reading = unread().bytes_before_reading;
        slot.least = unread().least;
    }
}

void remember_committed(MPI_Datatype datatype) {
    if (keyval.load(std::memory_order_acquire) == MPI_KEYVAL_INVALID &&
        make_keyval() == MPI_KEYVAL_INVALID)
        return;
    committed_handles.add(handle_of(datatype));
}

void remember_duplicate(MPI_Datatype datatype, MPI_Datatype duplicate) {
    if (!was_committed(datatype)) return;
    if (committed_handles.may_have_attribute(handle_of(datatype)))
        committed_handles.add_attribute(handle_of(duplicate));
    remember_committed(duplicate);
}

void forget_types() {
    keyval.store(MPI_KEYVAL_INVALID, std::memory_order_release);
    times_ended.fetch_add(1, std::memory_order_relaxed);
    committed_handles.change_all();
}

void forget_freed(MPI_Datatype datatype) {
    // Most types that are made anew for a message were never read. The stamp changes when the next
    // type of this handle is committed.
    if (committed_handles.may_have_attribute(handle_of(datatype))) {
        const Remembered *const slot = slot_of(datatype);
        if (slot != nullptr && slot->known != nullptr)
            PMPI_Type_delete_attr(datatype, keyval.load(std::memory_order_acquire));
    }
    // If the program goes on using the handle, MPI is not asked about it.
    Remembered &slot = remembered_of(handle_of(datatype));
    slot.datatype = datatype;
    slot.stamp = committed_handles.stamp(handle_of(datatype));
    slot.known = nullptr;
    slot.size = 0;
    // performance only: MPI is not asked for the attribute of the next type
    slot.without_attribute = CommittedHandles::after(slot.stamp);
}

bool has_committed_types() {
    return keyval.load(std::memory_order_acquire) != MPI_KEYVAL_INVALID;
}

KnownType *find_known(MPI_Datatype datatype, MPI_Count count, ExpectedUse use) {
    Remembered *const slot = slot_of(datatype);
    if (slot == nullptr) return nullptr;
    if (slot->known == nullptr && is_to_be_read(*slot, count, use)) return known_now(*slot);
    return slot->known;
}

KnownType *find_converted(MPI_Datatype datatype) {
    Remembered *const slot = slot_of(datatype);
    KnownType *known = slot != nullptr ? slot->known : nullptr;
    if (slot != nullptr && known == nullptr && slot->size > 0 &&
        (slot->numbers_counted || count_numbers(*slot)))
        known = known_now(*slot);
    if (known == nullptr) known = find_predefined_type(datatype);
    return known != nullptr && known->is_converted() ? known : nullptr;
}

} // namespace ucd_mpi

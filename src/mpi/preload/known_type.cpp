#include "preload/known_type.h"

#include "preload/comparison.h"
#include "preload/loops.h"
#include "preload/repetition.h"
#include "preload/seen_handles.h"
#include "preload/statistics.h"
#include "preload/tuning.h"
#include "preload/unread_types.h"
#include "types/contents.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <climits>
#include <exception>
#include <mutex>
#include <new>
#include <unordered_map>

namespace ucd_mpi {
namespace {

// The MPI type of an element; null if several MPI types have this element.
MPI_Datatype leaf_of(const std::vector<Leaf> &leaves, ucd_type_t element) {
    MPI_Datatype found = MPI_DATATYPE_NULL;
    for (const Leaf &leaf : leaves) {
        if (leaf.element != element) continue;
        if (found != MPI_DATATYPE_NULL) return MPI_DATATYPE_NULL;
        found = leaf.datatype;
    }
    return found;
}

// An MPI type for the runs, one after the other.
MPI_Datatype build_packed(const std::vector<ucd_element_run_t> &runs,
                          const std::vector<Leaf> &leaves) {
    std::vector<int> blocklengths;
    std::vector<MPI_Aint> displs;
    std::vector<MPI_Datatype> types;
    for (const ucd_element_run_t &run : runs) {
        types.push_back(leaf_of(leaves, run.element));
        if (types.back() == MPI_DATATYPE_NULL || run.elements > INT32_MAX) return MPI_DATATYPE_NULL;
        // A pair type whose members differ has padding, which the packed stream lacks.
        MPI_Count lb = 0, extent = 0;
        PMPI_Type_get_extent_x(types.back(), &lb, &extent);
        if (static_cast<std::uint64_t>(extent) != run.element_bytes) return MPI_DATATYPE_NULL;
        blocklengths.push_back(static_cast<int>(run.elements));
        displs.push_back(static_cast<MPI_Aint>(run.offset));
    }
    const auto bytes = static_cast<MPI_Aint>(runs.back().offset +
                                             runs.back().elements * runs.back().element_bytes);
    MPI_Datatype members = MPI_DATATYPE_NULL, packed = MPI_DATATYPE_NULL;
    if (PMPI_Type_create_struct(static_cast<int>(runs.size()), blocklengths.data(), displs.data(),
                                types.data(), &members) != MPI_SUCCESS)
        return MPI_DATATYPE_NULL;
    MPI_Count lb = 0, extent = 0;
    PMPI_Type_get_extent_x(members, &lb, &extent);
    if ((extent == bytes || resized_is_contiguous) &&
        PMPI_Type_create_resized(members, 0, bytes, &packed) == MPI_SUCCESS)
        PMPI_Type_commit(&packed);
    PMPI_Type_free(&members);
    return packed;
}

Shapes known_shapes;
MeasuringTime measuring_time;

// The time since the first call, which is made when the first type is committed.
std::chrono::nanoseconds time_since_start() {
    static const auto start = std::chrono::steady_clock::now();
    return std::chrono::steady_clock::now() - start;
}

UnreadTypes unread_types;
SeenHandles seen_handles;

UnreadTypes::Handle handle_of(MPI_Datatype datatype) {
    return (UnreadTypes::Handle)datatype; // a pointer or an int, depending on the MPI library
}

Shape shape_of_type(MPI_Datatype datatype, MPI_Count size) {
    MPI_Count lb = 0, extent = 0;
    PMPI_Type_get_extent_x(datatype, &lb, &extent);
    return shape_of(size, extent);
}

// `seen` is the number of bytes moved so far with a type of that shape.
bool is_time_to_read(Shape shape, std::uint64_t seen) {
    return seen >= known_shapes.bytes_to_read(shape) ||
           (known_shapes.is_unsettled(shape) && measuring_time.is_left(time_since_start()));
}

// Incremented when a type is freed, so that each thread's look-up cache becomes invalid.
std::atomic<std::uint64_t> generation{0};

int on_duplicate(MPI_Datatype, int, void *, void *value, void *copy, int *flag) {
    static_cast<KnownType *>(value)->add_reference();
    *static_cast<void **>(copy) = value;
    *flag = 1;
    return MPI_SUCCESS;
}

int on_free(MPI_Datatype, int, void *value, void *) {
    generation.fetch_add(1, std::memory_order_release);
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
    time_since_start(); // starts the clock
    keyval.store(key, std::memory_order_release);
    return key;
}

// An entry of a thread's look-up cache.
struct Remembered {
    MPI_Datatype datatype = MPI_DATATYPE_NULL;
    KnownType *known = nullptr;
    std::uint64_t generation = 0; // at the look-up; for_ever if predefined
};
constexpr std::size_t ways_of_lookup = 16;
[[gnu::tls_model("initial-exec")]] thread_local std::array<Remembered, ways_of_lookup>
    last_looked_up;

Remembered &slot_of(MPI_Datatype datatype) {
    const std::uintptr_t bits = handle_of(datatype);
    return last_looked_up[(bits ^ bits >> 4 ^ bits >> 8 ^ bits >> 12) % ways_of_lookup];
}

constexpr std::uint64_t for_ever = UINT64_MAX;

bool is_remembered(const Remembered &slot, MPI_Datatype datatype) {
    return slot.datatype == datatype &&
           (slot.generation == for_ever ||
            slot.generation == generation.load(std::memory_order_acquire));
}

// Does not replace an existing attribute: other threads may be using it.
void make_known(MPI_Datatype datatype, int key, std::uint64_t bytes_seen) {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    seen_handles.add(handle_of(datatype));
    void *value = nullptr;
    int found = 0;
    if (PMPI_Type_get_attr(datatype, key, &value, &found) != MPI_SUCCESS || found != 0) return;
    auto *const known = new (std::nothrow) KnownType(bytes_seen);
    if (known != nullptr && PMPI_Type_set_attr(datatype, key, known) != MPI_SUCCESS)
        known->release();
}

// Whether `count` more items make it worthwhile to read the type; if not, their bytes are added to
// its count.
bool is_unread_to_be_read(MPI_Datatype datatype, MPI_Count count) {
    MPI_Count size = 0;
    if (count <= 0 || PMPI_Type_size_x(datatype, &size) != MPI_SUCCESS || size <= 0) return false;
    const auto bytes = static_cast<std::uint64_t>(size) * static_cast<std::uint64_t>(count);
    const UnreadTypes::Handle handle = handle_of(datatype);
    const std::uint64_t before = unread_types.bytes_moved(handle);
    if (before + bytes >= min_bytes_to_read &&
        is_time_to_read(shape_of_type(datatype, size), before + bytes))
        return true;
    unread_types.count(handle, bytes);
    return false;
}

KnownType *look_up(MPI_Datatype datatype, int key, Remembered &slot) {
    const std::uint64_t now = generation.load(std::memory_order_acquire);
    void *value = nullptr;
    int found = 0;
    if (PMPI_Type_get_attr(datatype, key, &value, &found) != MPI_SUCCESS) return nullptr;
    if (found != 0) {
        slot = {datatype, static_cast<KnownType *>(value), now};
        return slot.known;
    }
    int combiner = MPI_COMBINER_DUP;
    if (read_combiner(datatype, combiner) == UCD_SUCCESS && is_predefined(combiner))
        slot = {datatype, nullptr, for_ever};
    return nullptr;
}

} // namespace

KnownType::~KnownType() {
    const Shape shape = shape_.load(std::memory_order_relaxed);
    if (shape != 0 && !paid_ && state_ != State::fresh) known_shapes.did_not_pay(shape);
    if (item_ != MPI_DATATYPE_NULL) PMPI_Type_free(&item_);
    if (signature_.owned) PMPI_Type_free(&signature_.datatype);
    if (converted_.type != UCD_TYPE__NULL) ucd_free(&converted_.type);
}

void KnownType::release() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

bool KnownType::is_taken(MPI_Datatype datatype, MPI_Count count, Use use) {
    const State state = state_.load(std::memory_order_acquire);
    if (state != State::fresh) return state == State::taken;
    MPI_Count size = 0;
    if (PMPI_Type_size_x(datatype, &size) != MPI_SUCCESS || size <= 0) return false;
    const auto bytes = static_cast<std::uint64_t>(size) * static_cast<std::uint64_t>(count);
    const std::uint64_t seen = bytes_seen_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    if (use == Use::once && !is_time_to_read(datatype, size, seen)) return false;
    std::call_once(learned_, [&] { learn(datatype); });
    return state_.load(std::memory_order_acquire) == State::taken;
}

std::optional<std::uintptr_t> KnownType::worth_taking(MPI_Datatype datatype, MPI_Count count,
                                                      Use use) {
    std::uintptr_t bytes = 0;
    if (count <= 0 || !is_taken(datatype, count, use) ||
        __builtin_mul_overflow(size_, static_cast<std::uintptr_t>(count), &bytes) ||
        bytes < min_taken_bytes || (count == 1 && one_is_contiguous_))
        return std::nullopt;
    return bytes;
}

bool KnownType::may_be_collective() const {
    const State state = state_.load(std::memory_order_acquire);
    return state == State::fresh ||
           (state == State::taken && signature_.datatype != MPI_DATATYPE_NULL &&
            mean_segment_ <= max_collective_segment);
}

MPI_Aint KnownType::some_byte(MPI_Datatype datatype) const {
    if (state_.load(std::memory_order_acquire) != State::fresh) return low_;
    MPI_Count lb = 0, extent = 0;
    PMPI_Type_get_true_extent_x(datatype, &lb, &extent);
    return static_cast<MPI_Aint>(lb);
}

bool KnownType::has_no_address(const void *buffer) const {
    constexpr std::uintptr_t unmapped = 64 << 10; // at each side of address 0
    return reinterpret_cast<std::uintptr_t>(buffer) + static_cast<std::uintptr_t>(low_) + unmapped <
           2 * unmapped;
}

bool KnownType::take_anyway(MPI_Datatype datatype) {
    std::call_once(learned_, [&] { learn(datatype); });
    return converted_.type != UCD_TYPE__NULL;
}

const PackedSignature *KnownType::signature() const {
    return signature_.datatype != MPI_DATATYPE_NULL && gains_in_messages_ ? &signature_ : nullptr;
}

PackedSignature KnownType::any_signature() const {
    if (signature_.datatype != MPI_DATATYPE_NULL) return signature_;
    return {MPI_BYTE, static_cast<MPI_Count>(size_), false};
}

bool KnownType::item_is_predefined() const {
    const PackedSignature packed = any_signature();
    return packed.per_item == 1 && !packed.owned;
}

MPI_Datatype KnownType::item_datatype() {
    std::call_once(item_made_, [&] {
        const PackedSignature packed = any_signature();
        if (packed.per_item > INT_MAX || item_is_predefined()) return;
        MPI_Datatype item = MPI_DATATYPE_NULL;
        if (PMPI_Type_contiguous(static_cast<int>(packed.per_item), packed.datatype, &item) !=
            MPI_SUCCESS)
            return;
        if (PMPI_Type_commit(&item) == MPI_SUCCESS)
            item_ = item;
        else
            PMPI_Type_free(&item);
    });
    return item_is_predefined() ? any_signature().datatype : item_;
}

const ExternalForm *KnownType::external() {
    std::call_once(external_looked_for_, [&] {
        ExternalForm form;
        try {
            if (form.find(converted_)) external_ = std::move(form);
        } catch (const std::exception &) { // out of memory: left to MPI
        }
    });
    return external_ ? &*external_ : nullptr;
}

bool KnownType::is_time_to_read(MPI_Datatype datatype, MPI_Count size, std::uint64_t seen) {
    if (seen < min_bytes_to_read) return false;
    Shape shape = shape_.load(std::memory_order_relaxed);
    if (shape == 0) {
        shape = shape_of_type(datatype, size);
        shape_.store(shape, std::memory_order_relaxed);
    }
    return ucd_mpi::is_time_to_read(shape, seen);
}

void KnownType::learn(MPI_Datatype datatype) {
    const auto begin = std::chrono::steady_clock::now();
    const State state = read(datatype);
    const std::chrono::nanoseconds time = std::chrono::steady_clock::now() - begin;
    const auto nanoseconds = static_cast<std::uint64_t>(time.count());
    bytes_seen_ = 0; // from here on it counts the bytes that this library moves
    bytes_to_pay_ = nanoseconds * bytes_for_nanosecond;
    const Shape shape = shape_.load(std::memory_order_relaxed);
    if (shape != 0 && known_shapes.is_unsettled(shape) &&
        measuring_time.is_left(time_since_start())) {
        // If this library does not take the type, there is no gain to measure.
        const std::optional<Gain> gain =
            state == State::taken ? measure_gain(datatype, converted_.type) : Gain{};
        known_shapes.settle(shape, gain ? gain->bytes_to_pay(nanoseconds) : bytes_to_read_again);
        measuring_time.spend(std::chrono::steady_clock::now() - begin);
    }
    state_.store(state, std::memory_order_release);
}

KnownType::State KnownType::read(MPI_Datatype datatype) {
    try {
        if (convert(datatype, converted_) != UCD_SUCCESS) return State::left;
        const bool gain = find_layout();
        find_signature(gain);
        if (settings().statistics) statistics_row_ = ucd_mpi::statistics_row(datatype, converted_);
        return gain ? State::taken : State::left;
    } catch (const std::exception &) { // out of memory: left to MPI
        return State::left;
    }
}

void KnownType::count_until_paid(std::uintptr_t bytes) {
    if (bytes_seen_.fetch_add(bytes, std::memory_order_relaxed) + bytes < bytes_to_pay_) return;
    paid_.store(true, std::memory_order_relaxed);
}

// Returns whether packing by UCD is expected to be faster than by MPI.
bool KnownType::find_layout() {
    ucd_layout_t one = {}, two = {};
    one.struct_size = two.struct_size = sizeof one;
    if (ucd_get_layout(1, converted_.type, &one) != UCD_SUCCESS ||
        ucd_get_layout(2, converted_.type, &two) != UCD_SUCCESS)
        return false;
    size_ = one.bytes;
    if (size_ == 0) return false;
    low_ = static_cast<std::intptr_t>(one.low);
    one_is_contiguous_ = one.contiguous != 0;
    several_are_contiguous_ = two.contiguous != 0;
    mean_segment_ = one.bytes / one.segments;
    if (several_are_contiguous_ || mean_segment_ >= max_packed_segment) return false;
    const Loops loops = loops_of(converted_);
    const auto in_conflict = [&](std::uintptr_t stride) {
        return loops.regular && !loops.transposed && one.segments >= min_blocks_in_conflict &&
               loops.inner_stride % stride == 0;
    };
    const std::uint64_t steps = std::max<std::uint64_t>(converted_.steps, 1);
    gains_in_messages_ = mean_segment_ <= max_sent_segment && !in_conflict(max_sent_stride) &&
                         (loops.transposed || size_ / steps <= max_bytes_for_step);
    return !in_conflict(max_packed_stride);
}

void KnownType::find_signature(bool gain) {
    const std::vector<Leaf> &leaves = converted_.leaves;
    if (leaves.size() == 1) {
        MPI_Count bytes = 0, lb = 0, extent = 0;
        PMPI_Type_size_x(leaves.front().datatype, &bytes);
        PMPI_Type_get_extent_x(leaves.front().datatype, &lb, &extent);
        if (bytes > 0 && bytes == extent)
            signature_ = {leaves.front().datatype, static_cast<MPI_Count>(size_) / bytes, false};
        return;
    }
    if (!gain || mean_segment_ > std::max(max_sent_segment, max_collective_segment)) return;
    Repetition repetition;
    if (!find_repetition(converted_.type, repetition)) return;
    const MPI_Datatype packed = build_packed(repetition.runs, leaves);
    if (packed != MPI_DATATYPE_NULL)
        signature_ = {packed, static_cast<MPI_Count>(repetition.times), true};
}

void remember_committed(MPI_Datatype datatype) {
    int key = keyval.load(std::memory_order_acquire);
    if (key == MPI_KEYVAL_INVALID) key = make_keyval();
    if (key == MPI_KEYVAL_INVALID) return;
    const UnreadTypes::Handle handle = handle_of(datatype);
    // A duplicate has the attribute already, and so has a type that is committed again.
    void *value = nullptr;
    int found = 0;
    if (seen_handles.may_contain(handle) &&
        (PMPI_Type_get_attr(datatype, key, &value, &found) != MPI_SUCCESS || found != 0))
        return;
    if (!unread_types.add(handle)) make_known(datatype, key, 0);
}

void remember_duplicate(MPI_Datatype duplicate) {
    seen_handles.add(handle_of(duplicate));
}

void forget_types() {
    keyval.store(MPI_KEYVAL_INVALID, std::memory_order_release);
    generation.fetch_add(1, std::memory_order_release);
    unread_types.clear();
}

void forget_freed(MPI_Datatype datatype) {
    const int key = keyval.load(std::memory_order_acquire);
    if (unread_types.remove(handle_of(datatype))) return;
    if (key != MPI_KEYVAL_INVALID && find_known(datatype) != nullptr)
        PMPI_Type_delete_attr(datatype, key);
}

bool has_known_types() {
    return keyval.load(std::memory_order_acquire) != MPI_KEYVAL_INVALID;
}

KnownType *find_known(MPI_Datatype datatype) {
    const int key = keyval.load(std::memory_order_acquire);
    if (key == MPI_KEYVAL_INVALID || datatype == MPI_DATATYPE_NULL) return nullptr;
    Remembered &slot = slot_of(datatype);
    if (is_remembered(slot, datatype)) [[likely]]
        return slot.known;
    const UnreadTypes::Handle handle = handle_of(datatype);
    if (unread_types.remove(handle))
        make_known(datatype, key, unread_types.bytes_moved(handle));
    else if (!seen_handles.may_contain(handle))
        return nullptr;
    return look_up(datatype, key, slot);
}

KnownType *find_known_to_move(MPI_Datatype datatype, MPI_Count count, Use use) {
    const Remembered &slot = slot_of(datatype);
    if (is_remembered(slot, datatype)) [[likely]]
        return slot.known;
    const bool stays_unread = use == Use::once && unread_types.contains(handle_of(datatype)) &&
                              !is_unread_to_be_read(datatype, count);
    return stays_unread ? nullptr : find_known(datatype);
}

KnownType *find_known_or_predefined(MPI_Datatype datatype) {
    if (KnownType *const known = find_known(datatype)) return known;
    int combiner = MPI_COMBINER_DUP;
    if (datatype == MPI_DATATYPE_NULL || read_combiner(datatype, combiner) != UCD_SUCCESS ||
        !is_predefined(combiner))
        return nullptr;
    // Never destroyed, because messages may be in progress when the process ends.
    static auto &mutex = *new std::mutex;
    static auto &all = *new std::unordered_map<MPI_Datatype, KnownType *>;
    const std::lock_guard lock(mutex);
    KnownType *&known = all[datatype];
    if (known == nullptr) known = new KnownType(0);
    return known;
}

} // namespace ucd_mpi

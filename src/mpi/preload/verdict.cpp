#include "preload/verdict.h"

#include "preload/comparison.h"
#include "preload/tuning.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>

namespace ucd_mpi {
namespace {

// What is remembered of shapes. A later one takes the place of an earlier one. The members are
// stored one by one: what another thread reads between may belong to two shapes, and then one type
// is read too early or too late.
constexpr std::size_t max_shapes = 256;
struct KnownShape {
    std::atomic<Shape> did_not_pay;
    std::atomic<Shape> measured;
    std::atomic<Gain> gain;
};
static_assert(std::atomic<Gain>::is_always_lock_free);
std::array<KnownShape, max_shapes> known_shapes;

KnownShape &known_shape(Shape shape) {
    return known_shapes[shape >> 32 & (max_shapes - 1)];
}

bool is_remembered(Shape shape) {
    return known_shape(shape).did_not_pay.load(std::memory_order_relaxed) == shape;
}

// A verdict may be wrong, so it is asked in vain once in so many times.
constexpr unsigned tries = 64;

// Its two highest bits. Programs that send what has just changed, as particles that leave, have a
// new number of bytes each time, and measuring takes as long as some messages.
std::uint64_t roughly(MPI_Count number) {
    const auto all = static_cast<std::uint64_t>(number);
    const int dropped = std::max(static_cast<int>(std::bit_width(all)) - 2, 0);
    return all >> dropped << dropped;
}

} // namespace

Shape shape_of(MPI_Datatype datatype, MPI_Count size) {
    MPI_Count lb = 0, extent = 0;
    PMPI_Type_get_extent_x(datatype, &lb, &extent);
    const auto mixed = (roughly(size) * 0x9e3779b97f4a7c15 ^ roughly(extent)) * 0xbf58476d1ce4e5b9;
    return mixed | 1; // 0 is none
}

std::uint64_t Gain::bytes_to_pay(std::uint64_t nanoseconds) const {
    constexpr double never = 1e18;
    const double spent = static_cast<double>(nanoseconds) + first_use;
    return static_cast<std::uint64_t>(per_byte > 0 ? std::min(never, spent / per_byte) : never);
}

Gain measure_gain(MPI_Datatype datatype, ucd_type_t type) {
    const auto measured = compare(datatype, type, brief.max_bytes, brief);
    if (!measured) return {1 / static_cast<float>(bytes_for_nanosecond), 0};
    constexpr double nanoseconds = 1e9;
    return {
        static_cast<float>(nanoseconds * ((measured->mpi - measured->ucd) / 2 - measured->copy)),
        static_cast<float>(nanoseconds * measured->first_use)};
}

std::optional<Gain> known_gain(Shape shape) {
    const KnownShape &known = known_shape(shape);
    if (known.measured.load(std::memory_order_acquire) != shape) return std::nullopt;
    return known.gain.load(std::memory_order_relaxed);
}

void remember_gain(Shape shape, const Gain &gain) {
    KnownShape &known = known_shape(shape);
    known.gain.store(gain, std::memory_order_relaxed);
    known.measured.store(shape, std::memory_order_release);
}

bool did_not_pay(Shape shape) {
    if (!is_remembered(shape)) return false;
    [[gnu::tls_model("initial-exec")]] thread_local unsigned asked = 0;
    return ++asked % tries != 0;
}

void remember_verdict(Shape shape, bool paid) {
    if (!paid)
        known_shape(shape).did_not_pay.store(shape, std::memory_order_relaxed);
    else if (is_remembered(shape))
        known_shape(shape).did_not_pay.store(0, std::memory_order_relaxed);
}

} // namespace ucd_mpi

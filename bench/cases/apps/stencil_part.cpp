#include "cases/apps/stencil_part.hpp"

#include <array>
#include <utility>

namespace bench::apps {
namespace {

template <class T>
constexpr ucd_type_t element() {
    return sizeof(T) == sizeof(float) ? UCD_TYPE__FLOAT : UCD_TYPE__DOUBLE;
}

constexpr Side opposite(Side side) {
    constexpr Side of[] = {south, north, east, west};
    return of[side];
}

UcdType box(ucd_type_t element, std::intptr_t pitch, std::array<std::intptr_t, 2> points,
            std::array<std::intptr_t, 2> start) {
    const std::intptr_t sizes[] = {pitch, pitch};
    ucd_type_t type;
    check_ucd(ucd_create_subarray(2, sizes, points.data(), start.data(), UCD_ORDER__C, element,
                                  UCD_INFO__NULL, &type));
    return UcdType(type);
}

} // namespace

std::optional<unsigned> ProcessGrid::neighbour(unsigned seat, int down, int right) const {
    const std::int64_t row = row_of(seat) + down, column = column_of(seat) + right;
    if (row < 0 || column < 0 || row >= rows || column >= columns) return std::nullopt;
    return static_cast<unsigned>(row) * columns + static_cast<unsigned>(column);
}

template <class T>
StencilPart<T>::StencilPart(Peers &peers, Device &device, const ProcessGrid &grid, int n)
    : peers_(peers), device_(device),
      kernels_(device.is_gpu() ? gpu_stencil<T>() : host_stencil<T>()), n_(n), pitch_(n + 2),
      part_bytes_(static_cast<std::size_t>(pitch_ * pitch_) * sizeof(T)),
      of_host_("ucd.gpu", "none"),
      packed_(device, 2 * sides * static_cast<std::size_t>(pitch_) * sizeof(T)),
      on_host_(device, packed_.bytes(), MemoryKind::pinned) {
    for (auto &array : arrays_) array = std::make_unique<Buffer>(device, part_bytes_);
    for (const Side side : {north, south, west, east}) halos_.push_back(halo(side, grid));
}

template <class T>
typename StencilPart<T>::Halo StencilPart<T>::halo(Side side, const ProcessGrid &grid) const {
    const std::intptr_t last = n_;
    const unsigned seat = peers_.seat();
    const auto row = [&](std::intptr_t at) { return box(element<T>(), pitch_, {1, n_}, {at, 1}); };
    const auto column = [&](std::intptr_t at) {
        return box(element<T>(), pitch_, {pitch_, 1}, {0, at});
    };
    const auto row_start = [&](std::intptr_t at) {
        return static_cast<std::size_t>(at * pitch_ + 1);
    };
    switch (side) {
    case north: return {grid.neighbour(seat, -1, 0), row_start(1), row_start(0), row(1), row(0)};
    case south:
        return {grid.neighbour(seat, 1, 0), row_start(last), row_start(last + 1), row(last),
                row(last + 1)};
    case west: return {grid.neighbour(seat, 0, -1), 1, 0, column(1), column(0)};
    case east: break;
    }
    return {grid.neighbour(seat, 0, 1), static_cast<std::size_t>(last),
            static_cast<std::size_t>(last + 1), column(last), column(last + 1)};
}

template <class T>
void StencilPart<T>::set(const T *values) {
    for (const auto &array : arrays_) device_.copy(array->data(), values, part_bytes_);
    current_ = 0;
}

// What travels to a side has that side's tag. Waits until all is done.
template <class T>
template <class Transfer>
void StencilPart<T>::with_both(Side first, Side second, Transfer transfer) {
    for (const Side side : {first, second})
        if (halos_[side].neighbour) transfer(side, *halos_[side].neighbour);
    peers_.finish();
}

template <class T>
void StencilPart<T>::exchange_by_ucd() {
    const auto transfer = [this](Side side, unsigned neighbour) {
        peers_.receive(neighbour, now(), 1, halos_[side].received.get(), opposite(side));
        peers_.send(neighbour, now(), 1, halos_[side].sent.get(), side);
    };
    with_both(north, south, transfer);
    with_both(west, east, transfer);
}

template <class T>
void StencilPart<T>::exchange_by_hand() {
    with_both(north, south, [this](Side side, unsigned neighbour) {
        const auto points = static_cast<std::uintptr_t>(n_);
        peers_.receive(neighbour, now() + halos_[side].first_received, points, element<T>(),
                       opposite(side));
        peers_.send(neighbour, now() + halos_[side].first_sent, points, element<T>(), side);
    });
    if (!halos_[west].neighbour && !halos_[east].neighbour) return;
    const auto buffer = [this](Side side, int received) {
        return halos_[side].neighbour
                   ? reinterpret_cast<T *>(packed_.data()) + (2 * side + received) * pitch_
                   : nullptr;
    };
    kernels_.pack_columns(buffer(west, 0), buffer(east, 0), now(), n_);
    device_.wait();
    with_both(west, east, [&](Side side, unsigned neighbour) {
        const auto points = static_cast<std::uintptr_t>(pitch_);
        peers_.receive(neighbour, buffer(side, 1), points, element<T>(), opposite(side));
        peers_.send(neighbour, buffer(side, 0), points, element<T>(), side);
    });
    kernels_.unpack_columns(now(), buffer(west, 1), buffer(east, 1), n_);
}

template <class T>
void StencilPart<T>::exchange_by_copies() {
    const auto points = static_cast<std::size_t>(n_);
    copy_and_send(north, south, points * sizeof(T), 1);
    copy_and_send(west, east, sizeof(T), static_cast<std::size_t>(pitch_));
}

template <class T>
void StencilPart<T>::copy_and_send(Side first, Side second, std::size_t width, std::size_t rows) {
    const std::size_t pitch = static_cast<std::size_t>(pitch_) * sizeof(T);
    const Boxes boxes{
        {static_cast<std::int64_t>(width),
         {{1, 0}, {static_cast<std::int64_t>(rows), static_cast<std::int64_t>(pitch)}}}};
    const auto buffer = [&](Side side, int received) {
        return on_host_.data() + static_cast<std::size_t>(2 * side + received) * pitch;
    };
    for (const Side side : {first, second})
        if (halos_[side].neighbour)
            device_.start_boxes(boxes, reinterpret_cast<char *>(now() + halos_[side].first_sent),
                                buffer(side, 0), true);
    device_.wait();
    with_both(first, second, [&](Side side, unsigned neighbour) {
        peers_.receive(neighbour, buffer(side, 1), width * rows, UCD_TYPE__BYTE, opposite(side),
                       of_host_.get());
        peers_.send(neighbour, buffer(side, 0), width * rows, UCD_TYPE__BYTE, side, of_host_.get());
    });
    for (const Side side : {first, second})
        if (halos_[side].neighbour)
            device_.start_boxes(boxes,
                                reinterpret_cast<char *>(now() + halos_[side].first_received),
                                buffer(side, 1), false);
}

template <class T>
void StencilPart<T>::start_step() {
    const T *from = now();
    current_ = 1 - current_;
    kernels_.step(now(), from, n_);
}

template class StencilPart<float>;
template class StencilPart<double>;

} // namespace bench::apps

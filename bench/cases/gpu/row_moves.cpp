#include "cases/gpu/row_moves.hpp"

#include "harness/gpu/graph.hpp"
#include "harness/gpu/runtime.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

namespace bench::gpu {
namespace {

bool is_contiguous(std::int64_t pitch, std::int64_t width) {
    return pitch == width;
}

class Event {
public:
    Event() { check(gpuEventCreateWithFlags(&event_, gpuEventDisableTiming), "making an event"); }
    ~Event() { (void)gpuEventDestroy(event_); }
    Event(const Event &) = delete;
    Event &operator=(const Event &) = delete;

    void record(const Stream &stream) { check(gpuEventRecord(event_, stream.get()), "recording"); }
    void wait() const { check(gpuEventSynchronize(event_), "waiting for an event"); }
    void hold_back(const Stream &stream) const {
        check(gpuStreamWaitEvent(stream.get(), event_, 0), "ordering streams");
    }

private:
    gpuEvent_t event_ = nullptr;
};

void start_2d(const Rows &r, gpuStream_t stream) {
    check(gpuMemcpy2DAsync(r.to, static_cast<std::size_t>(r.to_pitch), r.from,
                           static_cast<std::size_t>(r.from_pitch),
                           static_cast<std::size_t>(r.width), static_cast<std::size_t>(r.rows),
                           gpuMemcpyDefault, stream),
          "copying rows");
}

// ---- pinned memory ------------------------------------------------------------------------------

// A copy for each row. The driver takes some microseconds for one where there are many.
Work batch_of_copies(const Rows &rows) {
    struct Batch {
        std::vector<void *> to;
        std::vector<const void *> from;
        std::vector<std::size_t> bytes;
        Stream stream;
    };
    const auto batch = std::make_shared<Batch>();
    for (std::int64_t i = 0; i < rows.rows; ++i) {
        const Rows row = rows.part(i, 1);
        batch->to.push_back(row.to);
        batch->from.push_back(row.from);
        batch->bytes.push_back(static_cast<std::size_t>(row.width));
    }
    return repeated([batch] {
        check(copy_batch(batch->to.data(), batch->from.data(), batch->bytes.data(),
                         batch->to.size(), batch->stream.get()),
              "copying a batch");
        batch->stream.wait();
    });
}

// A kernel packs or unpacks in device memory, while the runtime copies what it has packed, or is
// going to unpack.
class Packed {
public:
    Packed(Device &device, const Rows &rows, bool to_host)
        : rows_(rows), to_host_(to_host), packed_(device, static_cast<std::size_t>(rows.bytes())) {}

    void run() {
        constexpr std::int64_t chunk = 4 << 20;
        const std::int64_t each = std::max<std::int64_t>(chunk / rows_.width, 1);
        for (std::int64_t first = 0; first < rows_.rows; first += each) {
            const Rows part = rows_.part(first, std::min(each, rows_.rows - first));
            char *const packed = packed_.data() + first * rows_.width;
            if (to_host_) {
                hand::copy_rows(
                    {packed, part.width, part.from, part.from_pitch, part.width, part.rows}, 0,
                    kernels_.get());
                pass(kernels_, copies_);
                copy(part.to, packed, part);
            } else {
                copy(packed, part.from, part);
                pass(copies_, kernels_);
                hand::copy_rows({part.to, part.to_pitch, packed, part.width, part.width, part.rows},
                                0, kernels_.get());
            }
        }
        (to_host_ ? copies_ : kernels_).wait();
    }

private:
    void pass(const Stream &from, const Stream &to) {
        event_.record(from);
        event_.hold_back(to);
    }
    void copy(char *to, const char *from, const Rows &part) {
        check(gpuMemcpyAsync(to, from, static_cast<std::size_t>(part.bytes()), gpuMemcpyDefault,
                             copies_.get()),
              "copying packed rows");
    }

    Rows rows_;
    bool to_host_;
    Buffer packed_;
    Stream kernels_, copies_;
    Event event_;
};

// ---- pageable memory ----------------------------------------------------------------------------

template <std::int64_t width>
void copy_short_rows(const Rows &r) {
    for (std::int64_t i = 0; i < r.rows; ++i)
        std::memcpy(r.to + i * r.to_pitch, r.from + i * r.from_pitch, width);
}

void copy_rows_on_host(const Rows &r) {
    if (is_contiguous(r.to_pitch, r.width) && is_contiguous(r.from_pitch, r.width)) {
        std::memcpy(r.to, r.from, static_cast<std::size_t>(r.bytes()));
        return;
    }
    switch (r.width) {
    case 8: return copy_short_rows<8>(r);
    case 16: return copy_short_rows<16>(r);
    case 32: return copy_short_rows<32>(r);
    case 64: return copy_short_rows<64>(r);
    case 128: return copy_short_rows<128>(r);
    case 512: return copy_short_rows<512>(r);
    default:
        for (std::int64_t i = 0; i < r.rows; ++i)
            std::memcpy(r.to + i * r.to_pitch, r.from + i * r.from_pitch,
                        static_cast<std::size_t>(r.width));
    }
}

// The host moves between its rows and pinned chunks, the device between these and its own.
class Staged {
public:
    Staged(Device &device, const Rows &rows, bool to_host, std::int64_t chunk)
        : rows_(rows), to_host_(to_host),
          each_(std::min(std::max<std::int64_t>(chunk / rows.width, 1), rows.rows)),
          chunks_(device, static_cast<std::size_t>(each_ * rows.width) * slots, MemoryKind::pinned),
          on_device_(device, static_cast<std::size_t>(each_ * rows.width)) {}

    void run() {
        const std::int64_t parts = (rows_.rows + each_ - 1) / each_;
        if (!to_host_) {
            for (std::int64_t i = 0; i < parts; ++i) {
                if (i >= slots) done_[i % slots].wait();
                copy_rows_on_host(to_chunk(i));
                start(from_chunk(i), i);
            }
            return stream_.wait();
        }
        for (std::int64_t i = 0; i < std::min(parts, slots); ++i) start(to_chunk(i), i);
        for (std::int64_t i = 0; i < parts; ++i) {
            done_[i % slots].wait();
            copy_rows_on_host(from_chunk(i));
            if (i + slots < parts) start(to_chunk(i + slots), i + slots);
        }
    }

private:
    static constexpr std::int64_t slots = 4;

    char *chunk(std::int64_t i) const { return chunks_.data() + i % slots * each_ * rows_.width; }
    Rows part(std::int64_t i) const {
        return rows_.part(i * each_, std::min(each_, rows_.rows - i * each_));
    }
    Rows to_chunk(std::int64_t i) const {
        const Rows p = part(i);
        return {chunk(i), p.width, p.from, p.from_pitch, p.width, p.rows};
    }
    Rows from_chunk(std::int64_t i) const {
        const Rows p = part(i);
        return {p.to, p.to_pitch, chunk(i), p.width, p.width, p.rows};
    }
    void copy(char *to, const char *from, std::int64_t bytes) {
        check(gpuMemcpyAsync(to, from, static_cast<std::size_t>(bytes), gpuMemcpyDefault,
                             stream_.get()),
              "copying a chunk");
    }
    // Rows of single bytes go through device memory, since the link carries whole words.
    void start(const Rows &r, std::int64_t i) {
        char *const between = on_device_.data();
        if (is_contiguous(r.to_pitch, r.width) && is_contiguous(r.from_pitch, r.width)) {
            copy(r.to, r.from, r.bytes());
        } else if (r.width % 4 == 0) {
            hand::copy_rows(r, 0, stream_.get());
        } else if (to_host_) {
            hand::copy_rows({between, r.width, r.from, r.from_pitch, r.width, r.rows}, 0,
                            stream_.get());
            copy(r.to, between, r.bytes());
        } else {
            copy(between, r.from, r.bytes());
            hand::copy_rows({r.to, r.to_pitch, between, r.width, r.width, r.rows}, 0,
                            stream_.get());
        }
        done_[i % slots].record(stream_);
    }

    Rows rows_;
    bool to_host_;
    std::int64_t each_; // rows of a chunk
    Buffer chunks_, on_device_;
    Stream stream_;
    Event done_[slots];
};

} // namespace

std::vector<RowMove> pinned_row_moves(Device &device, const Rows &rows, bool to_host) {
    constexpr std::int64_t many_copies = 16384, many_pieces = 16 << 20;
    std::vector<RowMove> all;
    const auto kernel = [&](const char *name, unsigned blocks) {
        all.push_back({name, blocking(device, [=] { hand::copy_rows(rows, blocks, nullptr); })});
    };
    all.push_back({"2-D copy", blocking(device, [=] { start_2d(rows, nullptr); })});
    if (has_batches && rows.rows <= many_copies) all.push_back({"batch", batch_of_copies(rows)});
    if (rows.rows <= many_pieces)
        if (auto start = hand::cub_rows(rows)) all.push_back({"CCCL", blocking(device, start)});
    kernel("hand, 32 blocks", 32);
    kernel("hand, 264 blocks", 264);
    kernel("hand, all blocks", 0);
    if (is_contiguous(to_host ? rows.to_pitch : rows.from_pitch, rows.width)) {
        const auto packed = std::make_shared<Packed>(device, rows, to_host);
        all.push_back({"packed", repeated([packed] { packed->run(); })});
    }
    return all;
}

std::vector<RowMove> pageable_row_moves(Device &device, const Rows &rows, bool to_host) {
    std::vector<RowMove> all;
    all.push_back({"2-D copy", blocking(device, [=] { start_2d(rows, nullptr); })});
    for (const auto &[name, chunk] : {std::pair{"staged, 512 KiB", std::int64_t{1} << 19},
                                      {"staged, 1 MiB", std::int64_t{1} << 20},
                                      {"staged, 4 MiB", std::int64_t{1} << 22}}) {
        if (chunk != std::int64_t{1} << 19 && chunk >= 2 * rows.bytes()) continue;
        const auto staged = std::make_shared<Staged>(device, rows, to_host, chunk);
        all.push_back({name, repeated([staged] { staged->run(); })});
    }
    return all;
}

} // namespace bench::gpu

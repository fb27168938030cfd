#include "datatype/typed_buffer.h"

#include "datatype/op_steps.h"

#include <algorithm>
#include <numeric>
#include <string_view>

namespace ucd_ucx {

Status OwnedType::keep(ucd_type_t type) {
    return ucd_ok(ucd_create_dup(type, UCD_INFO__NULL, &handle_));
}

Status OwnedType::unflatten(const void *flattened, std::size_t bytes) {
    return ucd_ok(ucd_unflatten(&handle_, flattened, bytes));
}

Status OwnedInfo::set(const char *key, const char *value) {
    if (handle_ == UCD_INFO__NULL) UCD_TRY(ucd_ok(ucd_info_create(&handle_)));
    return ucd_ok(ucd_info_set(handle_, key, value));
}

Status OwnedInfo::copy(ucd_info_t from, const char *key) {
    std::string value;
    UCD_TRY(read_key(from, key, value));
    return value.empty() ? success : set(key, value.c_str());
}

namespace {

// Reads a text of any length by a function that takes the room for it.
template <class Read>
Status read_text(std::string &text, Read &&read) {
    uintptr_t needed;
    char room[64];
    const int rc = read(room, sizeof room, &needed);
    if (rc != UCD_ERR__TRUNCATED) {
        text = rc == UCD_SUCCESS && needed > 0 ? room : "";
        return ucd_ok(rc);
    }
    // own: the program's info
    text.resize(needed - 1);
    return ucd_ok(read(text.data(), needed, &needed));
}

} // namespace

Status read_key(ucd_info_t info, const char *key, std::string &value) {
    value.clear();
    if (info == UCD_INFO__NULL) return success;
    return read_text(value, [&](char *text, uintptr_t room, uintptr_t *needed) {
        return ucd_info_get(info, key, text, room, needed);
    });
}

Status read_nth_key(ucd_info_t info, uintptr_t number, std::string &key) {
    return read_text(key, [&](char *text, uintptr_t room, uintptr_t *needed) {
        return ucd_info_get_nthkey(info, number, text, room, needed);
    });
}

namespace {

constexpr const char *hints_of_moves[] = {"ucd.gpu",        "ucd.peers",   "ucd.engine",
                                          "ucd.max_blocks", "ucd.threads", "ucd.ze.context"};

// Whether the info has keys of libucd, which may all be hints.
bool may_have_hints(ucd_info_t info) {
    std::string key;
    for (uintptr_t n = 0; read_nth_key(info, n, key).ok() && !key.empty(); ++n)
        if (key.starts_with("ucd.") && !key.starts_with("ucd.ucx.")) return true;
    return false;
}

} // namespace

Status layout_of(uint64_t count, ucd_type_t type, ucd_layout_t &layout) {
    layout.struct_size = sizeof layout;
    return ucd_ok(ucd_get_layout(count, type, &layout));
}

Status copy_hints(ucd_info_t info, OwnedInfo &hints) {
    for (const char *key : hints_of_moves) UCD_TRY(hints.copy(info, key));
    return success;
}

Status BufferMemory::find(const void *buf, uintptr_t count, ucd_type_t type, ucd_info_t info,
                          TransferDirection direction) {
    UCD_TRY(
        read_key(info, direction == TransferDirection::send ? "ucd.inbuf" : "ucd.outbuf", hinted_));
    if (!hinted_.empty()) return success;
    uintptr_t needed;
    return ucd_ok(ucd_get_memory(buf, count, type, info, found_, sizeof found_, &needed));
}

bool host_reaches(std::string_view memory) {
    return memory == "host" || memory == "pinned" || memory == "managed";
}

Status BufferHints::set(const char *memory, ucd_info_t from, TransferDirection direction) {
    const bool is_plain = std::string_view(memory) == "host";
    on_host = host_reaches(memory);
    UCD_TRY(copy_hints(from, info));
    // Data in host memory is also packed to, and unpacked from, host memory.
    if (is_plain || direction == TransferDirection::send) UCD_TRY(info.set("ucd.inbuf", memory));
    if (is_plain || direction == TransferDirection::receive)
        UCD_TRY(info.set("ucd.outbuf", memory));
    if (on_host) return success;
    device = memory;
    UCD_TRY(copy_hints(from, near));
    UCD_TRY(near.set("ucd.inbuf", memory));
    return near.set("ucd.outbuf", memory);
}

Status find_hints(const void *buf, uintptr_t count, ucd_type_t type, ucd_info_t info,
                  TransferDirection direction, const BufferHints &for_host,
                  std::unique_ptr<const BufferHints> &made, const BufferHints *&hints) {
    hints = &for_host;
    BufferMemory memory;
    UCD_TRY(memory.find(buf, count, type, info, direction));
    const bool is_host = memory.is_host();
    if (is_host && (info == UCD_INFO__NULL || !may_have_hints(info))) return success;
    auto found = std::make_unique<BufferHints>();
    UCD_TRY(found->set(memory.text(), info, direction));
    made = std::move(found);
    hints = made.get();
    return success;
}

// Segments that begin at any multiple of `step` touch so many bytes more than they have, on
// average. Together they touch no more than their range.
static unsigned percent_in_sectors(const ucd_layout_t &layout, uint64_t lowest, uint64_t range) {
    constexpr uint64_t sector = 32, of_lists = 8;
    uint64_t step = std::gcd(layout.box_dims > 0 ? sector : of_lists, lowest);
    if (layout.box_dims > 0) step = std::gcd(step, layout.box_block);
    for (uint32_t i = 0; i < layout.box_dims; ++i)
        step = std::gcd(step, static_cast<uint64_t>(layout.box_stride[i]));
    const uint64_t touched = std::min(layout.bytes + layout.segments * (sector - step), range);
    return static_cast<unsigned>(100 * static_cast<double>(layout.bytes) /
                                 static_cast<double>(touched));
}

Status TypedBuffer::set(const Data &data, ucd_info_t info, TransferDirection direction,
                        const BufferHints &for_host, ucd_op_t op) {
    op_ = op;
    buf_ = static_cast<char *>(const_cast<void *>(data.buf));
    count_ = data.count;
    UCD_TRY(type_.keep(data.type));
    ucd_layout_t layout;
    UCD_TRY(layout_of(count_, data.type, layout));
    bytes_ = layout.bytes;
    segments_ = layout.segments;
    lowest_ = reinterpret_cast<uintptr_t>(buf_) + static_cast<uint64_t>(layout.low);
    if (op != UCD_OP__REPLACE && layout.element != UCD_TYPE__NULL) {
        uintptr_t element_bytes;
        UCD_TRY(ucd_ok(ucd_get_size(layout.element, &element_bytes)));
        op_steps_ = steps_of_op(layout.element, element_bytes, op, bytes_);
    }
    range_ = static_cast<uint64_t>(layout.high) - static_cast<uint64_t>(layout.low);
    is_regular_ = layout.box_dims > 0 || layout.segments <= few_segments * count_;
    hints_ = data.hints;
    if (hints_ == nullptr)
        UCD_TRY(find_hints(buf_, count_, data.type, info, direction, for_host, own_hints_, hints_));
    if (bytes_ > 0 && !on_host()) share_of_sectors_ = percent_in_sectors(layout, lowest_, range_);
    if (op == UCD_OP__REPLACE && layout.contiguous && layout.bytes > 0)
        (on_host() ? in_place_ : device_in_place_) = reinterpret_cast<char *>(
            reinterpret_cast<uintptr_t>(buf_) + static_cast<uintptr_t>(layout.low));
    return success;
}

Status TypedBuffer::pack(uint64_t offset, void *to, uint64_t bytes, ucd_request_t *request,
                         PackedPlace place) const {
    uintptr_t moved;
    ucd_info_t hints = hints_for(place);
    return ucd_ok(request == nullptr ? ucd_pack(buf_, count_, type_.get(), offset, to, bytes,
                                                &moved, hints, UCD_OP__REPLACE)
                                     : ucd_ipack(buf_, count_, type_.get(), offset, to, bytes,
                                                 &moved, hints, UCD_OP__REPLACE, request));
}

Status TypedBuffer::unpack(uint64_t offset, const void *from, uint64_t bytes,
                           ucd_request_t *request, PackedPlace place) const {
    uintptr_t moved;
    ucd_info_t hints = hints_for(place);
    UCD_TRY(ucd_ok(request == nullptr ? ucd_unpack(from, bytes, buf_, count_, type_.get(), offset,
                                                   &moved, hints, op_)
                                      : ucd_iunpack(from, bytes, buf_, count_, type_.get(), offset,
                                                    &moved, hints, op_, request)));
    if (moved == bytes) return success;
    if (request != nullptr) (void)ucd_wait(request);
    return fail(UCD_ERR__INVALID_ARG, "a chunk ends within an element");
}

Status TypedBuffer::copy_from(const void *from, uint64_t count, ucd_type_t type, uint64_t offset,
                              uint64_t bytes, ucd_request_t *request) const {
    ucd_move_t move = {};
    move.inbuf = from;
    move.incount = count;
    move.intype = type;
    move.inoffset = offset;
    move.outbuf = buf_;
    move.outcount = count_;
    move.outtype = type_.get();
    move.outoffset = offset;
    move.bytes = bytes;
    return ucd_ok(request == nullptr
                      ? ucd_move(&move, 1, hints_for(PackedPlace::host), op_)
                      : ucd_imove(&move, 1, hints_for(PackedPlace::own_device), op_, request));
}

} // namespace ucd_ucx

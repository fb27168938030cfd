// ucd pack: packs data from a layout in a file.

#include "commands/commands.hpp"
#include "commands/move_options.hpp"
#include "commands/output.hpp"
#include "commands/progress.hpp"
#include "failure.hpp"
#include "files/interruption.hpp"
#include "files/new_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string_view>

namespace ucdtool {
namespace {

struct PackOptions {
    LayoutOptions in;
    std::string out;
    StreamPart part;
    MoveOptions move;
};

// The array for a .npy output. A part of the packed data must consist of whole elements. With
// --as-is, it may be an array of bytes; otherwise readers would see elements that are cut.
PackedArray array_of(const PackOptions &o, const TypedFile &in, uint64_t bytes) {
    if (bytes == in.layout().bytes) return packed_array(in);
    const PackedArray as_bytes = {"|u1", {static_cast<intptr_t>(bytes)}};
    if (in.dtype().empty()) return as_bytes;
    const uint64_t item = in.item_bytes();
    if (o.part.offset % item == 0 && bytes % item == 0)
        return {in.dtype(), {static_cast<intptr_t>(bytes / item)}};
    if (o.in.as_is) return as_bytes;
    throw Failure(Exit::usage,
                  fmt::format("{}: bytes {} to {} of the packed data are no whole elements of {} "
                              "bytes ({}); --as-is makes an array of bytes of them",
                              o.out, o.part.offset, o.part.offset + bytes, item, in.dtype()));
}

std::vector<std::byte> header_of(const PackOptions &o, const TypedFile &in, uint64_t bytes) {
    if (!is_npy_name(o.out)) return {};
    const PackedArray array = array_of(o, in, bytes);
    return npy_header(array.dtype, array.shape);
}

std::string_view text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

void pack_to_stream(const PackOptions &o, const TypedFile &in, uint64_t bytes, Progress &progress) {
    if (o.move.operation() != UCD_OP__REPLACE)
        throw Failure(Exit::usage, "--op needs an output file: there is nothing to combine with");
    Stream out(o.out);
    out.write(text_of(header_of(o, in, bytes)));
    std::vector<std::byte> chunk(std::min(bytes, chunk_bytes));
    const ucd::Info hints = o.move.hints();
    for (uint64_t done = 0; done < bytes;) {
        const std::span piece =
            std::span(chunk).first(std::min<uint64_t>(chunk.size(), bytes - done));
        const uintptr_t n = ucd::pack(in.buffer(), in.count(), in.type(), piece,
                                      o.part.offset + done, UCD_OP__REPLACE, hints);
        out.write(text_of(piece.first(n)));
        done += n;
        progress.advance(n);
    }
}

// Packs into memory. Calls `after_step` with the number of bytes of each step.
template <typename AfterStep>
void pack_to_memory(const PackOptions &o, const TypedFile &in, std::span<std::byte> data,
                    Progress &progress, const AfterStep &after_step) {
    const ucd::Info hints = o.move.hints();
    for (uint64_t done = 0; done < data.size();) {
        const uintptr_t n =
            ucd::pack(in.buffer(), in.count(), in.type(),
                      data.subspan(done, std::min<uint64_t>(chunk_bytes, data.size() - done)),
                      o.part.offset + done, o.move.operation(), hints);
        done += n;
        after_step(n);
        progress.advance(n);
    }
}

void pack_to_new_file(const PackOptions &o, const TypedFile &in, uint64_t bytes,
                      Progress &progress) {
    const std::vector<std::byte> header = header_of(o, in, bytes);
    NewFile file(o.out);
    const MappedFile mapped(file, header.size() + bytes, true);
    std::ranges::copy(header, mapped.data());
    pack_to_memory(o, in, mapped.bytes().subspan(header.size()), progress, [](uint64_t) {});
    file.put_in_place(o.move.sync);
}

// Combines packed data with the data of an existing file.
void pack_in_place(const PackOptions &o, const TypedFile &in, uint64_t bytes, Progress &progress) {
    const MappedFile file(o.out, MappedFile::Access::write);
    std::span<std::byte> data = file.bytes();
    if (is_npy(data)) {
        const Npy npy = read_npy(data, o.out);
        if (!o.in.as_is) check_dtype(npy, in.layout().element, in.dtype(), o.out);
        data = data.subspan(npy.data_at, npy.data_bytes());
    }
    if (data.size() != bytes)
        throw Failure(Exit::usage, fmt::format("{}: it has {} bytes of data; {} are to be "
                                               "combined with it",
                                               o.out, data.size(), bytes));
    InPlaceChange change(o.out, bytes);
    pack_to_memory(o, in, data, progress, [&](uint64_t n) { change.advance(n); });
    if (o.move.sync) file.sync();
}

void pack(const PackOptions &o) {
    if (o.out != "-" && same_file(o.in.path, o.out))
        throw Failure(Exit::usage, fmt::format("{} and {} are the same file", o.in.path, o.out));
    const TypedFile in(o.in, TypedFile::Access::read);
    const uint64_t total = in.layout().bytes;
    if (o.part.offset > total)
        throw Failure(Exit::usage, fmt::format("--offset is {}; the packed data has {} bytes",
                                               o.part.offset, total));
    const uint64_t bytes = std::min(o.part.bytes.value_or(total), total - o.part.offset);
    Progress progress(bytes, o.move.progress);
    const auto pack_to = is_stream(o.out)                        ? pack_to_stream
                         : o.move.operation() == UCD_OP__REPLACE ? pack_to_new_file
                                                                 : pack_in_place;
    pack_to(o, in, bytes, progress);
    if (o.move.verbose) fmt::print(stderr, "packed {}\n", progress.summary());
}

} // namespace

Command pack_command() {
    const auto o = std::make_shared<PackOptions>();
    using enum CommandArgument::Offers;
    Command c = {
        "pack",
        "Gather what a type or slice selects of a file",
        {
            {"INPUT", &o->in.path, "raw or .npy file", true, files},
            {"OUTPUT", &o->out,
             "packed file, .npy by its name, which is there when it is complete; - for standard "
             "output. With --op it must be there and is changed in place: an interruption "
             "leaves it changed in part",
             true, files},
        },
        [o] { pack(*o); },
        {"ucd pack field.npy face.npy --slice '0:512:2,:,7'",
         "ucd pack matrix.bin column.bin --type 'vector(8,1,8,double)'",
         "ucd pack field.npy - --slice 0,0 | od -t f8"},
    };
    add_layout_options(c, o->in, "", "INPUT");
    c.arguments.push_back(
        {"--as-is", &o->in.as_is, "take a .npy file's bytes whatever its dtype and order"});
    o->part.add_to(c);
    o->move.add_to(c);
    return c;
}

} // namespace ucdtool

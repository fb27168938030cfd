// ucd unpack: unpacks data to a layout in a file.

#include "commands/commands.hpp"
#include "commands/move_options.hpp"
#include "commands/progress.hpp"
#include "failure.hpp"
#include "files/interruption.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

namespace ucdtool {
namespace {

struct UnpackOptions {
    std::string in;
    LayoutOptions out;
    StreamPart part;
    MoveOptions move;
};

void unpack(UnpackOptions o) {
    if (same_file(o.in, o.out.path))
        throw Failure(Exit::usage, fmt::format("{} and {} are the same file", o.in, o.out.path));
    const MappedFile file(o.in, MappedFile::Access::read);
    std::span<const std::byte> data = file.bytes();
    std::optional<Npy> npy;
    if (is_npy(data)) {
        npy = read_npy(data, o.in);
        data = data.subspan(npy->data_at, npy->data_bytes());
    }
    if (o.part.bytes.value_or(0) > data.size())
        throw Failure(Exit::usage, fmt::format("{}: it has {} bytes; --bytes is {}", o.in,
                                               data.size(), *o.part.bytes));
    // In Fortran order, the packed data has another shape in C order, so it is no default.
    if (npy && !(npy->fortran_order && npy->shape.size() > 1))
        default_to_array(o.out, {npy->descr, npy->shape});
    TypedFile out(o.out, TypedFile::Access::create);
    if (npy && !o.out.as_is) check_dtype(*npy, out.layout().element, out.dtype(), o.in);
    const uint64_t total = out.layout().bytes;
    if (o.part.offset > total)
        throw Failure(Exit::usage, fmt::format("--offset is {}; the packed data has {} bytes",
                                               o.part.offset, total));
    const uint64_t bytes = o.part.bytes.value_or(data.size()), room = total - o.part.offset;
    if (bytes > room || (!o.part.bytes && bytes != room))
        throw Failure(Exit::usage,
                      fmt::format("{}: it has {} bytes; the type takes {}{}", o.in, bytes, room,
                                  bytes < room ? "; --bytes unpacks a part" : ""));
    out.make_missing();
    Progress progress(bytes, o.move.progress);
    const ucd::Info hints = o.move.hints();
    std::optional<InPlaceChange> change;
    if (!out.is_new()) change.emplace(o.out.path, bytes);
    for (uint64_t done = 0; done < bytes;) {
        const uintptr_t n = ucd::unpack(
            data.subspan(done, std::min<uint64_t>(chunk_bytes, bytes - done)), out.buffer(),
            out.count(), out.type(), o.part.offset + done, o.move.operation(), hints);
        done += n;
        if (change) change->advance(n);
        progress.advance(n);
    }
    change.reset();
    out.finish(o.move.sync);
    if (o.move.verbose) fmt::print(stderr, "unpacked {}\n", progress.summary());
}

} // namespace

Command unpack_command() {
    const auto o = std::make_shared<UnpackOptions>();
    using enum CommandArgument::Offers;
    Command c = {
        "unpack",
        "Scatter packed data to what a type or slice selects",
        {
            {"INPUT", &o->in, "packed file, raw or .npy", true, files},
            {"OUTPUT", &o->out.path,
             "raw or .npy file, changed in place, so that an interruption leaves it changed in "
             "part; one that is missing is made, and is there when it is complete",
             true, files},
        },
        [o] { unpack(*o); },
        {"ucd unpack face.npy field.npy --slice '0:512:2,:,7' --op sum",
         "ucd unpack column.bin matrix.bin --type 'vector(8,1,8,double)'"},
    };
    add_layout_options(c, o->out, "", "OUTPUT");
    c.arguments.push_back(
        {"--as-is", &o->out.as_is, "take .npy files' bytes whatever their dtype and order"});
    o->part.add_to(c);
    o->move.add_to(c);
    return c;
}

} // namespace ucdtool

// ucd copy: copies from a layout in a file to another layout in a file.

#include "commands/commands.hpp"
#include "commands/move_options.hpp"
#include "commands/progress.hpp"
#include "failure.hpp"
#include "files/interruption.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

namespace ucdtool {
namespace {

struct CopyOptions {
    LayoutOptions in, out;
    bool as_is = false, convert = false, saturate = false;
    MoveOptions move;

    bool converts() const { return convert || saturate; }
    ucd_op_t operation() const {
        if (!converts()) return move.operation();
        return saturate ? UCD_OP__CONVERT_SAT : UCD_OP__CONVERT;
    }
};

// Copies in pieces through a packed buffer, so that neither file has to fit in memory.
void copy_in_pieces(const TypedFile &in, const TypedFile &out, ucd_op_t op, const ucd::Info &hints,
                    Progress &progress) {
    std::optional<InPlaceChange> change;
    if (!out.is_new()) change.emplace(out.path(), in.layout().bytes);
    const uint64_t bytes = in.layout().bytes;
    std::vector<std::byte> chunk(std::min(bytes, chunk_bytes));
    for (uint64_t done = 0; done < bytes;) {
        // Pieces are whole elements, because unpack combines whole elements only.
        const uint64_t most = std::min<uint64_t>(chunk.size(), bytes - done);
        const uintptr_t element =
            in.layout().element == UCD_TYPE__NULL ? 1 : ucd::TypeRef(in.layout().element).size();
        const auto piece = std::span(chunk).first(most - most % element);
        ucd::pack(in.buffer(), in.count(), in.type(), piece, done, UCD_OP__REPLACE, hints);
        done += ucd::unpack(piece, out.buffer(), out.count(), out.type(), done, op, hints);
        if (change) change->advance(piece.size());
        progress.advance(piece.size());
    }
}

// Copies in one call, because comparing the elements of both sides needs the whole sequences.
void copy_whole(const TypedFile &in, const TypedFile &out, ucd_op_t op, const ucd::Info &hints,
                Progress &progress) {
    std::optional<InPlaceChange> change;
    if (!out.is_new()) change.emplace(out.path(), out.layout().bytes, InPlaceChange::Steps::one);
    ucd::copy(in.buffer(), in.count(), in.type(), out.buffer(), out.count(), out.type(), op, hints);
    progress.advance(in.layout().bytes);
}

void copy(CopyOptions o) {
    o.in.as_is = o.out.as_is = o.as_is;
    const TypedFile in(o.in, TypedFile::Access::read);
    default_to_array(o.out, packed_array(in));
    TypedFile out(o.out, TypedFile::Access::create);
    if (same_file(in.path(), out.path()) && in.first() < out.last() && out.first() < in.last())
        throw Failure(Exit::usage,
                      fmt::format("{} is input and output, and what is read and what is written "
                                  "may overlap: they lie in bytes {} to {} and {} to {}",
                                  in.path(), in.first(), in.last(), out.first(), out.last()));
    if (!o.converts() && in.layout().bytes != out.layout().bytes)
        throw Failure(Exit::usage, fmt::format("the input has {} bytes and the output {}; expected "
                                               "as many",
                                               in.layout().bytes, out.layout().bytes));
    if (!o.converts() && !o.as_is && !in.dtype().empty() && !out.dtype().empty() &&
        in.dtype() != out.dtype() && !are_bytes(in.layout().element, in.dtype()) &&
        !are_bytes(out.layout().element, out.dtype()))
        throw Failure(Exit::usage, fmt::format("the input's elements are {} and the output's {}; "
                                               "--as-is takes the bytes as they are",
                                               in.dtype(), out.dtype()));
    out.make_missing();
    const ucd_op_t op = o.operation();
    const ucd::Info hints = o.move.hints();
    Progress progress(in.layout().bytes, o.move.progress);
    const bool one_element = !o.converts() && in.layout().element != UCD_TYPE__NULL &&
                             in.layout().element == out.layout().element;
    (op == UCD_OP__REPLACE || one_element ? copy_in_pieces : copy_whole)(in, out, op, hints,
                                                                         progress);
    out.finish(o.move.sync);
    if (o.move.verbose) fmt::print(stderr, "copied {}\n", progress.summary());
}

} // namespace

Command copy_command() {
    const auto o = std::make_shared<CopyOptions>();
    using enum CommandArgument::Offers;
    Command c = {
        "copy",
        "Copy from one layout to another, without a packed file",
        {
            {"INPUT", &o->in.path, "raw or .npy file", true, files},
            {"OUTPUT", &o->out.path,
             "raw or .npy file, changed in place, so that an interruption leaves it changed in "
             "part; one that is missing is made, and is there when it is complete",
             true, files},
        },
        [o] { copy(*o); },
        {"ucd copy field.npy every-second.npy --in-slice ::2",
         "ucd copy matrix.bin columns.bin --in-type 'resized(vector(8,1,8,double),0,8)' "
         "--in-count 8 --out-type 'contig(64,double)'",
         "ucd copy weights.bin small.bin --in-type 'contig(4096,float)' "
         "--out-type 'contig(4096,bfloat16)' --convert"},
    };
    add_layout_options(c, o->in, "in-", "INPUT; default: the whole array of a .npy file");
    add_layout_options(c, o->out, "out-", "OUTPUT; default: the whole array of a .npy file");
    c.arguments.push_back(
        {"--as-is", &o->as_is, "take .npy files' bytes whatever their dtype and order"});
    c.arguments.push_back(
        {"--convert", &o->convert,
         "convert elements to the output's type, rounding to nearest; the output has as many"});
    c.arguments.push_back({"--saturate", &o->saturate,
                           "same, and what is too large becomes the largest finite number"});
    o->move.add_to(c);
    return c;
}

} // namespace ucdtool

// ucd pack: from a layout in a file to packed data.

#include "commands/commands.hpp"
#include "commands/move_options.hpp"
#include "commands/output.hpp"
#include "commands/progress.hpp"
#include "failure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string_view>

namespace ucdtool {
namespace {

struct Options {
    LayoutOptions in;
    std::string out;
    StreamPart part;
    MoveOptions move;
};

// The packed side: what it is to be in a .npy file.
struct PackedArray {
    std::string dtype;
    std::vector<intptr_t> shape;
};
PackedArray array_of(const LaidOut &in, uint64_t bytes) {
    if (in.shape() && bytes == in.layout().bytes) return {in.dtype(), *in.shape()};
    const ucd_type_t element = in.layout().element;
    const uint64_t item = element == UCD_TYPE__NULL ? 0 : ucd::TypeRef(element).size();
    if (in.dtype().empty() || item == 0 || bytes % item != 0)
        return {"|u1", {static_cast<intptr_t>(bytes)}};
    return {in.dtype(), {static_cast<intptr_t>(bytes / item)}};
}

void pack_to_stdout(const Options &o, const LaidOut &in, uint64_t bytes, Progress &progress) {
    if (o.move.operation() != UCD_OP__REPLACE)
        throw Failure(Exit::usage, "--op needs an output file: there is nothing to combine with");
    std::vector<std::byte> chunk(std::min(bytes, chunk_bytes));
    const ucd::Info hints = o.move.hints();
    for (uint64_t done = 0; done < bytes;) {
        const uintptr_t n =
            ucd::pack(in.buffer(), in.count(), in.type(),
                      std::span(chunk).first(std::min<uint64_t>(chunk.size(), bytes - done)),
                      o.part.offset + done, UCD_OP__REPLACE, hints);
        print({reinterpret_cast<const char *>(chunk.data()), n});
        done += n;
        progress.advance(n);
    }
}

// The file's data, made anew or, for an operation, as it is.
std::span<std::byte> output_data(const Options &o, const LaidOut &in, uint64_t bytes,
                                 MappedFile &file) {
    const PackedArray array = array_of(in, bytes);
    if (o.move.operation() == UCD_OP__REPLACE) {
        const std::vector<std::byte> header =
            is_npy_name(o.out) ? npy_header(array.dtype, array.shape) : std::vector<std::byte>();
        file = MappedFile::create(o.out, header.size() + bytes, true);
        std::ranges::copy(header, file.data());
        return file.bytes().subspan(header.size());
    }
    file = MappedFile(o.out, MappedFile::Access::write);
    std::span<std::byte> data = file.bytes();
    if (is_npy(data)) {
        const Npy npy = read_npy(data, o.out);
        if (!o.in.as_is) check_dtype(npy, in.layout().element, o.out);
        data = data.subspan(npy.data_at, npy.data_bytes());
    }
    if (data.size() != bytes)
        throw Failure(Exit::failed, fmt::format("{}: it has {} bytes of data; {} are to be "
                                                "combined with it",
                                                o.out, data.size(), bytes));
    return data;
}

void pack(const Options &o) {
    if (o.out != "-" && same_file(o.in.path, o.out))
        throw Failure(Exit::failed, fmt::format("{} and {} are the same file", o.in.path, o.out));
    const LaidOut in(o.in, LaidOut::Access::read);
    const uint64_t total = in.layout().bytes;
    if (o.part.offset > total)
        throw Failure(Exit::failed, fmt::format("--offset is {}; the packed data has {} bytes",
                                                o.part.offset, total));
    const uint64_t bytes = std::min(o.part.bytes.value_or(total), total - o.part.offset);
    Progress progress(bytes, o.move.progress);
    if (o.out == "-") {
        pack_to_stdout(o, in, bytes, progress);
    } else {
        MappedFile file;
        const std::span<std::byte> data = output_data(o, in, bytes, file);
        const ucd::Info hints = o.move.hints();
        for (uint64_t done = 0; done < bytes;) {
            const uintptr_t n =
                ucd::pack(in.buffer(), in.count(), in.type(),
                          data.subspan(done, std::min<uint64_t>(chunk_bytes, bytes - done)),
                          o.part.offset + done, o.move.operation(), hints);
            done += n;
            progress.advance(n);
        }
    }
    if (o.move.verbose) fmt::print(stderr, "packed {}\n", progress.summary());
}

} // namespace

void add_pack(CLI::App &app) {
    const auto o = std::make_shared<Options>();
    CLI::App *c = app.add_subcommand("pack", "Gather what a type or slice selects of a file");
    c->add_option("INPUT", o->in.path, "raw or .npy file")->required();
    c->add_option("OUTPUT", o->out, "packed file, .npy by its name; - for standard output")
        ->required();
    add_layout_options(*c, o->in, "", "INPUT");
    c->add_flag("--as-is", o->in.as_is, "take a .npy file's bytes whatever its dtype and order");
    o->part.add_to(*c);
    o->move.add_to(*c);
    c->callback([o] { pack(*o); });
}

} // namespace ucdtool

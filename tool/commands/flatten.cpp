// ucd flatten and ucd unflatten: write types as bytes, and read, check and show such bytes.

#include "commands/commands.hpp"
#include "commands/flat_dump.hpp"
#include "commands/output.hpp"
#include "commands/source.hpp"
#include "failure.hpp"
#include "files/mapped_file.hpp"
#include "language/print.hpp"

#include <fmt/format.h>

#include <memory>
#include <string_view>

#include <unistd.h>

namespace ucdtool {
namespace {

struct FlattenOptions {
    std::string type, file, output;
    bool dump = false, check = false;
};

void flatten(const FlattenOptions &o) {
    const std::vector<std::byte> flat = ucd::flatten(type_from_argument(o.type));
    if (!o.output.empty())
        write_output(o.output, {reinterpret_cast<const char *>(flat.data()), flat.size()});
    if (o.dump || o.output.empty()) {
        if (o.output == "-")
            throw Failure(Exit::usage, "--dump and --output - would both write standard output");
        print(dump_flat(flat));
    }
}

void unflatten(const FlattenOptions &o) {
    const MappedFile file(o.file, MappedFile::Access::read);
    ucd_type_t handle = UCD_TYPE__NULL;
    const int rc = ucd_unflatten(&handle, file.data(), file.size());
    if (rc != UCD_SUCCESS)
        throw Failure(rc == UCD_ERR__CORRUPT ? Exit::corrupt : Exit::failed,
                      fmt::format("{}: {}", o.file, ucd_last_error()));
    const ucd::Type type(handle);
    if (o.check) return;
    print(o.dump ? dump_flat(file.bytes()) : to_text(type) + "\n");
}

} // namespace

Command flatten_command() {
    const auto o = std::make_shared<FlattenOptions>();
    using enum CommandArgument::Offers;
    return {
        "flatten",
        "Write a type as bytes, for another process",
        {
            {"TYPE", &o->type, "type expression, @FILE or - for standard input", true, types},
            {.names = "-o,--output",
             .target = &o->output,
             .description = "write the bytes to this file (- for standard output)",
             .offers = files},
            {"--dump", &o->dump, "print the bytes and what they mean; without --output always"},
        },
        [o] { flatten(*o); },
        {"ucd flatten 'vector(8,1,8,double)' -o column.ucdt",
         "ucd flatten 'indexed(@lengths.npy,@displs.npy,double)' --dump"},
    };
}

Command unflatten_command() {
    const auto o = std::make_shared<FlattenOptions>();
    return {
        "unflatten",
        "Read and check a flattened type, and print it",
        {
            {"FILE", &o->file, "what ucd_flatten or ucd flatten wrote", true,
             CommandArgument::Offers::files},
            {"--check", &o->check, "print nothing: the exit status tells"},
            {.names = "--dump",
             .target = &o->dump,
             .description = "print the bytes and what they mean",
             .excludes = {"--check"}},
        },
        [o] { unflatten(*o); },
        {"ucd unflatten column.ucdt", "ucd unflatten --check column.ucdt && echo good"},
    };
}

} // namespace ucdtool

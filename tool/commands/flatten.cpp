// ucd flatten and ucd unflatten: types as bytes, written, read, checked and shown.

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

struct Options {
    std::string type, file, output;
    bool dump = false, check = false;
};

void flatten(const Options &o) {
    const std::vector<std::byte> flat = ucd::flatten(type_from_argument(o.type));
    if (!o.output.empty())
        write_output(o.output, {reinterpret_cast<const char *>(flat.data()), flat.size()});
    if (o.dump || o.output.empty()) {
        if (o.output == "-")
            throw Failure(Exit::usage, "--dump and --output - would both write standard output");
        print(dump_flat(flat));
    }
}

void unflatten(const Options &o) {
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

void add_flatten(CLI::App &app) {
    const auto o = std::make_shared<Options>();
    CLI::App *c = app.add_subcommand("flatten", "Write a type as bytes, for another process");
    c->add_option("TYPE", o->type, "type expression, @FILE or - for standard input")->required();
    c->add_option("-o,--output", o->output, "write the bytes to this file (- for standard output)");
    c->add_flag("--dump", o->dump, "print the bytes and what they mean; without --output always");
    c->callback([o] { flatten(*o); });
}

void add_unflatten(CLI::App &app) {
    const auto o = std::make_shared<Options>();
    CLI::App *c = app.add_subcommand("unflatten", "Read and check a flattened type, and print it");
    c->add_option("FILE", o->file, "what ucd_flatten or ucd flatten wrote")->required();
    c->add_flag("--check", o->check, "print nothing: the exit status tells");
    c->add_flag("--dump", o->dump, "print the bytes and what they mean")->excludes("--check");
    c->callback([o] { unflatten(*o); });
}

} // namespace ucdtool

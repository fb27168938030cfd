#include "commands/move_options.hpp"

#include "language/operations.hpp"

#include <map>
#include <vector>

namespace ucdtool {
namespace {

const std::map<std::string, ucd_op_t> &operations() {
    static const auto by_name = [] {
        std::map<std::string, ucd_op_t> map;
        // Conversions need the types of two sides, so they are an option of copy alone.
        for (const OperationName &o : operation_names())
            if (o.op != UCD_OP__CONVERT && o.op != UCD_OP__CONVERT_SAT) map.emplace(o.name, o.op);
        return map;
    }();
    return by_name;
}

} // namespace

void MoveOptions::add_to(Command &command) {
    std::vector<std::string> names;
    for (const auto &[name, value] : operations()) names.push_back(name);
    command.arguments.insert(
        command.arguments.end(),
        {{.names = "--op",
          .target = &op,
          .description = "combine with what is there: output = output OP input",
          .choices = names},
         {.names = "--threads",
          .target = &threads,
          .description = "host threads for the work",
          .least = 1,
          .most = 1024},
         {.names = "--progress",
          .target = &progress,
          .description = "show a bar: auto, always or never",
          .choices = {"auto", "always", "never"}},
         {"--sync", &sync, "succeed only once the output is on the disk"},
         {"-v,--verbose", &verbose, "say how much was moved, and how fast"}});
}

ucd_op_t MoveOptions::operation() const {
    return operations().at(op);
}

ucd::Info MoveOptions::hints() const {
    ucd::Info info;
    info.set("ucd.gpu", "none"); // files are host memory
    if (threads > 1) info.set("ucd.threads", std::to_string(threads).c_str());
    return info;
}

void add_layout_options(Command &command, LayoutOptions &o, const std::string &prefix,
                        const std::string &of) {
    const std::string dashes = "--" + prefix;
    const auto short_too = [&](const char *letter) {
        return prefix.empty() ? std::string(letter) + "," + dashes : dashes;
    };
    using enum CommandArgument::Offers;
    command.arguments.insert(
        command.arguments.end(),
        {{.names = short_too("-t") + "type",
          .target = &o.type,
          .description = "type over " + of,
          .offers = types,
          .excludes = {dashes + "slice"}},
         {short_too("-s") + "slice", &o.slice, "or a slice of its array: 0:512:2,:,7"},
         {.names = dashes + "shape",
          .target = &o.shape,
          .description = "sizes of a raw or new file's array: 6,5,8",
          .needs = {dashes + "dtype"},
          .excludes = {dashes + "type"}},
         {.names = dashes + "dtype",
          .target = &o.dtype,
          .description = "its element, a predefined type",
          .offers = elements,
          .needs = {dashes + "shape"}},
         {.names = short_too("-c") + "count",
          .target = &o.count,
          .description = "so many of the type, one extent apart",
          .needs = {dashes + "type"}},
         {dashes + "origin", &o.origin, "byte of the data where buffer or array start"}});
}

void StreamPart::add_to(Command &command) {
    command.arguments.insert(command.arguments.end(),
                             {{"--offset", &offset, "start at this byte of the packed data"},
                              {"--bytes", &bytes, "move so many packed bytes"}});
}

} // namespace ucdtool

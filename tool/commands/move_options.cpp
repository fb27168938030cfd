#include "commands/move_options.hpp"

#include "commands/commands.hpp"
#include <map>
#include <vector>

namespace ucdtool {
namespace {

const std::map<std::string, ucd_op_t> operations = {
    {"replace", UCD_OP__REPLACE}, {"max", UCD_OP__MAX},   {"min", UCD_OP__MIN},
    {"sum", UCD_OP__SUM},         {"prod", UCD_OP__PROD}, {"land", UCD_OP__LAND},
    {"lor", UCD_OP__LOR},         {"lxor", UCD_OP__LXOR}, {"band", UCD_OP__BAND},
    {"bor", UCD_OP__BOR},         {"bxor", UCD_OP__BXOR}, {"maxloc", UCD_OP__MAXLOC},
    {"minloc", UCD_OP__MINLOC}};

} // namespace

void MoveOptions::add_to(CLI::App &command) {
    std::vector<std::string> names;
    for (const auto &[name, value] : operations) names.push_back(name);
    command.add_option("--op", op, "combine with what is there: output = output OP input")
        ->check(CLI::IsMember(names));
    command.add_option("--threads", threads, "host threads for the work")
        ->check(CLI::Range(1u, 1024u));
    command.add_option("--progress", progress, "show a bar: auto, always or never")
        ->check(CLI::IsMember({"auto", "always", "never"}));
    command.add_flag("--sync", sync, "succeed only once the output is on the disk");
    command.add_flag("-v,--verbose", verbose, "say how much was moved, and how fast");
}

ucd_op_t MoveOptions::operation() const {
    return operations.at(op);
}

ucd::Info MoveOptions::hints() const {
    ucd::Info info;
    info.set("ucd.gpu", "none"); // files are host memory
    if (threads > 1) info.set("ucd.threads", std::to_string(threads).c_str());
    return info;
}

void add_layout_options(CLI::App &command, LayoutOptions &o, const std::string &prefix,
                        const std::string &of) {
    const std::string dashes = "--" + prefix;
    const std::string t = prefix.empty() ? "-t,--type" : dashes + "type";
    const std::string s = prefix.empty() ? "-s,--slice" : dashes + "slice";
    const std::string c = prefix.empty() ? "-c,--count" : dashes + "count";
    CLI::Option *type = command.add_option(t, o.type, "type over " + of);
    CLI::Option *slice = command.add_option(s, o.slice, "or a slice of its array: 0:512:2,:,7");
    CLI::Option *shape =
        command.add_option(dashes + "shape", o.shape, "sizes of a raw file's array: 6,5,8")
            ->excludes(type);
    CLI::Option *dtype =
        command.add_option(dashes + "dtype", o.dtype, "its element, a predefined type")
            ->needs(shape);
    shape->needs(dtype);
    command.add_option(c, o.count, "so many of the type, one extent apart")
        ->needs(type)
        ->check(any_number());
    command.add_option(dashes + "origin", o.origin, "byte of the data where buffer or array start");
    type->excludes(slice);
}

void StreamPart::add_to(CLI::App &command) {
    command.add_option("--offset", offset, "start at this byte of the packed data")
        ->check(any_number());
    command.add_option("--bytes", bytes, "move so many packed bytes")->check(any_number());
}

} // namespace ucdtool

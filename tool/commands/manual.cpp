// ucd manual: prints the man pages ucd(1), which is generated from the commands, and ucd-type(7).

#include "commands/commands.hpp"
#include "commands/manual_of_types.hpp"
#include "commands/output.hpp"
#include "commands/roff.hpp"

#include <ucd.h>

#include <fmt/format.h>

#include <memory>
#include <string>

namespace ucdtool {
namespace {

std::string value_of(const CommandArgument &a) {
    if (a.is_flag()) return "";
    return " \\fI" + roff(a.each_name().back().substr(2)) + "\\fR";
}

std::string entry(const CommandArgument &a) {
    std::string names;
    for (const std::string &name : a.each_name())
        names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", roff(name));
    if (a.is_positional()) names = "\\fI" + roff(a.names) + "\\fR";
    return fmt::format(".TP\n{}{}\n{}\n", names, a.is_positional() ? "" : value_of(a),
                       roff(a.description));
}

std::string section(const Command &c) {
    std::string positionals, text;
    for (const CommandArgument &a : c.positionals()) {
        positionals += " \\fI" + roff(a.names) + "\\fR";
        text += entry(a);
    }
    for (const CommandArgument &a : c.options()) text += entry(a);
    return fmt::format(".SS ucd {}{} [\\fIoptions\\fR]\n{}.\n{}", c.name, positionals,
                       roff(c.description), text);
}

std::string manual(const std::vector<Command> &all) {
    std::string text = fmt::format(
        ".TH UCD 1 \"\" \"UCD {}.{}.{}\" \"User Commands\"\n"
        ".SH NAME\nucd \\- see layouts of noncontiguous data, and use them on files\n"
        ".SH SYNOPSIS\n.B ucd\n\\fIcommand\\fR [\\fIoptions\\fR] \\fIarguments\\fR\n"
        ".SH DESCRIPTION\n"
        "A type says which bytes of memory are meant, and in which order they are packed. The "
        "commands show what a type is, move the bytes that it selects in files, and write types as "
        "bytes. Types are given as expressions, such as \\fBvector(1024,1,1024,double)\\fR; see\n"
        ".BR ucd\\-type (7).\n"
        "Files are mapped, so they may be larger than memory; .npy files of NumPy are taken by "
        "their dtype, shape and order.\n"
        ".SH COMMANDS\n",
        UCD_VERSION_MAJOR, UCD_VERSION_MINOR, UCD_VERSION_PATCH);
    for (const Command &c : all) text += section(c);
    text +=
        ".SH OUTPUT FILES\n"
        "A file that a command makes is written beside its place, in the same directory, and "
        "takes its name when it is complete. A failure or a signal before that leaves what was "
        "there. A symbolic link is followed; pipes, devices and \\fI/dev/stdout\\fR are "
        "written directly.\n.PP\n"
        ".B Files that exist are changed in place\n"
        "by \\fBunpack\\fR, by \\fBcopy\\fR and by \\fBpack \\-\\-op\\fR. Then an "
        "interruption leaves them changed in part. The first SIGINT, SIGTERM or SIGHUP lets the "
        "step under way finish, and a message says which bytes were written; a second one ends "
        "the command at once.\n.PP\n"
        "Data is on the disk when the system writes it there, unless \\-\\-sync is given.\n"
        ".SH EXIT STATUS\n.TP\n0\nSuccess.\n.TP\n1\nA file, memory or the library failed.\n"
        ".TP\n2\nBad arguments: an option, type or slice that is none, or arguments that do not "
        "fit "
        "each other or the files.\n"
        ".TP\n3\nThe file is no flattened type.\n"
        ".TP\n128 + number\nA signal ended it.\n"
        ".SH ENVIRONMENT\n.TP\nUCD_LOG_LEVEL\noff, error or plan: what the library says on "
        "standard error.\n.TP\nUCD_THREADS, UCD_BACKENDS, ...\nDefaults of hints; "
        "\\fBucd info\\fR lists them all.\n.TP\nNO_COLOR\nNo colour unless \\-\\-color asks.\n"
        ".SH EXAMPLES\n.nf\n";
    for (const Command &c : all)
        for (const std::string &example : c.examples) text += roff(example) + "\n";
    text += ".fi\n.SH SEE ALSO\n.BR ucd\\-type (7)\n";
    return text;
}

} // namespace

Command manual_command(const std::vector<Command> &all) {
    const auto page = std::make_shared<std::string>("ucd");
    return {
        "manual",
        "Print a man page",
        {{.names = "PAGE",
          .target = page.get(),
          .description = "ucd or ucd-type",
          .choices = {"ucd", "ucd-type"}}},
        [&all, page] { print(*page == "ucd" ? manual(all) : manual_of_types()); },
        {"ucd manual > ucd.1", "ucd manual ucd-type > ucd-type.7"},
    };
}

} // namespace ucdtool

#include "commands/manual_of_types.hpp"

#include "commands/roff.hpp"
#include "language/constructors.hpp"

#include <ucd.h>

#include <fmt/format.h>

namespace ucdtool {
namespace {

std::string signature(const Constructor &c) {
    std::string text = fmt::format("\\fB{}\\fR(", c.name);
    for (std::size_t i = 0; i < c.parameters.size(); ++i) {
        const Parameter &p = c.parameters[i];
        const bool file = p.part == Part::path;
        text += fmt::format("{}{}\\fI{}\\fR", i == 0 ? "" : ", ", file ? "@" : "", p.name);
    }
    return text + ")";
}

} // namespace

std::string manual_of_types() {
    std::string text = fmt::format(
        ".TH UCD\\-TYPE 7 \"\" \"UCD {}.{}.{}\" \"Miscellaneous\"\n"
        ".SH NAME\nucd\\-type \\- type expressions of ucd\n"
        ".SH DESCRIPTION\n"
        "A type expression is a predefined type, or a constructor with its arguments in "
        "parentheses "
        "in the order of the C functions, without counts that lists have. Integers are decimal. "
        "A list is written out, [1,2,8:16:4], where start:stop:step is a range without its stop, "
        "or "
        "is @file.npy, a one\\-dimensional .npy file of integers. Types within types may be named: "
        "\\fBrow = contig(4,int); struct([1,1],[0,64],[row,row])\\fR. A # starts a comment.\n"
        ".SH CONSTRUCTORS\n",
        UCD_VERSION_MAJOR, UCD_VERSION_MINOR, UCD_VERSION_PATCH);
    for (const Constructor &c : constructors())
        text += fmt::format(".TP\n{}\n{}\n", signature(c), roff(c.meaning));
    text += ".SH PREDEFINED TYPES\n";
    for (const PredefinedName &p : predefined_names()) text += fmt::format("{},\n", p.name);
    text.replace(text.size() - 2, 1, ".");
    return text + ".SH EXAMPLES\n.nf\n"
                  "vector(1024,1,1024,double)\n"
                  "subarray([512,512,512],[512,1,512],[0,0,0],C,double)\n"
                  "resized(struct([1,2],[0,8],[double,int]),0,24)\n"
                  "indexed(@lengths.npy,@displs.npy,double)\n"
                  ".fi\n.SH SEE ALSO\n.BR ucd (1)\n";
}

} // namespace ucdtool

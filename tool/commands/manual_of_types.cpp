#include "commands/manual_of_types.hpp"

#include "commands/roff.hpp"
#include "language/constructors.hpp"

#include <ucd.h>

#include <fmt/format.h>

namespace ucdtool {
namespace {

// A sentence that says what a constructor makes.
const char *meaning(Kind kind) {
    switch (kind) {
    case Kind::contig: return "count elements, each one extent after the last.";
    case Kind::dup: return "The same type again.";
    case Kind::vector: return "count blocks of blocklength elements, stride extents apart.";
    case Kind::hvector: return "count blocks of blocklength elements, stride bytes apart.";
    case Kind::indexed_block: return "Blocks of blocklength elements, at displs extents.";
    case Kind::hindexed_block: return "Blocks of blocklength elements, at displs bytes.";
    case Kind::indexed: return "Blocks of blocklengths elements, at displs extents.";
    case Kind::hindexed: return "Blocks of blocklengths elements, at displs bytes.";
    case Kind::structure: return "Blocks of blocklengths elements of types, at displs bytes.";
    case Kind::subarray:
        return "The part of subsizes elements from starts on of an array of sizes; order is C or "
               "FORTRAN.";
    case Kind::darray:
        return "What process rank of size has of an array of gsizes that is distributed over a "
               "grid "
               "of psizes; distribs are BLOCK, CYCLIC or NONE, dargs block sizes or DFLT.";
    case Kind::ndarray: return "An array by its shape and its strides in bytes, of any sign.";
    case Kind::resized: return "The same bytes with bounds lb and lb + extent, explicitly.";
    case Kind::bounds: return "The same bytes with other bounds that stay implicit.";
    case Kind::aligned: return "The same type with another alignment.";
    case Kind::element:
        return "A data representation that no predefined type has here, by the classes of the "
               "flattened form.";
    case Kind::flattened: return "The type in a file that ucd flatten wrote.";
    }
    return "";
}

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
    for (std::size_t i = 0; i <= static_cast<std::size_t>(Kind::flattened); ++i) {
        const Constructor &c = constructor_of(static_cast<Kind>(i));
        text += fmt::format(".TP\n{}\n{}\n", signature(c), roff(meaning(c.kind)));
    }
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

// What the parser says about text that is no type, and where.
#include "support/catch.hpp"

#include "failure.hpp"
#include "language/build.hpp"
#include "language/parse.hpp"
#include "language/print.hpp"

#include <string>

namespace language_errors_test {

namespace {

// The place and the message with which a text is refused; "" if it is accepted.
std::string refusal(const std::string &text) {
    try {
        (void)ucdtool::build(ucdtool::parse(text));
    } catch (const ucdtool::SyntaxError &e) {
        return std::to_string(e.at()) + ": " + e.what();
    }
    return "";
}

} // namespace

TEST_CASE("bad text is refused with its place and what was expected") {
    const struct {
        const char *text, *refusal;
    } cases[] = {
        {"", "0: expected a type, found the end"},
        {"  ", "2: expected a type, found the end"},
        {"duble", "0: unknown type 'duble'; expected a constructor or a predefined type; did you "
                  "mean double?"},
        {"Vector(1,1,1,int)", "0: unknown type 'Vector'; expected a constructor or a predefined "
                              "type; did you mean vector?"},
        {"double double", "7: expected the end of the expression, found 'double'"},
        {"vector", "6: expected '(' after vector, found the end"},
        {"vector(3,1,double)", "11: expected an integer, the stride of vector, found 'double'"},
        {"vector(3,1,4)", "12: expected ',' and the oldtype of vector (4 of 4 arguments), found "
                          "')'"},
        {"vector(3,1,4,double", "19: expected ')' after the oldtype of vector, found the end"},
        {"vector(3,1,4,double,5)", "19: expected ')' after the oldtype of vector, found ','"},
        {"vector(3,,4,double)", "9: expected an integer, the blocklength of vector, found ','"},
        {"contig(2,7)", "9: expected a type, the oldtype of contig, found 7"},
        {"contig(2,wide)", "9: unknown type 'wide'; expected a constructor or a predefined type, "
                           "the oldtype of contig"},
        {"contig(99999999999999999999,int)",
         "7: 99999999999999999999 does not fit a 64-bit integer"},
        {"contig(1.5,int)", "8: '.' is no part of the language"},
        {"contig(-x,int)", "7: '-' is no part of the language"},
        {"contig(-4x,int)", "7: '-4x' is no integer"},
        {"contig(4x,int)", "7: expected an integer, the count of contig, found '4x'"},
        {"indexed(3,[0],int)", "8: expected '[' or @file.npy, the blocklengths of indexed, found "
                               "3"},
        {"indexed([1,[0],int)", "11: expected an integer, the blocklengths of indexed, found '['"},
        {"indexed([1 2],[0],int)", "11: expected ',' or ']', the blocklengths of indexed, found "
                                   "2"},
        {"indexed([1,],[0],int)", "11: expected an integer, the blocklengths of indexed, found "
                                  "']'"},
        {"indexed([,1],[0],int)", "9: expected an integer, the blocklengths of indexed, found ','"},
        {"indexed([1,2],[0],int)", "0: indexed: blocklengths has 2 entries and displs has 1; "
                                   "expected as many"},
        {"indexed([0:4:0],[0],int)", "9: the step of the range is 0"},
        {"indexed([4:4],[0],int)", "9: the range has no entries"},
        {"indexed([0:9223372036854775807],[0],int)",
         "9: the range has 9223372036854775807 entries; the most is 134217728"},
        {"indexed([0:1,0:134217728],[0],int)",
         "13: the ranges up to here have 134217729 entries; the most is 134217728"},
        {"struct([1],[0],double)", "15: expected '[', the types of struct, found 'double'"},
        {"struct([1],[0],[double)", "22: expected ',' or ']' in the types of struct, found ')'"},
        {"struct([1],[0],[double,])", "23: expected a type, the types of struct, found ']'"},
        {"subarray([4],[2],[0],R,int)", "21: expected C or FORTRAN, the order of subarray, found "
                                        "'R'"},
        {"darray(4,0,[8],[BLOK],[DFLT],[4],C,int)",
         "16: expected BLOCK, CYCLIC or NONE, the distribs of darray, found 'BLOK'"},
        {"darray(4,0,[8],[BLOCK],[none],[4],C,int)",
         "24: expected an integer or DFLT, the dargs of darray, found 'none'"},
        {"darray(9999999999,0,[8],[BLOCK],[DFLT],[4],C,int)",
         "0: size of darray is 9999999999, which is no int"},
        {"flattened(double)", "10: expected @ and a file name, the file of flattened, found "
                              "'double'"},
        {"indexed(@,[0],int)", "8: expected a file name after '@'"},
        {"indexed(@\"a,[0],int)", "8: the file name has no closing '\"'"},
        {"indexed(@/none.npy,[0],int)", "8: /none.npy: cannot open it: No such file or directory"},
        {"contig(2,vector(3,-1,4,int))",
         "9: ucd_create_vector: blocklength is -1; it must be >= 0"},
        {"aligned(int,3)", "0: alignment is 3; it must be a power of two from 1 to 32768"},
        {"element(300,1,1)", "0: class of element is 300; it must be 0 to 255"},
        {"a = int", "7: expected ';' after the definition of a, found the end"},
        {"a = int;", "8: expected a type, found the end"},
        {"int = int; int", "0: int has a meaning already; expected a new name"},
        {"a = int; a = char; a", "9: a is defined already"},
        {"contig(2,a = int)", "9: a definition stands before the type, not within it"},
        {"a = contig(2,a); a", "13: unknown type 'a'; expected a constructor or a predefined type, "
                               "the oldtype of contig"},
        {"\x01", "0: byte 1 is no part of the language"},
        {"int $", "4: '$' is no part of the language"},
    };
    for (const auto &c : cases) {
        INFO(c.text);
        CHECK(refusal(c.text) == c.refusal);
    }
}

TEST_CASE("files that a text names are opened unless it is from elsewhere") {
    const auto refusal_of_files = [](const char *text) -> std::string {
        try {
            (void)ucdtool::parse(text, ucdtool::NamedFiles::refused);
        } catch (const ucdtool::SyntaxError &e) {
            return std::to_string(e.at()) + ": " + e.what();
        }
        return "";
    };
    const std::string why = ": files that a text names are not opened here";
    CHECK(refusal_of_files("indexed(@no.npy,[1],int)") == "8" + why);
    CHECK(refusal_of_files("dup(flattened(@/dev/zero))") == "14" + why);
    CHECK(refusal_of_files("contig(2,int)") == "");
}

TEST_CASE("space, comments, ranges and definitions mean what they say") {
    using ucdtool::parse;
    using ucdtool::to_text;
    CHECK(to_text(parse(" vector( 3 ,1,\n4, # every fourth\n double )  # that is all")) ==
          "vector(3,1,4,double)");
    CHECK(to_text(parse("indexed_block(1,[0:6:2,-1,9:6:-1,5:7],int)")) ==
          "indexed_block(1,[0,2,4,-1,9,8,7,5,6],int)");
    CHECK(to_text(parse("subarray([2],[1],[0],F,int)")) == "subarray([2],[1],[0],FORTRAN,int)");
    const std::string shared = "a = contig(2,int);\nb = struct([1,1],[0,9],[a,a]);\ncontig(3,b)";
    CHECK(to_text(parse(shared)) == shared);
    CHECK(refusal("a = int; a") == "");
    CHECK(refusal("a = contig(2,int); b = char; a") == "");
}

TEST_CASE("nesting is limited by memory alone, whether it ends well or not") {
    constexpr std::size_t depth = 1000000;
    std::string open;
    for (std::size_t i = 0; i < depth; ++i) open += "dup(";
    CHECK(refusal(open) ==
          std::to_string(4 * depth) + ": expected a type, the oldtype of dup, found the end");
    CHECK(refusal(open + "int" + std::string(depth, ')')) == "");
}

TEST_CASE("a caret points at the place, in long text and short") {
    CHECK(ucdtool::point_at("contig(x)", 7) == "  contig(x)\n         ^\n");
    CHECK(ucdtool::point_at("a = int;\nb", 9) == "  b\n  ^\n");
    CHECK(ucdtool::point_at("a\x1b\tb", 3) == "  a  b\n     ^\n"); // nothing a terminal obeys
    CHECK(ucdtool::point_at("", 0) == "  \n  ^\n");
    const std::string line = ucdtool::point_at(std::string(1000, 'x'), 500);
    CHECK(line == "  ..." + std::string(100, 'x') + "...\n  " + std::string(63, ' ') + "^\n");
}

} // namespace language_errors_test

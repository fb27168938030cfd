// The headers compile alone, as C11 and as C++20, and mean the same handles in both: the two
// translation units beside this file do the work.
#include "support/catch.hpp"

extern "C" int ucd_header_c11(void);
extern "C" int ucd_header_cxx20(void);

TEST_CASE("handles and initialisers have the values of the ABI in C and C++") {
    CHECK(ucd_header_c11() == 0);
    CHECK(ucd_header_cxx20() == 0);
}

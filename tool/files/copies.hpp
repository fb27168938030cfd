// The copies of libucd that files and processes have, by the notes that
// src/frontend/api/copy_note.h puts into them. Versions before 1.0 have no note.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ucdtool {

struct Copy {
    std::string file;
    std::string version, kind;
    std::string prefix; // of the names of functions; mostly empty
};

// The copies in a program or a shared library. The file may be anything: what is no note is
// skipped. Throws Failure if it cannot be read, or has more notes than programs have.
std::vector<Copy> copies_in_file(const std::string &path);

// The copies in the files that a process has mapped. Throws Failure if the system does not tell
// which these are. `unread` gets the files that are not there any more, may not be read, or have
// too many notes.
std::vector<Copy> copies_in_process(uint64_t process, std::vector<std::string> &unread);

} // namespace ucdtool

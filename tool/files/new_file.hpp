// Output files that appear only when they are complete.
#pragma once

#include <string>

namespace ucdtool {

// Whether an output can only be written directly: a pipe, a device, or an open descriptor such as
// /dev/stdout, even if that is a regular file.
bool is_written_directly(const std::string &path);

// A new file that replaces any existing one. It is written as an unnamed file in the same
// directory, or under a temporary name if that is not possible, so the old file does not change
// until the new one is complete. Symbolic links are followed. The new file gets the permissions
// and, as far as the system allows, the owner and group of the old one.
class NewFile {
public:
    enum class Kind { unnamed, named };
    // `preferred` is for tests: they use named files as on file systems without unnamed ones.
    // Throws Failure.
    explicit NewFile(const std::string &path, Kind preferred = Kind::unnamed);
    ~NewFile(); // removes the file, unless it was put in place
    NewFile(const NewFile &) = delete;
    NewFile &operator=(const NewFile &) = delete;

    int descriptor() const { return descriptor_; }
    const std::string &path() const { return path_; }

    // Replaces the old file, which still exists if this throws Failure. With `sync`, the data and
    // the name are on the disk on return.
    void put_in_place(bool sync);

private:
    // The permissions that open(2) gives a new file are subject to the umask.
    static constexpr unsigned any_permissions = 0666, own_permissions = 0600;

    bool make_unnamed(unsigned permissions);
    void make_named(unsigned permissions);
    void name_unnamed();
    void take_owner_and_permissions(const std::string &from);
    [[noreturn]] void fail(const char *what, int error);

    std::string path_;   // as given
    std::string place_;  // with links followed
    std::string folder_; // the directory of place_
    std::string beside_; // the temporary name; "" as long as there is none
    std::string left_;   // what a signal's message says
    int descriptor_ = -1;
};

} // namespace ucdtool

// Output files that take their place when they are complete.
#pragma once

#include <string>

namespace ucdtool {

// Whether an output can only be written where it is: a pipe, a device, or an open descriptor such
// as /dev/stdout, even if that is a regular file.
bool is_written_directly(const std::string &path);

// A new file in place of any that is there. It is written without a name in the same directory, or
// with a name of its own where that is not possible, and so until it is complete the old file stays
// as it is. Symbolic links are followed. It has the permissions, and as far as the system allows
// the owner and group, of the file that it replaces.
class NewFile {
public:
    enum class Kind { unnamed, named };
    // `preferred` is for tests: a directory without unnamed files gets a named one. Throws Failure.
    explicit NewFile(const std::string &path, Kind preferred = Kind::unnamed);
    ~NewFile(); // removes it, unless it was put in place
    NewFile(const NewFile &) = delete;
    NewFile &operator=(const NewFile &) = delete;

    int descriptor() const { return descriptor_; }
    const std::string &path() const { return path_; }

    // Throws Failure; then the old file is still there. With `sync`, data and name are on the disk
    // when it returns.
    void put_in_place(bool sync);

private:
    // What open(2) makes for a file that is not there: the umask's permissions.
    static constexpr unsigned any_permissions = 0666, own_permissions = 0600;

    bool make_unnamed(unsigned permissions);
    void make_named(unsigned permissions);
    void name_unnamed();
    void take_owner_and_permissions(const std::string &from);
    [[noreturn]] void fail(const char *what, int error);

    std::string path_;   // as given
    std::string place_;  // links followed
    std::string folder_; // of the place
    std::string beside_; // its name until it is in place; "" while it has none
    std::string left_;   // what a signal leaves behind
    int descriptor_ = -1;
};

} // namespace ucdtool

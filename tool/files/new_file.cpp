#include "files/new_file.hpp"

#include "failure.hpp"
#include "files/interruption.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <random>
#include <utility>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace ucdtool {
namespace {

std::string folder_of(const std::string &path) {
    const std::string folder = std::filesystem::path(path).parent_path();
    return folder.empty() ? "." : folder;
}

bool is_link_of_proc(const std::string &link) {
    struct statfs status;
    return statfs(folder_of(link).c_str(), &status) == 0 && status.f_type == PROC_SUPER_MAGIC;
}

// The path that opening `path` would create or write, with links followed. "" if there is none: if
// the path ends in a link of /proc, which stands for an open file, or if links form a cycle.
std::string followed(std::string path) {
    constexpr int max_links = 40; // Linux's limit
    for (int links = 0; links <= max_links; ++links) {
        std::array<char, PATH_MAX> target;
        const ssize_t length = readlink(path.c_str(), target.data(), target.size());
        if (length < 0) return path; // not a link, or does not exist
        if (is_link_of_proc(path)) return "";
        const std::string next(target.data(), static_cast<std::size_t>(length));
        path = next.starts_with('/') ? next : folder_of(path) + "/" + next;
    }
    return "";
}

// A new name in the same directory; it is random, so it does not exist yet.
std::string name_beside(const std::string &place) {
    std::random_device random;
    const uint64_t number = uint64_t{random()} << 32 | random();
    // Shortened, because the random number needs some of the 255 bytes that a name may have.
    const std::string name = std::filesystem::path(place).filename().string().substr(0, 200);
    return fmt::format("{}/.{}.{:016x}.part", folder_of(place), name, number);
}

std::string open_file(int descriptor) {
    return fmt::format("/proc/self/fd/{}", descriptor);
}

} // namespace

bool is_written_directly(const std::string &path) {
    struct stat status;
    return followed(path).empty() || (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode));
}

NewFile::NewFile(const std::string &path, Kind preferred)
    : path_(path), place_(followed(path)), folder_(folder_of(place_)) {
    const bool replaces = access(place_.c_str(), F_OK) == 0;
    if (replaces) {
        // Renaming does not check permission to write the old file, but replacing it requires that.
        const int old = open(place_.c_str(), O_WRONLY | O_CLOEXEC);
        if (old < 0) fail("cannot create it", errno);
        (void)close(old);
    }
    const unsigned permissions = replaces ? own_permissions : any_permissions;
    if (preferred == Kind::named || !make_unnamed(permissions)) make_named(permissions);
    if (replaces) take_owner_and_permissions(place_);
    left_ = path_ + (replaces ? " is as it was" : " was not made");
    set_left_behind(left_.c_str());
}

NewFile::~NewFile() {
    set_left_behind(nullptr);
    if (descriptor_ >= 0) (void)close(descriptor_);
    if (beside_.empty()) return;
    (void)unlink(beside_.c_str());
    set_removed_by_signals("");
}

void NewFile::fail(const char *what, int error) {
    throw Failure(Exit::failed, fmt::format("{}: {}: {}", path_, what, std::strerror(error)));
}

// Returns false if the file system does not support unnamed files, or if the file could not be
// named later because /proc is not available.
bool NewFile::make_unnamed(unsigned permissions) {
    descriptor_ = open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, permissions);
    if (descriptor_ < 0) return false;
    if (access(open_file(descriptor_).c_str(), F_OK) == 0) return true;
    (void)close(std::exchange(descriptor_, -1));
    return false;
}

void NewFile::make_named(unsigned permissions) {
    do {
        const std::string name = name_beside(place_);
        set_removed_by_signals(name); // before it exists, so that no signal can come in between
        descriptor_ = open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, permissions);
        if (descriptor_ >= 0) beside_ = name;
    } while (descriptor_ < 0 && errno == EEXIST);
    if (descriptor_ >= 0) return;
    const int error = errno;
    set_removed_by_signals("");
    fail(permissions == own_permissions ? "cannot create the file beside it that is to replace it"
                                        : "cannot create it",
         error);
}

// linkat() names an unnamed file but does not replace an existing one, so the file gets a temporary
// name before it is renamed.
void NewFile::name_unnamed() {
    const std::string from = open_file(descriptor_);
    int error = 0;
    do {
        const std::string name = name_beside(place_);
        set_removed_by_signals(name);
        error = linkat(AT_FDCWD, from.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0
                    ? 0
                    : errno;
        if (error == 0) beside_ = name;
    } while (error == EEXIST);
    if (error == 0) return;
    set_removed_by_signals("");
    fail("cannot give the complete file a name", error);
}

void NewFile::take_owner_and_permissions(const std::string &from) {
    struct stat old, made;
    if (stat(from.c_str(), &old) != 0 || fstat(descriptor_, &made) != 0)
        fail("cannot ask for its permissions", errno);
    mode_t permissions = old.st_mode & 0777;
    if (made.st_uid != old.st_uid)
        (void)!fchown(descriptor_, old.st_uid, static_cast<gid_t>(-1)); // succeeds only for root
    if (made.st_gid != old.st_gid && fchown(descriptor_, static_cast<uid_t>(-1), old.st_gid) != 0)
        // The permissions of the old group must not apply to another group.
        permissions = (permissions & ~mode_t{070}) | (permissions & 07) << 3;
    if (fchmod(descriptor_, permissions) != 0) fail("cannot keep its permissions", errno);
}

void NewFile::put_in_place(bool sync) {
    if (sync && fsync(descriptor_) != 0) fail("cannot write it to the disk", errno);
    if (beside_.empty()) name_unnamed();
    set_left_behind(nullptr);
    if (rename(beside_.c_str(), place_.c_str()) != 0)
        fail("cannot put the complete file in its place", errno);
    beside_.clear();
    set_removed_by_signals("");
    if (!sync) return;
    const int folder = open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool good = folder >= 0 && fsync(folder) == 0;
    const int error = errno;
    if (folder >= 0) (void)close(folder);
    if (!good) fail("cannot write its name to the disk", error);
}

} // namespace ucdtool

// Output files where the file system has no files without a name.
#include "support/catch.hpp"

#include "failure.hpp"
#include "files/interruption.hpp"
#include "files/new_file.hpp"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace new_file_test {

namespace {

namespace fs = std::filesystem;
using ucdtool::NewFile;

class Folder {
public:
    Folder() {
        std::string name = (fs::temp_directory_path() / "new-file-").string();
        name.append(6, 'X'); // which mkdtemp replaces
        REQUIRE(mkdtemp(name.data()) != nullptr);
        path_ = name;
    }
    ~Folder() { fs::remove_all(path_); }
    Folder(const Folder &) = delete;
    Folder &operator=(const Folder &) = delete;
    fs::path operator/(const char *name) const { return path_ / name; }
    std::ptrdiff_t entries() const {
        return std::distance(fs::directory_iterator(path_), fs::directory_iterator());
    }

private:
    fs::path path_;
};

std::string text_of(const fs::path &path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

void write_new(NewFile &file) {
    REQUIRE(write(file.descriptor(), "new", 3) == 3);
}

} // namespace

TEST_CASE("a new file takes its place when it is complete") {
    for (const NewFile::Kind kind : {NewFile::Kind::unnamed, NewFile::Kind::named}) {
        const Folder folder;
        const fs::path place = folder / "out";
        std::ofstream(place) << "old";
        REQUIRE(chmod(place.c_str(), 0604) == 0);
        {
            NewFile file(place, kind);
            write_new(file);
            CHECK(text_of(place) == "old");
            if (kind == NewFile::Kind::named) CHECK(folder.entries() == 2);
        }
        CHECK(text_of(place) == "old");
        CHECK(folder.entries() == 1);
        for (const bool sync : {false, true}) {
            NewFile file(place, kind);
            write_new(file);
            file.put_in_place(sync);
            CHECK(text_of(place) == "new");
            CHECK(folder.entries() == 1);
            struct stat status;
            REQUIRE(stat(place.c_str(), &status) == 0);
            CHECK((status.st_mode & 0777) == 0604);
        }
    }
}

TEST_CASE("a signal removes a new file that has a name") {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        const Folder folder;
        const fs::path place = folder / "out";
        const pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            (void)std::signal(signal, SIG_DFL); // it may be ignored, as under nohup
            ucdtool::watch_signals();
            NewFile file(place, NewFile::Kind::named);
            if (folder.entries() == 1) (void)raise(signal);
            _exit(0);
        }
        int status = 0;
        REQUIRE(waitpid(child, &status, 0) == child);
        CHECK(WIFSIGNALED(status));
        CHECK(WTERMSIG(status) == signal);
        CHECK(folder.entries() == 0);
    }
}

TEST_CASE("a new file that cannot take its place is removed") {
    for (const NewFile::Kind kind : {NewFile::Kind::unnamed, NewFile::Kind::named}) {
        const Folder folder;
        const fs::path place = folder / "out";
        {
            NewFile file(place, kind);
            fs::create_directories(place / "in-its-way");
            CHECK_THROWS_AS(file.put_in_place(false), ucdtool::Failure);
        }
        CHECK(folder.entries() == 1);
    }
    CHECK_THROWS_AS(NewFile("/no/such/folder/out"), ucdtool::Failure);
}

} // namespace new_file_test

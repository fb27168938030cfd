// ucd: shows layouts, and uses them on files.

#include "commands/command_line.hpp"
#include "commands/commands.hpp"
#include "failure.hpp"
#include "files/interruption.hpp"

#include <ucd.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <new>
#include <vector>

namespace {

using ucdtool::Exit;

int fail(Exit status, const std::string &message) {
    // Not fmt::print, which throws if standard error is full.
    const std::string line = fmt::format("ucd: {}{}", message, message.ends_with('\n') ? "" : "\n");
    (void)std::fputs(line.c_str(), stderr);
    return static_cast<int>(status);
}

std::string version() {
    return fmt::format("ucd {}.{}.{}", UCD_VERSION_MAJOR, UCD_VERSION_MINOR, UCD_VERSION_PATCH);
}

ucdtool::Program program() {
    return {
        "ucd",
        version(),
        "See layouts of noncontiguous data, and use them on files",
        "Type expressions: vector(1024,1,1024,double); see ucd-type(7).\n"
        "Exit status: 0 success, 1 a file, memory or the library failed, 2 bad arguments or type,\n"
        "3 corrupt flattened type; 128 and its number for a signal.",
        {ucdtool::describe_command(), ucdtool::pack_command(), ucdtool::unpack_command(),
         ucdtool::copy_command(), ucdtool::info_command(), ucdtool::flatten_command(),
         ucdtool::unflatten_command()},
    };
}

// If the library rejects a command's arguments, the exit status is also that of bad arguments.
void run_command(const ucdtool::Command &command) {
    try {
        command.run();
    } catch (const ucd::Error &e) {
        const bool refused = e.code() == UCD_ERR__INVALID_ARG ||
                             e.code() == UCD_ERR__NOT_SUPPORTED || e.code() == UCD_ERR__OVERFLOW ||
                             e.code() == UCD_ERR__TRUNCATED;
        throw ucdtool::Failure(refused ? Exit::usage : Exit::failed, e.what());
    }
}

// A standard stream that is closed gives its number to the next file that is opened, and messages
// would go into that file. Closed input and output stay unusable here, since /dev/null is opened
// for the other direction; messages are lost.
void occupy_standard_streams() {
    for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(descriptor, F_GETFD) >= 0) continue;
        // This takes the lowest free number.
        const int opened = ::open("/dev/null", descriptor == STDOUT_FILENO ? O_RDONLY : O_WRONLY);
        if (opened != descriptor) std::abort();
    }
}

int run(int argc, char **argv) {
    try {
        ucdtool::Program ucd_program = program();
        std::vector<ucdtool::Command> &commands = ucd_program.commands;
        commands.push_back(ucdtool::completion_command(commands));
        commands.push_back(ucdtool::manual_command(commands));
        const ucdtool::Command *command = ucdtool::read_command_line(argc, argv, ucd_program);
        if (command == nullptr) return static_cast<int>(Exit::success);
        const ucd::Session session;
        run_command(*command);
    } catch (const ucdtool::Failure &e) {
        return fail(e.status(), e.what());
    } catch (const ucdtool::Interrupted &e) {
        (void)fail(Exit::failed, e.what());
        ucdtool::end_by_signal(e.signal());
    } catch (const ucd::Error &e) {
        return fail(Exit::failed, e.what());
    } catch (const std::bad_alloc &) {
        return fail(Exit::failed, "there is not enough memory");
    } catch (const std::exception &e) {
        return fail(Exit::failed, e.what());
    }
    return static_cast<int>(Exit::success);
}

} // namespace

int main(int argc, char **argv) {
    occupy_standard_streams();
    ucdtool::watch_signals();
    return run(argc, argv);
}

// ucd: shows layouts, and uses them on files.

#include "commands/command_line.hpp"
#include "commands/commands.hpp"
#include "failure.hpp"
#include "files/interruption.hpp"

#include <ucd.hpp>

#include <fmt/format.h>

#include <cstdio>
#include <new>
#include <vector>

namespace {

using ucdtool::Exit;

int fail(Exit status, const std::string &message) {
    fmt::print(stderr, "ucd: {}{}", message, message.ends_with('\n') ? "" : "\n");
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
    ucdtool::watch_signals();
    return run(argc, argv);
}

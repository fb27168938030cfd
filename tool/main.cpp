// ucd: see a layout, use it on files.

#include "commands/commands.hpp"
#include "failure.hpp"
#include "files/interruption.hpp"

#include <ucd.hpp>

#include <fmt/format.h>

#include <cstdio>
#include <new>

namespace {

using ucdtool::Exit;

int fail(Exit status, const std::string &message) {
    fmt::print(stderr, "ucd: {}{}", message, message.ends_with('\n') ? "" : "\n");
    return static_cast<int>(status);
}

std::string version() {
    return fmt::format("ucd {}.{}.{}", UCD_VERSION_MAJOR, UCD_VERSION_MINOR, UCD_VERSION_PATCH);
}

int run(int argc, char **argv) {
    CLI::App app("See layouts of noncontiguous data, and use them on files", "ucd");
    // At least one, too: but a name that is none is to be told as such.
    app.require_subcommand(0, 1);
    app.set_version_flag("--version", version());
    app.footer(
        "Type expressions: vector(1024,1,1024,double); see ucd-type(7) or docs/type-language.md.\n"
        "Exit status: 0 success, 1 failure, 2 bad arguments or type, 3 corrupt flattened type;\n"
        "128 and its number for a signal.");
    for (const auto add : {ucdtool::add_describe, ucdtool::add_pack, ucdtool::add_unpack,
                           ucdtool::add_copy, ucdtool::add_info, ucdtool::add_flatten,
                           ucdtool::add_unflatten, ucdtool::add_completion, ucdtool::add_manual})
        add(app);
    try {
        const ucd::Session session;
        app.parse(argc, argv);
        if (app.get_subcommands().empty()) throw CLI::RequiredError::Subcommand(1);
    } catch (const CLI::ParseError &e) {
        const bool asked = e.get_exit_code() == 0; // --help and --version
        app.exit(e);
        return asked ? std::fflush(stdout) != 0 : static_cast<int>(Exit::usage);
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

// ucd info: shows the capabilities of this installation.

#include "commands/commands.hpp"
#include "commands/facts.hpp"
#include "commands/output.hpp"
#include "files/copies.hpp"
#include "language/build.hpp"
#include "language/constructors.hpp"
#include "language/operations.hpp"
#include "language/parse.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cctype>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ucdtool {
namespace {

struct InfoOptions {
    bool json = false;
    std::optional<uint64_t> process;
    std::string file;
};

// A layout for each case in the choice of kernels.
const char *const shapes[] = {
    "contig(4096,double)",
    "vector(4096,1,7,byte)",
    "vector(4096,1,7,short)",
    "vector(4096,1,7,int)",
    "vector(4096,1,7,double)",
    "vector(4096,1,7,c_double_complex)",
    "vector(4096,3,7,double)",
    "vector(4096,100,700,double)",
    "ndarray([64,64],[8,512],double)",
    "ndarray([32,64,64],[65536,1024,16],double)",
    "ndarray([8,32,64,64],[1048576,30000,900,16],double)",
    "indexed_block(1,[0,5,7,20,22,31,50,77],double)",
    "indexed([1,2,1,3,2,5,1,1],[0,5,9,20,25,31,50,77],double)",
    "struct([1,1,1],[0,8,16],[double,char,vector(2000,1,3,int)])",
};

// The environment variables that set defaults for info keys.
const char *const variables[] = {"UCD_BACKENDS",   "UCD_GPU",        "UCD_INBUF",
                                 "UCD_OUTBUF",     "UCD_PEERS",      "UCD_ENGINE",
                                 "UCD_MAX_BLOCKS", "UCD_THREADS",    "UCD_LIST_MEMORY",
                                 "UCD_ZE_CONTEXT", "UCD_CHECK",      "UCD_IGNORE_ENVIRONMENT",
                                 "UCD_LOG_LEVEL",  "UCD_PLUGIN_PATH"};

using Json = nlohmann::ordered_json;

// The predefined types for which a backend supports an operation.
Json types_of(ucd_op_t op, const char *backend) {
    Json names = Json::array();
    for (const PredefinedName &p : predefined_names()) {
        int supported = 0;
        ucd::check(ucd_op_is_supported(op, p.type, backend, &supported));
        if (supported != 0) names.push_back(p.name);
    }
    return names;
}

Json backends() {
    Json list = Json::array();
    int count = 0;
    ucd::check(ucd_backend_count(&count));
    for (int i = 0; i < count; ++i) {
        ucd_backend_desc_t d{};
        d.struct_size = sizeof d;
        ucd::check(ucd_backend_get(i, &d));
        Json j = {{"name", d.name}, {"available", d.available != 0}};
        if (d.available == 0) {
            j["reason"] = d.reason;
            list.push_back(j);
            continue;
        }
        j["devices"] = d.devices;
        j["version"] = d.version;
        for (const OperationName &o : operation_names()) {
            if (o.op == UCD_OP__REPLACE) continue;
            std::string name = o.name;
            for (char &c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
            j["reductions"][name] = types_of(o.op, d.name);
        }
        list.push_back(j);
    }
    return list;
}

Json kernels() {
    Json list = Json::array();
    for (const char *shape : shapes) {
        const ucd::Type type = build(parse(shape));
        std::vector<std::string> chosen = Facts(type).all("kernel");
        // Leave out backends that are not available, which have no kernels.
        std::erase_if(chosen, [](const std::string &line) {
            return line.find(": none, ") != std::string::npos;
        });
        list.push_back({{"type", shape}, {"kernels", chosen}});
    }
    return list;
}

Json everything() {
    Json j;
    int major = 0, minor = 0, patch = 0;
    ucd::check(ucd_version(&major, &minor, &patch));
    j["version"] = fmt::format("{}.{}.{}", major, minor, patch);
    j["built_for"] =
        fmt::format("{}.{}.{}", UCD_VERSION_MAJOR, UCD_VERSION_MINOR, UCD_VERSION_PATCH);
    j["backends"] = backends();
    j["kernels"] = kernels();
    for (const char *name : variables) {
        const char *value = std::getenv(name);
        j["environment"][name] = value != nullptr ? Json(value) : Json();
    }
    return j;
}

std::string in_words(const Json &j) {
    std::string text =
        fmt::format("ucd {}, built for {}\n\nbackends\n", j["version"].get<std::string>(),
                    j["built_for"].get<std::string>());
    for (const Json &b : j["backends"]) {
        const auto name = b["name"].get<std::string>();
        if (!b["available"].get<bool>()) {
            text +=
                fmt::format("  {:<6} not available: {}\n", name, b["reason"].get<std::string>());
            continue;
        }
        text += fmt::format("  {:<6} version {}, devices: {}\n", name,
                            b["version"].get<std::string>(), b["devices"].get<unsigned>());
        std::string reductions;
        for (const auto &[op, types] : b["reductions"].items())
            reductions +=
                fmt::format("{}{} on {}", reductions.empty() ? "" : ", ", op, types.size());
        text += fmt::format("         reductions, on how many of the {} predefined types: {}\n",
                            predefined_names().size(), reductions);
    }
    text += "\nkernels, for layouts of each kind\n";
    for (const Json &k : j["kernels"]) {
        text += fmt::format("  {}\n", k["type"].get<std::string>());
        for (const Json &line : k["kernels"])
            text += fmt::format("    {}\n", line.get<std::string>());
    }
    text += "\nenvironment, the defaults of hints\n";
    for (const auto &[name, value] : j["environment"].items())
        text += fmt::format("  {:<16} {}\n", name,
                            value.is_null() ? "(unset)" : value.get<std::string>());
    return text;
}

// Of a process or a file.
Json copies(const InfoOptions &o) {
    std::vector<std::string> unread;
    Json j = {{"copies", Json::array()}};
    for (const Copy &c : o.process ? copies_in_process(*o.process, unread) : copies_in_file(o.file))
        j["copies"].push_back(
            {{"version", c.version}, {"kind", c.kind}, {"prefix", c.prefix}, {"file", c.file}});
    j["unread"] = unread;
    return j;
}

std::string copies_in_words(const Json &j) {
    std::string text;
    for (const Json &c : j["copies"]) {
        const auto prefix = c["prefix"].get<std::string>();
        text += fmt::format("{:<7} {:<7} {}{}\n", c["version"].get<std::string>(),
                            c["kind"].get<std::string>(), c["file"].get<std::string>(),
                            prefix.empty() ? "" : ", prefix " + prefix);
    }
    for (const Json &file : j["unread"])
        text += fmt::format("cannot read {}\n", file.get<std::string>());
    return text.empty() ? "no copy of libucd 1.0 or later\n" : text;
}

} // namespace

Command info_command() {
    const auto o = std::make_shared<InfoOptions>();
    return {
        "info",
        "Show version, backends, kernels and environment, or copies of libucd",
        {
            {"--json", &o->json, "print JSON"},
            {"--process", &o->process, "list the copies of libucd in the process of this number"},
            {.names = "--file",
             .target = &o->file,
             .description = "list the copies of libucd in a program or library",
             .offers = CommandArgument::Offers::files,
             .excludes = {"--process"}},
        },
        [o] {
            const bool of_copies = o->process || !o->file.empty();
            const Json all = of_copies ? copies(*o) : everything();
            print(o->json ? all.dump(2) + "\n" : of_copies ? copies_in_words(all) : in_words(all));
        },
        {"ucd info", "ucd info --json", "ucd info --process $$"},
    };
}

} // namespace ucdtool

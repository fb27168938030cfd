#include "plugin_check.h"

#include <cstddef>
#include <cstring>

namespace ucd {
namespace {

// All members of a table but the first are functions.
template <class Table>
std::string find_wrong(const Table *table, const char *name) {
    if (table == nullptr) return std::string("it has no ") + name;
    if (table->struct_size != sizeof *table)
        return std::string(name) + " has " + std::to_string(table->struct_size) +
               " bytes in it; libucd has " + std::to_string(sizeof *table);
    for (std::size_t at = sizeof(void *); at < sizeof *table; at += sizeof(void *)) {
        void *function;
        std::memcpy(&function, reinterpret_cast<const char *>(table) + at, sizeof function);
        if (function == nullptr)
            return std::string("its ") + name + " have no function at byte " + std::to_string(at);
    }
    return "";
}

} // namespace

std::string find_wrong_table(const Plugin &plugin) {
    if (plugin.contract != contract_version)
        return "its answer has version " + std::to_string(plugin.contract) +
               " of the plugin contract; libucd has " + std::to_string(contract_version);
    if (plugin.struct_size != sizeof plugin)
        return "Plugin has " + std::to_string(plugin.struct_size) + " bytes in it; libucd has " +
               std::to_string(sizeof plugin);
    if (plugin.create == nullptr) return "it has no function create";
    std::string wrong = find_wrong(plugin.backend, "BackendFunctions");
    if (wrong.empty()) wrong = find_wrong(plugin.plan, "KernelPlanFunctions");
    if (wrong.empty()) wrong = find_wrong(plugin.event, "EventFunctions");
    if (wrong.empty()) wrong = find_wrong(plugin.prepared_launch, "PreparedLaunchFunctions");
    return wrong;
}

} // namespace ucd

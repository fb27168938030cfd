#ifndef UCD_NO_PLUGINS

#include "plugin_check.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>

namespace ucd {
namespace {

// The names of a table's functions.
template <class Table>
constexpr int names_of = 0;
#define UCD_OBJECT(Object)                                                                         \
    template <>                                                                                    \
    constexpr const char *names_of<Object##Functions>[] = {"last_error",
#define UCD_FUNCTION(result, name, ...) #name,
#include "function_list.h"

template <class Table>
std::string find_wrong(const Table *table, const char *name) {
    constexpr auto &names = names_of<Table>;
    // The size of the table and padding, and the functions.
    std::array<void *, 1 + std::size(names)> words;
    static_assert(sizeof words == sizeof *table, "a member is not listed");
    if (table == nullptr) return std::string("it has no ") + name;
    if (table->struct_size != sizeof *table)
        return std::string(name) + " has " + std::to_string(table->struct_size) +
               " bytes in it; libucd has " + std::to_string(sizeof *table);
    std::memcpy(&words, table, sizeof words);
    const auto missing = std::find(words.begin() + 1, words.end(), nullptr);
    if (missing != words.end())
        return std::string("its ") + name + " have no function " +
               names[missing - words.begin() - 1];
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

#endif // UCD_NO_PLUGINS

#ifndef UCD_NO_PLUGINS

#include "plugin_check.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <iterator>

namespace ucd {
namespace {

// More than a table of any later version of UCD has.
constexpr std::size_t largest_table = 16 * sizeof(BackendFunctions);

// The names of a table's functions.
template <class Table>
constexpr int names_of = 0;
#define UCD_OBJECT(Object)                                                                         \
    template <>                                                                                    \
    constexpr const char *names_of<Object##Functions>[] = {"last_error",
#define UCD_FUNCTION(result, name, ...) #name,
#include "function_list.h"

// A table may have from `least` to `most` bytes. Of what is beyond those that libucd knows, it
// calls nothing.
template <class Table>
std::string find_wrong(const Table *table, const char *name, std::size_t least = sizeof(Table),
                       std::size_t most = sizeof(Table)) {
    constexpr auto &names = names_of<Table>;
    // The size of the table and padding, and the functions.
    std::array<void *, 1 + std::size(names)> words;
    static_assert(sizeof words == sizeof *table, "a member is not listed");
    if (table == nullptr) return std::string("it has no ") + name;
    if (table->struct_size < least || table->struct_size > most ||
        table->struct_size % sizeof(void *) != 0)
        return std::string(name) + " has " + std::to_string(table->struct_size) +
               " bytes in it; libucd has " + std::to_string(sizeof *table);
    const std::size_t known = std::min<std::size_t>(table->struct_size, sizeof words);
    std::memcpy(&words, table, known);
    const auto end = words.begin() + static_cast<std::ptrdiff_t>(known / sizeof(void *));
    const auto missing = std::find(words.begin() + 1, end, nullptr);
    if (missing != end)
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
    if (plugin.version == nullptr) return "it has no version";
    // Without its first functions, an object cannot be named in messages, or be destroyed.
    std::string wrong = find_wrong(plugin.backend, "BackendFunctions",
                                   offsetof(BackendFunctions, probe), largest_table);
    if (wrong.empty()) wrong = find_wrong(plugin.plan, "KernelPlanFunctions");
    if (wrong.empty()) wrong = find_wrong(plugin.event, "EventFunctions");
    if (wrong.empty()) wrong = find_wrong(plugin.prepared_launch, "PreparedLaunchFunctions");
    return wrong;
}

} // namespace ucd

#endif // UCD_NO_PLUGINS

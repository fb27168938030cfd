#include "plugin_check.h"

#include <array>
#include <cstddef>
#include <cstring>
#include <span>

namespace ucd {
namespace {

// A member of a table of functions.
struct Member {
    const char *name;
    std::size_t at;
};
constexpr Member member(const char *name, std::size_t at) {
    return {name, at};
}

#define UCD_MEMBER(name) member(#name, offsetof(Table, name))

template <class Table>
struct Members;

template <>
struct Members<BackendFunctions> {
    using Table = BackendFunctions;
    static constexpr std::array all{
        UCD_MEMBER(destroy),
        UCD_MEMBER(name),
        UCD_MEMBER(probe),
        UCD_MEMBER(inspect),
        UCD_MEMBER(use_context),
        UCD_MEMBER(find),
        UCD_MEMBER(hides_memory),
        UCD_MEMBER(check_unknown),
        UCD_MEMBER(reaches),
        UCD_MEMBER(supports),
        UCD_MEMBER(plan),
        UCD_MEMBER(launch),
        UCD_MEMBER(launch_made),
        UCD_MEMBER(device_of),
        UCD_MEMBER(launch_in),
        UCD_MEMBER(launch_made_in),
        UCD_MEMBER(prepare_launch),
        UCD_MEMBER(launch_prepared),
        UCD_MEMBER(launch_prepared_in),
        UCD_MEMBER(prepare),
        UCD_MEMBER(takes),
        UCD_MEMBER(copy),
        UCD_MEMBER(allocate),
        UCD_MEMBER(release),
        UCD_MEMBER(export_memory),
        UCD_MEMBER(open_memory),
        UCD_MEMBER(export_fds),
        UCD_MEMBER(open_fds),
        UCD_MEMBER(close_memory),
        UCD_MEMBER(device_plan),
    };
};
template <>
struct Members<KernelPlanFunctions> {
    using Table = KernelPlanFunctions;
    static constexpr std::array all{
        UCD_MEMBER(destroy),
        UCD_MEMBER(describe),
        UCD_MEMBER(memory),
        UCD_MEMBER(is_needed_by),
    };
};
template <>
struct Members<EventFunctions> {
    using Table = EventFunctions;
    static constexpr std::array all{
        UCD_MEMBER(destroy),
        UCD_MEMBER(poll),
    };
};
template <>
struct Members<PreparedLaunchFunctions> {
    using Table = PreparedLaunchFunctions;
    static constexpr std::array all{
        UCD_MEMBER(destroy),
    };
};
#undef UCD_MEMBER

template <class Table>
std::string find_wrong(const Table *table, const char *name) {
    constexpr auto &members = Members<Table>::all;
    static_assert(sizeof(Table) == sizeof(void *) * (1 + members.size()), "a member is not listed");
    if (table == nullptr) return std::string("it has no ") + name;
    if (table->struct_size != sizeof *table)
        return std::string(name) + " has " + std::to_string(table->struct_size) +
               " bytes in it; libucd has " + std::to_string(sizeof *table);
    for (const Member &member : members) {
        void *function;
        std::memcpy(&function, reinterpret_cast<const char *>(table) + member.at, sizeof function);
        if (function == nullptr)
            return std::string("its ") + name + " have no function " + member.name;
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

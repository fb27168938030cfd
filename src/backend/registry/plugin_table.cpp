#ifndef UCD_NO_PLUGINS

#include "plugin_table.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace ucd {
namespace {

// A table that libucd has made, which lives as long as its backend.
struct CompletedTable : BackendFunctions {
    const Plugin *plugin;
};

const Plugin &plugin_of_completed(const Backend &backend) {
    return *static_cast<const CompletedTable &>(backend.functions()).plugin;
}

// Words the message in the plugin, from which the caller fetches it.
int fail_missing(const Backend &backend) {
    std::snprintf(backend.functions().last_error()->text, sizeof LastError::text,
                  "backend %s cannot do this: its plugin is of UCD %s, and libucd of %s",
                  backend.name(), plugin_of_completed(backend).version, ucd_version);
    return UCD_ERR__NOT_SUPPORTED;
}

// Becomes any function of a table. Only Backend's are called, since only that table may be shorter.
struct Missing {
    template <class Answer, class Object, class... A>
    using FunctionPointer = Answer (*)(Object *, A...) noexcept;

    template <class Answer, class Object, class... A>
    constexpr operator FunctionPointer<Answer, Object, A...>() const {
        return [](Object *object, A...) noexcept -> Answer {
            // A code is the only int that a function returns.
            if constexpr (std::is_same_v<Answer, int> && std::is_base_of_v<Backend, Object>)
                return fail_missing(*object);
            else
                return Answer();
        };
    }
};

template <class Functions>
constexpr int missing_functions = 0;
#define UCD_OBJECT(Object)                                                                         \
    template <>                                                                                    \
    constexpr Object##Functions missing_functions<Object##Functions> {                             \
        .struct_size = sizeof(Object##Functions), .last_error = own_last_error,
#define UCD_FUNCTION(result, name, ...) .name = Missing(),
#include "function_list.h"

} // namespace

void complete_table(const Plugin &plugin, Backend &backend) {
    const BackendFunctions &known = *plugin.backend;
    const bool knows_device_plans = plugin.device_plan_version == device_plan_version;
    if (known.struct_size >= sizeof known && knows_device_plans) return;
    constexpr BackendFunctions answers = missing_functions<BackendFunctions>;
    auto *const table = new CompletedTable{answers, &plugin};
    std::memcpy(static_cast<BackendFunctions *>(table), &known,
                std::min<std::size_t>(known.struct_size, sizeof known));
    if (!knows_device_plans) table->device_plan = answers.device_plan;
    table->destroy = [](Backend *object) noexcept {
        const auto *own = static_cast<const CompletedTable *>(&object->functions());
        own->plugin->backend->destroy(object);
        delete own;
    };
    backend.use(*table);
}

} // namespace ucd

#endif // UCD_NO_PLUGINS

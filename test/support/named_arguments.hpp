// The arguments of a call that is to be refused, each spoilt in its turn.
#pragma once

#include <array>
#include <tuple>
#include <type_traits>
#include <utility>

namespace ucdtest {

// For each argument that has a name, calls visit(name, with, type): with(value) calls the function
// with that value in place of the argument, whose type is type::type. The others are good.
template <class... Parameters, class Visit>
void visit_named(int (*function)(Parameters...),
                 const std::array<const char *, sizeof...(Parameters)> &names, Visit visit,
                 const std::type_identity_t<Parameters> &...arguments) {
    using Arguments = std::tuple<Parameters...>;
    const Arguments good(arguments...);
    const auto visit_one = [&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
        using Argument = std::tuple_element_t<I, Arguments>;
        const auto with = [&](Argument value) {
            Arguments changed = good;
            std::get<I>(changed) = value;
            return std::apply(function, changed);
        };
        if (names[I] != nullptr) visit(names[I], with, std::type_identity<Argument>{});
    };
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        (visit_one(std::integral_constant<std::size_t, I>{}), ...);
    }
    (std::index_sequence_for<Parameters...>{});
}

} // namespace ucdtest

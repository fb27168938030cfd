#include "preload/repetition.h"

#include <cstddef>

namespace ucd_mpi {
namespace {

constexpr std::uintptr_t max_runs = 256;

bool same(const ucd_element_run_t &a, const ucd_element_run_t &b) {
    return a.element == b.element && a.elements == b.elements;
}

} // namespace

bool find_repetition(ucd_type_t type, Repetition &repetition) {
    std::vector<ucd_element_run_t> window(4 * max_runs);
    std::uintptr_t got = 0, total = 0;
    const auto read = [&](std::uintptr_t first) {
        return ucd_get_element_runs(1, type, first, window.data(), window.size(), &got, &total) ==
               UCD_SUCCESS;
    };
    if (!read(0)) return false;
    const std::vector<ucd_element_run_t> first(window.begin(),
                                               window.begin() + static_cast<std::ptrdiff_t>(got));
    std::uintptr_t period = 1;
    const auto repeats = [&] {
        for (std::uintptr_t i = period; i < first.size(); ++i)
            if (!same(first[i], first[i - period])) return false;
        return total % period == 0;
    };
    while (period <= max_runs && period < total && !repeats()) ++period;
    if (period > max_runs || period > first.size()) return false;
    for (std::uintptr_t at = first.size(); at < total; at += got) {
        if (!read(at) || got == 0) return false;
        for (std::uintptr_t i = 0; i < got; ++i)
            if (!same(window[i], first[(at + i) % period])) return false;
    }
    repetition.runs.assign(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(period));
    repetition.times = total / period;
    return true;
}

} // namespace ucd_mpi

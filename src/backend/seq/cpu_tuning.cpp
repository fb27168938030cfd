#include "cpu_tuning.h"

#if defined(__SSE2__)
#include <cpuid.h>
#include <cstring>
#endif

namespace ucd::seq {

const CpuTuning &tuning_of(bool is_amd, unsigned family) {
    if (is_amd && family == 25) return amd_family_25;
    if (is_amd && family == 26) return amd_family_26;
    return neutral_cpu;
}

namespace {

// performance only: the figures choose between ways to move the same bytes
const CpuTuning &find() {
#if defined(__SSE2__)
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(0, &a, &b, &c, &d) == 0) return neutral_cpu;
    const unsigned maker[] = {b, d, c};
    const bool is_amd = std::memcmp(maker, "AuthenticAMD", sizeof maker) == 0;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0) return neutral_cpu;
    const unsigned family = a >> 8 & 15, extended = a >> 20 & 255;
    return tuning_of(is_amd, family == 15 ? family + extended : family);
#else
    return neutral_cpu;
#endif
}

} // namespace

const CpuTuning *const cpu_tuning = &find();

} // namespace ucd::seq

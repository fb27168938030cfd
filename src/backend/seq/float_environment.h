// Conversions and reductions give the same bits in every thread: whatever its rounding mode is,
// whether it flushes subnormal numbers to zero, and whether floating-point exceptions trap. Long
// double of the x87 unit is the exception: that unit keeps the thread's rounding mode.
#pragma once

#if !defined(__SSE2__)
#include <cfenv>
#endif

namespace ucd::seq {

// Sets the default floating-point environment, and restores the thread's own one.
class DefaultFloatEnvironment {
public:
    DefaultFloatEnvironment(const DefaultFloatEnvironment &) = delete;
    DefaultFloatEnvironment &operator=(const DefaultFloatEnvironment &) = delete;

#if defined(__SSE2__)
    DefaultFloatEnvironment() : before_(__builtin_ia32_stmxcsr()) {
        __builtin_ia32_ldmxcsr(all_masked);
    }
    ~DefaultFloatEnvironment() {
        __builtin_ia32_ldmxcsr(before_);
    }

private:
    static constexpr unsigned all_masked = 0x1f80; // round to nearest, no exception traps
    const unsigned before_;
#else
    DefaultFloatEnvironment() {
        std::fegetenv(&before_);
        std::fesetenv(FE_DFL_ENV);
    }
    ~DefaultFloatEnvironment() {
        std::fesetenv(&before_);
    }

private:
    std::fenv_t before_;
#endif
};

} // namespace ucd::seq

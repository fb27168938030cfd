#include "harness/run.hpp"

#include <fmt/core.h>

#include <exception>
#include <stdexcept>

namespace bench {

using SteadyClock = std::chrono::steady_clock;

Run::Run(const Settings &settings, Company *company)
    : effort(settings.effort), progress(company != nullptr && company->seat() != 0),
      settings_(settings), company_(company),
      end_(SteadyClock::now() + std::chrono::duration_cast<std::chrono::nanoseconds>(
                                    std::chrono::duration<double>(settings.budget))) {}

bool Run::time_is_left(const std::string &name) {
    const bool here = SteadyClock::now() < end_;
    const bool left = company_ ? company_->agree(here ? 1 : 0) != 0 : here;
    if (!left && !told_ && !progress.silent())
        fmt::print("the time is used up: \"{}\" and what follows is left out\n", name);
    told_ = told_ || !left;
    return left;
}

void Run::row(const std::string &name, const std::function<void()> &measure) {
    if (!wants(name) || !time_is_left(name)) return;
    progress.say(name);
    if (company_) return measure();
    try {
        measure();
    } catch (const std::exception &e) {
        progress.clear();
        fmt::print("{}: failed: {}\n", name, e.what());
        ++failures_;
    }
}

Comparison Run::measure(const std::string &section, const std::string &subject,
                        const std::string &operation, std::uint64_t bytes,
                        std::span<const Contender> contenders, unsigned parts) {
    std::vector<Timing> timings = time_in_turns(contenders, effort, company_);
    for (std::size_t i = 0; i < contenders.size(); ++i) {
        for (double &seconds : timings[i].seconds) seconds /= parts;
        report_.add(
            {section, subject, operation, contenders[i].name, bytes, std::move(timings[i])});
    }
    return Comparison(std::span(report_.results()).last(contenders.size()));
}

void Run::check_none(std::uint64_t wrong_bytes, const std::string &what) const {
    const std::uint64_t all = company_ ? company_->sum(wrong_bytes) : wrong_bytes;
    if (all > 0)
        throw std::runtime_error(
            fmt::format("{}: {} bytes are wrong, {} of them here", what, all, wrong_bytes));
}

void Run::write(const Facts &facts) const {
    if (progress.silent()) return;
    if (!settings_.csv.empty()) report_.write_csv(settings_.csv);
    if (!settings_.json.empty()) report_.write_json(settings_.json, facts);
}

} // namespace bench

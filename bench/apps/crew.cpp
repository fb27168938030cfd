#include "apps/sections.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <stdexcept>

namespace bench::apps {

std::string Crew::devices() const {
    if (!place.on_device()) return "of one host";
    std::vector<int> numbers;
    for (unsigned seat = 0; seat < peers.seats(); ++seat)
        numbers.push_back(options.devices[seat % options.devices.size()]);
    return fmt::format("on device {}", fmt::join(numbers, ", "));
}

void Crew::agree_on(std::uint64_t wrong_bytes, const std::string &what) {
    const std::uint64_t all = peers.sum(wrong_bytes);
    if (all > 0)
        throw std::runtime_error(
            fmt::format("{}: {} bytes are wrong, {} of them here", what, all, wrong_bytes));
}

std::vector<Timing> Crew::measure(const std::string &section, const std::string &subject,
                                  const std::string &operation, std::uint64_t bytes,
                                  std::span<const Way> ways, unsigned parts) {
    std::vector<Timing> timings = time_in_turns(peers, ways, options.effort);
    for (std::size_t i = 0; i < ways.size(); ++i) {
        for (double &seconds : timings[i].seconds) seconds /= parts;
        report.add({section, subject, operation, ways[i].name, bytes, timings[i]});
    }
    return timings;
}

} // namespace bench::apps

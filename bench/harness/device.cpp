#include "harness/device.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace bench {

Work blocking(Device &device, std::function<void()> start) {
    return repeated([&device, start = std::move(start)] {
        start();
        device.wait();
    });
}

Work copy_work(Device &device, char *to, const char *from, std::size_t bytes) {
    return repeated([=, &device] { device.copy(to, from, bytes); });
}

std::unique_ptr<Device> open_device(const std::string &name) {
    if (name == "host") return open_host();
    const std::size_t colon = std::min(name.find(':'), name.size());
    int ordinal = -1;
    const char *const end = name.data() + name.size();
    if (colon + 1 < name.size() &&
        std::from_chars(name.data() + colon + 1, end, ordinal).ptr == end && ordinal >= 0)
        return open_gpu(name.substr(0, colon), ordinal);
    throw std::runtime_error("\"" + name + "\" is no memory: host or cuda:N");
}

} // namespace bench

// Memory that a test prepares and checks on the host, and that MPI is given there or on a device.
#pragma once

#include <cstddef>
#include <vector>

namespace ucdtest {

// UCD_TEST_DEVICE names it as the hints of ucd.h do. The host cannot read its memory.
bool has_device();

class Placed {
public:
    // Copied to the device, if it is wanted there and if there is one; to another one by its name.
    Placed(void *host, std::size_t bytes, bool on_device, const char *other_device = nullptr);
    Placed(std::vector<std::byte> &bytes, bool on_device)
        : Placed(bytes.data(), bytes.size(), on_device) {}
    Placed(Placed &&other) noexcept;
    Placed &operator=(Placed &&) = delete;
    ~Placed();

    std::byte *data() const { return device_ != nullptr ? device_ : host_; }
    void store() const; // to the device
    void fetch() const; // to the host

private:
    std::byte *host_ = nullptr, *device_ = nullptr;
    std::size_t bytes_ = 0;
};

} // namespace ucdtest

// Kernels as the backend has them, with native code besides: that of another device for words of 8
// and 16 bytes, behind which comes the test driver's for words of 16 bytes.
#include "kernel_modules.h"
#include "support/ze_driver/native.h"

#include <iterator>
#include <string_view>
#include <vector>

namespace ucd::ze {

// The backend's table, which has this name here.
std::span<const KernelModule> modules_of_spirv();

namespace {

using Bytes = std::vector<unsigned char>;

std::vector<KernelModule> with_native_code() {
    static const Bytes foreign(1000, 1);
    static std::vector<Bytes> own;
    static std::vector<Code> natives;
    const std::span<const KernelModule> all = modules_of_spirv();
    own.reserve(all.size()); // nothing moves
    natives.reserve(2 * all.size());
    std::vector<KernelModule> changed(all.begin(), all.end());
    for (KernelModule &module : changed) {
        const std::string_view name = module.kernel;
        const Code *first = natives.data() + natives.size();
        if (name.ends_with("_w16") || name.ends_with("_w8")) natives.emplace_back(foreign);
        if (name.ends_with("_w16")) {
            Bytes &bytes = own.emplace_back(std::begin(zedriver::native_head),
                                            std::end(zedriver::native_head));
            bytes.insert(bytes.end(), module.spirv.begin(), module.spirv.end());
            natives.emplace_back(bytes);
        }
        module.natives = {first, natives.data() + natives.size()};
    }
    return changed;
}

} // namespace

std::span<const KernelModule> kernel_modules() {
    static const std::vector<KernelModule> modules = with_native_code();
    return modules;
}

} // namespace ucd::ze

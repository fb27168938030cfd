// Memory of other processes is opened while the host's memory runs out: none is open that nobody
// can close.
#include "support/catch.hpp"

#include "backend.h"
#include "support/device_memory.h"

#include "c_api/allocations.hpp"
#include "support/host_vendor/capture.h"
#include "support/moves/device_moves.hpp"

#include <ucd_memory.h>

#include <memory>
#include <new>

namespace hostgpu_memory_exhaustion_test {

using namespace ucdtest;

TEST_CASE("each allocation fails of a call that opens memory") {
    DeviceSession session;
    void *memory = nullptr;
    REQUIRE(ucd_memory_alloc(hint_for(Memory::device0).c_str(), UCD_MEMORY__DEVICE, 1000,
                             &memory) == UCD_SUCCESS);
    {
        const ucd::Owner<ucd::Backend> backend = ucd::hostgpu::make_backend();
        ucd::MemoryHandle handle;
        REQUIRE(backend->export_memory(memory, 1000, handle).ok());
        std::size_t failed = 0;
        for (bool none_failed = false; !none_failed; ++failed) {
            ucd::DeviceMemory memories; // has no entry yet
            void *address = nullptr;
            bool opened = false;
            fail_allocation(failed + 1);
            try {
                opened = memories.open(*backend, 0, handle, 1000, address).ok();
            } catch (const std::bad_alloc &) {
                CHECK(address == nullptr);
            }
            none_failed = end_failing();
            CHECK(opened == none_failed);
            CHECK(mock::counts.live_opens == (opened ? 1 : 0));
            if (opened) CHECK(memories.close(address).ok());
        }
        CHECK(failed > 2);
    }
    CHECK(ucd_memory_free(memory) == UCD_SUCCESS);
}

} // namespace hostgpu_memory_exhaustion_test

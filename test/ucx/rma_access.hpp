// What tests of direct access to windows share.
#pragma once

#include "api/object.h"
#include "rma/access_page.h"
#include "ucx/rma_operation.hpp"

#include <algorithm>
#include <random>
#include <unistd.h>

namespace ucdtest {

inline const std::initializer_list<std::pair<std::string, std::string>> trusting = {
    {"ucd.ucx.direct", "yes"}};

// Whether an operation is done although the target makes no progress.
inline bool is_direct(RmaPair &pair, What what, RmaTestOperation &operation,
                      const ucd_ucx_window_key_t *key, std::intptr_t displacement = 0) {
    ok(operation.start(what, pair.a, key, displacement), "operation");
    for (int i = 0; i < 3; ++i) pair.a.progress();
    const bool direct = operation.done();
    pair.until([&] { return operation.done(); });
    return direct;
}

// Gets until they are direct, or for some time.
inline bool becomes_direct(RmaPair &pair, const ucd_ucx_window_key_t *key, std::size_t ints) {
    for (int i = 0; i < 200; ++i) {
        RmaTestOperation get(ints);
        if (is_direct(pair, What::get, get, key)) return true;
        for (int j = 0; j < 20; ++j) pair.progress();
        ::usleep(100);
    }
    return false;
}

class AllocatedWindow {
public:
    AllocatedWindow(RmaSide &side, std::size_t n) : side_(side) {
        void *base = nullptr;
        ok(ucd_ucx_window_allocate(side.rma, n * sizeof(int), UCD_INFO__NULL, &base, &handle),
           "ucd_ucx_window_allocate");
        memory = static_cast<int *>(base);
        ok(ucd_ucx_window_key(handle, &key), "ucd_ucx_window_key");
    }
    ~AllocatedWindow() { end(); }
    AllocatedWindow(const AllocatedWindow &) = delete;
    AllocatedWindow &operator=(const AllocatedWindow &) = delete;
    void end() {
        for (int i = 0; handle != nullptr && i < 100000; ++i) {
            if (ucd_ucx_window_destroy(&handle) == UCD_SUCCESS) return;
            side_.progress();
        }
    }

    int *memory = nullptr;
    ucd_ucx_window_t handle = UCD_UCX_WINDOW__NULL;
    ucd_ucx_window_key_t key = {};

private:
    RmaSide &side_;
};

// The access page that an origin shares with the owner.
inline std::unique_ptr<ucd_ucx::SharedMemory> access_page(RmaSide &origin) {
    const ucd_ucx::Link *const link = origin.rma->engine.links.to_owner(origin.ep());
    for (uint64_t number = 0; number < 8; ++number)
        if (auto page =
                ucd_ucx::SharedMemory::open(link->passed(number), ucd_ucx::rma::AccessPage::bytes))
            return page;
    return nullptr;
}

// Blocks of ints at increasing displacements, and where each int is.
struct Blocks {
    std::vector<std::intptr_t> lengths, displacements;
    std::vector<std::size_t> places;
    ucd_type_t type = UCD_TYPE__NULL;
    Blocks(std::mt19937 &random, std::size_t ints, std::size_t longest, std::size_t gap) {
        std::size_t at = random() % 10;
        while (places.size() < ints) {
            const std::size_t length = std::min(1 + random() % longest, ints - places.size());
            lengths.push_back(static_cast<std::intptr_t>(length));
            displacements.push_back(static_cast<std::intptr_t>(at));
            for (std::size_t i = 0; i < length; ++i) places.push_back(at + i);
            at += length + random() % gap;
        }
        ok(ucd_create_indexed(static_cast<std::intptr_t>(lengths.size()), lengths.data(),
                              displacements.data(), UCD_TYPE__INT, UCD_INFO__NULL, &type),
           "indexed");
    }
    ~Blocks() { (void)ucd_free(&type); }
    Blocks(const Blocks &) = delete;
    Blocks &operator=(const Blocks &) = delete;
    std::size_t end() const { return places.back() + 1; }
};

} // namespace ucdtest

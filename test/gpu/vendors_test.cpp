// The backends of several vendors in one process, as plugins: whose an address is, what each moves,
// and that one which fails does not keep the others from working. Also where two of them are for
// the same device (HIP for NVIDIA's GPUs).
#include "support/catch.hpp"

#include "support/keys.hpp"
#include "support/random/random_cases.hpp"
#include "vendor.hpp"

#include <ucd.h>

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

// UCD_TEST_VENDORS: VENDOR(name) for each, in the order in which their backends are asked whose an
// address is.
#define VENDOR(name)                                                                               \
    namespace ucdtest::name {                                                                      \
    extern const Vendor vendor;                                                                    \
    }
UCD_TEST_VENDORS
#undef VENDOR

namespace vendors_test {

using ucdtest::Case;
using ucdtest::Rng;
using ucdtest::Vendor;

namespace {

const std::vector<const Vendor *> vendors = {
#define VENDOR(name) &ucdtest::name::vendor,
    UCD_TEST_VENDORS
#undef VENDOR
};

void check(int rc) {
    if (rc != UCD_SUCCESS) throw std::runtime_error(ucd_last_error());
}

// The library as it starts with these backends. Memory of the vendors' own outlives it.
class Library {
public:
    explicit Library(const std::string &backends) {
        check(ucd_finalize());
        ucdtest::Keys info;
        if (!backends.empty()) info.set("ucd.backends", backends);
        check(ucd_init(info.get()));
    }
    ~Library() {
        CHECK(ucd_finalize() == UCD_SUCCESS);
        CHECK(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
    }
    Library(const Library &) = delete;
    Library &operator=(const Library &) = delete;
};

// With all of them, in either order, and with the default.
std::vector<std::string> all_orders() {
    const auto named = [](auto first, auto last) {
        std::string names;
        for (; first != last; ++first)
            names.append(names.empty() ? "" : ",").append((*first)->name);
        return names;
    };
    return {named(vendors.begin(), vendors.end()), named(vendors.rbegin(), vendors.rend()), ""};
}

std::string device_of(const Vendor &vendor) {
    return std::string(vendor.name) + ":0";
}

ucd_backend_desc_t backend(const std::string &name) {
    int count = 0;
    check(ucd_backend_count(&count));
    for (int i = 0; i < count; ++i) {
        ucd_backend_desc_t desc{};
        desc.struct_size = sizeof desc;
        check(ucd_backend_get(i, &desc));
        if (desc.name == name) return desc;
    }
    throw std::runtime_error("there is no backend " + name);
}

std::string memory_of(const void *address) {
    char text[32];
    std::uintptr_t needed = 0;
    check(ucd_get_memory(address, 1, UCD_TYPE__BYTE, UCD_INFO__NULL, text, sizeof text, &needed));
    return text;
}

// Buffers -------------------------------------------------------------

enum class Kind { pageable, pinned, device };

class Buffer {
public:
    Buffer(const Vendor &vendor, Kind kind, std::size_t bytes)
        : vendor_(vendor), kind_(kind), pageable_(kind == Kind::pageable ? bytes : 0),
          bytes_(bytes) {
        address_ = kind == Kind::device   ? vendor.allocate_device(bytes)
                   : kind == Kind::pinned ? vendor.allocate_pinned(bytes)
                                          : pageable_.data();
    }
    ~Buffer() {
        if (kind_ == Kind::device) vendor_.free_device(address_);
        if (kind_ == Kind::pinned) vendor_.free_pinned(address_);
    }
    Buffer(const Buffer &) = delete;
    Buffer &operator=(const Buffer &) = delete;

    void write(const std::vector<int> &values) { vendor_.write(address_, values.data(), bytes_); }
    std::vector<int> read() const {
        std::vector<int> values(bytes_ / sizeof(int));
        vendor_.read(values.data(), address_, bytes_);
        return values;
    }
    int *address() const { return static_cast<int *>(address_); }
    Kind kind() const { return kind_; }
    // As its own vendor's backend says it, and as a hint.
    std::string memory() const {
        return kind_ == Kind::device   ? device_of(vendor_)
               : kind_ == Kind::pinned ? "pinned"
                                       : "host";
    }

private:
    const Vendor &vendor_;
    const Kind kind_;
    std::vector<char> pageable_;
    std::size_t bytes_;
    void *address_ = nullptr;
};

Buffer random_buffer(Rng &rng, std::size_t ints) {
    const unsigned kind = static_cast<unsigned>(rng.below(4));
    return {*rng.pick(vendors),
            kind == 0   ? Kind::pageable
            : kind == 1 ? Kind::pinned
                        : Kind::device,
            ints * sizeof(int)};
}

// Moves ---------------------------------------------------------------

// Blocks of ints, and a list of the same.
struct Layout {
    explicit Layout(Rng &rng)
        : count(static_cast<std::size_t>(rng.between(1, 3000))),
          block(static_cast<std::size_t>(rng.between(1, 9))),
          stride(block + static_cast<std::size_t>(rng.between(0, 5))) {
        if (rng.chance(50)) {
            check(ucd_create_vector(
                static_cast<std::intptr_t>(count), static_cast<std::intptr_t>(block),
                static_cast<std::intptr_t>(stride), UCD_TYPE__INT, UCD_INFO__NULL, &type));
            return;
        }
        std::vector<std::intptr_t> displacements;
        for (std::size_t i = 0; i < count; ++i)
            displacements.push_back(static_cast<std::intptr_t>(i * stride));
        check(ucd_create_indexed_block(static_cast<std::intptr_t>(count),
                                       static_cast<std::intptr_t>(block), displacements.data(),
                                       UCD_TYPE__INT, UCD_INFO__NULL, &type));
    }
    ~Layout() { (void)ucd_free(&type); }
    Layout(const Layout &) = delete;
    Layout &operator=(const Layout &) = delete;

    std::size_t packed() const { return count * block; }
    std::size_t spread() const { return count * stride; }
    // Of the i-th packed int.
    std::size_t place(std::size_t i) const { return i / block * stride + i % block; }

    std::size_t count, block, stride;
    ucd_type_t type = UCD_TYPE__NULL;
};

std::vector<int> random_ints(Rng &rng, std::size_t count) {
    std::vector<int> values(count);
    for (int &value : values) value = static_cast<int>(rng.between(-1000000, 1000000));
    return values;
}

struct Move {
    explicit Move(Case &one)
        : rng(one.rng()), layout(rng), packs(rng.chance(50)), sums(rng.chance(30)),
          in(random_buffer(rng, packs ? layout.spread() : layout.packed())),
          out(random_buffer(rng, packs ? layout.packed() : layout.spread())) {
        const std::vector<int> from = random_ints(rng, packs ? layout.spread() : layout.packed());
        wanted = random_ints(rng, packs ? layout.packed() : layout.spread());
        in.write(from);
        out.write(wanted);
        for (std::size_t i = 0; i < layout.packed(); ++i) {
            const std::size_t place = layout.place(i);
            int &to = packs ? wanted[i] : wanted[place];
            to = (sums ? to : 0) + (packs ? from[place] : from[i]);
        }
        // A hint has the memory's vendor do the work, and not who would be asked first. Pinned
        // memory is its vendor's only, which no hint says.
        if (in.kind() != Kind::pinned && rng.chance(60)) hints.set("ucd.inbuf", in.memory());
        if (out.kind() != Kind::pinned && rng.chance(60)) hints.set("ucd.outbuf", out.memory());
    }
    void start(Case &one) {
        std::uintptr_t bytes = 0;
        const std::size_t size = layout.packed() * sizeof(int);
        const ucd_op_t op = sums ? UCD_OP__SUM : UCD_OP__REPLACE;
        one.succeed(packs ? ucd_ipack(in.address(), 1, layout.type, 0, out.address(), size, &bytes,
                                      hints.get(), op, &request)
                          : ucd_iunpack(in.address(), size, out.address(), 1, layout.type, 0,
                                        &bytes, hints.get(), op, &request),
                    packs ? "ucd_ipack" : "ucd_iunpack");
    }
    void finish(Case &one) {
        one.succeed(ucd_wait(&request), "ucd_wait");
        if (out.read() != wanted)
            one.fail("wrong data: ", packs ? "pack" : "unpack", " from ", in.memory(), " to ",
                     out.memory());
    }

    Rng &rng;
    Layout layout;
    bool packs, sums;
    Buffer in, out;
    ucdtest::Keys hints;
    std::vector<int> wanted;
    ucd_request_t request = UCD_REQUEST__NULL;
};

// Several at a time, ended in any order.
void moves(const std::string &name, std::size_t cases) {
    ucdtest::run_cases(name.c_str(), cases, [](Case &one) {
        std::vector<std::unique_ptr<Move>> all;
        for (int i = 0; i < 4; ++i) all.push_back(std::make_unique<Move>(one));
        for (const auto &move : all) move->start(one);
        one.rng().shuffle(all);
        for (const auto &move : all) move->finish(one);
    });
}

// Packs every other int of device memory of this vendor's, by its backend alone. What went wrong.
std::string pack_by(const Vendor &vendor) {
    constexpr int ints = 1000;
    std::vector<int> values(2 * ints), packed(ints);
    for (int i = 0; i < 2 * ints; ++i) values[static_cast<std::size_t>(i)] = i;
    Buffer in(vendor, Kind::device, 2 * ints * sizeof(int));
    in.write(values);
    if (memory_of(in.address()) != device_of(vendor))
        return "its memory is taken for " + memory_of(in.address());
    ucd_type_t type = UCD_TYPE__NULL;
    check(ucd_create_vector(ints, 1, 2, UCD_TYPE__INT, UCD_INFO__NULL, &type));
    std::uintptr_t bytes = 0;
    check(ucd_pack(in.address(), 1, type, 0, packed.data(), ints * sizeof(int), &bytes,
                   UCD_INFO__NULL, UCD_OP__REPLACE));
    check(ucd_free(&type));
    for (int i = 0; i < ints; ++i)
        if (packed[static_cast<std::size_t>(i)] != 2 * i) return "wrong data";
    return "";
}

} // namespace

TEST_CASE("an address is the first backend's that knows it, whatever the order they are named in") {
    std::vector<std::unique_ptr<Buffer>> buffers;
    for (const Vendor *vendor : vendors)
        for (const Kind kind : {Kind::pageable, Kind::pinned, Kind::device})
            buffers.push_back(std::make_unique<Buffer>(*vendor, kind, 1000));
    // What each says that is alone.
    std::vector<std::vector<std::string>> alone;
    for (const Vendor *vendor : vendors) {
        const Library library(vendor->name);
        REQUIRE(backend(vendor->name).available != 0);
        for (const Vendor *other : vendors) {
            if (other == vendor) continue;
            CHECK(backend(other->name).available == 0);
            CHECK(backend(other->name).reason == std::string("left out by ucd.backends"));
        }
        auto &said = alone.emplace_back();
        for (const auto &buffer : buffers) said.push_back(memory_of(buffer->address()));
    }
    std::vector<std::string> expected;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
        const std::size_t owner = i / (buffers.size() / vendors.size());
        INFO(buffers[i]->memory() << ", which alone is " << alone[owner][i]);
        CHECK(alone[owner][i] == buffers[i]->memory());
        const auto knows = std::find_if(alone.begin(), alone.end(),
                                        [&](const auto &said) { return said[i] != "host"; });
        expected.push_back(knows == alone.end() ? "host" : (*knows)[i]);
    }
    for (const std::string &order : all_orders()) {
        const Library library(order);
        for (std::size_t i = 0; i < buffers.size(); ++i) {
            INFO(buffers[i]->memory() << " with ucd.backends=" << order);
            CHECK(memory_of(buffers[i]->address()) == expected[i]);
        }
    }
    // For the log: who has what.
    for (std::size_t i = 0; i < buffers.size(); ++i)
        WARN(vendors[i / (buffers.size() / vendors.size())]->name << "'s " << buffers[i]->memory()
                                                                  << " memory is " << expected[i]);
}

TEST_CASE("data moves between the memories of all vendors, in any order of the backends") {
    for (const std::string &order : all_orders()) {
        const Library library(order);
        moves("vendors with ucd.backends=" + order, 60);
    }
}

TEST_CASE("a backend works alone, when the others are left out") {
    for (const Vendor *vendor : vendors) {
        const Library library(vendor->name);
        CHECK(pack_by(*vendor) == "");
    }
}

TEST_CASE("a stream takes memory of its own vendor, and no other without a hint") {
    constexpr int ints = 1000;
    for (const std::string &order : all_orders()) {
        const Library library(order);
        ucd_type_t type = UCD_TYPE__NULL;
        check(ucd_create_vector(ints, 1, 2, UCD_TYPE__INT, UCD_INFO__NULL, &type));
        for (const Vendor *vendor : vendors) {
            INFO(vendor->name << " with ucd.backends=" << order);
            Buffer in(*vendor, Kind::device, 2 * ints * sizeof(int));
            Buffer out(*vendor, Kind::device, ints * sizeof(int));
            std::vector<int> values(2 * ints);
            for (int i = 0; i < 2 * ints; ++i) values[static_cast<std::size_t>(i)] = i;
            in.write(values);
            void *native = vendor->create_stream();
            const ucd_stream_t stream{vendor->name, 0, native, nullptr, 0};
            ucdtest::Keys hints;
            hints.set("ucd.inbuf", device_of(*vendor));
            hints.set("ucd.outbuf", device_of(*vendor));
            const bool its_own = memory_of(in.address()) == device_of(*vendor);
            for (const bool hinted : {false, true}) {
                out.write(std::vector<int>(ints, -1));
                std::uintptr_t bytes = 0;
                const int rc = ucd_pack_stream(
                    in.address(), 1, type, 0, out.address(), ints * sizeof(int), &bytes,
                    hinted ? hints.get() : UCD_INFO__NULL, UCD_OP__REPLACE, stream);
                if (!hinted && !its_own) {
                    CHECK(rc == UCD_ERR__NOT_SUPPORTED);
                    continue;
                }
                INFO((rc == UCD_SUCCESS ? "" : ucd_last_error()));
                CHECK(rc == UCD_SUCCESS);
                vendor->synchronise(native);
                const std::vector<int> packed = out.read();
                int wrong = 0;
                for (int i = 0; i < ints; ++i)
                    wrong += packed[static_cast<std::size_t>(i)] != 2 * i;
                CHECK(wrong == 0);
            }
            vendor->destroy_stream(native);
        }
        check(ucd_free(&type));
    }
}

#ifdef UCD_TEST_PLUGINS // the backends are not in the program
TEST_CASE("a plugin that cannot be loaded is reported, and the others work") {
    namespace fs = std::filesystem;
    const char *path = std::getenv("UCD_PLUGIN_PATH");
    const std::string before = path != nullptr ? path : "";
    Dl_info libucd;
    REQUIRE(::dladdr(::dlsym(RTLD_DEFAULT, "ucd_init"), &libucd) != 0);
    const fs::path beside = fs::absolute(libucd.dli_fname).parent_path();
    const fs::path plugins = before.empty() ? beside : fs::absolute(before);
    for (const Vendor *broken : vendors) {
        for (const bool missing : {false, true}) {
            // Another folder each time: a file that was loaded once is known by its path.
            char folder[] = "/tmp/ucd-vendors-XXXXXX";
            REQUIRE(::mkdtemp(folder) != nullptr);
            for (const Vendor *vendor : vendors) {
                const std::string file = std::string("libucd_") + vendor->name + ".so";
                if (vendor != broken)
                    fs::create_symlink(plugins / file, fs::path(folder) / file);
                else if (!missing)
                    std::ofstream(fs::path(folder) / file) << "no library";
            }
            ::setenv("UCD_PLUGIN_PATH", folder, 1);
            {
                const Library library("");
                const ucd_backend_desc_t desc = backend(broken->name);
                INFO(broken->name << ": " << desc.reason);
                CHECK(desc.available == 0);
                CHECK(std::string(desc.reason)
                          .find(missing ? "was not found" : "could not be loaded") !=
                      std::string::npos);
                for (const Vendor *vendor : vendors)
                    if (vendor != broken) CHECK(pack_by(*vendor) == "");
            }
            if (before.empty())
                ::unsetenv("UCD_PLUGIN_PATH");
            else
                ::setenv("UCD_PLUGIN_PATH", before.c_str(), 1);
            fs::remove_all(folder);
        }
    }
}
#endif

} // namespace vendors_test

// Indices that device kernels read where they lie: when they are read, by how many launches, and
// who must reach them. With devices that are threads of the CPU.
#include "support/catch.hpp"

#include "support/host_vendor/capture.h"
#include "support/keys.hpp"
#include "support/moves/graphs.hpp"
#include "support/moves/strided_move.hpp"

#include <algorithm>
#include <functional>
#include <list>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace hostgpu_by_reference_test {

using namespace ucdtest;
using namespace ucdtest::recipes;
using enum ucdtest::Memory;

namespace {

constexpr std::int64_t pages = 24, chosen = 9, page = 64; // bytes of a page

// Pages of a cache in an order that changes.
std::vector<std::int64_t> random_pages(Rng &rng) {
    std::vector<std::int64_t> all(pages);
    for (std::int64_t i = 0; i < pages; ++i) all[static_cast<std::size_t>(i)] = i;
    rng.shuffle(all);
    all.resize(chosen);
    return all;
}

// A list of the pages, which are `unit` bytes apart and begin at `start` at the earliest.
using MakeList = std::function<RecipePtr(RecipePtr old, std::int64_t unit, std::int64_t start)>;

struct Form {
    const char *name;
    std::function<RecipePtr(const MakeList &)> make;
    bool nest = true; // of the generated kernels
};

const RecipePtr number = leaf(UCD_TYPE__FLOAT), letter = leaf(UCD_TYPE__CHAR);
const RecipePtr heads = hvector(2, 4, 32, number); // some bytes of a page

const Form forms[] = {
    {"pages", [](const MakeList &list) { return list(contig(page / 4, number), page, 0); }},
    {"some heads of pages", [](const MakeList &list) { return list(heads, page, 0); }},
    {"pages of layers",
     [](const MakeList &list) {
         return hvector(3, 1, pages * page, list(contig(4, number), page, 0));
     }},
    {"some heads of pages of layers",
     [](const MakeList &list) { return hvector(3, 1, pages * page, list(heads, page, 0)); }},
    {"odd bytes of pages",
     [](const MakeList &list) {
         return list(hindexed({1, 3, 2}, {1, 7, 30}, letter), page, 0);
     }},
    {"pages from behind",
     [](const MakeList &list) {
         return hindexed_block(1, {pages * page}, list(contig(4, number), -page, -pages * page));
     }},
    {"levels around levels",
     [](const MakeList &list) {
         const RecipePtr layers = hvector(2, 1, pages * page, list(heads, page, 0));
         return hvector(2, 1, 4 * pages * page + 128, hvector(2, 1, 2 * pages * page + 64, layers));
     }},
    {"different members",
     [](const MakeList &list) {
         return structure(
             {1, 2, 1}, {0, pages * page, 2 * pages * page + 100},
             {list(contig(3, number), page, 0), number, list(contig(5, letter), page, 0)});
     },
     false},
};

// A form with its list in a memory, which can be rewritten, and its data.
class Listed {
public:
    Listed(Case &one, const Form &form, ucd_type_t index_type, Memory where, Memory data = device0)
        : one_(one), form_(form), index_type_(index_type), indices_(random_pages(one.rng())),
          memory_(copy_in(where, bytes())), what(with_elements(make_subject(one, recipe(), 1))) {
        const TypeMap &map = *what.subject.map;
        TouchedRange range = {what.subject.range.low - 8, // that all indices stay in
                              what.subject.range.high + 4 * pages * page};
        range.low = std::min<std::intptr_t>(range.low, map.true_lb);
        range.high = std::max<std::intptr_t>(range.high, map.true_ub());
        typed = std::make_unique<DeviceBuffer>(one.rng(), range, data);
        packed = std::make_unique<DeviceBuffer>(
            one.rng(), TouchedRange{0, static_cast<std::intptr_t>(what.subject.size())}, data);
    }

    // Other indices; the oracle knows of them at once, the memory when they are written to it.
    void draw() {
        indices_ = random_pages(one_.rng());
        what.subject.bytes = byte_map(*recipe(), 1);
    }
    void write() const { mock::write(memory_.get(), bytes().data(), bytes().size()); }
    void rewrite() {
        draw();
        write();
    }
    DeviceMove move(std::size_t offset = 0, ucd_op_t op = UCD_OP__REPLACE) const {
        return {one_, op, what, *typed, *packed, offset, what.subject.size() - offset};
    }
    ucd_type_t type() const { return what.subject.type(); }

private:
    std::vector<std::byte> bytes() const { return bytes_of_indices(indices_, index_type_); }
    RecipePtr recipe() const {
        return form_.make([this](RecipePtr old, std::int64_t unit, std::int64_t start) {
            return indexed_block_ref(1, indices_, index_type_, unit, start,
                                     (pages + (unit < 0)) * page, std::move(old), memory_);
        });
    }

    Case &one_;
    const Form &form_;
    const ucd_type_t index_type_;
    std::vector<std::int64_t> indices_;
    std::shared_ptr<void> memory_;

public:
    ReducedSubject what;
    std::unique_ptr<DeviceBuffer> typed, packed;
};

const ucd_type_t index_types[] = {UCD_TYPE__INT32_T, UCD_TYPE__UINT32_T, UCD_TYPE__INT64_T,
                                  UCD_TYPE__UINT64_T};

} // namespace

TEST_CASE("one launch reads the indices where they lie, and nothing of them is copied") {
    DeviceSession session;
    for (const ucd_type_t index_type : index_types)
        for (const Form &form : forms) {
            INFO(form.name);
            Case one("by reference", 0);
            Listed listed(one, form, index_type, device0);
            (void)ucd::hostgpu::kernels_launched();
            for (int round = 0; round < 3; ++round) {
                listed.rewrite();
                mock::counts.launches = mock::counts.copies = 0;
                const DeviceMove move =
                    listed.move(round == 0 ? 0 : one.rng().below(listed.what.subject.size()));
                check_device_pack(move, "kernel");
                CHECK(mock::counts.launches == 1);
                check_device_unpack(move, "kernel");
                CHECK(mock::counts.launches == 2);
                CHECK(mock::counts.copies == 0);
            }
            for (const std::string &kernel : ucd::hostgpu::kernels_launched()) {
                INFO(kernel);
                CHECK((kernel.find("interpreter") == std::string::npos) == form.nest);
            }
        }
}

TEST_CASE("a graph replayed with other indices moves other data") {
    DeviceSession session;
    mock::Stream stream(0);
    for (const ucd_type_t index_type : index_types)
        for (const Form &form : forms) {
            INFO(form.name);
            Case one("graphs by reference", 0);
            Listed listed(one, form, index_type, device0);
            check_graphs(stream, listed.move(), [&] { listed.rewrite(); });
        }
}

TEST_CASE("in a stream, indices are read in the order of the stream") {
    DeviceSession session;
    mock::Stream stream(0);
    for (const Form &form : forms) {
        INFO(form.name);
        Case one("stream order by reference", 0);
        Listed listed(one, form, UCD_TYPE__INT32_T, device0);
        listed.draw(); // what an earlier piece of work in the stream will write
        set_up_pack(listed.move());
        stream.add([&] { listed.write(); });
        REQUIRE(pack_in(native(stream), listed.move()) == UCD_SUCCESS);
        finish_in(stream);
        check_result(listed.move());
    }
}

TEST_CASE("a batch in a stream that comes again reads the indices anew") {
    DeviceSession session;
    mock::Stream stream(0);
    Case one("batches by reference", 0);
    std::list<Listed> members;
    MoveList descs;
    for (std::size_t i = 0; i < 40; ++i) {
        const Form &form = forms[i % std::size(forms)];
        members.emplace_back(one, form, UCD_TYPE__INT64_T, i % 3 ? device0 : pinned);
        descs.push_back(pack_of(members.back().move()));
    }
    for (int round = 0; round < 3; ++round) {
        for (Listed &m : members) {
            m.rewrite();
            set_up_pack(m.move());
        }
        mock::counts.launches = 0;
        REQUIRE(start_in(stream, descs) == UCD_SUCCESS);
        finish_in(stream);
        CHECK(mock::counts.launches == 1);
        for (const Listed &m : members) check_result(m.move());
    }
}

TEST_CASE("reductions by indices that change") {
    DeviceSession session;
    for (const Form &form : forms) {
        Case one("reductions by reference", 0);
        Listed listed(one, form, UCD_TYPE__UINT32_T, device0);
        if (listed.what.elements.front().type->handle != UCD_TYPE__FLOAT ||
            listed.what.elements.back().type->handle != UCD_TYPE__FLOAT)
            continue;
        INFO(form.name);
        for (int round = 0; round < 2; ++round) {
            listed.rewrite();
            check_device_pack(listed.move(0, UCD_OP__SUM), "kernel");
            check_device_unpack(listed.move(0, UCD_OP__SUM), "kernel");
        }
    }
}

TEST_CASE("host data with a device's list: the list is brought over, and no call waits for it") {
    DeviceSession session;
    for (const Form &form : forms) {
        INFO(form.name);
        Case one("lists brought over", 0);
        Listed listed(one, form, UCD_TYPE__INT32_T, device1, pageable);
        for (int round = 0; round < 2; ++round) {
            listed.rewrite();
            set_up_pack(listed.move());
            mock::hold();
            MoveList moves = {pack_of(listed.move())};
            ucd_request_t request = UCD_REQUEST__NULL;
            REQUIRE(start(moves, &request) == UCD_SUCCESS);
            CHECK(request != UCD_REQUEST__NULL);
            CHECK(moves[0].actual_bytes == listed.what.subject.size());
            int completed = 1;
            CHECK(ucd_test(&request, &completed) == UCD_SUCCESS);
            CHECK(completed == 0);
            mock::let_go();
            CHECK(ucd_wait(&request) == UCD_SUCCESS);
            check_result(listed.move());
            check_device_unpack(listed.move());
        }
    }
}

TEST_CASE("a list that is longer than a chunk is brought over as a whole") {
    DeviceSession session;
    constexpr std::int64_t numbers = 150'000; // 1.2 MB of indices; a chunk is 1 MiB
    std::vector<std::int64_t> indices(numbers);
    std::iota(indices.begin(), indices.end(), std::int64_t{0});
    Rng(1).shuffle(indices);
    const auto memory = copy_in(device1, bytes_of_indices(indices, UCD_TYPE__INT64_T));
    WholeMove whole(
        "long lists brought over",
        indexed_block_ref(1, indices, UCD_TYPE__INT64_T, 4, 0, 4 * numbers, number, memory),
        pageable, pageable);
    check_device_pack(whole.move());
    check_device_unpack(whole.move());
}

TEST_CASE("what cannot read the indices says so") {
    DeviceSession session;
    mock::Stream stream(0);
    Case one("unreached lists", 0);
    const RecipePtr in_host = indexed_block_ref(1, random_pages(one.rng()), UCD_TYPE__INT32_T, page,
                                                0, pages * page, contig(page / 4, number));
    const BuiltType unreached(in_host);
    const Listed elsewhere(one, forms[0], UCD_TYPE__INT32_T, device1),
        here(one, forms[0], UCD_TYPE__INT32_T, device0);
    const auto pack = [&](ucd_type_t type) {
        return MoveList{pack_move(here.typed->real_base(), 1, type, 0, here.packed->real_base(),
                                  chosen * page)};
    };
    CHECK(start_in(stream, pack(unreached.get())) == UCD_ERR__NOT_SUPPORTED);
    CHECK(last_error_says("indices"));
    CHECK(last_error_says("host memory"));
    CHECK(start_in(stream, pack(elsewhere.type())) == UCD_ERR__NOT_SUPPORTED);
    CHECK(last_error_says("indices"));
    CHECK(move_all(pack(here.type()), Keys({{"ucd.engine", "dma"}})) == UCD_ERR__NOT_SUPPORTED);
    CHECK(last_error_says("indices"));

    char text[4096];
    std::uintptr_t needed = 0;
    REQUIRE(ucd_describe(here.type(), text, sizeof text, &needed) == UCD_SUCCESS);
    CHECK(std::string(text).find(std::string("in ") + mock::backend.name + ":0 memory") !=
          std::string::npos);
}

} // namespace hostgpu_by_reference_test

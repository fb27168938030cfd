// Indices that device kernels read where they lie: when they are read, by how many launches, and
// who must reach them. With devices that are threads of the CPU.
#include "support/catch.hpp"

#include "support/host_vendor/capture.h"
#include "support/keys.hpp"
#include "support/moves/batch_moves.hpp"
#include "support/moves/strided_move.hpp"

#include <functional>
#include <list>
#include <string>
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

struct Form {
    const char *name;
    std::function<RecipePtr(const std::vector<std::int64_t> &, std::shared_ptr<void>)> make;
    bool nest = true; // of the generated kernels
};

RecipePtr list_of(std::int64_t unit, ucd_type_t index_type,
                  const std::vector<std::int64_t> &indices, RecipePtr old,
                  std::shared_ptr<void> memory) {
    return indexed_block_ref(1, indices, index_type, unit, 0, pages * page, std::move(old),
                             std::move(memory));
}

std::vector<Form> forms(ucd_type_t index_type) {
    using Indices = std::vector<std::int64_t>;
    using Memory_ = std::shared_ptr<void>;
    const RecipePtr number = leaf(UCD_TYPE__FLOAT), letter = leaf(UCD_TYPE__CHAR);
    return {
        {"pages",
         [=](const Indices &i, const Memory_ &m) {
             return list_of(page, index_type, i, contig(page / 4, number), m);
         }},
        {"some heads of pages",
         [=](const Indices &i, const Memory_ &m) {
             return list_of(page, index_type, i, hvector(2, 4, 32, number), m);
         }},
        {"pages of layers",
         [=](const Indices &i, const Memory_ &m) {
             return hvector(3, 1, pages * page, list_of(page, index_type, i, contig(4, number), m));
         }},
        {"some heads of pages of layers",
         [=](const Indices &i, const Memory_ &m) {
             return hvector(3, 1, pages * page,
                            list_of(page, index_type, i, hvector(2, 4, 32, number), m));
         }},
        {"odd bytes of pages",
         [=](const Indices &i, const Memory_ &m) {
             return list_of(page, index_type, i, hindexed({1, 3, 2}, {1, 7, 30}, letter), m);
         }},
        {"pages from behind",
         [=](const Indices &i, const Memory_ &m) {
             return hindexed_block(1, {pages * page},
                                   indexed_block_ref(1, i, index_type, -page, -pages * page,
                                                     (pages + 1) * page, contig(4, number), m));
         }},
        {"levels around levels",
         [=](const Indices &i, const Memory_ &m) {
             return hvector(
                 2, 1, 4 * pages * page + 128,
                 hvector(2, 1, 2 * pages * page + 64,
                         hvector(2, 1, pages * page,
                                 list_of(page, index_type, i, hvector(2, 4, 32, number), m))));
         }},
        {"different members",
         [=](const Indices &i, const Memory_ &m) {
             return structure({1, 2, 1}, {0, pages * page, 2 * pages * page + 100},
                              {list_of(page, index_type, i, contig(3, number), m), number,
                               list_of(page, index_type, i, contig(5, letter), m)});
         },
         false},
    };
}

// A form with its list in a memory, which can be rewritten.
class Listed {
public:
    Listed(Case &one, const Form &form, ucd_type_t index_type, Memory where)
        : one_(one), form_(form), index_type_(index_type) {
        const std::vector<std::int64_t> indices = random_pages(one.rng());
        const std::vector<std::byte> bytes = bytes_of_indices(indices, index_type);
        memory_ = copy_in(where, bytes);
        const RecipePtr recipe = form.make(indices, memory_);
        if (memory_ == nullptr) FAIL("the list is in a memory of the test's");
        what = with_elements(make_subject(one, recipe, 1));
        range = {what.subject.range.low - 8, what.subject.range.high + 4 * pages * page};
        range.low = std::min<std::intptr_t>(range.low, what.subject.map->true_lb);
        range.high = std::max<std::intptr_t>(range.high, what.subject.map->true_ub());
    }

    // Other indices; the oracle knows of them at once, the memory when bytes() are written to it.
    void draw() {
        indices_ = random_pages(one_.rng());
        what.subject.bytes = byte_map(*form_.make(indices_, memory_), 1);
    }
    std::vector<std::byte> bytes() const { return bytes_of_indices(indices_, index_type_); }
    void *list() const { return memory_.get(); }
    void rewrite() {
        draw();
        mock::write(list(), bytes().data(), bytes().size());
    }

    ReducedSubject what;
    TouchedRange range; // that all indices stay in

private:
    Case &one_;
    const Form &form_;
    const ucd_type_t index_type_;
    std::vector<std::int64_t> indices_;
    std::shared_ptr<void> memory_;
};

const ucd_type_t index_types[] = {UCD_TYPE__INT32_T, UCD_TYPE__UINT32_T, UCD_TYPE__INT64_T,
                                  UCD_TYPE__UINT64_T};

} // namespace

TEST_CASE("one launch reads the indices where they lie, and nothing of them is copied") {
    DeviceSession session;
    for (const ucd_type_t index_type : index_types)
        for (const Form &form : forms(index_type)) {
            INFO(form.name);
            Case one("by reference", 0);
            Listed listed(one, form, index_type, device0);
            const std::size_t size = listed.what.subject.size();
            DeviceBuffer typed(one.rng(), listed.range, device0);
            DeviceBuffer packed(one.rng(), {0, static_cast<std::intptr_t>(size)}, device0);
            (void)ucd::hostgpu::kernels_launched();
            for (int round = 0; round < 3; ++round) {
                listed.rewrite();
                mock::counts.launches = mock::counts.copies = 0;
                const std::size_t offset = round == 0 ? 0 : one.rng().below(size);
                const DeviceMove move{one,    UCD_OP__REPLACE, listed.what,  typed,
                                      packed, offset,          size - offset};
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
        for (const Form &form : forms(index_type)) {
            INFO(form.name);
            Case one("graphs by reference", 0);
            Listed listed(one, form, index_type, device0);
            const Subject &s = listed.what.subject;
            DeviceBuffer typed(one.rng(), listed.range, device0);
            DeviceBuffer packed(one.rng(), {0, static_cast<std::intptr_t>(s.size())}, device0);
            const DeviceMove move{one, UCD_OP__REPLACE, listed.what, typed, packed, 0, s.size()};
            prepare(stream, s.type());
            ucd::hostgpu::begin_capture(stream);
            REQUIRE(pack_in(native(stream), move) == UCD_SUCCESS);
            const ucd::hostgpu::Graph graph = ucd::hostgpu::end_capture(stream);
            CHECK(graph.nodes.size() == 1);
            for (int replay = 0; replay < 3; ++replay) {
                listed.rewrite();
                set_up_pack(move);
                ucd::hostgpu::replay(graph, stream);
                finish_in(stream);
                check_result(move);
            }
        }
}

TEST_CASE("in a stream, indices are read in the order of the stream") {
    DeviceSession session;
    mock::Stream stream(0);
    for (const Form &form : forms(UCD_TYPE__INT32_T)) {
        INFO(form.name);
        Case one("stream order by reference", 0);
        Listed listed(one, form, UCD_TYPE__INT32_T, device0);
        const Subject &s = listed.what.subject;
        DeviceBuffer typed(one.rng(), listed.range, device0);
        DeviceBuffer packed(one.rng(), {0, static_cast<std::intptr_t>(s.size())}, device0);
        const DeviceMove move{one, UCD_OP__REPLACE, listed.what, typed, packed, 0, s.size()};
        listed.draw(); // what an earlier piece of work in the stream will write
        set_up_pack(move);
        stream.add(
            [&] { mock::write(listed.list(), listed.bytes().data(), listed.bytes().size()); });
        REQUIRE(pack_in(native(stream), move) == UCD_SUCCESS);
        finish_in(stream);
        check_result(move);
    }
}

TEST_CASE("a batch in a stream that comes again reads the indices anew") {
    DeviceSession session;
    mock::Stream stream(0);
    const std::vector<Form> all = forms(UCD_TYPE__INT64_T);
    Case one("batches by reference", 0);
    std::list<Listed> members;
    std::list<DeviceBuffer> typed, packed;
    MoveList descs;
    for (int i = 0; i < 40; ++i) {
        const Form &form = all[static_cast<std::size_t>(i) % all.size()];
        const Listed &m =
            members.emplace_back(one, form, UCD_TYPE__INT64_T, i % 3 ? device0 : pinned);
        const std::size_t size = m.what.subject.size();
        DeviceBuffer &t = typed.emplace_back(one.rng(), m.range, device0);
        DeviceBuffer &p = packed.emplace_back(
            one.rng(), TouchedRange{0, static_cast<std::intptr_t>(size)}, device0);
        descs.push_back(pack_move(t.real_base(), 1, m.what.subject.type(), 0, p.real_base(), size));
    }
    for (int round = 0; round < 3; ++round) {
        auto t = typed.begin(), p = packed.begin();
        for (Listed &m : members) {
            m.rewrite();
            const std::size_t size = m.what.subject.size();
            set_up_pack({one, UCD_OP__REPLACE, m.what, *t++, *p++, 0, size});
        }
        mock::counts.launches = 0;
        REQUIRE(start_in(stream, descs) == UCD_SUCCESS);
        finish_in(stream);
        CHECK(mock::counts.launches == 1);
        t = typed.begin(), p = packed.begin();
        for (Listed &m : members) {
            const std::size_t size = m.what.subject.size();
            check_result({one, UCD_OP__REPLACE, m.what, *t++, *p++, 0, size});
        }
    }
}

TEST_CASE("reductions by indices that change") {
    DeviceSession session;
    for (const Form &form : forms(UCD_TYPE__UINT32_T)) {
        Case one("reductions by reference", 0);
        Listed listed(one, form, UCD_TYPE__UINT32_T, device0);
        if (listed.what.elements.front().type->handle != UCD_TYPE__FLOAT ||
            listed.what.elements.back().type->handle != UCD_TYPE__FLOAT)
            continue;
        INFO(form.name);
        const std::size_t size = listed.what.subject.size();
        DeviceBuffer typed(one.rng(), listed.range, device0);
        DeviceBuffer packed(one.rng(), {0, static_cast<std::intptr_t>(size)}, device0);
        for (int round = 0; round < 2; ++round) {
            listed.rewrite();
            const DeviceMove move{one, UCD_OP__SUM, listed.what, typed, packed, 0, size};
            check_device_pack(move, "kernel");
            check_device_unpack(move, "kernel");
        }
    }
}

TEST_CASE("host data with a device's list: the list is brought over, and no call waits for it") {
    DeviceSession session;
    for (const Form &form : forms(UCD_TYPE__INT32_T)) {
        INFO(form.name);
        Case one("lists brought over", 0);
        Listed listed(one, form, UCD_TYPE__INT32_T, device1);
        const Subject &s = listed.what.subject;
        DeviceBuffer typed(one.rng(), listed.range, pageable);
        DeviceBuffer packed(one.rng(), {0, static_cast<std::intptr_t>(s.size())}, pageable);
        const DeviceMove move{one, UCD_OP__REPLACE, listed.what, typed, packed, 0, s.size()};
        for (int round = 0; round < 2; ++round) {
            listed.rewrite();
            set_up_pack(move);
            mock::hold();
            std::uintptr_t actual = 0;
            ucd_request_t request = UCD_REQUEST__NULL;
            REQUIRE(ucd_ipack(typed.real_base(), 1, s.type(), 0, packed.real_base(), s.size(),
                              &actual, UCD_INFO__NULL, UCD_OP__REPLACE, &request) == UCD_SUCCESS);
            CHECK(request != UCD_REQUEST__NULL);
            CHECK(actual == s.size());
            int completed = 1;
            CHECK(ucd_test(&request, &completed) == UCD_SUCCESS);
            CHECK(completed == 0);
            mock::let_go();
            CHECK(ucd_wait(&request) == UCD_SUCCESS);
            check_result(move);
            check_device_unpack(move);
        }
    }
}

TEST_CASE("a list that is longer than a chunk is brought over as a whole") {
    DeviceSession session;
    Case one("long lists brought over", 0);
    constexpr std::int64_t numbers = 150'000; // 1.2 MB of indices; a chunk is 1 MiB
    std::vector<std::int64_t> indices(numbers);
    for (std::int64_t i = 0; i < numbers; ++i) indices[static_cast<std::size_t>(i)] = i;
    one.rng().shuffle(indices);
    const std::shared_ptr<void> memory =
        copy_in(device1, bytes_of_indices(indices, UCD_TYPE__INT64_T));
    const ReducedSubject what =
        with_elements(make_subject(one,
                                   indexed_block_ref(1, indices, UCD_TYPE__INT64_T, 4, 0,
                                                     4 * numbers, leaf(UCD_TYPE__FLOAT), memory),
                                   1));
    const Subject &s = what.subject;
    DeviceBuffer typed(one.rng(), s.range, pageable);
    DeviceBuffer packed(one.rng(), {0, static_cast<std::intptr_t>(s.size())}, pageable);
    const DeviceMove move{one, UCD_OP__REPLACE, what, typed, packed, 0, s.size()};
    check_device_pack(move);
    check_device_unpack(move);
}

TEST_CASE("what cannot read the indices says so") {
    DeviceSession session;
    mock::Stream stream(0);
    Case one("unreached lists", 0);
    const std::vector<Form> all = forms(UCD_TYPE__INT32_T);
    const Form &form = all.front();
    const std::vector<std::int64_t> indices = random_pages(one.rng());
    const ReducedSubject in_host = with_elements(make_subject(one, form.make(indices, nullptr), 1));
    DeviceBuffer typed(one.rng(), {0, pages * page}, device0);
    DeviceBuffer packed(one.rng(), {0, chosen * page}, device0);
    std::uintptr_t actual = 0;
    const auto pack_in_stream = [&](ucd_type_t type) {
        return ucd_pack_stream(typed.real_base(), 1, type, 0, packed.real_base(), chosen * page,
                               &actual, UCD_INFO__NULL, UCD_OP__REPLACE, native(stream));
    };
    CHECK(pack_in_stream(in_host.subject.type()) == UCD_ERR__NOT_SUPPORTED);
    CHECK(last_error_says("indices"));
    CHECK(last_error_says("host memory"));
    const Listed elsewhere(one, form, UCD_TYPE__INT32_T, device1);
    CHECK(pack_in_stream(elsewhere.what.subject.type()) == UCD_ERR__NOT_SUPPORTED);
    CHECK(last_error_says("indices"));

    const Keys info({{"ucd.engine", "dma"}});
    const Listed here(one, form, UCD_TYPE__INT32_T, device0);
    CHECK(ucd_pack(typed.real_base(), 1, here.what.subject.type(), 0, packed.real_base(),
                   chosen * page, &actual, info, UCD_OP__REPLACE) == UCD_ERR__NOT_SUPPORTED);
    CHECK(last_error_says("indices"));

    char text[4096];
    std::uintptr_t needed = 0;
    REQUIRE(ucd_describe(here.what.subject.type(), text, sizeof text, &needed) == UCD_SUCCESS);
    CHECK(std::string(text).find(std::string("in ") + mock::backend.name + ":0 memory") !=
          std::string::npos);
}

} // namespace hostgpu_by_reference_test

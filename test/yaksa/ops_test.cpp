// Every op on every predefined type, and on types made of several.
#include "support/catch.hpp"

#include "yaksa_build.hpp"

#include "support/random/reduction_values.hpp"

#include <cstring>

namespace ops_test {

using namespace ucdtest;
using namespace ucdtest::recipes;

namespace {

using Bytes = std::vector<std::byte>;

// Memory of the subject and its packed stream.
struct Data {
    Bytes memory, packed;
    std::byte *base;
};

Data random_data(Rng &rng, const YaksaSubject &subject) {
    const TouchedRange range = touched_range(subject.bytes);
    Data data{Bytes(range.length()), random_values(rng, subject.elements), nullptr};
    data.base = data.memory.data() - range.low;
    const Bytes values = random_values(rng, subject.elements);
    for (std::size_t i = 0; i < values.size(); ++i) data.base[subject.bytes[i]] = values[i];
    return data;
}

Bytes gathered(const YaksaSubject &subject, const std::byte *base) {
    Bytes stream;
    for (const std::intptr_t displ : subject.bytes) stream.push_back(base[displ]);
    return stream;
}

// Elements [first, last) of the stream: out = out op in.
void reduce(const YaksaOp &op, const YaksaSubject &subject, std::size_t first, std::size_t last,
            Bytes &out, const Bytes &in) {
    for (std::size_t i = first; i < last; ++i) {
        const StreamElement &element = subject.elements[i];
        yaksa_reduce(op, *element.type, out.data() + element.offset, in.data() + element.offset);
    }
}

void check_stream(const Case &one, const YaksaOp &op, const YaksaSubject &subject, Bytes expected,
                  const Bytes &found, const char *what) {
    for (const StreamElement &element : subject.elements) {
        forgive_spare_bytes(*element.type, expected.data() + element.offset,
                            found.data() + element.offset);
        if (std::memcmp(expected.data() + element.offset, found.data() + element.offset,
                        element.type->size) != 0)
            one.fail(what, " with ", op.name, ": the ", element.type->name, " at ", element.offset,
                     " is wrong");
    }
}

bool supports_all(const YaksaOp &op, const YaksaSubject &subject) {
    for (const StreamElement &element : subject.elements) {
        if (!yaksa_supports(op, *element.type)) return false;
    }
    return true;
}

// The range of elements [first, last), with a little more room than they need.
void check_op(Case &one, const YaksaOp &op, const YaksaSubject &subject, yaksa_type_t type) {
    Rng &rng = one.rng();
    const std::size_t number = subject.elements.size();
    std::size_t first = rng.chance(50) ? 0 : rng.below(number);
    std::size_t last = rng.chance(50) ? number : first + rng.below(number - first + 1);
    const auto offset_of = [&](std::size_t i) {
        return i == number ? subject.size() : subject.elements[i].offset;
    };
    const std::size_t offset = offset_of(first), length = offset_of(last) - offset;
    const std::size_t room =
        length + (last == number ? rng.below(5) : rng.below(subject.elements[last].type->size));
    const bool supported = supports_all(op, subject);
    Data data = random_data(rng, subject);

    Bytes packed = data.packed;
    const Bytes typed = gathered(subject, data.base);
    std::uintptr_t actual = 7;
    int rc = yaksa_pack(data.base, subject.count, type, offset, packed.data() + offset, room,
                        &actual, nullptr, op.op);
    if (!supported && length != 0) {
        if (rc != YAKSA_ERR__NOT_SUPPORTED || actual != 7 || packed != data.packed)
            one.fail("pack with ", op.name, " was not refused: ", rc);
    } else {
        succeed(one, rc, "pack");
        if (actual != length) one.fail("packed ", actual, " bytes, not ", length);
        Bytes expected = data.packed;
        reduce(op, subject, first, last, expected, typed);
        check_stream(one, op, subject, expected, packed, "pack");
    }

    yaksa_request_t request = 1;
    actual = 7;
    rc = yaksa_iunpack(data.packed.data() + offset, room, data.base, subject.count, type, offset,
                       &actual, nullptr, op.op, &request);
    if (!supported && length != 0) {
        if (rc != YAKSA_ERR__NOT_SUPPORTED || actual != 7 || gathered(subject, data.base) != typed)
            one.fail("unpack with ", op.name, " was not refused: ", rc);
        return;
    }
    succeed(one, rc, "iunpack");
    succeed(one, yaksa_request_wait(request), "wait");
    if (actual != length) one.fail("unpacked ", actual, " bytes, not ", length);
    Bytes expected = typed;
    reduce(op, subject, first, last, expected, data.packed);
    check_stream(one, op, subject, expected, gathered(subject, data.base), "unpack");
}

YaksaType copy_of(const Case &one, yaksa_type_t type) {
    std::uintptr_t size = 0;
    succeed(one, yaksa_flatten_size(type, &size), "flatten_size");
    std::vector<char> bytes(size);
    succeed(one, yaksa_flatten(type, bytes.data()), "flatten");
    yaksa_type_t copy = 0;
    succeed(one, yaksa_unflatten(&copy, bytes.data()), "unflatten");
    return YaksaType(copy);
}

} // namespace

TEST_CASE("every op on every predefined type of yaksa") {
    const YaksaSession session;
    std::size_t next = 0;
    run_cases("yaksa ops", yaksa_leaves().size() * yaksa_ops().size(), [&](Case &one) {
        const std::size_t i = next++;
        const YaksaLeaf &known = yaksa_leaves()[i % yaksa_leaves().size()];
        const YaksaOp &op = yaksa_ops()[i / yaksa_leaves().size() % yaksa_ops().size()];
        const YaksaSubject subject =
            yaksa_subject(one, vector(3, 2, 3, leaf(known.type)), 1 + one.rng().below(30));
        check_op(one, op, subject, subject.type());
    });
}

TEST_CASE("an op that one element does not support is refused for the others, too") {
    const YaksaSession session;
    // A float has no BAND; ints have, and so have pairs of them.
    const std::intptr_t ones[] = {1, 1};
    for (const bool first : {true, false}) {
        const std::intptr_t displs[] = {first ? 0 : 8, first ? 4 : 0};
        const yaksa_type_t members[] = {YAKSA_TYPE__FLOAT, YAKSA_TYPE__2INT};
        const yaksa_type_t in_order[] = {members[first ? 0 : 1], members[first ? 1 : 0]};
        const std::intptr_t at[] = {displs[first ? 0 : 1], displs[first ? 1 : 0]};
        yaksa_type_t type = 0;
        REQUIRE(yaksa_type_create_struct(2, ones, at, in_order, nullptr, &type) == YAKSA_SUCCESS);
        const int memory[3] = {1, 2, 3};
        int packed[3] = {7, 7, 7};
        std::uintptr_t actual = 7;
        // The pair alone is moved.
        CHECK(yaksa_pack(memory, 1, type, first ? 4 : 0, packed, 8, &actual, nullptr,
                         YAKSA_OP__BAND) == YAKSA_ERR__NOT_SUPPORTED);
        CHECK(std::string(ucd_yaksa_last_error()) == "yaksa_pack: BAND is not defined on FLOAT");
        CHECK((actual == 7 && packed[0] == 7 && packed[1] == 7 && packed[2] == 7));
        REQUIRE(yaksa_type_free(type) == YAKSA_SUCCESS);
    }
}

TEST_CASE("ops on random types of yaksa") {
    const YaksaSession session;
    run_cases("yaksa random ops", 1500, [](Case &one) {
        Rng &rng = one.rng();
        const YaksaOp &op = yaksa_ops()[rng.below(yaksa_ops().size())];
        std::vector<ucd_type_t> elements;
        for (const YaksaLeaf &known : yaksa_leaves()) {
            const Predefined &type = predefined(known.type);
            const bool pair = type.type_class == TypeClass::pair;
            if (yaksa_supports(op, type)) elements.insert(elements.end(), pair ? 4 : 1, known.type);
        }
        const YaksaSubject subject = random_yaksa_subject(one, elements);
        if (subject.size() == 0 || overlaps(subject.bytes)) return;
        check_op(one, op, subject, subject.type());
        check_op(one, op, subject, copy_of(one, subject.type()).get());
    });
}

TEST_CASE("pairs in more data than is combined at once") {
    const YaksaSession session;
    run_cases("yaksa many pairs", 3, [](Case &one) {
        const RecipePtr several = structure(
            {1, 1, 2}, {0, 16, 24},
            {leaf(UCD_TYPE__DOUBLE_INT), leaf(UCD_TYPE__SHORT_INT), leaf(UCD_TYPE__FLOAT)});
        const YaksaSubject subject = yaksa_subject(one, several, 10000);
        check_op(one, yaksa_ops()[2 + one.rng().below(2)], subject, subject.type());
    });
}

TEST_CASE("an op that not all members of a type support changes nothing") {
    const YaksaSession session;
    std::size_t next = 0;
    run_cases("yaksa refused ops", yaksa_ops().size(), [&](Case &one) {
        const RecipePtr pair = leaf(UCD_TYPE__2INT), letter = leaf(UCD_TYPE__CHAR);
        const YaksaSubject subject =
            yaksa_subject(one, structure({1, 1}, {0, 8}, {pair, letter}), 3);
        check_op(one, yaksa_ops()[next++ % yaksa_ops().size()], subject, subject.type());
    });
}

TEST_CASE("an op within an element is refused") {
    const YaksaSession session;
    const auto refused = [](yaksa_type_t type, std::uintptr_t offset) {
        char typed[64] = {}, packed[64] = {};
        std::uintptr_t actual = 7;
        CHECK(yaksa_pack(typed, 4, type, offset, packed, 64, &actual, nullptr, YAKSA_OP__SUM) ==
              YAKSA_ERR__INTERNAL);
        CHECK(actual == 7);
    };
    refused(YAKSA_TYPE__INT, 2);
    refused(YAKSA_TYPE__2INT, 4);
    refused(YAKSA_TYPE__DOUBLE_INT, 8);
}

} // namespace ops_test

// UCD types from MPI datatypes: the bytes that MPI_Pack and MPI_Unpack move, and MPI's bounds.

#include "mpi/mpi_build.hpp"
#include "support/catch.hpp"
#include "support/oracle/byte_map.hpp"
#include "support/random/random_cases.hpp"
#include "support/random/random_recipe.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <dlfcn.h>
#include <pthread.h>
#include <stdexcept>
#include <thread>
#include <ucd_mpi.h>

namespace {

bool attributes_fail = false;
int errors_of_mpi = 0;

void count_error(MPI_Comm *, int *, ...) {
    ++errors_of_mpi;
}

} // namespace

// Takes the place of MPI's function, also for libucd-mpi, since the program comes first in the
// order of libraries.
extern "C" int PMPI_Type_set_attr(MPI_Datatype datatype, int key, void *value) {
    if (attributes_fail) return MPI_ERR_OTHER;
    static const auto next =
        reinterpret_cast<decltype(&PMPI_Type_set_attr)>(dlsym(RTLD_NEXT, "PMPI_Type_set_attr"));
    return next(datatype, key, value);
}

namespace types_test {

using namespace ucdtest;

namespace {

class FromMpi {
public:
    explicit FromMpi(MPI_Datatype datatype) {
        if (ucd_type_from_mpi(datatype, UCD_INFO__NULL, &type_) != UCD_SUCCESS)
            throw std::runtime_error(ucd_mpi_last_error());
    }
    FromMpi(const FromMpi &) = delete;
    FromMpi &operator=(const FromMpi &) = delete;
    ~FromMpi() { ucd_free(&type_); }
    ucd_type_t get() const { return type_; }

private:
    ucd_type_t type_ = UCD_TYPE__NULL;
};

struct Bounds {
    MPI_Count lb = 0, extent = 0;
    friend bool operator==(const Bounds &, const Bounds &) = default;
};

Bounds bounds_of(MPI_Datatype datatype) {
    Bounds b;
    MPI_Type_get_extent_x(datatype, &b.lb, &b.extent);
    return b;
}

Bounds bounds_of(ucd_type_t type) {
    std::intptr_t lb = 0, extent = 0;
    ucd_get_extent(type, &lb, &extent);
    return {lb, extent};
}

std::vector<std::byte> random_bytes(Rng &rng, std::size_t bytes) {
    std::vector<std::byte> data(bytes);
    for (std::byte &b : data) b = static_cast<std::byte>(rng.bits());
    return data;
}

// What MPI itself does, which for some types is not what its standard says.
struct Agreement {
    std::size_t packed = 0, cases = 0;
};

void check_moves(Case &c, const Recipe &recipe, int count, const MpiType &datatype, ucd_type_t type,
                 Agreement &mpi) {
    const ByteMap map = byte_map(datatype.map(), static_cast<std::size_t>(count));
    const TouchedRange range = touched_range(map);
    constexpr std::size_t guard = 256 << 10; // MPI reads elsewhere where it is wrong
    std::vector<std::byte> memory(range.length() + 2 * guard);
    const auto buffer = [&](std::vector<std::byte> &bytes) {
        return bytes.data() + guard - range.low;
    };
    std::ranges::copy(random_bytes(c.rng(), range.length()), memory.begin() + guard);
    std::vector<std::byte> expected, ours(map.size()), theirs(map.size() + 16);
    for (const std::intptr_t displ : map) expected.push_back(buffer(memory)[displ]);

    uintptr_t moved = 0;
    c.succeed(ucd_pack(buffer(memory), static_cast<uintptr_t>(count), type, 0, ours.data(),
                       ours.size(), &moved, UCD_INFO__NULL, UCD_OP__REPLACE),
              "ucd_pack");
    if (ours != expected) c.fail("packed bytes differ");
    if (!has_empty_part(recipe)) {
        int position = 0;
        if (MPI_Pack(buffer(memory), count, datatype.get(), theirs.data(),
                     static_cast<int>(theirs.size()), &position, MPI_COMM_SELF) != MPI_SUCCESS)
            c.fail("MPI_Pack");
        if (static_cast<std::size_t>(position) != map.size()) c.fail("MPI packs another size");
        ++mpi.cases;
        mpi.packed += std::equal(expected.begin(), expected.end(), theirs.begin());
    }

    if (overlaps(map)) return;
    std::vector<std::byte> unpacked = memory;
    ours = random_bytes(c.rng(), map.size());
    for (std::size_t i = 0; i < map.size(); ++i) buffer(memory)[map[i]] = ours[i];
    c.succeed(ucd_unpack(ours.data(), ours.size(), buffer(unpacked), static_cast<uintptr_t>(count),
                         type, 0, &moved, UCD_INFO__NULL, UCD_OP__REPLACE),
              "ucd_unpack");
    if (unpacked != memory) c.fail("unpacked bytes differ");
}

} // namespace

TEST_CASE("MPI types move as MPI_Pack moves them") {
    start_mpi();
    std::size_t built = 0, all = 0;
    Agreement mpi;
    run_cases("MPI types", 3000, [&](Case &c) {
        RecipeOptions options;
        options.elements = elements_of_mpi();
        options.unpack_safe = c.rng().chance(60);
        const RandomType random = random_type(c.rng(), options);
        const auto count = static_cast<int>(random_count(c.rng(), random, options));
        c.about("type", random.recipe, static_cast<std::size_t>(count));
        ++all;
        MpiType datatype;
        try {
            datatype = MpiType(random.recipe, c.rng().chance(50));
        } catch (const std::runtime_error &) {
            return;
        }
        ++built;
        const FromMpi type(datatype.get());
        if (bounds_of(type.get()) != bounds_of(datatype.get())) c.fail("bounds differ");
        if (touched_range(datatype.map(), static_cast<std::size_t>(count)).length() < (1 << 20))
            check_moves(c, *random.recipe, count, datatype, type.get(), mpi);
    });
    std::fprintf(stderr, "%zu of %zu types built; MPI_Pack agrees for %zu of %zu\n", built, all,
                 mpi.packed, mpi.cases);
    CHECK(mpi.cases * 2 >= built);
    CHECK(mpi.packed * 100 >= mpi.cases * 95);
    CHECK(built * 10 >= all * 6);
}

// MPI libraries round the extent of a padded struct in an hvector or not; each gets its own.
TEST_CASE("bounds are those of the MPI library") {
    start_mpi();
    const RecipePtr padded = recipes::structure(
        {1, 1}, {0, 8}, {recipes::leaf(UCD_TYPE__DOUBLE), recipes::leaf(UCD_TYPE__CHAR)});
    const MpiType datatype(recipes::hvector(3, 1, 9, padded), false);
    const FromMpi type(datatype.get());
#ifdef OPEN_MPI
    CHECK(bounds_of(datatype.get()) == Bounds{0, 40});
#else
    CHECK(bounds_of(datatype.get()) == Bounds{0, 34});
#endif
    CHECK(bounds_of(type.get()) == bounds_of(datatype.get()));
}

TEST_CASE("predefined MPI types, of C and Fortran") {
    start_mpi();
    std::vector<MPI_Datatype> all = {
        MPI_CHAR,           MPI_BYTE,      MPI_PACKED,           MPI_AINT,
        MPI_OFFSET,         MPI_COUNT,     MPI_C_BOOL,           MPI_CXX_BOOL,
        MPI_INTEGER,        MPI_REAL,      MPI_LOGICAL,          MPI_COMPLEX,
        MPI_DOUBLE_COMPLEX, MPI_CHARACTER, MPI_INTEGER1,         MPI_INTEGER8,
        MPI_REAL8,          MPI_REAL16,    MPI_COMPLEX32,        MPI_2INTEGER,
        MPI_2REAL,          MPI_LONG_INT,  MPI_LONG_DOUBLE_INT,  MPI_DOUBLE_INT,
        MPI_COMPLEX16,      MPI_SHORT_INT, MPI_DOUBLE_PRECISION, MPI_2DOUBLE_PRECISION};
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(count_error, &handler);
    for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF})
        MPI_Comm_set_errhandler(comm, handler);
    MPI_Datatype kind = MPI_DATATYPE_NULL;
    for (const auto &[precision, range] : {std::pair{6, 30}, {15, 300}})
        if (MPI_Type_create_f90_real(precision, range, &kind) == MPI_SUCCESS) all.push_back(kind);
    if (MPI_Type_create_f90_integer(9, &kind) == MPI_SUCCESS) all.push_back(kind);
    if (MPI_Type_create_f90_complex(15, 300, &kind) == MPI_SUCCESS) all.push_back(kind);
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
    // Pairs, most of which have no name; the index is aligned.
    std::size_t pairs = 0;
    for (const MPI_Datatype value : {MPI_INT8_T, MPI_SHORT, MPI_INT64_T, MPI_FLOAT})
        for (const MPI_Datatype index : {MPI_INT8_T, MPI_INT, MPI_INT64_T}) {
            if (MPI_Type_get_value_index(value, index, &kind) != MPI_SUCCESS) continue;
            if (kind == MPI_DATATYPE_NULL) continue;
            ++pairs;
            all.push_back(kind);
        }
    CHECK(pairs >= 2);
#endif
    for (const MPI_Datatype datatype : all) {
        int bytes = 0;
        // A build without Fortran has its types only by name.
        if (datatype == MPI_DATATYPE_NULL || MPI_Type_size(datatype, &bytes) != MPI_SUCCESS ||
            bytes == 0)
            continue;
        MPI_Datatype vector = MPI_DATATYPE_NULL;
        REQUIRE(MPI_Type_vector(3, 1, 2, datatype, &vector) == MPI_SUCCESS);
        for (const MPI_Datatype made : {datatype, vector}) {
            errors_of_mpi = 0;
            const FromMpi type(made);
            CHECK(errors_of_mpi == 0); // it frees no predefined type
            uintptr_t size = 0;
            MPI_Count expected = 0;
            ucd_get_size(type.get(), &size);
            MPI_Type_size_x(made, &expected);
            CHECK(static_cast<MPI_Count>(size) == expected);
            CHECK(bounds_of(type.get()) == bounds_of(made));
        }
        MPI_Type_free(&vector);
    }
    for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF})
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&handler);
    ucd_layout_t layout = {};
    layout.struct_size = sizeof layout;
    const FromMpi integer(MPI_INTEGER), real(MPI_DOUBLE_PRECISION);
    REQUIRE(ucd_get_layout(1, integer.get(), &layout) == UCD_SUCCESS);
    CHECK(layout.element == UCD_TYPE__INT32_T);
    REQUIRE(ucd_get_layout(1, real.get(), &layout) == UCD_SUCCESS);
    CHECK(layout.element == UCD_TYPE__DOUBLE);
    const std::pair<MPI_Datatype, ucd_type_t> sized[] = {
        {MPI_INT8_T, UCD_TYPE__INT8_T},     {MPI_INT16_T, UCD_TYPE__INT16_T},
        {MPI_INT32_T, UCD_TYPE__INT32_T},   {MPI_INT64_T, UCD_TYPE__INT64_T},
        {MPI_UINT8_T, UCD_TYPE__UINT8_T},   {MPI_UINT16_T, UCD_TYPE__UINT16_T},
        {MPI_UINT32_T, UCD_TYPE__UINT32_T}, {MPI_UINT64_T, UCD_TYPE__UINT64_T}};
    for (const auto &[datatype, element] : sized) {
        const FromMpi type(datatype);
        REQUIRE(ucd_get_layout(1, type.get(), &layout) == UCD_SUCCESS);
        CHECK(layout.element == element);
    }
}

TEST_CASE("a UCD type outlives its MPI type, and duplicates share it") {
    start_mpi();
    MPI_Datatype vector = MPI_DATATYPE_NULL, copy = MPI_DATATYPE_NULL;
    MPI_Type_vector(3, 1, 2, MPI_INT, &vector);
    const FromMpi first(vector);
    MPI_Type_dup(vector, &copy);
    MPI_Type_free(&vector);
    const FromMpi second(copy);
    MPI_Type_free(&copy);
    const int matrix[6] = {1, 2, 3, 4, 5, 6};
    int packed[3] = {};
    uintptr_t moved = 0;
    for (const FromMpi *type : {&first, &second}) {
        REQUIRE(ucd_pack(matrix, 1, type->get(), 0, packed, sizeof packed, &moved, UCD_INFO__NULL,
                         UCD_OP__REPLACE) == UCD_SUCCESS);
        CHECK((packed[0] == 1 && packed[1] == 3 && packed[2] == 5));
    }
}

// The number of conversions would be 2 to the power of levels, if each use were converted by
// itself.
TEST_CASE("a type that is used often is converted once") {
    start_mpi();
#ifdef OPEN_MPI
    const int levels = 10; // it takes that many steps itself when it builds the type
#else
    const int levels = 40;
#endif
    std::vector<MPI_Datatype> types = {MPI_DATATYPE_NULL};
    MPI_Type_contiguous(0, MPI_INT, &types[0]);
    for (int level = 0; level < levels; ++level) {
        const int blocklengths[] = {1, 1};
        const MPI_Aint displs[] = {0, 16};
        const MPI_Datatype twice[] = {types.back(), types.back()};
        types.emplace_back();
        MPI_Type_create_struct(2, blocklengths, displs, twice, &types.back());
    }
    const FromMpi type(types.back());
    CHECK(bounds_of(type.get()) == bounds_of(types.back()));
    for (MPI_Datatype &made : types) MPI_Type_free(&made);
}

// MPI libraries themselves recurse when they free deep types, so there are not more levels.
TEST_CASE("conversion does not recurse") {
    start_mpi();
    MPI_Datatype deep = MPI_DATATYPE_NULL;
    MPI_Type_vector(2, 1, 2, MPI_INT, &deep);
    for (int level = 0; level < 10000; ++level) {
        MPI_Datatype inner = deep;
        level % 2 == 0 ? MPI_Type_dup(inner, &deep) : MPI_Type_create_resized(inner, 0, 12, &deep);
        MPI_Type_free(&inner);
    }
    struct Task {
        MPI_Datatype datatype;
        ucd_type_t type = UCD_TYPE__NULL;
        int rc = UCD_ERR__INTERNAL;
    } task = {deep};
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 << 10);
    pthread_t thread;
    const auto body = [](void *argument) -> void * {
        auto &t = *static_cast<Task *>(argument);
        t.rc = ucd_type_from_mpi(t.datatype, UCD_INFO__NULL, &t.type);
        return nullptr;
    };
    REQUIRE(pthread_create(&thread, &attributes, body, &task) == 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
    REQUIRE(task.rc == UCD_SUCCESS);
    CHECK(bounds_of(task.type) == bounds_of(deep));
    ucd_free(&task.type);
    MPI_Type_free(&deep);
}

TEST_CASE("threads convert the same MPI type") {
    start_mpi();
    int provided = MPI_THREAD_SINGLE;
    MPI_Query_thread(&provided);
    if (provided != MPI_THREAD_MULTIPLE) return;
    for (int round = 0; round < 50; ++round) {
        MPI_Datatype vector = MPI_DATATYPE_NULL;
        MPI_Type_vector(3, 1, 2, MPI_INT, &vector);
        std::atomic<int> succeeded{0};
        const auto body = [&] {
            ucd_type_t type = UCD_TYPE__NULL;
            if (ucd_type_from_mpi(vector, UCD_INFO__NULL, &type) == UCD_SUCCESS &&
                ucd_free(&type) == UCD_SUCCESS)
                ++succeeded;
        };
        std::thread one(body), other(body);
        one.join();
        other.join();
        CHECK(succeeded == 2);
        MPI_Type_free(&vector);
    }
}

// The conversion is kept as an attribute of the datatype, so that it is freed with it.
TEST_CASE("a datatype that MPI gives no attribute is refused") {
    start_mpi();
    MPI_Datatype vector = MPI_DATATYPE_NULL;
    MPI_Type_vector(3, 1, 2, MPI_INT, &vector);
    ucd_type_t type = UCD_TYPE__NULL;
    attributes_fail = true;
    const int rc = ucd_type_from_mpi(vector, UCD_INFO__NULL, &type);
    attributes_fail = false;
    CHECK(rc != UCD_SUCCESS);
    CHECK(type == UCD_TYPE__NULL);
    CHECK(std::string(ucd_mpi_last_error()).starts_with("ucd_type_from_mpi: MPI_Type_set_attr "));
    CHECK(bounds_of(FromMpi(vector).get()) == bounds_of(vector));
    MPI_Type_free(&vector);
}

TEST_CASE("wrong arguments of ucd_type_from_mpi") {
    start_mpi();
    ucd_type_t type = UCD_TYPE__NULL;
    CHECK(ucd_type_from_mpi(MPI_INT, UCD_INFO__NULL, nullptr) == UCD_ERR__INVALID_ARG);
    CHECK(std::string(ucd_mpi_last_error()) == "ucd_type_from_mpi: type is NULL; it must not be");
    CHECK(ucd_type_from_mpi(MPI_DATATYPE_NULL, UCD_INFO__NULL, &type) == UCD_ERR__INVALID_ARG);
    CHECK(type == UCD_TYPE__NULL);
}

// Its last block would be at an address that no pointer has. MPI makes such a type.
TEST_CASE("an MPI type that UCD cannot have is refused") {
    start_mpi();
    MPI_Datatype wide = MPI_DATATYPE_NULL;
    if (MPI_Type_create_hvector(5, 1, MPI_Aint{1} << 61, MPI_INT, &wide) != MPI_SUCCESS) return;
    ucd_type_t type = UCD_TYPE__NULL;
    CHECK(ucd_type_from_mpi(wide, UCD_INFO__NULL, &type) != UCD_SUCCESS);
    // Which part of the type it is about.
    CHECK(std::string(ucd_mpi_last_error()).starts_with("ucd_type_from_mpi: ucd_create_hvector: "));
    CHECK(type == UCD_TYPE__NULL);
    // And by types that are built on it.
    MPI_Datatype outer = MPI_DATATYPE_NULL;
    if (MPI_Type_contiguous(1, wide, &outer) == MPI_SUCCESS) {
        CHECK(ucd_type_from_mpi(outer, UCD_INFO__NULL, &type) != UCD_SUCCESS);
        CHECK(type == UCD_TYPE__NULL);
        MPI_Type_free(&outer);
    }
    MPI_Type_free(&wide);
}

TEST_CASE("ucd_type_from_mpi before ucd_init") {
    start_mpi();
    int initialised = 0;
    while (ucd_finalize() == UCD_SUCCESS) ++initialised;
    ucd_type_t type = UCD_TYPE__NULL;
    CHECK(ucd_type_from_mpi(MPI_INT, UCD_INFO__NULL, &type) == UCD_ERR__NOT_INITIALIZED);
    const std::string said = ucd_mpi_last_error();
    CHECK(said.starts_with("ucd_type_from_mpi: "));
    // The caller has not called ucd_backend_count.
    CHECK(said.find("ucd_backend_count") == std::string::npos);
    CHECK(said.find("ucd_init") != std::string::npos);
    for (int i = 0; i < initialised; ++i) REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
}

} // namespace types_test

// Run by one process with libucd-mpi-preload as it is, without UCD_MPI_ALWAYS: which types it takes
// over. A transposed matrix of floats is what each MPI library packs slowly.
//
//     decisions anew|again|duplicates|turns|children|mixed|lists|asks
//     decisions unloads LIBRARY
//
// lists: long lists inside of other types, made anew for each message. mixed: messages to itself of
// ints and doubles with gaps between them, and of nothing. turns: several types, one after the
// other. asks: the program calls functions of later versions of MPI, if they are there, as mpi4py
// does. unloads: the program loads a library before it does as with `again`, and unloads it after.

#include "mpi/processes.hpp"

#include <cstddef>
#include <cstdlib>
#include <dlfcn.h>
#include <numeric>
#include <string_view>
#include <vector>

namespace {

constexpr int edge = 128, n = edge * edge;
std::vector<float> floats(n), packed(n), unpacked(n);

MPI_Datatype transposed() {
    MPI_Datatype column = MPI_DATATYPE_NULL, type = MPI_DATATYPE_NULL;
    MPI_OK(MPI_Type_vector(edge, 1, edge, MPI_FLOAT, &column));
    MPI_OK(MPI_Type_create_hvector(edge, 1, sizeof(float), column, &type));
    MPI_OK(MPI_Type_free(&column));
    MPI_OK(MPI_Type_commit(&type));
    return type;
}

void pack_and_unpack(MPI_Datatype type) {
    constexpr int bytes = n * int{sizeof(float)};
    int position = 0;
    MPI_OK(MPI_Pack(floats.data(), 1, type, packed.data(), bytes, &position, MPI_COMM_SELF));
    CHECK(position == bytes);
    for (std::size_t i = 0; i < packed.size(); ++i)
        if (packed[i] != floats[i % edge * edge + i / edge]) CHECK(false);
    position = 0;
    MPI_OK(MPI_Unpack(packed.data(), bytes, &position, unpacked.data(), 1, type, MPI_COMM_SELF));
    CHECK(position == bytes && unpacked == floats);
}

void pack_in_turns() {
    std::vector<MPI_Datatype> types;
    for (int i = 0; i < 8; ++i) types.push_back(transposed());
    for (int turn = 0; turn < 50; ++turn)
        for (const MPI_Datatype type : types) pack_and_unpack(type);
    for (MPI_Datatype &type : types) MPI_OK(MPI_Type_free(&type));
}

bool has_driver() {
    void *const handle = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (handle != nullptr) dlclose(handle);
    return handle != nullptr;
}

// Packs and unpacks 8 MiB by a long list that two other types hide.
void pack_lists_made_anew() {
    constexpr int count = 1 << 20;
    std::vector<int> displs(count);
    for (int i = 0; i < count; ++i) displs[static_cast<std::size_t>(i)] = 2 * i + (i & 1);
    const std::vector<double> sent(2 * count + 1, 1.0);
    std::vector<double> bytes(count), received(sent.size());
    for (int turn = 0; turn < 3; ++turn) {
        MPI_Datatype list = MPI_DATATYPE_NULL, wide = MPI_DATATYPE_NULL, type = MPI_DATATYPE_NULL;
        MPI_OK(MPI_Type_create_indexed_block(count, 1, displs.data(), MPI_DOUBLE, &list));
        MPI_OK(MPI_Type_create_resized(list, 0, 64, &wide));
        MPI_OK(MPI_Type_contiguous(1, wide, &type));
        MPI_OK(MPI_Type_commit(&type));
        int position = 0;
        MPI_OK(MPI_Pack(sent.data(), 1, type, bytes.data(), 8 * count, &position, MPI_COMM_SELF));
        CHECK(position == 8 * count);
        position = 0;
        MPI_OK(MPI_Unpack(bytes.data(), 8 * count, &position, received.data(), 1, type,
                          MPI_COMM_SELF));
        for (int i = 0; i < count; ++i)
            CHECK(received[static_cast<std::size_t>(displs[static_cast<std::size_t>(i)])] == 1.0);
        for (MPI_Datatype *freed : {&list, &wide, &type}) MPI_OK(MPI_Type_free(freed));
    }
}

struct Pair {
    int number, unused;
    double value;
    double gap;
};
constexpr int pairs_in_item = 64, items = 10;

MPI_Datatype mixed_item() {
    const int ones[] = {1, 1};
    const MPI_Aint displs[] = {0, 8};
    const MPI_Datatype members[] = {MPI_INT, MPI_DOUBLE};
    MPI_Datatype pair = MPI_DATATYPE_NULL, wide = MPI_DATATYPE_NULL, item = MPI_DATATYPE_NULL;
    MPI_OK(MPI_Type_create_struct(2, ones, displs, members, &pair));
    MPI_OK(MPI_Type_create_resized(pair, 0, sizeof(Pair), &wide));
    MPI_OK(MPI_Type_contiguous(pairs_in_item, wide, &item));
    MPI_OK(MPI_Type_free(&pair));
    MPI_OK(MPI_Type_free(&wide));
    MPI_OK(MPI_Type_commit(&item));
    return item;
}

void send_mixed_items() {
    MPI_Datatype item = mixed_item();
    std::vector<Pair> sent(pairs_in_item * items), received(sent.size());
    for (std::size_t i = 0; i < sent.size(); ++i)
        sent[i] = {static_cast<int>(i), 7, 0.5 + static_cast<double>(i), 7};
    // Nothing arrives, and nothing changes. The numbers are others each time, because packed
    // memory is used again.
    const auto fill = [&](int number) {
        for (Pair &pair : received) pair = {number, -1, static_cast<double>(number), -1};
    };
    const auto is_unchanged = [&](int number) {
        for (const Pair &pair : received)
            if (pair.number != number || pair.value != number) return false;
        return true;
    };
    fill(-1);
    MPI_OK(MPI_Sendrecv(sent.data(), 0, item, 0, 1, received.data(), items, item, 0, 1,
                        MPI_COMM_SELF, MPI_STATUS_IGNORE));
    CHECK(is_unchanged(-1));
    fill(-2);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_OK(MPI_Irecv(received.data(), items, item, 0, 2, MPI_COMM_SELF, &request));
    MPI_OK(MPI_Send(sent.data(), 0, item, 0, 2, MPI_COMM_SELF));
    MPI_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(is_unchanged(-2));
    MPI_OK(MPI_Sendrecv(sent.data(), items, item, 0, 3, received.data(), items, item, 0, 3,
                        MPI_COMM_SELF, MPI_STATUS_IGNORE));
    for (std::size_t i = 0; i < sent.size(); ++i)
        CHECK(received[i].number == sent[i].number && received[i].value == sent[i].value &&
              received[i].unused == -1 && received[i].gap == -1);
    MPI_OK(MPI_Type_free(&item));
}

template <class Function>
Function *later(const char *name) {
    return reinterpret_cast<Function *>(dlsym(RTLD_DEFAULT, name));
}

// By their names, because the header may lack them, too.
void call_later_functions() {
    using Send = int(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm);
    if (auto *const send = later<Send>("MPI_Send_c"))
        MPI_OK(send(floats.data(), n, MPI_FLOAT, MPI_PROC_NULL, 1, MPI_COMM_SELF));
    using Broadcast = int(void *, int, MPI_Datatype, int, MPI_Comm, MPI_Info, MPI_Request *);
    MPI_Request request = MPI_REQUEST_NULL;
    if (auto *const init = later<Broadcast>("MPI_Bcast_init")) {
        MPI_OK(init(floats.data(), n, MPI_FLOAT, 0, MPI_COMM_SELF, MPI_INFO_NULL, &request));
        MPI_OK(MPI_Request_free(&request));
    }
    // The library has these even if MPI does not.
    const auto is_right = [](int rc) {
        return rc == MPI_SUCCESS || rc == MPI_ERR_UNSUPPORTED_OPERATION;
    };
    using Look = int(int, const MPI_Request *, int *, MPI_Status *);
    int flag = 0;
    for (const char *const name : {"MPI_Request_get_status_all", "PMPI_Request_get_status_all"})
        if (auto *const look = later<Look>(name))
            CHECK(is_right(look(1, &request, &flag, MPI_STATUSES_IGNORE)));
    using Init = int(MPI_Info, MPI_Errhandler, void *);
    using Finalize = int(void *);
    void *session = nullptr; // large enough for the handle of each MPI library
    auto *const init = later<Init>("MPI_Session_init");
    auto *const finalize = later<Finalize>("MPI_Session_finalize");
    CHECK((init == nullptr) == (finalize == nullptr));
    if (init == nullptr) return;
    const int rc = init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    CHECK(is_right(rc));
    CHECK(finalize(&session) == rc);
}

} // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    const std::string_view what = argc > 1 ? argv[1] : "";
    std::iota(floats.begin(), floats.end(), 1.0F);
    if (what == "anew")
        for (int i = 0; i < 100; ++i) {
            MPI_Datatype type = transposed();
            pack_and_unpack(type);
            MPI_OK(MPI_Type_free(&type));
        }
    if (what == "mixed") send_mixed_items();
    if (what == "lists") pack_lists_made_anew();
    if (what == "turns") pack_in_turns();
    if (what == "asks") call_later_functions();
    const bool had_driver = has_driver();
    void *const loaded = what == "unloads" ? dlopen(argv[2], RTLD_NOW) : nullptr;
    CHECK((loaded != nullptr) == (what == "unloads"));
    if (what == "children") CHECK(std::system("echo the child said: ok") == 0);
    MPI_Datatype type = transposed();
    if (what != "anew" && what != "lists" && what != "turns")
        for (int i = 0; i < 100; ++i) pack_and_unpack(type);
    if (what == "duplicates")
        for (int i = 0; i < 50; ++i) {
            MPI_Datatype other = MPI_DATATYPE_NULL;
            MPI_OK(MPI_Type_dup(type, &other));
            MPI_OK(MPI_Type_free(&type));
            type = other;
            pack_and_unpack(type);
        }
    MPI_OK(MPI_Type_free(&type));
    if (loaded != nullptr) {
        CHECK(has_driver());
        CHECK(dlclose(loaded) == 0);
        CHECK(has_driver() == had_driver);
    }
    MPI_Finalize();
    return 0;
}

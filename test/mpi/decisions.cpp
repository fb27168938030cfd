// Run by one process with libucd-mpi-preload as it is, without UCD_MPI_ALWAYS: which types it takes
// over. A transposed matrix of floats is what each MPI library packs slowly.
//
//     decisions anew|again|duplicates|children

#include "mpi/processes.hpp"

#include <cstddef>
#include <cstdlib>
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
    if (what == "children") CHECK(std::system("echo the child said: ok") == 0);
    MPI_Datatype type = transposed();
    if (what != "anew")
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
    MPI_Finalize();
    return 0;
}

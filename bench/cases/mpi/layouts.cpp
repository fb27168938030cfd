#include "cases/mpi/layouts.hpp"

#include "cases/layouts.hpp"
#include "shapes/mpi_datatypes.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace bench {
namespace {

MPI_Datatype committed(MPI_Datatype type) {
    MPI_Type_commit(&type);
    return type;
}

MPI_Datatype vector(int blocks, int doubles, int stride) {
    MPI_Datatype type;
    MPI_Type_vector(blocks, doubles, stride, MPI_DOUBLE, &type);
    return committed(type);
}

// Blocks of 1 to 4 doubles with gaps of 0 to 3.
MPI_Datatype indexed(int doubles) {
    std::vector<int> lengths, displs;
    unsigned state = 1;
    for (int total = 0, at = 0; total < doubles;) {
        state = state * 1103515245 + 12345;
        const int length = std::min(1 + static_cast<int>(state >> 16 & 3), doubles - total);
        lengths.push_back(length);
        displs.push_back(at);
        total += length;
        at += length + static_cast<int>(state >> 20 & 3);
    }
    MPI_Datatype type;
    MPI_Type_indexed(static_cast<int>(lengths.size()), lengths.data(), displs.data(), MPI_DOUBLE,
                     &type);
    return committed(type);
}

// A face of a cube of doubles: `fixed` is the dimension that has one index only.
MPI_Datatype face(int doubles, int fixed) {
    const int edge = std::max(2, static_cast<int>(std::sqrt(doubles)));
    const int sizes[] = {edge, edge, edge}, starts[] = {0, 0, 0};
    int subsizes[] = {edge, edge, edge};
    subsizes[fixed] = 1;
    MPI_Datatype type;
    MPI_Type_create_subarray(3, sizes, subsizes, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
    return committed(type);
}

// A square matrix of doubles, column by column.
MPI_Datatype transposed(int edge) {
    MPI_Datatype column, type;
    MPI_Type_vector(edge, 1, edge, MPI_DOUBLE, &column);
    MPI_Type_create_hvector(edge, 1, 8, column, &type);
    MPI_Type_free(&column);
    return committed(type);
}

// struct { double x; float not_sent; int id; }
MPI_Datatype particle() {
    const int lengths[] = {1, 1};
    const MPI_Aint displs[] = {0, 12};
    const MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT};
    MPI_Datatype members, type;
    MPI_Type_create_struct(2, lengths, displs, types, &members);
    MPI_Type_create_resized(members, 0, 16, &type);
    MPI_Type_free(&members);
    return committed(type);
}

} // namespace

MpiLayout::MpiLayout(std::string layout_name, MPI_Datatype datatype, int items)
    : name(std::move(layout_name)), type(datatype), count(items) {
    MPI_Aint lb = 0, step = 0, first = 0, span = 0;
    int size = 0;
    MPI_Type_get_extent(type, &lb, &step);
    MPI_Type_get_true_extent(type, &first, &span);
    MPI_Type_size(type, &size);
    bytes = static_cast<std::size_t>(size) * static_cast<std::size_t>(count);
    extent = static_cast<std::size_t>(std::max(step * count, step * (count - 1) + first + span));
}

MpiLayout::MpiLayout(MpiLayout &&other) noexcept
    : name(std::move(other.name)), type(std::exchange(other.type, MPI_DOUBLE)), count(other.count),
      bytes(other.bytes), extent(other.extent) {}

MpiLayout MpiLayout::resized(const MpiCalls &calls) const {
    MPI_Aint lb = 0, step = 0;
    MPI_Datatype fresh = MPI_DATATYPE_NULL;
    MPI_Type_get_extent(type, &lb, &step);
    MPI_Type_create_resized(type, lb, step, &fresh);
    calls.type_commit(&fresh);
    return {"", fresh, count};
}

MpiLayout::~MpiLayout() {
    if (type != MPI_DOUBLE) MPI_Type_free(&type);
}

std::vector<MpiLayout> mpi_layouts(int bytes) {
    const int doubles = bytes / 8;
    std::vector<MpiLayout> all;
    all.emplace_back("every second double", vector(doubles, 1, 2), 1);
    all.emplace_back("column of a matrix", vector(doubles, 1, 128), 1);
    all.emplace_back("blocks of 64 bytes", vector(doubles / 8, 8, 16), 1);
    all.emplace_back("blocks of 1 KiB", vector(std::max(1, doubles / 128), 128, 256), 1);
    all.emplace_back("blocks of 1 to 4 doubles", indexed(doubles), 1);
    all.emplace_back("particles", particle(), bytes / 12);
    all.emplace_back("face y of a cube", face(doubles, 1), 1);
    all.emplace_back("face z of a cube", face(doubles, 2), 1);
    all.emplace_back("contiguous", MPI_DOUBLE, doubles);
    return all;
}

MpiLayout rows_layout(int bytes, int row) {
    return {"rows of " + std::to_string(row) + " bytes", vector(bytes / row, row / 8, row / 4), 1};
}

std::vector<MpiLayout> device_layouts(int bytes) {
    const int doubles = bytes / 8, edge = static_cast<int>(std::sqrt(doubles));
    std::vector<MpiLayout> all;
    for (const int row : {8, 128, 4096})
        if (bytes >= 2 * row) all.push_back(rows_layout(bytes, row));
    all.emplace_back("face y of a field", vector(edge, edge, 8 * edge), 1);
    all.emplace_back("face z of a field", vector(edge * edge, 1, 8), 1);
    all.emplace_back("blocks of 1 to 4 doubles", indexed(doubles), 1);
    all.emplace_back("particles", particle(), bytes / 12);
    all.emplace_back("transposed", transposed(edge), 1);
    all.emplace_back("contiguous", MPI_DOUBLE, doubles);
    return all;
}

std::vector<MpiLayout> table_layouts() {
    std::vector<MpiLayout> all;
    for (const std::vector<Layout> &layouts : {cpu::whole_layouts(), cpu::app_layouts()})
        for (const Layout &layout : layouts)
            all.emplace_back(layout.name, committed(build_datatype(*layout.type)), 1);
    return all;
}

} // namespace bench

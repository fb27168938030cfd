// I/O vectors, boxes and runs of elements. ucd._lists makes arrays of the first two.
#include "core/lists.h"

#include "core/type.h"

#include <vector>

namespace ucdpy {

namespace {

template <class T>
nb::object bytearray_of(const std::vector<T> &list) {
    nb::object made =
        nb::steal(PyByteArray_FromStringAndSize(reinterpret_cast<const char *>(list.data()),
                                                static_cast<Py_ssize_t>(list.size() * sizeof(T))));
    if (!made.is_valid()) throw nb::python_error();
    return made;
}

std::vector<ucd_box_t> boxes_of(const Type &type, uintptr_t count) {
    std::vector<ucd_box_t> boxes;
    uintptr_t written = 0, total = 0;
    check(ucd_get_boxes(count, type.get(), 0, nullptr, 0, &written, &total));
    boxes.resize(total);
    check(ucd_get_boxes(count, type.get(), 0, boxes.data(), total, &written, &total));
    return boxes;
}

std::vector<iovec> segments_of(const Type &type, uintptr_t address, uintptr_t count) {
    uintptr_t segments = 0;
    check(ucd_iov_len(count, type.get(), &segments));
    std::vector<iovec> list(segments);
    check(ucd_iov(reinterpret_cast<const void *>(address), count, type.get(), 0, list.data(),
                  segments, &segments));
    return list;
}

nb::object iov(const Type &type, uintptr_t address, uintptr_t count) {
    return bytearray_of(segments_of(type, address, count));
}

// A row is one strided run of blocks: what ucd.boxes gives.
struct Row {
    int64_t address, block, count, stride, offset;
};

// A row for each index of the outer dimensions of a box.
void add_rows(const ucd_box_t &box, int64_t address, std::vector<Row> &rows) {
    const uint32_t last = box.dims - 1;
    uint64_t outer = 1;
    for (uint32_t k = 0; k < last; ++k) outer *= box.count[k];
    const int64_t row_bytes = static_cast<int64_t>(box.block * box.count[last]);
    for (uint64_t r = 0; r < outer; ++r) {
        int64_t at = address + box.start;
        uint64_t rest = r;
        for (uint32_t k = last; k-- > 0;) {
            at += static_cast<int64_t>(rest % box.count[k]) * box.stride[k];
            rest /= box.count[k];
        }
        rows.push_back({at, static_cast<int64_t>(box.block), static_cast<int64_t>(box.count[last]),
                        box.stride[last],
                        static_cast<int64_t>(box.offset) + static_cast<int64_t>(r) * row_bytes});
    }
}

std::vector<Row> rows_of(const Type &type, uintptr_t address, uintptr_t count) {
    std::vector<Row> list;
    for (const ucd_box_t &box : boxes_of(type, count))
        add_rows(box, static_cast<int64_t>(address), list);
    return list;
}

nb::object boxes(const Type &type, uintptr_t address, uintptr_t count) {
    return bytearray_of(rows_of(type, address, count));
}

// Rows without negative strides, which an unsigned stride cannot say: such a row becomes one for
// each of its blocks.
std::vector<Row> with_unsigned_strides(const std::vector<Row> &rows) {
    std::vector<Row> list;
    for (const Row &row : rows) {
        if (row.stride >= 0 || row.count == 1) {
            list.push_back(row);
            if (row.count == 1) list.back().stride = 0;
            continue;
        }
        for (int64_t i = 0; i < row.count; ++i)
            list.push_back(
                {row.address + i * row.stride, row.block, 1, 0, row.offset + i * row.block});
    }
    return list;
}

// A row for each contiguous piece.
std::vector<Row> pieces_of(const Type &type, uintptr_t address, uintptr_t count) {
    std::vector<Row> list;
    int64_t offset = 0;
    for (const iovec &segment : segments_of(type, address, count)) {
        const auto length = static_cast<int64_t>(segment.iov_len);
        list.push_back({reinterpret_cast<int64_t>(segment.iov_base), length, 1, 0, offset});
        offset += length;
    }
    return list;
}

nb::list columns(const Type &type, uintptr_t address, uintptr_t count, bool expand) {
    const std::vector<Row> rows = expand ? pieces_of(type, address, count)
                                         : with_unsigned_strides(rows_of(type, address, count));
    nb::list made;
    std::vector<int64_t> column(rows.size());
    for (int64_t Row::*member :
         {&Row::address, &Row::block, &Row::count, &Row::stride, &Row::offset}) {
        for (std::size_t i = 0; i < rows.size(); ++i) column[i] = rows[i].*member;
        made.append(bytearray_of(column));
    }
    return made;
}

nb::list element_runs(const Type &type, uintptr_t count) {
    uintptr_t written = 0, total = 0;
    check(ucd_get_element_runs(count, type.get(), 0, nullptr, 0, &written, &total));
    std::vector<ucd_element_run_t> runs(total);
    check(ucd_get_element_runs(count, type.get(), 0, runs.data(), total, &written, &total));
    nb::list list;
    for (const ucd_element_run_t &run : runs) {
        const nb::object element = predefined_object(run.element);
        list.append(nb::make_tuple(element.is_valid() ? element : nb::none(), run.element_bytes,
                                   run.elements, run.offset));
    }
    return list;
}

} // namespace

void bind_lists(nb::module_ &m) {
    using nb::arg;
    m.def("iov", &iov, arg("type"), arg("address"), arg("count"));
    m.def("boxes", &boxes, arg("type"), arg("address"), arg("count"));
    m.def("columns", &columns, arg("type"), arg("address"), arg("count"), arg("expand"));
    m.def("element_runs", &element_runs, arg("type"), arg("count"));
}

} // namespace ucdpy

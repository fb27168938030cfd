#include "language/list_file.hpp"

#include "failure.hpp"
#include "files/mapped_file.hpp"
#include "files/npy.hpp"
#include "filled.hpp"

#include <cstring>

namespace ucdtool {
namespace {

template <class T>
void widen(const std::byte *data, std::vector<intptr_t> &list, const std::string &path) {
    for (std::size_t i = 0; i < list.size(); ++i) {
        T value;
        std::memcpy(&value, data + i * sizeof value, sizeof value);
        if (static_cast<uint64_t>(value) > INTPTR_MAX && value > 0)
            throw Failure(Exit::failed,
                          filled("{}: entry {} is {}; the most is {}", path, i, value, INTPTR_MAX));
        list[i] = static_cast<intptr_t>(value);
    }
}

} // namespace

Ints list_from_file(const std::string &path) {
    const auto file = std::make_shared<MappedFile>(path, MappedFile::Access::read);
    const Npy npy = read_npy(file->bytes(), path);
    if (npy.shape.size() != 1)
        throw Failure(Exit::failed,
                      filled("{}: a list has one dimension; this is {}", path, npy.shown()));
    const std::byte *data = file->data() + npy.data_at;
    const auto count = static_cast<std::size_t>(npy.shape[0]);
    const ucd_type_t type = type_of_dtype(npy.descr);
    const bool aligned = reinterpret_cast<uintptr_t>(data) % alignof(intptr_t) == 0;
    if (type == UCD_TYPE__INT64_T && sizeof(intptr_t) == 8 && aligned)
        return {{reinterpret_cast<const intptr_t *>(data), count}, file, path};

    std::vector<intptr_t> list(count);
    if (type == UCD_TYPE__INT8_T)
        widen<int8_t>(data, list, path);
    else if (type == UCD_TYPE__INT16_T)
        widen<int16_t>(data, list, path);
    else if (type == UCD_TYPE__INT32_T)
        widen<int32_t>(data, list, path);
    else if (type == UCD_TYPE__INT64_T)
        widen<int64_t>(data, list, path);
    else if (type == UCD_TYPE__UINT8_T)
        widen<uint8_t>(data, list, path);
    else if (type == UCD_TYPE__UINT16_T)
        widen<uint16_t>(data, list, path);
    else if (type == UCD_TYPE__UINT32_T)
        widen<uint32_t>(data, list, path);
    else if (type == UCD_TYPE__UINT64_T)
        widen<uint64_t>(data, list, path);
    else
        throw Failure(Exit::failed, filled("{}: a list is of integers in this machine's byte "
                                           "order; this is {}",
                                           path, npy.shown()));
    Ints ints = Ints::of(std::move(list));
    ints.file = path;
    return ints;
}

} // namespace ucdtool

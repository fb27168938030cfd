// A file with a layout: the noncontiguous side of a move.
#pragma once

#include "files/mapped_file.hpp"
#include "files/new_file.hpp"
#include "files/npy.hpp"

#include <ucd.hpp>

#include <optional>
#include <string>
#include <vector>

namespace ucdtool {

struct LayoutOptions {
    std::string path;
    std::string type;    // an argument as for ucd describe
    std::string slice;   // or a slice of an array; if neither is set, the whole array
    std::string shape;   // of a raw or new file's array: "512,512"; .npy files have their own
    std::string dtype;   // its element, a predefined type
    uintptr_t count = 1; // number of types
    intptr_t origin = 0; // the byte of the data at which the buffer begins
    bool as_is = false;  // ignore the dtype and order of the file
};

class TypedFile {
public:
    enum class Access {
        read,
        write,
        create, // like write, but creates a missing file
    };
    // Throws Failure unless everything that the type touches is within the file's data.
    TypedFile(const LayoutOptions &options, Access access);

    // If the file is missing, creates it with the size that the type or the array needs. Must be
    // called before buffer(), and after all other checks. The file has no name until finish(),
    // which ends the writing.
    void make_missing();
    void finish(bool sync);
    bool is_new() const { return new_file_.has_value(); }

    // The address that displacements are relative to; it may lie outside of the file.
    void *buffer() const {
        return reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(file_.data()) + data_at_ +
                                        static_cast<uintptr_t>(at_));
    }
    ucd::TypeRef type() const { return type_; }
    uintptr_t count() const { return count_; }
    const ucd_layout_t &layout() const { return layout_; }
    const std::string &path() const { return options_.path; }
    // For output made from this file: its dtype, or "" if it has none; the size of an element; and
    // the shape of a slice.
    const std::string &dtype() const { return dtype_; }
    uint64_t item_bytes() const { return item_bytes_; }
    const std::optional<std::vector<intptr_t>> &shape() const { return shape_; }
    // All bytes of the file that are touched are in [first, last).
    uint64_t first() const { return touched_from_; }
    uint64_t last() const { return touched_from_ + (layout_.bytes == 0 ? 0 : span_); }

private:
    void set_slice(const Npy &array, ucd::TypeRef element);
    void set_array();
    void prepare_missing();
    void check_against(const Npy &npy) const;
    void place(uint64_t data_at, uint64_t data_bytes);

    LayoutOptions options_;
    std::optional<NewFile> new_file_;
    MappedFile file_;
    ucd::Type type_;
    ucd_layout_t layout_{};
    uintptr_t count_ = 1;
    intptr_t start_ = 0; // of the slice
    bool missing_ = false;
    std::vector<std::byte> header_; // of a missing .npy file
    Npy array_;                     // the array in the options
    intptr_t at_ = 0;               // position of the buffer in the data
    uint64_t data_at_ = 0, touched_from_ = 0, span_ = 0;
    std::string dtype_;
    uint64_t item_bytes_ = 0;
    std::optional<std::vector<intptr_t>> shape_;
};

// Whether these are bytes that the user asked for, which match all elements. The elements of dtypes
// that UCD does not know are moved as bytes, too, but keep their dtype.
bool are_bytes(ucd_type_t element, const std::string &dtype);

// Throws Failure if the elements of the array differ from those of a layout with this dtype.
void check_dtype(const Npy &npy, ucd_type_t element, const std::string &dtype,
                 const std::string &path);

bool is_npy_name(const std::string &path);

// The packed data as an array. Its elements are bytes if the type has elements of several kinds.
struct PackedArray {
    std::string dtype;
    std::vector<intptr_t> shape;
};
PackedArray packed_array(const TypedFile &in);

// Makes a missing .npy file this array, unless the options specify another one.
void default_to_array(LayoutOptions &missing, const PackedArray &array);

} // namespace ucdtool

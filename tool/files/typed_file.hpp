// A file with a layout over it: the noncontiguous side of a move.
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
    std::string type;    // an argument as of ucd describe...
    std::string slice;   // ...or a slice of an array; neither: all of it
    std::string shape;   // of a raw or new file's array: "512,512"; a .npy file has its own...
    std::string dtype;   // ...and so its element, a predefined type
    uintptr_t count = 1; // of types
    intptr_t origin = 0; // byte of the data where the buffer starts
    bool as_is = false;  // whatever dtype and order the file has
};

class TypedFile {
public:
    enum class Access {
        read,
        write,
        create, // as write; a file that is missing is made
    };
    // Throws Failure unless all that the type touches lies within the file's data.
    TypedFile(const LayoutOptions &options, Access access);

    // Makes the file, as long as the type or the array needs, if it is missing: to be called before
    // buffer(), and once nothing else can be wrong. It has no name before finish(), which ends the
    // writing.
    void make_missing();
    void finish(bool sync);
    bool is_new() const { return new_file_.has_value(); }

    // Where displacements count from; it need not lie in the file.
    void *buffer() const {
        return reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(file_.data()) + data_at_ +
                                        static_cast<uintptr_t>(at_));
    }
    ucd::TypeRef type() const { return type_; }
    uintptr_t count() const { return count_; }
    const ucd_layout_t &layout() const { return layout_; }
    const std::string &path() const { return options_.path; }
    // For what is made of it: dtype "" if it has none, else with an element's bytes; and the shape
    // of a slice.
    const std::string &dtype() const { return dtype_; }
    uint64_t item_bytes() const { return item_bytes_; }
    const std::optional<std::vector<intptr_t>> &shape() const { return shape_; }
    // The bytes of the file that are touched lie in [first, last).
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
    Npy array_;                     // that the arguments say
    intptr_t at_ = 0;               // where the buffer starts in the data
    uint64_t data_at_ = 0, touched_from_ = 0, span_ = 0;
    std::string dtype_;
    uint64_t item_bytes_ = 0;
    std::optional<std::vector<intptr_t>> shape_;
};

// Throws Failure if the array's elements are not those that the type is made of.
void check_dtype(const Npy &npy, ucd_type_t element, const std::string &path);

bool is_npy_name(const std::string &path);

// The packed data as an array: of bytes where the elements are of several types.
struct PackedArray {
    std::string dtype;
    std::vector<intptr_t> shape;
};
PackedArray packed_array(const TypedFile &in);

// If nothing says what a missing .npy file is to be, it is to be this array.
void default_to_array(LayoutOptions &missing, const PackedArray &array);

} // namespace ucdtool

#include "harness/ucd_peer.hpp"

#include <fmt/core.h>

#include <stdexcept>

namespace bench {
namespace {

ucd_type_t build(const Recipe &recipe);

ucd_type_t predefined_type(Element element) {
    switch (element) {
    case Element::byte: return UCD_TYPE__BYTE;
    case Element::int32: return UCD_TYPE__INT32_T;
    case Element::float32: return UCD_TYPE__FLOAT;
    case Element::float64: return UCD_TYPE__DOUBLE;
    }
    throw std::logic_error("no such element");
}

std::intptr_t length(const Ints &values) {
    return static_cast<std::intptr_t>(values.size());
}

ucd_type_t create(const Predefined &n) {
    ucd_type_t type;
    check_ucd(ucd_create_dup(predefined_type(n.element), UCD_INFO__NULL, &type));
    return type;
}

// Calls a constructor whose last arguments are the old type, the info and the new type.
template <class Constructor, class... Arguments>
ucd_type_t on(const RecipePtr &old, Constructor constructor, Arguments... arguments) {
    const UcdType old_type(*old);
    ucd_type_t type;
    check_ucd(constructor(arguments..., old_type.get(), UCD_INFO__NULL, &type));
    return type;
}

ucd_type_t create(const Contig &n) {
    return on(n.old, ucd_create_contig, n.count);
}
ucd_type_t create(const Vector &n) {
    return on(n.old, ucd_create_vector, n.count, n.blocklength, n.stride);
}
ucd_type_t create(const HVector &n) {
    return on(n.old, ucd_create_hvector, n.count, n.blocklength, n.stride);
}
ucd_type_t create(const IndexedBlock &n) {
    return on(n.old, ucd_create_indexed_block, length(n.displs), n.blocklength, n.displs.data());
}
ucd_type_t create(const Indexed &n) {
    return on(n.old, ucd_create_indexed, length(n.displs), n.blocklengths.data(), n.displs.data());
}
ucd_type_t create(const Subarray &n) {
    return on(n.old, ucd_create_subarray, static_cast<int>(n.sizes.size()), n.sizes.data(),
              n.subsizes.data(), n.starts.data(), UCD_ORDER__C);
}
ucd_type_t create(const Struct &n) {
    std::vector<UcdType> owned;
    std::vector<ucd_type_t> types;
    for (const RecipePtr &member : n.types) types.push_back(owned.emplace_back(*member).get());
    ucd_type_t type;
    check_ucd(ucd_create_struct(length(n.displs), n.blocklengths.data(), n.displs.data(),
                                types.data(), UCD_INFO__NULL, &type));
    return type;
}
ucd_type_t create(const Resized &n) {
    const UcdType old(*n.old);
    ucd_type_t type;
    check_ucd(ucd_create_resized(old.get(), n.lb, n.extent, UCD_INFO__NULL, &type));
    return type;
}

ucd_type_t build(const Recipe &recipe) {
    return std::visit([](const auto &node) { return create(node); }, recipe.node);
}

} // namespace

void fail_in_ucd(int rc) {
    throw std::runtime_error(fmt::format("{}: {}", ucd_strerror(rc), ucd_last_error()));
}

UcdInfo::UcdInfo(const std::string &key, const std::string &value) {
    check_ucd(ucd_info_create(&info_));
    set(key, value);
}

void UcdInfo::set(const std::string &key, const std::string &value) {
    check_ucd(ucd_info_set(info_, key.c_str(), value.c_str()));
}

UcdType::UcdType(const Recipe &recipe) : type_(build(recipe)) {}

UcdType::~UcdType() {
    if (type_ != UCD_TYPE__NULL) ucd_free(&type_);
}

Work ucd_work(const UcdMove &move, bool pack) {
    return pack ? repeated([move] { move.pack(); }) : repeated([move] { move.unpack(); });
}

} // namespace bench

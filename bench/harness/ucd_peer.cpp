#include "harness/ucd_peer.hpp"

#include <ucd.hpp>

#include <fmt/core.h>

#include <stdexcept>

namespace bench {
namespace {

ucd::Type build(const Recipe &recipe);

ucd_type_t predefined_type(Element element) {
    switch (element) {
    case Element::byte: return UCD_TYPE__BYTE;
    case Element::int32: return UCD_TYPE__INT32_T;
    case Element::float32: return UCD_TYPE__FLOAT;
    case Element::float64: return UCD_TYPE__DOUBLE;
    }
    throw std::logic_error("no such element");
}

ucd::Type create(const Predefined &n) {
    return ucd::Type::dup(predefined_type(n.element));
}
ucd::Type create(const Contig &n) {
    return ucd::Type::contig(n.count, build(*n.old));
}
ucd::Type create(const Vector &n) {
    return ucd::Type::vector(n.count, n.blocklength, n.stride, build(*n.old));
}
ucd::Type create(const HVector &n) {
    return ucd::Type::hvector(n.count, n.blocklength, n.stride, build(*n.old));
}
ucd::Type create(const IndexedBlock &n) {
    return ucd::Type::indexed_block(n.blocklength, n.displs, build(*n.old));
}
ucd::Type create(const Indexed &n) {
    return ucd::Type::indexed(n.blocklengths, n.displs, build(*n.old));
}
ucd::Type create(const Subarray &n) {
    return ucd::Type::subarray(n.sizes, n.subsizes, n.starts, UCD_ORDER__C, build(*n.old));
}
ucd::Type create(const Struct &n) {
    std::vector<ucd::Type> owned;
    std::vector<ucd_type_t> types;
    for (const RecipePtr &member : n.types)
        types.push_back(owned.emplace_back(build(*member)).get());
    return ucd::Type::structure(n.blocklengths, n.displs, types);
}
ucd::Type create(const Resized &n) {
    return ucd::Type::resized(build(*n.old), n.lb, n.extent);
}

ucd::Type build(const Recipe &recipe) {
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

UcdType::UcdType(const Recipe &recipe) : type_(build(recipe).release()) {}

UcdType::~UcdType() {
    if (type_ != UCD_TYPE__NULL) ucd_free(&type_);
}

Work ucd_work(const UcdMove &move, bool pack) {
    return pack ? repeated([move] { move.pack(); }) : repeated([move] { move.unpack(); });
}

} // namespace bench

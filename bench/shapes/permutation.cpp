#include "shapes/permutation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace bench {

RecipePtr Permutation::type() const {
    std::vector<std::intptr_t> strides(shape.size());
    std::intptr_t stride = element;
    for (std::size_t d = shape.size(); d-- > 0; stride *= shape[d]) strides[d] = stride;
    RecipePtr type = recipe(Contig{element, predefined(Element::byte)});
    for (std::size_t i = order.size(); i-- > 0;) {
        const auto d = static_cast<std::size_t>(order[i]);
        type = recipe(HVector{shape[d], 1, strides[d], type});
    }
    return type;
}

Permutation Permutation::inverse() const {
    Permutation result{name, element, {}, std::vector<int>(order.size())};
    for (std::size_t i = 0; i < order.size(); ++i) {
        result.shape.push_back(shape[static_cast<std::size_t>(order[i])]);
        result.order[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
    }
    return result;
}

namespace {

Permutation random_permutation(std::mt19937 &random, int number) {
    constexpr double sizes[] = {16 << 10, 256 << 10, 4 << 20, 64 << 20};
    constexpr int elements[] = {4, 8, 1, 2, 16};
    const int rank = 2 + number % 7, element = elements[number % 5];
    Permutation p{"", element, {}, {}};
    // Each dimension is half as long to half as long again as it would be in a cube.
    const double side = std::pow(sizes[number % 4] / element, 1.0 / rank);
    for (int d = 0; d < rank; ++d)
        p.shape.push_back(std::max(
            2, static_cast<int>(side * (0.5 + static_cast<double>(random() % 1000) * 1e-3))));
    p.order.resize(p.shape.size());
    std::iota(p.order.begin(), p.order.end(), 0);
    // Not those that leave the fastest dimension as it is.
    do {
        for (std::size_t d = p.order.size(); d-- > 1;)
            std::swap(p.order[d], p.order[random() % (d + 1)]);
    } while (p.order.back() == rank - 1);
    for (const int d : p.shape) p.name += (p.name.empty() ? "" : "x") + std::to_string(d);
    p.name += " (";
    for (const int d : p.order) p.name += std::to_string(d);
    p.name += "), " + std::to_string(element) + " B";
    return p;
}

} // namespace

std::vector<Permutation> permutations() {
    std::vector<Permutation> all{
        {"transpose 4096^2, 4 B", 4, {4096, 4096}, {1, 0}},
        {"transpose 4096^2, 8 B", 8, {4096, 4096}, {1, 0}},
        {"256^3 reversed, 4 B", 4, {256, 256, 256}, {2, 1, 0}},
        {"256^3 (120), 4 B", 4, {256, 256, 256}, {1, 2, 0}},
        {"256^3 (201), 4 B", 4, {256, 256, 256}, {2, 0, 1}},
        {"24^5 reversed, 4 B", 4, {24, 24, 24, 24, 24}, {4, 3, 2, 1, 0}},
        {"24^5 (20413), 4 B", 4, {24, 24, 24, 24, 24}, {2, 0, 4, 1, 3}},
        {"32^5 reversed, 4 B", 4, {32, 32, 32, 32, 32}, {4, 3, 2, 1, 0}},
        {"NCHW to NHWC, 64x64x56x56, 4 B", 4, {64, 64, 56, 56}, {0, 2, 3, 1}},
        {"NHWC to NCHW, 64x56x56x64, 4 B", 4, {64, 56, 56, 64}, {0, 3, 1, 2}},
        {"NCHW to NHWC, 64x3x224x224, 1 B", 1, {64, 3, 224, 224}, {0, 2, 3, 1}},
        {"NCHW to NHWC, 64x1x224x224, 1 B", 1, {64, 1, 224, 224}, {0, 2, 3, 1}},
        {"NCHW to NHWC, 64x4x224x224, 1 B", 1, {64, 4, 224, 224}, {0, 2, 3, 1}},
        {"NCHW to NHWC, 64x3x224x224, 2 B", 2, {64, 3, 224, 224}, {0, 2, 3, 1}},
        {"NCHW to NHWC, 64x3x223x225, 1 B", 1, {64, 3, 223, 225}, {0, 2, 3, 1}},
        {"transpose 4096^2, 1 B", 1, {4096, 4096}, {1, 0}},
        {"transpose 4096^2, 2 B", 2, {4096, 4096}, {1, 0}},
        {"transpose 2048^2, 16 B", 16, {2048, 2048}, {1, 0}},
        {"transpose 8191 x 8193, 1 B", 1, {8191, 8193}, {1, 0}},
        {"transpose 5793 x 5795, 2 B", 2, {5793, 5795}, {1, 0}},
        {"transpose 4097 x 4099, 4 B", 4, {4097, 4099}, {1, 0}},
        {"transpose 2897 x 2899, 8 B", 8, {2897, 2899}, {1, 0}},
        {"transpose 128^2, 4 B", 4, {128, 128}, {1, 0}},
    };
    std::mt19937 random(20261125); // the same ones in every run
    for (int i = 0; i < 20; ++i) all.push_back(random_permutation(random, i));
    return all;
}

} // namespace bench

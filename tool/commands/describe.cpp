// ucd describe: shows everything about a type in words, as a picture, and as JSON.

#include "commands/commands.hpp"
#include "commands/facts.hpp"
#include "commands/output.hpp"
#include "commands/source.hpp"
#include "language/constructors.hpp"
#include "language/print.hpp"
#include "picture/svg.hpp"
#include "picture/terminal.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>

namespace ucdtool {
namespace {

struct DescribeOptions {
    std::string type, svg, color = "auto";
    uintptr_t count = 1;
    uint64_t row = 0;
    std::size_t columns = 64;
    bool json = false, ascii = false, no_picture = false;
};

std::string table(const std::vector<std::pair<std::string, std::string>> &rows) {
    std::string text, last;
    for (const auto &[name, value] : rows) {
        text += fmt::format("{:<12} {}\n", name == last ? "" : name, value);
        last = name;
    }
    return text;
}

std::string range(int64_t from, int64_t length) {
    return fmt::format("{} bytes from {}", length, from);
}

// The first few boxes, and the number of all.
struct FirstBoxes {
    static constexpr std::size_t most = 8;
    std::vector<ucd_box_t> boxes;
    uintptr_t total = 0;

    FirstBoxes(ucd::TypeRef type, uintptr_t count)
        : boxes(most), total(ucd::box_count(count, type)) {
        boxes.resize(ucd::boxes(count, type, 0, boxes).size());
    }
};

// Words a box as nested strides.
std::string box_text(const ucd_box_t &box) {
    if (box.dims == 1 && box.count[0] == 1)
        return fmt::format("{} bytes from {}", box.block, box.start);
    std::string text = fmt::format("blocks of {} bytes from {}", box.block, box.start);
    for (uint32_t k = 0; k < box.dims; ++k)
        text += fmt::format(", {} times {} bytes apart", box.count[k], box.stride[k]);
    return text;
}

nlohmann::ordered_json box_json(const ucd_box_t &box) {
    nlohmann::ordered_json j = {{"start", box.start}, {"block", box.block}};
    for (uint32_t k = 0; k < box.dims; ++k) {
        j["counts"].push_back(box.count[k]);
        j["strides"].push_back(box.stride[k]);
    }
    return j;
}

std::string in_words(ucd::TypeRef type, const DescribeOptions &o, const Facts &facts) {
    const ucd_layout_t l = type.layout(o.count);
    const std::string recovered = to_text(type);
    std::vector<std::pair<std::string, std::string>> rows;
    const auto add = [&](const char *name, const std::string &value) {
        rows.emplace_back(name, value);
    };
    const auto add_all = [&](const char *name, const char *key) {
        for (const std::string &value : facts.all(key)) add(name, value);
    };
    for (std::size_t at = 0; at <= recovered.size();) {
        const std::size_t end = std::min(recovered.find('\n', at), recovered.size());
        constexpr std::size_t most = 200;
        const std::string line = recovered.substr(at, end - at);
        add("type", line.size() > most ? line.substr(0, most) + "..." : line);
        at = end + 1;
    }
    add_all("as built", "type");
    add("size", facts.one("size") + " bytes packed");
    const bool is_explicit = facts.one("explicit_bounds") == "yes";
    add("extent", range(facts.number("lb"), facts.number("extent")) +
                      (is_explicit ? ", set by the type" : ""));
    add("true extent", range(facts.number("true_lb"), facts.number("true_extent")));
    add("alignment", facts.one("alignment"));
    add("elements",
        l.element == UCD_TYPE__NULL ? "of several types" : std::string(name_of(l.element)));
    add_all("steps", "step");
    add_all("layout", "layout");
    if (o.count != 1) add("count", fmt::format("{}: {} bytes packed", o.count, l.bytes));
    add("segments",
        l.segments == 0 ? "0"
        : l.min_segment == l.max_segment
            ? fmt::format("{} of {} bytes", l.segments, l.min_segment)
            : fmt::format("{} of {} to {} bytes", l.segments, l.min_segment, l.max_segment));
    const FirstBoxes first(type, o.count);
    if (first.total != 1) {
        const bool cut = first.total > first.boxes.size();
        add("boxes", fmt::format("{}{}", first.total, cut ? ", of which the first are" : ""));
    }
    for (const ucd_box_t &box : first.boxes) add(first.total == 1 ? "box" : "boxes", box_text(box));
    std::string absent;
    for (const std::string &line : facts.all("kernel")) {
        const std::size_t none = line.find(": none, ");
        if (none == std::string::npos)
            add("kernels", line);
        else
            absent += (absent.empty() ? "" : ", ") + line.substr(0, none);
    }
    if (!absent.empty()) add("kernels", absent + ": absent; ucd info says why");
    add_all("advice", "advice");
    add("flattened", facts.one("flattened") + " bytes");
    add("memory", facts.one("memory") + " bytes held");
    return table(rows);
}

nlohmann::ordered_json in_json(ucd::TypeRef type, const DescribeOptions &o, const Facts &facts) {
    nlohmann::ordered_json j;
    const ucd_layout_t l = type.layout(o.count);
    j["type"] = to_text(type);
    j["as_built"] = facts.all("type");
    for (const char *key : {"size", "lb", "extent", "true_lb", "true_extent", "alignment"})
        j[key] = facts.number(key);
    j["explicit_bounds"] = facts.one("explicit_bounds") == "yes";
    j["element"] = nullptr;
    if (l.element != UCD_TYPE__NULL) j["element"] = name_of(l.element);
    j["steps"] = facts.all("step");
    j["layout"] = facts.one("layout");
    j["count"] = o.count;
    j["bytes"] = l.bytes;
    j["segments"] = {
        {"count", l.segments}, {"shortest", l.min_segment}, {"longest", l.max_segment}};
    j["contiguous"] = l.contiguous != 0;
    j["touched"] = {{"low", l.low}, {"high", l.high}};
    const FirstBoxes first(type, o.count);
    j["box"] = nullptr; // set only if there is a single box
    if (first.total == 1) j["box"] = box_json(first.boxes[0]);
    j["boxes"] = {{"count", first.total}, {"first", nlohmann::ordered_json::array()}};
    for (const ucd_box_t &box : first.boxes) j["boxes"]["first"].push_back(box_json(box));
    j["kernels"] = facts.all("kernel");
    const std::string advice = facts.one("advice");
    const std::size_t colon = std::min(advice.find(": "), advice.size());
    j["advice"] = {{"how", advice.substr(0, colon)},
                   {"reason", colon < advice.size() ? advice.substr(colon + 2) : ""}};
    j["flattened"] = facts.number("flattened");
    j["memory"] = facts.number("memory");
    return j;
}

void describe(const DescribeOptions &o) {
    const ucd::Type type = type_from_argument(o.type);
    const Facts facts(type);
    if (!o.svg.empty()) {
        constexpr std::size_t max_rows = 48;
        const std::string title =
            o.type.find('\n') == std::string::npos && o.type != "-" ? o.type : to_text(type);
        write_output(o.svg,
                     draw_svg(picture_of(type, o.count, {o.columns, max_rows, o.row}), title));
        if (o.svg == "-") return;
    }
    if (o.json) return print(in_json(type, o, facts).dump(2) + "\n");
    print(in_words(type, o, facts));
    if (o.no_picture) return;
    const Picture picture = picture_of(type, o.count, {.columns = o.columns, .row_bytes = o.row});
    print(fmt::format("\n{}", draw_terminal(picture, {wants_color(o.color), o.ascii})));
}

} // namespace

Command describe_command() {
    const auto o = std::make_shared<DescribeOptions>();
    using enum CommandArgument::Offers;
    return {
        "describe",
        "Show what a type is: bounds, layout, costs, picture",
        {
            {"TYPE", &o->type, "type expression, @FILE or - for standard input", true, types},
            {"-c,--count", &o->count, "describe the layout of so many of them"},
            {"--row", &o->row, "bytes of memory in a row of the picture (default: by the layout)"},
            {.names = "--columns",
             .target = &o->columns,
             .description = "the most cells in a row of the picture",
             .least = 1,
             .most = 1000},
            {.names = "--svg",
             .target = &o->svg,
             .description = "write the picture to this file as SVG (- for standard output)",
             .offers = files},
            {"--json", &o->json, "print JSON and no picture"},
            {"--no-picture", &o->no_picture, "print no picture"},
            {"--ascii", &o->ascii, "draw with ASCII characters only"},
            {.names = "--color",
             .target = &o->color,
             .description = "colour the picture: auto, always or never",
             .choices = {"auto", "always", "never"}},
        },
        [o] { describe(*o); },
        {"ucd describe 'vector(8,1,8,double)'",
         "ucd describe 'subarray([4,4,6],[4,1,6],[0,1,0],C,double)' --svg face.svg"},
    };
}

} // namespace ucdtool

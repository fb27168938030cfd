#include "language/print.hpp"

#include "filled.hpp"

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <variant>

namespace ucdtool {
namespace {

std::string quoted(const std::string &path) {
    const bool plain = path.find_first_of(" \t\n\r()[],;\"") == std::string::npos;
    return plain ? filled("@{}", path) : filled("@\"{}\"", path);
}

class Printer {
public:
    explicit Printer(const Expression &e) : e_(e) {}

    std::string run() {
        for (const auto &[name, id] : e_.defined) {
            text_ += name + " = ";
            print(id);
            text_ += ";\n";
            names_.emplace(id, name);
        }
        print(e_.nodes.size() - 1);
        return std::move(text_);
    }

private:
    using Item = std::variant<NodeId, const char *>;

    void print(NodeId root) {
        start(root);
        while (!pending_.empty()) {
            const Item item = pending_.back();
            pending_.pop_back();
            if (const auto *mark = std::get_if<const char *>(&item)) {
                text_ += *mark;
                continue;
            }
            const NodeId id = std::get<NodeId>(item);
            if (const auto name = names_.find(id); name != names_.end())
                text_ += name->second;
            else
                start(id);
        }
    }

    // Writes a node up to the first type in its arguments, and pushes the rest on the stack.
    void start(NodeId id) {
        const Node &n = e_.nodes[id];
        if (n.constructor == nullptr) {
            text_ += name_of(n.predefined);
            return;
        }
        text_ += n.constructor->name;
        text_ += '(';
        const std::size_t before = pending_.size();
        for (std::size_t i = 0; i < n.arguments.size(); ++i) {
            const bool inside = pending_.size() > before; // after a type
            const auto plain = [&](const std::string &text) { write(text, inside); };
            if (i > 0) plain(",");
            const Argument &a = n.arguments[i];
            if (const auto *type = std::get_if<NodeId>(&a)) {
                pending_.emplace_back(*type);
            } else if (const auto *types = std::get_if<std::vector<NodeId>>(&a)) {
                plain("[");
                for (std::size_t k = 0; k < types->size(); ++k) {
                    if (k > 0) pending_.emplace_back(",");
                    pending_.emplace_back((*types)[k]);
                }
                pending_.emplace_back("]");
            } else {
                plain(argument(a, n.constructor->parameters[i].part));
            }
        }
        pending_.emplace_back(")");
        std::reverse(pending_.begin() + static_cast<std::ptrdiff_t>(before), pending_.end());
    }

    void write(const std::string &text, bool later) {
        if (!later) {
            text_ += text;
            return;
        }
        kept_.push_back(std::make_unique<std::string>(text));
        pending_.emplace_back(kept_.back()->c_str());
    }

    static std::string argument(const Argument &a, Part part) {
        if (const auto *path = std::get_if<std::string>(&a)) return quoted(*path);
        if (part == Part::order) return std::get<intptr_t>(a) == UCD_ORDER__C ? "C" : "FORTRAN";
        if (const auto *number = std::get_if<intptr_t>(&a)) return std::to_string(*number);
        const auto &ints = std::get<Ints>(a);
        if (!ints.file.empty()) return quoted(ints.file);
        std::vector<std::string> words;
        for (const intptr_t v : ints.values) words.push_back(word(v, part));
        return filled("[{}]", joined(words, ","));
    }

    static std::string word(intptr_t value, Part part) {
        constexpr const char *distributions[] = {"BLOCK", "CYCLIC", "NONE"};
        if (part == Part::distributions) return distributions[value];
        if (part == Part::distribution_args && value == UCD_DISTRIBUTE__DFLT_DARG) return "DFLT";
        return std::to_string(value);
    }

    const Expression &e_;
    std::string text_;
    std::vector<Item> pending_; // what remains to be written; the next item is last
    std::vector<std::unique_ptr<std::string>> kept_;
    std::unordered_map<NodeId, std::string> names_;
};

} // namespace

std::string to_text(const Expression &expression) {
    return Printer(expression).run();
}

} // namespace ucdtool

#include "report/report.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <stdexcept>
#include <utility>

namespace bench {
namespace {

class File {
public:
    explicit File(const std::string &path) : path_(path), file_(std::fopen(path.c_str(), "w")) {
        if (file_ == nullptr) fail();
    }
    ~File() {
        if (file_ != nullptr) std::fclose(file_);
    }
    File(const File &) = delete;
    File &operator=(const File &) = delete;

    template <class... Arguments>
    void print(fmt::format_string<Arguments...> format, Arguments &&...arguments) {
        fmt::print(file_, format, std::forward<Arguments>(arguments)...);
    }
    void close() {
        const bool failed = std::ferror(file_) != 0;
        if (std::fclose(std::exchange(file_, nullptr)) != 0 || failed) fail();
    }

private:
    [[noreturn]] void fail() const {
        throw std::runtime_error(fmt::format("{} cannot be written", path_));
    }

    std::string path_;
    std::FILE *file_;
};

// As a CSV field: every text is quoted, so that one rule does for all.
std::string quoted(const std::string &text) {
    std::string all = "\"";
    for (const char c : text) {
        if (c == '"') all += '"';
        all += c;
    }
    return all + '"';
}

std::string json_string(const std::string &text) {
    std::string all = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\')
            all += {'\\', c};
        else if (static_cast<unsigned char>(c) < 0x20)
            all += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        else
            all += c;
    }
    return all + '"';
}

} // namespace

void Report::write_csv(const std::string &path) const {
    File file(path);
    file.print("section,subject,operation,contender,bytes,median_seconds,best_seconds,"
               "median_gb_per_s,repetitions,times_per_repetition\n");
    for (const Result &r : results_)
        file.print("{},{},{},{},{},{:.6g},{:.6g},{},{},{}\n", quoted(r.section), quoted(r.subject),
                   quoted(r.operation), quoted(r.contender), r.bytes, r.seconds(), r.timing.best(),
                   r.bytes == 0 ? "" : fmt::format("{:.6g}", r.gigabytes_per_second()),
                   r.timing.seconds.size(), r.timing.times);
    file.close();
}

void Report::write_json(const std::string &path, const Facts &facts) const {
    File file(path);
    file.print("{{\n  \"run\": {{");
    for (std::size_t i = 0; i < facts.size(); ++i)
        file.print("{}\n    {}: {}", i == 0 ? "" : ",", json_string(facts[i].first),
                   json_string(facts[i].second));
    file.print("\n  }},\n  \"results\": [");
    for (std::size_t i = 0; i < results_.size(); ++i) {
        const Result &r = results_[i];
        file.print(
            "{}\n    {{\"section\": {}, \"subject\": {}, \"operation\": {}, \"contender\": {}, "
            "\"bytes\": {}, \"times_per_repetition\": {}, \"seconds\": [",
            i == 0 ? "" : ",", json_string(r.section), json_string(r.subject),
            json_string(r.operation), json_string(r.contender), r.bytes, r.timing.times);
        for (std::size_t k = 0; k < r.timing.seconds.size(); ++k)
            file.print("{}{:.6g}", k == 0 ? "" : ", ", r.timing.seconds[k]);
        file.print("]}}");
    }
    file.print("\n  ]\n}}\n");
    file.close();
}

} // namespace bench

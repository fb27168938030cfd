// An info for the length of a scope: UCD_INFO__NULL until something is set.
#pragma once

#include <ucd.h>

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <utility>

namespace ucdtest {

class Keys {
public:
    Keys(std::initializer_list<std::pair<std::string, std::string>> pairs = {}) {
        for (const auto &[key, value] : pairs) set(key, value);
    }
    Keys(const Keys &) = delete;
    Keys &operator=(const Keys &) = delete;
    ~Keys() {
        if (info_ != UCD_INFO__NULL) (void)ucd_info_free(&info_);
    }

    void set(const std::string &key, const std::string &value) {
        if ((info_ == UCD_INFO__NULL && ucd_info_create(&info_) != UCD_SUCCESS) ||
            ucd_info_set(info_, key.c_str(), value.c_str()) != UCD_SUCCESS)
            throw std::runtime_error(ucd_last_error());
    }
    ucd_info_t get() const { return info_; }
    operator ucd_info_t() const { return info_; }

private:
    ucd_info_t info_ = UCD_INFO__NULL;
};

} // namespace ucdtest

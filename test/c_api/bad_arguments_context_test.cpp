// Bad arguments of the life cycle, of hints and of the backend list; and what is valid when.
#include "c_api/refusal.hpp"

#include <ucd_device.h>

#include <cstdlib>
#include <vector>

namespace bad_arguments_context_test {

using namespace ucdtest;

TEST_CASE_METHOD(Refusing, "ucd_version refuses") {
    r.needs("ucd_version", ucd_version, {"major", "minor", "patch"}, &o.number, &o.other_number,
            &o.third_number);
    int major = -1, minor = -1, patch = -1;
    REQUIRE(ucd_version(&major, &minor, &patch) == UCD_SUCCESS);
    CHECK(std::vector<int>{major, minor, patch} ==
          std::vector<int>{UCD_VERSION_MAJOR, UCD_VERSION_MINOR, UCD_VERSION_PATCH});
}

TEST_CASE("Statuses have names, and numbers that are none a text") {
    CHECK(std::string(ucd_strerror(UCD_SUCCESS)) == "UCD_SUCCESS");
    CHECK(std::string(ucd_strerror(UCD_ERR__INTERNAL)) == "UCD_ERR__INTERNAL");
    for (const int rc : {-1, 10, INT32_MAX, INT32_MIN}) {
        REQUIRE(ucd_strerror(rc) != nullptr);
        CHECK(std::string(ucd_strerror(rc)).find("UCD_ERR__") == std::string::npos);
    }
}

TEST_CASE("A success does not clear the last error") {
    std::uintptr_t size;
    REQUIRE(ucd_get_size(UCD_TYPE__INT, nullptr) == UCD_ERR__INVALID_ARG);
    const std::string message = ucd_last_error();
    REQUIRE(ucd_get_size(UCD_TYPE__INT, &size) == UCD_SUCCESS);
    CHECK(ucd_last_error() == message);
}

TEST_CASE("ucd_info_get gives back what was set last, known or not") {
    ucd_info_t info;
    REQUIRE(ucd_info_create(&info) == UCD_SUCCESS);
    char text[8] = "before";
    uintptr_t needed = 7;
    CHECK(ucd_info_get(info, "ucd.threads", text, sizeof text, &needed) == UCD_SUCCESS);
    CHECK(needed == 0);
    CHECK(ucd_info_get(UCD_INFO__NULL, "ucd.threads", text, sizeof text, &needed) == UCD_SUCCESS);
    CHECK(needed == 0);
    CHECK(std::string(text) == "before");
    REQUIRE(ucd_info_set(info, "ucd.threads", "3") == UCD_SUCCESS);
    REQUIRE(ucd_info_set(info, "of.others", "") == UCD_SUCCESS);
    REQUIRE(ucd_info_set(info, "ucd.threads", "1234") == UCD_SUCCESS);
    CHECK(ucd_info_set(info, "ucd.threads", "no") == UCD_ERR__INVALID_ARG);
    CHECK(ucd_info_get(info, "ucd.threads", text, 4, &needed) == UCD_ERR__TRUNCATED);
    CHECK(needed == 5);
    CHECK(std::string(text) == "before");
    CHECK(ucd_info_get(info, "ucd.threads", text, 5, &needed) == UCD_SUCCESS);
    CHECK(std::string(text) == "1234");
    CHECK(ucd_info_get(info, "of.others", text, sizeof text, &needed) == UCD_SUCCESS);
    CHECK(needed == 1);
    CHECK(std::string(text).empty());
    REQUIRE(ucd_info_free(&info) == UCD_SUCCESS);
}

TEST_CASE("ucd_info_get_nthkey lists the keys that are set in ascending order") {
    ucd_info_t info;
    REQUIRE(ucd_info_create(&info) == UCD_SUCCESS);
    char key[8] = "before";
    uintptr_t needed = 7;
    CHECK(ucd_info_get_nthkey(info, 0, key, sizeof key, &needed) == UCD_SUCCESS);
    CHECK(needed == 0);
    needed = 7;
    CHECK(ucd_info_get_nthkey(UCD_INFO__NULL, 0, key, sizeof key, &needed) == UCD_SUCCESS);
    CHECK(needed == 0);
    CHECK(std::string(key) == "before");
    for (const char *name : {"bb", "ucd.gpu", "b", "", "c\xff", "ba", "bb"})
        REQUIRE(ucd_info_set(info, name, "none") == UCD_SUCCESS);
    CHECK(ucd_info_set(info, "ucd.threads", "no") == UCD_ERR__INVALID_ARG);
    std::vector<std::string> names;
    for (uintptr_t n = 0;; ++n) {
        CHECK(ucd_info_get_nthkey(info, n, key, sizeof key, &needed) == UCD_SUCCESS);
        if (needed == 0) break;
        CHECK(needed == std::strlen(key) + 1);
        names.push_back(key);
    }
    CHECK(names == std::vector<std::string>{"", "b", "ba", "bb", "c\xff", "ucd.gpu"});
    CHECK(ucd_info_get_nthkey(info, UINTPTR_MAX, nullptr, 0, &needed) == UCD_SUCCESS);
    CHECK(needed == 0);
    CHECK(ucd_info_get_nthkey(info, 5, key, 7, &needed) == UCD_ERR__TRUNCATED);
    CHECK(needed == 8);
    CHECK(std::string(key) == "ucd.gpu");
    REQUIRE(ucd_info_free(&info) == UCD_SUCCESS);
}

TEST_CASE_METHOD(Refusing,
                 "A handle that is NULL already may be freed, and a pointer to none may not") {
    ucd_type_t type = UCD_TYPE__NULL;
    ucd_info_t info = UCD_INFO__NULL;
    ucd_plan_t plan = UCD_PLAN__NULL;
    ucd_device_plan_t device_plan = UCD_DEVICE_PLAN__INIT;
    CHECK(ucd_memory_free(nullptr) == UCD_SUCCESS); // the address is the handle
    const struct {
        const char *function, *argument;
        int (*free)(void *);
        void *none;
    } frees[] = {
        {"ucd_free", "type", [](void *p) { return ucd_free(static_cast<ucd_type_t *>(p)); }, &type},
        {"ucd_info_free", "info",
         [](void *p) { return ucd_info_free(static_cast<ucd_info_t *>(p)); }, &info},
        {"ucd_plan_free", "plan",
         [](void *p) { return ucd_plan_free(static_cast<ucd_plan_t *>(p)); }, &plan},
        {"ucd_device_plan_free", "plan",
         [](void *p) { return ucd_device_plan_free(static_cast<ucd_device_plan_t *>(p)); },
         &device_plan},
    };
    for (const auto &[function, argument, free, none] : frees) {
        INFO(function);
        CHECK(free(none) == UCD_SUCCESS);
        r.invalid(function, argument + std::string(" is NULL"),
                  [&, f = free] { return f(nullptr); });
    }
}

TEST_CASE_METHOD(Refusing, "ucd_info_create, ucd_info_set and ucd_info_get refuse") {
    r.needs("ucd_info_create", ucd_info_create, {"info"}, &r.out.info);
    ucd_info_t info = nullptr;
    REQUIRE(ucd_info_create(&info) == UCD_SUCCESS);
    const char *const f = "ucd_info_set";
    r.needs(f, ucd_info_set, {"info", "key", "value"}, info, "ucd.threads", "1");
    const std::pair<const char *, std::vector<const char *>> bad[] = {
        {"ucd.backends", {"", "seq,", ",seq", "nope", "seq,nope", "seq cuda", "Seq"}},
        {"ucd.gpu", {"", "None", "all", "0"}},
        {"ucd.inbuf",
         {"", "Host", "host:0", "cuda", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "nope:0", ":0",
          "seq:0", "cuda:99999999999"}},
        {"ucd.outbuf",
         {"", "Host", "host:0", "cuda", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "nope:0", ":0",
          "seq:0", "cuda:99999999999"}},
        {"ucd.engine", {"", "dma ", "DMA", "copy"}},
        {"ucd.peers", {"", "yes", "None"}},
        {"ucd.check", {"", "all", "Handles"}},
        {"ucd.environment", {"", "none", "0"}},
        {"ucd.max_blocks", {"", "0", "-1", "1.5", "many", "1x", "+1", " 1", "99999999999"}},
        {"ucd.threads", {"", "0", "-1", "1.5", "many", "1x", "+1", " 1", "99999999999"}},
        {"ucd.ze.context", {"", "-1", "x", "12 "}},
    };
    for (const auto &[key, values] : bad)
        for (const char *value : values)
            r.invalid(f, key, [&, k = key] { return ucd_info_set(info, k, value); });
    // Of names that no backend has, the nearest one is told.
    const std::tuple<const char *, const char *, const char *> misspelt[] = {
        {"ucd.backends", "seq,cudo", "cuda"}, {"ucd.backends", "Seq", "seq"},
        {"ucd.inbuf", "cud:0", "cuda"},       {"ucd.outbuf", "hop:1", "hip"},
        {"ucd.inbuf", "maneged", "managed"},  {"ucd.outbuf", "Host", "host"}};
    for (const auto &[key, value, nearest] : misspelt)
        r.invalid(f, "; the nearest is " + std::string(nearest),
                  [&, k = key, v = value] { return ucd_info_set(info, k, v); });
    r.invalid(f, "a backend's name, a colon and a device number",
              [&] { return ucd_info_set(info, "ucd.inbuf", "cuda:x"); });
    CHECK(std::string(ucd_last_error()).find("nearest") == std::string::npos);
    // Values of any length are quoted without harm.
    const std::string backends = std::string(100000, 'x') + ",seq";
    r.invalid(f, "ucd.backends",
              [&] { return ucd_info_set(info, "ucd.backends", backends.c_str()); });
    const std::string endless(100000, 'x');
    r.invalid(f, "ucd.engine", [&] { return ucd_info_set(info, "ucd.engine", endless.c_str()); });
    // So much of a value is quoted, and no more.
    CHECK(std::string(ucd_last_error()).find(std::string(100, 'x') + "\"; it must be") !=
          std::string::npos);
    CHECK(std::string(ucd_last_error()).find(std::string(101, 'x')) == std::string::npos);

    r.needs("ucd_info_get", ucd_info_get, {nullptr, "key", "value", nullptr, "needed"}, info, "a",
            o.text, 9, &o.size);
    r.needs("ucd_info_get_nthkey", ucd_info_get_nthkey,
            {nullptr, nullptr, "key", nullptr, "needed"}, info, 0, o.text, 9, &o.size);

    CHECK(ucd_info_free(&info) == UCD_SUCCESS);
    CHECK(info == UCD_INFO__NULL);
}

TEST_CASE_METHOD(Refusing,
                 "An unknown key that begins with ucd. is refused, and the nearest one named") {
    ucd_info_t info = nullptr;
    REQUIRE(ucd_info_create(&info) == UCD_SUCCESS);
    const std::pair<const char *, const char *> unknown[] = {{"ucd.thread", "ucd.threads"},
                                                             {"ucd.threads.", "ucd.threads"},
                                                             {"ucd.max_block", "ucd.max_blocks"},
                                                             {"ucd.Gpu", "ucd.gpu"},
                                                             {"ucd.in_buf", "ucd.inbuf"},
                                                             {"ucd.zecontext", "ucd.ze.context"},
                                                             {"ucd.ze.contxt", "ucd.ze.context"},
                                                             {"ucd.uxc.chunk", "ucd.ucx.*"},
                                                             {"ucd.ucx", "ucd.gpu"},
                                                             {"ucd.mpl.x", "ucd.mpi.*"},
                                                             {"ucd.", "ucd.gpu"},
                                                             {"ucd.peer", "ucd.peers"}};
    for (const auto &[key, nearest] : unknown) {
        r.invalid("ucd_info_set", "key is \"" + std::string(key) + "\"",
                  [&, k = key] { return ucd_info_set(info, k, "none"); });
        const std::string message = ucd_last_error(), last = " " + std::string(nearest);
        INFO(message);
        CHECK(message.substr(message.size() - last.size()) == last);
        std::uintptr_t needed = 1;
        CHECK(ucd_info_get(info, key, nullptr, 0, &needed) == UCD_SUCCESS);
        CHECK(needed == 0);
    }
    const std::string endless = "ucd." + std::string(100000, 'x');
    r.invalid("ucd_info_set", "key is \"ucd.xxx",
              [&] { return ucd_info_set(info, endless.c_str(), "1"); });
    CHECK(ucd_info_free(&info) == UCD_SUCCESS);
}

TEST_CASE("Good values and keys of others are accepted; after a bad value the earlier one stands") {
    ucd_info_t info = nullptr;
    REQUIRE(ucd_info_create(&info) == UCD_SUCCESS);
    const std::pair<const char *, const char *> good[] = {
        {"ucd.backends", "seq"},
        {"ucd.backends", "cuda,seq,hip,ze"},
        {"ucd.gpu", "none"},
        {"ucd.inbuf", "pinned"},
        {"ucd.inbuf", "managed"},
        {"ucd.inbuf", "cuda:0"},
        {"ucd.outbuf", "hip:12"},
        {"ucd.outbuf", "ze:3"},
        {"ucd.inbuf", "host"},
        {"ucd.outbuf", "host"},
        {"ucd.engine", "auto"},
        {"ucd.engine", "dma"},
        {"ucd.peers", "none"},
        {"ucd.engine", "kernel"},
        {"ucd.max_blocks", "4294967295"},
        {"ucd.threads", "1"},
        {"ucd.ze.context", "18446744073709551615"},
        {"nobody.knows", "this"},
        {"", ""},
        {"UCD.THREADS", "x"},
        {"ucd", "x"},
        {"ucdx.threads", "x"},
        {"ucd.ucx.chnk", "checked by libucd-ucx"},
        {"ucd.mpi.", ""},
    };
    for (const auto &[key, value] : good) {
        INFO(key << "=" << value);
        CHECK(ucd_info_set(info, key, value) == UCD_SUCCESS);
    }
    CHECK(ucd_info_set(info, "ucd.outbuf", "nowhere") == UCD_ERR__INVALID_ARG);
    CHECK(ucd_info_set(info, "ucd.threads", "0") == UCD_ERR__INVALID_ARG);
    char in[4] = {1, 2, 3, 4}, out[4] = {};
    std::uintptr_t bytes = 0;
    CHECK(ucd_pack(in, 1, UCD_TYPE__INT, 0, out, 4, &bytes, info, UCD_OP__REPLACE) == UCD_SUCCESS);
    CHECK((bytes == 4 && out[3] == 4));
    CHECK(ucd_info_free(&info) == UCD_SUCCESS);
}

TEST_CASE_METHOD(Refusing, "ucd_backend_count and ucd_backend_get refuse") {
    r.needs("ucd_backend_count", ucd_backend_count, {"count"}, &o.number);
    int count = 0;
    REQUIRE(ucd_backend_count(&count) == UCD_SUCCESS);
    const char *const f = "ucd_backend_get";
    for (const int index : {-1, count, INT32_MAX, INT32_MIN})
        r.invalid(f, "index is " + std::to_string(index),
                  [&] { return ucd_backend_get(index, &o.backend); });
    r.needs(f, ucd_backend_get, {nullptr, "desc"}, 0, &o.backend);
    for (int index = 0; index < count; ++index)
        r.short_structs<ucd_backend_desc_t>(
            f, [=](auto *desc) { return ucd_backend_get(index, desc); });
}

TEST_CASE_METHOD(Refusing, "ucd_op_is_supported refuses") {
    const char *const f = "ucd_op_is_supported";
    r.bad_ops(
        f, [&](ucd_op_t op) { return ucd_op_is_supported(op, UCD_TYPE__INT, "seq", &o.number); });
    r.needs(f, ucd_op_is_supported, {nullptr, "type", "backend", "supported"}, UCD_OP__MAX, int_,
            "seq", &o.number);
    for (const char *name : {"", "nope", "SEQ", "seq "})
        r.invalid(f, "backend is \"" + std::string(name) + "\"",
                  [&] { return ucd_op_is_supported(UCD_OP__MAX, UCD_TYPE__INT, name, &o.number); });
    r.invalid(f, "the nearest is hip",
              [&] { return ucd_op_is_supported(UCD_OP__MAX, int_, "hpi", &o.number); });
    const ucd_stream_t stream = {"cude", 0, nullptr, nullptr};
    r.refused("ucd_prepare", UCD_ERR__NOT_SUPPORTED,
              "\"cude\", which is not known; the nearest is cuda",
              [&] { return ucd_prepare(1, int_, UCD_OP__MAX, stream, nullptr); });
}

TEST_CASE("ucd.environment=no and UCD_IGNORE_ENVIRONMENT=1 keep variables of keys out") {
    REQUIRE(ucd_finalize() == UCD_SUCCESS);
    ucd_info_t with, without;
    REQUIRE(ucd_info_create(&with) == UCD_SUCCESS);
    REQUIRE(ucd_info_set(with, "ucd.environment", "yes") == UCD_SUCCESS);
    REQUIRE(ucd_info_create(&without) == UCD_SUCCESS);
    REQUIRE(ucd_info_set(without, "ucd.environment", "no") == UCD_SUCCESS);
    setenv("UCD_GPU", "all", 1); // which is refused if it is read
    const std::tuple<const char *, ucd_info_t, int> starts[] = {
        {nullptr, nullptr, UCD_ERR__INVALID_ARG},
        {nullptr, with, UCD_ERR__INVALID_ARG},
        {nullptr, without, UCD_SUCCESS},
        {"0", nullptr, UCD_ERR__INVALID_ARG},
        {"0", without, UCD_SUCCESS},
        {"1", nullptr, UCD_SUCCESS},
        {"1", with, UCD_SUCCESS},
        {"1", without, UCD_SUCCESS}};
    for (const auto &[ignored, info, expected] : starts) {
        ignored == nullptr ? unsetenv("UCD_IGNORE_ENVIRONMENT")
                           : setenv("UCD_IGNORE_ENVIRONMENT", ignored, 1);
        CHECK(ucd_init(info) == expected);
        if (expected != UCD_SUCCESS) continue;
        CHECK(ucd_init(with) == UCD_SUCCESS); // too late
        CHECK(ucd_finalize() == UCD_SUCCESS);
        CHECK(ucd_finalize() == UCD_SUCCESS);
    }
    unsetenv("UCD_IGNORE_ENVIRONMENT");
    unsetenv("UCD_GPU");
    CHECK(ucd_info_free(&with) == UCD_SUCCESS);
    CHECK(ucd_info_free(&without) == UCD_SUCCESS);
    REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
}

TEST_CASE_METHOD(Refusing, "ucd_init refuses bad environments, and starts nothing then") {
    REQUIRE(ucd_finalize() == UCD_SUCCESS);
    const std::pair<const char *, const char *> bad[] = {
        {"UCD_CHECK", "all"},      {"UCD_IGNORE_ENVIRONMENT", "yes"},
        {"UCD_BACKENDS", "nope"},  {"UCD_GPU", "all"},
        {"UCD_INBUF", "moon"},     {"UCD_OUTBUF", "cuda:"},
        {"UCD_ENGINE", "steam"},   {"UCD_MAX_BLOCKS", "0"},
        {"UCD_THREADS", "no"},     {"UCD_ZE_CONTEXT", "-1"},
        {"UCD_LOG_LEVEL", "loud"},
    };
    for (const auto &[name, value] : bad) {
        setenv(name, value, 1);
        r.invalid("ucd_init", name, [] { return ucd_init(UCD_INFO__NULL); });
        unsetenv(name);
        const std::string why = std::string(ucd_last_error()).substr(std::strlen("ucd_init: "));
        for (int i = 0; i < 2; ++i) { // also after another failure
            CHECK(ucd_finalize() == UCD_ERR__NOT_INITIALIZED);
            CHECK(ucd_last_error() == "ucd_finalize: ucd_init failed: " + why);
        }
    }
    REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
    // Only the first one reads it.
    setenv("UCD_ENGINE", "steam", 1);
    CHECK(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
    unsetenv("UCD_ENGINE");
    CHECK(ucd_finalize() == UCD_SUCCESS);
    REQUIRE(ucd_finalize() == UCD_SUCCESS);
    // Since the last failure one has succeeded.
    CHECK(ucd_finalize() == UCD_ERR__NOT_INITIALIZED);
    CHECK(std::string(ucd_last_error()) ==
          "ucd_finalize: ucd_init has not been called since the last ucd_finalize");
    REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
}

} // namespace bad_arguments_context_test

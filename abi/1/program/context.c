/* Life cycle, statuses, infos and backends. */
#include "check.h"

/* Leaves the library initialised. */
void check_life_cycle(void) {
    int count = -1, major = -1, minor = -1, patch = -1;
    ucd_info_t info = UCD_INFO__NULL;
    EXPECT_STATUS(UCD_ERR__NOT_INITIALIZED, ucd_backend_count(&count));
    SUCCEEDS(ucd_version(&major, &minor, &patch));
    EXPECT(major == UCD_VERSION_MAJOR && minor >= UCD_VERSION_MINOR && patch >= 0);
    EXPECT(UCD_VERSION_PATCH == 0);
    SUCCEEDS(ucd_info_create(&info));
    SUCCEEDS(ucd_info_set(info, "ucd.backends", "seq"));
    SUCCEEDS(ucd_info_set(info, "ucd.environment", "no"));
    SUCCEEDS(ucd_init(info));
    SUCCEEDS(ucd_info_free(&info));
    EXPECT(info == UCD_INFO__NULL);
    SUCCEEDS(ucd_init(UCD_INFO__NULL));
    SUCCEEDS(ucd_finalize());
}

void check_statuses(void) {
    ucd_type_t type = UCD_TYPE__NULL;
    EXPECT(strcmp(ucd_strerror(UCD_SUCCESS), "UCD_SUCCESS") == 0);
    EXPECT(strcmp(ucd_strerror(UCD_ERR__INVALID_ARG), "UCD_ERR__INVALID_ARG") == 0);
    EXPECT(strcmp(ucd_strerror(UCD_ERR__OUT_OF_MEM), "UCD_ERR__OUT_OF_MEM") == 0);
    EXPECT(strcmp(ucd_strerror(UCD_ERR__NOT_SUPPORTED), "UCD_ERR__NOT_SUPPORTED") == 0);
    EXPECT(strcmp(ucd_strerror(UCD_ERR__NOT_INITIALIZED), "UCD_ERR__NOT_INITIALIZED") == 0);
    EXPECT(strcmp(ucd_strerror(UCD_ERR__OVERFLOW), "UCD_ERR__OVERFLOW") == 0);
    EXPECT(strcmp(ucd_strerror(UCD_ERR__CORRUPT), "UCD_ERR__CORRUPT") == 0);
    EXPECT(strcmp(ucd_strerror(UCD_ERR__TRUNCATED), "UCD_ERR__TRUNCATED") == 0);
    EXPECT(strcmp(ucd_strerror(UCD_ERR__DEVICE), "UCD_ERR__DEVICE") == 0);
    EXPECT(strcmp(ucd_strerror(UCD_ERR__INTERNAL), "UCD_ERR__INTERNAL") == 0);
    EXPECT_STATUS(UCD_ERR__INVALID_ARG, ucd_create_contig(-1, UCD_TYPE__INT, UCD_INFO__NULL, &type));
    EXPECT(strncmp(ucd_last_error(), "ucd_create_contig: ", 19) == 0);
    EXPECT_STATUS(UCD_ERR__INVALID_ARG, ucd_create_contig(1, UCD_TYPE__NULL, UCD_INFO__NULL, &type));
    EXPECT_STATUS(UCD_ERR__OVERFLOW, ucd_create_contig(INTPTR_MAX, UCD_TYPE__INT, UCD_INFO__NULL, &type));
    EXPECT(type == UCD_TYPE__NULL);
    SUCCEEDS(ucd_free(&type));
    type = UCD_TYPE__INT;
    EXPECT_STATUS(UCD_ERR__INVALID_ARG, ucd_free(&type));
}

void check_infos(void) {
    ucd_info_t info = UCD_INFO__NULL;
    char text[32] = "";
    uintptr_t needed = 99;
    SUCCEEDS(ucd_info_create(&info));
    SUCCEEDS(ucd_info_set(info, "ucd.threads", "2"));
    SUCCEEDS(ucd_info_set(info, "mine", "value"));
    EXPECT_STATUS(UCD_ERR__INVALID_ARG, ucd_info_set(info, "ucd.threads", "none"));
    EXPECT_STATUS(UCD_ERR__INVALID_ARG, ucd_info_set(info, "ucd.no_such_key", "1"));
    SUCCEEDS(ucd_info_get(info, "ucd.threads", text, sizeof text, &needed));
    EXPECT(needed == 2 && strcmp(text, "2") == 0);
    SUCCEEDS(ucd_info_get(info, "mine", NULL, 0, &needed));
    EXPECT(needed == 6);
    EXPECT_STATUS(UCD_ERR__TRUNCATED, ucd_info_get(info, "mine", text, 5, &needed));
    SUCCEEDS(ucd_info_get(UCD_INFO__NULL, "mine", text, sizeof text, &needed));
    EXPECT(needed == 0);
    SUCCEEDS(ucd_info_get_nthkey(info, 0, text, sizeof text, &needed));
    EXPECT(needed == 5 && strcmp(text, "mine") == 0);
    SUCCEEDS(ucd_info_get_nthkey(info, 2, text, sizeof text, &needed));
    EXPECT(needed == 0);
    SUCCEEDS(ucd_info_free(&info));
    SUCCEEDS(ucd_info_free(&info));
    EXPECT_STATUS(UCD_ERR__INVALID_ARG, ucd_info_free(NULL));
}

void check_backends(void) {
    ucd_backend_desc_t backend;
    int count = 0, supported = -1;
    memset(&backend, 0, sizeof backend);
    backend.struct_size = sizeof backend;
    SUCCEEDS(ucd_backend_count(&count));
    EXPECT(count >= 1);
    SUCCEEDS(ucd_backend_get(0, &backend));
    EXPECT(backend.struct_size == sizeof backend && backend.available == 1 && backend.devices == 1);
    EXPECT(strcmp(backend.name, "seq") == 0 && backend.reason[0] == '\0');
    EXPECT(memchr(backend.version, 0, sizeof backend.version) != NULL);
    for (int i = 1; i < count; ++i) {
        SUCCEEDS(ucd_backend_get(i, &backend));
        EXPECT(backend.available == 0 && backend.reason[0] != '\0');
    }
    EXPECT_STATUS(UCD_ERR__INVALID_ARG, ucd_backend_get(count, &backend));
    SUCCEEDS(ucd_op_is_supported(UCD_OP__SUM, UCD_TYPE__DOUBLE, "seq", &supported));
    EXPECT(supported == 1);
    SUCCEEDS(ucd_op_is_supported(UCD_OP__SUM, UCD_TYPE__CHAR, "seq", &supported));
    EXPECT(supported == 0);
    EXPECT_STATUS(UCD_ERR__INVALID_ARG, ucd_op_is_supported(-1, UCD_TYPE__INT, "seq", &supported));
}

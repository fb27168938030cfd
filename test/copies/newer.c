/* What a libucd 1.1 might add to 1.0. */
__attribute__((visibility("default"))) int ucd_added_by_1_1(void);

int ucd_added_by_1_1(void) {
    return 11;
}

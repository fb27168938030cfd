/* A program that was compiled against the newer version, and uses what that added. */
int ucd_added_by_1_1(void);

__attribute__((constructor)) static void use_it(void) {
    if (ucd_added_by_1_1() != 11) __builtin_trap();
}

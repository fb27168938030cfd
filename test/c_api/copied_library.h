/* Loads copies of a library, each of which is a library of its own. */
#pragma once

#include "loaded_library.h"

#include <unistd.h>

/* A copy of the file is another library to the loader. */
static void *load_copy_of(const char *path) {
    char name[] = "/tmp/ucd-copy-XXXXXX", bytes[65536];
    const int file = mkstemp(name);
    FILE *in = fopen(path, "rb");
    require(file >= 0 && in != NULL, "copying the library");
    for (size_t length; (length = fread(bytes, 1, sizeof bytes, in)) != 0;)
        require(write(file, bytes, length) == (ssize_t)length, "copying the library");
    fclose(in);
    close(file);
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    unlink(name);
    require(library != NULL, "loading a copy");
    return library;
}

/* Calls the functions of a library that the program has loaded by dlopen. */
#pragma once

#include <ucd.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static void fail(const char *what) {
    const char *why = dlerror();
    fprintf(stderr, "%s: %s\n", what, why != NULL ? why : "");
    exit(1);
}

static void require(int holds, const char *what) {
    if (!holds) fail(what);
}

static void *function(void *library, const char *name) {
    void *found = dlsym(library, name);
    require(found != NULL, name);
    return found;
}

/* A function of the library, by the type that the header gives it. The name has UCD_PREFIX, if that
 * is defined. */
#define TEXT_OF(tokens) #tokens
#define NAME_OF(name) TEXT_OF(name)
#define CALL(name) (*(__typeof__(&name))function(library, NAME_OF(name)))

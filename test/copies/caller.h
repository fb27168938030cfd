/* A user of UCD: a program, or a library in it. Each moves data with the copy of libucd that it is
 * linked with. All of them are compiled from caller.c. */
#pragma once

typedef struct {
    void (*start)(void);
    void (*use)(void); /* may be called by several threads at once */
    void (*end)(void);
    const void *(*copy)(void);   /* the same for two callers if they share a copy */
    int (*is_initialised)(void); /* whether the caller's copy is */
    void *(*type)(void);         /* a handle of the caller's copy */
    const char *(*refusal)(
        void *of_other); /* what the caller's copy says of a handle; NULL if it takes it */
} caller_t;

const caller_t *program_caller(void);
const caller_t *library_caller(void);

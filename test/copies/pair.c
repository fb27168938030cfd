/* A program and a library in it, each with its own copy of libucd or both with the same. Both move
 * data in two threads each; then one of them ends, and the other one goes on.
 *
 * Usage: pair same|different program|library      whether they share a copy; who ends first
 *
 * With UCD_CHECK=handles in the environment, a copy has to refuse the other one's handle.
 */
#include "caller.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { threads_each = 2 };

static void require(int holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "pair: %s\n", what);
    exit(1);
}

static void *use(void *caller) {
    ((const caller_t *)caller)->use();
    return NULL;
}

static void use_at_once(const caller_t *const *callers, int number) {
    pthread_t threads[2 * threads_each];
    const int all = number * threads_each;
    for (int i = 0; i < all; ++i)
        require(pthread_create(&threads[i], NULL, use, (void *)callers[i % number]) == 0, "thread");
    for (int i = 0; i < all; ++i) require(pthread_join(threads[i], NULL) == 0, "end of thread");
}

static void check_refusal(const caller_t *caller, const caller_t *other, int same) {
    const char *why = caller->refusal(other->type());
    require((why == NULL) == same, "whether the other's handle is refused");
    if (!same) require(strstr(why, "no handle of this libucd") != NULL, why);
}

int main(int count, char **arguments) {
    require(count == 3, "usage: pair same|different program|library");
    const int same = strcmp(arguments[1], "same") == 0;
    const int program_first = strcmp(arguments[2], "program") == 0;
    const caller_t *program = program_caller(), *library = library_caller();
    const caller_t *const callers[] = {program_first ? library : program,
                                       program_first ? program : library};
    require((program->copy() == library->copy()) == same, "whether they share a copy");

    callers[0]->start();
    require(callers[1]->is_initialised() == same, "whether the other one is initialised, too");
    callers[1]->start();
    use_at_once(callers, 2);
    const char *check = getenv("UCD_CHECK");
    if (check != NULL && strcmp(check, "handles") == 0) {
        check_refusal(program, library, same);
        check_refusal(library, program, same);
    }

    callers[1]->end();
    require(callers[1]->is_initialised() == same, "whether who has ended is initialised");
    use_at_once(callers, 1);
    callers[0]->end();
    require(!callers[0]->is_initialised(), "the end");
    puts("done");
    return 0;
}

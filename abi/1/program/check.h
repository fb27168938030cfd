/* What the parts of this program share. It is compiled with the headers in ../include, as a program of then was, and runs
 * with the library of now. */
#ifndef CHECK_H_INCLUDED
#define CHECK_H_INCLUDED

#include <ucd.h>
#include <ucd_memory.h>

#include <stdint.h>
#include <string.h>

/* Counts a check, and says on stderr if it fails. */
void expect(int holds, const char *what, const char *file, int line);
/* The same, of a status that a function returned. */
void expect_status(int got, int wanted, const char *what, const char *file, int line);

#define EXPECT(condition) expect((condition) != 0, #condition, __FILE__, __LINE__)
#define EXPECT_STATUS(wanted, call) expect_status((call), (wanted), #call, __FILE__, __LINE__)
#define SUCCEEDS(call) EXPECT_STATUS(UCD_SUCCESS, call)

/* An array's number of entries. */
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Whether packing count elements of the type at inbuf gives these bytes. Frees the type. The line is that of types.c. */
void expect_packed(const void *inbuf, uintptr_t count, ucd_type_t type, const void *bytes, uintptr_t size, int line);

/* The parts. */
void check_statuses(void);
void check_predefined_types(void);
void check_ops(void);
void check_life_cycle(void);
void check_infos(void);
void check_backends(void);
void check_constructors(void);
void check_arrays(void);
void check_questions(void);
void check_structs_that_grow(void);
void check_lists(void);
void check_flattening(void);
void check_moves(void);
void check_requests(void);
void check_plans(void);
void check_streams(void);
void check_memory(void);

#endif

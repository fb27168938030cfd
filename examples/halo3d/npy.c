#include "npy.h"

#include "complain.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Version 1.0 of the format: the magic string, the version, the header's length in two bytes, and
 * the header: a Python dictionary, padded so that the data starts at a multiple of 64. */
static const unsigned char magic[8] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
enum { PREFIX_BYTES = 10, ALIGNMENT = 64 };

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define DOUBLE_DESCRIPTION "<f8"
#else
#define DOUBLE_DESCRIPTION ">f8"
#endif

static bool field_bytes(const intptr_t shape[3], size_t *bytes) {
    *bytes = sizeof(double);
    for (int axis = 0; axis < 3; axis++) {
        if (shape[axis] < 1) return false;
        if (__builtin_mul_overflow(*bytes, (size_t)shape[axis], bytes)) return false;
    }
    return *bytes <= PTRDIFF_MAX - 65536; /* room for the header */
}

/* Finds the value of a key of the header: "'shape': " is followed by it. */
static const char *value_of(const char *header, const char *key) {
    const char *found = strstr(header, key);
    if (!found) return NULL;
    found += strlen(key);
    return found + strspn(found, ": ");
}

static bool parse_header(const char *path, const char *header, struct npy *npy) {
    const char *description = value_of(header, "'descr'");
    const char *fortran_order = value_of(header, "'fortran_order'");
    const char *shape = value_of(header, "'shape'");
    if (!description || !fortran_order || !shape)
        return complain("%s: its header lacks descr, fortran_order or shape", path);
    if (strncmp(description, "'" DOUBLE_DESCRIPTION "'", 5) != 0)
        return complain("%s: its elements are %.8s; they must be '" DOUBLE_DESCRIPTION
                        "' (float64)",
                        path, description);
    if (strncmp(fortran_order, "False", 5) != 0)
        return complain("%s: it is in Fortran order; it must be in C order", path);

    long long sizes[3];
    int length = 0;
    if (sscanf(shape, "(%lld, %lld, %lld)%n", &sizes[0], &sizes[1], &sizes[2], &length) != 3 ||
        length == 0)
        return complain("%s: it must have three dimensions", path);
    for (int axis = 0; axis < 3; axis++) npy->shape[axis] = (intptr_t)sizes[axis];
    return true;
}

static bool parse_file(const char *path, struct npy *npy) {
    const unsigned char *bytes = npy->mapping;
    if (npy->mapping_bytes < PREFIX_BYTES || memcmp(bytes, magic, sizeof magic) != 0)
        return complain("%s: it is not a .npy file of version 1.0", path);
    size_t header_bytes = bytes[8] | (size_t)bytes[9] << 8;
    if (npy->mapping_bytes - PREFIX_BYTES < header_bytes)
        return complain("%s: it ends within its header", path);

    char header[65536]; /* two bytes of length: it always fits */
    memcpy(header, bytes + PREFIX_BYTES, header_bytes);
    header[header_bytes] = '\0';
    if (!parse_header(path, header, npy)) return false;

    size_t data_bytes;
    if (!field_bytes(npy->shape, &data_bytes))
        return complain("%s: each of its dimensions must be at least 1, and it must fit memory",
                        path);
    if (npy->mapping_bytes - PREFIX_BYTES - header_bytes != data_bytes)
        return complain("%s: its data has %zu bytes; its shape needs %zu", path,
                        npy->mapping_bytes - PREFIX_BYTES - header_bytes, data_bytes);
    if ((PREFIX_BYTES + header_bytes) % sizeof(double) != 0)
        return complain("%s: its data is not aligned", path);
    npy->data = (double *)((char *)npy->mapping + PREFIX_BYTES + header_bytes);
    return true;
}

bool npy_open(const char *path, struct npy *npy) {
    *npy = (struct npy){0};
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return complain("%s: cannot open it: %s", path, strerror(errno));
    struct stat status;
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) {
        close(file);
        return complain("%s: it is not a file with something in it", path);
    }
    npy->mapping_bytes = (size_t)status.st_size;
    npy->mapping = mmap(NULL, npy->mapping_bytes, PROT_READ, MAP_PRIVATE, file, 0);
    int map_errno = errno;
    close(file);
    if (npy->mapping == MAP_FAILED)
        return complain("%s: cannot map it: %s", path, strerror(map_errno));
    if (parse_file(path, npy)) return true;
    npy_close(npy);
    return false;
}

/* Gives the file its size, taking the room on the disk now: a full disk is an error here, and not a
 * signal when the mapping is written. */
static bool reserve(const char *path, int file, size_t bytes) {
    int rc = posix_fallocate(file, 0, (off_t)bytes);
    if (rc == EOPNOTSUPP || rc == EINVAL) rc = ftruncate(file, (off_t)bytes) == 0 ? 0 : errno;
    return rc == 0 || complain("%s: cannot make it %zu bytes long: %s", path, bytes, strerror(rc));
}

bool npy_create(const char *path, const intptr_t shape[3], struct npy *npy) {
    *npy = (struct npy){.shape = {shape[0], shape[1], shape[2]}};
    char header[256];
    int length = snprintf(header, sizeof header,
                          "{'descr': '" DOUBLE_DESCRIPTION "', 'fortran_order': False, "
                          "'shape': (%lld, %lld, %lld), }",
                          (long long)shape[0], (long long)shape[1], (long long)shape[2]);
    size_t header_end = PREFIX_BYTES + (size_t)length + 1; /* a newline ends it */
    header_end = (header_end + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    size_t header_bytes = header_end - PREFIX_BYTES, data_bytes;
    if (length < 0 || header_bytes > sizeof header || !field_bytes(shape, &data_bytes))
        return complain("%s: this shape cannot be written", path);
    memset(header + length, ' ', header_bytes - (size_t)length);
    header[header_bytes - 1] = '\n';

    int file = output_make(path, &npy->output);
    if (file < 0) return false;
    npy->mapping_bytes = header_end + data_bytes;
    if (!reserve(path, file, npy->mapping_bytes)) {
        close(file);
        npy_close(npy);
        return false;
    }
    npy->mapping = mmap(NULL, npy->mapping_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    int map_errno = errno;
    close(file);
    if (npy->mapping == MAP_FAILED) {
        npy->mapping = NULL;
        npy_close(npy);
        return complain("%s: cannot map it: %s", path, strerror(map_errno));
    }

    unsigned char *bytes = npy->mapping;
    memcpy(bytes, magic, sizeof magic);
    bytes[8] = (unsigned char)(header_bytes & 0xff);
    bytes[9] = (unsigned char)(header_bytes >> 8);
    memcpy(bytes + PREFIX_BYTES, header, header_bytes);
    npy->data = (double *)(bytes + header_end);
    return true;
}

bool npy_complete(struct npy *npy) {
    return output_put_in_place(&npy->output);
}

void npy_close(struct npy *npy) {
    if (npy->mapping) munmap(npy->mapping, npy->mapping_bytes); /* cannot fail for our own range */
    if (npy->output.place) output_end(&npy->output);
    *npy = (struct npy){0};
}

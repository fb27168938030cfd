// A note in the program or library that this copy of libucd becomes a part of: "ucd info --process"
// lists the copies in a process by their notes. It is of bytes that the system maps, so it stays
// when symbols are stripped. One source file includes this one; every program that uses a copy
// needs that file, so the linker takes it from an archive.
//
// An ELF note (elf.h, Elf64_Nhdr) of the name "UCD" and type 1, in the section .note.ucd. Its
// description is a text that ends with NUL: version, kind of library and prefix, divided by a
// space; the last is empty if names have no prefix.
#pragma once

#include <ucd.h>

// "shared" or "static", as the build says; for other builds, whatever they say of themselves.
#ifndef UCD_COPY_KIND
#define UCD_COPY_KIND "static"
#endif

#define UCD_TEXT_OF(tokens) #tokens
#define UCD_EXPANDED_TEXT(tokens) UCD_TEXT_OF(tokens)
#ifdef UCD_PREFIX
#define UCD_PREFIX_TEXT UCD_EXPANDED_TEXT(UCD_PREFIX)
#else
#define UCD_PREFIX_TEXT ""
#endif

#define UCD_VERSION_TEXT                                                                           \
    UCD_EXPANDED_TEXT(UCD_VERSION_MAJOR)                                                           \
    "." UCD_EXPANDED_TEXT(UCD_VERSION_MINOR) "." UCD_EXPANDED_TEXT(UCD_VERSION_PATCH)
#define UCD_COPY_TEXT UCD_VERSION_TEXT " " UCD_COPY_KIND " " UCD_PREFIX_TEXT

// clang-format off
asm(".pushsection .note.ucd, \"a\", %note\n"
    ".balign 4\n"
    ".long 4, 2f - 1f, 1\n"
    ".asciz \"UCD\"\n"
    "1: .asciz \"" UCD_COPY_TEXT "\"\n"
    "2: .balign 4\n"
    ".popsection");
// clang-format on

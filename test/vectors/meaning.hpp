// What a type means, in the words of the vectors' files, by the public interface alone.
#pragma once

#include "vector_file.hpp"

#include <ucd.hpp>

Vector meaning_of(ucd::TypeRef type);

// The same of a vector, as a machine that lacks some representations can tell it.
Vector tellable(const Vector &vector);

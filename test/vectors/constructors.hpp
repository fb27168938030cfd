// Types made by constructors, by the names of their vectors.
#pragma once

#include <ucd.hpp>

#include <string>
#include <utility>
#include <vector>

std::vector<std::pair<std::string, ucd::Type>> constructed_types();

// binary16 and bfloat16 in software, for the oracle: conversion to float is exact, conversion from
// float rounds to nearest, ties to even.
#pragma once

#include "support/oracle/predefined.hpp"

namespace ucdtest {

float to_float(Half value);
float to_float(BFloat value);
Half half_from(float value);
BFloat bfloat_from(float value);

} // namespace ucdtest

// binary16, bfloat16 and the formats of OFP8 in software, for the oracle: conversion to float is
// exact, conversion from float rounds to nearest, ties to even.
#pragma once

#include "support/oracle/predefined.hpp"

namespace ucdtest {

float to_float(Half value);
float to_float(BFloat value);
float to_float(E4M3 value);
float to_float(E5M2 value);
Half half_from(float value);
BFloat bfloat_from(float value);
E4M3 e4m3_from(float value);
E5M2 e5m2_from(float value);

} // namespace ucdtest

// All that the library lists of a type, compared with what it should be: segments, boxes, runs of
// elements and their boundaries, from every place of small types and from many places of others.
#pragma once

#include "support/moves/subject.hpp"

#include <ucd.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ucdtest {

// Elements of a type: where their bytes are, and what these are.
struct Listed {
    std::uintptr_t count;
    ucd_type_t type;
    ByteMap bytes;
    std::vector<ucd_element_run_t> runs;
};

// As the oracle has it.
Listed listed(const Subject &subject);
// The same of another handle that was made by flattening and unflattening, which gives integers the
// names of their widths.
Listed listed_flattened(const Subject &subject, ucd_type_t made);
std::vector<ucd_element_run_t> runs_of(const std::vector<StreamElement> &elements);

void check_listings(Case &one, const Listed &what);
// Each also asks for what is beyond the end, which is refused.
void check_segments(Case &one, const Listed &what);
void check_boxes(Case &one, const Listed &what);
void check_runs(Case &one, const Listed &what);
void check_boundaries(Case &one, const Listed &what); // and how many elements come before

// One call each. `pieces`: all segments.
void check_iov(Case &one, const Listed &what, const std::vector<Segment> &pieces, std::size_t from,
               std::size_t room);
void check_iov_bytes(Case &one, const Listed &what, std::size_t offset, std::uintptr_t max_bytes,
                     std::size_t room);
void check_iov_len_max(Case &one, const Listed &what, const std::vector<Segment> &pieces,
                       std::uintptr_t max_bytes);

// What one call lists.
std::vector<ucd_box_t> all_boxes(Case &one, std::uintptr_t count, ucd_type_t type);
bool same(const ucd_box_t &a, const ucd_box_t &b);
bool same(const ucd_element_run_t &a, const ucd_element_run_t &b);
// Some of the boxes, in a call of its own.
void check_some_boxes(Case &one, const Listed &what, const std::vector<ucd_box_t> &all,
                      std::size_t first, std::size_t room);

} // namespace ucdtest

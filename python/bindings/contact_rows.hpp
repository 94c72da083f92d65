#pragma once

#include <cstdint>
#include <vector>

#include <tresse/dynamics/report.hpp>

#include "bindings.hpp"

namespace tresse::python {

/// One contact of a structured array, fields as in dynamics::ContactReport.
struct ContactRow {
  std::int32_t fibre_a, obstacle_a, fibre_b, obstacle_b, part_b;
  std::uint8_t state;
  double s_a, s_b;
  double point_a[3], point_b[3], normal[3], force[3];
  double gap, slip;
};

py::array_t<ContactRow> contact_rows(const std::vector<dynamics::ContactReport>& contacts);
/// Makes the type known to NumPy.
void register_contact_row();

}  // namespace tresse::python

#include "contact_rows.hpp"

#include <algorithm>

namespace tresse::python {
namespace {

void put(double (&into)[3], const Vector3& value) { std::copy_n(value.data(), 3, into); }

}  // namespace

py::array_t<ContactRow> contact_rows(const std::vector<dynamics::ContactReport>& contacts) {
  py::array_t<ContactRow> out(static_cast<py::ssize_t>(contacts.size()));
  ContactRow* row = out.mutable_data();
  for (const dynamics::ContactReport& contact : contacts) {
    row->fibre_a = contact.a.body.fibre();
    row->obstacle_a = contact.a.body.obstacle();
    row->fibre_b = contact.b.body.fibre();
    row->obstacle_b = contact.b.body.obstacle();
    row->part_b = contact.b.part;
    row->state = static_cast<std::uint8_t>(contact.state);
    row->s_a = contact.a.s;
    row->s_b = contact.b.s;
    put(row->point_a, contact.point_a);
    put(row->point_b, contact.point_b);
    put(row->normal, contact.normal);
    put(row->force, contact.force);
    row->gap = contact.gap;
    row->slip = contact.slip;
    ++row;
  }
  return out;
}

void register_contact_row() {
  PYBIND11_NUMPY_DTYPE(ContactRow, fibre_a, obstacle_a, fibre_b, obstacle_b, part_b, state, s_a, s_b, point_a, point_b,
                       normal, force, gap, slip);
}

}  // namespace tresse::python

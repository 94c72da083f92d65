#include <tresse/assembly/contact_report.hpp>

#include <tuple>

namespace tresse::assembly {

ContactReport report_of(const contact::Geometry& geometry, const contact::Contact& contact) {
  ContactReport out;
  std::tie(out.a.body, out.b.body) = contact::bodies_of(geometry, contact);
  out.a.s = contact::along_a(geometry, contact);
  out.point_a = contact.point_a;
  out.point_b = contact.point_b;
  out.normal = contact.frame.col(0);
  out.gap = contact.gap;
  if (contact.b < 0) {
    out.b.part = contact.face;
    return out;
  }
  const contact::Piece& b = geometry.pieces[static_cast<std::size_t>(contact.b)];
  out.b.s = contact::material_at(b, contact.s_b);
  if (!b.id.is_fibre()) out.b.part = b.element;
  return out;
}

}  // namespace tresse::assembly

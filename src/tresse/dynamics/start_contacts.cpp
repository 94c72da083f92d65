#include <tresse/dynamics/start_contacts.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

#include <tresse/contact/pair_index.hpp>
#include <tresse/dynamics/detail/contact_finder.hpp>

namespace tresse::dynamics {
namespace {

/// Whether two searches of the same shapes found contacts at the same places.
bool same_places(const detail::Configuration& one, const detail::Configuration& other) {
  constexpr double same = 1e-6;  // of a radius
  return std::ranges::equal(one.contacts, other.contacts, [&](const contact::Contact& a, const contact::Contact& b) {
    const contact::Geometry& geometry = one.geometry;
    return contact::bodies_of(geometry, a) == contact::bodies_of(geometry, b) &&
           contact::distance_along(geometry, a, b) < same * geometry.pieces[static_cast<std::size_t>(a.a)].radius;
  });
}

std::vector<contact::Contact> near_fibres(const detail::Configuration& found, double margin) {
  std::vector<contact::Contact> out;
  std::ranges::copy_if(found.contacts, std::back_inserter(out), [&](const contact::Contact& contact) {
    const BodyPair bodies = contact::bodies_of(found.geometry, contact);
    return contact.gap <= margin && (bodies.first.is_fibre() || bodies.second.is_fibre());
  });
  return out;
}

}  // namespace

std::vector<contact::Contact> start_contacts(const assembly::Kinematics& at, const StepOptions& options,
                                             contact::Geometry& geometry) {
  constexpr int searches = 10, most = 1000;  // what is followed goes to a minimum by two radii at a time
  detail::ContactFinder finder(at.world(), options);
  std::vector<VectorX> still;
  for (std::size_t f = 0; f < at.world().fibres.size(); ++f)
    still.emplace_back(VectorX::Zero(at.rod(static_cast<int>(f)).dof()));
  for (std::size_t k = 0; k < at.world().free_bodies.size(); ++k) still.emplace_back(VectorX::Zero(6));
  detail::SharedConfiguration found = finder.find(at, 0.0, still, {});
  for (int k = 0; k < searches; ++k) {
    detail::Configuration near{found->geometry, near_fibres(*found, options.margin)};
    detail::SharedConfiguration followed = finder.follow(at, 0.0, still, near);
    for (int step = 0; step < most && !same_places(near, *followed); ++step) {
      near.contacts = followed->contacts;
      followed = finder.follow(at, 0.0, still, near);
    }
    std::vector<WarmContact> warm;
    for (const contact::Contact& contact : followed->contacts)
      warm.push_back({.place = contact::place_of(followed->geometry, contact), .force = Vector3::Zero()});
    const detail::SharedConfiguration before = std::exchange(found, finder.find(at, 0.0, still, warm));
    if (same_places(*before, *found)) break;
  }
  geometry = found->geometry;
  return near_fibres(*found, options.margin);
}

}  // namespace tresse::dynamics

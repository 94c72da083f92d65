#include <tresse/surfaces/cloth.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include <Eigen/Geometry>

#include <tresse/base/blocks.hpp>
#include <tresse/base/errors.hpp>
#include <tresse/surfaces/detail/cloth_terms.hpp>
#include <tresse/surfaces/detail/membrane.hpp>
#include <tresse/surfaces/detail/vertices.hpp>

namespace tresse::surfaces {
using detail::corners;
using detail::elements_a_block;
using detail::index;
using detail::place;
using detail::points;

namespace {

VectorX places(const std::vector<Vector3>& vertices) {
  VectorX out(3 * static_cast<Eigen::Index>(vertices.size()));
  for (std::size_t i = 0; i < vertices.size(); ++i) out.segment<3>(3 * static_cast<Eigen::Index>(i)) = vertices[i];
  return out;
}

/// By which a strip stretches as its stiffness says, whatever Poisson's ratio is.
Matrix3 elasticity_of(const ClothMaterial& m) {
  const double less = 1.0 - m.poisson_ratio * m.poisson_ratio;
  Matrix3 out = Matrix3::Zero();
  out(0, 0) = m.warp_stiffness / less;
  out(1, 1) = m.weft_stiffness / less;
  out(0, 1) = out(1, 0) = m.poisson_ratio * std::sqrt(m.warp_stiffness * m.weft_stiffness) / less;
  out(2, 2) = m.shear_stiffness;
  return out;
}

void validate_material(const ClothMaterial& m) {
  const auto positive = [](double x) { return x > 0.0 && std::isfinite(x); };
  const auto not_below_zero = [](double x) { return x >= 0.0 && std::isfinite(x); };
  require(positive(m.area_density), "cloth: mass per area must be positive");
  require(positive(m.warp_stiffness) && positive(m.weft_stiffness) && positive(m.shear_stiffness),
          "cloth: stiffnesses of the membrane must be positive");
  require(m.poisson_ratio > -1.0 && m.poisson_ratio < 1.0, "cloth: Poisson's ratio must be between -1 and 1");
  require(not_below_zero(m.bending_stiffness), "cloth: bending stiffness must be 0 or more");
  require(not_below_zero(m.damping_time), "cloth: damping time must be 0 or more");
  require(not_below_zero(m.drag), "cloth: drag must be 0 or more");
}

}  // namespace

Cloth::Cloth(ClothShape shape, const ClothMaterial& material)
    : shape_(std::move(shape)), material_(material), elasticity_(elasticity_of(material)) {
  validate_material(material);
  require(!shape_.faces.empty(), "cloth: needs a face at least");
  require(shape_.warp.size() == shape_.faces.size(), "cloth: needs one direction of the warp a face");
  const VectorX x = places(shape_.vertices);
  require(x.allFinite(), "cloth: a vertex is not finite");
  masses_ = VectorX::Zero(vertex_count());
  shortest_ = std::numeric_limits<double>::infinity();
  std::vector<detail::RestTriangle> triangles;
  for (std::size_t f = 0; f < shape_.faces.size(); ++f) {
    const geometry::Face& face = shape_.faces[f];
    for (const int v : face) require(v >= 0 && v < vertex_count(), "cloth: a face names a vertex that is not there");
    const std::array<Vector3, 3> at = corners(x, face);
    double longest = 0.0;
    for (std::size_t k = 0; k < 3; ++k) {
      const double edge = (at[(k + 1) % 3] - at[k]).norm();
      shortest_ = std::min(shortest_, edge);
      longest = std::max(longest, edge);
    }
    const detail::RestTriangle& triangle = triangles.emplace_back(detail::rest_triangle(at, shape_.warp[f]));
    constexpr double thin = 1e-6;  // height over the longest side
    require(triangle.area > 0.5 * thin * longest * longest && triangle.slopes.allFinite(),
            "cloth: a face has no area, or no direction of the warp");
    area_ += triangle.area;
    for (const int v : face) masses_[v] += material.area_density * triangle.area / 3.0;
  }
  triangles_ = std::make_shared<const std::vector<detail::RestTriangle>>(std::move(triangles));
  require(masses_.minCoeff() > 0.0, "cloth: a vertex is the corner of no face");
  hinges_ = hinges(shape_.faces);
  double energy = 0.0, wanted = 0.0;
  for (const Hinge& hinge : hinges_) {
    const detail::HingePoints at = points(x, hinge);
    const detail::BentHinge bent = detail::bent_hinge(at);
    hinge_stiffness_.push_back(material.bending_stiffness * bent.weight);
    rest_angle_.push_back(detail::hinge_angle(at));
    energy += bent.weight * bent.mean_square;
    wanted += bent.area;
  }
  // On cylinders of all directions the mesh is to have B / 2 kappa^2 an area.
  for (double& stiffness : hinge_stiffness_) stiffness *= wanted / energy;
  find_uses();
}

/// Which blocks the matrices have, and where each element adds to them.
void Cloth::find_uses() {
  std::vector<std::set<int>> neighbours(index(vertex_count()));
  const auto tie = [&](const auto& vertices) {
    for (const int i : vertices)
      for (const int j : vertices) neighbours[index(i)].insert(j);
  };
  for (const geometry::Face& face : shape_.faces) tie(face);
  for (const Hinge& hinge : hinges_) tie(hinge.vertices);
  pattern_.rows = vertex_count();
  pattern_.row_begin = {0};
  for (const std::set<int>& row : neighbours) {
    pattern_.column.insert(pattern_.column.end(), row.begin(), row.end());
    pattern_.row_begin.push_back(static_cast<int>(pattern_.column.size()));
  }
  pattern_.block.assign(pattern_.column.size(), Matrix3::Zero());
  const auto use = [&](const auto& vertices, std::size_t element, std::vector<std::vector<Corner>>& of) {
    for (std::size_t k = 0; k < vertices.size(); ++k) {
      Corner corner{static_cast<int>(element), static_cast<int>(k), {}};
      const auto begin = pattern_.column.begin() + pattern_.row_begin[index(vertices[k])];
      const auto end = pattern_.column.begin() + pattern_.row_begin[index(vertices[k]) + 1];
      for (std::size_t l = 0; l < vertices.size(); ++l)
        corner.place[l] = static_cast<int>(std::lower_bound(begin, end, vertices[l]) - pattern_.column.begin());
      of[index(vertices[k])].push_back(corner);
    }
  };
  of_vertex_.resize(index(vertex_count()));
  hinges_of_vertex_.resize(index(vertex_count()));
  for (std::size_t f = 0; f < shape_.faces.size(); ++f) use(shape_.faces[f], f, of_vertex_);
  for (std::size_t h = 0; h < hinges_.size(); ++h) use(hinges_[h].vertices, h, hinges_of_vertex_);
}

Cloth::Terms Cloth::terms(const VectorX& x, bool exact) const {
  Terms out;
  out.triangles.resize(triangles_->size());
  out.bends.resize(hinges_.size());
  if (exact) out.turns.resize(hinges_.size());
  for_blocks(static_cast<int>(triangles_->size()), elements_a_block, [&](int, int begin, int end) {
    for (int f = begin; f < end; ++f) {
      const detail::RestTriangle& rest = (*triangles_)[index(f)];
      const detail::TriangleStrain at = detail::strain_of(rest, corners(x, shape_.faces[index(f)]));
      out.triangles[index(f)] = {detail::strain_slopes(rest, at), elasticity_ * at.strain};
    }
  });
  for_blocks(static_cast<int>(hinges_.size()), elements_a_block, [&](int, int begin, int end) {
    for (int h = begin; h < end; ++h) {
      const detail::HingePoints at = points(x, hinges_[index(h)]);
      const double moment = hinge_stiffness_[index(h)] * (detail::hinge_angle(at) - rest_angle_[index(h)]);
      out.bends[index(h)] = {detail::hinge_slope(at), moment};
      if (exact) out.turns[index(h)] = detail::hinge_curvature(at);
    }
  });
  return out;
}

double Cloth::elastic_energy(const VectorX& x) const {
  double out = 0.0;
  for (std::size_t f = 0; f < triangles_->size(); ++f) {
    const Vector3 strain = detail::strain_of((*triangles_)[f], corners(x, shape_.faces[f])).strain;
    out += 0.5 * (*triangles_)[f].area * strain.dot(elasticity_ * strain);
  }
  for (std::size_t h = 0; h < hinges_.size(); ++h) {
    const double bent = detail::hinge_angle(points(x, hinges_[h])) - rest_angle_[h];
    out += 0.5 * hinge_stiffness_[h] * bent * bent;
  }
  return out;
}

VectorX Cloth::slope(const Terms& at) const {
  VectorX out(position_count());
  for_blocks(vertex_count(), elements_a_block, [&](int, int begin, int end) {
    for (int v = begin; v < end; ++v) {
      Vector3 sum = Vector3::Zero();
      for (const Corner& use : of_vertex_[index(v)]) {
        const Terms::Triangle& triangle = at.triangles[index(use.element)];
        sum +=
            (*triangles_)[index(use.element)].area * triangle.slopes[index(use.corner)].transpose() * triangle.stress;
      }
      for (const Corner& use : hinges_of_vertex_[index(v)]) {
        const Terms::Bend& bend = at.bends[index(use.element)];
        sum += bend.moment * bend.slope.segment<3>(3 * use.corner);
      }
      out.segment<3>(3 * v) = sum;
    }
  });
  return out;
}

friction::BlockMatrix Cloth::matrix(const Terms& at, const Weights& weights) const {
  friction::BlockMatrix out = pattern_;
  for_blocks(vertex_count(), elements_a_block, [&](int, int begin, int end) {
    for (int v = begin; v < end; ++v) {
      for (const Corner& use : of_vertex_[index(v)]) {
        const detail::RestTriangle& rest = (*triangles_)[index(use.element)];
        const Terms::Triangle& triangle = at.triangles[index(use.element)];
        const Vector3 stress = at.turns.empty() ? detail::tensile(triangle.stress) : triangle.stress;
        const Matrix3 tied = detail::geometric_stiffness(rest, stress);
        const Matrix3 half =
            weights.material * rest.area * triangle.slopes[index(use.corner)].transpose() * elasticity_;
        for (int k = 0; k < 3; ++k) {
          Matrix3& block = out.block[index(use.place[index(k)])];
          block += half * triangle.slopes[index(k)];
          block.diagonal().array() += weights.stress * rest.area * tied(use.corner, k);
        }
        out.block[index(use.place[index(use.corner)])].diagonal().array() +=
            weights.mass * material_.area_density * rest.area / 3.0;
      }
      for (const Corner& use : hinges_of_vertex_[index(v)]) {
        const Terms::Bend& bend = at.bends[index(use.element)];
        const Vector3 own =
            weights.material * hinge_stiffness_[index(use.element)] * bend.slope.segment<3>(3 * use.corner);
        for (int k = 0; k < 4; ++k) {
          Matrix3& block = out.block[index(use.place[index(k)])];
          block += own * bend.slope.segment<3>(3 * k).transpose();
          if (!at.turns.empty())
            block += weights.stress * bend.moment * at.turns[index(use.element)].block<3, 3>(3 * use.corner, 3 * k);
        }
      }
    }
  });
  return out;
}

VectorX Cloth::elastic_slope(const VectorX& x) const { return slope(terms(x, false)); }

friction::BlockMatrix Cloth::stiffness(const VectorX& x, Stiffness kind) const {
  return matrix(terms(x, kind == Stiffness::exact), {});
}

std::vector<Vector3> Cloth::vertices(const SurfaceState& state) const {
  std::vector<Vector3> out;
  for (int v = 0; v < vertex_count(); ++v) out.push_back(place(state.position, v));
  return out;
}

SurfaceEnergies Cloth::energies(const SurfaceState& state, const Vector3& gravity) const {
  SurfaceEnergies out;
  out.elastic = elastic_energy(state.position);
  for (int v = 0; v < vertex_count(); ++v) {
    out.kinetic += 0.5 * masses_[v] * place(state.velocity, v).squaredNorm();
    out.gravity -= masses_[v] * gravity.dot(place(state.position, v));
  }
  return out;
}

SurfaceStepResult Cloth::advance(const SurfaceState& start, const SurfaceStep& step) const {
  ClothStep how;
  how.dt = step.dt;
  how.gravity = step.gravity;
  ClothStepResult found = this->step(start, how);
  return {std::move(found.end), found.status, found.iterations, found.residual};
}

}  // namespace tresse::surfaces

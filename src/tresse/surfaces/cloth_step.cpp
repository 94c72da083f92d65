#include <algorithm>
#include <cmath>
#include <utility>

#include <Eigen/Geometry>

#include <tresse/base/errors.hpp>
#include <tresse/surfaces/cloth.hpp>
#include <tresse/surfaces/detail/cloth_terms.hpp>
#include <tresse/surfaces/detail/vertices.hpp>

namespace tresse::surfaces {
using detail::corners;
using detail::index;
using detail::place;

/// It pushes along the normals that the faces have, a third of each at each corner.
std::vector<Matrix3> Cloth::air(const VectorX& x, double dt) const {
  std::vector<Matrix3> out(index(vertex_count()), Matrix3::Zero());
  for (const geometry::Face& face : shape_.faces) {
    const std::array<Vector3, 3> at = corners(x, face);
    const Vector3 normal = (at[1] - at[0]).cross(at[2] - at[0]);
    const double twice = normal.norm();
    if (twice == 0.0) continue;
    const Matrix3 share = dt * material_.drag / (6.0 * twice) * normal * normal.transpose();
    for (const int v : face) out[index(v)] += share;
  }
  return out;
}

namespace {

/// The rows and columns of the vertices that are free, and what the motion of the others adds to the load.
struct FreePart {
  friction::BlockMatrix matrix;
  VectorX load;
  std::vector<int> vertices;  ///< of the cloth
  std::vector<int> number;    ///< (n) among them, -1: pinned

  FreePart(const friction::BlockMatrix& whole, const VectorX& whole_load, const VectorX& given,
           const std::vector<PinnedVertex>& pins)
      : number(index(whole.rows), 0) {
    for (const PinnedVertex& pin : pins) number[index(pin.vertex)] = -1;
    for (int v = 0; v < whole.rows; ++v) {
      if (number[index(v)] < 0) continue;
      number[index(v)] = static_cast<int>(vertices.size());
      vertices.push_back(v);
    }
    load.resize(3 * static_cast<Eigen::Index>(vertices.size()));
    matrix.rows = static_cast<int>(vertices.size());
    matrix.row_begin = {0};
    for (std::size_t k = 0; k < vertices.size(); ++k) {
      Vector3 its_load = whole_load.segment<3>(3 * vertices[k]);
      for (int b = whole.row_begin[index(vertices[k])]; b < whole.row_begin[index(vertices[k]) + 1]; ++b) {
        const int j = whole.column[index(b)];
        if (number[index(j)] >= 0) {
          matrix.column.push_back(number[index(j)]);
          matrix.block.push_back(whole.block[index(b)]);
        } else {
          its_load -= whole.block[index(b)] * given.segment<3>(3 * j);
        }
      }
      matrix.row_begin.push_back(static_cast<int>(matrix.column.size()));
      load.segment<3>(3 * static_cast<Eigen::Index>(k)) = its_load;
    }
  }

  /// A vertex that touches in several places has a twin for each but the first, which is tied to it so stiffly that the
  /// two move as one: solve_nodal() takes one contact a node. Returns which node each contact is at.
  std::vector<int> place(const std::vector<friction::NodalContact>& contacts) {
    std::vector<int> out;
    std::vector<char> taken(vertices.size(), 0);
    std::vector<int> of;  // of each twin
    for (const friction::NodalContact& contact : contacts) {
      const int node = number[index(contact.node)];
      out.push_back(taken[index(node)] != 0 ? static_cast<int>(vertices.size() + of.size()) : node);
      if (taken[index(node)] != 0) of.push_back(node);
      taken[index(node)] = 1;
    }
    if (!of.empty()) add_twins(of);
    return out;
  }

  VectorX part(const VectorX& whole) const {
    VectorX out(load.size());
    for (std::size_t k = 0; k < vertices.size(); ++k)
      out.segment<3>(3 * static_cast<Eigen::Index>(k)) = whole.segment<3>(3 * vertices[k]);
    for (std::size_t k = 0; k < twin_of_.size(); ++k)
      out.segment<3>(3 * static_cast<Eigen::Index>(vertices.size() + k)) = out.segment<3>(3 * twin_of_[k]);
    return out;
  }

 private:
  std::vector<int> twin_of_;

  void add_twins(const std::vector<int>& of) {
    constexpr double stiff = 1e4;  // of what resists the vertex itself: a twin strays by so much less than it moves
    twin_of_ = of;
    const int first = matrix.rows;
    friction::BlockMatrix out;
    out.rows = first + static_cast<int>(of.size());
    out.row_begin = {0};
    std::vector<Matrix3> ties(of.size());
    for (int i = 0; i < first; ++i) {
      const auto row = static_cast<std::ptrdiff_t>(out.block.size());
      double tied = 0.0;
      for (int b = matrix.row_begin[index(i)]; b < matrix.row_begin[index(i) + 1]; ++b) {
        out.column.push_back(matrix.column[index(b)]);
        out.block.push_back(matrix.block[index(b)]);
        if (matrix.column[index(b)] == i) tied = stiff * matrix.block[index(b)].trace() / 3.0;
      }
      const auto end = static_cast<std::ptrdiff_t>(out.block.size());
      for (std::size_t k = 0; k < of.size(); ++k) {
        if (of[k] != i) continue;
        ties[k] = tied * Matrix3::Identity();
        for (std::ptrdiff_t b = row; b < end; ++b) {
          if (out.column[static_cast<std::size_t>(b)] == i) out.block[static_cast<std::size_t>(b)] += ties[k];
        }
        out.column.push_back(first + static_cast<int>(k));
        out.block.emplace_back(-ties[k]);
      }
      out.row_begin.push_back(static_cast<int>(out.column.size()));
    }
    for (std::size_t k = 0; k < of.size(); ++k) {
      out.column.push_back(of[k]);
      out.block.emplace_back(-ties[k]);
      out.column.push_back(first + static_cast<int>(k));
      out.block.push_back(ties[k]);
      out.row_begin.push_back(static_cast<int>(out.column.size()));
    }
    matrix = std::move(out);
    const Eigen::Index size = load.size();
    load.conservativeResize(3 * matrix.rows);
    load.tail(load.size() - size).setZero();
  }
};

void validate_step(const ClothStep& how, const SurfaceState& start, int count) {
  require(how.dt > 0.0 && std::isfinite(how.dt), "cloth: time step must be positive and finite");
  require(start.position.size() == 3 * count && start.velocity.size() == 3 * count, "cloth: the state is of another");
  int before = -1;
  for (const PinnedVertex& pin : how.pins) {
    require(pin.vertex > before && pin.vertex < count, "cloth: pins must be of vertices that are there, ascending");
    before = pin.vertex;
  }
  for (const friction::NodalContact& contact : how.contacts) {
    require(contact.node >= 0 && contact.node < count, "cloth: a contact is at a vertex that is not there");
    const auto pin = std::lower_bound(how.pins.begin(), how.pins.end(), contact.node,
                                      [](const PinnedVertex& one, int vertex) { return one.vertex < vertex; });
    require(pin == how.pins.end() || pin->vertex != contact.node, "cloth: a contact is at a vertex that is pinned");
  }
}

}  // namespace

ClothStepResult Cloth::step(const SurfaceState& start, const ClothStep& how) const {
  validate_step(how, start, vertex_count());
  const Terms at = terms(start.position, false);
  const double square = how.dt * how.dt;
  friction::BlockMatrix whole =
      matrix(at, {.material = square + how.dt * material_.damping_time, .stress = square, .mass = 1.0});
  VectorX load = -how.dt * slope(at);
  for (int v = 0; v < vertex_count(); ++v)
    load.segment<3>(3 * v) += masses_[v] * (place(start.velocity, v) + how.dt * how.gravity);
  const std::vector<Matrix3> drag = material_.drag > 0.0 ? air(start.position, how.dt) : std::vector<Matrix3>();
  for (int v = 0; v < static_cast<int>(drag.size()); ++v) {
    const auto begin = whole.column.begin() + whole.row_begin[index(v)];
    const auto end = whole.column.begin() + whole.row_begin[index(v) + 1];
    whole.block[static_cast<std::size_t>(std::lower_bound(begin, end, v) - whole.column.begin())] += drag[index(v)];
    load.segment<3>(3 * v) += drag[index(v)] * how.wind;
  }
  ClothStepResult out;
  out.end = start;
  for (const PinnedVertex& pin : how.pins) out.end.velocity.segment<3>(3 * pin.vertex) = pin.velocity;
  FreePart free(whole, load, out.end.velocity, how.pins);
  std::vector<friction::NodalContact> contacts = how.contacts;
  const std::vector<int> nodes = free.place(contacts);
  for (std::size_t k = 0; k < contacts.size(); ++k) contacts[k].node = nodes[k];
  const friction::PrimalProblem problem = friction::nodal_problem(free.matrix, free.load, contacts);
  if (!free.vertices.empty()) {
    const friction::PrimalSolution found =
        friction::solve_nodal(problem, free.part(start.velocity), how.solver, how.memory);
    for (std::size_t k = 0; k < free.vertices.size(); ++k)
      out.end.velocity.segment<3>(3 * free.vertices[k]) = found.velocity.segment<3>(3 * static_cast<Eigen::Index>(k));
    out.status = found.status;
    out.iterations = found.iterations;
    out.residual = friction::primal_error(problem, found.velocity, found.impulse);
    out.impulse = found.impulse;
    out.contact_velocity = found.contact_velocity;
  } else {
    out.status = Status::converged;
  }
  out.end.position = start.position + how.dt * out.end.velocity;
  for (int v = 0; v < static_cast<int>(drag.size()); ++v) {
    const Vector3 velocity = place(out.end.velocity, v);
    out.air_work += velocity.dot(drag[index(v)] * (how.wind - velocity));
  }
  for (const PinnedVertex& pin : how.pins) {
    Vector3 sum = -load.segment<3>(3 * pin.vertex);
    for (int b = whole.row_begin[index(pin.vertex)]; b < whole.row_begin[index(pin.vertex) + 1]; ++b)
      sum += whole.block[index(b)] * out.end.velocity.segment<3>(3 * whole.column[index(b)]);
    out.pin_impulse.push_back(sum);
  }
  return out;
}

}  // namespace tresse::surfaces

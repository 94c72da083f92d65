#include <tresse/friction/detail/nodal_system.hpp>

#include <Eigen/LU>

#include <tresse/math/gmres.hpp>

namespace tresse::friction::detail {
namespace {

using Vector2 = Eigen::Vector2d;
using Matrix2 = Eigen::Matrix2d;

/// How a point takes part in a step: which of its components are unknown, and for what slides the rows
///     (M d)_T + stiff d_T = load - drag (M d)_N,
/// with the rows of the derivative solved for (M d)_T.
struct NodePart {
  bool normal = true, tangent = true;  ///< unknown
  bool slides = false;
  Matrix2 stiff = Matrix2::Zero();
  Vector2 load = Vector2::Zero(), drag = Vector2::Zero();
  bool unknown(int component) const { return component == 0 ? normal : tangent; }
};

NodePart node_part_of(const ContactFunction& c) {
  NodePart out;
  if (c.dr.isZero(0.0)) return out;
  out.normal = false;
  out.tangent = !c.du.isZero(0.0);
  out.slides = out.tangent;
  if (!out.slides) return out;
  const Matrix2 inverse = Matrix2(c.du.block<2, 2>(1, 1)).inverse();
  out.stiff = inverse * c.dr.block<2, 2>(1, 1);
  out.stiff = 0.5 * (out.stiff + out.stiff.transpose()).eval();
  out.load = inverse * (c.value.tail<2>() - c.dr.block<2, 1>(1, 0) * c.value[0]);
  out.drag = inverse * c.du.block<2, 1>(1, 0);
  return out;
}

}  // namespace

bool NodalNewtonSystem::solve(const std::vector<ContactFunction>& contacts, double lift, LinearSolve method,
                              VectorX& d) {
  if (method != LinearSolve::elimination) return false;
  const auto index = [](int i) { return static_cast<std::size_t>(i); };
  std::vector<NodePart> parts;
  parts.reserve(contacts.size());
  d.setZero(3 * static_cast<Eigen::Index>(contacts.size()));
  bool coupled = false;
  for (int i = 0; i < M_.rows; ++i) {
    const ContactFunction& c = contacts[index(i)];
    parts.push_back(node_part_of(c));
    if (!parts.back().normal) d[3 * i] = c.value[0];
    if (!parts.back().tangent) d.segment<2>(3 * i + 1) = c.value.tail<2>();
    coupled = coupled || !parts.back().drag.isZero(0.0);
  }
  for (int i = 0; i < M_.rows; ++i) {
    const NodePart& row = parts[index(i)];
    for (int k = M_.row_begin[index(i)]; k < M_.row_begin[index(i + 1)]; ++k) {
      const NodePart& column = parts[index(M_.column[index(k)])];
      Matrix3& block = matrix_.block[index(k)];
      block = M_.block[index(k)];
      for (int a = 0; a < 3; ++a) {
        if (!row.unknown(a)) block.row(a).setZero();
        if (!column.unknown(a)) block.col(a).setZero();
      }
      if (M_.column[index(k)] != i) continue;
      for (int a = 0; a < 3; ++a) block(a, a) += row.unknown(a) ? lift : 1.0;
      if (row.slides) block.block<2, 2>(1, 1) += row.stiff;
    }
  }
  if (!factor_.factor(matrix_)) return false;

  VectorX product;
  const auto times = [&](const VectorX& x) {
    multiply(M_, x, product);
    if (lift > 0.0) product += lift * x;
  };
  const auto keep_unknown = [&](VectorX& x) {
    for (int i = 0; i < M_.rows; ++i)
      for (int a = 0; a < 3; ++a)
        if (!parts[index(i)].unknown(a)) x[3 * i + a] = 0.0;
  };
  times(d);
  VectorX load(d.size());
  for (int i = 0; i < M_.rows; ++i) {
    const NodePart& at = parts[index(i)];
    load.segment<3>(3 * i) = contacts[index(i)].value - product.segment<3>(3 * i);
    if (at.slides) load.segment<2>(3 * i + 1) = at.load - product.segment<2>(3 * i + 1) - at.drag * product[3 * i];
  }
  keep_unknown(load);
  factor_.solve(load);
  VectorX change = load;
  if (coupled) {
    const auto apply = [&](const VectorX& x, VectorX& out) {
      times(x);
      out.setZero(x.size());
      for (int i = 0; i < M_.rows; ++i)
        if (parts[index(i)].slides) out.segment<2>(3 * i + 1) = parts[index(i)].drag * product[3 * i];
      factor_.solve(out);
      out += x;
    };
    constexpr double enough = 1e-9;
    constexpr int most = 80;
    math::gmres(apply, load, enough, most, change);
  }
  d += change;
  return d.allFinite();
}

}  // namespace tresse::friction::detail

#include <tresse/inverse/contact_compliance.hpp>

#include <atomic>

#include <Eigen/Cholesky>

#include <tresse/base/blocks.hpp>
#include <tresse/base/local_memory.hpp>
#include <tresse/friction/residual.hpp>

namespace tresse::inverse {
namespace {

template <typename Visit>
void for_each(std::size_t count, std::size_t block, const Visit& visit) {
  for_blocks(count, block, [&](std::size_t, std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) visit(i);
  });
}

constexpr std::size_t few_fibres = 8, few_contacts = 512;

}  // namespace

ContactCompliance::ContactCompliance(const friction::FactoredProblem& rows)
    : fibres_(rows.body_begin.size() - 1), places_(rows.contacts.size()) {
  scales_ = friction::contact_scales(friction::diagonal_blocks(rows));
  std::vector<std::vector<friction::ContactRows>> sides(fibres_.size());
  for (std::size_t i = 0; i < places_.size(); ++i) {
    for (std::size_t k = 0; k < 2; ++k) {
      const friction::ContactRows& side = rows.contacts[i][k];
      if (side.body < 0) continue;
      Fibre& fibre = fibres_[static_cast<std::size_t>(side.body)];
      places_[i][k] = {side.body, static_cast<int>(fibre.contacts.size())};
      fibre.contacts.push_back(static_cast<int>(i));
      sides[static_cast<std::size_t>(side.body)].push_back(side);
    }
  }
  for_each(fibres_.size(), few_fibres, [&](std::size_t f) {
    Fibre& fibre = fibres_[f];
    const auto count = static_cast<Eigen::Index>(fibre.contacts.size());
    MatrixX X = MatrixX::Zero(rows.body_begin[f + 1] - rows.body_begin[f], 3 * count);
    for (Eigen::Index k = 0; k < count; ++k) {
      const friction::ContactRows& side = sides[f][static_cast<std::size_t>(k)];
      X.block(0, 3 * k, side.columns, 3) =
          rows_of(rows, side).transpose() / scales_[fibre.contacts[static_cast<std::size_t>(k)]];
    }
    fibre.compliance.setZero(3 * count, 3 * count);
    fibre.compliance.selfadjointView<Eigen::Lower>().rankUpdate(X.transpose());
    fibre.compliance.triangularView<Eigen::StrictlyUpper>() = fibre.compliance.transpose();
  });
}

std::vector<VectorX> ContactCompliance::gathered(const VectorX& r) const {
  std::vector<VectorX> out(fibres_.size());
  for_each(fibres_.size(), few_fibres, [&](std::size_t f) {
    const std::vector<int>& contacts = fibres_[f].contacts;
    out[f].resize(3 * static_cast<Eigen::Index>(contacts.size()));
    for (std::size_t k = 0; k < contacts.size(); ++k)
      out[f].segment<3>(3 * static_cast<Eigen::Index>(k)) = r.segment<3>(3 * contacts[k]);
  });
  return out;
}

VectorX ContactCompliance::times(const VectorX& r) const {
  std::vector<VectorX> own = gathered(r);
  for_each(fibres_.size(), few_fibres, [&](std::size_t f) { own[f] = (fibres_[f].compliance * own[f]).eval(); });
  VectorX out = VectorX::Zero(r.size());
  for_each(places_.size(), few_contacts, [&](std::size_t i) {
    for (const Place& place : places_[i])
      if (place.fibre >= 0)
        out.segment<3>(3 * static_cast<Eigen::Index>(i)) +=
            own[static_cast<std::size_t>(place.fibre)].segment<3>(3 * place.at);
  });
  return out;
}

bool FreeForces::factor(const ContactCompliance& compliance, const std::vector<FreeDirections>& directions) {
  directions_ = &directions;
  places_ = &compliance.places();
  begin_.assign(1, 0);
  for (const FreeDirections& one : directions) begin_.push_back(begin_.back() + static_cast<int>(one.axes.cols()));
  blocks_.resize(compliance.fibres().size());
  place_.assign(directions.size(), {-1, -1});
  for_each(blocks_.size(), few_fibres, [&](std::size_t f) { fill(compliance, f); });
  lay_out();
  std::atomic<bool> positive{true};
  for_each(blocks_.size(), few_fibres, [&](std::size_t f) {
    if (!invert(compliance, f)) positive.store(false);
  });
  return positive.load();
}

bool FreeForces::invert(const ContactCompliance& compliance, std::size_t f) {
  Block& block = blocks_[f];
  MatrixX whole = block.matrix;
  complete(compliance, f, whole);
  const Eigen::LLT<MatrixX> factor(whole);
  if (factor.info() != Eigen::Success) return false;
  const MatrixX inverse = factor.solve(MatrixX::Identity(whole.rows(), whole.rows()));
  block.inverse = (0.5 * (inverse + inverse.transpose())).cast<float>();
  return true;
}

void FreeForces::lay_out() {
  scatter_.assign(static_cast<std::size_t>(size()), {-1, -1});
  gather_.clear();
  for (Block& block : blocks_) {
    block.first = static_cast<Eigen::Index>(gather_.size());
    for (std::size_t k = 0; k < block.contacts.size(); ++k) {
      const int begin = begin_[static_cast<std::size_t>(block.contacts[k])];
      for (int c = 0; c < block.begin[k + 1] - block.begin[k]; ++c) {
        std::array<int, 2>& places = scatter_[static_cast<std::size_t>(begin + c)];
        places[places[0] < 0 ? 0 : 1] = static_cast<int>(gather_.size());
        gather_.push_back(begin + c);
      }
    }
  }
  added_.resize(size());
  for (std::size_t i = 0; i < place_.size(); ++i)
    for (int c = begin_[i]; c < begin_[i + 1]; ++c) added_[c] = (*directions_)[i].added[c - begin_[i]];
}

void FreeForces::fill(const ContactCompliance& compliance, std::size_t f) {
  const ContactCompliance::Fibre& fibre = compliance.fibres()[f];
  Block& block = blocks_[f];
  block.contacts.clear();
  block.begin.assign(1, 0);
  std::vector<int> at;
  for (std::size_t k = 0; k < fibre.contacts.size(); ++k) {
    const auto i = static_cast<std::size_t>(fibre.contacts[k]);
    const auto columns = static_cast<int>((*directions_)[i].axes.cols());
    if (columns == 0) continue;
    const std::size_t side = compliance.places()[i][0].fibre == static_cast<int>(f) ? 0 : 1;
    place_[i][side] = static_cast<int>(block.contacts.size());
    block.contacts.push_back(static_cast<int>(i));
    block.begin.push_back(block.begin.back() + columns);
    at.push_back(static_cast<int>(k));
  }
  const std::size_t count = block.contacts.size();
  MatrixX half(fibre.compliance.rows(), block.begin.back());
  const auto axes = [&](std::size_t k) -> const auto& {
    return (*directions_)[static_cast<std::size_t>(block.contacts[k])].axes;
  };
  for (std::size_t k = 0; k < count; ++k)
    half.middleCols(block.begin[k], axes(k).cols()).noalias() =
        fibre.compliance.middleCols<3>(3 * at[k]).lazyProduct(axes(k));
  block.matrix.resize(block.begin.back(), block.begin.back());
  for (std::size_t k = 0; k < count; ++k)
    block.matrix.middleRows(block.begin[k], axes(k).cols()).noalias() =
        axes(k).transpose().lazyProduct(half.middleRows<3>(3 * at[k]));
}

void FreeForces::complete(const ContactCompliance& compliance, std::size_t f, MatrixX& whole) const {
  const Block& block = blocks_[f];
  const auto& places = compliance.places();
  const auto other = [&](int i) -> const ContactCompliance::Place& {
    const auto& pair = places[static_cast<std::size_t>(i)];
    return pair[0].fibre == static_cast<int>(f) ? pair[1] : pair[0];
  };
  for (std::size_t k = 0; k < block.contacts.size(); ++k) {
    const int i = block.contacts[k];
    const FreeDirections& one = (*directions_)[static_cast<std::size_t>(i)];
    for (Eigen::Index c = 0; c < one.axes.cols(); ++c) whole(block.begin[k] + c, block.begin[k] + c) += one.added[c];
    const int g = other(i).fibre;
    if (g < 0) continue;
    const Block& beside = blocks_[static_cast<std::size_t>(g)];
    const auto place_there = [&](int contact) {
      const std::size_t side = places[static_cast<std::size_t>(contact)][0].fibre == g ? 0 : 1;
      return beside.begin[static_cast<std::size_t>(place_[static_cast<std::size_t>(contact)][side])];
    };
    for (std::size_t l = 0; l < block.contacts.size(); ++l) {
      const int j = block.contacts[l];
      if (other(j).fibre != g) continue;
      const Eigen::Index rows = block.begin[k + 1] - block.begin[k], columns = block.begin[l + 1] - block.begin[l];
      whole.block(block.begin[k], block.begin[l], rows, columns) +=
          beside.matrix.block(place_there(i), place_there(j), rows, columns);
    }
  }
}

template <typename Apply>
void FreeForces::by_fibre(const VectorX& x, VectorX& own, VectorX& out, const Apply& apply) const {
  for_each(blocks_.size(), few_fibres, [&](std::size_t f) {
    const Block& block = blocks_[f];
    const Eigen::Index count = block.begin.back();
    if (count > 0) apply(block, gather_.data() + block.first, own.segment(block.first, count));
  });
  out.resize(x.size());
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    const std::array<int, 2>& places = scatter_[static_cast<std::size_t>(i)];
    out[i] = own[places[0]] + (places[1] < 0 ? 0.0 : own[places[1]]);
  }
}

void FreeForces::times(const VectorX& x, VectorX& own, VectorX& out) const {
  by_fibre(x, own, out, [&](const Block& block, const int* from, auto to) {
    to.setZero();
    for (Eigen::Index k = 0; k < to.size(); ++k) to.noalias() += x[from[k]] * block.matrix.col(k);
  });
  out += added_.cwiseProduct(x);
}

void FreeForces::precondition(const VectorX& x, VectorX& own, VectorX& out) const {
  by_fibre(x, own, out, [&](const Block& block, const int* from, auto to) {
    LocalMemory<4096> memory;
    const auto sums = memory.array<float>(static_cast<std::size_t>(to.size()));
    Eigen::Map<Eigen::VectorXf> sum(sums.data(), to.size());
    sum.setZero();
    for (Eigen::Index k = 0; k < to.size(); ++k) sum.noalias() += static_cast<float>(x[from[k]]) * block.inverse.col(k);
    to = sum.cast<double>();
  });
}

FreeForces::Solve FreeForces::solve(const VectorX& b, double tolerance, int max_iterations) const {
  Solve out{.x = VectorX::Zero(b.size())};
  if (b.size() == 0) return out;
  VectorX own(static_cast<Eigen::Index>(gather_.size())), left = b, z, q;
  precondition(left, own, z);
  VectorX p = z;
  double size = left.dot(z);
  const double target = tolerance * tolerance * size;
  for (; out.iterations < max_iterations && size > target; ++out.iterations) {
    times(p, own, q);
    const double curvature = p.dot(q);
    if (!(curvature > 0.0)) return out;
    const double step = size / curvature;
    out.x += step * p;
    left -= step * q;
    precondition(left, own, z);
    const double next = left.dot(z);
    p = z + (next / size) * p;
    size = next;
  }
  return out;
}

VectorX FreeForces::forces(const VectorX& x) const {
  VectorX out(3 * static_cast<Eigen::Index>(place_.size()));
  for (std::size_t i = 0; i < place_.size(); ++i) {
    out.segment<3>(3 * static_cast<Eigen::Index>(i)) =
        (*directions_)[i].axes * x.segment(begin_[i], begin_[i + 1] - begin_[i]);
  }
  return out;
}

VectorX FreeForces::along(const VectorX& u) const {
  VectorX out(size());
  for (std::size_t i = 0; i < place_.size(); ++i) {
    out.segment(begin_[i], begin_[i + 1] - begin_[i]) =
        (*directions_)[i].axes.transpose() * u.segment<3>(3 * static_cast<Eigen::Index>(i));
  }
  return out;
}

}  // namespace tresse::inverse

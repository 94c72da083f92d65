#include <tresse/math/reverse_cholesky.hpp>

#include <algorithm>
#include <array>
#include <cmath>

#include <tresse/base/triple.hpp>

namespace tresse::math {

namespace {

// Blocks of four unknowns begin at multiples of four, whatever is asked for: bits don't depend on it.
constexpr Eigen::Index width = 4;
constexpr Eigen::Index block_begin(Eigen::Index end) { return (end - 1) / width * width; }
/// Where a column stands.
constexpr Eigen::Index column_begin(Eigen::Index j) {
  const Eigen::Index block = j / width;
  return width * (block + 1) * (width / 2 * block + j % width);
}

/// The last `count` columns of what is left of A, which begin at a multiple of four: finds them but for the roots of
/// their pivots, takes what they do out of the columns before, and writes them, divided by those roots, to `out`. No
/// column waits for a root, nor is read below its diagonal; what is there within a block of four is written, and of no
/// use. False where a pivot is not positive or not finite.
template <int count>
bool eliminate(Eigen::Ref<MatrixX>& upper, Eigen::Index begin, double* out, double* inverse_roots) {
  constexpr std::size_t columns = count;
  std::array<double*, columns> column;
  std::array<std::array<double, columns>, columns> corner;  // by column
  for (std::size_t j = 0; j < columns; ++j) {
    column[j] = upper.col(begin + static_cast<Eigen::Index>(j)).data();
    for (std::size_t i = 0; i <= j; ++i) corner[j][i] = column[j][begin + static_cast<Eigen::Index>(i)];
  }
  std::array<double, columns> inverse, scale;
  std::array<std::array<double, columns>, columns> factor;  // of column j in column k: [j][k]
  for (std::size_t j = columns; j-- > 0;) {
    const double pivot = corner[j][j];
    if (!(pivot > 0.0) || !std::isfinite(pivot)) return false;
    inverse[j] = 1.0 / pivot;
    for (std::size_t k = 0; k < j; ++k) {
      factor[j][k] = corner[j][k] * inverse[j];
      for (std::size_t i = 0; i <= k; ++i) corner[k][i] -= factor[j][k] * corner[j][i];
    }
  }
  for (std::size_t j = 0; j < columns; ++j)
    scale[j] = inverse_roots[begin + static_cast<Eigen::Index>(j)] = 1.0 / std::sqrt(corner[j][j]);
  std::array<double*, columns> to;
  for (std::size_t j = 0; j < columns; ++j) {
    to[j] = out + column_begin(begin + static_cast<Eigen::Index>(j));
    for (std::size_t i = 0; i < columns; ++i)
      to[j][begin + static_cast<Eigen::Index>(i)] = i <= j ? corner[j][i] * scale[j] : 0.0;
  }
  using lanes::Doubles;
  for (Eigen::Index i = 0; i < begin; i += width) {
    std::array<Doubles, columns> rows;
    for (std::size_t j = 0; j < columns; ++j) rows[j] = lanes::load(column[j] + i);
    for (std::size_t j = columns; j-- > 1;) {
      for (std::size_t k = 0; k < j; ++k) rows[k] -= factor[j][k] * rows[j];
    }
    for (std::size_t j = 0; j < columns; ++j) {
      lanes::store(rows[j], column[j] + i);
      lanes::store(scale[j] * rows[j], to[j] + i);
    }
  }
  // Two columns at a time, of which the first may be written one entry too far.
  for (Eigen::Index k = 0; k < begin; k += 2) {
    double* first = upper.col(k).data();
    double* second = upper.col(k + 1).data();
    std::array<Doubles, columns> f, g;
    for (std::size_t j = 0; j < columns; ++j) {
      f[j] = lanes::spread(column[j][k] * inverse[j]);
      g[j] = lanes::spread(column[j][k + 1] * inverse[j]);
    }
    for (Eigen::Index i = 0; i < k + 2; i += width) {
      Doubles a = lanes::load(first + i), b = lanes::load(second + i);
      for (std::size_t j = 0; j < columns; ++j) {
        const Doubles rows = lanes::load(column[j] + i);
        a -= f[j] * rows;
        b -= g[j] * rows;
      }
      lanes::store(a, first + i);
      lanes::store(b, second + i);
    }
  }
  return true;
}

}  // namespace

const double* ReverseCholesky::column(Eigen::Index j) const { return upper_.data() + column_begin(j); }

bool ReverseCholesky::factor(Eigen::Ref<MatrixX> upper) {
  const Eigen::Index n = upper.rows();
  upper_.resize(column_begin((n + width - 1) / width * width));
  inverse_diagonal_.resize(n);
  // Columns of the last block that aren't there, and what they would have below: nothing stays as it was found.
  if (n % width != 0) upper_.tail(upper_.size() - column_begin(block_begin(n))).setZero();
  for (Eigen::Index end = n; end > 0;) {
    const Eigen::Index begin = block_begin(end);
    bool good = false;
    switch (end - begin) {
      case 1:
        good = eliminate<1>(upper, begin, upper_.data(), inverse_diagonal_.data());
        break;
      case 2:
        good = eliminate<2>(upper, begin, upper_.data(), inverse_diagonal_.data());
        break;
      case 3:
        good = eliminate<3>(upper, begin, upper_.data(), inverse_diagonal_.data());
        break;
      default:
        good = eliminate<width>(upper, begin, upper_.data(), inverse_diagonal_.data());
    }
    if (!good) return false;
    end = begin;
  }
  return true;
}

void ReverseCholesky::solve(Eigen::Ref<VectorX> x) const {
  solve_upper(x.data(), size());
  velocity_from_whitened(x);
}

/// Four unknowns at a time: what those before do to them, then their own triangle.
void ReverseCholesky::velocity_from_whitened(Eigen::Ref<VectorX> x) const {
  using lanes::Doubles;
  const Eigen::Index n = size();
  double* out = x.data();
  Eigen::Index begin = 0;
  for (; begin + width <= n; begin += width) {
    std::array<const double*, width> column;
    for (Eigen::Index j = 0; j < width; ++j) column[static_cast<std::size_t>(j)] = this->column(begin + j);
    std::array<Doubles, width> products{};
    for (Eigen::Index i = 0; i < begin; i += width) {
      const Doubles known = lanes::load(out + i);
      for (std::size_t j = 0; j < width; ++j) products[j] += lanes::load(column[j] + i) * known;
    }
    const std::array<Doubles, width> by_lane = lanes::transposed(products);
    const Doubles sums = (by_lane[0] + by_lane[1]) + (by_lane[2] + by_lane[3]);
    for (Eigen::Index j = 0; j < width; ++j) {
      double value = out[begin + j] - sums[j];
      for (Eigen::Index k = 0; k < j; ++k) value -= column[static_cast<std::size_t>(j)][begin + k] * out[begin + k];
      out[begin + j] = value * inverse_diagonal_[begin + j];
    }
  }
  for (; begin < n; ++begin) {
    const double sum = Eigen::Map<const VectorX>(column(begin), begin).dot(x.head(begin));
    out[begin] = (out[begin] - sum) * inverse_diagonal_[begin];
  }
}

double ReverseCholesky::squared_norm(const VectorX& x) const {
  double sum = 0.0;
  for (Eigen::Index j = 0; j < size(); ++j) {
    const double entry = Eigen::Map<const VectorX>(column(j), j + 1).dot(x.head(j + 1));
    sum += entry * entry;
  }
  return sum;
}

/// x := U^-1 x: four unknowns at a time, their own triangle and then what they do to all above.
void ReverseCholesky::solve_upper(double* x, Eigen::Index leading) const {
  for (Eigen::Index end = leading; end > 0;) {
    const Eigen::Index begin = block_begin(end);
    for (Eigen::Index j = end - 1; j >= begin; --j) {
      const double* column = this->column(j);
      x[j] *= inverse_diagonal_[j];
      const double entry = x[j];
      for (Eigen::Index i = begin; i < j; ++i) x[i] -= column[i] * entry;
    }
    // What x ends before counts as zeros, times any column.
    const auto column = [&](Eigen::Index j) { return this->column(std::min(j, end - 1)); };
    const auto entry = [&](Eigen::Index j) { return j < end ? x[j] : 0.0; };
    const double *a = column(begin), *b = column(begin + 1), *c = column(begin + 2), *d = column(begin + 3);
    const double xa = entry(begin), xb = entry(begin + 1), xc = entry(begin + 2), xd = entry(begin + 3);
    for (Eigen::Index i = 0; i < begin; ++i) x[i] -= (a[i] * xa + b[i] * xb) + (c[i] * xc + d[i] * xd);
    end = begin;
  }
}

namespace {

/// Twelve numbers that stay in registers.
struct Twelve {
  Triple<lanes::Doubles> x;

  TRESSE_HOT static Twelve read(const Eigen::Array<double, 12, 1>& from) {
    return {{lanes::load(from.data()), lanes::load(from.data() + 4), lanes::load(from.data() + 8)}};
  }
  TRESSE_HOT void write(Eigen::Array<double, 12, 1>& to) const {
    for (std::size_t k = 0; k < 3; ++k) lanes::store(x[k], to.data() + 4 * k);
  }
  TRESSE_HOT void scale(double by) { x = lanes::spread(by) * x; }
  TRESSE_HOT void subtract(double by, const Twelve& other) { x = x - lanes::spread(by) * other.x; }
};

}  // namespace

void ReverseCholesky::whiten_rows(std::span<Eigen::Array<double, 12, 1>> rows) const {
  constexpr std::size_t four = width;
  for (auto end = static_cast<Eigen::Index>(rows.size()); end > 0;) {
    const Eigen::Index begin = block_begin(end);
    // Where the rows end within a block zeros go on, whose columns may be any.
    std::array<Eigen::Array<double, 12, 1>, four> padded;
    Eigen::Array<double, 12, 1>* block = rows.data() + begin;
    if (end - begin < width) {
      padded.fill(Eigen::Array<double, 12, 1>::Zero());
      block = std::copy(block, rows.data() + end, padded.begin()) - (end - begin);
    }
    std::array<const double*, four> columns;
    std::array<double, four> scales;
    for (std::size_t j = 0; j < four; ++j) {
      const Eigen::Index at = std::min(begin + static_cast<Eigen::Index>(j), end - 1);
      columns[j] = column(at);
      scales[j] = inverse_diagonal_[at];
    }
    // Of the block's own triangle; a column that isn't there has none.
    const auto above = [&](std::size_t j, Eigen::Index row) {
      return begin + static_cast<Eigen::Index>(j) < end ? columns[j][row] : 0.0;
    };
    Twelve a = Twelve::read(block[0]), b = Twelve::read(block[1]);
    Twelve c = Twelve::read(block[2]), d = Twelve::read(block[3]);
    d.scale(scales[3]);
    c.subtract(above(3, begin + 2), d);
    b.subtract(above(3, begin + 1), d);
    a.subtract(above(3, begin), d);
    c.scale(scales[2]);
    b.subtract(above(2, begin + 1), c);
    a.subtract(above(2, begin), c);
    b.scale(scales[1]);
    a.subtract(above(1, begin), b);
    a.scale(scales[0]);
    a.write(block[0]), b.write(block[1]), c.write(block[2]), d.write(block[3]);
    if (end - begin < width) std::copy(padded.begin(), padded.begin() + (end - begin), rows.data() + begin);
    for (Eigen::Index i = 0; i < begin; ++i) {
      Twelve row = Twelve::read(rows[static_cast<std::size_t>(i)]);
      row.subtract(columns[0][i], a);
      row.subtract(columns[1][i], b);
      row.subtract(columns[2][i], c);
      row.subtract(columns[3][i], d);
      row.write(rows[static_cast<std::size_t>(i)]);
    }
    end = begin;
  }
}

void ReverseCholesky::whiten(Eigen::Ref<MatrixX> columns) const {
  for (Eigen::Index k = 0; k < columns.cols(); ++k) solve_upper(columns.col(k).data(), columns.rows());
}

}  // namespace tresse::math

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tresse/base/errors.hpp>
#include <tresse/friction/certificate.hpp>
#include <tresse/friction/residual.hpp>
#include <tresse/friction/solver.hpp>
#include <tresse/problem_files/friction_file.hpp>

#include "bindings.hpp"

namespace tresse::python {
namespace {

using friction::SolverOptions;

std::shared_ptr<problem_files::FrictionFile> checked(friction::FrictionProblem problem) {
  friction::validate(problem);
  return std::make_shared<problem_files::FrictionFile>(problem_files::FrictionFile{std::move(problem), 3});
}

/// Block rows by row_begin (n + 1), block columns (k), blocks (k, 3, 3).
std::shared_ptr<problem_files::FrictionFile> of_blocks(const std::vector<int>& row_begin,
                                                       const std::vector<int>& column, const Numbers& blocks,
                                                       const VectorX& q, const VectorX& mu) {
  friction::FrictionProblem problem;
  problem.W.rows = static_cast<int>(row_begin.size()) - 1;
  problem.W.row_begin = row_begin;
  problem.W.column = column;
  for (py::ssize_t k = 0; k < blocks.shape(0); ++k) {
    problem.W.block.emplace_back(Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(blocks.data(k)));
  }
  problem.q = q;
  problem.mu = mu;
  return checked(std::move(problem));
}

py::array_t<double> blocks_of(const problem_files::FrictionFile& file) {
  const std::vector<Matrix3>& blocks = file.problem.W.block;
  py::array_t<double> out({static_cast<py::ssize_t>(blocks.size()), py::ssize_t{3}, py::ssize_t{3}});
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    Eigen::Map<RowMatrix>(out.mutable_data(static_cast<py::ssize_t>(k)), 3, 3) = blocks[k];
  }
  return out;
}

struct SolveArguments {
  std::string solver, measure;
  double tolerance;
  int max_iterations, facets;
};

SolverOptions options_of(const SolveArguments& arguments) {
  const auto solver = find_word<friction::Solver>(arguments.solver);
  require(solver.has_value(), [&] {
    return fmt::format("solver: found '{}', expected one of: {}", arguments.solver,
                       fmt::join(friction::solver_names, ", "));
  });
  require(arguments.measure == "natural-map" || arguments.measure == "scaled",
          [&] { return fmt::format("measure: found '{}', expected natural-map or scaled", arguments.measure); });
  return {
      .tolerance = arguments.tolerance,
      .max_iterations = arguments.max_iterations,
      .measure = arguments.measure == "scaled" ? SolverOptions::Measure::scaled : SolverOptions::Measure::natural_map,
      .solver = *solver,
      .facets = arguments.facets};
}

friction::FrictionSolution solve(const problem_files::FrictionFile& file, const VectorX& guess,
                                 const SolveArguments& arguments, std::optional<int> threads) {
  const py::gil_scoped_release released;
  const SolverOptions options = options_of(arguments);
  friction::FrictionSolution out;
  Threads(threads).run([&] { out = friction::solve(file.problem, guess, options); });
  return out;
}

VectorX checked_impulse(const problem_files::FrictionFile& file, const VectorX& impulse) {
  require(impulse.size() == file.problem.q.size(), [&] {
    return fmt::format("reaction: found {} numbers, expected {}, three a contact", impulse.size(),
                       file.problem.q.size());
  });
  return impulse;
}

template <typename Error>
auto error_of(Error error) {
  return [error](const problem_files::FrictionFile& file, const VectorX& impulse) {
    return error(file.problem, checked_impulse(file, impulse));
  };
}

void bind_problem(py::module_& module) {
  using Problem = problem_files::FrictionFile;
  const auto natural_map = [](const friction::FrictionProblem& p, const VectorX& r) {
    return friction::natural_map_error(p, r);
  };
  const auto scaled = [](const friction::FrictionProblem& p, const VectorX& r) { return friction::scaled_error(p, r); };
  const auto alart_curnier = [](const friction::FrictionProblem& p, const VectorX& r) {
    return friction::alart_curnier_error(p, r);
  };
  py::class_<Problem, std::shared_ptr<Problem>>(module, "FrictionProblem")
      .def_static("of_dense",
                  [](const MatrixX& dense, const VectorX& q, const VectorX& mu) {
                    return checked({friction::block_matrix(dense), q, mu});
                  })
      .def_static("of_blocks", &of_blocks)
      .def_static("read",
                  [](const std::filesystem::path& path) {
                    const py::gil_scoped_release released;
                    return std::make_shared<Problem>(problem_files::read_friction_problem(path));
                  })
      .def("write",
           [](const Problem& file, const std::filesystem::path& path) {
             problem_files::write_friction_problem(path, file.problem, {}, file.dimension);
           })
      .def_property_readonly("contacts", [](const Problem& file) { return file.problem.W.rows; })
      .def_property_readonly("dimension", [](const Problem& file) { return file.dimension; })
      .def_property_readonly("q", [](const Problem& file) { return file.problem.q; })
      .def_property_readonly("mu", [](const Problem& file) { return file.problem.mu; })
      .def("row_begin", [](const Problem& file) { return file.problem.W.row_begin; })
      .def("columns", [](const Problem& file) { return file.problem.W.column; })
      .def("blocks", &blocks_of)
      .def("velocity",
           [](const Problem& file, const VectorX& impulse) {
             return friction::velocity(file.problem, checked_impulse(file, impulse));
           })
      .def("certificate",
           [](const Problem& file) {
             friction::Certificate found;
             {
               const py::gil_scoped_release released;
               found = friction::certificate(file.problem);
             }
             return std::tuple(std::move(found.weights), found.closing, found.least_impulse, found.proves_none);
           })
      .def("natural_map_error", error_of(natural_map))
      .def("scaled_error", error_of(scaled))
      .def("alart_curnier_error", error_of(alart_curnier));
}

}  // namespace

void bind_friction(py::module_& module) {
  bind_problem(module);
  using Solution = friction::FrictionSolution;
  py::class_<Solution>(module, "FrictionSolution")
      .def_readonly("reaction", &Solution::impulse)
      .def_readonly("velocity", &Solution::velocity)
      .def_property_readonly("status", [](const Solution& s) { return to_string(s.status); })
      .def_property_readonly("converged", [](const Solution& s) { return s.status == Status::converged; })
      .def_readonly("iterations", &Solution::iterations)
      .def_readonly("newton_steps", &Solution::newton_steps)
      .def_readonly("islands", &Solution::islands)
      .def_readonly("unsolvable", &Solution::unsolvable)
      .def_readonly("natural_map_error", &Solution::natural_map_error)
      .def_readonly("scaled_error", &Solution::scaled_error)
      .def_property_readonly("history", [](const Solution& s) {
        RowMatrix out(static_cast<Eigen::Index>(s.history.size()), 3);
        Eigen::Index i = 0;
        for (const Solution::Check& check : s.history) out.row(i++) << check.sweeps, check.error, check.seconds;
        return out;
      });
  module.def("solve", [](const problem_files::FrictionFile& file, const VectorX& guess, const std::string& solver,
                         const std::string& measure, double tolerance, int max_iterations, int facets,
                         std::optional<int> threads) {
    return solve(file, guess, {solver, measure, tolerance, max_iterations, facets}, threads);
  });
  module.attr("solver_names") = std::vector<std::string>(friction::solver_names.begin(), friction::solver_names.end());
}

}  // namespace tresse::python

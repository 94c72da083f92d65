#include <tresse/inverse/rest_shapes.hpp>

#include <string>

#include <Eigen/Geometry>

#include <tresse/assembly/tree.hpp>
#include <tresse/base/blocks.hpp>
#include <tresse/base/errors.hpp>

namespace tresse::inverse {
namespace {

/// All that acts on a rod with a carried root, at that root: the first six of its unknowns are the root's motion.
PointLoad passed_on(const assembly::Attachment& where, const rods::Rod& rod, const Loads& loads) {
  const VectorX load = generalised_load(rod, loads);
  return {where.piece, where.u, load.head<3>(), load.segment<3>(3)};
}

}  // namespace

std::vector<RestingRod> resting_rods(const assembly::Kinematics& at, const std::vector<FibreLoad>& loads) {
  const assembly::World& world = at.world();
  const auto count = static_cast<int>(world.fibres.size());
  std::vector<Loads> on(world.fibres.size());
  for (Loads& one : on) one.gravity = assembly::gravity_of(world);
  for (const FibreLoad& one : loads) {
    require(one.fibre >= 0 && one.fibre < count,
            [&] { return "inverse: a load on fibre " + std::to_string(one.fibre) + "; expected one of the world"; });
    on[static_cast<std::size_t>(one.fibre)].points.push_back(one.load);
  }
  const assembly::Forest forest = assembly::make_forest(world);
  std::vector<RestingRod> out(world.fibres.size());
  constexpr std::size_t block = 16;
  for_blocks(forest.trees.size(), block, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t t = begin; t < end; ++t) {
      const std::vector<int>& fibres = forest.trees[t].fibres;
      for (auto fibre = fibres.rbegin(); fibre != fibres.rend(); ++fibre) {
        const auto f = static_cast<std::size_t>(*fibre);
        const rods::Rod& rod = at.rod(*fibre);
        const assembly::Attachment& where = world.fibres[f].attachment;
        try {
          if (where.parent >= 0) {
            PointLoad load = passed_on(where, rod, on[f]);
            const rods::Rod& parent = at.rod(where.parent);
            const Vector3 from = parent.section(parent.piece_begin(where.piece) + where.u).position;
            load.moment += (rod.state().root.position - from).cross(load.force);
            on[static_cast<std::size_t>(where.parent)].points.push_back(load);
          }
          out[f] = resting_rod(rod, on[f]);
        } catch (const InvalidInput& error) {
          throw InvalidInput("fibre " + std::to_string(*fibre) + ": " + error.what());
        }
      }
    }
  });
  return out;
}

}  // namespace tresse::inverse

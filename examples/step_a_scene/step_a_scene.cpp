// Steps a scene from C++: step_a_scene SCENE.toml [STEPS]. Prints the energies, the contacts and the tip of the first
// fibre as it goes, and writes no files.

#include <cstdlib>
#include <exception>
#include <iostream>
#include <utility>

#include <tresse/dynamics/stepper.hpp>
#include <tresse/geometry/curves.hpp>
#include <tresse/scene/build.hpp>
#include <tresse/scene_file/scene_file.hpp>

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: step_a_scene SCENE.toml [STEPS]\n";
    return 2;
  }
  const int steps = argc > 2 ? std::atoi(argv[2]) : 100;
  try {
    const tresse::scene::Scene scene = tresse::scene_file::read_scene(argv[1]);
    tresse::scene::Case start = tresse::scene::build(scene);
    tresse::dynamics::Stepper stepper(std::move(start.world), start.options, std::move(start.state));
    std::cout << "time [s], kinetic [J], elastic [J], contacts, tip of the first fibre x [m], y [m], z [m]\n";
    for (int i = 0; i < steps; ++i) {
      const tresse::dynamics::StepReport report = stepper.step();
      if (!report.finite) {
        std::cerr << "step " << report.step << ": the state stopped being finite\n";
        return 1;
      }
      if (report.step % 10 != 0) continue;
      const tresse::rods::Rod& rod = stepper.kinematics().rod(0);
      const tresse::geometry::Curve last = rod.piece(rod.piece_count() - 1);
      const tresse::Vector3 tip = tresse::geometry::position(last, tresse::geometry::domain(last).end);
      std::cout << report.time << ", " << report.energies.kinetic << ", " << report.energies.elastic << ", "
                << report.contacts << ", " << tip.x() << ", " << tip.y() << ", " << tip.z() << '\n';
    }
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 2;
  }
  return 0;
}

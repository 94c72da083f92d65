#include <tresse/record/trajectory.hpp>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <tuple>

#include <tresse/base/errors.hpp>
#include <tresse/observe/layout_meshes.hpp>
#include <tresse/record/run_frames.hpp>
#include <tresse/record/trajectory_log.hpp>

#include "record/synthetic_run.hpp"
#include "support/meshes.hpp"

namespace tresse::record {
namespace TRESSE_TEST_FILE {

using namespace synthetic;

class Trajectory : public FolderTest {};

std::vector<observe::Frame> frames_of(const observe::TrajectoryLayout& layout, int count) {
  std::vector<observe::Frame> out;
  for (int i = 0; i < count; ++i) out.push_back(frame(layout, 10 * i + i % 3, 100 + 20 * i));
  return out;
}

TEST_F(Trajectory, reader_gives_back_every_frame_bit_for_bit) {
  // Few frames with long rows and many with short ones: chunks hold a part of a frame's rows or many frames.
  for (const auto& [fibres, points, count] : {std::tuple{3, 5, 0}, {3, 5, 1}, {3, 5, 700}, {4, 3000, 5}, {0, 0, 3}}) {
    const observe::TrajectoryLayout layout = synthetic::layout(fibres, points);
    const std::vector<observe::Frame> frames = frames_of(layout, count);
    write_trajectory(folder / "trajectory.h5", layout, frames);
    const TrajectoryReader reader(folder / "trajectory.h5");
    EXPECT_EQ(reader.layout(), layout);
    ASSERT_EQ(reader.frame_count(), frames.size());
    for (std::size_t i = 0; i < frames.size(); i += 1 + frames.size() / 40) {
      EXPECT_EQ(reader.frame(i), frames[i]) << i;
      EXPECT_EQ(reader.times()[i], frames[i].time);
    }
  }
}

TEST_F(Trajectory, log_gives_back_every_frame_and_leaves_the_same_file) {
  const observe::TrajectoryLayout layout = synthetic::layout();
  const std::vector<observe::Frame> frames = frames_of(layout, 30);
  {
    TrajectoryLogWriter log = TrajectoryLogWriter::create(folder / "a.log", layout);
    for (const observe::Frame& one : frames) log.append(one);
    log.flush();
  }
  TrajectoryLogReader reader(folder / "a.log");
  EXPECT_EQ(reader.layout(), layout);
  EXPECT_EQ(reader.frame_count(), frames.size());
  observe::Frame one;
  for (const observe::Frame& expected : frames) {
    ASSERT_TRUE(reader.next(one));
    EXPECT_EQ(one, expected);
  }
  EXPECT_FALSE(reader.next(one));
  write_trajectory(folder / "memory.h5", layout, frames);
  write_trajectory_from_log(folder / "log.h5", folder / "a.log");
  EXPECT_EQ(bytes_of(folder / "memory.h5"), bytes_of(folder / "log.h5"));
}

/// Two surfaces, which have data sets of their own.
TEST_F(Trajectory, surfaces_come_back_from_log_and_file) {
  observe::TrajectoryLayout layout = synthetic::layout();
  layout.surface_names = {"sheet", "flag"};
  layout.surface_vertices = {4, 3};
  layout.surface_faces = {2, 1};
  layout.surface_face = {0, 1, 2, 0, 2, 3, 2, 1, 0};
  std::vector<observe::Frame> frames = frames_of(layout, 20);
  for (std::size_t i = 0; i < frames.size(); ++i)
    frames[i].surface_vertex = numbers(static_cast<std::int64_t>(7000 + i), 21);
  {
    TrajectoryLogWriter log = TrajectoryLogWriter::create(folder / "a.log", layout);
    for (const observe::Frame& one : frames) log.append(one);
    log.flush();
  }
  write_trajectory(folder / "memory.h5", layout, frames);
  write_trajectory_from_log(folder / "log.h5", folder / "a.log");
  EXPECT_EQ(bytes_of(folder / "memory.h5"), bytes_of(folder / "log.h5"));
  const TrajectoryReader reader(folder / "log.h5");
  EXPECT_EQ(reader.layout(), layout);
  for (std::size_t i = 0; i < frames.size(); ++i) EXPECT_EQ(reader.frame(i), frames[i]) << i;
  const files::Hdf5Reader file(folder / "log.h5");
  const std::vector<double> flag = file.read_rows<double>("surfaces/flag/vertices", 5, 1);
  EXPECT_EQ(flag, std::vector<double>(frames[5].surface_vertex.begin() + 12, frames[5].surface_vertex.end()));
  layout.surface_face.back() = 3;
  EXPECT_THROW(observe::validate(layout), InvalidInput);
  frames[0].surface_vertex.pop_back();
  EXPECT_THROW(observe::validate(frames[0], reader.layout()), InvalidInput);
}

/// Grains alone, and beside surfaces: both are where the log ends.
TEST_F(Trajectory, grains_come_back_from_log_and_file) {
  for (const bool sheet : {false, true}) {
    observe::TrajectoryLayout layout = synthetic::layout();
    layout.grain_nodes = {3, 1, 2};
    layout.grain_cells = {2, 1, 1};
    layout.grain_node = numbers(1, 18);
    layout.grain_cell = numbers(2, 6);
    if (sheet) {
      layout.surface_names = {"sheet"};
      layout.surface_vertices = {3};
      layout.surface_faces = {1};
      layout.surface_face = {0, 1, 2};
    }
    std::vector<observe::Frame> frames = frames_of(layout, 20);
    for (std::size_t i = 0; i < frames.size(); ++i) {
      const auto seed = static_cast<std::int64_t>(7000 + 4 * i);
      frames[i].grain_velocity = numbers(seed, 18);
      frames[i].grain_pressure = numbers(seed + 1, 2);
      frames[i].grain_fraction = numbers(seed + 2, 2);
      if (sheet) frames[i].surface_vertex = numbers(seed + 3, 9);
    }
    {
      TrajectoryLogWriter log = TrajectoryLogWriter::create(folder / "a.log", layout);
      for (const observe::Frame& one : frames) log.append(one);
      log.flush();
    }
    write_trajectory(folder / "memory.h5", layout, frames);
    write_trajectory_from_log(folder / "log.h5", folder / "a.log");
    EXPECT_EQ(bytes_of(folder / "memory.h5"), bytes_of(folder / "log.h5"));
    const TrajectoryReader reader(folder / "log.h5");
    EXPECT_EQ(reader.layout(), layout);
    for (std::size_t i = 0; i < frames.size(); ++i) EXPECT_EQ(reader.frame(i), frames[i]) << i;
    frames[0].grain_pressure.pop_back();
    EXPECT_THROW(observe::validate(frames[0], layout), InvalidInput);
    layout.grain_nodes = {3, 1, 3};
    EXPECT_THROW(observe::validate(layout), InvalidInput);
  }
}

TEST_F(Trajectory, log_is_cut_and_goes_on_as_if_it_had_never_been_longer) {
  const observe::TrajectoryLayout layout = synthetic::layout();
  const std::vector<observe::Frame> frames = frames_of(layout, 9);
  std::uint64_t length = 0;
  {
    TrajectoryLogWriter whole = TrajectoryLogWriter::create(folder / "whole.log", layout);
    TrajectoryLogWriter cut = TrajectoryLogWriter::create(folder / "cut.log", layout);
    for (std::size_t i = 0; i < frames.size(); ++i) {
      whole.append(frames[i]);
      if (i < 6) cut.append(frames[i]);
      if (i == 3) length = cut.length();
    }
    whole.flush();
    cut.flush();
  }
  {
    TrajectoryLogWriter cut = TrajectoryLogWriter::resume(folder / "cut.log", layout, length);
    for (std::size_t i = 4; i < frames.size(); ++i) cut.append(frames[i]);
    cut.flush();
  }
  EXPECT_EQ(bytes_of(folder / "whole.log"), bytes_of(folder / "cut.log"));
  observe::TrajectoryLayout other = layout;
  other.obstacle_names[0] = "brush";
  EXPECT_EQ(message_of<InvalidInput>([&] { TrajectoryLogWriter::resume(folder / "cut.log", other, length); }),
            (folder / "cut.log").string() + ": made for other fibres or obstacles");
  observe::TrajectoryLayout newer = layout;
  newer.version = "a later one";
  EXPECT_NO_THROW(TrajectoryLogWriter::resume(folder / "cut.log", newer, length));
}

TEST_F(Trajectory, damaged_logs_are_refused_wherever_they_are_cut_or_changed) {
  const observe::TrajectoryLayout layout = synthetic::layout();
  const auto file = folder / "a.log";
  std::vector<std::uint64_t> ends;
  {
    TrajectoryLogWriter log = TrajectoryLogWriter::create(file, layout);
    ends.push_back(log.length());
    for (const observe::Frame& one : frames_of(layout, 3)) {
      log.append(one);
      ends.push_back(log.length());
    }
    log.flush();
  }
  const std::string good = bytes_of(file);
  const auto read_all = [&] {
    TrajectoryLogReader reader(file);
    observe::Frame one;
    while (reader.next(one)) {
    }
  };
  for (std::size_t size = 0; size < good.size(); size += 1 + size % 13) {
    put_bytes(file, good.substr(0, size));
    if (std::find(ends.begin(), ends.end(), size) != ends.end()) continue;
    const std::string message = message_of<InvalidInput>(read_all);
    EXPECT_EQ(message.rfind(file.string() + ": ", 0), 0U) << "cut at " << size << ": " << message;
  }
  for (std::size_t i = 0; i < good.size(); i += 17) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    put_bytes(file, bad);
    const std::string message = message_of<InvalidInput>(read_all);
    EXPECT_EQ(message.rfind(file.string() + ": ", 0), 0U) << "changed at " << i << ": " << message;
    EXPECT_EQ(message.find('\n'), std::string::npos);
  }
}

TEST_F(Trajectory, an_open_log_gives_its_whole_frames_wherever_it_is_cut) {
  const observe::TrajectoryLayout layout = synthetic::layout();
  const auto file = folder / "trajectory.log";
  const std::vector<observe::Frame> frames = frames_of(layout, 3);
  std::vector<std::uint64_t> ends;
  {
    TrajectoryLogWriter log = TrajectoryLogWriter::create(file, layout);
    ends.push_back(log.length());
    for (const observe::Frame& one : frames) {
      log.append(one);
      ends.push_back(log.length());
    }
    log.flush();
  }
  const std::string good = bytes_of(file);
  for (std::size_t size = ends[0]; size <= good.size(); size += 1 + size % 13) {
    put_bytes(file, good.substr(0, size));
    TrajectoryLogReader reader(file, LogEnd::open);
    const auto whole = static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), size) - ends.begin()) - 1;
    ASSERT_EQ(reader.frame_count(), whole) << "cut at " << size;
    for (std::size_t i = whole; i-- > 0;) EXPECT_EQ(reader.frame(i), frames[i]);
    EXPECT_THROW(static_cast<void>(reader.frame(whole)), InvalidInput);
    observe::Frame one;
    std::size_t found = whole > 0 ? 1 : 0;  // next() goes on after the frame read last, the first
    while (reader.next(one)) EXPECT_EQ(one, frames[found++]);
    EXPECT_EQ(found, whole);
  }
  // What a power cut may leave behind the end.
  put_bytes(file, good.substr(0, ends[2]) + std::string(100, '\0'));
  EXPECT_EQ(TrajectoryLogReader(file, LogEnd::open).frame_count(), 2U);
}

TEST_F(Trajectory, frames_of_a_run_come_from_its_log_while_there_is_one) {
  const observe::TrajectoryLayout layout = synthetic::layout();
  const std::vector<observe::Frame> frames = frames_of(layout, 3);
  EXPECT_EQ(message_of<InvalidInput>([&] { RunFrames none(folder); }),
            (folder / "trajectory.h5").string() + ": no such file; expected the folder of a run; the folder is empty");
  EXPECT_EQ(message_of<InvalidInput>([&] { RunFrames none(folder / "x"); }),
            (folder / "x").string() + ": no such folder; expected that of a run");
  write_trajectory(folder / "trajectory.h5", layout, {frames[0], frames[1]});
  {
    TrajectoryLogWriter log = TrajectoryLogWriter::create(folder / "trajectory.log", layout);
    log.flush();
    EXPECT_EQ(message_of<InvalidInput>([&] { RunFrames none(folder); }),
              (folder / "trajectory.log").string() + ": holds no frame");
    for (const observe::Frame& one : frames) log.append(one);
    log.flush();
  }
  RunFrames growing(folder);
  EXPECT_EQ(growing.frame_count(), 3U);
  EXPECT_EQ(growing.layout(), layout);
  EXPECT_EQ(growing.frame(2), frames[2]);
  std::filesystem::remove(folder / "trajectory.log");
  EXPECT_EQ(growing.frame(1), frames[1]) << "a reader outlives the run";
  RunFrames ended(folder);
  EXPECT_EQ(ended.frame_count(), 2U);
  EXPECT_EQ(ended.frame(1), frames[1]);
}

TEST_F(Trajectory, frames_grow_with_the_run_until_its_file_is_another) {
  const observe::TrajectoryLayout layout = synthetic::layout();
  const std::vector<observe::Frame> frames = frames_of(layout, 6);
  const std::filesystem::path file = folder / "trajectory.log";
  TrajectoryLogWriter log = TrajectoryLogWriter::create(file, layout);
  log.append(frames[0]);
  log.flush();
  RunFrames run(folder);
  EXPECT_TRUE(run.grow());
  EXPECT_EQ(run.frame_count(), 1U);
  std::uint64_t length = 0;
  for (std::size_t i = 1; i < frames.size(); ++i) {
    log.append(frames[i]);
    log.flush();
    if (i == 3) length = log.length();
    EXPECT_TRUE(run.grow());
    ASSERT_EQ(run.frame_count(), i + 1);
    EXPECT_EQ(run.frame(i), frames[i]);
    EXPECT_EQ(run.frame(0), frames[0]);
    EXPECT_EQ(run.times()[i], frames[i].time);
  }
  std::filesystem::resize_file(file, length);
  EXPECT_FALSE(run.grow()) << "shorter";
  RunFrames cut(folder);
  EXPECT_EQ(cut.frame_count(), 4U);
  put_bytes(folder / "half", bytes_of(file) + std::string(20, 'x'));
  std::filesystem::rename(folder / "half", file);
  EXPECT_FALSE(cut.grow()) << "another file";
  EXPECT_TRUE(RunFrames(folder).grow()) << "an end that is no whole record yet";
  std::filesystem::remove(file);
  EXPECT_FALSE(cut.grow()) << "gone";
  write_trajectory(folder / "trajectory.h5", layout, frames);
  RunFrames ended(folder);
  EXPECT_TRUE(ended.grow());
  EXPECT_EQ(ended.times().size(), frames.size());
  put_bytes(file, "");
  EXPECT_FALSE(ended.grow()) << "a new run has begun";
}

TEST_F(Trajectory, messages_name_file_and_array) {
  const observe::TrajectoryLayout layout = synthetic::layout();
  const auto file = folder / "trajectory.h5";
  std::vector<observe::Frame> frames = frames_of(layout, 2);
  write_trajectory(file, layout, frames);
  EXPECT_EQ(message_of<InvalidInput>([&] { TrajectoryReader(file).frame(2); }), file.string() + ": frame 2 of 2");
  const std::string good = bytes_of(file);
  frames[1].moment.pop_back();
  EXPECT_EQ(message_of<InvalidInput>([&] { write_trajectory(file, layout, frames); }),
            "trajectory: 'fibres/moment' has 53 values, expected 54");
  EXPECT_EQ(bytes_of(file), good) << "a failed write must leave the old file";
  EXPECT_FALSE(std::filesystem::exists(files::temporary_name(file)));
  observe::TrajectoryLayout bad = layout;
  bad.point_offsets[1] = 99;
  EXPECT_EQ(message_of<InvalidInput>([&] { validate(bad); }),
            "trajectory: 'fibres/point_offsets' must rise from 0 to 18");
  bad = layout;
  bad.group[0] = 2;
  EXPECT_EQ(message_of<InvalidInput>([&] { validate(bad); }), "trajectory: 'fibres/group' holds 2, expected 0 to 1");
  files::Hdf5Writer other(folder / "other.h5");
  other.close();
  EXPECT_EQ(message_of<InvalidInput>([&] { TrajectoryReader(folder / "other.h5"); }),
            (folder / "other.h5").string() + ": not a trajectory of tresse");
}

/// A sheet of two faces whose four vertices have three frames.
observe::TrajectoryLayout layout_with_mesh() {
  observe::TrajectoryLayout out = synthetic::layout();
  test::Triangles sheet = test::plate(1.0, 1);
  std::vector<std::vector<Vector3>> frames(3, sheet.vertices);
  frames[1][0].z() = 1.0;
  frames[2][0].z() = 4.0;
  bodies::Obstacle obstacle;
  obstacle.name = "sheet";
  obstacle.shape =
      bodies::Mesh{std::make_shared<const bodies::Surface>(test::topology_of(sheet), std::move(frames), 10.0)};
  add_obstacle(out, obstacle);
  return out;
}

TEST_F(Trajectory, meshes_stand_where_the_obstacle_had_them) {
  const observe::TrajectoryLayout layout = layout_with_mesh();
  const std::vector<observe::LayoutMesh> meshes = meshes_of(layout);
  ASSERT_EQ(meshes.size(), 1U);
  const observe::LayoutMesh& mesh = meshes[0];
  EXPECT_EQ(layout.obstacle_names[mesh.obstacle], "sheet");
  EXPECT_TRUE(mesh.moves());
  EXPECT_EQ(mesh.faces(), 2U);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const auto& [time, z] :
       {std::pair{-1.0, 0.0}, {0.0, 0.0}, {0.05, 0.5}, {0.1, 1.0}, {0.15, 2.5}, {0.2, 4.0}, {9.0, 4.0}, {nan, 0.0}}) {
    const std::vector<Vector3> x = vertices_at(mesh, time);
    ASSERT_EQ(x.size(), 4U);
    EXPECT_NEAR(x[0].z(), z, 1e-15) << time;
    EXPECT_EQ(x[3], Vector3(1, 1, 0));
  }
}

TEST_F(Trajectory, meshes_that_do_not_add_up_are_refused) {
  const observe::TrajectoryLayout good = layout_with_mesh();
  const auto message = [&](const auto& spoil) {
    observe::TrajectoryLayout bad = good;
    spoil(bad);
    return message_of<InvalidInput>([&] { validate(bad); });
  };
  EXPECT_EQ(message([](observe::TrajectoryLayout&) {}), "nothing thrown");
  const std::string odd = "trajectory: 'obstacles/meshes' do not add up";
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t count : {std::int64_t{-1}, std::int64_t{0}, std::int64_t{3}, most, most / 3}) {
    EXPECT_EQ(message([&](observe::TrajectoryLayout& x) { x.mesh_faces[0] = count; }), odd) << count;
    EXPECT_EQ(message([&](observe::TrajectoryLayout& x) { x.mesh_vertices[0] = count; }), odd) << count;
  }
  for (const std::int64_t count : {std::int64_t{0}, std::int64_t{2}, most / 2})
    EXPECT_EQ(message([&](observe::TrajectoryLayout& x) { x.mesh_frames[0] = count; }), odd) << count;
  EXPECT_EQ(message([](observe::TrajectoryLayout& x) { x.mesh_face[1] = 4; }), odd);
  EXPECT_EQ(message([](observe::TrajectoryLayout& x) { x.mesh_face[1] = -1; }), odd);
  EXPECT_EQ(message([](observe::TrajectoryLayout& x) { x.mesh_face.resize(3); }), odd);
  EXPECT_EQ(message([](observe::TrajectoryLayout& x) { x.mesh_rate[0] = 0.0; }), odd);
  EXPECT_EQ(message([](observe::TrajectoryLayout& x) { x.mesh_rate[0] = std::numeric_limits<double>::infinity(); }),
            odd);
  EXPECT_EQ(message([](observe::TrajectoryLayout& x) { x.mesh_obstacle[0] = 3; }),
            "trajectory: 'obstacles/meshes/obstacle' holds 3, expected 0 to 2");
  EXPECT_EQ(message([](observe::TrajectoryLayout& x) { x.mesh_vertex[5] = std::numeric_limits<double>::quiet_NaN(); }),
            "trajectory: 'obstacles/meshes/vertex' holds a number that is not finite");
}

/// A log as it was before there were meshes: the arrays of its layout end with the planes'.
std::string without_meshes(const std::string& log) {
  const std::size_t header = std::string("tresse trajectory log 1\n").size(), begin = header + 32;
  const std::size_t end = log.find("obstacles/meshes/obstacle") - 1;  // of the planes: then comes the name's length
  std::uint64_t size = 0;
  std::memcpy(&size, &log[header + 8], sizeof(size));
  std::string out = log.substr(0, end) + log.substr(begin + size);
  size = end - begin;
  std::memcpy(&out[header + 8], &size, sizeof(size));
  const std::uint32_t payload = files::crc32(std::string_view(out).substr(begin, size));
  std::memcpy(&out[header + 24], &payload, sizeof(payload));
  const std::uint32_t head = files::crc32(std::string_view(out).substr(header, 28));
  std::memcpy(&out[header + 28], &head, sizeof(head));
  return out;
}

TEST_F(Trajectory, logs_of_before_there_were_meshes_are_read) {
  const auto file = folder / "trajectory.log";
  const auto write = [&](const observe::TrajectoryLayout& layout) {
    TrajectoryLogWriter log = TrajectoryLogWriter::create(file, layout);
    log.append(frame(layout, 3, 7));
    log.flush();
    put_bytes(file, without_meshes(bytes_of(file)));
  };
  write(synthetic::layout());
  TrajectoryLogReader reader(file);
  EXPECT_EQ(reader.layout(), synthetic::layout());
  EXPECT_EQ(reader.frame(0), frame(synthetic::layout(), 3, 7));
  write(layout_with_mesh());
  EXPECT_EQ(message_of<InvalidInput>([&] { TrajectoryLogReader{file}; }),
            file.string() + ": trajectory: obstacle 'sheet' has no capsule, plane or mesh in 'obstacles'");
}

TEST_F(Trajectory, damaged_files_are_refused_or_read_never_more) {
  const observe::TrajectoryLayout layout = synthetic::layout();
  const auto file = folder / "trajectory.h5";
  write_trajectory(file, layout, frames_of(layout, 3));
  const std::string good = bytes_of(file);
  const auto read_all = [&] {
    const TrajectoryReader reader(file);
    for (std::size_t i = 0; i < reader.frame_count(); ++i) static_cast<void>(reader.frame(i));
  };
  for (std::size_t size = 0; size < good.size(); size += 1 + good.size() / 61) {
    put_bytes(file, good.substr(0, size));
    EXPECT_EQ(message_of<InvalidInput>(read_all).rfind(file.string(), 0), 0U) << "cut at " << size;
  }
  test::expect_damage_told<InvalidInput>(file, good, 211, read_all);
}

TEST_F(Trajectory, five_lines_of_h5py_read_the_positions) {
  if (std::system("/usr/bin/python3 -c 'import h5py' 2> /dev/null") != 0) GTEST_SKIP() << "no h5py";
  const observe::TrajectoryLayout layout = synthetic::layout();
  const std::vector<observe::Frame> frames = frames_of(layout, 4);
  write_trajectory(folder / "trajectory.h5", layout, frames);
  // As docs/reference/files.md shows it, then printed: the second point of the last fibre in the last frame.
  put_bytes(folder / "read.py", R"(
import h5py
with h5py.File("trajectory.h5") as file:
    time = file["time"][:]
    points = file["fibres/points"][:]
    begin = file["fibres/point_offsets"][:]
print("%.17g %.17g %.17g %.17g" % (time[-1], *points[-1, begin[2] + 1]))
)");
  ASSERT_EQ(std::system(("cd '" + folder.string() + "' && /usr/bin/python3 read.py > out.txt").c_str()), 0);
  std::ifstream in(folder / "out.txt");
  const std::size_t at = 3 * (static_cast<std::size_t>(layout.point_offsets[2]) + 1);
  for (const double expected :
       {frames[3].time, frames[3].points[at], frames[3].points[at + 1], frames[3].points[at + 2]}) {
    std::string text;
    in >> text;
    EXPECT_EQ(std::strtod(text.c_str(), nullptr), expected);
  }
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::record

#include <fmt/format.h>

#include <tresse/exporters/detail/export_file.hpp>
#include <tresse/exporters/detail/export_writers.hpp>
#include <tresse/files/csv.hpp>

/// Three tables: centreline points, contacts, obstacles.
namespace tresse::exporters::detail {
namespace {

constexpr std::string_view points_header =
    "frame,time,fibre,group,s,x,y,z,radius,tension,shear_1,shear_2,twist_moment,moment_1,moment_2\n";
constexpr std::string_view contacts_header =
    "frame,time,fibre_a,fibre_b,obstacle_b,part_b,s_a,s_b,ax,ay,az,bx,by,bz,nx,ny,nz,fx,fy,fz,gap,state\n";
constexpr std::string_view obstacles_header =
    "frame,time,obstacle,x,y,z,r11,r12,r13,r21,r22,r23,r31,r32,r33,fx,fy,fz,tx,ty,tz\n";

void append_numbers(std::string& out, const std::vector<double>& values, std::size_t first, std::size_t count) {
  for (std::size_t k = first; k < first + count; ++k) {
    out += ',';
    files::append_number(out, values[k]);
  }
}

std::string row_start(std::size_t number, double time) {
  std::string out = fmt::format("{},", number);
  files::append_number(out, time);
  return out + ',';
}

std::string point_rows(const ExportSource& source, const observe::Frame& frame, const std::string& start) {
  const observe::TrajectoryLayout& layout = source.layout();
  std::string out;
  for (std::size_t i = 0; i < layout.fibre_count(); ++i) {
    std::string fibre = fmt::format("{}{},", start, i);
    files::append_text(fibre, layout.group_names[static_cast<std::size_t>(layout.group[i])]);
    for (std::size_t p = source.point_begin(i); p < source.point_end(i); ++p) {
      out += fibre;
      append_numbers(out, layout.arc_length, p, 1);
      append_numbers(out, frame.points, 3 * p, 3);
      append_numbers(out, layout.radius, p, 1);
      append_numbers(out, frame.force, 3 * p, 3);
      append_numbers(out, frame.moment, 3 * p, 3);
      out += '\n';
    }
  }
  return out;
}

std::string contact_rows(const observe::Frame& frame, const std::string& start) {
  std::string out;
  for (std::size_t k = 0; k < frame.contact_count(); ++k) {
    out += fmt::format("{}{},{},{},{}", start, frame.contact_fibre_a[k], frame.contact_fibre_b[k],
                       frame.contact_obstacle_b[k], frame.contact_part_b[k]);
    append_numbers(out, frame.contact_s_a, k, 1);
    append_numbers(out, frame.contact_s_b, k, 1);
    for (const std::vector<double>* values :
         {&frame.contact_point_a, &frame.contact_point_b, &frame.contact_normal, &frame.contact_force})
      append_numbers(out, *values, 3 * k, 3);
    append_numbers(out, frame.contact_gap, k, 1);
    out += fmt::format(",{}\n", frame.contact_state[k]);
  }
  return out;
}

std::string obstacle_rows(const observe::TrajectoryLayout& layout, const observe::Frame& frame,
                          const std::string& start) {
  std::string out;
  for (std::size_t o = 0; o < layout.obstacle_count(); ++o) {
    out += start;
    files::append_text(out, layout.obstacle_names[o]);
    append_numbers(out, frame.obstacle_position, 3 * o, 3);
    append_numbers(out, frame.obstacle_frame, 9 * o, 9);
    append_numbers(out, frame.obstacle_force, 3 * o, 3);
    append_numbers(out, frame.obstacle_torque, 3 * o, 3);
    out += '\n';
  }
  return out;
}

std::filesystem::path beside(const std::filesystem::path& output, const char* suffix) {
  return output.parent_path() / (output.stem().string() + suffix + output.extension().string());
}

}  // namespace

Files export_csv(const ExportJob& job) {
  ExportSource& source = job.source;
  const Files files{job.output, beside(job.output, "_contacts"), beside(job.output, "_obstacles")};
  StagedFile points(files[0]), contacts(files[1]), obstacles(files[2]);
  points.append(points_header);
  contacts.append(contacts_header);
  obstacles.append(obstacles_header);
  for (std::size_t i = 0; i < source.size(); ++i) {
    const observe::Frame& frame = source.frame(i);
    const std::string start = row_start(source.number(i), frame.time);
    points.append(point_rows(source, frame, start));
    if (job.options.contacts) contacts.append(contact_rows(frame, start));
    if (job.options.obstacles) obstacles.append(obstacle_rows(source.layout(), frame, start));
  }
  Files written{files[0]};
  points.finish();
  if (job.options.contacts) {
    contacts.finish();
    written.push_back(files[1]);
  }
  if (job.options.obstacles) {
    obstacles.finish();
    written.push_back(files[2]);
  }
  return written;
}

}  // namespace tresse::exporters::detail

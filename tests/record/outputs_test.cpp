#include <tresse/record/outputs.hpp>

#include <tresse/base/errors.hpp>
#include <tresse/files/atomic_file.hpp>

#include "record/synthetic_run.hpp"

namespace tresse::record {
namespace TRESSE_TEST_FILE {

namespace fs = std::filesystem;
using namespace synthetic;

class Files : public FolderTest {};

TEST_F(Files, outputs_that_are_inputs_are_refused_by_every_name) {
  put_bytes(folder / "in.json", "{}");
  fs::create_symlink(folder / "in.json", folder / "link.json");
  fs::create_hard_link(folder / "in.json", folder / "hard.json");
  const std::string in = (folder / "in.json").string();
  for (const fs::path& name :
       {folder / "in.json", folder / "link.json", folder / "hard.json", folder / "." / "in.json"})
    EXPECT_EQ(message_of<InvalidInput>([&] { require_outputs({name}, {folder / "in.json"}); }),
              name.string() + ": is an input, " + in + "; expected output to go elsewhere");
  EXPECT_EQ(
      message_of<InvalidInput>([&] {
        require_outputs({folder / "a", folder / "b" / ".." / "a"}, {});
      }),
      (folder / "b/../a").string() + ": is also " + (folder / "a").string() + "; expected a file for each output");
  EXPECT_EQ(bytes_of(folder / "in.json"), "{}");
  EXPECT_EQ(message_of<InvalidInput>([&] { require_outputs({folder}, {}); }),
            folder.string() + ": is a folder; expected a file");
  EXPECT_EQ(message_of<SystemFailure>([&] { require_outputs({folder / "none" / "a"}, {}); }),
            (folder / "none" / "a").string() + ": cannot create: there is no folder " + (folder / "none").string());
}

TEST_F(Files, trying_an_output_leaves_nothing_and_changes_nothing) {
  put_bytes(folder / "old", "old");
  require_outputs({folder / "old", folder / "new", "/dev/null"}, {folder / "in.json"});
  EXPECT_EQ(bytes_of(folder / "old"), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 1);
}

TEST_F(Files, replacements_leave_nothing_behind_when_they_fail) {
  put_bytes(folder / "old", "old");
  fs::create_symlink("old", folder / "link");
  files::write_atomically(folder / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(bytes_of(folder / "old"), "new");
  {
    files::Replacement place(folder / "gone" / "a");
    EXPECT_EQ(message_of<SystemFailure>([&] { place.commit(); }),
              (folder / "gone" / "a").string() + ": cannot write: No such file or directory");
    files::Replacement other(folder / "old");
    put_bytes(other.temporary(), "never");
  }
  EXPECT_EQ(bytes_of(folder / "old"), "new");
  EXPECT_FALSE(fs::exists(folder / "old.tmp"));
  EXPECT_EQ(message_of<InvalidInput>([] { files::Replacement("/dev/null"); }),
            "/dev/null: is a device; expected a file");
  EXPECT_EQ(message_of<SystemFailure>([] { files::write_atomically("/dev/full", "some"); }),
            "/dev/full: cannot write: No space left on device");
}

TEST_F(Files, only_a_folder_of_runs_may_hold_files) {
  require_folder_of_run(folder);
  put_bytes(folder / ".hidden", "");
  fs::create_directories(folder / "problems");
  put_bytes(folder / "problems" / "notes.txt", "mine");
  put_bytes(folder / "steps.csv.tmp", "");  // of a run that was killed at once
  require_folder_of_run(folder);
  put_bytes(folder / "scene.toml", "mine");
  put_bytes(folder / "thesis.tex", "mine");
  const std::string expected =
      folder.string() +
      ": holds 'scene.toml' and nothing of a run of tresse; expected a new folder, an empty one or "
      "that of a run of tresse";
  EXPECT_EQ(message_of<InvalidInput>([&] { require_folder_of_run(folder); }), expected);
  put_bytes(folder / "steps.csv", "step,force\n");
  put_bytes(folder / "checkpoint.h5", "mine as well");
  EXPECT_TRUE(message_of<InvalidInput>([&] { require_folder_of_run(folder); }).find("checkpoint.h5") !=
              std::string::npos);
  put_bytes(folder / "steps.csv", "time,contacts,iterations\n");
  require_folder_of_run(folder);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::record

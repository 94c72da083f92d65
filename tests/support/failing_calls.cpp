// Loaded before a program's libraries (LD_PRELOAD), makes one of its calls to the system fail. By the environment:
//   TRESSE_FAULT_PROGRAM  name of the program it acts in; in others it does nothing
//   TRESSE_FAULT_FOLDER   calls on files below this folder count
//   TRESSE_FAULT_CALL     which: open, read, write, sync, close, cut, rename, remove, folder, memory, or hdf5: memory
//   that
//                         HDF5 asks for, which ends the process when there is none
//   TRESSE_FAULT_AT       number of the call that fails, from 1; 0: none
//   TRESSE_FAULT_AS       once; always: all later ones too; short: a read or write that does only half; interrupted
//   TRESSE_FAULT_COUNT    file that gets the number of calls when the program ends
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
}

namespace {

enum class Way { once, always, half, interrupted };

bool active = false;  // from main() on
char call[16];
char folder[PATH_MAX];
char count_file[PATH_MAX];
long at = 0;
Way way = Way::once;
std::atomic<long> count{0};

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

void take(const char* name, char* into, std::size_t size) {
  const char* value = std::getenv(name);
  std::snprintf(into, size, "%s", value != nullptr ? value : "");
}

/// Where HDF5's code is.
std::uintptr_t hdf5_begin = 0;
std::uintptr_t hdf5_end = 0;

int find_hdf5(dl_phdr_info* library, std::size_t /*size*/, void* /*data*/) {
  if (std::strstr(library->dlpi_name, "libhdf5") == nullptr || std::strstr(library->dlpi_name, "_hl") != nullptr)
    return 0;
  hdf5_begin = library->dlpi_addr;
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const auto& part = library->dlpi_phdr[i];
    if (part.p_type == PT_LOAD) hdf5_end = library->dlpi_addr + part.p_vaddr + part.p_memsz;
  }
  return 1;
}

void set_up() {
  char program[PATH_MAX] = {};
  char wanted[PATH_MAX] = {};
  take("TRESSE_FAULT_PROGRAM", wanted, sizeof(wanted));
  if (readlink("/proc/self/exe", program, sizeof(program) - 1) < 0) return;
  const char* name = std::strrchr(program, '/');
  if (name == nullptr || std::strcmp(name + 1, wanted) != 0) return;
  take("TRESSE_FAULT_CALL", call, sizeof(call));
  take("TRESSE_FAULT_FOLDER", folder, sizeof(folder));
  take("TRESSE_FAULT_COUNT", count_file, sizeof(count_file));
  char text[32] = {};
  take("TRESSE_FAULT_AT", text, sizeof(text));
  at = std::atol(text);
  take("TRESSE_FAULT_AS", text, sizeof(text));
  if (std::strcmp(text, "always") == 0) way = Way::always;
  if (std::strcmp(text, "short") == 0) way = Way::half;
  if (std::strcmp(text, "interrupted") == 0) way = Way::interrupted;
  dl_iterate_phdr(find_hdf5, nullptr);
  active = true;
}

void tell_count() {
  if (!active || count_file[0] == '\0') return;
  active = false;
  char text[32];
  const int size = std::snprintf(text, sizeof(text), "%ld\n", count.load());
  const long file = syscall(SYS_open, count_file, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  static_cast<void>(!syscall(SYS_write, file, text, size));
}

bool ours(const char* path) {
  if (path == nullptr) return false;
  if (path[0] != '/') {  // beside the working folder, which is below the folder in these tests
    char here[PATH_MAX];
    return syscall(SYS_getcwd, here, sizeof(here)) > 0 && ours(here);
  }
  return std::strncmp(path, folder, std::strlen(folder)) == 0;
}

bool ours(int descriptor) {
  char link[64];
  char path[PATH_MAX] = {};
  std::snprintf(link, sizeof(link), "/proc/self/fd/%d", descriptor);
  return readlink(link, path, sizeof(path) - 1) > 0 && path[0] == '/' && ours(static_cast<const char*>(path));
}

/// Whether this call is to go wrong; sets errno where it is to fail.
template <class Where>
bool hit(const char* kind, const Where& where, int error) {
  if (!active || std::strcmp(kind, call) != 0 || !ours(where)) return false;
  const long number = ++count;
  if (at == 0 || number < at || (number > at && way != Way::always)) return false;
  if (way != Way::half) errno = way == Way::interrupted ? EINTR : error;
  return true;
}

bool out_of_memory(const void* caller) {
  if (!active || (call[0] != 'm' && call[0] != 'h')) return false;
  const auto place = reinterpret_cast<std::uintptr_t>(caller);
  if ((place >= hdf5_begin && place < hdf5_end) != (call[0] == 'h')) return false;
  const long number = ++count;
  if (at == 0 || number < at || (number > at && way != Way::always)) return false;
  errno = ENOMEM;
  return true;
}

int mode_of(int flags, va_list more) {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(more, int) : 0;
}

using Main = int(int, char**, char**);
Main* real_main = nullptr;

int begin(int argc, char** argv, char** environment) {
  set_up();
  return real_main(argc, argv, environment);
}

__attribute__((destructor)) void end() { tell_count(); }

}  // namespace

// NOLINTBEGIN: the names and arguments are those of the system
extern "C" {

int __libc_start_main(Main* main, int argc, char** argv, void (*init)(), void (*fini)(), void (*rtld)(), void* stack) {
  real_main = main;
  return real<int(Main*, int, char**, void (*)(), void (*)(), void (*)(), void*)>("__libc_start_main")(
      begin, argc, argv, init, fini, rtld, stack);
}

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const int mode = mode_of(flags, more);
  va_end(more);
  static auto* const next = real<int(const char*, int, ...)>("open");
  return hit("open", path, EMFILE) ? -1 : next(path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const int mode = mode_of(flags, more);
  va_end(more);
  return open(path, flags, mode);
}
int openat(int base, const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const int mode = mode_of(flags, more);
  va_end(more);
  static auto* const next = real<int(int, const char*, int, ...)>("openat");
  return hit("open", path, EMFILE) ? -1 : next(base, path, flags, mode);
}
int openat64(int base, const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const int mode = mode_of(flags, more);
  va_end(more);
  return openat(base, path, flags, mode);
}
FILE* fopen(const char* path, const char* mode) {
  static auto* const next = real<FILE*(const char*, const char*)>("fopen");
  return hit("open", path, EMFILE) ? nullptr : next(path, mode);
}
FILE* fopen64(const char* path, const char* mode) { return fopen(path, mode); }

ssize_t read(int file, void* into, size_t size) {
  static auto* const next = real<ssize_t(int, void*, size_t)>("read");
  if (!hit("read", file, EIO)) return next(file, into, size);
  return way == Way::half ? next(file, into, size > 1 ? size / 2 : size) : -1;
}
ssize_t pread64(int file, void* into, size_t size, off64_t where) {
  static auto* const next = real<ssize_t(int, void*, size_t, off64_t)>("pread64");
  if (!hit("read", file, EIO)) return next(file, into, size, where);
  return way == Way::half ? next(file, into, size > 1 ? size / 2 : size, where) : -1;
}
ssize_t pread(int file, void* into, size_t size, off_t where) { return pread64(file, into, size, where); }

ssize_t write(int file, const void* from, size_t size) {
  static auto* const next = real<ssize_t(int, const void*, size_t)>("write");
  if (!hit("write", file, ENOSPC)) return next(file, from, size);
  return way == Way::half ? next(file, from, size > 1 ? size / 2 : size) : -1;
}
ssize_t pwrite64(int file, const void* from, size_t size, off64_t where) {
  static auto* const next = real<ssize_t(int, const void*, size_t, off64_t)>("pwrite64");
  if (!hit("write", file, ENOSPC)) return next(file, from, size, where);
  return way == Way::half ? next(file, from, size > 1 ? size / 2 : size, where) : -1;
}
ssize_t pwrite(int file, const void* from, size_t size, off_t where) { return pwrite64(file, from, size, where); }
ssize_t writev(int file, const iovec* parts, int number) {
  static auto* const next = real<ssize_t(int, const iovec*, int)>("writev");
  if (!hit("write", file, ENOSPC)) return next(file, parts, number);
  return way == Way::half ? next(file, parts, 1) : -1;
}

int fsync(int file) {
  static auto* const next = real<int(int)>("fsync");
  return hit("sync", file, EIO) ? -1 : next(file);
}
int fdatasync(int file) {
  static auto* const next = real<int(int)>("fdatasync");
  return hit("sync", file, EIO) ? -1 : next(file);
}
int close(int file) {
  static auto* const next = real<int(int)>("close");
  const bool fails = hit("close", file, EIO);
  const int error = errno;
  const int result = next(file);
  if (fails) errno = error;
  return fails ? -1 : result;
}
int ftruncate64(int file, off64_t size) {
  static auto* const next = real<int(int, off64_t)>("ftruncate64");
  return hit("cut", file, ENOSPC) ? -1 : next(file, size);
}
int ftruncate(int file, off_t size) { return ftruncate64(file, size); }

int rename(const char* from, const char* to) {
  static auto* const next = real<int(const char*, const char*)>("rename");
  return hit("rename", to, EIO) ? -1 : next(from, to);
}
int unlink(const char* path) {
  static auto* const next = real<int(const char*)>("unlink");
  return hit("remove", path, EIO) ? -1 : next(path);
}
int remove(const char* path) {
  static auto* const next = real<int(const char*)>("remove");
  return hit("remove", path, EIO) ? -1 : next(path);
}
int mkdir(const char* path, mode_t mode) {
  static auto* const next = real<int(const char*, mode_t)>("mkdir");
  return hit("folder", path, ENOSPC) ? -1 : next(path, mode);
}

void* malloc(size_t size) { return out_of_memory(__builtin_return_address(0)) ? nullptr : __libc_malloc(size); }
void* calloc(size_t number, size_t size) {
  return out_of_memory(__builtin_return_address(0)) ? nullptr : __libc_calloc(number, size);
}
void* realloc(void* old, size_t size) {
  return out_of_memory(__builtin_return_address(0)) ? nullptr : __libc_realloc(old, size);
}
void* memalign(size_t alignment, size_t size) {
  return out_of_memory(__builtin_return_address(0)) ? nullptr : __libc_memalign(alignment, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  return out_of_memory(__builtin_return_address(0)) ? nullptr : __libc_memalign(alignment, size);
}
int posix_memalign(void** into, size_t alignment, size_t size) {
  if (out_of_memory(__builtin_return_address(0))) return ENOMEM;
  *into = __libc_memalign(alignment, size);
  return *into == nullptr ? ENOMEM : 0;
}
}
// NOLINTEND

// A libcuda.so.1 without a GPU: what kernels/targets/cuda/cuda_core.py calls of CUDA's driver, by itself
// and by way of cuda.core. Memory is the host's, streams run at once, and machine code is the path of
// a library that tests/emulation/build.py made. See driven.py.
//
// Whatever a real driver would refuse as misuse ends the process with a message: no current context,
// memory of nobody, a context that is popped where none is, a kernel without enough shared memory.
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <sys/mman.h>

namespace {

enum Status {
    success = 0,
    invalid_value = 1,
    out_of_memory = 2,
    invalid_device = 101,
    invalid_context = 201,
    peer_already = 704,
    not_found = 500,
    launch_failed = 719
};

constexpr int device_count = 2;
constexpr std::size_t device_memory = std::size_t(1) << 30, guard = 4096;
constexpr std::size_t stack = 256 << 10, page = 4096, max_threads = 1024;
constexpr unsigned char canary = 0xC7, unset = 0xA5;

struct Context {
    int device;
};
Context contexts[device_count] = {{0}, {1}};
thread_local std::vector<Context*> current;
struct Block {
    std::size_t bytes;
    int device;
};
std::map<std::uintptr_t, Block> blocks;
std::map<std::uintptr_t, std::size_t> pinned;
std::set<std::pair<int, int>> peers;
std::recursive_mutex lock;

[[noreturn]] void misuse(const char* format, ...) {
    std::va_list values;
    va_start(values, format);
    std::fputs("emulated CUDA driver: ", stderr);
    std::vfprintf(stderr, format, values);
    std::fputs("\n", stderr);
    std::_Exit(97);
}

Context* now(const char* what) {
    if (current.empty() || !current.back()) misuse("%s without a current context", what);
    return current.back();
}

// The memory that an address and some bytes from it on lie in.
const Block& block_of(std::uintptr_t address, std::size_t bytes, const char* what) {
    std::lock_guard<std::recursive_mutex> hold(lock);
    auto after = blocks.upper_bound(address);
    if (after == blocks.begin()) misuse("%s: no memory at %zx", what, std::size_t(address));
    auto& found = *--after;
    if (address + bytes > found.first + found.second.bytes)
        misuse("%s: %zu bytes at %zx leave the memory", what, bytes, std::size_t(address));
    return found.second;
}

void check_guards() {
    for (auto& [address, block] : blocks) {
        auto* start = reinterpret_cast<unsigned char*>(address);
        for (std::size_t i = 0; i < guard; i++)
            if (start[-1 - std::ptrdiff_t(i)] != canary || start[block.bytes + i] != canary)
                misuse("a write outside of a buffer of %zu bytes", block.bytes);
    }
}

// --- the driver and its devices -----------------------------------------------------

int init(unsigned) { return success; }
int version(int* number) { return *number = 13000, success; }
int count(int* number) { return *number = device_count, success; }
int get(int* device, int index) {
    if (index < 0 || index >= device_count) return invalid_device;
    return *device = index, success;
}
int name(char* text, int size, int device) {
    return std::snprintf(text, std::size_t(size), "Emulated GPU %d", device), success;
}
int total(std::size_t* bytes, int) { return *bytes = device_memory, success; }
int uuid(char* bytes, int device) {
    return std::memset(bytes, device + 1, 16), success;
}
int attribute(int* value, int which, int) {
    // Numbers of CUdevice_attribute: multiprocessors 16, compute capability 75 and 76.
    *value = which == 16 ? 4 : which == 75 ? 9 : which == 76 ? 0 : 1;
    return success;
}
int can_peer(int* can, int, int) { return *can = 1, success; }
int error_string(int status, const char** text) {
    *text = status == out_of_memory     ? "out of memory"
            : status == launch_failed   ? "unspecified launch failure"
            : status == invalid_context ? "invalid device context"
                                        : "another error";
    return success;
}

// --- contexts -----------------------------------------------------------------------

int retain(Context** context, int device) { return *context = &contexts[device], success; }
int release(int) { return success; }
int push(Context* context) { return current.push_back(context), success; }
int pop(Context** context) {
    if (current.empty()) return invalid_context;
    *context = current.back();
    return current.pop_back(), success;
}
int set(Context* context) {
    if (current.empty()) current.push_back(context);
    else current.back() = context;
    return success;
}
int get_current(Context** context) {
    return *context = current.empty() ? nullptr : current.back(), success;
}
int device_of_current(int* device) {
    if (current.empty() || !current.back()) return invalid_context;
    return *device = current.back()->device, success;
}
int device_of(int* device, Context* context) {
    if (!context) return device_of_current(device);
    return *device = context->device, success;
}
int peer(Context* other, unsigned) {
    std::lock_guard<std::recursive_mutex> hold(lock);
    bool fresh = peers.insert({now("cuCtxEnablePeerAccess")->device, other->device}).second;
    return fresh ? success : peer_already;
}

// --- memory -------------------------------------------------------------------------

std::size_t taken(int device) {
    std::size_t bytes = 0;
    for (auto& each : blocks) bytes += each.second.device == device ? each.second.bytes : 0;
    return bytes;
}
int alloc(std::uintptr_t* address, std::size_t bytes) {
    std::lock_guard<std::recursive_mutex> hold(lock);
    int device = now("cuMemAlloc")->device;
    if (!bytes) return invalid_value;
    if (bytes > device_memory - taken(device)) return out_of_memory;
    auto* start = static_cast<unsigned char*>(
        std::aligned_alloc(page, (bytes + 2 * guard + page - 1) / page * page));
    if (!start) return out_of_memory;
    std::memset(start, canary, bytes + 2 * guard);
    std::memset(start + guard, unset, bytes);
    *address = reinterpret_cast<std::uintptr_t>(start + guard);
    blocks[*address] = {bytes, device};
    return success;
}
int release_memory(std::uintptr_t address) {
    std::lock_guard<std::recursive_mutex> hold(lock);
    auto found = blocks.find(address);
    if (found == blocks.end()) misuse("cuMemFree of what is no memory");
    if (now("cuMemFree")->device != found->second.device) misuse("cuMemFree in another context");
    check_guards();
    blocks.erase(found);
    std::free(reinterpret_cast<void*>(address - guard));
    return success;
}
int info(std::size_t* free, std::size_t* all) {
    std::lock_guard<std::recursive_mutex> hold(lock);
    *all = device_memory;
    *free = device_memory - taken(now("cuMemGetInfo")->device);
    return success;
}
int host_alloc(void** memory, std::size_t bytes, unsigned) {
    std::lock_guard<std::recursive_mutex> hold(lock);
    now("cuMemHostAlloc");
    if (bytes > device_memory) return out_of_memory;
    *memory = std::aligned_alloc(page, (bytes + page) / page * page);
    std::memset(*memory, unset, bytes);
    pinned[reinterpret_cast<std::uintptr_t>(*memory)] = bytes;
    return success;
}
int host_free(void* memory) {
    std::lock_guard<std::recursive_mutex> hold(lock);
    now("cuMemFreeHost");
    if (!pinned.erase(reinterpret_cast<std::uintptr_t>(memory)))
        misuse("cuMemFreeHost of what is not page-locked");
    std::free(memory);
    return success;
}
struct Stream;
void check_stream(Stream* stream, const char* what);
int to_device(std::uintptr_t target, const void* source, std::size_t bytes, Stream* stream) {
    check_stream(stream, "cuMemcpyHtoDAsync");
    block_of(target, bytes, "cuMemcpyHtoDAsync");
    return std::memcpy(reinterpret_cast<void*>(target), source, bytes), success;
}
int to_host(void* target, std::uintptr_t source, std::size_t bytes, Stream* stream) {
    check_stream(stream, "cuMemcpyDtoHAsync");
    block_of(source, bytes, "cuMemcpyDtoHAsync");
    return std::memcpy(target, reinterpret_cast<void*>(source), bytes), success;
}
int within(std::uintptr_t target, std::uintptr_t source, std::size_t bytes, Stream* stream) {
    check_stream(stream, "cuMemcpyDtoDAsync");
    block_of(target, bytes, "cuMemcpyDtoDAsync"), block_of(source, bytes, "cuMemcpyDtoDAsync");
    std::memmove(reinterpret_cast<void*>(target), reinterpret_cast<void*>(source), bytes);
    return success;
}

// --- streams and events ---------------------------------------------------------------

struct Stream {
    Context* context;
    unsigned flags;
};
struct Event {
    Context* context;
    bool recorded;
};
void check_stream(Stream* stream, const char* what) {
    if (!stream || stream->context != now(what)) misuse("%s on a stream of another context", what);
}
int make_stream(Stream** stream, unsigned flags, int) {
    if (flags != 1) misuse("a stream that waits for the default stream");
    return *stream = new Stream{now("cuStreamCreate"), flags}, success;
}
int make_plain_stream(Stream** stream, unsigned flags) { return make_stream(stream, flags, 0); }
int priorities(int* least, int* greatest) { return *least = *greatest = 0, success; }
int destroy_stream(Stream* stream) { return delete stream, success; }
int stream_context(Stream* stream, Context** context) { return *context = stream->context, success; }
int synchronize(Stream* stream) { return check_stream(stream, "cuStreamSynchronize"), success; }
int make_event(Event** event, unsigned flags) {
    if (!(flags & 2)) misuse("an event that takes times");
    return *event = new Event{now("cuEventCreate"), false}, success;
}
int destroy_event(Event* event) { return delete event, success; }
int record(Event* event, Stream* stream) {
    if (event->context != stream->context) misuse("an event recorded in another context");
    return event->recorded = true, success;
}
int wait(Stream* stream, Event* event, unsigned) {
    check_stream(stream, "cuStreamWaitEvent");
    if (!event->recorded) misuse("a wait for an event that marks nothing");
    return success;
}

// --- machine code and launches --------------------------------------------------------

struct Kernel {
    void* function;
    std::string kinds, sizes;  // of the parameters: p or i, and bytes as digits
    int (*launch)(void*, const unsigned*, const unsigned*, const std::uint64_t*, unsigned,
                  std::size_t, int, std::uint64_t, double, char*, std::size_t, std::size_t, char*,
                  std::size_t);
    int shared[device_count];
};
struct Library {
    void* handle;
    std::map<std::string, Kernel> kernels;
};
int load(Library** library, const void* code, void*, void*, unsigned, void*, void*, unsigned) {
    const char* path = static_cast<const char*>(code);
    void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) return std::fprintf(stderr, "%s\n", dlerror()), invalid_value;
    return *library = new Library{handle, {}}, success;
}
int unload(Library*) { return success; }
int get_kernel(Kernel** kernel, Library* library, const char* name) {
    auto found = library->kernels.find(name);
    if (found == library->kernels.end()) {
        Kernel made = {};
        made.function = dlsym(library->handle, name);
        std::string text = std::string("emulation_signature_") + name;
        auto* signature = reinterpret_cast<const char* (*)()>(dlsym(library->handle, text.c_str()));
        if (!made.function || !signature) return not_found;
        text = signature();
        made.kinds = text.substr(0, text.find('/'));
        made.sizes = text.substr(text.find('/') + 1);
        made.launch = reinterpret_cast<decltype(made.launch)>(dlsym(library->handle, "emulation_launch"));
        found = library->kernels.emplace(name, made).first;
    }
    return *kernel = &found->second, success;
}
int set_attribute(int which, int value, Kernel* kernel, int device) {
    if (which != 8) misuse("cuKernelSetAttribute(%d)", which);  // the most dynamic shared memory
    if (value > 227 << 10) return invalid_value;
    return kernel->shared[device] = value, success;
}

char* stacks() {
    static char* area = [] {
        auto bytes = max_threads * (page + stack);
        void* made = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        for (std::size_t i = 0; i < max_threads; i++)
            mprotect(static_cast<char*>(made) + i * (page + stack), page, PROT_NONE);
        return static_cast<char*>(made);
    }();
    return area;
}
struct LaunchConfig {  // CUlaunchConfig
    unsigned grid[3], block[3], shared;
    Stream* stream;
    void* attributes;
    unsigned attribute_count;
};
int launch(const LaunchConfig* config, Kernel* kernel, void** parameters, void**) {
    check_stream(config->stream, "cuLaunchKernelEx");
    int device = config->stream->context->device;
    int most = kernel->shared[device] ? kernel->shared[device] : 48 << 10;
    if (int(config->shared) > most) misuse("%u bytes of shared memory were not allowed", config->shared);
    std::lock_guard<std::recursive_mutex> hold(lock);
    std::vector<std::uint64_t> slots(kernel->kinds.size() + 1);
    for (std::size_t i = 0; i < kernel->kinds.size(); i++) {
        std::memcpy(&slots[i], parameters[i], std::size_t(kernel->sizes[i] - '0'));
        if (kernel->kinds[i] == 'p' && block_of(slots[i], 0, "a launch").device != device)
            misuse("a launch on memory of another device");
    }
    char message[4096] = "";
    int failed = kernel->launch(kernel->function, config->grid, config->block, slots.data(),
                                unsigned(kernel->kinds.size()), config->shared, 0, 0, 60.0, stacks(),
                                page + stack, stack, message, sizeof message);
    check_guards();
    if (failed) std::fprintf(stderr, "emulated CUDA driver: %s\n", message);
    return failed ? launch_failed : success;
}

template <class F>
void* any(F* function) {
    return reinterpret_cast<void*>(function);
}
const std::map<std::string, void*> functions = {
    {"cuInit", any(init)},
    {"cuDriverGetVersion", any(version)},
    {"cuDeviceGetCount", any(count)},
    {"cuDeviceGet", any(get)},
    {"cuDeviceGetName", any(name)},
    {"cuDeviceTotalMem", any(total)},
    {"cuDeviceGetUuid", any(uuid)},
    {"cuDeviceGetAttribute", any(attribute)},
    {"cuDeviceCanAccessPeer", any(can_peer)},
    {"cuGetErrorString", any(error_string)},
    {"cuGetErrorName", any(error_string)},
    {"cuDevicePrimaryCtxRetain", any(retain)},
    {"cuDevicePrimaryCtxRelease", any(release)},
    {"cuCtxPushCurrent", any(push)},
    {"cuCtxPopCurrent", any(pop)},
    {"cuCtxSetCurrent", any(set)},
    {"cuCtxGetCurrent", any(get_current)},
    {"cuCtxGetDevice", any(device_of_current)},
    {"cuCtxEnablePeerAccess", any(peer)},
    {"cuMemAlloc", any(alloc)},
    {"cuMemFree", any(release_memory)},
    {"cuMemGetInfo", any(info)},
    {"cuMemHostAlloc", any(host_alloc)},
    {"cuMemFreeHost", any(host_free)},
    {"cuMemcpyHtoDAsync", any(to_device)},
    {"cuMemcpyDtoHAsync", any(to_host)},
    {"cuMemcpyDtoDAsync", any(within)},
    {"cuStreamCreate", any(make_plain_stream)},
    {"cuStreamCreateWithPriority", any(make_stream)},
    {"cuCtxGetStreamPriorityRange", any(priorities)},
    {"cuStreamDestroy", any(destroy_stream)},
    {"cuStreamGetCtx", any(stream_context)},
    {"cuStreamSynchronize", any(synchronize)},
    {"cuStreamWaitEvent", any(wait)},
    {"cuEventCreate", any(make_event)},
    {"cuEventDestroy", any(destroy_event)},
    {"cuEventRecord", any(record)},
    {"cuLibraryLoadData", any(load)},
    {"cuLibraryUnload", any(unload)},
    {"cuLibraryGetKernel", any(get_kernel)},
    {"cuKernelSetAttribute", any(set_attribute)},
    {"cuLaunchKernelEx", any(launch)},
};

}  // namespace

// What a caller finds by name of the file: the rest it asks for here. lifesim doctor and early.py
// need the first.
#define EXPORT extern "C" __attribute__((visibility("default"))) int

EXPORT cuInit(unsigned flags) { return init(flags); }
EXPORT cuDeviceGetCount(int* number) { return count(number); }
EXPORT cuDeviceGet(int* device, int index) { return get(device, index); }
EXPORT cuDevicePrimaryCtxRetain(Context** context, int device) { return retain(context, device); }
EXPORT cuDeviceGetName(char* text, int size, int device) { return name(text, size, device); }
EXPORT cuDeviceTotalMem_v2(std::size_t* bytes, int device) { return total(bytes, device); }
EXPORT cuDeviceGetAttribute(int* value, int which, int device) { return attribute(value, which, device); }
EXPORT cuDriverGetVersion(int* number) { return version(number); }
EXPORT cuGetErrorString(int status, const char** text) { return error_string(status, text); }

EXPORT cuGetProcAddress_v2(const char* symbol, void** address, int, std::uint64_t, int* found) {
    auto known = functions.find(symbol);
    *address = known == functions.end() ? nullptr : known->second;
    if (found) *found = *address ? 0 : 1;
    return *address ? success : not_found;
}

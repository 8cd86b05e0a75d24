// A driver of CUDA whose one GPU has the host's memory: what kernels/targets/cuda/foreign.py calls.
// Addresses below FIRST are none of its own. fake_pool(1): memory belongs to no context, as a pool's.
#include <cstdint>
#include <cstring>

namespace {
constexpr uint64_t FIRST = 0x10000;
void* const CONTEXT = reinterpret_cast<void*>(0x77);
void* const PRIMARY = reinterpret_cast<void*>(0x99);
void* current = nullptr;
int retained = 0, synchronized = 0, without_context = 0;
}  // namespace

extern "C" {
int cuInit(unsigned) { return 0; }
int cuGetErrorName(int code, const char** text) {
    *text = code == 1 ? "CUDA_ERROR_INVALID_VALUE" : "CUDA_ERROR_INVALID_CONTEXT";
    return 0;
}
int cuPointerGetAttribute(void* result, int attribute, uint64_t address) {
    if (address < FIRST) return 1;
    if (attribute == 9) {
        std::memset(result, 0, sizeof(int));
        return 0;
    }
    if (attribute != 1 || without_context) return 1;
    std::memcpy(result, &CONTEXT, sizeof(void*));
    return 0;
}
int cuDeviceGet(int* device, int ordinal) { return *device = ordinal; }
int cuDevicePrimaryCtxRetain(void** context, int) {
    *context = PRIMARY;
    retained++;
    return 0;
}
int cuDevicePrimaryCtxRelease_v2(int) {
    retained--;
    return 0;
}
int cuCtxPushCurrent_v2(void* context) {
    if (current != nullptr) return 201;
    current = context;
    return 0;
}
int cuCtxPopCurrent_v2(void** context) {
    if (current == nullptr) return 201;
    *context = current;
    current = nullptr;
    synchronized = 0;
    return 0;
}
int cuCtxSynchronize() {
    synchronized += current != nullptr;
    return current == nullptr ? 201 : 0;
}
int cuMemcpyDtoH_v2(void* target, uint64_t address, size_t nbytes) {
    if (current == nullptr || synchronized == 0) return 201;
    std::memcpy(target, reinterpret_cast<const void*>(address), nbytes);
    return 0;
}
void fake_pool(int yes) { without_context = yes; }
int fake_retained() { return retained; }
void* fake_current() { return current; }
}

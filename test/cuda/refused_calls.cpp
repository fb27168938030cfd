// The calls of CUDA's driver fail when they are to. The driver's functions are found by dlsym and
// by cuGetProcAddress, by the library and by the runtime that it is linked with. This program has a
// dlsym of its own, which gives out an entry of a table for each function: the entry asks whether
// this call fails, and goes on to the function.
#include "support/refused_calls.hpp"

#include "support/catch.hpp"

#include "vendor.h"

#include <cuda.h>
#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>

// Entry i puts i on the stack. Then arguments are kept while the question is asked; no function of
// the driver has arguments in floating-point registers.
asm(R"(
    .text
    .balign 16
ucdtest_entry_common:
    pushq %rdi
    pushq %rsi
    pushq %rdx
    pushq %rcx
    pushq %r8
    pushq %r9
    movq 48(%rsp), %rdi
    call ucdtest_target
    movq %rax, %r11
    popq %r9
    popq %r8
    popq %rcx
    popq %rdx
    popq %rsi
    popq %rdi
    addq $8, %rsp
    jmpq *%r11
    .balign 16
ucdtest_entries:
    .set ucdtest_index, 0
    .rept 2048
    .balign 16
    pushq $ucdtest_index
    jmp ucdtest_entry_common
    .set ucdtest_index, ucdtest_index + 1
    .endr
)");
extern "C" const char ucdtest_entries[];

namespace {

constexpr std::size_t max_functions = 2048, entry_bytes = 16;

struct Function {
    std::string_view name;
    void *address = nullptr;
};
Function functions[max_functions];
std::atomic<std::size_t> function_count{0};
std::mutex functions_mutex;

std::atomic<int> failing_call{0};
std::atomic<const char *> refused{""};
std::atomic<int> live_streams{0}, live_events{0}, live_memory{0}, own_streams{0};

extern "C" CUresult ucdtest_refuse() {
    return CUDA_ERROR_UNKNOWN;
}

// What is given out, and taken back: nothing can be done about what the driver does not take back.
void count(std::string_view name, bool is_refused) {
    const auto begins = [&](const char *with) { return name.starts_with(with); };
    if (begins("cuStreamDestroy")) --live_streams;
    if (begins("cuEventDestroy")) --live_events;
    if (begins("cuMemFree")) --live_memory;
    if (is_refused) return;
    if (begins("cuStreamCreate")) ++live_streams;
    if (begins("cuEventCreate")) ++live_events;
    if (begins("cuMemAlloc") || begins("cuMemHostAlloc")) ++live_memory;
}

bool is_failing_one() {
    int n = failing_call;
    while (n > 0)
        if (failing_call.compare_exchange_weak(n, n - 1)) return n == 1;
    return false;
}

// Of queries one behind the other, the first few count: how many there are depends on how long the
// work takes.
bool is_refused(std::string_view name) {
    static std::atomic<int> queries_in_a_row{0};
    const bool is_query = name.starts_with("cuStreamQuery") || name.starts_with("cuEventQuery") ||
                          name.starts_with("cuThreadExchangeStreamCaptureMode") ||
                          name.starts_with("cuCtx");
    if (!is_query) queries_in_a_row = 0;
    if (is_query && ++queries_in_a_row > 24) return false;
    return is_failing_one();
}

extern "C" __attribute__((used)) void *ucdtest_target(std::size_t index) {
    const Function &function = functions[index];
    const bool fails = is_refused(function.name);
    count(function.name, fails);
    if (!fails) return function.address;
    refused = function.name.data();
    return reinterpret_cast<void *>(&ucdtest_refuse);
}

void *entry_of(const char *name, void *address) {
    const std::lock_guard lock(functions_mutex);
    const std::size_t count = function_count;
    for (std::size_t i = 0; i < count; ++i)
        if (functions[i].address == address)
            return const_cast<char *>(ucdtest_entries) + i * entry_bytes;
    if (count == max_functions) std::abort(); // the driver has a quarter as many
    functions[count] = {strdup(name), address};
    function_count = count + 1;
    return const_cast<char *>(ucdtest_entries) + count * entry_bytes;
}

using GetProcAddress = CUresult(const char *, void **, int, cuuint64_t, void *);
GetProcAddress *real_get_proc_address = nullptr;

CUresult get_proc_address(const char *name, void **function, int version, cuuint64_t flags,
                          void *status);

// What is asked for by this name.
void *watched(const char *name, void *address) {
    if (address == nullptr || std::strncmp(name, "cu", 2) != 0) return address;
    if (std::strncmp(name, "cuGetProcAddress", 16) == 0) {
        real_get_proc_address = reinterpret_cast<GetProcAddress *>(address);
        return reinterpret_cast<void *>(&get_proc_address);
    }
    // Its functions are no functions of the driver's interface.
    return std::strcmp(name, "cuGetExportTable") == 0 ? address : entry_of(name, address);
}

// With the last argument since CUDA 12.
CUresult get_proc_address(const char *name, void **function, int version, cuuint64_t flags,
                          void *status) {
    const CUresult result = real_get_proc_address(name, function, version, flags, status);
    if (result == CUDA_SUCCESS) *function = watched(name, *function);
    return result;
}

} // namespace

extern "C" void *dlsym(void *library, const char *name) noexcept {
    using Dlsym = void *(void *, const char *);
    static Dlsym *const real = [] {
        void *found = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
        if (found == nullptr) found = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
        return reinterpret_cast<Dlsym *>(found);
    }();
    return watched(name, real(library, name));
}

namespace ucdtest {

void refuse_call(int n) {
    failing_call = n;
}

bool stop_refusing() {
    return failing_call.exchange(0) <= 0;
}

const char *refused_call() {
    return refused;
}

bool tells_of_memory(const char *call) {
    return std::strncmp(call, "cuPointerGetAttribute", 21) == 0;
}

void check_all_is_given_back() {
    REQUIRE(function_count > 20); // they are watched
    CHECK(live_streams == own_streams);
    CHECK(live_events == 0);
    if (own_streams != 0) return; // a test has memory of its own
    static const int memory_of_others = live_memory;
    CHECK(live_memory == memory_of_others);
}

OwnStream::OwnStream() {
    REQUIRE(gpuSetDevice(0) == gpuSuccess);
    REQUIRE(cudaStreamCreateWithFlags(reinterpret_cast<cudaStream_t *>(&stream_),
                                      cudaStreamNonBlocking) == cudaSuccess);
    ++own_streams;
}

OwnStream::~OwnStream() {
    if (cudaStreamDestroy(static_cast<cudaStream_t>(stream_)) != cudaSuccess) std::abort();
    --own_streams;
}

ucd_stream_t OwnStream::native() const {
    return {"cuda", 0, stream_, nullptr, 0};
}

void OwnStream::synchronise() {
    REQUIRE(cudaStreamSynchronize(static_cast<cudaStream_t>(stream_)) == cudaSuccess);
}

} // namespace ucdtest

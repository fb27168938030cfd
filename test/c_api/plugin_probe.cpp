// Prints whether this program runs with more rights than who started it, what ucd_backend_get says
// of one backend, and what calls that go to the plugin of the tests return. The functions are those
// of a libucd that is in the program, in a library of its own, or in somebody else's library.
//
// Usage: plugin_probe [BACKEND [FOLDER [FILE]]]: goes to the folder and removes the file first.
#include "plugin_probe.hpp"

#include <ucd.h>
#include <ucd_device.h>
#include <ucd_memory.h>

#include <sys/auxv.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string>

// Of the address sanitizer, if that is there: its leak check cannot look into a program with more
// rights, where it does not read its options from the environment either.
extern "C" const char *__asan_default_options() {
    return "detect_leaks=0";
}

namespace {

void print(const char *call, int status) {
    std::printf("%s: %s\n", call, status == UCD_SUCCESS ? "done" : ucd_last_error());
}

// A type whose layout has lists of each kind.
ucd_type_t make_type() {
    const intptr_t lengths[] = {1, 3, 2}, displs[] = {0, 5, 11}, places[] = {0, 1000, 9000};
    const intptr_t fields[] = {1, 1, 1};
    std::array<ucd_type_t, 3> parts = {UCD_TYPE__INT, UCD_TYPE__NULL, UCD_TYPE__NULL};
    ucd_type_t type = UCD_TYPE__NULL;
    (void)ucd_create_indexed(3, lengths, displs, UCD_TYPE__INT, UCD_INFO__NULL, &parts[1]);
    (void)ucd_create_indexed_block(3, 1, displs, UCD_TYPE__DOUBLE, UCD_INFO__NULL, &parts[2]);
    (void)ucd_create_struct(3, fields, places, parts.data(), UCD_INFO__NULL, &type);
    (void)ucd_free(&parts[1]);
    (void)ucd_free(&parts[2]);
    return type;
}

// Calls that reach each of the plugin's objects. Its device has addresses from 0x10000 on.
void call_plugin() {
    void *const buffer = reinterpret_cast<void *>(0x10000), *const packed =
                                                                reinterpret_cast<void *>(0x18000);
    ucd_type_t type = make_type();
    std::string text(8192, '\0');
    uintptr_t needed = 0;
    print("describe", ucd_describe(type, text.data(), text.size(), &needed));
    const std::size_t of_plugin = text.find("cuda, one: ");
    std::printf(
        "plan: %s\n",
        of_plugin == text.npos
            ? "none"
            : text.substr(of_plugin + 11, text.find('\n', of_plugin) - of_plugin - 11).c_str());
    char memory[32] = "";
    print("get_memory",
          ucd_get_memory(buffer, 1, type, UCD_INFO__NULL, memory, sizeof memory, &needed));
    std::printf("memory: %s\n", memory);
    uintptr_t moved = 0;
    print("pack",
          ucd_pack(buffer, 1, type, 0, packed, 4096, &moved, UCD_INFO__NULL, UCD_OP__REPLACE));
    const ucd_stream_t stream{"cuda", 0, nullptr, nullptr, 0};
    print("pack_stream", ucd_pack_stream(buffer, 1, type, 0, packed, 4096, &moved, UCD_INFO__NULL,
                                         UCD_OP__REPLACE, stream));
    ucd_move_t move = UCD_MOVE__INIT;
    move.inbuf = buffer;
    move.incount = 1;
    move.intype = type;
    move.outbuf = packed;
    move.outcount = 4096;
    std::array<ucd_move_t, 100> moves{};
    moves.fill(move);
    ucd_request_t request = UCD_REQUEST__NULL;
    print("batch",
          ucd_imove(moves.data(), moves.size(), UCD_INFO__NULL, UCD_OP__REPLACE, &request));
    ucd_plan_t plan = nullptr;
    print("plan_create", ucd_plan_create(&move, 1, UCD_INFO__NULL, UCD_OP__REPLACE, &plan));
    if (plan != nullptr) {
        print("plan_start", ucd_plan_start(plan, &request));
        print("wait", ucd_wait(&request));
        print("plan_start_stream", ucd_plan_start_stream(plan, stream));
        (void)ucd_plan_free(&plan);
    }
    ucd_device_plan_t of_device = UCD_DEVICE_PLAN__INIT;
    print("device_plan", ucd_device_plan_create(1, type, "cuda:0", UCD_INFO__NULL, &of_device));
    ucd_ipc_handle_t handle;
    print("export", ucd_ipc_export(buffer, 8, &handle));
    print("get_device", ucd_ipc_get_device(&handle, memory, sizeof memory, &needed));
    (void)ucd_free(&type);
}

} // namespace

int probe_plugin(int count, char **arguments) {
    const std::string name = count > 1 ? arguments[1] : "cuda";
    if (count > 2 && ::chdir(arguments[2]) != 0) return 2;
    if (count > 3 && ::unlink(arguments[3]) != 0) return 2;
    std::printf("secure: %lu\n", getauxval(AT_SECURE));
    if (ucd_init(UCD_INFO__NULL) != UCD_SUCCESS) {
        std::printf("init: %s\n", ucd_last_error());
        return 0;
    }
    std::printf("init: done\n");
    int backends = 0;
    ucd_backend_count(&backends);
    for (int i = 0; i < backends; ++i) {
        ucd_backend_desc_t desc = {};
        desc.struct_size = sizeof desc;
        if (ucd_backend_get(i, &desc) != UCD_SUCCESS)
            std::printf("inspect: %s\n", ucd_last_error());
        if (desc.name != name) continue;
        std::printf("devices: %u\nreason: %s\n", desc.devices, desc.reason);
        if (desc.available && name == "cuda") call_plugin();
    }
    return ucd_finalize() == UCD_SUCCESS ? 0 : 1;
}

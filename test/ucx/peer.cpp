// The other process of killed_peer_test: sends or receives until it is killed. Addresses come and
// go as lines of hexadecimal digits.
//
//   ucx_peer send|receive

#include "ucx/pair.hpp"

#include <cstdio>
#include <cstring>
#include <iostream>
#include <stdexcept>

using namespace ucdtest;

int main(int argc, char **argv) {
    if (argc != 2 || ucd_init(UCD_INFO__NULL) != UCD_SUCCESS) return 2;
    const bool sends = std::strcmp(argv[1], "send") == 0;
    try {
        Side side;
        const Keys keys({{"ucd.ucx.chunk", "10000"}, {"ucd.ucx.depth", "2"}});
        side.open_pipeline(keys.get());
        std::cout << "address " << to_hex(side.address()) << std::endl;
        std::string address;
        std::getline(std::cin, address);
        side.connect(from_hex(address));
        constexpr std::intptr_t doubles = 4 << 20;
        std::vector<double> field(2 * doubles);
        ucd_type_t type;
        ok(ucd_create_vector(doubles, 1, 2, UCD_TYPE__DOUBLE, UCD_INFO__NULL, &type), "vector");
        ucd_ucx_request_t request;
        if (sends)
            ok(ucd_ucx_send_nbx(side.pipeline, side.ep, field.data(), 1, type, 1, nullptr,
                                &request),
               "send");
        else
            ok(ucd_ucx_recv_nbx(side.pipeline, field.data(), 1, type, 1, 1, nullptr, &request),
               "receive");
        // It never is: the other process takes its time, and kills this one.
        while (ucd_ucx_request_check(request, nullptr) == UCS_INPROGRESS)
            ucd_ucx_progress(side.pipeline);
        return 3;
    } catch (const std::exception &e) {
        std::fprintf(stderr, "ucx_peer: %s\n", e.what());
        std::_Exit(2);
    }
}

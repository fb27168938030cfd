// One-sided operations as a program writes them that needs one layout only: an active message of
// its own for each, with loops for the layout at both sides, and an answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <ucp/api/ucp.h>
#include <vector>

namespace bench {

// Doubles: rows of columns, so many doubles apart each; or those of a list.
struct Shape {
    std::size_t rows = 1, columns = 1, row_stride = 1, column_stride = 1;
    std::vector<std::size_t> list;

    std::size_t size() const { return list.empty() ? rows * columns : list.size(); }
    template <class Each>
    void walk(Each &&each) const {
        if (!list.empty()) {
            for (std::size_t i = 0; i < list.size(); ++i) each(list[i], i);
            return;
        }
        for (std::size_t r = 0; r < rows; ++r)
            for (std::size_t c = 0; c < columns; ++c)
                each(r * row_stride + c * column_stride, r * columns + c);
    }
};

enum class Action : std::uint32_t { put, get, add };

class ByHand {
public:
    // At the target, memory is what the others' operations are on.
    ByHand(ucp_worker_h worker, ucp_ep_h ep, const std::vector<Shape> &shapes, double *memory);

    // Starts one on the shape's doubles in the other process's memory. `packed` stays until it is
    // done; a get writes to it.
    void start(Action action, std::size_t shape, double *packed);
    std::size_t outstanding() const { return outstanding_; }
    static constexpr std::size_t request_header = 24, answer_header = 8;

private:
    struct Header {
        Action action;
        std::uint32_t shape;
        std::uint64_t at;     // the origin's buffer, for the answer
        std::uint64_t unused; // a displacement, which these all have as 0
    };
    static_assert(sizeof(Header) == request_header);
    static ucs_status_t on_request(void *self, const void *header, std::size_t, void *data,
                                   std::size_t bytes, const ucp_am_recv_param_t *param);
    static ucs_status_t on_answer(void *self, const void *header, std::size_t, void *data,
                                  std::size_t bytes, const ucp_am_recv_param_t *);
    struct Message;
    static void on_sent(void *request, ucs_status_t status, void *message);
    void send(ucp_ep_h ep, unsigned id, std::unique_ptr<Message> message, std::size_t header_bytes,
              const void *data, std::size_t bytes);

    static constexpr unsigned request_id = 3, answer_id = 4;
    const ucp_worker_h worker_;
    const ucp_ep_h ep_;
    const std::vector<Shape> &shapes_;
    double *const memory_;
    std::size_t outstanding_ = 0;
};

} // namespace bench

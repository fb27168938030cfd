// A hostile peer: a worker that sends arbitrary messages by UCP's public calls, without libucd-ucx;
// and functions that measure what its messages cost.
#pragma once

#include "ucx/deadline.hpp"
#include "ucx/messages.hpp"
#include "ucx/pair.hpp"

#include <ctime>
#include <deque>
#include <memory>

namespace ucdtest {

// As a peer sends it.
inline std::string flattened(ucd_type_t type) {
    std::uintptr_t size;
    ok(ucd_flatten_size(type, &size), "ucd_flatten_size");
    std::string bytes(size, '\0');
    ok(ucd_flatten(type, bytes.data(), size), "ucd_flatten");
    return bytes;
}

// What a function of libucd makes of these arguments, and of no info.
template <class Create, class... Arguments>
ucd_type_t made(Create create, Arguments... arguments) {
    ucd_type_t type;
    ok(create(arguments..., UCD_INFO__NULL, &type), "a function that makes a type");
    return type;
}

// As a peer sends it that has no other use for it.
inline std::string taken_apart(ucd_type_t type) {
    std::string bytes = flattened(type);
    ok(ucd_free(&type), "ucd_free");
    return bytes;
}

// Bytes that this process has allocated and not given back.
std::size_t heap_bytes();

// So many messages, times UCD_TEST_CASES (random_cases.hpp).
int messages(int default_count);

// CPU time of this thread.
double cpu_seconds();
template <class Work>
double cpu_seconds_of(Work &&work) {
    const double before = cpu_seconds();
    work();
    return cpu_seconds() - before;
}

// Makes progress until it is true, for at most so many seconds; whether it came true.
template <class Condition, class Progress>
bool within(double seconds, Progress &&progress, Condition &&condition) {
    Deadline limit(seconds);
    while (!condition()) {
        progress();
        if (limit.has_passed()) return condition();
    }
    return true;
}

class Attacker {
public:
    // What has come by active message. Data that UCX sends by rendezvous is fetched if `fetches`;
    // else it stays with the sender until release_data().
    struct Received {
        std::string header, data;
        ucp_ep_h reply_ep = nullptr;
    };

    // Of the worker with that address; `others` makes progress of all but the attacker.
    Attacker(const std::string &victim, std::function<void()> others);
    ~Attacker();
    Attacker(const Attacker &) = delete;
    Attacker &operator=(const Attacker &) = delete;

    void progress();
    void progress(int times) {
        for (int i = 0; i < times; ++i) progress();
    }
    template <class Condition>
    bool within(double seconds, Condition &&condition) {
        return ucdtest::within(
            seconds, [this] { progress(); }, condition);
    }

    // Pipelines' messages. Those that are eager are waited for, others are not.
    void active(const wire::Message &message, const std::string &data = {});
    void active(const std::string &header, const std::string &data);
    void active_by_rendezvous(const wire::Message &message, const std::string &data);
    void active_by_rendezvous(const std::string &header, const std::string &data);
    void tagged(const wire::Message &message, ucp_tag_t tag = 1);
    void tagged(const std::string &text, ucp_tag_t tag = 1);
    // The offer and the opening of a tagged transfer of so many bytes.
    wire::Message open(std::uint64_t total, ucp_tag_t tag = 1);
    // Gives up the requests of the last two that are not complete.
    std::size_t unfinished() const;

    // One-sided messages, one UCP call each.
    void say(const std::string &message, const std::string &data = {});
    void request(const wire::Request &request, const std::string &data = {}) {
        say(request.text(), data);
    }
    // The next one-sided message that has come; fails if none comes.
    wire::Said next_said();
    bool has_said();
    // Its data, also if it comes in chunks.
    std::string data_of(const wire::Said &said);

    void close();        // its endpoint; it says nothing more
    void release_data(); // what has come by rendezvous, without fetching it

    // An id that it has not used, and a message of a transfer that begins with it.
    wire::Id new_id() { return {stream_, ++number_}; }
    wire::Message new_message(wire::Kind kind, std::uint64_t total = 0) {
        return {kind, new_id(), total};
    }

    Side side; // without a pipeline
    std::deque<Received> received;
    bool fetches = true;

private:
    struct Post;
    struct Fetch;
    static ucs_status_t on_message(void *self, const void *header, std::size_t header_bytes,
                                   void *data, std::size_t bytes, const ucp_am_recv_param_t *param);
    void post(std::unique_ptr<Post> post, ucs_status_ptr_t request, bool waits);
    void send(const std::string &header, const std::string &data, unsigned flags, bool waits);
    void take(Received &&message);

    std::function<void()> others_;
    std::uint64_t stream_, number_ = 0;
    std::deque<std::unique_ptr<Post>> posts_;
    std::deque<std::unique_ptr<Fetch>> fetching_;
    std::deque<void *> held_;
    std::deque<wire::Said> said_;
};

// A worker with a pipeline that is told of active messages, and its peer.
struct PipelineVictim {
    explicit PipelineVictim(std::initializer_list<std::pair<std::string, std::string>> keys = {},
                            bool drops = true)
        : side(Keys(keys).get()), told(side, drops) {
        side.connect(attacker.side.address());
    }
    ~PipelineVictim() { side.close_endpoint(); }
    PipelineVictim(const PipelineVictim &) = delete;
    PipelineVictim &operator=(const PipelineVictim &) = delete;

    // So that what comes meanwhile comes at a time.
    bool paused = false;
    double seconds = 0; // of CPU time that it has taken for progress
    PipelineSide side;
    Attacker attacker{side.address(), [this] {
                          if (!paused)
                              seconds +=
                                  cpu_seconds_of([this] { ucd_ucx_progress(side.pipeline); });
                      }};
    Told told;
};

// A message that says first how long its transfer is, which is `claimed` bytes, and then one of the
// same transfer that has no more than `brought`. `id` is the user's id of both, as far as their
// kinds have one.
inline constexpr std::size_t claimed = 4096, brought = 8;
struct First {
    const char *name;
    wire::Kind kind;
    std::size_t bytes; // that come with it
};
inline constexpr First firsts[] = {{"an offer", wire::offer, 0},
                                   {"a user's offer", wire::user_offer, 0},
                                   {"a chunk", wire::chunk, 1},
                                   {"an opening", wire::opening, 0},
                                   {"a message", wire::whole, 8}};
void disagree(Attacker &attacker, const First &first, const std::string &header, std::uint32_t id);

// The name of a type that nobody has.
inline std::string made_up_name(std::uint64_t number) {
    std::string name;
    wire::put_number(name, number, 8);
    wire::put_number(name, 1, 8);
    return name;
}

// How a receive of the victim's ends that a tagged message of the attacker's matches.
ucs_status_t status_of_receive(Side &victim, Attacker &attacker, const std::string &message);

} // namespace ucdtest

// One piece of work for a backend: a byte range of the packed stream of (count, layout), to or from
// a packed buffer.
#pragma once

#include "direction.h"
#include "element.h"
#include "layout.h"
#include "memory.h"
#include "status.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ucd {

class Plan;

// What a packed stream is made of, for reductions. `kind` is the one representation of all
// elements, or Element::none where they differ: then `runs`, a layout over the packed stream itself
// whose blocks carry their element, tells what stands where.
struct Elements {
    Element kind = Element::none;
    Layout runs;
    int64_t extent = 0; // of one repetition of `runs`: the packed size of the type
};

enum class Engine : uint8_t {
    automatic,
    kernel,
    dma, // copy engines only: pitched_copies.h says what they take; no kernel may move it
};

struct Limits {
    uint32_t threads = 1;    // host threads for one call
    uint32_t max_blocks = 0; // compute units; 0: no cap
    Engine engine = Engine::automatic;
    friend bool operator==(const Limits &, const Limits &) = default;
};

// What the jobs of one call have in common. It is copied as one vector.
struct JobSettings {
    Direction direction = Direction::pack;
    Op op = Op::replace; // destination = destination op source
    // Where the two sides are, as far as the launch may profit from knowing it.
    MemoryKind typed_kind = MemoryKind::device, packed_kind = MemoryKind::device;
    Limits limits;
    friend bool operator==(const JobSettings &, const JobSettings &) = default;
};
static_assert(sizeof(JobSettings) == 16);

struct Job : JobSettings {
    const Plan *plan = nullptr; // made by the backend that runs the job
    char *typed = nullptr;      // the address that displacement 0 stands for; may be null
    char *packed = nullptr;     // the byte of the packed buffer that stream byte `offset` goes to
    uint64_t count = 0;         // repetitions of the layout
    uint64_t offset = 0;        // first byte of the packed stream of all repetitions
    uint64_t length = 0;        // bytes to move, > 0
    const Elements *elements = nullptr; // set unless op is replace
};

// Where a job's two sides are; see Job.
struct JobAddresses {
    char *typed, *packed;
};

// The jobs of a batch that is not expected again, made as they are asked for: a list of them all
// would only be written and read once more. They have equal settings, and no op.
class JobMaker {
public:
    virtual std::size_t members() const = 0;
    // The next jobs, from that of member `first` on, which becomes the first member that is left:
    // as many as differ in their addresses only. What they have in common is in `job`; `made` is
    // how many they are, 0 after the last one.
    virtual Status make(std::size_t &first, Job &job, std::span<JobAddresses> at,
                        std::size_t &made) = 0;

    // Divides the members into consecutive parts, for as many threads as may and should make them;
    // how many. Each part counts its members from 0. There are no parts if one thread is to do all.
    virtual unsigned divide() = 0;
    virtual JobMaker &part(unsigned i) = 0;
    // After the last call of a part.
    virtual void unite() = 0;

protected:
    ~JobMaker() = default;
};

// Jobs to be launched together.
struct JobList {
    JobList(std::span<const Job> list, uint64_t identity_of_list = 0)
        : jobs(list), identity(identity_of_list) {}
    JobList(const std::vector<Job> &list) : jobs(list) {}
    explicit JobList(JobMaker &jobs_to_be_made) : maker(&jobs_to_be_made) {}
    std::span<const Job> jobs;
    // 0, or the list's own: equal lists may come again with it, but no others. Then what was made
    // for the list holds for it again.
    uint64_t identity = 0;
    JobMaker *maker = nullptr; // in place of `jobs`; of launches on devices
};

// The list's jobs, made if need be.
inline Status jobs_of(const JobList &list, std::vector<Job> &jobs) {
    if (list.maker == nullptr) {
        jobs.assign(list.jobs.begin(), list.jobs.end());
        return success;
    }
    jobs.clear();
    jobs.reserve(list.maker->members());
    std::array<JobAddresses, 64> at;
    Job job;
    for (std::size_t first = 0, made = 1; made > 0;) {
        UCD_TRY(list.maker->make(first, job, at, made));
        for (const JobAddresses &each : std::span(at).first(made)) {
            jobs.push_back(job);
            jobs.back().typed = each.typed;
            jobs.back().packed = each.packed;
        }
    }
    return success;
}

// Another one: the packed stream of one layout becomes that of another, which may have room for
// more.
struct CopyJob {
    struct Side {
        const Plan *plan = nullptr;
        char *typed = nullptr;
        uint64_t count = 0;
    };
    Side from, to;
    uint64_t length = 0; // bytes, > 0
    Limits limits;
};

} // namespace ucd

#include "batch_launch.h"

#include "batch_image.h"
#include "batch_kernels.h"
#include "box_copy.h"
#include "check.h"
#include "driver.h"
#include "job_range.h"
#include "launch.h"
#include "reduce_image.h"
#include "work.h"

#include <algorithm>
#include <list>

namespace ucd::UCD_GPU {
namespace {

constexpr std::size_t most_members = std::size_t{1} << 24; // offsets in the table have 32 bits

struct BatchLaunch {
    Device &device;
    gpuStream_t stream;
    LaunchMode mode;
    std::vector<TableUse> &uses;
    std::vector<BatchUse> &batches;
};

// `job` is one of the batch. Few batches mix memories: all members are taken for what it is.
Status launch_table(const BatchLaunch &to, const Job &job, BatchUse use) {
    BatchParams params{use->sections(), use->memory()};
    const void *kernel = use->kernel();
    if (to.mode == LaunchMode::capture)
        UCD_TRY(driver::keep_with_graph(to.stream,
                                        std::make_shared<BatchUse>(BatchUse(std::move(use)))));
    else
        to.batches.push_back(std::move(use));
    return launch_kernel(to.stream, kernel, params.sections.tiles, max_blocks(to.device, job),
                         params);
}

// Makes a table. Once it is on its way, there must be room to note that it is needed.
Status make_table(const BatchLaunch &to, const TableImage &image, const void *kernel,
                  const JobList &list, BatchUse &use) {
    to.batches.reserve(to.batches.size() + 1);
    return BatchStore::instance().make(to.device, to.stream, to.mode, image, kernel, list, use);
}

// Whether all lists are still where they were when the table was made. They are in use from here
// on.
Status use_lists(const BatchLaunch &to, const BatchTable &table, bool &in_place) {
    in_place = true;
    for (const TablesAt &lists : table.lists()) {
        TableUse use;
        const char *memory = nullptr;
        UCD_TRY(
            TableStore::instance().use(*lists.tables, to.device, to.stream, to.mode, memory, use));
        to.uses.push_back(std::move(use));
        in_place = in_place && memory == lists.memory;
    }
    return success;
}

bool all_prepared(const BatchLaunch &to, std::span<const Job> jobs) {
    return std::all_of(jobs.begin(), jobs.end(), [&](const Job &job) {
        return static_cast<const GpuPlan *>(job.plan)->is_prepared(to.device.index(), job.op);
    });
}

// A table of the same jobs; none is no failure.
Status find_table(const BatchLaunch &to, const JobList &list, BatchUse &use) {
    use = BatchStore::instance().find(to.device, list);
    if (!use) return success;
    bool in_place = false;
    UCD_TRY(use_lists(to, *use.operator->(), in_place));
    if (in_place) return success;
    BatchStore::instance().forget(use);
    use = {};
    return success;
}

// Jobs of one direction that fit one launch.
Status launch_batch(const BatchLaunch &to, const JobList &list) {
    const std::span<const Job> jobs = list.jobs;
    const Job &job = jobs.front();
    if (to.mode == LaunchMode::capture && !all_prepared(to, jobs)) return not_prepared();
    // What fits into the parameters is made faster than it is looked for.
    const bool large =
        jobs.size() * (sizeof(BatchMember) + 2 * sizeof(uint32_t)) > SmallBatchParams::most_bytes;
    BatchUse use;
    if (large) {
        UCD_TRY(find_table(to, list, use));
        if (use) return launch_table(to, job, std::move(use));
    }
    BatchImage image;
    UCD_TRY(image.build(jobs, to.device, to.stream, to.mode, to.uses));
    if (image.bytes() <= SmallBatchParams::most_bytes) {
        SmallBatchParams params;
        params.sections = image.sections();
        image.write(params.table);
        return launch_kernel(to.stream, small_batch_kernel(job.direction), params.sections.tiles,
                             max_blocks(to.device, job), params);
    }
    UCD_TRY(make_table(to, image, batch_kernel(job.direction), list, use));
    return launch_table(to, job, std::move(use));
}

// In as many launches as are needed.
Status launch_batches(const BatchLaunch &to, std::span<const Job> jobs) {
    while (!jobs.empty()) {
        std::size_t members = 0;
        for (uint64_t vectors = 0; members < std::min(jobs.size(), most_members); ++members) {
            vectors += batch_vectors_of(jobs[members]);
            if (vectors > most_batch_vectors) break;
        }
        UCD_TRY(launch_batch(to, std::span(jobs.first(members))));
        jobs = jobs.subspan(members);
    }
    return success;
}

// Jobs of one op and direction: a launch for each kernel that they need.
Status launch_reductions(const BatchLaunch &to, const JobList &list) {
    constexpr std::size_t few = 2; // are launched as fast as a table is sent
    const std::span<const Job> jobs = list.jobs;
    if (jobs.size() <= few) {
        for (const Job &job : jobs)
            UCD_TRY(launch_job(to.device, to.stream, job, to.mode, to.uses));
        return success;
    }
    if (to.mode == LaunchMode::capture && !all_prepared(to, jobs)) return not_prepared();
    BatchUse use;
    UCD_TRY(find_table(to, list, use));
    if (use) return launch_table(to, jobs.front(), std::move(use));
    std::list<ReduceImage> images;
    for (const Job &job : jobs) {
        std::vector<TablesAt> noted;
        Work work = work_of(to.device, to.stream, job, to.mode, to.uses);
        work.noted = &noted;
        ReductionNumbers numbers;
        UCD_TRY(describe_reduction(work, numbers));
        auto image = std::find_if(images.begin(), images.end(),
                                  [&](const ReduceImage &i) { return i.is_for(numbers); });
        if (image == images.end()) image = images.emplace(images.end(), numbers.own);
        if (!image->add(numbers)) {
            UCD_TRY(launch_job(to.device, to.stream, job, to.mode, to.uses));
            continue;
        }
        image->refer_to(noted);
    }
    for (ReduceImage &image : images) {
        if (image.members() == 0) continue;
        image.arrange();
        const bool all = image.members() == jobs.size(); // then it is found again
        UCD_TRY(make_table(to, image, image.kernel(), all ? list : JobList(std::span<const Job>()),
                           use));
        UCD_TRY(launch_table(to, jobs.front(), std::move(use)));
    }
    return success;
}

// What the common batch is: one look at each job tells.
bool is_one_launch(std::span<const Job> jobs) {
    uint64_t vectors = 0;
    for (const Job &job : jobs) {
        if (!joins_batches(job) || job.direction != jobs.front().direction) return false;
        vectors += batch_vectors_of(job);
    }
    return vectors <= most_batch_vectors && jobs.size() <= most_members;
}

bool is_one_reduction(std::span<const Job> jobs) {
    return std::all_of(jobs.begin(), jobs.end(), [&](const Job &job) {
        return job.op != Op::replace && job.op == jobs.front().op &&
               job.direction == jobs.front().direction;
    });
}

} // namespace

Status launch_jobs(Device &device, gpuStream_t stream, const JobList &list, LaunchMode mode,
                   std::vector<TableUse> &uses, std::vector<BatchUse> &batches) {
    const std::span<const Job> jobs = list.jobs;
    if (jobs.size() == 1) return launch_job(device, stream, jobs[0], mode, uses);
    const BatchLaunch to{device, stream, mode, uses, batches};
    if (list.identity != 0 && mode == LaunchMode::now) { // without a look at the jobs
        BatchUse use;
        UCD_TRY(find_table(to, list, use));
        if (use) return launch_table(to, jobs.front(), std::move(use));
    }
    if (is_one_launch(jobs)) return launch_batch(to, list);
    if (is_one_reduction(jobs)) return launch_reductions(to, list);
    std::vector<Job> packs, unpacks, copies, reductions;
    for (const Job &job : jobs) {
        if (joins_batches(job))
            (job.direction == Direction::pack ? packs : unpacks).push_back(job);
        else if (job.limits.engine == Engine::dma)
            copies.push_back(job);
        else if (job.op != Op::replace)
            reductions.push_back(job);
        else
            UCD_TRY(launch_job(device, stream, job, mode, uses));
    }
    UCD_TRY(launch_reductions(to, reductions));
    UCD_TRY(copy_boxes(stream, copies, mode == LaunchMode::capture));
    UCD_TRY(launch_batches(to, packs));
    return launch_batches(to, unpacks);
}

Status prepare_batches() {
    for (const Direction d : {Direction::pack, Direction::unpack})
        for (const void *kernel : {batch_kernel(d), small_batch_kernel(d)}) {
            gpuFuncAttributes attributes;
            UCD_TRY(check(gpuFuncGetAttributes(&attributes, kernel), "loading a kernel"));
        }
    return success;
}

} // namespace ucd::UCD_GPU

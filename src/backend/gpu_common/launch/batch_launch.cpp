#include "launch/batch_launch.h"

#include "in_threads.h"
#include "kernels/batch_kernels.h"
#include "launch/batch_table_builder.h"
#include "launch/box_copy.h"
#include "launch/launch.h"
#include "launch/launch_context.h"
#include "launch/reduce_table_builder.h"
#include "plan/job_range.h"
#include "runtime/check.h"
#include "runtime/driver.h"

#include <algorithm>
#include <array>
#include <list>
#include <memory>
#include <mutex>

namespace ucd::UCD_GPU {
namespace {

// `job` is one of the batch, and decides for all whether host memory is involved: few batches mix
// memories.
Status launch_table(const Submission &to, const Job &job, BatchUse use) {
    BatchParams params{use->sections(), 0, reinterpret_cast<uintptr_t>(use->memory())};
    const void *kernel = use->kernel();
    if (to.mode == LaunchMode::capture)
        UCD_TRY(driver::keep_with_graph(to.stream,
                                        std::make_shared<BatchUse>(BatchUse(std::move(use)))));
    else
        to.needs.batches.push_back(std::move(use));
    return launch_kernel(to.stream, kernel, params.sections.tiles, max_blocks(to.device, job),
                         params);
}

// Uploads what was built, and launches the kernel that reads it.
Status launch_built(const Submission &to, const Job &job, const TableBuilder &builder,
                    const void *kernel, uint64_t identity, BatchUse use) {
    // Room for its entry in the needs comes first: after the upload has started, nothing may fail.
    to.needs.batches.reserve(to.needs.batches.size() + 1);
    UCD_TRY(BatchStore::instance().upload(to.device, to.stream, to.mode, builder, kernel, identity,
                                          use));
    return launch_table(to, job, std::move(use));
}

// Takes the lists of a table into use, and says whether all are still where they were when the
// table was made.
Status use_lists(const Submission &to, const BatchTable &table, bool &in_place) {
    in_place = true;
    for (const ListsAt &lists : table.lists()) {
        uint64_t address = 0;
        UCD_TRY(to.use(*lists.lists, address));
        in_place = in_place && address == lists.address;
    }
    return success;
}

bool all_prepared(const Submission &to, std::span<const Job> jobs) {
    return std::all_of(jobs.begin(), jobs.end(), [&](const Job &job) {
        return static_cast<const GpuPlan *>(job.plan)->is_prepared(to.device.index(), job.op);
    });
}

// The table of the list, if there is one.
Status find_table(const Submission &to, const JobList &list, BatchUse &use) {
    if (list.identity == 0) return success;
    use = BatchStore::instance().find(to.device, list.identity);
    if (!use) return success;
    bool in_place = false;
    UCD_TRY(use_lists(to, *use.operator->(), in_place));
    if (in_place) return success;
    BatchStore::instance().forget(use);
    use = {};
    return success;
}

// A builder with the memory that one before it has grown to: what is fresh from the system costs
// more than what is written there.
class PooledBuilder {
public:
    PooledBuilder() : builder_(Pool::instance().take()) {}
    ~PooledBuilder() { Pool::instance().give_back(std::move(builder_)); }
    PooledBuilder(const PooledBuilder &) = delete;
    PooledBuilder &operator=(const PooledBuilder &) = delete;
    BatchTableBuilder *operator->() const { return builder_.get(); }
    BatchTableBuilder &operator*() const { return *builder_; }

private:
    class Pool {
    public:
        // Never destroyed.
        static Pool &instance() {
            static Pool *pool = new Pool;
            return *pool;
        }
        std::unique_ptr<BatchTableBuilder> take() {
            {
                const std::lock_guard lock(mutex_);
                if (!free_.empty()) {
                    auto builder = std::move(free_.back());
                    free_.pop_back();
                    return builder;
                }
            }
            return std::make_unique<BatchTableBuilder>();
        }
        void give_back(std::unique_ptr<BatchTableBuilder> builder) {
            const std::lock_guard lock(mutex_);
            if (free_.size() < free_.capacity()) free_.push_back(std::move(builder));
        }

    private:
        static constexpr std::size_t max_kept = 4;
        Pool() { free_.reserve(max_kept); }
        std::mutex mutex_;
        std::vector<std::unique_ptr<BatchTableBuilder>> free_;
    };

    std::unique_ptr<BatchTableBuilder> builder_;
};

// A batch whose table goes to device memory, written where it is uploaded from.
class LargeBatch {
public:
    Status begin(const Submission &to, std::size_t members, uint64_t identity) {
        constexpr std::size_t starts = 9 * sizeof(uint32_t), few_shapes = std::size_t{1} << 14;
        const std::size_t bytes =
            BatchTableBuilder::bytes_of_members(members) + members * starts + few_shapes;
        identity_ = identity;
        UCD_TRY(BatchStore::instance().take(to.device, bytes, identity, use_));
        builder_->begin(members, {use_.pinned(), use_.capacity()});
        return success;
    }
    BatchTableBuilder &builder() const { return *builder_; }

    // `job` is one of the batch.
    Status launch(const Submission &to, const Job &job) {
        // performance only: it chooses how fine the table is; graphs are replayed
        const bool once = identity_ == 0 && to.mode == LaunchMode::now;
        builder_->finish(once ? TableUse::once : TableUse::again);
        BatchUse use = std::move(use_), too_small; // which is copied from
        if (builder_->bytes() > use.capacity()) {
            too_small = std::move(use);
            UCD_TRY(BatchStore::instance().take(to.device, builder_->bytes(), identity_, use));
        }
        return launch_built(to, job, *builder_, batch_kernel(job.direction), identity_,
                            std::move(use));
    }

private:
    uint64_t identity_ = 0;
    BatchUse use_;
    PooledBuilder builder_;
};

// Whether a table of so many members travels with the launch, if they share a few shapes.
bool may_be_small(std::size_t members) {
    return BatchTableBuilder::bytes_of_members(members) <= SmallBatchParams::max_bytes;
}

Status add_all(BatchTableBuilder &builder, const Submission &to, std::span<const Job> jobs) {
    for (const Job &job : jobs) {
        const JobAddresses at{job.typed, job.packed};
        UCD_TRY(builder.add(to, job, {&at, 1}));
    }
    return success;
}

// Jobs of one direction that fit one launch.
Status launch_batch(const Submission &to, const JobList &list) {
    const std::span<const Job> jobs = list.jobs;
    const Job &job = jobs.front();
    if (to.mode == LaunchMode::capture && !all_prepared(to, jobs)) return not_prepared();
    BatchUse use;
    // Building a table that fits the parameters is faster than looking for an old one.
    if (may_be_small(jobs.size())) {
        BatchTableBuilder builder;
        SmallBatchParams params;
        builder.begin(jobs.size(), params.table);
        UCD_TRY(add_all(builder, to, jobs));
        builder.finish(TableUse::again);
        if (builder.bytes() <= SmallBatchParams::max_bytes) {
            params.sections = builder.sections();
            builder.write(params.table);
            return launch_kernel(to.stream, small_batch_kernel(job.direction),
                                 params.sections.tiles, max_blocks(to.device, job), params);
        }
        UCD_TRY(BatchStore::instance().take(to.device, builder.bytes(), list.identity, use));
        return launch_built(to, job, builder, batch_kernel(job.direction), list.identity,
                            std::move(use));
    }
    UCD_TRY(find_table(to, list, use));
    if (use) return launch_table(to, job, std::move(use));
    LargeBatch batch;
    UCD_TRY(batch.begin(to, jobs.size(), list.identity));
    UCD_TRY(add_all(batch.builder(), to, jobs));
    return batch.launch(to, job);
}

// In as many launches as are needed.
Status launch_batches(const Submission &to, std::span<const Job> jobs) {
    while (!jobs.empty()) {
        std::size_t members = 0;
        for (uint64_t vectors = 0; members < std::min(jobs.size(), max_batch_members); ++members) {
            vectors += batch_vectors_of(jobs[members]);
            if (vectors > max_batch_vectors) break;
        }
        UCD_TRY(launch_batch(to, std::span(jobs.first(members))));
        jobs = jobs.subspan(members);
    }
    return success;
}

// Jobs of one op and direction: a launch for each kernel that they need.
Status launch_reductions(const Submission &to, const JobList &list) {
    const std::span<const Job> jobs = list.jobs;
    if (jobs.size() < tuning.min_reductions_batched) {
        for (const Job &job : jobs) UCD_TRY(launch_job(to, job));
        return success;
    }
    if (to.mode == LaunchMode::capture && !all_prepared(to, jobs)) return not_prepared();
    BatchUse use;
    UCD_TRY(find_table(to, list, use));
    if (use) return launch_table(to, jobs.front(), std::move(use));
    std::list<ReduceTableBuilder> builders; // by kernel
    for (const Job &job : jobs) {
        std::vector<ListsAt> noted;
        LaunchContext launch = make_context(to, job);
        launch.noted = &noted;
        ReductionNumbers numbers;
        UCD_TRY(describe_reduction(launch, numbers));
        auto builder = std::find_if(builders.begin(), builders.end(),
                                    [&](const auto &b) { return b.is_for(numbers); });
        if (builder == builders.end()) builder = builders.emplace(builders.end(), numbers.own);
        if (!builder->add(numbers)) {
            UCD_TRY(launch_job(to, job));
            continue;
        }
        builder->refer_to(noted);
    }
    for (ReduceTableBuilder &builder : builders) {
        if (builder.members() == 0) continue;
        builder.arrange();
        const bool all = builder.members() == jobs.size(); // then it is found again
        const uint64_t identity = all ? list.identity : 0;
        UCD_TRY(BatchStore::instance().take(to.device, builder.bytes(), identity, use));
        UCD_TRY(
            launch_built(to, jobs.front(), builder, builder.kernel(), identity, std::move(use)));
    }
    return success;
}

// The common case: all jobs are one launch.
bool is_one_launch(std::span<const Job> jobs) {
    uint64_t vectors = 0;
    for (const Job &job : jobs) {
        if (!joins_batches(job) || job.direction != jobs.front().direction) return false;
        vectors += batch_vectors_of(job);
    }
    return vectors <= max_batch_vectors && jobs.size() <= max_batch_members;
}

bool is_one_reduction(std::span<const Job> jobs) {
    return std::all_of(jobs.begin(), jobs.end(), [&](const Job &job) {
        return job.op != Op::replace && job.op == jobs.front().op &&
               job.direction == jobs.front().direction;
    });
}

// Writes the table as the jobs are made. `fits` stays false if they must be a list; `job` is the
// last one.
Status write_as_made(const Submission &to, JobMaker &maker, BatchTableBuilder &builder, Job &job,
                     bool &fits) {
    std::array<JobAddresses, 64> at; // few enough to stay in the cache
    for (std::size_t first = 0, made = 1; made > 0;) {
        UCD_TRY(maker.make(first, job, at, made));
        if (job.length >= max_positions) return success;
        UCD_TRY(builder.add(to, job, std::span(at).first(made)));
        if (builder.vectors() > max_batch_vectors) return success;
    }
    fits = true;
    return success;
}

// The members that one thread makes, which become a launch of their own.
struct Part {
    LargeBatch batch;
    Job job;
    bool fits = false;
    Status status;
    LastError error; // if that failed

    void write(const Submission &to, JobMaker &maker) {
        status = write_as_made(to, maker, batch.builder(), job, fits);
        if (!status.ok()) error = last_error();
    }
};

// Builds the tables as the jobs are made. `launched` stays false, and nothing has started, if they
// must be a list.
Status launch_as_made(const Submission &to, JobMaker &maker, bool &launched) {
    const std::size_t members = maker.members();
    if (to.mode == LaunchMode::capture || may_be_small(members) || members > max_batch_members)
        return success;
    std::vector<Part> parts(maker.divide());
    const auto threads = static_cast<unsigned>(parts.size());
    if (threads == 1) {
        UCD_TRY(parts[0].batch.begin(to, members, 0));
        UCD_TRY(write_as_made(to, maker, parts[0].batch.builder(), parts[0].job, parts[0].fits));
    } else {
        for (unsigned i = 0; i < threads; ++i)
            UCD_TRY(parts[i].batch.begin(to, maker.part(i).members(), 0));
        std::mutex mutex;
        const Submission shared{to.device, to.stream, to.mode, to.needs, &mutex};
        in_threads(threads, [&](unsigned i) { parts[i].write(shared, maker.part(i)); });
        maker.unite();
    }
    std::size_t made = 0;
    for (const Part &part : parts) {
        if (!part.status.ok()) last_error() = part.error;
        UCD_TRY(part.status);
        if (!part.fits) return success;
        made += part.batch.builder().members();
    }
    if (made < 2) return success;
    launched = true;
    to.needs.nothing_started = false;
    for (Part &part : parts)
        if (part.batch.builder().members() > 0) UCD_TRY(part.batch.launch(to, part.job));
    return success;
}

} // namespace

Status launch_jobs(const Submission &to, const JobList &list) {
    if (list.maker != nullptr) {
        to.needs.nothing_started = true;
        bool launched = false;
        UCD_TRY(launch_as_made(to, *list.maker, launched));
        if (launched) return success;
        std::vector<Job> all;
        UCD_TRY(jobs_of(list, all));
        to.needs.nothing_started = false;
        return all.empty() ? success : launch_jobs(to, all);
    }
    const std::span<const Job> jobs = list.jobs;
    if (jobs.size() == 1) return launch_job(to, jobs[0]);
    if (list.identity != 0 && to.mode == LaunchMode::now) { // without a look at the jobs
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
            UCD_TRY(launch_job(to, job));
    }
    UCD_TRY(launch_reductions(to, reductions));
    UCD_TRY(copy_boxes(to.stream, copies, to.mode == LaunchMode::capture));
    UCD_TRY(launch_batches(to, packs));
    return launch_batches(to, unpacks);
}

Status prepare_batches() {
    for (const Direction d : {Direction::pack, Direction::unpack})
        for (const void *kernel : {batch_kernel(d), small_batch_kernel(d)}) {
            UCD_TRY(load_kernel(kernel));
        }
    return success;
}

} // namespace ucd::UCD_GPU

// Run by two processes with libucd-mpi-preload: threads that call MPI at the same time, in all
// ways. Each thread has a partner in the other process, and communicators that only these two use.
// Contents are checked.
//
//     stress [SECONDS [THREADS [SEED]]]     at least one round of each thread

#include "mpi/processes.hpp"
#include "support/random/rng.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace ucdtest {
namespace {

// Committed once, and used by all threads: one double of so many.
struct Shared {
    MPI_Datatype datatype;
    int blocks, stride;
};
std::vector<Shared> shared_types;

// What a thread has.
struct Thread {
    MPI_Comm comm, collective;
    int number;
    Rng rng; // the same numbers as its partner draws
    std::uint64_t rounds = 0;
};

// Doubles in the layout of a type; between them is -1.
struct Buffer {
    Buffer(const Shared &of, int items)
        : doubles(static_cast<std::size_t>(of.blocks) * of.stride * items, -1), type(of) {}
    void fill(double first) {
        for (std::size_t i = 0; i < doubles.size(); i += type.stride)
            doubles[i] = first + static_cast<double>(i);
    }
    void check(double first) const {
        for (std::size_t i = 0; i < doubles.size(); ++i)
            CHECK(doubles[i] == (i % type.stride == 0 ? first + static_cast<double>(i) : -1));
    }
    void check_empty() const {
        CHECK(std::ranges::all_of(doubles, [](double value) { return value == -1; }));
    }
    double *data() { return doubles.data(); }
    std::vector<double> doubles;
    Shared type;
};

Shared make_type(int blocks, int stride) {
    MPI_Datatype vector = MPI_DATATYPE_NULL;
    Shared made = {MPI_DATATYPE_NULL, blocks, stride};
    MPI_OK(MPI_Type_vector(blocks, 1, stride, MPI_DOUBLE, &vector));
    MPI_OK(MPI_Type_create_resized(vector, 0, 8 * blocks * stride, &made.datatype));
    MPI_OK(MPI_Type_commit(&made.datatype));
    MPI_OK(MPI_Type_free(&vector));
    return made;
}

// A type for one exchange: shared, or one of its own that the caller frees.
class Borrowed {
public:
    explicit Borrowed(Rng &rng) : own_(rng.chance(40)) {
        if (own_)
            type_ = make_type(200 + static_cast<int>(rng.below(2000)),
                              2 + static_cast<int>(rng.below(3)));
        else
            type_ = shared_types[rng.below(shared_types.size())];
    }
    ~Borrowed() { free_now(); }
    Borrowed(const Borrowed &) = delete;
    Borrowed &operator=(const Borrowed &) = delete;
    // As soon as MPI has it.
    void free_now() {
        if (own_) MPI_OK(MPI_Type_free(&type_.datatype));
        own_ = false;
    }
    const Shared &get() const { return type_; }

private:
    bool own_;
    Shared type_;
};

double first_of(const Thread &thread, int from) {
    return static_cast<double>(thread.rounds % 1000) * 1e6 + thread.number * 1e5 + from * 1e4;
}

// Completes requests of other threads, as these ask for it.
class Completer {
public:
    using Requests = std::vector<MPI_Request>;
    void complete(Requests &requests) {
        std::unique_lock lock(mutex_);
        bool done = false;
        waiting_.push_back({&requests, &done});
        changed_.notify_all();
        changed_.wait(lock, [&] { return done; });
    }
    void stop() {
        const std::lock_guard lock(mutex_);
        stopped_ = true;
        changed_.notify_all();
    }
    void run() {
        std::unique_lock lock(mutex_);
        std::vector<Move> moves;
        while (!stopped_ || !waiting_.empty() || !moves.empty()) {
            if (moves.empty()) changed_.wait(lock, [&] { return stopped_ || !waiting_.empty(); });
            moves.insert(moves.end(), waiting_.begin(), waiting_.end());
            waiting_.clear();
            lock.unlock();
            std::vector<bool> ended;
            for (const Move &move : moves) ended.push_back(progress(*move.requests));
            std::this_thread::yield();
            lock.lock();
            for (std::size_t i = moves.size(); i-- > 0;) {
                if (!ended[i]) continue;
                *moves[i].done = true;
                moves.erase(moves.begin() + static_cast<std::ptrdiff_t>(i));
                changed_.notify_all();
            }
        }
    }

private:
    struct Move {
        Requests *requests;
        bool *done;
    };
    // In each of the ways that do not wait.
    bool progress(Requests &requests) {
        const auto n = static_cast<int>(requests.size());
        int flag = 0, index = 0;
        std::vector<int> indices(requests.size());
        switch (++turn_ % 4) {
        case 0:
            MPI_OK(MPI_Testsome(n, requests.data(), &flag, indices.data(), MPI_STATUSES_IGNORE));
            break;
        case 1: MPI_OK(MPI_Testany(n, requests.data(), &index, &flag, MPI_STATUS_IGNORE)); break;
        case 2: MPI_OK(MPI_Test(&requests.front(), &flag, MPI_STATUS_IGNORE)); break;
        default: MPI_OK(MPI_Testall(n, requests.data(), &flag, MPI_STATUSES_IGNORE));
        }
        return std::ranges::all_of(requests,
                                   [](MPI_Request request) { return request == MPI_REQUEST_NULL; });
    }
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Move> waiting_;
    unsigned turn_ = 0;
    bool stopped_ = false;
};
Completer completer;

void wait_for(std::vector<MPI_Request> &requests, Rng &own) {
    const auto n = static_cast<int>(requests.size());
    std::vector<int> indices(requests.size());
    int index = 0, done = 0;
    switch (own.below(5)) {
    case 0: MPI_OK(MPI_Waitall(n, requests.data(), MPI_STATUSES_IGNORE)); break;
    case 1:
        for (int i = 0; i < n; ++i) {
            MPI_OK(MPI_Waitany(n, requests.data(), &index, MPI_STATUS_IGNORE));
            CHECK(index >= 0 && index < n);
        }
        break;
    case 2:
        for (int left = n; left > 0; left -= done)
            MPI_OK(MPI_Waitsome(n, requests.data(), &done, indices.data(), MPI_STATUSES_IGNORE));
        break;
    case 3:
        for (MPI_Request &request : requests) MPI_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        break;
    default: completer.complete(requests); // by another thread
    }
}

void blocking(Thread &thread, Rng &own) {
    Borrowed type(thread.rng);
    const int items = 1 + static_cast<int>(thread.rng.below(3));
    const bool first = thread.rng.chance(50) == (rank == 0);
    Buffer sent(type.get(), items), received(type.get(), items);
    sent.fill(first_of(thread, rank));
    const auto send = [&] {
        const auto call = own.chance(50) ? MPI_Send : MPI_Ssend;
        MPI_OK(call(sent.data(), items, type.get().datatype, 1 - rank, 1, thread.comm));
    };
    const auto receive = [&] {
        MPI_Message message = MPI_MESSAGE_NULL;
        MPI_Status status;
        int doubles = 0;
        switch (own.below(3)) {
        case 0:
            MPI_OK(MPI_Probe(1 - rank, 1, thread.comm, &status));
            MPI_OK(MPI_Get_count(&status, MPI_DOUBLE, &doubles));
            CHECK(doubles == items * type.get().blocks);
            [[fallthrough]];
        case 1:
            MPI_OK(MPI_Recv(received.data(), items, type.get().datatype, MPI_ANY_SOURCE, 1,
                            thread.comm, &status));
            break;
        default:
            MPI_OK(MPI_Mprobe(MPI_ANY_SOURCE, 1, thread.comm, &message, &status));
            MPI_OK(MPI_Mrecv(received.data(), items, type.get().datatype, &message, &status));
        }
        MPI_OK(MPI_Get_count(&status, MPI_DOUBLE, &doubles));
        CHECK(doubles == items * type.get().blocks);
    };
    if (thread.rng.chance(30)) {
        MPI_OK(MPI_Sendrecv(sent.data(), items, type.get().datatype, 1 - rank, 2, received.data(),
                            items, type.get().datatype, 1 - rank, 2, thread.comm,
                            MPI_STATUS_IGNORE));
    } else if (first) {
        send();
        receive();
    } else {
        receive();
        send();
    }
    sent.check(first_of(thread, rank));
    received.check(first_of(thread, 1 - rank));
}

void nonblocking(Thread &thread, Rng &own) {
    const std::size_t messages = 1 + thread.rng.below(4);
    std::deque<Borrowed> types;
    std::deque<Buffer> sent, received;
    std::vector<MPI_Request> requests;
    for (std::size_t i = 0; i < messages; ++i) {
        const Shared &type = types.emplace_back(thread.rng).get();
        sent.emplace_back(type, 1).fill(first_of(thread, rank) + static_cast<double>(i));
        received.emplace_back(type, 1);
        const int tag = 10 + static_cast<int>(i);
        MPI_OK(MPI_Irecv(received.back().data(), 1, type.datatype, 1 - rank, tag, thread.comm,
                         &requests.emplace_back()));
    }
    for (std::size_t i = 0; i < messages; ++i) {
        const auto call = own.chance(50) ? MPI_Isend : MPI_Issend;
        MPI_OK(call(sent[i].data(), 1, types[i].get().datatype, 1 - rank, 10 + static_cast<int>(i),
                    thread.comm, &requests.emplace_back()));
        if (own.chance(50)) types[i].free_now();
    }
    wait_for(requests, own);
    for (std::size_t i = 0; i < messages; ++i)
        received[i].check(first_of(thread, 1 - rank) + static_cast<double>(i));
}

void persistent(Thread &thread, Rng &own) {
    Borrowed type(thread.rng);
    Buffer sent(type.get(), 2), received(type.get(), 2);
    std::vector<MPI_Request> requests(2);
    MPI_OK(MPI_Recv_init(received.data(), 2, type.get().datatype, 1 - rank, 20, thread.comm,
                         &requests[0]));
    MPI_OK(MPI_Send_init(sent.data(), 2, type.get().datatype, 1 - rank, 20, thread.comm,
                         &requests[1]));
    if (own.chance(50)) type.free_now();
    for (int round = 0; round < 3; ++round) {
        sent.fill(first_of(thread, rank) + round);
        MPI_OK(MPI_Startall(2, requests.data()));
        MPI_OK(MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE));
        received.check(first_of(thread, 1 - rank) + round);
    }
    for (MPI_Request &request : requests) MPI_OK(MPI_Request_free(&request));
}

// Receives that nothing is sent for, and sends whose requests are freed.
void given_up(Thread &thread, Rng &) {
    Borrowed type(thread.rng);
    Buffer sent(type.get(), 1), received(type.get(), 1), nothing(type.get(), 1);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    int cancelled = 0;
    MPI_OK(MPI_Irecv(nothing.data(), 1, type.get().datatype, 1 - rank, 98, thread.comm, &request));
    MPI_OK(MPI_Cancel(&request));
    MPI_OK(MPI_Wait(&request, &status));
    MPI_OK(MPI_Test_cancelled(&status, &cancelled));
    CHECK(cancelled != 0);
    nothing.check_empty();
    sent.fill(first_of(thread, rank));
    MPI_OK(MPI_Isend(sent.data(), 1, type.get().datatype, 1 - rank, 30, thread.comm, &request));
    MPI_OK(MPI_Request_free(&request));
    MPI_OK(MPI_Recv(received.data(), 1, type.get().datatype, 1 - rank, 30, thread.comm,
                    MPI_STATUS_IGNORE));
    received.check(first_of(thread, 1 - rank));
    // MPI may still read what was sent.
    MPI_OK(MPI_Barrier(thread.collective));
}

void collective(Thread &thread, Rng &own) {
    const Borrowed type(thread.rng);
    const int root = static_cast<int>(thread.rng.below(2));
    const std::size_t way = thread.rng.below(4);
    const Shared &of = type.get();
    Buffer sent(of, 2), received(of, 2), one(of, 1);
    MPI_Request request = MPI_REQUEST_NULL;
    switch (way) {
    case 0:
    case 1:
        if (rank == root) one.fill(first_of(thread, root));
        if (way == 0) {
            MPI_OK(MPI_Bcast(one.data(), 1, of.datatype, root, thread.collective));
        } else {
            MPI_OK(MPI_Ibcast(one.data(), 1, of.datatype, root, thread.collective, &request));
            std::vector<MPI_Request> requests(1, request);
            wait_for(requests, own);
        }
        one.check(first_of(thread, root));
        break;
    case 2: {
        one.fill(first_of(thread, rank));
        MPI_OK(MPI_Allgather(one.data(), 1, of.datatype, received.data(), 1, of.datatype,
                             thread.collective));
        const std::size_t half = one.doubles.size();
        for (int from = 0; from < 2; ++from) {
            std::copy_n(received.doubles.begin() + static_cast<std::ptrdiff_t>(half) * from, half,
                        one.doubles.begin());
            one.check(first_of(thread, from));
        }
        break;
    }
    default: {
        sent.fill(first_of(thread, rank));
        MPI_OK(MPI_Alltoall(sent.data(), 1, of.datatype, received.data(), 1, of.datatype,
                            thread.collective));
        // The other's block for this process is at the same place of its buffer.
        const double block = static_cast<double>(of.blocks) * of.stride;
        for (std::size_t i = 0; i < received.doubles.size(); ++i) {
            const int from = static_cast<double>(i) < block ? 0 : 1;
            const double at = static_cast<double>(i) + (rank - from) * block;
            CHECK(received.doubles[i] == (i % of.stride == 0 ? first_of(thread, from) + at : -1));
        }
    }
    }
}

void packing(Thread &thread, Rng &own) {
    const Borrowed type(own);
    Buffer from(type.get(), 1), to(type.get(), 1);
    std::vector<double> packed(static_cast<std::size_t>(type.get().blocks));
    const auto size = static_cast<int>(packed.size() * sizeof(double));
    from.fill(first_of(thread, rank));
    int position = 0;
    MPI_OK(
        MPI_Pack(from.data(), 1, type.get().datatype, packed.data(), size, &position, thread.comm));
    for (int i = 0; i < type.get().blocks; ++i)
        CHECK(packed[static_cast<std::size_t>(i)] ==
              first_of(thread, rank) + i * type.get().stride);
    position = 0;
    MPI_OK(
        MPI_Unpack(packed.data(), size, &position, to.data(), 1, type.get().datatype, thread.comm));
    to.check(first_of(thread, rank));
}

void run(Thread &thread, std::chrono::steady_clock::time_point end) {
    Rng own(
        mix_seed(static_cast<std::uint64_t>(thread.number), static_cast<std::uint64_t>(rank) + 77));
    using Way = void (*)(Thread &, Rng &);
    constexpr std::array<Way, 6> ways = {blocking, nonblocking, persistent,
                                         given_up, collective,  packing};
    for (int more = 1; more != 0; ++thread.rounds) {
        for (int i = 0; i < 10; ++i) ways[thread.rng.below(ways.size())](thread, own);
        // Process 0 decides for both.
        if (rank == 0) more = std::chrono::steady_clock::now() < end ? 1 : 0;
        MPI_OK(MPI_Bcast(&more, 1, MPI_INT, 0, thread.collective));
    }
}

} // namespace
} // namespace ucdtest

int main(int argc, char **argv) {
    using namespace ucdtest;
    const double seconds = argc > 1 ? std::atof(argv[1]) : 1;
    const int count = argc > 2 ? std::atoi(argv[2]) : 4;
    const std::uint64_t seed = argc > 3 ? std::strtoull(argv[3], nullptr, 0) : 20250101;
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    current = "threads, seed " + std::to_string(seed);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    for (const int stride : {2, 3, 5}) shared_types.push_back(make_type(1500, stride));
    std::deque<Thread> threads;
    for (int i = 0; i < count; ++i) {
        MPI_Comm comm = MPI_COMM_NULL, collective = MPI_COMM_NULL;
        MPI_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        MPI_OK(MPI_Comm_dup(MPI_COMM_WORLD, &collective));
        threads.push_back(
            {comm, collective, i, Rng(mix_seed(seed, static_cast<std::uint64_t>(i)))});
    }
    const auto end = std::chrono::steady_clock::now() +
                     std::chrono::microseconds(static_cast<long>(1e6 * seconds));
    {
        std::thread completing([] { completer.run(); });
        std::vector<std::thread> running;
        for (Thread &thread : threads) running.emplace_back([&thread, end] { run(thread, end); });
        for (std::thread &thread : running) thread.join();
        completer.stop();
        completing.join();
    }
    std::uint64_t rounds = 0;
    for (Thread &thread : threads) {
        rounds += thread.rounds;
        MPI_OK(MPI_Comm_free(&thread.comm));
        MPI_OK(MPI_Comm_free(&thread.collective));
    }
    for (Shared &type : shared_types) MPI_OK(MPI_Type_free(&type.datatype));
    MPI_Finalize();
    if (rank == 0)
        std::printf("all contents are right: %llu rounds\n",
                    static_cast<unsigned long long>(rounds));
    return 0;
}

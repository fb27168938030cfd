#include "baselines/mpi/mpi_peer.hpp"

#include "shapes/mpi_datatypes.hpp"

#include <cstdlib>
#include <utility>
#include <vector>

namespace bench {
namespace {

using MpiInts = std::vector<int>;

class CommittedType final : public MpiType {
public:
    explicit CommittedType(MPI_Datatype type) : type_(type) { MPI_Type_commit(&type_); }
    CommittedType(const CommittedType &) = delete;
    CommittedType &operator=(const CommittedType &) = delete;
    ~CommittedType() override { MPI_Type_free(&type_); }

    void pack(char *typed, char *packed, std::int64_t bytes) const override {
        int position = 0;
        MPI_Pack(typed, 1, type_, packed, narrow(bytes), &position, MPI_COMM_SELF);
    }
    void unpack(char *typed, char *packed, std::int64_t bytes) const override {
        int position = 0;
        MPI_Unpack(packed, narrow(bytes), &position, typed, 1, type_, MPI_COMM_SELF);
    }

private:
    MPI_Datatype type_;
};

class RunningMpi final : public MpiPeer {
public:
    RunningMpi() {
        // Open MPI: one process needs no daemon beside it, which would disturb the measurements,
        // and containers run as root.
        setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
        setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
        setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
        MPI_Init(nullptr, nullptr);
        char text[MPI_MAX_LIBRARY_VERSION_STRING];
        int length = 0;
        MPI_Get_library_version(text, &length);
        version_.assign(text, static_cast<std::size_t>(length));
        // What follows the first comma or line is about how it was packaged.
        version_.erase(std::min(version_.find_first_of(",\n"), version_.size()));
    }
    ~RunningMpi() override { MPI_Finalize(); }

    const std::string &version() const override { return version_; }

    std::unique_ptr<MpiType> build(const Recipe &recipe) const override {
        return std::make_unique<CommittedType>(build_datatype(recipe));
    }

    void create_vector(int count, int blocklength, int stride) const override {
        MPI_Datatype type;
        MPI_Type_vector(count, blocklength, stride, MPI_DOUBLE, &type);
        MPI_Type_commit(&type);
        MPI_Type_free(&type);
    }
    void create_indexed(const MpiInts &blocklengths, const MpiInts &displs) const override {
        MPI_Datatype type;
        MPI_Type_indexed(static_cast<int>(displs.size()), blocklengths.data(), displs.data(),
                         MPI_DOUBLE, &type);
        MPI_Type_commit(&type);
        MPI_Type_free(&type);
    }

private:
    std::string version_;
};

} // namespace

std::unique_ptr<MpiPeer> start_mpi() {
    return std::make_unique<RunningMpi>();
}

} // namespace bench

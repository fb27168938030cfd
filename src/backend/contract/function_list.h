// The functions of the objects that cross the boundary between libucd and its backends: which there
// are, and what each promises. This is their only list. The tables of functions, the classes that
// call them, the functions in the tables, what a plugin's tables are checked for, and the record in
// abi/ are made of it: a file defines two macros and includes this one, which undefines them at its
// end.
//
//   UCD_OBJECT(Name)   begins the functions of an object, in the order of their table
//   UCD_FUNCTION(result, name, (parameters), const or nothing)
//
// backend.h says what results and parameters become in a table, and implement.h what an answer is
// after an exception. plugin.h says which changes of the list raise the contract's version.
//
// The host's backend has more functions, which host_functions.h lists. No table has them, because
// the frontend calls them directly.

// Whatever an object's functions become ends with this.
#define UCD_END_OBJECT                                                                             \
    }                                                                                              \
    ;

// ---- plans --------------------------------------------------------------------------------------

// A layout prepared for a backend: kernel, constants, tables. Threads share it, so it is immutable.
// The layout that it was made from outlives it. The backend may not: types, and their plans with
// them, may be freed after the last ucd_finalize, or be used again after another ucd_init.
UCD_OBJECT(KernelPlan)

UCD_FUNCTION(void, destroy, (), const)

// Writes one line: the kernel, and why it was chosen. At most `room` bytes, the last of them 0.
// `length` is that of the whole text.
UCD_FUNCTION(Status, describe, (char *text, std::size_t room, std::size_t &length), const)

// In bytes.
UCD_FUNCTION(std::size_t, memory, (), const)

// Whether the work of such a move still needs the plan, or the move's elements, after the launch.
UCD_FUNCTION(TrueIfUnknown, is_needed_by, (const Move &move), const)

UCD_END_OBJECT

// ---- events -------------------------------------------------------------------------------------

// The completion of work that a backend has started.
UCD_OBJECT(Event)

// Releases the event without waiting.
UCD_FUNCTION(void, destroy, ())

// Never blocks. If the work has failed, this returns the failure, and the work is over.
UCD_FUNCTION(Status, poll, (bool &completed))

UCD_END_OBJECT

// ---- prepared launches --------------------------------------------------------------------------

// Moves prepared for repeated launches: their kernels are loaded, and the data that these read
// stays in device memory as long as this object lives. The object is immutable, so several launches
// of it may be in progress at once. The plans and elements of its moves outlive it; the backend may
// not, as with KernelPlan.
UCD_OBJECT(PreparedLaunch)

// No launch of it is in progress.
UCD_FUNCTION(void, destroy, (), const)

UCD_END_OBJECT

// ---- makers of moves ----------------------------------------------------------------------------

// Makes the moves of a batch in portions, as a backend asks for them, because a list of all moves
// would only be written and read once more. The moves have equal settings, and no op. The frontend
// has such objects, which the backends call.
UCD_OBJECT(MoveMaker)

UCD_FUNCTION(std::size_t, members, (), const)

// Makes the next moves, beginning with that of member `first`, and advances `first` to the first
// remaining member. The moves of one call differ only in their addresses, of which there are at
// most `room`; `move` has what they share. `made` is their number, which is 0 after the last one.
UCD_FUNCTION(Status, make,
             (std::size_t & first, Move &move, MoveAddresses *at, std::size_t room,
              std::size_t &made))

// Divides the members into consecutive parts, one for each thread that should make moves. If their
// number is 1, there are no parts. Each part counts its members from 0.
UCD_FUNCTION(Status, divide, (unsigned &parts))
UCD_FUNCTION(MoveMaker *, part, (unsigned i))

// Called after the last call of a part.
UCD_FUNCTION(Status, unite, ())

UCD_END_OBJECT

// ---- backends -----------------------------------------------------------------------------------

UCD_OBJECT(Backend)

UCD_FUNCTION(void, destroy, ())

UCD_FUNCTION(const char *, name, (), const)

// Finds out what is available, without initialising a driver on behalf of the process. What cannot
// be found out in this way, such as the number of devices, may be left open.
UCD_FUNCTION(Status, probe, (BackendState & state))

// Same, but finds out everything, and may initialise the driver. Called when a user asks for the
// backend's state or names a device. Later calls return the same state, which lives as long as the
// backend.
UCD_FUNCTION(Status, inspect, (const BackendState *&state))

// Sets the driver's context, as a number, in which the user's memory of a device is found. Backends
// whose driver has one context for all memory ignore it. INVALID_ARG: another context is in use.
UCD_FUNCTION(Status, use_context, (uint64_t context, int device))

// If this backend's driver knows the memory at `address`, sets `location`, which describes host
// memory before the call; its owner is then this backend. Must not initialise the driver: as long
// as the process has not done so, no address is known. DEVICE: the driver fails, and the host
// cannot read the address.
UCD_FUNCTION(Status, find, (const void *address, MemoryLocation &location), const)

// Whether the driver may have memory that find() does not know. The frontend then calls
// check_unknown() for addresses that no backend knows. It returns INVALID_ARG if there may be such
// memory and there is no host memory at the address.
UCD_FUNCTION(bool, hides_memory, (), const)
UCD_FUNCTION(Status, check_unknown, (const void *address), const)

// Whether kernels on `device` can load from and store to `location`, which may belong to another
// backend.
UCD_FUNCTION(bool, reaches, (int device, const MemoryLocation &location), const)

UCD_FUNCTION(bool, supports, (Op op, Element element), const)

// `extent` is the distance between repetitions. `repeated` says whether moves have a count above 1,
// which makes their layout one level deeper. If a plan would need more than `max_bytes` of memory,
// a plan with as little memory as possible is made instead, which may be slower.
UCD_FUNCTION(Status, plan,
             (const Layout &layout, int64_t extent, bool repeated, uint64_t max_bytes,
              Owner<KernelPlan> &plan),
             const)

// Starts the moves on `device`. Never waits for a device. If all moves were complete on return,
// `done` stays null. Until completion, the caller keeps the buffers, the plans that are needed by
// their moves, and all plans of copies; but not `list`. If it fails, nothing was started.
UCD_FUNCTION(Status, launch, (int device, const MoveList &list, Owner<Event> &done))

// Same, for moves that are made during the call. A failure of the maker is returned.
UCD_FUNCTION(Status, launch_made, (int device, MoveMaker &maker, Owner<Event> &done))

// Finds the device that a stream belongs to; for a default stream, the current device of the
// calling thread. INVALID_ARG: this backend cannot tell.
UCD_FUNCTION(Status, device_of, (const NativeStream &stream, int &device))

// Same as launch(), but in the caller's stream; the moves complete in its order. `keep` keeps plans
// and elements alive, and is null if no move needs them. The backend releases it, in any thread of
// the library, when they are no longer needed. (Work captured into a graph keeps nothing: the user
// has to keep the type as long as the graph.)
UCD_FUNCTION(Status, launch_in,
             (const NativeStream &stream, const MoveList &list, const Keep &keep))

// Same, for moves that are made during the call.
UCD_FUNCTION(Status, launch_made_in,
             (const NativeStream &stream, MoveMaker &maker, const Keep &keep))

// Does all work for launches of the list that need not be repeated for each launch. May wait for
// the device. The list is not needed after the call.
UCD_FUNCTION(Status, prepare_launch,
             (int device, const MoveList &list, Owner<PreparedLaunch> &prepared))

// Same as launch() and launch_in() with the list that was prepared, on its device, which must be
// the stream's. Buffers and `prepared` live until completion. In a stream, `keep` keeps `prepared`
// and everything that it needs alive. Work captured into a graph holds `keep`, too: until the graph
// is destroyed or, if the driver does not report that, as long as the backend lives.
UCD_FUNCTION(Status, launch_prepared, (const PreparedLaunch &prepared, Owner<Event> &done))
UCD_FUNCTION(Status, launch_prepared_in,
             (const NativeStream &stream, const PreparedLaunch &prepared, const Keep &keep))

// Does what the first launch_in() of such a move would do before it starts: it loads kernels and
// uploads tables, which stay as long as the plan. May wait for the device. Ignores the move's
// buffers and range.
UCD_FUNCTION(Status, prepare, (const NativeStream &stream, const Move &move))

// Whether a list may contain this copy or conversion. If not, the frontend moves in steps. Every
// backend that supports conversions takes those between packed bytes.
UCD_FUNCTION(bool, takes, (const Move &move), const)

// Copies consecutive bytes. `device` can access both addresses. Otherwise same as launch().
UCD_FUNCTION(Status, copy,
             (int device, void *to, const void *from, std::size_t bytes, Owner<Event> &done))

// Allocates staging memory: pinned memory, which host and device can access, or memory of the
// device. This is slow, so the frontend pools the memory. Not called for the host's backend.
UCD_FUNCTION(Status, allocate, (int device, MemoryKind kind, std::size_t bytes, void *&memory))
UCD_FUNCTION(void, release, (int device, MemoryKind kind, void *memory))

// Lets other processes open `bytes` at `address`, which are part of one allocation of device
// memory. NOT_SUPPORTED if the backend or this allocation does not allow it.
UCD_FUNCTION(Status, export_memory, (const void *address, std::size_t bytes, MemoryHandle &handle))

// Makes the memory accessible to `device` and sets `allocation` to its first byte. Fails unless it
// has at least `bytes` behind the handle's offset.
UCD_FUNCTION(Status, open_memory,
             (int device, const MemoryHandle &handle, std::size_t bytes, void *&allocation))

// Same, for device memory that processes share by file descriptors. Sets `count` to the number of
// these; it is 0, and nothing else is set, for memory that export_memory() shares. If `fds` is not
// null, makes descriptors, which the caller closes; INVALID_ARG if there is no room for all. The
// range may consist of several mapped pieces of memory, one behind the other. NOT_SUPPORTED if this
// memory cannot be shared.
UCD_FUNCTION(Status, export_fds,
             (const void *address, std::size_t bytes, FdHandle &handle, int *fds, std::size_t room,
              std::size_t &count))

// The descriptors are untrusted as well, and remain the caller's. What is opened holds references
// of its own to the memory, as far as the driver has them.
UCD_FUNCTION(Status, open_fds,
             (int device, const FdHandle &handle, std::size_t bytes, const int *fds,
              std::size_t count, void *&allocation))

// For both ways of opening.
UCD_FUNCTION(void, close_memory, (int device, void *allocation))

// Waits until the work of all launches in callers' streams is done, and releases what it keeps.
// Called before the memory of devices is freed at the end.
UCD_FUNCTION(Status, finish, ())

// Makes a plan for code on the device, of `count` repetitions of the layout that are `extent` bytes
// apart. Lists that the plan needs are in memory of the device, which release() frees, at
// plan.memory; they take at most `max_bytes` if that can be done. May wait for the device.
// NOT_SUPPORTED: no code for this backend's devices reads such plans.
UCD_FUNCTION(Status, device_plan,
             (int device, const Layout &layout, int64_t extent, uint64_t count, uint64_t max_bytes,
              ucd_device_plan &plan))

// A number that tells the devices of a machine apart. It is the same in all processes, also in
// those that see only some of the devices, or number them otherwise. 0: not known.
UCD_FUNCTION(uint64_t, device_identity, (int device), const)

UCD_END_OBJECT

#undef UCD_OBJECT
#undef UCD_FUNCTION
#undef UCD_END_OBJECT

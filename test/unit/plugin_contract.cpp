// Prints the layout and the values of everything that crosses the boundary between libucd and its
// plugins, for comparison with abi/plugin-contract.txt.
#include "plugin.h"

#include <cstddef>
#include <cstdio>
#include <type_traits>

using namespace ucd;

namespace {

template <class T>
void print_struct(const char *name) {
    static_assert(std::is_standard_layout_v<T>, "its layout may depend on the compiler");
    std::printf("%s: %zu bytes, aligned to %zu\n", name, sizeof(T), alignof(T));
}

void print_value(const char *name, long long value) {
    std::printf("  %s = %lld\n", name, value);
}

#define STRUCT(name) print_struct<name>(#name)
#define MEMBER(type, member) std::printf("  %s at %zu\n", #member, offsetof(type, member))
#define VALUE(value) print_value(#value, static_cast<long long>(value))

#define UCD_OBJECT(Object) const auto print_##Object##Functions = [] {                                                    \
        using Functions = Object##Functions;                                                       \
        STRUCT(Object##Functions);                                                                 \
        MEMBER(Functions, last_error);
#define UCD_FUNCTION(result, name, ...) MEMBER(Functions, name);
#include "function_list.h"

void print_tables() {
    print_BackendFunctions();
    print_KernelPlanFunctions();
    print_EventFunctions();
    print_PreparedLaunchFunctions();
    print_MoveMakerFunctions();
    STRUCT(KeptFunctions);
    MEMBER(KeptFunctions, retain);
    MEMBER(KeptFunctions, release);
    STRUCT(Plugin);
    MEMBER(Plugin, contract);
    MEMBER(Plugin, version);
    MEMBER(Plugin, device_plan_version);
    MEMBER(Plugin, backend);
    MEMBER(Plugin, plan);
    MEMBER(Plugin, event);
    MEMBER(Plugin, prepared_launch);
    MEMBER(Plugin, create);
    STRUCT(PluginRequest);
    MEMBER(PluginRequest, contract);
    MEMBER(PluginRequest, structs);
    MEMBER(PluginRequest, struct_count);
    STRUCT(CrossingStruct);
    MEMBER(CrossingStruct, size);
}

// Objects begin with the address of their table.
void print_objects() {
    STRUCT(Backend);
    STRUCT(KernelPlan);
    STRUCT(Event);
    STRUCT(PreparedLaunch);
    STRUCT(MoveMaker);
    STRUCT(KeptObject);
    STRUCT(Status);
    STRUCT(LastError);
}

void print_moves() {
    STRUCT(Limits);
    MEMBER(Limits, threads);
    MEMBER(Limits, max_blocks);
    MEMBER(Limits, engine);
    STRUCT(Side);
    MEMBER(Side, plan);
    MEMBER(Side, address);
    MEMBER(Side, count);
    MEMBER(Side, offset);
    STRUCT(Move);
    MEMBER(Move, from);
    MEMBER(Move, to);
    MEMBER(Move, length);
    MEMBER(Move, op);
    MEMBER(Move, from_kind);
    MEMBER(Move, to_kind);
    MEMBER(Move, from_element);
    MEMBER(Move, to_element);
    MEMBER(Move, limits);
    MEMBER(Move, elements);
    STRUCT(MoveList);
    STRUCT(MoveAddresses);
    MEMBER(MoveAddresses, from);
    MEMBER(MoveAddresses, to);
    STRUCT(Elements);
    MEMBER(Elements, kind);
    MEMBER(Elements, runs);
    MEMBER(Elements, extent);
}

void print_layouts() {
    STRUCT(Layout);
    MEMBER(Layout, nodes);
    MEMBER(Layout, tables);
    MEMBER(Layout, index_lists);
    MEMBER(Layout, root);
    MEMBER(Layout, start);
    MEMBER(Layout, depth);
    MEMBER(Layout, moved_once);
    MEMBER(Layout, bits);
    STRUCT(Segments);
    MEMBER(Segments, count);
    MEMBER(Segments, first_bytes);
    MEMBER(Segments, last_bytes);
    MEMBER(Segments, inner_min);
    MEMBER(Segments, inner_max);
    MEMBER(Segments, last_end);
    STRUCT(Node);
    MEMBER(Node, kind);
    MEMBER(Node, element);
    MEMBER(Node, has_reference);
    MEMBER(Node, child);
    MEMBER(Node, table);
    MEMBER(Node, count);
    MEMBER(Node, stride);
    MEMBER(Node, bytes);
    MEMBER(Node, low);
    MEMBER(Node, high);
    MEMBER(Node, segments);
    STRUCT(Table);
    MEMBER(Table, displs);
    MEMBER(Table, first);
    MEMBER(Table, children);
    MEMBER(Table, segments_first);
    MEMBER(Table, pieces);
    STRUCT(IndexList);
    MEMBER(IndexList, indices);
    MEMBER(IndexList, element);
    MEMBER(IndexList, small);
    MEMBER(IndexList, unit);
    STRUCT(Span<const Node>);
}

void print_memories() {
    STRUCT(BackendState);
    MEMBER(BackendState, available);
    MEMBER(BackendState, devices);
    MEMBER(BackendState, version);
    MEMBER(BackendState, reason);
    STRUCT(NativeStream);
    MEMBER(NativeStream, device);
    MEMBER(NativeStream, native);
    MEMBER(NativeStream, context);
    STRUCT(MemoryHandle);
    MEMBER(MemoryHandle, native);
    MEMBER(MemoryHandle, offset);
    STRUCT(FdHandle);
    MEMBER(FdHandle, identity);
    MEMBER(FdHandle, offset);
    MEMBER(FdHandle, native);
    STRUCT(MemoryLocation);
    MEMBER(MemoryLocation, kind);
    MEMBER(MemoryLocation, device);
    MEMBER(MemoryLocation, owner);
    MEMBER(MemoryLocation, begin);
    MEMBER(MemoryLocation, end);
    MEMBER(MemoryLocation, own_access);
}

void print_values() {
    std::printf("values:\n");
    VALUE(Direction::pack);
    VALUE(Direction::unpack);
    VALUE(Engine::automatic);
    VALUE(Engine::kernel);
    VALUE(Engine::dma);
    VALUE(MemoryKind::host);
    VALUE(MemoryKind::pinned);
    VALUE(MemoryKind::managed);
    VALUE(MemoryKind::device);
    VALUE(NodeKind::block);
    VALUE(NodeKind::strided);
    VALUE(NodeKind::indexed_block);
    VALUE(NodeKind::indexed);
    VALUE(NodeKind::structure);
    VALUE(NodeKind::by_reference);
    VALUE(Op::replace);
    VALUE(Op::minloc);
    VALUE(Op::convert);
    VALUE(Op::convert_sat);
    VALUE(Op::count_);
    VALUE(Element::byte);
    VALUE(Element::float64);
    VALUE(Element::float64_float64);
    VALUE(Element::count_);
}

} // namespace

int main() {
    std::printf("contract %u\n", contract_version);
    print_tables();
    print_objects();
    print_moves();
    print_layouts();
    print_memories();
    print_values();
}

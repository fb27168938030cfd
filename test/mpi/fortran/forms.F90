! Two processes: each Fortran form of the calls that move data, with a type that the library takes over. What arrives is checked.
! With USE_F08 by the module mpi_f08, otherwise by the module mpi. HAS_MPI_4: the MPI library has MPI_Isendrecv. It is MPICH, whose
! MPI_Neighbor_alltoallw in mpi_f08 works for graphs only. HAS_EXTENSION: names of persistent collective calls begin with MPIX_.
! STARTS: how often the MPI library can start one of derived types.
#ifdef HAS_EXTENSION
#define PERSISTENT(name) MPIX_/**/name/**/_init
#ifdef USE_F08
#define EXTENSION mpi_f08_ext
#else
#define EXTENSION mpi_ext
#endif
#else
#define PERSISTENT(name) MPI_/**/name/**/_init
#endif
#ifdef USE_F08
#define DATATYPE type(MPI_Datatype)
#define REQUEST type(MPI_Request)
#define MESSAGE type(MPI_Message)
#define COMM type(MPI_Comm)
#else
#define DATATYPE integer
#define REQUEST integer
#define MESSAGE integer
#define COMM integer
#endif

program forms
#ifdef USE_F08
    use mpi_f08
#else
    use mpi
#endif
#ifdef HAS_EXTENSION
    use EXTENSION
#endif
    implicit none

    integer, parameter :: elements = 2100, stride = 3, rows = elements*stride
    integer, parameter :: starts = STARTS
    ! Where a number of `sent` comes from: its process, and its column.
    double precision :: sent(rows, 2), received(rows, 2)
    integer :: rank, other, ierror, way
    DATATYPE :: strided, column
    COMM :: ring
    character :: room(1000000)

    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    other = 1 - rank
    call MPI_Type_vector(elements, 1, stride, MPI_DOUBLE_PRECISION, strided, ierror)
    call MPI_Type_create_resized(strided, int(0, MPI_ADDRESS_KIND), int(8*rows, MPI_ADDRESS_KIND), column, ierror)
    call MPI_Type_commit(column, ierror)
    call MPI_Cart_create(MPI_COMM_WORLD, 1, [2], [.true.], .false., ring, ierror)
    call MPI_Buffer_attach(room, size(room), ierror)
    sent = -1
    sent(1::stride, 1) = from(rank, 1)
    sent(1::stride, 2) = from(rank, 2)
    call packing()
    do way = 1, 12
        call send_and_receive(way)
    end do
    call ready_sends()
    call both_ways()
    do way = 1, 3 ! blocking, nonblocking, persistent
        call rooted()
        call unrooted()
        call with_neighbours()
    end do
    call MPI_Comm_free(ring, ierror)
    call MPI_Type_free(column, ierror)
    call MPI_Type_free(strided, ierror)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    if (rank == 0) print *, 'all forms are right'
    call MPI_Finalize(ierror)

contains

    double precision function from(process, which)
        integer, intent(in) :: process, which
        from = 1000*process + which
    end function

    ! The columns of `received` have these numbers; -1 if nothing was received.
    subroutine check(what, first, second)
        character(*), intent(in) :: what
        double precision, intent(in) :: first, second
        if (.not. (all(received(1::stride, 1) == first) .and. all(received(1::stride, 2) == second) &
                   .and. all(received(2::stride, :) == -1) .and. all(received(3::stride, :) == -1))) then
            print *, 'rank', rank, ': ', what, ', way', way, ':', received(1, 1), received(1, 2)
            call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
        end if
        received = -1
    end subroutine

    subroutine packing()
        double precision :: packed(elements)
        integer :: position
        received = -1
        position = 0
        call MPI_Pack(sent, 1, column, packed, 8*elements, position, MPI_COMM_WORLD, ierror)
        position = 0
        call MPI_Unpack(packed, 8*elements, position, received, 1, column, MPI_COMM_WORLD, ierror)
        call check('MPI_Unpack', from(rank, 1), -1d0)
    end subroutine

    subroutine start_and_wait(request)
        REQUEST, intent(inout) :: request
        call MPI_Start(request, ierror)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
        call MPI_Request_free(request, ierror)
    end subroutine

    ! A persistent collective call, which sends `values` if this process sends. Only what the last start brings is right.
    subroutine start_some_times(request, values)
        REQUEST, intent(inout) :: request
        double precision, asynchronous, intent(inout) :: values(rows, 2)
        double precision :: right(rows, 2)
        integer :: start
        right = values
        do start = 1, starts
            values = merge(right, -right, start == starts)
            call MPI_Start(request, ierror)
            call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
        end do
        call MPI_Request_free(request, ierror)
    end subroutine

    ! From process 0 to process 1.
    subroutine send_and_receive(way)
        integer, intent(in) :: way
        REQUEST :: request
        MESSAGE :: message
        if (rank == 0) then
            select case (way)
            case (1)
                call MPI_Send(sent, 2, column, 1, 1, MPI_COMM_WORLD, ierror)
            case (2)
                call MPI_Ssend(sent, 2, column, 1, 1, MPI_COMM_WORLD, ierror)
            case (3)
                call MPI_Bsend(sent, 2, column, 1, 1, MPI_COMM_WORLD, ierror)
            case (4)
                call MPI_Isend(sent, 2, column, 1, 1, MPI_COMM_WORLD, request, ierror)
            case (5)
                call MPI_Issend(sent, 2, column, 1, 1, MPI_COMM_WORLD, request, ierror)
            case (6)
                call MPI_Ibsend(sent, 2, column, 1, 1, MPI_COMM_WORLD, request, ierror)
            case (7)
                call MPI_Send_init(sent, 2, column, 1, 1, MPI_COMM_WORLD, request, ierror)
            case (8)
                call MPI_Ssend_init(sent, 2, column, 1, 1, MPI_COMM_WORLD, request, ierror)
            case (9)
                call MPI_Bsend_init(sent, 2, column, 1, 1, MPI_COMM_WORLD, request, ierror)
            case default
                call MPI_Send(sent, 2, column, 1, 1, MPI_COMM_WORLD, ierror)
            end select
            if (way >= 4 .and. way <= 6) call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
            if (way >= 7 .and. way <= 9) call start_and_wait(request)
        else
            select case (way)
            case (10)
                call MPI_Mprobe(0, 1, MPI_COMM_WORLD, message, MPI_STATUS_IGNORE, ierror)
                call MPI_Mrecv(received, 2, column, message, MPI_STATUS_IGNORE, ierror)
            case (11)
                call MPI_Mprobe(0, 1, MPI_COMM_WORLD, message, MPI_STATUS_IGNORE, ierror)
                call MPI_Imrecv(received, 2, column, message, request, ierror)
                call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
            case (12)
                call MPI_Recv_init(received, 2, column, 0, 1, MPI_COMM_WORLD, request, ierror)
                call start_and_wait(request)
            case default
                call MPI_Recv(received, 2, column, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
            end select
            call check('a message', from(0, 1), from(0, 2))
        end if
    end subroutine

    ! The receiver is there first.
    subroutine ready_sends()
        REQUEST :: request
        do way = 1, 3
            if (rank == 1) call MPI_Irecv(received, 2, column, 0, 1, MPI_COMM_WORLD, request, ierror)
            call MPI_Barrier(MPI_COMM_WORLD, ierror)
            if (rank == 1) then
                call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
                call check('a ready send', from(0, 1), from(0, 2))
            else if (way == 1) then
                call MPI_Rsend(sent, 2, column, 1, 1, MPI_COMM_WORLD, ierror)
            else if (way == 2) then
                call MPI_Irsend(sent, 2, column, 1, 1, MPI_COMM_WORLD, request, ierror)
                call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
            else
                call MPI_Rsend_init(sent, 2, column, 1, 1, MPI_COMM_WORLD, request, ierror)
                call start_and_wait(request)
            end if
        end do
    end subroutine

    subroutine both_ways()
#ifdef HAS_MPI_4
        REQUEST :: request
#endif
        call MPI_Sendrecv(sent, 2, column, other, 1, received, 2, column, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
        call check('MPI_Sendrecv', from(other, 1), from(other, 2))
        received = sent
        call MPI_Sendrecv_replace(received, 2, column, other, 1, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
        call check('MPI_Sendrecv_replace', from(other, 1), from(other, 2))
#ifdef HAS_MPI_4
        call MPI_Isendrecv(sent, 2, column, other, 1, received, 2, column, other, 1, MPI_COMM_WORLD, request, ierror)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
        call check('MPI_Isendrecv', from(other, 1), from(other, 2))
        received = sent
        call MPI_Isendrecv_replace(received, 2, column, other, 1, other, 1, MPI_COMM_WORLD, request, ierror)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
        call check('MPI_Isendrecv_replace', from(other, 1), from(other, 2))
#endif
    end subroutine

    ! Process 1 is the root.
    subroutine rooted()
        REQUEST :: request
        COMM :: all
        integer :: ones(2), displs(2), call_number
        double precision :: nothing
        nothing = -1
        ones = 1
        displs = [0, 1]
        all = MPI_COMM_WORLD
        do call_number = 1, 5
            if (call_number == 1 .and. rank == 1) received = sent
            select case (10*way + call_number)
            case (11)
                call MPI_Bcast(received, 2, column, 1, all, ierror)
            case (12)
                call MPI_Gather(sent, 1, column, received, 1, column, 1, all, ierror)
            case (13)
                call MPI_Gatherv(sent, 1, column, received, ones, displs, column, 1, all, ierror)
            case (14)
                call MPI_Scatter(sent, 1, column, received, 1, column, 1, all, ierror)
            case (15)
                call MPI_Scatterv(sent, ones, displs, column, received, 1, column, 1, all, ierror)
            case (21)
                call MPI_Ibcast(received, 2, column, 1, all, request, ierror)
            case (22)
                call MPI_Igather(sent, 1, column, received, 1, column, 1, all, request, ierror)
            case (23)
                call MPI_Igatherv(sent, 1, column, received, ones, displs, column, 1, all, request, ierror)
            case (24)
                call MPI_Iscatter(sent, 1, column, received, 1, column, 1, all, request, ierror)
            case (25)
                call MPI_Iscatterv(sent, ones, displs, column, received, 1, column, 1, all, request, ierror)
            case (31)
                call PERSISTENT(Bcast)(received, 2, column, 1, all, MPI_INFO_NULL, request, ierror)
            case (32)
                call PERSISTENT(Gather)(sent, 1, column, received, 1, column, 1, all, MPI_INFO_NULL, request, ierror)
            case (33)
                call PERSISTENT(Gatherv)(sent, 1, column, received, ones, displs, column, 1, all, MPI_INFO_NULL, request, ierror)
            case (34)
                call PERSISTENT(Scatter)(sent, 1, column, received, 1, column, 1, all, MPI_INFO_NULL, request, ierror)
            case (35)
                call PERSISTENT(Scatterv)(sent, ones, displs, column, received, 1, column, 1, all, MPI_INFO_NULL, request, ierror)
            end select
            if (way == 2) call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
            if (way == 3 .and. call_number == 1) call start_some_times(request, received)
            if (way == 3 .and. call_number > 1) call start_some_times(request, sent)
            if (call_number == 1) then
                call check('a broadcast', from(1, 1), from(1, 2))
            else if (call_number >= 4) then
                call check('from the root', from(1, rank + 1), nothing)
            else if (rank == 1) then
                call check('to the root', from(0, 1), from(1, 1))
            else
                call check('to the root', nothing, nothing)
            end if
        end do
    end subroutine

    subroutine unrooted()
        REQUEST :: request
        COMM :: all
        DATATYPE :: types(2)
        integer :: ones(2), displs(2), bytes(2), call_number
        ones = 1
        displs = [0, 1]
        bytes = [0, 8*rows]
        types = column
        all = MPI_COMM_WORLD
        do call_number = 1, 5
            select case (10*way + call_number)
            case (11)
                call MPI_Allgather(sent, 1, column, received, 1, column, all, ierror)
            case (12)
                call MPI_Allgatherv(sent, 1, column, received, ones, displs, column, all, ierror)
            case (13)
                call MPI_Alltoall(sent, 1, column, received, 1, column, all, ierror)
            case (14)
                call MPI_Alltoallv(sent, ones, displs, column, received, ones, displs, column, all, ierror)
            case (15)
                call MPI_Alltoallw(sent, ones, bytes, types, received, ones, bytes, types, all, ierror)
            case (21)
                call MPI_Iallgather(sent, 1, column, received, 1, column, all, request, ierror)
            case (22)
                call MPI_Iallgatherv(sent, 1, column, received, ones, displs, column, all, request, ierror)
            case (23)
                call MPI_Ialltoall(sent, 1, column, received, 1, column, all, request, ierror)
            case (24)
                call MPI_Ialltoallv(sent, ones, displs, column, received, ones, displs, column, all, request, ierror)
            case (25)
                call MPI_Ialltoallw(sent, ones, bytes, types, received, ones, bytes, types, all, request, ierror)
            case (31)
                call PERSISTENT(Allgather)(sent, 1, column, received, 1, column, all, MPI_INFO_NULL, request, ierror)
            case (32)
                call PERSISTENT(Allgatherv)(sent, 1, column, received, ones, displs, column, all, MPI_INFO_NULL, request, ierror)
            case (33)
                call PERSISTENT(Alltoall)(sent, 1, column, received, 1, column, all, MPI_INFO_NULL, request, ierror)
            case (34)
                call PERSISTENT(Alltoallv)(sent, ones, displs, column, received, ones, displs, column, all, &
                                      MPI_INFO_NULL, request, ierror)
            case (35)
                call PERSISTENT(Alltoallw)(sent, ones, bytes, types, received, ones, bytes, types, all, &
                                      MPI_INFO_NULL, request, ierror)
            end select
            if (way == 2) call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
            if (way == 3) call start_some_times(request, sent)
            if (call_number <= 2) then
                call check('to all', from(0, 1), from(1, 1))
            else
                call check('from all to all', from(0, rank + 1), from(1, rank + 1))
            end if
        end do
    end subroutine

    ! Both neighbours are the other process.
    subroutine with_neighbours()
        REQUEST :: request
        DATATYPE :: types(2)
        integer :: ones(2), displs(2), call_number
        integer(MPI_ADDRESS_KIND) :: bytes(2)
        ones = 1
        displs = [0, 1]
        bytes = [0, 8*rows]
        types = column
#if defined(USE_F08) && defined(HAS_MPI_4)
        do call_number = 1, 4
#else
        do call_number = 1, 5
#endif
            select case (10*way + call_number)
            case (11)
                call MPI_Neighbor_allgather(sent, 1, column, received, 1, column, ring, ierror)
            case (12)
                call MPI_Neighbor_allgatherv(sent, 1, column, received, ones, displs, column, ring, ierror)
            case (13)
                call MPI_Neighbor_alltoall(sent, 1, column, received, 1, column, ring, ierror)
            case (14)
                call MPI_Neighbor_alltoallv(sent, ones, displs, column, received, ones, displs, column, ring, ierror)
            case (15)
                call MPI_Neighbor_alltoallw(sent, ones, bytes, types, received, ones, bytes, types, ring, ierror)
            case (21)
                call MPI_Ineighbor_allgather(sent, 1, column, received, 1, column, ring, request, ierror)
            case (22)
                call MPI_Ineighbor_allgatherv(sent, 1, column, received, ones, displs, column, ring, request, ierror)
            case (23)
                call MPI_Ineighbor_alltoall(sent, 1, column, received, 1, column, ring, request, ierror)
            case (24)
                call MPI_Ineighbor_alltoallv(sent, ones, displs, column, received, ones, displs, column, ring, request, ierror)
            case (25)
                call MPI_Ineighbor_alltoallw(sent, ones, bytes, types, received, ones, bytes, types, ring, request, ierror)
            case (31)
                call PERSISTENT(Neighbor_allgather)(sent, 1, column, received, 1, column, ring, MPI_INFO_NULL, request, ierror)
            case (32)
                call PERSISTENT(Neighbor_allgatherv)(sent, 1, column, received, ones, displs, column, ring, &
                                      MPI_INFO_NULL, request, ierror)
            case (33)
                call PERSISTENT(Neighbor_alltoall)(sent, 1, column, received, 1, column, ring, MPI_INFO_NULL, request, ierror)
            case (34)
                call PERSISTENT(Neighbor_alltoallv)(sent, ones, displs, column, received, ones, displs, column, ring, &
                                      MPI_INFO_NULL, request, ierror)
            case (35)
                call PERSISTENT(Neighbor_alltoallw)(sent, ones, bytes, types, received, ones, bytes, types, ring, &
                                      MPI_INFO_NULL, request, ierror)
            end select
            if (way == 2) call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
            if (way == 3) call start_some_times(request, sent)
            if (call_number <= 2) then
                call check('from neighbours', from(other, 1), from(other, 1))
            else if (received(1, 1) == from(other, 1)) then ! MPI libraries differ in which of the two is which
                call check('to and from neighbours', from(other, 1), from(other, 2))
            else
                call check('to and from neighbours', from(other, 2), from(other, 1))
            end if
        end do
    end subroutine

end program

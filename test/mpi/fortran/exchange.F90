! Two processes: what Fortran programs send and pack arrives, and nothing else is written.
! With USE_F08 by the module mpi_f08, otherwise by the module mpi.
#ifdef USE_F08
#define DATATYPE type(MPI_Datatype)
#define REQUEST type(MPI_Request)
#define STATUS_OF(name) type(MPI_Status) :: name
#define STATUSES_OF(name, n) type(MPI_Status) :: name(n)
#define VALUE_OF(handle) handle%MPI_VAL
#else
#define DATATYPE integer
#define REQUEST integer
#define STATUS_OF(name) integer :: name(MPI_STATUS_SIZE)
#define STATUSES_OF(name, n) integer :: name(MPI_STATUS_SIZE, n)
#define VALUE_OF(handle) handle
#endif

program exchange
#ifdef USE_F08
    use mpi_f08
#else
    use mpi
#endif
    use iso_c_binding
    implicit none

    integer, parameter :: elements = 2100, stride = 3, at_once = 4
    integer :: rank, provided, ierror

    ! Every third element is sent.
    DATATYPE :: strided
    double precision :: values(elements*stride, at_once)

    interface
        function receive_started_in_c(buffer, datatype, tag) bind(C) result(request)
            import :: c_int, c_double
            real(c_double) :: buffer(*)
            integer(c_int), value :: datatype, tag
            integer(c_int) :: request
        end function
        subroutine completed_in_c(request) bind(C)
            import :: c_int
            integer(c_int), value :: request
        end subroutine
    end interface

    call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call MPI_Type_vector(elements, 1, stride, MPI_DOUBLE_PRECISION, strided, ierror)
    call MPI_Type_commit(strided, ierror)
    call packing()
    call blocking()
    call nonblocking()
    call persistent()
    call from_bottom()
    call started_elsewhere()
    call collective()
    call sections()
    call MPI_Type_free(strided, ierror)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    if (rank == 0) print *, 'all messages arrived'
    call MPI_Finalize(ierror)

contains

    subroutine check(holds, what)
        logical, intent(in) :: holds
        character(*), intent(in) :: what
        if (holds) return
        print *, 'rank', rank, ': ', what
        call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
    end subroutine

    ! The sender has numbers from `first` on, the receiver none.
    subroutine fill(first)
        integer, intent(in) :: first
        integer :: i, j
        values = -1
        if (rank /= 0) return
        do j = 1, at_once
            do i = 1, elements
                values((i - 1)*stride + 1, j) = first + i + elements*j
            end do
        end do
    end subroutine

    subroutine check_arrived(first, columns, what)
        integer, intent(in) :: first, columns
        character(*), intent(in) :: what
        integer :: i, j
        if (rank == 0) return
        do j = 1, columns
            do i = 1, elements
                call check(values((i - 1)*stride + 1, j) == first + i + elements*j, what // ': a number differs')
            end do
            call check(all(values(2::stride, j) == -1) .and. all(values(3::stride, j) == -1), what // ': a gap differs')
        end do
    end subroutine

    ! The library takes a type over when some data was moved with it.
    subroutine packing()
        double precision :: packed(elements)
        integer :: round, position, size
        call MPI_Type_size(strided, size, ierror)
        call check(size == 8*elements, 'size')
        do round = 1, 3
            values = -1
            values(1::stride, 1) = round
            packed = 0
            position = 0
            call MPI_Pack(values, 1, strided, packed, size, position, MPI_COMM_WORLD, ierror)
            call check(ierror == MPI_SUCCESS .and. position == size .and. all(packed == round), 'MPI_Pack')
            packed = packed + 1
            position = 0
            call MPI_Unpack(packed, size, position, values, 1, strided, MPI_COMM_WORLD, ierror)
            call check(position == size .and. all(values(1::stride, 1) == round + 1), 'MPI_Unpack')
            call check(all(values(2::stride, 1) == -1), 'MPI_Unpack: a gap differs')
        end do
    end subroutine

    subroutine blocking()
        STATUS_OF(status)
        integer :: count
        call fill(10)
        if (rank == 0) then
            call MPI_Send(values, 1, strided, 1, 1, MPI_COMM_WORLD, ierror)
            call MPI_Ssend(values(1, 2), 1, strided, 1, 2, MPI_COMM_WORLD, ierror)
        else
            call MPI_Recv(values, 1, strided, 0, 1, MPI_COMM_WORLD, status, ierror)
            call MPI_Get_count(status, MPI_DOUBLE_PRECISION, count, ierror)
            call check(count == elements, 'MPI_Get_count')
            call MPI_Recv(values(1, 2), 1, strided, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
        end if
        call check_arrived(10, 2, 'MPI_Recv')
    end subroutine

    subroutine start(requests)
        REQUEST, intent(out) :: requests(at_once)
        integer :: j
        do j = 1, at_once
            if (rank == 0) then
                call MPI_Isend(values(1, j), 1, strided, 1, j, MPI_COMM_WORLD, requests(j), ierror)
            else
                call MPI_Irecv(values(1, j), 1, strided, 0, j, MPI_COMM_WORLD, requests(j), ierror)
            end if
        end do
    end subroutine

    subroutine nonblocking()
        REQUEST :: requests(at_once)
        STATUS_OF(status)
        STATUSES_OF(statuses, at_once)
        integer :: j, index, completed, indices(at_once), left, way
        logical :: flag
        character(20) :: what
        do way = 1, 9
            call fill(way)
            call start(requests)
            flag = .false.
            left = at_once
            write (what, '(a, i0)') 'completion ', way
            select case (way)
            case (1)
                do j = 1, at_once
                    call MPI_Wait(requests(j), status, ierror)
                end do
            case (2)
                do j = 1, at_once
                    flag = .false.
                    do while (.not. flag)
                        call MPI_Test(requests(j), flag, MPI_STATUS_IGNORE, ierror)
                    end do
                end do
            case (3)
                call MPI_Waitall(at_once, requests, statuses, ierror)
            case (4)
                do while (.not. flag)
                    call MPI_Testall(at_once, requests, flag, MPI_STATUSES_IGNORE, ierror)
                end do
            case (5)
                do j = 1, at_once
                    call MPI_Waitany(at_once, requests, index, status, ierror)
                    call check(index >= 0 .and. index <= at_once, 'MPI_Waitany') ! from 0 on in mpi_f08 of MPICH 4.0
                end do
            case (6)
                do while (left > 0)
                    call MPI_Testany(at_once, requests, index, flag, status, ierror)
                    if (flag) left = left - 1
                end do
            case (7)
                do while (left > 0)
                    call MPI_Waitsome(at_once, requests, completed, indices, statuses, ierror)
                    left = left - completed
                end do
            case (8)
                do while (left > 0)
                    call MPI_Testsome(at_once, requests, completed, indices, statuses, ierror)
                    left = left - completed
                end do
            case (9)
                do j = 1, at_once
                    flag = .false.
                    do while (.not. flag)
                        call MPI_Request_get_status(requests(j), flag, status, ierror)
                    end do
                end do
                call check_arrived(way, at_once, 'MPI_Request_get_status')
                call MPI_Waitall(at_once, requests, MPI_STATUSES_IGNORE, ierror)
            end select
            call check_arrived(way, at_once, what)
        end do
    end subroutine

    subroutine persistent()
        REQUEST :: requests(2)
        integer :: round, j
        do j = 1, 2
            if (rank == 0) then
                call MPI_Send_init(values(1, j), 1, strided, 1, j, MPI_COMM_WORLD, requests(j), ierror)
            else
                call MPI_Recv_init(values(1, j), 1, strided, 0, j, MPI_COMM_WORLD, requests(j), ierror)
            end if
        end do
        do round = 1, 3
            call fill(round)
            if (round == 1) then
                call MPI_Start(requests(1), ierror)
                call MPI_Start(requests(2), ierror)
            else
                call MPI_Startall(2, requests, ierror)
            end if
            call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
            call check_arrived(round, 2, 'a persistent request')
        end do
        call MPI_Request_free(requests(1), ierror)
        call MPI_Request_free(requests(2), ierror)
    end subroutine

    ! Displacements that are addresses.
    subroutine from_bottom()
        DATATYPE :: absolute
        integer(MPI_ADDRESS_KIND) :: address
        call MPI_Get_address(values, address, ierror)
        call MPI_Type_create_hindexed(1, [1], [address], strided, absolute, ierror)
        call MPI_Type_commit(absolute, ierror)
        call fill(77)
        if (rank == 0) then
            call MPI_Send(MPI_BOTTOM, 1, absolute, 1, 1, MPI_COMM_WORLD, ierror)
        else
            call MPI_Recv(MPI_BOTTOM, 1, absolute, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
        end if
        call check_arrived(77, 1, 'MPI_BOTTOM')
        call MPI_Type_free(absolute, ierror)
    end subroutine

    ! Each process has a column, and gets the other's.
    subroutine collective()
        DATATYPE :: column
        REQUEST :: request
        integer :: way, j
        integer(MPI_ADDRESS_KIND) :: lb, extent
        character(20) :: what
        lb = 0
        extent = 8*elements*stride
        call MPI_Type_create_resized(strided, lb, extent, column, ierror)
        call MPI_Type_commit(column, ierror)
        do way = 1, 4
            write (what, '(a, i0)') 'collective call ', way
            values = -1
            values(1::stride, rank + 1) = 100*way + rank
            select case (way)
            case (1)
                call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, values, 1, column, MPI_COMM_WORLD, ierror)
            case (2)
                call MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, values, 1, column, MPI_COMM_WORLD, request, ierror)
                call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
            case (3)
                do j = 0, 1
                    call MPI_Bcast(values(1, j + 1), 1, column, j, MPI_COMM_WORLD, ierror)
                end do
            case (4)
                values(1::stride, 2 - rank) = values(1::stride, rank + 1)
                call MPI_Sendrecv_replace(values(1, 2 - rank), 1, column, 1 - rank, 1, 1 - rank, 1, MPI_COMM_WORLD, &
                                          MPI_STATUS_IGNORE, ierror)
            end select
            do j = 1, 2
                call check(all(values(1::stride, j) == 100*way + j - 1), what // ': a number differs')
                call check(all(values(2::stride, j) == -1) .and. all(values(3::stride, j) == -1), what // ': a gap differs')
            end do
        end do
        call MPI_Type_free(column, ierror)
    end subroutine

    subroutine started_elsewhere()
        REQUEST :: request
        integer :: j
        call fill(5)
        if (rank == 0) then
            do j = 1, 2
                call MPI_Send(values(1, j), 1, strided, 1, j, MPI_COMM_WORLD, ierror)
            end do
            return
        end if
        VALUE_OF(request) = receive_started_in_c(values(:, 1), VALUE_OF(strided), 1)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
        call check_arrived(5, 1, 'started in C, completed in Fortran')
        call MPI_Irecv(values(1, 2), 1, strided, 0, 2, MPI_COMM_WORLD, request, ierror)
        call completed_in_c(VALUE_OF(request))
        call check_arrived(5, 2, 'started in Fortran, completed in C')
    end subroutine

    ! Sections of arrays are no copies if the MPI library says so: it makes types of them.
    subroutine sections()
        REQUEST :: request
        if (.not. MPI_SUBARRAYS_SUPPORTED) return
        call fill(9)
        if (rank == 0) then
            call MPI_Isend(values(1::stride, 1), elements, MPI_DOUBLE_PRECISION, 1, 1, MPI_COMM_WORLD, request, ierror)
        else
            call MPI_Irecv(values(1::stride, 1), elements, MPI_DOUBLE_PRECISION, 0, 1, MPI_COMM_WORLD, request, ierror)
        end if
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
        call check_arrived(9, 1, 'a section of an array')
    end subroutine

end program

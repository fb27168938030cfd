! Transposes a matrix that is divided among processes by columns: one MPI_Alltoallw, whose types say where each element goes.
!
!     mpirun -n 4 transpose_f08 [EDGE [ROUNDS]]     EDGE: a multiple of the number of processes
program transposition
    use mpi_f08
    use iso_fortran_env, only: int64, real64
    implicit none

    integer :: n = 256, rounds = 10
    integer :: rank, processes, mine, round, p
    integer, allocatable :: ones(:), counts(:), displs(:), no_displs(:)
    type(MPI_Datatype), allocatable :: blocks(:), rows(:)
    real(real64), allocatable :: a(:, :), b(:, :)
    real(real64) :: time

    call MPI_Init()
    n = argument(1, n)
    rounds = argument(2, rounds)
    call MPI_Comm_size(MPI_COMM_WORLD, processes)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    if (mod(n, processes) /= 0) then
        print *, 'the edge is no multiple of the number of processes'
        call MPI_Abort(MPI_COMM_WORLD, 2)
    end if
    mine = n/processes
    call make_types()
    allocate (a(n, mine), b(n, mine))
    call fill()

    b = -1
    call transpose_to(a, b)
    call report('transposed', b, .true.)
    a = -1
    call transpose_to(b, a)
    call report('twice', a, .false.)
    time = MPI_Wtime()
    do round = 1, rounds
        call transpose_to(a, b)
        call transpose_to(b, a)
    end do
    time = (MPI_Wtime() - time)/(2*rounds)
    call report('many times', a, .false.)
    call MPI_Allreduce(MPI_IN_PLACE, time, 1, MPI_REAL8, MPI_MAX, MPI_COMM_WORLD)
    if (rank == 0) print '(a, f0.3, a)', 'time: ', time*1000, ' ms'
    do p = 1, processes
        call MPI_Type_free(blocks(p))
    end do
    call MPI_Type_free(rows(1)) ! they are all the same
    call MPI_Finalize()

contains

    integer function argument(which, otherwise)
        integer, intent(in) :: which, otherwise
        character(20) :: text
        argument = otherwise
        if (command_argument_count() < which) return
        call get_command_argument(which, text)
        read (text, *) argument
    end function

    ! Process p is sent the rows that are its columns, in the order of memory: a block of the matrix. What it sends becomes a
    ! block of rows here: each of its columns is a row, and the next one begins one element later.
    subroutine make_types()
        type(MPI_Datatype) :: row
        integer(MPI_ADDRESS_KIND) :: lb, extent
        integer :: p
        allocate (ones(processes), counts(processes), displs(processes), no_displs(processes))
        allocate (blocks(processes), rows(processes))
        ones = 1
        counts = mine
        no_displs = 0
        call MPI_Type_get_extent(MPI_REAL8, lb, extent)
        call MPI_Type_vector(mine, 1, n, MPI_REAL8, row)
        call MPI_Type_create_resized(row, lb, extent, rows(1))
        call MPI_Type_commit(rows(1))
        call MPI_Type_free(row)
        rows = rows(1)
        do p = 1, processes
            displs(p) = (p - 1)*mine*int(extent)
            call MPI_Type_create_subarray(2, [n, mine], [mine, mine], [(p - 1)*mine, 0], MPI_ORDER_FORTRAN, MPI_REAL8, blocks(p))
            call MPI_Type_commit(blocks(p))
        end do
    end subroutine

    ! The sender's block goes out column by column. Here, the columns of the sender's block are rows.
    subroutine transpose_to(from, to)
        real(real64), intent(in) :: from(n, mine)
        real(real64), intent(inout) :: to(n, mine)
        call MPI_Alltoallw(from, ones, no_displs, blocks, to, counts, displs, rows, MPI_COMM_WORLD)
    end subroutine

    real(real64) function element(i, j)
        integer, intent(in) :: i, j
        element = i + sqrt(real(j, real64))
    end function

    subroutine fill()
        integer :: i, j
        do j = 1, mine
            do i = 1, n
                a(i, j) = element(i, rank*mine + j)
            end do
        end do
    end subroutine

    subroutine report(what, matrix, is_transposed)
        character(*), intent(in) :: what
        real(real64), intent(in) :: matrix(n, mine)
        logical, intent(in) :: is_transposed
        integer(int64) :: sum, total
        integer :: i, j, wrong
        wrong = 0
        sum = rank + 1
        do j = 1, mine
            do i = 1, n
                sum = ieor(ishftc(sum, 7), transfer(matrix(i, j), sum))
                if (is_transposed .and. matrix(i, j) /= element(rank*mine + j, i)) wrong = wrong + 1
                if (.not. is_transposed .and. matrix(i, j) /= element(i, rank*mine + j)) wrong = wrong + 1
            end do
        end do
        call MPI_Reduce(sum, total, 1, MPI_INTEGER8, MPI_BXOR, 0, MPI_COMM_WORLD)
        call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
        if (rank == 0) print '(a, a, z16.16, a, i0, a, a)', what, ': checksum ', total, ', ', wrong, ' wrong elements', &
            merge(': right', ': WRONG', wrong == 0)
        if (wrong /= 0) call MPI_Abort(MPI_COMM_WORLD, 1)
    end subroutine

end program

! Rows of a matrix, which Fortran stores column by column: so a row is a vector type, resized so that the next row begins one
! element later. One process scatters its rows; blocks of rows go round a ring, and each process multiplies its own with those that
! it has; then the products are gathered.
!
!     mpirun -n 4 rows_f08 [EDGE [ROUNDS]]     EDGE: a power of 2, and a multiple of the processes
program rows
    use mpi_f08
    use iso_fortran_env, only: int64, real64
    implicit none

    integer, parameter :: panel = 16
    integer :: n = 256, rounds = 10
    integer :: rank, processes, mine, round, step, owner, below, above, i, j
    type(MPI_Datatype) :: of_all, of_mine
    real(real64), allocatable :: whole(:, :), heads(:, :), own(:, :), guest(:, :), c(:, :)
    real(real64) :: begin, time

    call MPI_Init()
    n = argument(1, n)
    rounds = argument(2, rounds)
    call MPI_Comm_size(MPI_COMM_WORLD, processes)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    if (mod(n, processes) /= 0 .or. n < panel .or. popcnt(n) /= 1) then
        print *, 'the edge is no power of 2, less than 16, or no multiple of the number of processes'
        call MPI_Abort(MPI_COMM_WORLD, 2)
    end if
    mine = n/processes
    below = mod(rank + processes - 1, processes)
    above = mod(rank + 1, processes)
    of_all = row_type(n)
    of_mine = row_type(mine)
    allocate (whole(n, n), heads(n, n), own(mine, n), guest(mine, n), c(mine, n))
    whole = 0
    heads = 0
    if (rank == 0) then
        do j = 1, n
            do i = 1, n
                whole(i, j) = element(i, j)
            end do
        end do
        heads = whole
    end if

    time = 0
    do round = 1, rounds
        begin = MPI_Wtime()
        call MPI_Scatter(whole, mine, of_all, own, mine, of_mine, 0, MPI_COMM_WORLD)
        call MPI_Bcast(heads, panel, of_all, 0, MPI_COMM_WORLD)
        time = time + MPI_Wtime() - begin
        guest = own
        do step = 0, processes - 1
            owner = mod(rank + step, processes)
            if (round == 1) c(:, owner*mine + 1:(owner + 1)*mine) = matmul(own, transpose(guest))
            begin = MPI_Wtime()
            call MPI_Sendrecv_replace(guest, mine, of_mine, below, 1, above, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
            time = time + MPI_Wtime() - begin
        end do
    end do
    begin = MPI_Wtime()
    call MPI_Gather(c, mine, of_mine, whole, mine, of_all, 0, MPI_COMM_WORLD)
    time = time + MPI_Wtime() - begin
    if (any(guest /= own)) call MPI_Abort(MPI_COMM_WORLD, 1)
    call report('own rows', c, rank*mine)
    call report('gathered', whole(:merge(n, 0, rank == 0), :), 0)
    call report('with the first rows', matmul(heads(:panel, :), transpose(own)), 0, rank*mine)
    call MPI_Allreduce(MPI_IN_PLACE, time, 1, MPI_REAL8, MPI_MAX, MPI_COMM_WORLD)
    if (rank == 0) print '(a, f0.3, a)', 'time: ', time/rounds*1000, ' ms for scatter, broadcast and ring'
    call MPI_Type_free(of_all)
    call MPI_Type_free(of_mine)
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

    ! Of a matrix that has so many rows, and n columns.
    type(MPI_Datatype) function row_type(height)
        integer, intent(in) :: height
        type(MPI_Datatype) :: row
        integer(MPI_ADDRESS_KIND) :: lb, extent
        call MPI_Type_get_extent(MPI_REAL8, lb, extent)
        call MPI_Type_vector(n, 1, height, MPI_REAL8, row)
        call MPI_Type_create_resized(row, lb, extent, row_type)
        call MPI_Type_commit(row_type)
        call MPI_Type_free(row)
    end function

    ! A matrix of Hadamard, each row times its number: the product of two different rows is 0.
    real(real64) function element(i, j)
        integer, intent(in) :: i, j
        element = merge(i, -i, poppar(iand(i - 1, j - 1)) == 0)
    end function
    real(real64) function dot(i, j)
        integer, intent(in) :: i, j
        dot = 0
        if (i == j) dot = real(n, real64)*i*i
    end function

    subroutine report(what, matrix, first_row, first_column)
        character(*), intent(in) :: what
        real(real64), intent(in) :: matrix(:, :)
        integer, intent(in) :: first_row
        integer, intent(in), optional :: first_column
        integer(int64) :: sum, total
        integer :: i, j, first, wrong
        first = 0
        if (present(first_column)) first = first_column
        wrong = 0
        sum = rank + 1
        do j = 1, size(matrix, 2)
            do i = 1, size(matrix, 1)
                sum = ieor(ishftc(sum, 7), transfer(matrix(i, j), sum))
                if (matrix(i, j) /= dot(first_row + i, first + j)) wrong = wrong + 1
            end do
        end do
        call MPI_Reduce(sum, total, 1, MPI_INTEGER8, MPI_BXOR, 0, MPI_COMM_WORLD)
        call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
        if (rank == 0) print '(a, a, z16.16, a, i0, a, a)', what, ': checksum ', total, ', ', wrong, ' wrong elements', &
            merge(': right', ': WRONG', wrong == 0)
        if (wrong /= 0) call MPI_Abort(MPI_COMM_WORLD, 1)
    end subroutine

end program

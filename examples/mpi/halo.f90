! Heat spreads in a periodic 3-D grid that is divided among processes. Each process has a cube of cells with one more layer around
! it, for its neighbours' cells, and exchanges the six faces of the cube before each step, by persistent requests.
!
!     mpirun -n 4 halo_f08 [CELLS [STEPS]]     CELLS: along an edge of each process's cube
program halo
    use mpi_f08
    use iso_fortran_env, only: int64, real64
    implicit none

    integer, parameter :: axes = 3, faces = 2*axes
    real(real64), parameter :: rate = 0.1_real64, pi = acos(-1.0_real64)

    integer :: n = 64, steps = 20
    integer :: dims(axes) = 0, place(axes), neighbour(faces), rank, processes, step, now, i
    type(MPI_Comm) :: grid
    type(MPI_Request) :: requests(2*faces, 2)
    real(real64), allocatable, asynchronous :: heat(:, :, :, :) ! the last index is 1 or 2, in turns
    real(real64) :: begin, time

    call MPI_Init()
    n = argument(1, n)
    steps = argument(2, steps)
    call MPI_Comm_size(MPI_COMM_WORLD, processes)
    call MPI_Dims_create(processes, axes, dims)
    call MPI_Cart_create(MPI_COMM_WORLD, axes, dims, [.true., .true., .true.], .false., grid)
    call MPI_Comm_rank(grid, rank)
    call MPI_Cart_coords(grid, rank, axes, place)
    do i = 1, axes
        call MPI_Cart_shift(grid, i - 1, 1, neighbour(2*i - 1), neighbour(2*i))
    end do

    allocate (heat(0:n + 1, 0:n + 1, 0:n + 1, 2))
    heat = 0
    call fill(heat(:, :, :, 1))
    call make_requests(heat(:, :, :, 1), requests(:, 1))
    call make_requests(heat(:, :, :, 2), requests(:, 2))
    time = 0
    do step = 1, steps
        now = 2 - mod(step, 2)
        begin = MPI_Wtime()
        call MPI_Startall(2*faces, requests(:, now))
        call MPI_Waitall(2*faces, requests(:, now), MPI_STATUSES_IGNORE)
        if (.not. MPI_ASYNC_PROTECTS_NONBLOCKING) call MPI_F_sync_reg(heat)
        time = time + MPI_Wtime() - begin
        call spread_heat(heat(:, :, :, now), heat(:, :, :, 3 - now))
    end do
    call report(heat(:, :, :, 1 + mod(steps, 2)))
    call MPI_Allreduce(MPI_IN_PLACE, time, 1, MPI_REAL8, MPI_MAX, grid)
    if (rank == 0) print '(a, f0.3, a)', 'time: ', time/steps*1000, ' ms for an exchange'
    do now = 1, 2
        do i = 1, 2*faces
            call MPI_Request_free(requests(i, now))
        end do
    end do
    call MPI_Comm_free(grid)
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

    ! The cells that are sent to a neighbour, or the layer that is received from it.
    type(MPI_Datatype) function face_type(face, is_sent)
        integer, intent(in) :: face
        logical, intent(in) :: is_sent
        integer :: axis, subsizes(axes), starts(axes)
        axis = (face + 1)/2
        subsizes = n
        subsizes(axis) = 1
        starts = 1
        if (mod(face, 2) == 0) then ! above
            starts(axis) = merge(n, n + 1, is_sent)
        else
            starts(axis) = merge(1, 0, is_sent)
        end if
        call MPI_Type_create_subarray(axes, [n + 2, n + 2, n + 2], subsizes, starts, MPI_ORDER_FORTRAN, MPI_REAL8, face_type)
        call MPI_Type_commit(face_type)
    end function

    ! A message that goes down arrives from above. Tags tell faces apart: both neighbours may be one process, or this one.
    subroutine make_requests(field, these)
        real(real64), asynchronous, contiguous :: field(:, :, :)
        type(MPI_Request), intent(out) :: these(2*faces)
        type(MPI_Datatype) :: in, out
        integer :: face
        do face = 1, faces
            in = face_type(face, .false.)
            out = face_type(face, .true.)
            call MPI_Recv_init(field, 1, in, neighbour(face), ieor(face - 1, 1), grid, these(face))
            call MPI_Send_init(field, 1, out, neighbour(face), face - 1, grid, these(faces + face))
            call MPI_Type_free(in)
            call MPI_Type_free(out)
        end do
    end subroutine

    ! One wave along each axis of the whole grid. It keeps its form and only becomes lower.
    real(real64) function wave(x, y, z)
        integer, intent(in) :: x, y, z
        wave = product(cos(2*pi*([x, y, z] - 1 + place*n)/(dims*n)))
    end function

    subroutine fill(field)
        real(real64), intent(inout) :: field(0:n + 1, 0:n + 1, 0:n + 1)
        integer :: x, y, z
        do z = 1, n
            do y = 1, n
                do x = 1, n
                    field(x, y, z) = wave(x, y, z)
                end do
            end do
        end do
    end subroutine

    subroutine spread_heat(from, to)
        real(real64), intent(in) :: from(0:n + 1, 0:n + 1, 0:n + 1)
        real(real64), intent(inout) :: to(0:n + 1, 0:n + 1, 0:n + 1)
        integer :: x, y, z
        do z = 1, n
            do y = 1, n
                do x = 1, n
                    to(x, y, z) = from(x, y, z) + rate*(from(x - 1, y, z) + from(x + 1, y, z) + from(x, y - 1, z) &
                                                        + from(x, y + 1, z) + from(x, y, z - 1) + from(x, y, z + 1) &
                                                        - 6*from(x, y, z))
                end do
            end do
        end do
    end subroutine

    ! A checksum of the bits of all cells, and the largest difference from what must come out.
    subroutine report(field)
        real(real64), intent(in) :: field(0:n + 1, 0:n + 1, 0:n + 1)
        integer(int64) :: sum, total
        real(real64) :: height, largest
        integer :: x, y, z
        logical :: right
        height = (1 + 2*rate*(cos(2*pi/(dims(1)*n)) + cos(2*pi/(dims(2)*n)) + cos(2*pi/(dims(3)*n)) - 3))**steps
        largest = 0
        sum = rank + 1
        do z = 1, n
            do y = 1, n
                do x = 1, n
                    sum = ieor(ishftc(sum, 7), transfer(field(x, y, z), sum))
                    largest = max(largest, abs(field(x, y, z) - height*wave(x, y, z)))
                end do
            end do
        end do
        call MPI_Reduce(sum, total, 1, MPI_INTEGER8, MPI_BXOR, 0, grid)
        call MPI_Allreduce(MPI_IN_PLACE, largest, 1, MPI_REAL8, MPI_MAX, grid)
        right = largest < 100*steps*epsilon(largest)
        if (rank == 0) print '(a, z16.16, a, es9.2, a)', 'one field: checksum ', total, ', largest error ', largest, &
            merge(': right', ': WRONG', right)
        if (.not. right) call MPI_Abort(MPI_COMM_WORLD, 1)
    end subroutine

end program

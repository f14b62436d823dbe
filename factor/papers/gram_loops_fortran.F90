! SPDX-License-Identifier: MIT
! The loops of gram_loops.h and the paper's code, single precision, in usual Fortran. UNIT: the suffix of names,
! for the SIMD unit of the compiler's options.
#define PASTE(a) a
#define NAMED(a) PASTE(a)PASTE(UNIT)

function NAMED(fortran_dot)(m, x, y) result(total) bind(c)
  use iso_c_binding
  integer(c_int64_t), value :: m
  real(c_float), intent(in) :: x(m), y(m)
  real(c_float) :: total
  total = dot_product(x, y)
end function

subroutine NAMED(fortran_subtract)(m, factor, v, x) bind(c)
  use iso_c_binding
  integer(c_int64_t), value :: m
  real(c_float), value :: factor
  real(c_float), intent(in) :: v(m)
  real(c_float), intent(inout) :: x(m)
  x = x - factor * v
end subroutine

function NAMED(fortran_subtract_dot)(m, factor, v, w, x) result(total) bind(c)
  use iso_c_binding
  integer(c_int64_t), value :: m
  real(c_float), value :: factor
  real(c_float), intent(in) :: v(m), w(m)
  real(c_float), intent(inout) :: x(m)
  real(c_float) :: total
  integer(c_int64_t) :: i
  total = 0
  do i = 1, m
    x(i) = x(i) - factor * v(i)
    total = total + w(i) * x(i)
  end do
end function

subroutine NAMED(fortran_subtract_dots)(m, v, w, x, sums) bind(c)
  use iso_c_binding
  integer(c_int64_t), value :: m
  type(c_ptr), intent(in) :: v(2), w(2), x(4)
  real(c_float), intent(inout) :: sums(4, 2)
  real(c_float), pointer, contiguous :: v1(:), v2(:), w1(:), w2(:), x1(:), x2(:), x3(:), x4(:)
  call c_f_pointer(v(1), v1, [m])
  call c_f_pointer(v(2), v2, [m])
  call c_f_pointer(w(1), w1, [m])
  call c_f_pointer(w(2), w2, [m])
  call c_f_pointer(x(1), x1, [m])
  call c_f_pointer(x(2), x2, [m])
  call c_f_pointer(x(3), x3, [m])
  call c_f_pointer(x(4), x4, [m])
  call columns(v1, v2, w1, w2, x1, x2, x3, x4)
contains
  subroutine columns(p, q, r, s, a, b, c, d)
    real(c_float), intent(in) :: p(m), q(m), r(m), s(m)
    real(c_float), intent(inout) :: a(m), b(m), c(m), d(m)
    real(c_float) :: f(4, 2), s1, s2, s3, s4, t1, t2, t3, t4
    integer(c_int64_t) :: i
    f = sums
    s1 = 0; s2 = 0; s3 = 0; s4 = 0
    t1 = 0; t2 = 0; t3 = 0; t4 = 0
    do i = 1, m
      a(i) = a(i) - f(1, 1) * p(i) - f(1, 2) * q(i)
      b(i) = b(i) - f(2, 1) * p(i) - f(2, 2) * q(i)
      c(i) = c(i) - f(3, 1) * p(i) - f(3, 2) * q(i)
      d(i) = d(i) - f(4, 1) * p(i) - f(4, 2) * q(i)
      s1 = s1 + r(i) * a(i)
      s2 = s2 + r(i) * b(i)
      s3 = s3 + r(i) * c(i)
      s4 = s4 + r(i) * d(i)
      t1 = t1 + s(i) * a(i)
      t2 = t2 + s(i) * b(i)
      t3 = t3 + s(i) * c(i)
      t4 = t4 + s(i) * d(i)
    end do
    sums(:, 1) = [s1, s2, s3, s4]
    sums(:, 2) = [t1, t2, t3, t4]
  end subroutine
end subroutine

! Listing 1 of Brandes et al. (2012).
subroutine NAMED(fortran_plain)(m, n, q, ldq, r, ldr) bind(c)
  use iso_c_binding
  integer(c_int64_t), value :: m, n, ldq, ldr
  real(c_float), intent(inout) :: q(ldq, n), r(ldr, n)
  real(c_float) :: total
  integer(c_int64_t) :: i, j, k
  do i = 1, n
    do j = i, n
      total = 0
      do k = 1, m
        total = total + q(k, i) * q(k, j)
      end do
      r(i, j) = total
    end do
    r(i, i) = sqrt(r(i, i))
    do k = 1, m
      q(k, i) = q(k, i) / r(i, i)
    end do
    do j = i + 1, n
      r(i, j) = r(i, j) / r(i, i)
    end do
    do j = i + 1, n
      do k = 1, m
        q(k, j) = q(k, j) - r(i, j) * q(k, i)
      end do
    end do
  end do
end subroutine

#!/bin/sh
# Stands in for qemu-img: this suite's arrays hold no bytes, so there is nothing to carry. It takes a moment, and fails now and then.
[ "$1" = convert ] || exit 0
printf '    (1.00/100%%)\r'
dice=$(od -An -N1 -tu1 /dev/urandom)
sleep "0.$((dice % 6))"
[ $((dice % 8)) -ne 0 ] || { echo 'the copy was told to fail' >&2; exit 1; }
printf '    (100.00/100%%)\n'

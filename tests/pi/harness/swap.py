# Swaps two names of files or folders, again and again, until it is killed.
#
#   python3 swap.py docs/d docs/link [src/x docs/x] ...
import ctypes
import os
import sys

AT_FDCWD, RENAME_EXCHANGE = -100, 2
libc = ctypes.CDLL(None, use_errno=True)
names = [os.fsencode(name) for name in sys.argv[1:]]
print("begun", flush=True)
while True:
    for one, other in zip(names[::2], names[1::2]):
        libc.renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE)

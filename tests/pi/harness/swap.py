# Swaps two names of files or folders, again and again, until it is killed. It rests now and then: some calls find the names
# in their places.
#
#   python3 swap.py docs/d docs/link [src/x docs/x] ...
import ctypes
import os
import random
import sys
import time

AT_FDCWD, RENAME_EXCHANGE = -100, 2
libc = ctypes.CDLL(None, use_errno=True)
names = [os.fsencode(name) for name in sys.argv[1:]]
print("begun", flush=True)
while True:
    for one, other in zip(names[::2], names[1::2]):
        libc.renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE)
    if random.random() < 0.0002:
        time.sleep(0.005)

# The world outside of a sandbox: listeners that execute, and a process that can be attacked.
#
# Reads one JSON object from stdin: `folder` (unix sockets and pipes), `sockets` (paths of stream sockets), `ports` (the number
# of ports). Prints one JSON object with what it offers. Then answers each line on stdin with what happened so far.
import ctypes
import json
import os
import pty
import select
import socket
import sys
import threading

wanted = json.loads(sys.stdin.readline())
folder, hits, lock = wanted["folder"], [], threading.Lock()


def hit(name):
    with lock:
        hits.append(name)


def accepts(name, server):
    def run():
        while True:
            connection, _ = server.accept()
            hit(name)
            connection.close()

    server.listen(16)
    threading.Thread(target=run, daemon=True).start()


def receives(name, server):
    def run():
        while True:
            server.recv(4096)
            hit(name)

    threading.Thread(target=run, daemon=True).start()


def unix(kind, address):
    server = socket.socket(socket.AF_UNIX, kind)
    server.bind(address)
    return server


for path in wanted["sockets"]:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    accepts(path, unix(socket.SOCK_STREAM, path))
receives("datagram", unix(socket.SOCK_DGRAM, folder + "/datagram"))
abstract = "ways-%d" % os.getpid()
accepts("abstract", unix(socket.SOCK_STREAM, "\0" + abstract))
receives("abstract datagram", unix(socket.SOCK_DGRAM, "\0" + abstract + "-d"))

ports = []
for _ in range(wanted["ports"]):
    server = socket.socket(socket.AF_INET6)
    server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    server.bind(("::", 0))
    port = server.getsockname()[1]
    accepts(port, server)
    packets = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    packets.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    packets.bind(("::", port))
    receives(port, packets)
    ports.append(port)

os.mkfifo(folder + "/pipe")


def reads_pipe():
    while True:
        with open(folder + "/pipe") as pipe:
            if pipe.read():
                hit("pipe")


threading.Thread(target=reads_pipe, daemon=True).start()

# Memory that others may try to write, a terminal, an open file.
buffers = [ctypes.create_string_buffer(b"untouched") for _ in range(4)]
controlling, terminal = pty.openpty()
opened = os.open(folder + "/opened", os.O_RDWR | os.O_CREAT)

offer = {
    "pid": os.getpid(),
    "abstract": abstract,
    "ports": ports,
    "buffers": [ctypes.addressof(buffer) for buffer in buffers],
    "terminal": os.ttyname(terminal),
    "opened": opened,
}
print(json.dumps(offer), flush=True)
typed = b""
for line in sys.stdin:
    while select.select([controlling], [], [], 0)[0]:
        typed += os.read(controlling, 4096)
    values = [buffer.value.decode() for buffer in buffers]
    print(json.dumps({"hits": hits, "buffers": values, "typed": typed.decode()}), flush=True)

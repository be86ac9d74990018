"""The file system of the third boot: Debian's systemd as the first process, and nothing of it but what the units of systemd/ need."""

import os
import subprocess

import guest

# The rest of sysinit.target and basic.target is for machines with disks, people and networks.
UNITS = (
    "basic.target", "paths.target", "shutdown.target", "slices.target", "sockets.target", "sysinit.target", "timers.target",
    "systemd-journald.service", "systemd-journald.socket", "systemd-journald-dev-log.socket",
)  # fmt: skip
# Links where Debian has folders and links: the guest has one folder of programs and one of libraries.
LINKS = {"sbin": "bin", "usr/bin": "../bin", "usr/sbin": "../bin", "usr/lib": "../lib", "usr/local/bin": "../../bin"}
FILES = {
    "etc/passwd": "root:x:0:0::/root:/bin/sh\nvecud:x:901:901::/var/lib/vecud:/bin/sh\n",
    "etc/group": "root:x:0:\nvecud:x:901:\n",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\n",
    "etc/machine-id": "0123456789abcdef0123456789abcdef\n",
    "etc/os-release": "ID=rt-vm\nPRETTY_NAME=rt-vm\n",
    "etc/systemd/journald.conf": "[Journal]\nStorage=volatile\n",
    # Shorter than the unit's own, so that the machine is done sooner.
    "etc/systemd/system/vecud.service.d/short.conf": "[Service]\nWatchdogSec=8\n",
    "etc/systemd/system/rt-vm.service": "[Unit]\nRequires=systemd-journald.service\nAfter=basic.target systemd-journald.service\n[Service]\nType=oneshot\nTimeoutStartSec=infinity\n"
    "ExecStart=/service\nStandardOutput=tty\nStandardError=tty\nTTYPath=/dev/ttyS0\n",
    "etc/systemd/system/default.target": "[Unit]\nRequires=basic.target\nWants=rt-vm.service\nAfter=basic.target\nAllowIsolate=yes\n",
}
ARGUMENTS = "rdinit=/lib/systemd/systemd systemd.show_status=false systemd.log_level=warning"


def make_tree(packages, vecud, scratch):
    """Lays out the file system in a folder and gives its name."""
    tree = f"{scratch}/service-tree"
    for folder in ("dev", "proc", "sys", "run", "tmp", "root", "home", "var/lib", "var/cache", "var/log", "var/tmp", "usr/local"):
        os.makedirs(f"{tree}/{folder}")
    for folder in ("bin", "lib"):
        os.makedirs(f"{tree}/{folder}")
    for link, to in LINKS.items():
        os.symlink(to, f"{tree}/{link}")
    for folder in ("tmp", "var/tmp"):
        os.chmod(f"{tree}/{folder}", 0o1777)
    for name, text in FILES.items():
        os.makedirs(os.path.dirname(f"{tree}/{name}"), exist_ok=True)
        with open(f"{tree}/{name}", "w") as file:
            file.write(text)
    guest.put(f"{guest.HERE}/service", f"{tree}/service")
    guest.put(f"{guest.HERE}/stages.sh", f"{tree}/stages.sh")
    for unit in ("vecud.service", "vecud.socket", "vecud@.service"):
        guest.put(f"{guest.ROOT}/systemd/{unit}", f"{tree}/etc/systemd/system/{unit}")
    for unit in UNITS:
        guest.put(packages.file(f"lib/systemd/system/{unit}"), f"{tree}/lib/systemd/system/{unit}")
    programs = guest.put_programs(packages, vecud, tree, ("busybox", "systemctl", "journalctl", "curl"))
    # Since 255 there is a third one.
    for name in ("systemd", "systemd-journald", "systemd-executor"):
        program = packages.file(f"lib/systemd/{name}")
        if program:
            guest.put(program, f"{tree}/lib/systemd/{name}")
            programs.append(program)
    applets = subprocess.run([packages.tool("busybox"), "--list"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    for applet in applets:
        if not os.path.lexists(f"{tree}/bin/{applet}"):
            os.symlink("busybox", f"{tree}/bin/{applet}")
    guest.put_libraries(packages, tree, programs + guest.put_rigs(vecud, scratch, f"{tree}/etc/vecud"))
    # engine.toml and others lie beside the folder of examples there.
    return tree

"""What the virtual machine is made of, from Debian's archive: its kernel, QEMU, busybox, rt-tests, systemd, curl.

What is installed is used. All the rest is downloaded and unpacked into the scratch directory, with a list of packages of
its own there: nothing is installed, upgraded or removed, and nobody has to be root."""

import os
import re
import shutil
import subprocess
import tarfile

TOOLS = {
    "qemu-system-x86_64": "qemu-system-x86",
    "busybox": "busybox-static",
    "chrt": "util-linux",
    "cyclictest": "rt-tests",
    "pi_stress": "rt-tests",
    "systemctl": "systemd",
    "journalctl": "systemd",
    "curl": "curl",
}
# What is no program in PATH, and where its package puts it.
FILES = {
    "lib/systemd/systemd": "systemd",
    "lib/systemd/systemd-journald": "systemd",
}
KERNEL = re.compile(r"linux-image-(\d+)\.(\d+)\.(\d+)(?:-(\d+))?(\+deb\d+)?-rt-amd64")
FETCH_SECONDS = 240


class Unavailable(Exception):
    """It cannot be had here; says why."""


class Packages:
    def __init__(self, scratch, kept=None):
        self.root = f"{scratch}/root"
        self.debs = kept or f"{scratch}/debs"
        for folder in (self.root, self.debs, f"{scratch}/apt/lists/partial", f"{scratch}/apt/cache/archives/partial"):
            os.makedirs(folder, exist_ok=True)
        self.debs = os.path.abspath(self.debs)
        settings = {
            "Dir::State::lists": f"{scratch}/apt/lists",
            "Dir::Cache": f"{scratch}/apt/cache",
            "Debug::NoLocking": "1",
            "APT::Sandbox::User": "",  # its own user could not write here
            "Acquire::Languages": "none",
            "Acquire::Retries": "2",
            "Acquire::http::Timeout": "30",
        }
        self.options = [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]

    def apt(self, *command):
        program, *arguments = command
        try:
            done = subprocess.run(
                [program, *self.options, *arguments], cwd=self.debs, timeout=FETCH_SECONDS, text=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                env={**os.environ, "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"},
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise Unavailable(f"{' '.join(command[:2])} took more than {FETCH_SECONDS} s") from None
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines() or ["without a word"]
            raise Unavailable(f"{' '.join(command[:2])} has failed: {lines[-1]}")
        return done.stdout

    def fetch(self):
        """Downloads and unpacks what is missing; gives the name of the kernel's package."""
        for program in ("apt-get", "apt-cache", "dpkg-deb"):
            if not shutil.which(program):
                raise Unavailable(f"there is no {program}: this needs Debian or a relative")
        self.apt("apt-get", "-q", "update")
        kernel = self.newest_kernel()
        missing = {package for tool, package in TOOLS.items() if not shutil.which(tool)}
        missing = sorted(missing | {package for file, package in FILES.items() if not self.file(file)})
        with_dependencies = []
        if missing:
            plan = self.apt("apt-get", "-s", "--no-install-recommends", "install", *missing)
            with_dependencies = re.findall(r"^Inst (\S+)", plan, re.M)
        # Python is there: it runs this. rt-tests wants it for scripts that are not used.
        wanted = [kernel, *(package for package in with_dependencies if not re.match(r"(lib)?python3", package))]
        self.apt("apt-get", "-q", "download", *wanted)
        for package in wanted:
            file = self.newest_file(package)
            if package == kernel:
                self.unpack_kernel(file)
            else:
                subprocess.run(["dpkg-deb", "-x", file, self.root], check=True)
        return kernel

    def newest_file(self, package):
        files = [f"{self.debs}/{name}" for name in os.listdir(self.debs) if name.startswith(f"{package}_") and name.endswith(".deb")]
        if not files:
            raise Unavailable(f"apt-get download has not brought {package}")
        return max(files, key=os.path.getmtime)

    def newest_kernel(self):
        names = self.apt("apt-cache", "pkgnames", "linux-image-").split()
        kernels = [(match, name) for name in names if (match := KERNEL.fullmatch(name))]
        if not kernels:
            raise Unavailable("the archive has no linux-image-*-rt-amd64: no network, or not Debian")
        return max(kernels, key=lambda kernel: [int(number or 0) for number in kernel[0].groups()[:4]])[1]

    def unpack_kernel(self, file):
        """Only the kernel itself: what runs there needs none of its modules."""
        with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", file], stdout=subprocess.PIPE) as archive:
            with tarfile.open(fileobj=archive.stdout, mode="r|") as tar:
                for member in tar:
                    if member.isfile() and "/boot/vmlinuz-" in f"/{member.name}":
                        with open(f"{self.root}/vmlinuz", "wb") as out:
                            shutil.copyfileobj(tar.extractfile(member), out)
                        break
            archive.kill()
        if not os.path.exists(f"{self.root}/vmlinuz"):
            raise Unavailable(f"{os.path.basename(file)} holds no kernel")

    def tool(self, name):
        """Where a program is."""
        found = shutil.which(name)
        places = [f"{self.root}/{folder}/{name}" for folder in ("usr/bin", "bin", "usr/sbin", "sbin")]
        found = found or next((place for place in places if os.path.exists(place)), None)
        if not found:
            raise Unavailable(f"{name} is not in the package {TOOLS[name]}")
        return found

    def file(self, name):
        """Where a file of a package is, by its path; none if it is nowhere."""
        places = (f"{root}/{name}" for root in ("", "/usr", self.root, f"{self.root}/usr"))
        return next((place for place in places if os.path.exists(place)), None)

    def environment(self):
        """For programs that lie in the scratch directory: their libraries, and QEMU's modules."""
        libraries = [f"{self.root}/{folder}" for folder in ("usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu/systemd")]
        environment = {**os.environ, "LD_LIBRARY_PATH": ":".join(libraries)}
        if os.path.isdir(f"{libraries[0]}/qemu"):
            environment["QEMU_MODULE_DIR"] = f"{libraries[0]}/qemu"
        return environment

    def firmware(self):
        """QEMU's options for its firmware."""
        folders = [f"{self.root}/usr/{folder}" for folder in ("share/qemu", "share/seabios", "lib/ipxe/qemu")]
        return [word for folder in folders if os.path.isdir(folder) for word in ("-L", folder)]

"""The virtual machine: its file system in memory, its run, and what comes back from it."""

import base64
import glob
import gzip
import io
import os
import re
import shutil
import stat
import subprocess
import tarfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
RIGS = (
    "examples/engine.toml",
    "examples/engine_cs.toml",
    "examples/suspension.toml",
    "bench/rt-vm/one_clock.toml",
    "bench/rt-vm/two_clocks.toml",
    "bench/rt-vm/inheritance.toml",
)
FMUS = ("engine_plant", "engine_ecu", "engine_control", "engine_cs", "suspension", "suspension_control", "mixer", "tracer")
LIBRARIES = "lib/x86_64-linux-gnu"  # where Debian's loader looks without being told
# Each instruction takes 4 ns of the guest's time, and time in which it sleeps is jumped over: what the host does
# besides does not matter.
CLOCK = ["-accel", "tcg", "-icount", "shift=2,sleep=off", "-rtc", "clock=vm,base=2026-01-01"]
COMMAND_LINE = "console=ttyS0 quiet panic=-1 tsc=reliable nokaslr norandmaps"


class Hung(Exception):
    """The guest did not come to its end."""


def needed_libraries(program, environment):
    """Libraries of a program, and its loader."""
    output = subprocess.run(["ldd", program], env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    missing = re.findall(r"^\s*(\S+) => not found", output, re.M)
    if missing:
        raise FileNotFoundError(f"{program} needs {', '.join(missing)}")
    return re.findall(r"=> (/\S+)", output), re.findall(r"^\s*(/\S+) \(", output, re.M)


def put(source, target):
    os.makedirs(os.path.dirname(target), exist_ok=True)
    shutil.copy(source, target)


def make_tree(packages, vecud, scratch, parameters):
    """Lays out the file system of the first two boots in a folder and gives its name."""
    tree = f"{scratch}/tree"
    for folder in ("dev", "proc", "sys", "tmp"):
        os.makedirs(f"{tree}/{folder}")
    for file in ("init", "stages.sh", "measurements.sh", "loops.sh"):
        put(f"{HERE}/{file}", f"{tree}/{file}")
    with open(f"{tree}/parameters", "w") as file:
        file.writelines(f"{name}={value}\n" for name, value in parameters.items())
    programs = put_programs(packages, vecud, tree, ("busybox", "chrt", "cyclictest", "pi_stress"))
    put_libraries(packages, tree, programs + put_rigs(vecud, scratch, f"{tree}/vecud"))
    return tree


def put_programs(packages, vecud, tree, names):
    programs = [vecud, *(packages.tool(name) for name in names)]
    for program in programs:
        put(program, f"{tree}/bin/{os.path.basename(program)}")
    os.rename(f"{tree}/bin/{os.path.basename(vecud)}", f"{tree}/bin/vecud")
    return programs


def put_rigs(vecud, scratch, folder):
    """Rigs, with their FMUs; gives the FMUs' libraries. The guest has no compiler: vecud builds the FMUs here, and there they are
    FMUs with a binary."""
    cache, libraries = f"{scratch}/cache", []
    for rig in RIGS:
        check = subprocess.run(
            [vecud, "check", f"{ROOT}/{rig}"], env={**os.environ, "VECUD_CACHE": cache},
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        if check.returncode != 0:
            raise RuntimeError(f"vecud check {rig} has failed here:\n{check.stderr}")
        put(f"{ROOT}/{rig}", f"{folder}/{rig}")
    for fmu in FMUS:
        (library,) = glob.glob(f"{cache}/lib-*/files/{fmu}.so")
        put(f"{ROOT}/fmus/{fmu}/modelDescription.xml", f"{folder}/fmus/{fmu}/modelDescription.xml")
        put(library, f"{folder}/fmus/{fmu}/binaries/x86_64-linux/{fmu}.so")
        libraries.append(library)
    return libraries


def put_libraries(packages, tree, programs):
    for program in programs:
        libraries, loaders = needed_libraries(program, packages.environment())
        for library in libraries:
            put(library, f"{tree}/{LIBRARIES}/{os.path.basename(library)}")
        for loader in loaders:
            put(loader, f"{tree}{loader}")


def pack(tree, file):
    """The tree as an archive that the kernel unpacks into memory (cpio, format "newc")."""
    with open(file, "wb") as out:

        def entry(number, name, mode, content=b"", device=(0, 0)):
            name = name.encode() + b"\0"
            fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, *device, len(name), 0)
            for part in (b"070701" + b"".join(b"%08X" % field for field in fields) + name, content):
                out.write(part + b"\0" * (-len(part) % 4))

        number = 0
        for folder, folders, files in os.walk(tree):
            for name in sorted(folders) + sorted(files):
                path = os.path.join(folder, name)
                number += 1
                content = b""
                if os.path.islink(path):
                    entry(number, os.path.relpath(path, tree), stat.S_IFLNK | 0o777, os.readlink(path).encode())
                    continue
                if os.path.isfile(path):
                    with open(path, "rb") as file:
                        content = file.read()
                entry(number, os.path.relpath(path, tree), os.stat(path).st_mode, content)
        entry(number + 1, "dev/console", stat.S_IFCHR | 0o600, device=(5, 1))
        entry(0, "TRAILER!!!", 0)


def boot(packages, folder, limit, say, over, initramfs, memory=512, further=""):
    """Runs the machine, with its files in this folder, until it turns itself off, or `over` is set; stage name -> file name -> content."""
    os.mkdir(folder)
    serial, results = f"{folder}/serial", f"{folder}/results"
    for file in (serial, results):
        open(file, "w").close()
    command = [
        packages.tool("qemu-system-x86_64"), *packages.firmware(), *CLOCK,
        "-machine", "pc", "-cpu", "max", "-smp", "1", "-m", str(memory), "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
        "-serial", f"file:{serial}", "-serial", f"file:{results}",
        "-kernel", f"{packages.root}/vmlinuz", "-initrd", initramfs, "-append", f"{COMMAND_LINE} {further}".strip(),
    ]  # fmt: skip
    began, shown = time.monotonic(), 0
    with open(f"{folder}/qemu.log", "w") as log:
        machine = subprocess.Popen(
            command, env=packages.environment(), stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
        try:
            while machine.poll() is None:
                if time.monotonic() - began > limit:
                    raise Hung(f"the guest was not done after {limit:g} s, in the stage that was named last")
                if over.is_set():
                    raise Hung("another boot has failed, or somebody wanted the end")
                time.sleep(0.25)
                names = stages_begun(results)
                for name in names[shown:]:
                    say(f"  {time.monotonic() - began:5.0f} s  {name}")
                shown = len(names)
        finally:
            if machine.poll() is None:
                machine.kill()
                machine.wait()
    if machine.returncode != 0:
        raise Hung(f"QEMU ended with {machine.returncode}")
    if "over" not in stages_begun(results):
        raise Hung("the guest turned itself off before its end")
    return unpack(results)


def stages_begun(results):
    with open(results, errors="replace") as file:
        return re.findall(r"^@ (\w+)\r?$", file.read(), re.M)


def unpack(results):
    with open(results, errors="replace") as file:
        text = file.read()
    stages = {}
    for name, content in re.findall(r"^@ (\w+)\r?\n([^@]*)^@\r?$", text, re.M):
        stages[name] = files = {}
        with tarfile.open(fileobj=io.BytesIO(gzip.decompress(base64.b64decode(content)))) as tar:
            for member in tar:
                if member.isfile():
                    files[os.path.basename(member.name)] = tar.extractfile(member).read().decode(errors="replace")
    return stages


def last_words(folder, lines=40):
    """The end of the serial console, and QEMU's own words."""
    words = []
    for name in ("serial", "qemu.log"):
        if os.path.exists(f"{folder}/{name}"):
            with open(f"{folder}/{name}", errors="replace") as file:
                words += file.read().splitlines()[-lines:]
    return "\n".join(words)

"""Build backend (PEP 517) of the package `weft`. It needs no other package, so `pip install ./python` works offline.

The wheel contains the Python files, and the shared library and the mesh reader that `./run` built. Without a
build, the wheel has none, and the package looks for the library elsewhere (weft/_library.py). packaging/wheel.sh
names a folder in $WEFT_PREFIX, where all that is installed lies: that goes into the wheel, below weft/prefix, and the
programs become entry points.
"""

import base64
import hashlib
import os
import re
import sysconfig
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("WEFT_BUILD", os.path.join(HERE, "..", "build"))
PREFIX = os.environ.get("WEFT_PREFIX")


def _project():
    """The fields of [project], its dependencies, and its extras: {name: dependencies}."""
    with open(os.path.join(HERE, "pyproject.toml"), encoding="utf-8") as file:
        text = file.read()
    fields = dict(re.findall(r'^([a-z-]+) = "(.*)"$', text, re.MULTILINE))
    lists = {name: re.findall(r'"([^"]*)"', values)
             for name, values in re.findall(r"^([a-z0-9-]+) = \[(.*)\]$", text, re.MULTILINE)}
    extras = re.findall(r"^([a-z0-9-]+) = ", text.split("[project.optional-dependencies]")[1], re.MULTILINE)
    return fields, lists["dependencies"], {name: lists[name] for name in extras}


def _metadata(licenses):
    fields, dependencies, extras = _project()
    lines = ["Metadata-Version: 2.4", "Name: " + fields["name"], "Version: " + fields["version"],
             "Summary: " + fields["description"], "Requires-Python: " + fields["requires-python"],
             "License-Expression: " + fields["license"]]
    lines += ["License-File: " + name for name in licenses]
    lines += ["Requires-Dist: " + name for name in dependencies]
    for extra, names in extras.items():
        lines += ["Provides-Extra: " + extra] + ["Requires-Dist: %s; extra == '%s'" % (name, extra) for name in names]
    return "\n".join(lines) + "\n"


def _below(folder):
    """Files below a folder: (path, name from there), in order."""
    found = [os.path.join(place, name) for place, _, names in os.walk(folder) for name in names]
    return [(path, os.path.relpath(path, folder)) for path in sorted(found)]


def _binaries():
    """Files of the build that go into the wheel: (path, name below weft/)."""
    if PREFIX:
        return [(path, "prefix/" + name) for path, name in _below(PREFIX)]
    major_minor = ".".join(_project()[0]["version"].split(".")[:2])
    library = "libweft.so." + major_minor
    found = [(os.path.join(BUILD, library), library), (os.path.join(BUILD, "weft-gmsh"), "weft-gmsh")]
    return [(path, name) for path, name in found if os.path.exists(path)]


def _entry_points():
    """The text of entry_points.txt: programs, which python/_weft_programs.py starts; "" where there are none."""
    folder = os.path.join(PREFIX or "", "bin")
    if not PREFIX:
        return ""
    return "[console_scripts]\n" + "".join("%s = _weft_programs:run\n" % name for name in sorted(os.listdir(folder)))


def _tag():
    if not _binaries():
        return "py3-none-any"
    return "py3-none-" + re.sub("[-.]", "_", sysconfig.get_platform())


def _read(path):
    with open(path, "rb") as file:
        return file.read()


def _write_wheel(folder, files):
    """files: [(name in the wheel, bytes, mode)]"""
    fields = _project()[0]
    info = "%s-%s.dist-info/" % (fields["name"], fields["version"])
    wheel = "Wheel-Version: 1.0\nGenerator: build_wheel\nRoot-Is-Purelib: %s\nTag: %s\n" % (
        "false" if _binaries() else "true", _tag())
    licenses = _below(os.path.join(PREFIX, "share", "doc", "weft")) if PREFIX else []
    files = files + [(info + "METADATA", _metadata([name for _, name in licenses]).encode(), 0o644),
                     (info + "WHEEL", wheel.encode(), 0o644)]
    files += [(info + "licenses/" + name, _read(path), 0o644) for path, name in licenses]
    if _entry_points():
        files.append((info + "entry_points.txt", _entry_points().encode(), 0o644))
    record = ""
    name = "%s-%s-%s.whl" % (fields["name"], fields["version"], _tag())
    with zipfile.ZipFile(os.path.join(folder, name), "w", zipfile.ZIP_DEFLATED) as archive:
        def add(path, data, mode):
            entry = zipfile.ZipInfo(path)
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
        for path, data, mode in files:
            add(path, data, mode)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record += "%s,sha256=%s,%d\n" % (path, digest, len(data))
        add(info + "RECORD", (record + info + "RECORD,,\n").encode(), 0o644)
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    package = os.path.join(HERE, "weft")
    files = [("weft/" + name, _read(os.path.join(package, name)), 0o644) for name in sorted(os.listdir(package))
             if name.endswith(".py") or name == "py.typed"]
    if PREFIX:
        files.append(("_weft_programs.py", _read(os.path.join(HERE, "_weft_programs.py")), 0o644))
    for path, name in _binaries():
        files.append(("weft/" + name, _read(path), 0o755 if os.access(path, os.X_OK) else 0o644))
    return _write_wheel(wheel_directory, files)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return _write_wheel(wheel_directory, [("weft.pth", (HERE + "\n").encode(), 0o644)])


def build_sdist(sdist_directory, config_settings=None):
    raise NotImplementedError("Weft has no source distribution of its package: clone the project, "
                              "build it with ./run, then `pip install ./python`")

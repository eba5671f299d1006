"""Build backend (PEP 517) of the package `weft`. It needs no other package, so `pip install ./python` works offline.

The wheel contains the Python files, and the shared library and the mesh reader that `./run` built. Without a
build, the wheel has none, and the package looks for the library elsewhere (weft/_library.py).
"""

import base64
import hashlib
import os
import re
import sysconfig
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("WEFT_BUILD", os.path.join(HERE, "..", "build"))


def _project():
    with open(os.path.join(HERE, "pyproject.toml"), encoding="utf-8") as file:
        text = file.read()
    fields = dict(re.findall(r'^([a-z-]+) = "(.*)"$', text, re.MULTILINE))
    dependencies = re.search(r"^dependencies = \[(.*)\]$", text, re.MULTILINE).group(1)
    return fields, re.findall(r'"([^"]*)"', dependencies)


def _metadata():
    fields, dependencies = _project()
    lines = ["Metadata-Version: 2.1", "Name: " + fields["name"], "Version: " + fields["version"],
             "Summary: " + fields["description"], "Requires-Python: " + fields["requires-python"]]
    return "\n".join(lines + ["Requires-Dist: " + name for name in dependencies]) + "\n"


def _binaries():
    """Files of the build that go into the wheel: (path, name below weft/)."""
    major_minor = ".".join(_project()[0]["version"].split(".")[:2])
    library = "libweft.so." + major_minor
    found = [(os.path.join(BUILD, library), library), (os.path.join(BUILD, "weft-gmsh"), "weft-gmsh")]
    return [(path, name) for path, name in found if os.path.exists(path)]


def _tag():
    if not _binaries():
        return "py3-none-any"
    return "py3-none-" + re.sub("[-.]", "_", sysconfig.get_platform())


def _write_wheel(folder, files):
    """files: [(name in the wheel, bytes, mode)]"""
    fields, _ = _project()
    info = "%s-%s.dist-info/" % (fields["name"], fields["version"])
    wheel = "Wheel-Version: 1.0\nGenerator: build_wheel\nRoot-Is-Purelib: %s\nTag: %s\n" % (
        "false" if _binaries() else "true", _tag())
    files = files + [(info + "METADATA", _metadata().encode(), 0o644),
                     (info + "WHEEL", wheel.encode(), 0o644)]
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
    files = []
    package = os.path.join(HERE, "weft")
    for name in sorted(os.listdir(package)):
        if name.endswith(".py") or name == "py.typed":
            with open(os.path.join(package, name), "rb") as file:
                files.append(("weft/" + name, file.read(), 0o644))
    for path, name in _binaries():
        with open(path, "rb") as file:
            files.append(("weft/" + name, file.read(), 0o755))
    return _write_wheel(wheel_directory, files)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return _write_wheel(wheel_directory, [("weft.pth", (HERE + "\n").encode(), 0o644)])


def build_sdist(sdist_directory, config_settings=None):
    raise NotImplementedError("Weft has no source distribution of its package: clone the project, "
                              "build it with ./run, then `pip install ./python`")

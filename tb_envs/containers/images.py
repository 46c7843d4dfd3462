"""Server images: found by the name that their source gives them, built where they are missing.

An image is made of what is on this machine, with no registry: its Python and libraries as one layer that all domains
share, a domain's files as another. Or the files are laid over a base that is named. Either way the new image has to
show, in a container without a network, that it answers as this machine does, before it gets its name.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tb_envs.containers.engine import LABEL, OWNED, engine, in_words, sdk
from tb_envs.containers.interpreter import pack_libraries, pack_python
from tb_envs.containers.owner import owner
from tb_envs.containers.packer import SITE, Packer
from tb_envs.containers.prune import Leftover
from tb_envs.containers.server import MANIFEST, SEED
from tb_envs.containers.source import PROJECT, Source, source_of
from tb_envs.errors import BackendError, UsageError
from tb_envs.registration import domain_names

PYTHON = f"{PROJECT}/python"
SCRATCH = "scratch"
"""In place of a base: nothing, and this machine's Python on it."""
CODE = "app/code"
PROOF = "import tb_envs.containers.proof as p; p.main()"


@dataclass(frozen=True)
class Image:
    """A domain's image.

    Attributes:
        domain: whose.
        name: with the tag.
        base: what it was built from.
        size: in bytes, shared layers included.
        built: whether it was built just now.
    """

    domain: str
    name: str
    base: str
    size: int
    built: bool = False


def find_image(source: Source) -> Image | None:
    """The image of this source, if the engine has it."""
    found = _get(source.image)
    return None if found is None else _describe(source.image, found)


def list_images() -> list[Image]:
    """All of this project's domain images that the engine has, of today's source or not."""
    with in_words("listing images"):
        found: list[Any] = engine().images.list(filters={"label": f"{LABEL}.domain"})
    listed = [_describe(name, item) for item in found for name in item.tags if name.startswith(f"{PROJECT}/")]
    return sorted(listed, key=lambda item: item.name)


def old_images() -> list[Leftover]:
    """Images of ours that no installed domain's source gives today, and layers of Python that none of them needs."""
    sources = [source_of(name) for name in domain_names()]
    used = {source.image for source in sources} | {_python_name(source) for source in sources}
    found: list[Leftover] = []
    for label in ("domain", "python"):
        with in_words("listing images"):
            listed: list[Any] = engine().images.list(filters={"label": f"{LABEL}.{label}"})
        for item in listed:
            names = [name for name in item.tags if name.startswith(f"{PROJECT}/")] or ([] if item.tags else [item.id])
            found += [Leftover("image", name, "", "") for name in names if name not in used]
    return sorted(set(found))


def build_image(source: Source, base: str = "", tell: Callable[[str], None] = lambda text: None) -> Image:
    """The image of this source: the one that is there, if it was built from the same base, or a new one.

    Args:
        source: what goes into it.
        base: an image that has Python, of this machine's version; empty for this machine's own Python.
        tell: hears what is being done.

    Raises:
        UsageError: the base is not there, or cannot run the domain.
        BackendError: the engine failed.
    """
    based = _get(base) if base else None
    known = _get(source.image)
    if known is not None and known.labels.get(f"{LABEL}.below") == (based.id if based else SCRATCH):
        return _describe(source.image, known)
    if base and based is None:
        raise UsageError(f"the engine has no image {base}; where a registry is reachable: docker pull {base}")
    below = base or _python(source, tell)
    tell(f"{source.image}: {len(source.files)} files on {below}")
    made = _commit(source, below, base, based.id if based else SCRATCH)
    try:
        _prove(made, source, base)
    except BaseException:
        with in_words("removing what did not prove right"):
            engine().images.remove(made, force=True)
        raise
    with in_words("naming the image"):
        found: Any = engine().images.get(made)
        found.tag(*source.image.split(":"))
        found.reload()
    return _describe(source.image, found, built=True)


def _get(name: str) -> Any:
    with in_words(f"looking for the image {name}"):
        try:
            return engine().images.get(name)
        except sdk().errors.ImageNotFound:
            return None


def _describe(name: str, found: Any, *, built: bool = False) -> Image:
    labels: dict[str, str] = found.labels
    size = int(found.attrs["Size"])
    return Image(labels.get(f"{LABEL}.domain", ""), name, labels.get(f"{LABEL}.base", ""), size, built)


def _python_name(source: Source) -> str:
    parts = [sys.version, sys.base_prefix, *(f"{item.name}=={item.version}" for item in source.libraries)]
    return f"{PYTHON}:{hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:20]}"


def _python(source: Source, tell: Callable[[str], None]) -> str:
    """The layer of this machine's Python with the libraries that the source needs."""
    name = _python_name(source)
    if _get(name) is not None:
        return name
    tell(f"{name}: Python {sys.version.split()[0]} and {len(source.libraries)} libraries of this machine")
    with tempfile.TemporaryFile() as archive:
        environment = pack_python(archive, source.libraries)
        archive.seek(0)
        changes = [f"ENV {key}={value}" for key, value in environment.items()] + [f"LABEL {LABEL}.python=1"]
        with in_words("importing this machine's Python"):
            said = engine().api.import_image(
                src=archive, repository=PYTHON, tag=name.rpartition(":")[2], changes=changes
            )
    if "error" in str(said):
        raise BackendError(f"importing this machine's Python: {str(said)[:400]}")
    return name


def _commit(source: Source, below: str, base: str, based: str) -> str:
    """The source laid over what is below it, as an image without a name: its id."""
    changes = [
        "WORKDIR /app",
        f"ENV PYTHONPATH=/{CODE}:/{SITE}",
        "ENV PYTHONDONTWRITEBYTECODE=1",
        "ENV PYTHONNOUSERSITE=1",
        "ENV PYDANTIC_DISABLE_PLUGINS=__all__",
        f"LABEL {OWNED}=",  # the scratch container's, which the image would inherit
        f"LABEL {LABEL}.domain={source.domain.name}",
        f"LABEL {LABEL}.source={source.digest}",
        f"LABEL {LABEL}.base={base or SCRATCH}",
        f"LABEL {LABEL}.below={based}",
        "USER 10001:10001",
        'ENTRYPOINT ["python3", "-S", "-m", "tb_envs.containers"]',
    ]
    manifest = {"domain": source.domain.name, "entry": source.entry, "digest": source.digest}
    with tempfile.TemporaryFile() as archive:
        packer = Packer(archive)
        packer.content(f"app/{MANIFEST}", json.dumps(manifest).encode())
        packer.content(f"app/{SEED}", source.domain.image)
        for name, content in source.files.items():
            add = packer.source if name.endswith(".py") else packer.content
            add(f"{CODE}/{name}", content)
        if base:
            pack_libraries(packer, source.libraries)
        packer.close()
        archive.seek(0)
        with in_words(f"laying the files over {below}"):
            scratch: Any = engine().containers.create(below, ["none"], network_mode="none", labels={OWNED: owner()})
            try:
                scratch.put_archive("/", archive)
                return str(scratch.commit(changes=changes).id)
            finally:
                scratch.remove(force=True)


def _prove(made: str, source: Source, base: str) -> None:
    """Let the image load its domain and open a session; what it says must be what is so here."""
    with in_words(f"running Python in {base or 'the new image'}"):
        tried: Any = engine().containers.create(
            made,
            ["-S", "-c", PROOF],
            entrypoint=["python3"],
            network_mode="none",
            read_only=True,
            cap_drop=["ALL"],
            labels={OWNED: owner()},
        )
        try:
            tried.start()
            failed = tried.wait()["StatusCode"]
            said, words = (tried.logs(stdout=out, stderr=not out).decode(errors="replace") for out in (True, False))
        finally:
            tried.remove(force=True)
    if failed:
        reason = " ".join(words.split())[-600:]
        raise UsageError(f"{base or 'the new image'} cannot run {source.domain.name}: {reason}")
    told = json.loads(said.splitlines()[-1])
    from tb_envs.containers.proof import facts

    for name, here in facts(source.domain).items():
        if told.get(name) != here:
            raise UsageError(f"{base or 'the new image'} differs in {name}: {told.get(name)}, here {here}")


def has_image(name: str) -> bool:
    """Whether the engine has an image of this name."""
    return _get(name) is not None

"""``tbx images``: build the domains' server images for ``backend="docker"``, or list what the engine has of them."""

from __future__ import annotations

from dataclasses import asdict

from tb_envs.cli.parser import Parser
from tb_envs.cli.screen import print_json, progress, screen, table
from tb_envs.cli.selection import domains
from tb_envs.containers.images import Image, build_image, list_images
from tb_envs.containers.source import source_of
from tb_envs.errors import UsageError
from tb_envs.registration import domain_names


def main(argv: list[str]) -> int:
    """Build or list."""
    parser = Parser(
        "images",
        "Server images for backend docker. `build` makes the image of each domain's source as it is now, of what is on "
        "this machine and without a registry; one that is there already is kept. `list` shows what there is.",
    )
    parser.add_argument("action", choices=("build", "list"))
    parser.add_argument("--domain", action="append", metavar="NAME", help="only this domain (may be repeated)")
    parser.add_argument(
        "--from",
        dest="base",
        default="",
        metavar="IMAGE",
        help="build: on this image instead of this machine's Python; it must have Python of the same version",
    )
    parser.json_option()
    args = parser.read(argv)
    if args.action == "list":
        if args.base:
            raise UsageError("--from says what to build on; it goes with `tbx images build`")
        wanted = args.domain and [domain.name for domain in domains(args.domain)]
        return _show([image for image in list_images() if not wanted or image.domain in wanted], json=args.json)
    chosen = domains(args.domain)
    made: list[Image] = []
    with progress(len(chosen), "images", quiet=args.json) as done:
        for domain in chosen:
            made.append(build_image(source_of(domain.name), args.base))
            done(domain.name)
    return _show(made, json=args.json)


def _show(images: list[Image], *, json: bool) -> int:
    today = {source_of(name).image for name in domain_names()}
    current = {image.name: image.name in today for image in images}
    if json:
        print_json({"images": [{**asdict(image), "current": current[image.name]} for image in images]})
        return 0
    if not images:
        screen().print("The engine has no image of a domain. Build them: tbx images build")
        return 0
    rows = [
        (image.name, image.base, f"{image.size / 1e6:.0f} MB", _state(image, current[image.name])) for image in images
    ]
    screen().print(table(("image", "base", "size", "state"), rows, numbers=("size",)))
    return 0


def _state(image: Image, current: bool) -> str:
    if image.built:
        return "built now"
    return "current" if current else "old"

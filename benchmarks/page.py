"""Formats a record of `run.py` for the terminal and as a page of the documentation."""

from __future__ import annotations

HEAD = """# Speed

Written by `make bench` on {date}: kernsift {version}, {threads} threads; {versions}.

Both programs run in separate processes on the same data with the same number of threads. The time is the
best of three runs (fewer if a run takes over 45 s), without loading the data. Quick tasks alternate between
the programs in three rounds: the speedup is the ratio of the best times, with the smallest and largest ratio
of the rounds in parentheses. Memory is the peak beyond what the process held before. *Target* is our goal: a
speedup and, where given, a fraction of the other program's memory; or a limit if there is no other program.
A run is stopped after 200 s, on madelon after 600 s, and shown as more than that.

"""


def ratios(record: dict) -> dict:
    """The speedup over the peer, and the fraction of its memory."""
    ours, theirs = record["ours"], record.get("theirs")
    if theirs is None or "seconds" not in ours:
        return {}
    found = {"ratio": theirs.get("seconds", theirs.get("more_than")) / ours["seconds"]}
    if theirs.get("extra_bytes"):
        found["memory_share"] = ours["extra_bytes"] / theirs["extra_bytes"]
    return found


def is_met(record: dict) -> bool:
    """Whether all targets were met."""
    wanted, ours, found = record["wanted"], record["ours"], ratios(record)
    if "seconds" not in ours:
        return False
    return all(
        {
            "ratio": lambda w: found["ratio"] >= w,
            # The memory of a peer that was stopped is not known; the fraction would be an upper bound.
            "memory_share": lambda w: found.get("memory_share", 0.0) <= w,
            "seconds": lambda w: ours["seconds"] <= w,
            "bytes": lambda w: ours["extra_bytes"] <= w,
            "quality": lambda w: record.get("quality", float("inf")) <= w,
        }[key](value)
        for key, value in wanted.items()
    )


def seconds(side: dict | None) -> str:
    if side is None:
        return "-"
    if "seconds" not in side:
        return f"more than {side['more_than']:.0f} s"
    s = side["seconds"]
    text = f"{s * 1000:.1f} ms" if s < 0.1 else f"{s:.2f} s" if s < 10 else f"{s:.0f} s"
    return f"{text}, extrapolated" if "carried_from" in side else text


def memory(side: dict | None) -> str:
    if side is None or "extra_bytes" not in side:
        return "-"
    size = side["extra_bytes"] / 2**20
    return (
        f"{size / 1024:.1f} GiB" if size >= 1024 else f"{size:.0f} MiB" if size >= 10 else f"{size:.1f} MiB"
    )


def times(value: float) -> str:
    return f"{value:.2f}" if value < 1.95 else f"{value:.1f}" if value < 99.5 else f"{value:.0f}"


def ratio(record: dict) -> str:
    found = ratios(record)
    if not found:
        return "-"
    more = "at least " if "seconds" not in record["theirs"] else ""
    rounds = record.get("ratios", [])
    span = f" ({times(rounds[0])} to {times(rounds[-1])})" if rounds else ""
    return f"{more}{times(found['ratio'])}{span}"


def wanted(record: dict) -> str:
    parts = {
        "ratio": lambda w: times(w),
        "memory_share": lambda w: f"1/{1 / w:.0f} of its memory",
        "seconds": lambda w: f"{w:g} s",
        "bytes": lambda w: f"{w / 2**30:.0f} GiB",
        "quality": lambda w: f"{w} of its {record['quality_of']}",
    }
    targets = [parts[key](value) for key, value in record["wanted"].items()]
    if not targets:
        return "-"
    return ", ".join(targets) + (": **met**" if is_met(record) else ": **missed**")


def agree(record: dict) -> str:
    if "quality" in record:
        return f"{record['quality']:.2f} of its {record['quality_of']}"
    if "agree" not in record:
        return "-"
    detail = f": {record['agreement']}" if record.get("agreement") else ""
    return f"{'yes' if record['agree'] else 'NO'}{detail}"


def line(record: dict) -> str:
    """One task for the terminal."""
    ours, theirs = record["ours"], record.get("theirs")
    text = f"{record['task']} ({record['size']}): {seconds(ours)}, {memory(ours)}"
    if theirs is not None:
        text += f"; {record['peer']}: {seconds(theirs)}, {memory(theirs)}; ratio {ratio(record)}"
    return f"{text}; target {wanted(record)}; agree {agree(record)}".replace("**", "")


def page(record: dict) -> str:
    """The page of a record."""
    versions = ", ".join(f"{name} {version}" for name, version in record["versions"].items())
    lines = [
        "| task | size | kernsift | memory | peer | its time | its memory | speedup | target | agree |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for r in record["tasks"]:
        ours, theirs = r["ours"], r.get("theirs")
        cells = [
            r["task"],
            r["size"],
            seconds(ours),
            memory(ours),
            r["peer"] or "-",
            seconds(theirs),
            memory(theirs),
            ratio(r),
            wanted(r),
            agree(r),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    text = HEAD.format(**{**record, "versions": versions}) + "\n".join(lines) + "\n"
    far = [r for r in record["tasks"] if "carried_from" in r.get("theirs", {})]
    for r in far:
        small, large = r["theirs"]["carried_from"]
        text += (
            f"\n*Extrapolated*: {r['peer']} does not fit into memory at {r['size']}; its time and memory are "
            f"extrapolated linearly from those at {small} and {large} features.\n"
        )
    return text

"""How often cyclictest and vecud saw which latency, as they wrote it down: ns -> how many; and what is judged of it, in µs."""

import base64
import re
import struct
import zlib
from collections import Counter

SHARES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99_9": 0.999}
SLOWEST = 0.01  # the share of all wake-ups whose mean is judged


def of_cyclictest(thread):
    """A thread of `cyclictest --json -h`. Values beyond its histogram are missing."""
    return Counter({int(value): number for value, number in thread.get("histogram", {}).items()})


def of_log(log, tag):
    """All intervals of a tag in vecud's histograms.hlog. A value is the greatest one of its bucket, as in report.json."""
    counts = Counter()
    for payload in re.findall(rf"^Tag={re.escape(tag)},.*,(\S+)$", log, re.M):
        counts += of_payload(base64.b64decode(payload))
    return counts


def of_payload(payload):
    """HdrHistogram's format V2, deflated: words of 4 bytes before the compressed part, words of 4 and 8 in it before the counts."""
    content = zlib.decompress(payload[8:])
    length, _, digits = struct.unpack_from(">4xIII", content)
    # There are as many buckets as tell that many decimal digits apart; half of them for each further doubling of the value.
    half = (1 << (2 * 10**digits - 1).bit_length()) // 2
    counts, index = Counter(), 0
    for number in numbers(content[40 : 40 + length]):
        if number < 0:  # so many buckets without a value
            index -= number
            continue
        if number:
            counts[last_of_bucket(index, half)] = number
        index += 1
    return counts


def numbers(content):
    """Seven bits a byte, the least significant ones first, as long as the eighth is set; the sign is in the last bit. (Of counts
    beyond 2^55 the ninth byte would be another.)"""
    number = shift = 0
    for byte in content:
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            yield (number >> 1) ^ -(number & 1)
            number = shift = 0


def last_of_bucket(index, half):
    doubling = max(index // half - 1, 0)
    return ((index - doubling * half + 1) << doubling) - 1


def percentile(counts, total, share):
    """The least value that at least `share` of all are not above; infinite if that lies beyond the histogram."""
    seen = 0
    for value in sorted(counts):
        seen += counts[value]
        if seen >= share * total:
            return value / 1000
    return float("inf")


def mean_of_slowest(counts, total, longest):
    """The mean of the slowest `SLOWEST` of all, of which those beyond the histogram count as the longest one (µs)."""
    wanted = max(round(SLOWEST * total), 1)
    beyond = min(total - sum(counts.values()), wanted)
    sum_of_them, left = beyond * longest, wanted - beyond
    for value in sorted(counts, reverse=True):
        taken = min(counts[value], left)
        sum_of_them += taken * value / 1000
        left -= taken
    return sum_of_them / wanted


def figures(counts, total, longest):
    tail = {name: percentile(counts, total, share) for name, share in SHARES.items()}
    return {"count": total, **tail, "max": longest, "slowest": mean_of_slowest(counts, total, longest)}

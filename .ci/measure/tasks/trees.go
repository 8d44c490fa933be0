package tasks

import (
	"fmt"
	"strings"

	"toolcrib/.ci/measure/harness"
)

// shop is a small project in Python with tests.
func shop() map[string]string {
	files := map[string]string{
		"shop/__init__.py": "",
		"shop/stats.py": `"""Numbers about orders."""


def mean(values):
    """The arithmetic mean."""
    if not values:
        raise ValueError("no values")
    return sum(values) / len(values)


def median(values):
    """The middle value; of an even number the mean of the two in the middle."""
    if not values:
        raise ValueError("no values")
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2


def spread(values):
    """The distance of the least from the greatest value."""
    return max(values) - min(values)
`,
		"shop/text.py": `"""Texts on receipts."""


def money(cents):
    """An amount as customers read it."""
    sign = "-" if cents < 0 else ""
    return f"{sign}{abs(cents) // 100}.{abs(cents) % 100:02d}"


def line(name, cents, width=32):
    amount = money(cents)
    return name[: width - len(amount) - 1].ljust(width - len(amount)) + amount
`,
		"shop/config.py": `"""The configuration."""

import configparser


def load_config(name="shop.ini"):
    parser = configparser.ConfigParser()
    parser.read(name)
    return parser
`,
		"shop.ini":          "[server]\nhost = localhost\nport = 8080\n\n[shop]\ncurrency = EUR\n",
		"tests/__init__.py": "",
		"tests/test_stats.py": `import unittest

from shop import stats


class Stats(unittest.TestCase):
    def test_mean(self):
        self.assertEqual(stats.mean([1, 2, 3]), 2)

    def test_median_odd(self):
        self.assertEqual(stats.median([3, 1, 2]), 2)

    def test_median_even(self):
        self.assertEqual(stats.median([4, 1, 3, 2]), 2.5)

    def test_spread(self):
        self.assertEqual(stats.spread([4, 1, 3]), 3)
`,
		"tests/test_text.py": `import unittest

from shop import text


class Text(unittest.TestCase):
    def test_money(self):
        self.assertEqual(text.money(-1205), "-12.05")

    def test_line(self):
        self.assertEqual(text.line("Tea", 250, 12), "Tea     2.50")
`,
	}
	for i := range 16 {
		name := fmt.Sprintf("page%02d", i)
		files["shop/pages/"+name+".py"] = fmt.Sprintf(`"""The page %s of the shop."""

from shop.config import load_config


def title():
    config = load_config()
    return config["shop"]["name"] + ": %s"


def items(orders):
    return [order for order in orders if order["page"] == %d]
`, name, name, i)
	}
	files["shop/pages/__init__.py"] = ""
	return files
}

// with returns the shop with texts replaced in files: old and new in turn.
func with(name string, oldNew ...string) func(harness.Environment) map[string]string {
	return func(harness.Environment) map[string]string {
		files := shop()
		if name != "" {
			files[name] = strings.NewReplacer(oldNew...).Replace(files[name])
		}
		return files
	}
}

// sales is the shop with a table of sales.
func sales(harness.Environment) map[string]string {
	files := shop()
	var b strings.Builder
	b.WriteString("day,city,product,pieces,cents\n")
	cities := []string{"Ulm", "Bonn", "Kiel", "Jena"}
	for i := range 2000 {
		fmt.Fprintf(&b, "2026-%02d-%02d,%s,%s,%d,%d\n", i%12+1, i%28+1, cities[i%4], []string{"tea", "coffee", "cake"}[i%3], i%7+1, (i%7+1)*(150+i%4*25))
	}
	files["sales.csv"] = b.String()
	return files
}

// logged is the shop with a long log in which one request fails first, and others after it.
func logged(harness.Environment) map[string]string {
	files := shop()
	var b strings.Builder
	for i := range 40_000 {
		at := fmt.Sprintf("2026-03-01T%02d:%02d:%02d.%03dZ", i/3600%24, i/60%60, i%60, i*7%1000)
		switch {
		case i == 23_117:
			fmt.Fprintf(&b, "%s ERROR pool: connection to db-2 lost: timeout after 5000 ms (request %d)\n", at, i)
		case i > 23_117 && i%977 == 0:
			fmt.Fprintf(&b, "%s ERROR orders: cannot store order %d: no connection\n", at, i)
		case i%331 == 0:
			fmt.Fprintf(&b, "%s WARN cache: entry %d expired early\n", at, i)
		default:
			fmt.Fprintf(&b, "%s INFO http: GET /pages/page%02d 200 in %d ms (request %d)\n", at, i%16, i%90+3, i)
		}
	}
	files["logs/server.log"] = b.String()
	return files
}

// many is a tree of 10,000 files in which a few differ.
func many(env harness.Environment) map[string]string {
	files := map[string]string{}
	for i := range env.Of(10_000, 2_000) {
		service := fmt.Sprintf("services/s%03d", i/50)
		name := fmt.Sprintf("%s/module%03d.py", service, i%50)
		files[name] = fmt.Sprintf(`"""Module %d of %s."""

import logging

log = logging.getLogger(__name__)
TIMEOUT = %d


class Handler%d:
    def handle(self, request):
        log.info("handles %%s", request)
        return request.user, TIMEOUT
`, i, service, 5+i%3, i)
		if i%50 == 49 {
			files[service+"/service.yaml"] = fmt.Sprintf("name: s%03d\nport: %d\nowner: team-%d\n", i/50, 9000+i/50, i/50%7)
		}
	}
	files["services/s017/module031.py"] += "\n\n# TODO: retry when the queue is full\ndef drain(queue):\n    while not queue.empty():\n        queue.get()\n"
	files["services/s023/service.yaml"] = "name: s023\nport: 9999\nowner: team-2\nfeature: dark-mode\n"
	files["services/s005/module007.py"] += "\nAPI_VERSION = \"2026-02\"\n"
	files["services/s031/legacy_auth.py"] = "import md5\n\n\ndef check(password):\n    return md5.new(password)\n"
	for i := range 5 {
		files[fmt.Sprintf("services/s%03d/module%03d.py", i*7, i)] += "\nfrom shared.retry import with_retry\n"
	}
	files["docs/deploy.md"] = "# Deploy\n\nRun `make deploy` with DEPLOY_TOKEN set.\n"
	files["Makefile"] = "deploy:\n\t./scripts/deploy.sh\n"
	return files
}
